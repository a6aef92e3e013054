// Chooses, filters and draws what Python computed; nothing is tested here.

const at = (id) => document.getElementById(id);
const data = JSON.parse(at("data").textContent);
const { more } = document.currentScript.dataset;
const TONES = ["same", "better", "worse"]; // of 0, 1 and -1
const MINUS = "\u2212";
const PAGE = 50; // queries that are listed at once
const ENDS = [1, 2, 5, 10, 30]; // of the bars, in steps

// Make an element; text of attributes is a class, functions are listeners.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  const named = typeof attributes === "string" ? { class: attributes } : attributes;
  for (const [name, value] of Object.entries(named ?? {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(9));
  return node;
}

const button = (text, click, attributes) => make("button", { type: "button", click, ...attributes }, text);

function table(label, heads, rows, kind = "") {
  const head = heads.map((text) => make(text ? "th" : "td", text && { scope: "col" }, text));
  const parts = make("table", null, make("thead", null, make("tr", null, head)), make("tbody", null, rows));
  return make("div", { class: `scroll ${kind}`, tabindex: 0, role: "group", "aria-label": label }, parts);
}

// Write a number; one with a sign has as many decimals as show its side of 0.
function fixed(value, places, signed) {
  if (!Number.isFinite(value)) return "–";
  let text = Math.abs(value).toFixed(places);
  while (signed && Math.abs(value) > 1e-9 && !Number(text)) text = Math.abs(value).toFixed(++places);
  if (!Number(text)) return text;
  return (value < 0 ? MINUS : signed ? "+" : "") + text;
}

const plain = (value, places) => fixed(value, Number.isInteger(value) ? 0 : places);
const number = (n) => n.toLocaleString("en");
const plural = (n) => `${number(n)} ${n === 1 ? "query" : "queries"}`;

// --- what is chosen, by name, as the address keeps it ---

const state = { c: "", a: "", b: "", q: "", s: "", bars: "" };
const gridOf = ({ c }) => data.grids.find(({ name }) => name === c) ?? data.grids[0];
const grid = () => gridOf(state);
const queries = () => data.sets[grid().set];

function choose(changed) {
  for (const key in state) state[key] = changed[key] ?? state[key];
  const [a, b] = grid().runs;
  if (state.a === state.b || [state.a, state.b].some((run) => !grid().runs.includes(run))) Object.assign(state, { a, b });
  drawPair();
  if (at("queries")) drawQueries();
}

function remember() {
  // A frame may have no address.
  try { history.replaceState(null, "", `#${new URLSearchParams(state)}`); } catch {}
}

// --- pairs ---

// What Python found of run B against run A, if it compared them.
function pairOf(chosen) {
  const own = gridOf(chosen);
  const [a, b] = [chosen.a, chosen.b].map((run) => own.runs.indexOf(run));
  const place = own.first.findIndex((first, n) => a !== b && [a, b].includes(first) && [a, b].includes(own.second[n]));
  if (place < 0) return undefined;
  const sign = own.first[place] === a ? 1 : -1;
  const found = data.labels[own.label[place]];
  const [label, tone] = sign < 0 ? data.labels[found[2]] : found;
  const rows = own.rows.map((row) => {
    const [difference, ...ends] = [row.difference, row.low, row.high].map((numbers) => sign * (numbers[place] ?? NaN));
    const [low, high] = sign < 0 ? ends.reverse() : ends;
    return { ...row, difference, low, high, tone: TONES.at(sign * row.found[place]) };
  }).filter((row) => Number.isFinite(row.difference));
  return { ...chosen, label, tone, rows };
}

// --- strips: right is better ---

function axisOf(rows) {
  const ends = rows.flatMap((row) => [0, row.difference, row.low, row.high].map((end) => row.gains * end)).filter(Number.isFinite);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const space = 0.08 * (most - least) || 1;
  const [low, width] = [least - space, most - least + 2 * space];
  const size = 10 ** Math.floor(Math.log10(width / 2));
  const step = size * [5, 2, 1].find((factor) => factor * size * 2 <= width);
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= low + 0.94 * width; tick++) ticks.push(tick * step);
  return { ticks, share: (gain) => (100 * (gain - low)) / width };
}

function span(kind, axis, from, to, ...children) {
  const [low, high] = [from, to].map(axis.share).sort((one, other) => one - other);
  if (!Number.isFinite(low + high)) return [];
  const node = make("i", kind, children);
  node.style.left = `${low}%`;
  node.style.width = `${high - low}%`;
  return node;
}

function strip(row, axis) {
  const part = (kind, low, high) => span(kind, axis, row.gains * low, row.gains * high);
  return make("div", { class: "strip", "aria-hidden": true }, part("zero", 0, 0), part("bar", row.low, row.high),
    part("dot", row.difference, row.difference));
}

function scale(row, axis) {
  const name = (tick) => fixed(row.gains * tick, 9, true).replace(/\.?0+$/, "") || "0";
  return make("div", { class: "strip scale", "aria-hidden": true }, axis.ticks.map((tick) => span("tick", axis, tick, tick, name(tick))));
}

const interval = ({ low, high, places }) => (Number.isFinite(low) ? `[${fixed(low, places, true)}, ${fixed(high, places, true)}]` : "");
const cell = (kind, ...children) => make("td", kind, children);
const below = (text) => (text ? make("span", null, text) : []);

// Lay out several pairs on axes that they share.
function overview(heading, pairs, key) {
  const rows = pairs[0].rows.slice(0, 3);
  const sharing = rows.map(({ name }) => pairs.map((pair) => pair.rows.find((row) => row.name === name)));
  const axes = sharing.map((members) => axisOf(members.filter(Boolean)));
  const drawn = (row, axis) => cell(`drawn ${row?.tone}`, row ? [strip(row, axis), below(`${fixed(row.difference, row.places, true)} ${interval(row)}`)] : "");
  const lines = pairs.map((pair, n) => make("tr", pair.tone,
    make("th", { scope: "row" }, button(pair[key], () => choose(pair)), below(grid().details[grid().runs.indexOf(pair.b)])),
    cell("finding", pair.label), axes.map((axis, place) => drawn(sharing[place][n], axis))));
  const scales = make("tr", null, cell(), cell(), axes.map((axis, place) => cell("drawn", scale(rows[place], axis))));
  return table(heading, [heading, "label", ...rows.map(({ name, unit }) => `${name}, ${unit}`)], [...lines, scales], "overview");
}

function drawPair() {
  const own = grid();
  const { a, b } = state;
  const selector = (label, key, names) => make("label", null, label, make("select", { change: ({ target }) => choose({ [key]: target.value }) },
    names.map((name) => make("option", state[key] === name ? { selected: "" } : null, name))));
  const names = data.grids.map(({ name }) => name);
  at("chooser").hidden = at("found").hidden = own.first.length === 1 && names.length === 1;
  at("chooser").replaceChildren(...[names.length > 1 ? selector("Under", "c", names) : "", selector("B", "b", own.runs), selector("against A", "a", own.runs)]);
  const pair = pairOf(state);
  at("found").replaceChildren(pair ? make("b", `label ${pair.tone}`, pair.label) : "Not compared in this call; the page tests nothing.");
  const against = own.runs.map((run) => pairOf({ ...state, b: run })).filter(Boolean);
  const everywhere = names.map((c) => pairOf({ ...state, c })).filter(Boolean);
  at("overviews").replaceChildren(against.length ? overview("run", against, "b") : "",
    everywhere.length > 1 ? overview("where", everywhere, "c") : "");
}

// --- queries ---

let changes = [];
let listed = [];

// Return what the chosen pair did with each query, and how much better B is: its gain.
function changesOf() {
  const { runs, sizes, found, values, cutoff, gains } = grid();
  const n = queries().ids.length;
  const [a, b] = [state.a, state.b].map((run) => runs.indexOf(run));
  const side = (run, place) => {
    const size = sizes[place];
    const [share, value] = [found, values].map((packed) => packed[run * n + place]);
    // Runs of a system that do not answer count as cutoff + 1.
    const length = gains < 0 ? (value - (1 - share) * ((cutoff ?? 0) + 1)) / share : value;
    const text = size > 1 ? `${plain(share, 1)}/${size}` : share ? plain(length, grid().places) : "–";
    return { found: share, text, value };
  };
  return queries().ids.map((id, place) => {
    const [one, other] = [side(a, place), side(b, place)];
    const gain = gains * (other.value - one.value);
    const outcome = other.found > one.found ? "won" : other.found < one.found ? "lost" : one.found ? "both" : "neither";
    const sign = Math.abs(gain) < 1e-5 ? 0 : Math.sign(gain);
    const bar = sign * (1 + ENDS.filter((end) => Math.abs(gain) > end * grid().step + 1e-5).length);
    const text = queries().texts[place] ?? "";
    return { place, id, text, words: `${id} ${text}`.toLowerCase(), a: one.text, b: other.text, gain, outcome, bar, tone: TONES.at(sign) };
  }).sort((one, other) => Math.abs(other.gain) - Math.abs(one.gain));
}

const size = (gain) => fixed(grid().gains * gain, Number.isInteger(gain) ? 0 : grid().places, true);

function drawQueries() {
  changes = changesOf();
  at("words").value = state.s;
  filter();
}

// Apply search and bars, and draw what follows.
function filter() {
  const words = state.s.toLowerCase().split(/\s+/);
  const matching = changes.filter((change) => words.every((word) => change.words.includes(word)));
  const bars = state.bars.split(",").filter(Boolean).map(Number);
  drawHistogram(matching, bars);
  listed = bars.length ? matching.filter(({ bar }) => bars.includes(bar)) : matching;
  const outcomes = ["won", "both", "neither", "lost"].map((name) => `${name} ${number(listed.filter(({ outcome }) => outcome === name).length)}`);
  const mean = listed.reduce((sum, { gain }) => sum + gain, 0) / (listed.length || 1);
  at("count").textContent = `${plural(listed.length)}: ${outcomes.join(", ")}, mean change ${fixed(grid().gains * mean, grid().places, true)} ${grid().unit}`;
  if (!changes.some(({ id }) => id === state.q)) state.q = listed[0]?.id ?? "";
  drawList(PAGE);
  drawQuery();
}

function drawHistogram(matching, bars) {
  const members = Array.from({ length: 13 }, (_, n) => ({ bar: n - 6, all: matching.filter(({ bar }) => bar === n - 6) }));
  const most = Math.max(1, ...members.map(({ bar, all }) => bar && all.length)); // the bar of 0 is cut
  at("histogram").replaceChildren(...members.map(({ bar, all }) => {
    const place = Math.abs(bar) - 1;
    const end = Number(((ENDS[place] ?? ENDS.at(-1)) * grid().step).toPrecision(2));
    const name = bar ? `${end}${place in ENDS ? "" : "+"}` : "0";
    const facet = all.filter(({ outcome }) => outcome === "won" || outcome === "lost").length;
    const parts = [all.length - facet, facet].map((n, part) => {
      const node = make("i", part ? "" : "light");
      node.style.height = `${Math.min(1, n / most) * 6}rem`;
      return node;
    });
    const title = `${TONES.at(Math.sign(bar))}, up to ${name} ${grid().unit}: ${plural(all.length)}`;
    const press = () => {
      state.bars = (bars.includes(bar) ? bars.filter((other) => other !== bar) : [...bars, bar]).join();
      filter();
      at("histogram").children[bar + 6].focus();
    };
    return button(make("span", { "aria-hidden": true }, number(all.length), parts, make("small", null, name)), press,
      { class: TONES.at(Math.sign(bar)), "aria-pressed": bars.includes(bar), title });
  }));
}

function drawList(shown) {
  const lines = listed.slice(0, shown).map((change) => make("tr", change.tone,
    make("th", { scope: "row" }, button(change.text || change.id, () => show(change), { "aria-current": change.id === state.q }), below(change.text && change.id)),
    cell("", change.a), cell("", change.b), cell("", size(change.gain), below(change.outcome))));
  at("list").replaceChildren(table("Queries", ["query", "A", "B", "change"], lines), listed.length > shown ? button("Show more", () => drawList(shown + PAGE)) : "");
}

function show({ id }) {
  state.q = id;
  const buttons = [...at("list").querySelectorAll("th button")];
  buttons.forEach((node, n) => node.setAttribute("aria-current", listed[n].id === id));
  drawQuery();
}

// --- one query ---

function drawQuery() {
  const change = changes.find(({ id }) => id === state.q);
  remember();
  if (!change) return at("query").replaceChildren();
  const { id, text, outcome, tone, gain, a, b, place } = change;
  const entry = queries().lists[place];
  at("query").replaceChildren(make("h3", { id: "query-title" }, text || id),
    make("p", tone, `${text && `${id}: `}${outcome}, A ${a}, B ${b}, change ${size(gain)} ${grid().unit}`),
    ...(entry ? [listOf("A", state.a, state.b, entry), listOf("B", state.b, state.a, entry)] : [make("p", "small", data.queries ? `Its ranked lists are not on the page. ${more}` : "")]));
}

function listOf(side, run, otherRun, { ids, grades, texts, lists }) {
  const { cutoff, rel } = grid();
  const listIn = (name) => lists[queries().runs.indexOf(name)];
  const other = listIn(otherRun);
  const items = listIn(run).map((document, n) => {
    const grade = grades[document];
    const text = texts[document];
    const words = make("p", { hidden: "" }, text);
    const open = ({ currentTarget }) => currentTarget.setAttribute("aria-expanded", !(words.hidden = !words.hidden));
    const isRelevant = grade >= rel && grade !== null;
    return make("li", `${isRelevant && "relevant"} ${n === cutoff && "cut"}`, make("span", null, n + 1),
      text ? button(ids[document], open, { "aria-expanded": false }) : make("b", null, ids[document]),
      make("span", null, isRelevant ? `✓ ${grade}` : grade ?? "?"),
      make("span", null, other.includes(document) ? `${side === "A" ? "B" : "A"} ${other.indexOf(document) + 1}` : ""), text ? words : "");
  });
  return make("div", "ranked", make("h4", null, `${side}: ${run}`), make("ol", null, items.length ? items : make("li", null, "nothing")));
}

// --- controls ---

function save() {
  const quoted = (text) => `"${`${text}`.replaceAll('"', '""')}"`;
  const lines = listed.map(({ id, text, outcome, a, b, gain }) => [id, text, outcome, a, b, grid().gains * gain].map(quoted).join());
  const file = new Blob([[["query", "text", "outcome", state.a, state.b, "change"].map(quoted).join(), ...lines, ""].join("\r\n")], { type: "text/csv" });
  make("a", { href: URL.createObjectURL(file), download: "queries.csv" }).click();
}

function move(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const buttons = [...at("list").querySelectorAll("th button")];
  buttons[buttons.indexOf(event.target) + by]?.focus();
  document.activeElement.click();
}

for (const node of document.querySelectorAll("#made details")) {
  node.addEventListener("toggle", () => {
    const silent = node.querySelector("noscript");
    if (silent) silent.outerHTML = silent.textContent; // Python escaped it
  });
}
if (data.grids.length) {
  const restore = () => choose(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  addEventListener("hashchange", restore);
  restore();
}
if (at("queries")) {
  const left = data.queries - data.listed;
  if (left) at("listed").textContent = `Ranked lists of the ${plural(data.listed)} that change most are included, those of ${number(left)} others are left out. ${more}`;
  at("words").addEventListener("input", ({ target }) => { state.s = target.value; filter(); });
  at("reset").addEventListener("click", () => choose({ s: "", bars: "" }));
  at("save").addEventListener("click", save);
  at("list").addEventListener("keydown", move);
}
