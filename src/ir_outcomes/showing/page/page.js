// Chooses, filters and draws what Python computed; nothing is tested here.

const at = (id) => document.getElementById(id);
const data = JSON.parse(at("data").textContent);
const TONES = ["same", "better", "worse"]; // of 0, 1 and -1
const OUTCOMES = ["won", "both", "neither", "lost"];
const PAGE = 50; // queries that are listed at once
const ENDS = [1, 2, 5, 10, 30]; // of the bars, in steps
const BARS = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6]; // from the largest loss

// Make an element with properties; text in their place is a class.
function make(tag, properties, ...children) {
  const named = typeof properties === "string" ? { className: properties } : properties;
  const node = Object.assign(document.createElement(tag), named);
  node.append(...children.flat(9));
  return node;
}

const button = (text, onclick, properties) => make("button", { type: "button", onclick, ...properties }, text);
const cell = (text, ...children) => make("td", null, text, children);
const heading = (...children) => make("th", { scope: "row" }, children);
const below = (text) => (text ? make("span", null, text) : []);

function table(ariaLabel, heads, rows, kind = "") {
  const head = heads.map((text) => make("th", { scope: "col" }, text));
  const parts = make("table", null, make("thead", null, make("tr", null, head)), make("tbody", null, rows));
  return make("div", { className: `scroll ${kind}`, tabIndex: 0, role: "group", ariaLabel }, parts);
}

// Write a number; one with a sign has as many decimals as show its side of 0.
function fixed(value, places, signed) {
  if (!Number.isFinite(value)) return "–";
  let text = Math.abs(value).toFixed(places);
  while (signed && Math.abs(value) > 1e-9 && !Number(text)) text = Math.abs(value).toFixed(++places);
  if (!Number(text)) return text;
  return (value < 0 ? "−" : signed ? "+" : "") + text;
}

const plain = (value, places, signed) => fixed(value, Number.isInteger(value) ? 0 : places, signed);
const interval = (low, high, places) => (Number.isFinite(low) ? `[${fixed(low, places, true)}, ${fixed(high, places, true)}]` : "");
const number = (n) => n.toLocaleString("en");
const plural = (n) => `${number(n)} ${n === 1 ? "query" : "queries"}`;

// --- what is chosen, by name, as the address keeps it ---

const state = { c: "", a: "", b: "", q: "", s: "", bar: "", outcome: "" };
const gridOf = ({ c }) => data.grids.find(({ name }) => name === c) ?? data.grids[0];
const grid = () => gridOf(state);

function choose(changed) {
  const { a, b } = state;
  for (const key in state) state[key] = changed[key] ?? state[key];
  if (state.a === state.b) Object.assign(state, { a: b, b: a }); // the two change places
  const { runs, start } = grid();
  if (state.a === state.b || !runs.includes(state.a) || !runs.includes(state.b)) Object.assign(state, { a: runs[start[0]], b: runs[start[1]] });
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
  const { runs, first, second, label, rows, within } = gridOf(chosen);
  const pair = [chosen.a, chosen.b].map((run) => runs.indexOf(run));
  const place = first.findIndex((run, n) => run !== second[n] && pair.includes(run) && pair.includes(second[n]));
  if (place < 0) return undefined;
  const turned = first[place] !== pair[0];
  const found = data.labels[label[place]];
  const shown = rows.map((row) => {
    const [sign, ofMeans, ofEnds, a, b, difference, low, high, newLow, newHigh, margin] = row.pairs[place].map((value) => value ?? NaN);
    const straight = { ...row, ofMeans, ofEnds, sign, a, b, difference, low, high, newLow, newHigh, margin };
    const mirrored = { sign: -sign, a: b, b: a, difference: -difference, low: -high, high: -low, newLow: -newHigh, newHigh: -newLow, margin: "" };
    return turned ? { ...straight, ...mirrored } : straight;
  }).filter(({ difference }) => Number.isFinite(difference));
  return { ...chosen, label: turned ? data.labels[found[2]] : found, rows: shown, within: turned ? "" : within[place] };
}

// --- strips: right is better ---

function axisOf(rows) {
  const ends = rows.flatMap(({ gains, difference, low, high }) => [0, difference, low, high].map((end) => gains * end)).filter(Number.isFinite);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const space = 0.08 * (most - least) || 1;
  const [low, width] = [least - space, most - least + 2 * space];
  const size = 10 ** Math.floor(Math.log10(width / 2));
  const step = size * [5, 2, 1].find((factor) => factor * size * 2 <= width);
  const ticks = [];
  for (let tick = Math.ceil(low / step); tick * step <= low + 0.94 * width; tick++) ticks.push(tick * step);
  return { ticks, share: (gain) => (100 * (gain - low)) / width };
}

function span(className, axis, from, to, text = "") {
  const [low, high] = [from, to].map(axis.share).sort((one, other) => one - other);
  return Number.isFinite(low) ? make("i", { className, style: `left: ${low}%; width: ${high - low}%` }, text) : [];
}

const scale = ({ gains }, axis) => make("div", { className: "strip scale", ariaHidden: true }, axis.ticks.map((tick) =>
  span("tick", axis, tick, tick, fixed(gains * tick, 9, true).replace(/\.?0+$/, "") || "0")));

function drawn(row, axis, ...others) {
  if (!row) return cell("");
  const { gains, sign, difference, low, high, ofMeans, ofEnds } = row;
  const part = (kind, from, to) => span(kind, axis, gains * from, gains * to);
  const strip = make("div", { className: "strip", ariaHidden: true }, part("zero", 0, 0), part("bar", low, high), part("dot", difference, difference));
  const star = !sign && low * high > 0 ? "*" : "";
  return make("td", `drawn ${TONES.at(sign)}`, strip, below(`${fixed(difference, ofMeans, true)} ${interval(low, high, ofEnds)} ${star}`), others);
}

// Lay out the rows of one pair, each on its axis.
function rowsOf({ a, b, rows }) {
  const others = { "new runs": ({ newLow, newHigh, ofEnds }) => interval(newLow, newHigh, ofEnds), margin: ({ margin }) => margin || "" };
  const names = Object.keys(others).filter((name) => rows.some(others[name]));
  const lines = rows.map((row) => {
    const axis = axisOf([row]);
    const texts = [fixed(row.a, row.ofMeans), fixed(row.b, row.ofMeans), ...names.map((name) => others[name](row))];
    return make("tr", null, heading(row.name, below(row.unit)), texts.map((text) => cell(text)), drawn(row, axis, scale(row, axis)));
  });
  return table("Rows", ["row", `A: ${a}`, `B: ${b}`, ...names, "B − A"], lines, "overview");
}

// Lay out several pairs on axes that they share.
function overview(title, pairs, key) {
  if (pairs.length < 2) return "";
  const rows = grid().rows.filter(({ name }) => pairs.some((pair) => pair.rows.some((row) => row.name === name)));
  const columns = rows.map(({ name }) => pairs.map((pair) => pair.rows.find((row) => row.name === name)));
  const axes = columns.map((column) => axisOf(column.filter(Boolean)));
  const margins = pairs.some(({ within }) => within) ? ["within margins"] : [];
  const lines = pairs.map((pair, n) => make("tr", pair.label[1],
    heading(button(pair[key], () => choose(pair)), below(grid().details[grid().runs.indexOf(pair.b)])),
    make("td", "label", pair.label[0]), margins.map(() => cell(pair.within)), axes.map((axis, place) => drawn(columns[place][n], axis))));
  const scales = make("tr", null, ["", "", ...margins].map(() => cell("")), axes.map((axis, place) => cell(scale(rows[place], axis))));
  return table(title, [title, "label", ...margins, ...rows.map(({ name, unit }) => `${name}${unit && ", "}${unit}`)], [...lines, scales], "overview");
}

function drawPair() {
  const { runs, first } = grid();
  const selector = (label, key, names) => make("label", null, label, make("select", { onchange: ({ target }) => choose({ [key]: target.value }) },
    names.map((name) => make("option", { selected: state[key] === name }, name))));
  const names = data.grids.map(({ name }) => name);
  at("chooser").hidden = at("found").hidden = first.length === 1 && names.length === 1;
  at("chooser").replaceChildren(names.length > 1 ? selector("Under", "c", names) : "", selector("B", "b", runs), selector("against A", "a", runs));
  const pair = pairOf(state);
  at("found").replaceChildren(pair ? make("b", `label ${pair.label[1]}`, pair.label[0]) : "Not compared in this call; the page tests nothing.");
  const among = (key, all) => all.map((name) => pairOf({ ...state, [key]: name })).filter(Boolean);
  at("overviews").replaceChildren(pair ? rowsOf(pair) : "", overview(`run against ${state.a}`, among("b", runs), "b"), overview("where", among("c", names), "c"));
}

// --- queries ---

let changes;
let listed;

// Return what the chosen pair did with each query, and how much better B is: its gain.
function changesOf() {
  const { runs, rows, ids, texts, sizes, found, values, cutoff, gains, places, step } = grid();
  const isSplit = rows.some(({ name }) => name === "coverage");
  const side = (run, place) => {
    const size = sizes[place];
    const [share, value] = [found, values].map((packed) => packed[runs.indexOf(run) * ids.length + place]);
    // Runs of a system that do not answer count as cutoff + 1.
    const length = gains < 0 ? (value - (1 - share) * (cutoff + 1)) / share : value;
    return { share, value, text: gains < 0 && size > 1 ? `${plain(share, 1)}/${size}` : plain(length, places) };
  };
  return ids.map((id, place) => {
    const [one, other] = [side(state.a, place), side(state.b, place)];
    const gain = gains * (other.value - one.value);
    const outcome = OUTCOMES[other.share > one.share ? 0 : other.share < one.share ? 3 : one.share ? 1 : 2];
    const sign = Math.abs(gain) < 1e-5 ? 0 : Math.sign(gain);
    const bar = sign * (1 + ENDS.filter((end) => Math.abs(gain) > end * step + 1e-5).length);
    const text = texts[place] ?? "";
    return { place, id, text, words: `${id} ${text}`.toLowerCase(), a: one.text, b: other.text, gain, outcome: isSplit ? outcome : "", bar, tone: TONES.at(sign) };
  }).sort((one, other) => Math.abs(other.gain) - Math.abs(one.gain));
}

const size = (gain) => plain(grid().gains * gain, grid().places, true);

function drawQueries() {
  changes = changesOf();
  at("words").value = state.s;
  filter();
}

// Apply search, outcomes and bars, and draw what follows.
function filter() {
  const words = state.s.toLowerCase().split(/\s+/);
  const matching = changes.filter((change) => words.every((word) => change.words.includes(word)));
  const among = (kind) => (change) => !state[kind] || state[kind].split(",").includes(`${change[kind]}`);
  const barred = matching.filter(among("bar"));
  const counted = OUTCOMES.map((name) => [name, barred.filter(({ outcome }) => outcome === name).length]);
  at("outcomes").replaceChildren(...(changes[0]?.outcome ? counted : []).map(([name, n]) => toggle("outcome", name, `${name}, ${number(n)}`)));
  drawHistogram(matching.filter(among("outcome")));
  listed = barred.filter(among("outcome"));
  const mean = listed.reduce((sum, { gain }) => sum + gain, 0) / (listed.length || 1);
  at("count").textContent = `${plural(listed.length)}, mean change ${fixed(grid().gains * mean, grid().places, true)} ${grid().unit}`;
  if (!changes.some(({ id }) => id === state.q)) state.q = listed[0]?.id ?? "";
  drawList(PAGE);
  drawQuery();
}

// Make a button that lists its queries, alone or with those of others.
function toggle(kind, key, content, properties) {
  const name = `${kind} ${key}`;
  const keys = state[kind].split(",").filter(Boolean);
  const others = keys.filter((other) => other !== `${key}`);
  const ariaPressed = others.length < keys.length;
  const press = () => {
    state[kind] = (ariaPressed ? others : [...keys, key]).join();
    filter();
    document.getElementsByName(name)[0].focus();
  };
  return button(content, press, { name, ariaPressed, ...properties });
}

function drawHistogram(matching) {
  const counts = BARS.map((bar) => [/both|neither|^$/, /won|lost/].map((kind) => matching.filter((change) => change.bar === bar && kind.test(change.outcome)).length));
  const sums = counts.map(([one, other]) => one + other);
  const changed = Math.max(1, ...sums.filter((_, n) => BARS[n]));
  const most = sums[6] > 2 * changed ? changed : Math.max(changed, sums[6]);
  at("histogram").replaceChildren(...BARS.map((bar, n) => {
    const side = TONES.at(Math.sign(bar));
    const isOpen = Math.abs(bar) > ENDS.length;
    const isCut = sums[n] > most;
    const end = Number((ENDS.at(Math.abs(bar) - 1 - isOpen) * grid().step).toPrecision(2));
    const parts = counts[n].map((count, part) => make("i", { className: part ? "" : "light", style: `height: ${Math.min(1.2, count / most) * 6}rem` }));
    const change = bar ? `${side}, ${isOpen ? "over" : "up to"} ${end} ${grid().unit}` : "no change";
    return toggle("bar", bar, make("span", { ariaHidden: true }, number(sums[n]), parts, make("small", null, bar ? `${end}${isOpen ? "+" : ""}` : 0)),
      { className: `${side} ${isCut && "cut"}`, title: `${change}: ${plural(sums[n])}${isCut ? ", more than drawn" : ""}` });
  }));
}

function drawList(shown) {
  const lines = listed.slice(0, shown).map((change) => make("tr", change.tone,
    heading(button(change.text || change.id, () => show(change), { ariaCurrent: change.id === state.q }), below(change.text && change.id)),
    cell(change.a), cell(change.b), cell(size(change.gain), below(change.outcome))));
  at("list").replaceChildren(table("Queries", ["query", "A", "B", "change"], lines), listed.length > shown ? button("Show more", () => drawList(shown + PAGE)) : "");
}

const buttons = () => [...at("list").querySelectorAll("th button")];

function show({ id }) {
  state.q = id;
  buttons().forEach((node, n) => { node.ariaCurrent = listed[n].id === id; });
  drawQuery();
}

// --- one query ---

function drawQuery() {
  const change = changes.find(({ id }) => id === state.q);
  remember();
  if (!change) return at("query").replaceChildren();
  const { id, text, outcome, tone, gain, a, b, place } = change;
  const entry = grid().lists[place];
  const facts = [text && id, outcome, `A ${a}`, `B ${b}`, `change ${size(gain)} ${grid().unit}`].filter(Boolean).join(", ");
  const lists = entry ? [listOf("A", state.a, state.b, entry), listOf("B", state.b, state.a, entry)] : [make("p", "small", data.more && "Its ranked lists are not on the page.")];
  at("query").replaceChildren(make("h3", null, text || id), make("p", tone, facts), ...lists);
}

function listOf(side, run, otherRun, { ids, grades, texts, lists }) {
  const { cutoff, rel } = grid();
  const listIn = (name) => lists[grid().runs.indexOf(name)];
  const other = listIn(otherRun);
  const items = listIn(run).map((document, n) => {
    const grade = grades[document];
    const text = texts[document] ?? "";
    const words = make("p", { hidden: true }, text);
    const open = ({ target }) => { target.ariaExpanded = !(words.hidden = !words.hidden); };
    const isRelevant = grade >= rel && grade !== null;
    return make("li", `${isRelevant && "relevant"} ${n === cutoff && "cut"}`, make("span", null, n + 1),
      text ? button(ids[document], open, { ariaExpanded: false }) : make("b", null, ids[document]),
      make("span", null, isRelevant ? `✓ ${grade}` : grade ?? "?"),
      make("span", null, other.includes(document) ? `${side === "A" ? "B" : "A"} ${other.indexOf(document) + 1}` : ""), words);
  });
  return make("div", "ranked", make("h4", null, `${side}: ${run}`), make("ol", null, items.length ? items : make("li", null, "nothing")));
}

// --- controls ---

function save() {
  const cells = listed.map(({ id, text, outcome, a, b, gain }) => [id, text, outcome, a, b, grid().gains * gain]);
  const quoted = (text) => `"${`${text}`.replaceAll('"', '""')}"`;
  const lines = [["query", "text", "outcome", state.a, state.b, "change"], ...cells].map((line) => `${line.map(quoted)}\r\n`);
  make("a", { href: URL.createObjectURL(new Blob(lines, { type: "text/csv" })), download: "queries.csv" }).click();
}

function move(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  buttons()[buttons().indexOf(event.target) + by]?.focus();
  document.activeElement.click();
}

if (data.grids.length) {
  onhashchange = () => choose(Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
  onhashchange();
}
if (at("queries")) {
  at("listed").textContent = data.more;
  at("words").oninput = ({ target }) => { state.s = target.value; filter(); };
  at("reset").onclick = () => choose({ s: "", bar: "", outcome: "" });
  at("save").onclick = save;
  at("list").onkeydown = move;
}
