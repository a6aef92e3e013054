// Which queries are listed and in which order, and the list, of which only the rows in view exist.

const CHUNK = 60; // rows that are made at once, when they come into view

let listed = []; // indices of queries
let counted = []; // those of the histogram: listed by all filters but its own bars

const placeOf = (id) => listed.findIndex((i) => set.ids[i] === id);
const current = () => Math.max(0, placeOf(state.q));

// Headings of the list, and what stands below them for a query.
function columns() {
  const length = (values) => (i) => (isApart(i) ? "–" : number(values[i])); // nothing in common
  const change = ["change", (i) => number(chosen.change[i], true)];
  const ofBoth = (word, texts) => texts.map((text, side) => [word + letter(side), text]);
  const lengths = ofBoth(byDocument ? "length " : "", [length(chosen.a), length(chosen.b)]);
  const shares = ofBoth("found ", [0, 1].map((side) => (i) => found(i, side)));
  return [...(byDocument ? shares : []), ...lengths, change];
}

function update() {
  const words = state.s.toLowerCase().split(/\s+/).filter(Boolean);
  counted = [...set.ids.keys()].filter((i) => {
    if (state.slice && set.slices?.[i] !== state.slice) return false;
    const text = `${set.ids[i]} ${set.texts?.[i] ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  listed = counted.filter((i) => !state.bin || state.bin === kindOf(i)[0]);
  const size = (i) => Math.abs(chosen.change[i] ?? 0);
  listed.sort((i, j) => size(j) - size(i) || i - j);
  const filters = [state.bin, state.slice].filter(Boolean).join("; ");
  const numbers = `${written(listed.length)} of ${count(set.ids.length)}`;
  byId("count").textContent = `${filters}${filters ? ": " : ""}${numbers}, largest change first`;
  drawListed();
  drawMeans();
  drawHistogram();
  drawControls();
  byId("list").scrollTop = 0;
  // The second pane is never empty.
  const isKnown = state.q ? set.ids.includes(state.q) : matchMedia("(min-width: 56.25rem)").matches;
  if (listed.length && isKnown && placeOf(state.q) < 0) state.q = set.ids[listed[0]];
  drawList();
  markCurrent();
  drawQuery();
  writeAddress(false);
}

const cell = (tag, head, text) => make(`${tag}.number.c-${head.replace(" ", "-")}`, text);

function makeRow(place) {
  const i = listed[place];
  const id = set.ids[i];
  const text = set.texts?.[i];
  const [kind, tone] = kindOf(i);
  const about = { href: address({ ...state, q: id }), title: text || id, tabindex: -1 };
  const link = make("a", about, text || idsInList.get(id));
  const below = make("span.below", make(`span.kind.${tone}`, SIGNS[tone] + kind), text ? ` · ${id}` : "");
  const cells = columns().map(([head, textOf]) => cell("td", head, textOf(i)));
  return make("tr", { "data-id": id }, make("td.c-id", link, below), cells);
}

let made = 0; // rows that exist
let idsInList = new Map(); // as many characters as their column is wide
const linkAt = (place) => byId("rows").children[place]?.querySelector("a");

function drawList() {
  made = 0;
  const heads = columns().map(([head]) => cell("th", head, head));
  byId("heads").replaceChildren(make("th.c-id", { scope: "col" }, "query"), ...heads);
  idsInList = shortIds(set.ids, signsThatFit(byId("heads").firstChild.clientWidth - 24));
  const nothing = make("tr", make("td", { colspan: 9 }, "No query is like this. Reset shows all."));
  byId("rows").replaceChildren(listed.length ? "" : nothing);
  makeRows(CHUNK);
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

function markCurrent() {
  const place = placeOf(state.q);
  if (place >= made) makeRows(place + CHUNK);
  for (const link of byId("rows").querySelectorAll("[tabindex='0'], [aria-current]")) {
    link.tabIndex = -1;
    link.removeAttribute("aria-current");
  }
  if (listed.length) linkAt(current()).tabIndex = 0;
  if (place >= 0) linkAt(place).setAttribute("aria-current", "true");
}

function goTo(place, step) {
  const next = Math.min(listed.length - 1, Math.max(0, place));
  select(set.ids[listed[next]], step);
  showPlace(next);
  return next;
}

// Scrolls the list, and not the page.
function showPlace(place) {
  const list = byId("list");
  const { offsetTop, offsetHeight } = byId("rows").children[place];
  const above = offsetTop - byId("heads").offsetHeight;
  list.scrollTop = Math.min(above, Math.max(list.scrollTop, offsetTop + offsetHeight - list.clientHeight));
}

byId("rows").addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-id]");
  if (!row || !isPlain(event)) return;
  event.preventDefault();
  select(row.dataset.id, true);
  byId("query").focus({ preventScroll: true });
  byId("query").scrollIntoView({ block: "nearest" });
});

byId("rows").addEventListener("keydown", (event) => {
  const row = event.target.closest("tr[data-id]");
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -listed.length, End: listed.length };
  if (!row || !(event.key in steps)) return;
  event.preventDefault();
  linkAt(goTo(placeOf(row.dataset.id) + steps[event.key], false)).focus({ preventScroll: true });
});
