// Which queries are listed and in which order, and the list, of which only the rows in view exist.

const CHUNK = 60; // rows that are made at once, when they come into view
const PRINTED = 25; // rows on paper

let listed = []; // indices of queries
let counted = []; // those of the histogram: listed by all filters but its own bars
let printing = false;

const isWide = () => matchMedia("(min-width: 56.25rem)").matches;
const placeOf = (id) => listed.findIndex((i) => set.ids[i] === id);
const current = () => Math.max(0, placeOf(state.q));

// ---- columns

function lengthColumn(side) {
  const [letter, run] = [["A", state.a], ["B", state.b]][side];
  const length = "search length on what both found, – where they have none in common";
  const what = byDocument ? length : "rank of the first answer";
  return {
    key: "ab"[side],
    head: byDocument ? `length ${letter}` : letter,
    title: `${letter}: ${what}, ${run}`,
    order: (i) => chosen.lengths[side][i] ?? Infinity,
    text: (i) => (chosen.apart[i] ? "–" : number(chosen.lengths[side][i])),
  };
}

const shareColumn = (side) => ({
  key: `found-${"ab"[side]}`,
  head: `found ${"AB"[side]}`,
  title: `relevant documents that ${side ? state.b : state.a} found`,
  order: (i) => -[chosen.foundA, chosen.foundB][side][i],
  text: (i) => found(i, side),
});

const isOfAll = () => byDocument && Boolean(chosen.horizon); // a change counts all relevant documents

function columns() {
  const { horizon } = chosen;
  const missing = horizon ? `, none counts as ${horizon + 1}` : "";
  const ofAll = `change: B minus A over all relevant documents, ${horizon + 1} where nothing is found`;
  const change = {
    key: "change",
    head: isOfAll() ? "change, all" : "change",
    title: isOfAll() ? ofAll : `change: B minus A${missing}`,
    order: (i) => chosen.change[i] ?? Infinity,
    text: (i) => number(chosen.change[i], true),
  };
  const query = { key: "id", head: "query", order: (i) => set.ids[i] };
  const shares = byDocument ? [0, 1].map(shareColumn) : [];
  return [query, ...shares, ...[0, 1].map(lengthColumn), change];
}

// ---- what is listed

function update() {
  const words = state.s.toLowerCase().split(/\s+/).filter(Boolean);
  const bins = state.bin ? state.bin.split(",") : null;
  const at = state.at ? state.at.split(",").map(Number) : null;
  const has = (i) => {
    if (state.slice && set.slices?.[i] !== state.slice) return false;
    if (at && !(chosen.a[i] === at[0] && chosen.b[i] === at[1])) return false;
    const text = `${set.ids[i]} ${set.texts?.[i] ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  counted = [...set.ids.keys()].filter(has);
  listed = counted.filter((i) => !bins || bins.includes(kindOf(i)[0]));
  sortListed();
  const order = state.sort === "size" ? ", largest change first" : "";
  const lengths = at ? `search lengths ${at.map((length) => number(length)).join(" and ")}` : "";
  const filters = [state.bin.replaceAll(",", ", "), state.slice, lengths].filter(Boolean).join("; ");
  const numbers = `${written(listed.length)} of ${count(set.ids.length)}`;
  byId("count").textContent = `${filters}${filters ? ": " : ""}${numbers}${order}`;
  drawListed();
  if (byId("means")) drawMeans();
  drawHistogram();
  drawHeads();
  drawControls();
  byId("list").scrollTop = 0;
  const isKnown = state.q ? set.ids.includes(state.q) : isWide(); // the second pane is never empty
  if (listed.length && isKnown && placeOf(state.q) < 0) state.q = set.ids[listed[0]];
  drawList();
  markCurrent();
  drawQuery();
  writeAddress(false);
}

function sortListed() {
  const size = (i) => Math.abs(chosen.change[i] ?? 0);
  if (state.sort === "size") return listed.sort((i, j) => size(j) - size(i) || i - j);
  const turn = state.sort.startsWith("-") ? -1 : 1;
  const { order } = columns().find((column) => column.key === state.sort.replace(/^-/, "")) ?? columns()[0];
  const collator = new Intl.Collator("en", { numeric: true });
  const rise = (one, other) => (one > other) - (one < other);
  const compare = typeof order(0) === "string" ? collator.compare : rise;
  return listed.sort((i, j) => turn * compare(order(i), order(j)) || i - j);
}

// ---- the list: only the rows in view exist

function drawHeads() {
  const heads = columns().map((column, place) => {
    const sorted = { [column.key]: "ascending", [`-${column.key}`]: "descending" }[state.sort];
    const arrow = { ascending: " ▲", descending: " ▼" }[sorted] ?? "";
    const about = { type: "button", title: column.title, "data-sort": column.key };
    const button = make(printing ? "span" : "button", about, column.head + arrow);
    return make(`th.c-${column.key}${place ? ".number" : ""}`, { scope: "col", "aria-sort": sorted }, button);
  });
  if (!byDocument && isOfLengths()) heads.splice(1, 0, make("th.c-ranks", { scope: "col" }, "none … 1"));
  byId("heads").replaceChildren(...heads);
}

byId("heads").addEventListener("click", (event) => {
  const key = event.target.closest("button")?.dataset.sort;
  if (!key) return;
  state.sort = { [key]: `-${key}`, [`-${key}`]: "size" }[state.sort] ?? key;
  update();
  byId("heads").querySelector(`[data-sort="${key}"]`).focus();
});

// Both ranks on a line, rank 1 at the right; what is not found stands behind a line at the left.
function drawRanks(i) {
  const last = Math.max(2, chosen.horizon ?? chosen.a.reduce((most, rank) => Math.max(most, rank ?? 0), 2));
  const place = (rank) => (rank === null ? 6 : 114 - (96 * Math.log(Math.min(rank, last))) / Math.log(last));
  const [a, b] = [place(chosen.a[i]), place(chosen.b[i])];
  return make(
    "svg", { viewBox: "0 0 120 20", width: 120, height: 20, "aria-hidden": "true" },
    make("line.grid", { x1: 12, x2: 12, y1: 2, y2: 18 }),
    make(`line.change.${kindOf(i)[1]}`, { x1: a, x2: b, y1: 10, y2: 10 }),
    make("circle.dot.contender", { cx: b, cy: 10, r: 5 }),
    make("circle.dot.baseline", { cx: a, cy: 10, r: 4 }),
  );
}

function makeRow(place) {
  const i = listed[place];
  const id = set.ids[i];
  const text = set.texts?.[i];
  const [kind, tone] = kindOf(i);
  const about = { href: address({ ...state, q: id }), title: text || id, tabindex: -1 };
  const link = make("a", about, text || shortQuery(id));
  const below = make("span.below", make(`span.kind.${tone}`, SIGNS[tone] + kind));
  if (text) below.append(" · ", make("span.id", id));
  const cells = columns().slice(1).map((column) => make(`td.c-${column.key}.number`, column.text(i)));
  if (!byDocument && isOfLengths()) cells.unshift(make("td.c-ranks", drawRanks(i)));
  return make("tr", { "aria-rowindex": place + 2, "data-id": id }, make("td.c-id", link, below), cells);
}

let made = 0; // rows that exist
const linkAt = (place) => byId("rows").children[place]?.querySelector("a");

function drawList() {
  made = 0;
  byId("list").querySelector("table").setAttribute("aria-rowcount", listed.length + 1);
  const nothing = make("td.nothing", { colspan: 9 }, "No query is like this. Reset shows all.");
  byId("rows").replaceChildren(...(listed.length ? [] : [make("tr", nothing)]));
  makeRows(printing ? PRINTED : CHUNK);
}

function makeRows(end) {
  const places = [...listed.keys()].slice(made, end);
  byId("rows").append(...places.map(makeRow));
  made += places.length;
}

byId("list").addEventListener("scroll", () => {
  const { scrollTop, clientHeight, scrollHeight } = byId("list");
  if (scrollTop + 2 * clientHeight > scrollHeight) makeRows(made + CHUNK);
});

function showPlace(place) {
  const list = byId("list");
  if (place >= made) makeRows(place + CHUNK);
  const { offsetTop, offsetHeight } = byId("rows").children[place];
  const above = offsetTop - byId("heads").offsetHeight;
  list.scrollTop = Math.min(above, Math.max(list.scrollTop, offsetTop + offsetHeight - list.clientHeight));
}

function markCurrent() {
  const place = placeOf(state.q);
  if (place >= made) makeRows(place + CHUNK);
  for (const link of byId("rows").querySelectorAll("[tabindex='0']")) link.tabIndex = -1;
  for (const link of byId("rows").querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
  if (listed.length) linkAt(current()).tabIndex = 0;
  if (place >= 0) linkAt(place).setAttribute("aria-current", "true");
}

function goTo(place, step) {
  const next = Math.min(listed.length - 1, Math.max(0, place));
  select(set.ids[listed[next]], false, step);
  showPlace(next);
  return next;
}

byId("rows").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-id]");
  if (!row || !isPlain(event)) return;
  event.preventDefault();
  select(row.dataset.id, true);
});

byId("rows").addEventListener("keydown", (event) => {
  const row = event.target.closest("tr[data-id]");
  if (!row) return;
  const page = Math.max(1, Math.floor(byId("list").clientHeight / row.offsetHeight) - 1);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -listed.length, End: listed.length };
  if (!(event.key in steps)) return;
  event.preventDefault();
  linkAt(goTo(placeOf(row.dataset.id) + steps[event.key], false)).focus({ preventScroll: true });
});
