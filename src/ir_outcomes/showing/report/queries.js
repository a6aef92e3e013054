// Which queries are listed and in which order, and the list, of which only the rows in view exist.

// ---- which queries are listed, in which order

let listed = []; // indices of queries
let counted = []; // those of the histogram: listed by all filters but its own bars

const lengths = (side) => ({
  key: "ab"[side],
  head: byDocument ? `length ${"AB"[side]}` : "AB"[side],
  title: `${"AB"[side]}: ${byDocument ? "search length on what both found, – where they have none in common" : "rank of the first answer"}, ${side ? chosen.contender : chosen.baseline}`,
  order: (i) => lengthOf(side, i) ?? Infinity,
  text: (i) => (chosen.apart.includes(i) ? "–" : number(lengthOf(side, i))),
  number: true,
});
const shares = (side) => ({
  key: `found-${"ab"[side]}`,
  head: `found ${"AB"[side]}`,
  title: `relevant documents that ${side ? chosen.contender : chosen.baseline} found`,
  order: (i) => -chosen.found[i][side],
  text: (i) => found(i, side),
  number: true,
});

function columns() {
  const change = {
    key: "change",
    head: changeHead,
    title: changeHead === "change" ? `change: B minus A${chosen.horizon ? `, none counts as ${chosen.horizon + 1}` : ""}` : `change: B minus A over all relevant documents, ${chosen.horizon + 1} where nothing is found`,
    order: (i) => chosen.change[i] ?? Infinity,
    text: (i) => number(chosen.change[i], true),
    number: true,
  };
  const query = { key: "id", head: "query", order: (i) => set.ids[i] };
  return byDocument ? [query, shares(0), shares(1), lengths(0), lengths(1), change] : [query, lengths(0), lengths(1), change];
}

function update() {
  const words = state.s.toLowerCase().split(/\s+/).filter(Boolean);
  const bins = state.bin ? state.bin.split(",") : null;
  const at = state.at ? state.at.split(",").map(Number) : null;
  listed = [];
  counted = [];
  set.ids.forEach((id, i) => {
    if (state.slice && set.slices?.[i] !== state.slice) return;
    if (at && !(chosen.a[i] === at[0] && chosen.b[i] === at[1])) return;
    if (words.length) {
      const text = `${id} ${set.texts?.[i] ?? ""}`.toLowerCase();
      if (!words.every((word) => text.includes(word))) return;
    }
    counted.push(i);
    if (!bins || bins.includes(kindOf(i)[0])) listed.push(i);
  });
  if (state.sort === "size") {
    listed.sort((i, j) => Math.abs(chosen.change[j] ?? 0) - Math.abs(chosen.change[i] ?? 0) || i - j);
  } else {
    const sign = state.sort.startsWith("-") ? -1 : 1;
    const column = columns().find((item) => item.key === state.sort.replace(/^-/, "")) ?? columns()[0];
    const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a === b ? 0 : a < b ? -1 : 1);
    listed.sort((i, j) => sign * compare(column.order(i), column.order(j)) || i - j);
  }
  const order = state.sort === "size" ? ", largest change first" : "";
  const filters = [state.bin.replaceAll(",", ", "), state.slice, at ? `search lengths ${at.map((length) => number(length)).join(" and ")}` : ""].filter(Boolean);
  byId("count").textContent = `${filters.length ? `${filters.join("; ")}: ` : ""}${listed.length.toLocaleString("en")} of ${count(set.ids.length)}${order}`;
  drawListed();
  drawHistogram();
  drawHeads();
  drawControls();
  byId("list").scrollTop = 0;
  const isKnown = state.q ? set.ids.includes(state.q) : isWide(); // the second pane is never empty
  if (listed.length && isKnown && !listed.some((i) => set.ids[i] === state.q)) state.q = set.ids[listed[0]];
  drawRows();
  drawQuery();
  writeAddress(false);
}

const isWide = () => matchMedia("(min-width: 56.25rem)").matches;

// ---- the list: only the rows in view exist

function drawHeads() {
  const heads = columns().map((column) => {
    const sorted = { [column.key]: "ascending", [`-${column.key}`]: "descending" }[state.sort];
    const head = element("th", { scope: "col", className: `c-${column.key}${column.number ? " number" : ""}` });
    if (sorted) head.setAttribute("aria-sort", sorted);
    const button = element(printing ? "span" : "button", { type: printing ? undefined : "button", textContent: column.head + (sorted ? { ascending: " ▲", descending: " ▼" }[sorted] : "") });
    if (column.title) button.title = column.title;
    button.dataset.sort = column.key;
    head.append(button);
    return head;
  });
  if (!byDocument && chosen.measure === null) {
    heads.splice(1, 0, element("th", { scope: "col", className: "c-ranks", textContent: "none … 1" }));
  }
  byId("heads").replaceChildren(...heads);
}

byId("heads").addEventListener("click", (event) => {
  const key = event.target.closest("button")?.dataset.sort;
  if (!key) return;
  state.sort = state.sort === key ? `-${key}` : state.sort === `-${key}` ? "size" : key;
  update();
  byId("heads").querySelector(`[data-sort="${key}"]`).focus();
});

// Both ranks on a line, rank 1 at the right; what is not found stands behind a line at the left.
function drawRanks(i) {
  const last = Math.max(2, chosen.horizon ?? chosen.a.reduce((most, rank) => Math.max(most, rank ?? 0), 2));
  const place = (rank) => (rank === null ? 6 : 114 - (96 * Math.log(Math.min(rank, last))) / Math.log(last));
  const a = place(chosen.a[i]), b = place(chosen.b[i]);
  return picture(
    "svg", { viewBox: "0 0 120 20", width: 120, height: 20, "aria-hidden": "true" },
    picture("line", { class: "grid", x1: 12, x2: 12, y1: 2, y2: 18 }),
    picture("line", { class: `change ${kindOf(i)[1]}`, x1: a, x2: b, y1: 10, y2: 10 }),
    picture("circle", { class: "dot contender", cx: b, cy: 10, r: 5 }),
    picture("circle", { class: "dot baseline", cx: a, cy: 10, r: 4 }),
  );
}

const current = () => Math.max(0, listed.findIndex((i) => set.ids[i] === state.q));

function makeRow(place) {
  const i = listed[place];
  const id = set.ids[i];
  const link = element("a", { href: address({ ...state, q: id }), textContent: set.texts?.[i] || shortQuery(id), tabIndex: place === current() ? 0 : -1 });
  const name = element("td", { className: "c-id" }, link);
  const [kind, tone] = kindOf(i);
  const below = element("span", { className: "below" }, element("span", { className: `kind ${tone}`, textContent: SIGNS[tone] + kind }));
  if (set.texts?.[i]) {
    link.title = set.texts[i];
    below.append(" · ", element("span", { className: "id", textContent: id }));
  } else link.title = id;
  name.append(below);
  const row = element("tr", { className: id === state.q ? "selected" : "", "aria-rowindex": place + 2 }, name);
  for (const column of columns().slice(1)) {
    row.append(element("td", { className: `c-${column.key}${column.number ? " number" : ""}`, textContent: column.text(i) }));
  }
  if (!byDocument && chosen.measure === null) row.insertBefore(element("td", { className: "c-ranks" }, drawRanks(i)), row.children[1]);
  if (id === state.q) link.setAttribute("aria-current", "true");
  row.dataset.id = id;
  row.dataset.place = place;
  return row;
}

function spacer(height) {
  const row = element("tr", { className: "spacer", ariaHidden: "true" }, element("td"));
  row.firstChild.style.height = `${height}px`;
  return row;
}

let drawn = 0;
const rowHeight = () => byId("rows").querySelector("tr[data-place]")?.getBoundingClientRect().height || 48;
const firstRow = () => Math.max(0, Math.floor(byId("list").scrollTop / rowHeight()) - EXTRA);

function drawRows() {
  const list = byId("list");
  const rows = byId("rows");
  list.querySelector("table").setAttribute("aria-rowcount", listed.length + 1);
  if (!listed.length) {
    rows.replaceChildren(element("tr", {}, element("td", { colSpan: 9, className: "nothing", textContent: "No query is like this. Reset shows all." })));
    return;
  }
  const height = rowHeight();
  const first = printing ? 0 : firstRow();
  const last = Math.min(listed.length, printing ? PRINTED : first + Math.ceil(innerHeight / height) + 2 * EXTRA);
  const focused = rows.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.place : undefined;
  const made = [];
  for (let place = first; place < last; place += 1) made.push(makeRow(place));
  const rest = printing ? 0 : listed.length - last;
  rows.replaceChildren(spacer(first * height), ...made, spacer(rest * height));
  drawn = first;
  if (focused !== undefined) rows.querySelector(`tr[data-place="${focused}"] a`)?.focus({ preventScroll: true });
  const real = made[0].getBoundingClientRect().height;
  if (Math.abs(real - height) > 0.5) {
    rows.firstChild.firstChild.style.height = `${first * real}px`;
    rows.lastChild.firstChild.style.height = `${rest * real}px`;
  }
}

let waiting = false;
byId("list").addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    if (Math.abs(firstRow() - drawn) >= EXTRA / 2) drawRows();
  });
});
addEventListener("resize", () => drawRows());

function showPlace(place) {
  const list = byId("list");
  const height = rowHeight();
  const head = byId("heads").getBoundingClientRect().height;
  if (place * height < list.scrollTop) list.scrollTop = place * height;
  else if ((place + 1) * height + head > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * height + head - list.clientHeight;
  drawRows();
}

byId("rows").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-place]");
  if (!row || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // those are the browser's
  event.preventDefault();
  select(row.dataset.id, true);
});

byId("rows").addEventListener("keydown", (event) => {
  const place = Number(event.target.closest("tr[data-place]")?.dataset.place);
  const page = Math.max(1, Math.floor(byId("list").clientHeight / rowHeight()) - 1);
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -listed.length, End: listed.length }[event.key];
  if (step === undefined || Number.isNaN(place)) return;
  event.preventDefault();
  const next = goTo(place + step, false);
  byId("rows").querySelector(`tr[data-place="${next}"] a`)?.focus({ preventScroll: true });
});

function goTo(place, step) {
  const next = Math.min(listed.length - 1, Math.max(0, place));
  select(set.ids[listed[next]], false, step);
  showPlace(next);
  return next;
}
