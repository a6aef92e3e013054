// The page's data, small helpers, the chosen pair of runs, and the state that the address keeps. Text is appended as
// text, so it is never markup.

document.documentElement.classList.add("scripted");
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const drawing = new DOMParser().parseFromString("<svg>", "text/html").querySelector("svg").namespaceURI;
const SHAPES = new Set(["svg", "g", "line", "rect", "circle", "path", "text"]);
const SIGNS = { better: "▲ ", worse: "▼ ", mixed: "", same: "" };
const UNSURE = "a p-value is too close to alpha to be told here";
const NONE = "-"; // no run beside A and B

// An element, such as "td.number", with attributes and with what it holds.
function make(what, ...parts) {
  const [tag, ...classes] = what.split(".");
  const made = SHAPES.has(tag) ? document.createElementNS(drawing, tag) : document.createElement(tag);
  if (classes.length) made.setAttribute("class", classes.join(" "));
  for (const part of parts.flat()) {
    if (typeof part === "string" || part instanceof Node) made.append(part);
    else setAttributes(made, part);
  }
  return made;
}

function setAttributes(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) made.setAttribute(name, value === true ? "" : value);
  }
}

const most = (values, least) => values.reduce((one, other) => Math.max(one, other), least);
const written = (value) => value.toLocaleString("en");
const count = (value) => `${written(value)} ${value === 1 ? "query" : "queries"}`;
const sign = (value, signed) => (value < 0 ? "−" : signed && value > 0 ? "+" : "");
const whole = (value, isSigned) => sign(value, isSigned) + Math.abs(value);
const signed = (value, places) => sign(Number(value.toFixed(places)), true) + Math.abs(value).toFixed(places);
const percent = (share) => `${number(Math.round(1000 * share) / 10)} %`;

function number(value, isSigned) {
  if (value === null) return "none";
  const size = Math.abs(value);
  if (Number.isInteger(value)) return whole(value, isSigned);
  return sign(value, isSigned) + (size < 0.005 ? size.toPrecision(1) : size.toFixed(2));
}

// The label of a pair of the call, corrected over all of them; undefined for other pairs, whose code is ".".
function labelOfCall(own, a, b) {
  const code = own.codes[own.runs.indexOf(a)][own.runs.indexOf(b)];
  return data.labels[code.charCodeAt(0) - 97];
}

// What is known of a pair: its label, style and sign; whether it is corrected; or why there is none.
function verdictOf(own, a, b) {
  const ofCall = labelOfCall(own, a, b);
  const pair = ofCall || own.silent ? null : numbersOf(own, a, b).pair;
  const computed = pair && judge(testPair(pair, pair.queries, own.rules), own.rules.alpha);
  const [label, tone, mark] = ofCall ?? data.labels.find(([name]) => name === computed) ?? [null, "same", ""];
  const why = own.silent ? `it is not a pair of the call, and ${own.silent}, so it was not tested` : UNSURE;
  return { label, tone, sign: mark, isCorrected: Boolean(ofCall), why };
}

let chosen, set, grid, byDocument;
const computed = new Map(); // search lengths of runs and numbers of pairs

const hasQueries = (own) => own.set !== null && own.runs.length > 1;
const pairOfCall = (own, a, b) => own.pairs.find((pair) => pair.a === a && pair.b === b);
const canChoose = (own, a, b) => a !== b && Boolean(data.sets[own.set].columns ?? pairOfCall(own, a, b));

function once(key, compute) {
  const name = JSON.stringify(key);
  if (computed.size > 400) computed.clear();
  if (!computed.has(name)) computed.set(name, compute());
  return computed.get(name);
}

function lengthsOfRun(own, run) {
  const { columns, runs } = data.sets[own.set];
  const { ranks, sizes } = columns;
  return once([own.set, own.cutoff, run], () => searchLengths(ranks[runs.indexOf(run)], sizes, own.cutoff));
}

// The numbers of each query of a pair: from the columns of its runs, or as Python gave them.
const numbersOf = (own, a, b) => once([own.name, a, b], () => {
  const { columns, runs } = data.sets[own.set];
  let { given: numbers, horizon } = pairOfCall(own, a, b) ?? {};
  if (columns) {
    horizon = Math.min(own.cutoff, most([a, b].map((run) => columns.depths[runs.indexOf(run)]), 0));
    const pair = pairQueries(lengthsOfRun(own, a), lengthsOfRun(own, b), columns.sizes, horizon);
    const known = (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
    pair.queries = [...pair.a.keys()];
    const change = pair.queries.map((query) => pair.allB[query] - pair.allA[query]);
    const found = { foundA: [...pair.foundA], foundB: [...pair.foundB], both: pair.shared };
    numbers = { pair, a: known(pair.a), b: known(pair.b), change, ...found };
  }
  const about = { measure: own.measure, higher: own.pairs[0]?.rows[1].higher, horizon };
  return { ...numbers, horizon, ...changesOf(numbers, about) };
});

function choose() {
  grid = data.grids.find((own) => own.name === state.c);
  set = data.sets[grid.set];
  byDocument = grid.unit === "document";
  chosen = { ...numbersOf(grid, state.a, state.b), ...verdictOf(grid, state.a, state.b) };
}

const isOfLengths = () => grid.measure === null;
const kindOf = (i) => (chosen.bin[i] < 0 ? ["neither", "same"] : chosen.bins[chosen.bin[i]]);
const isApart = (i) => Boolean(chosen.foundA[i] && chosen.foundB[i] && !chosen.both[i]); // nothing in common
const isOfSeveral = () => [state.a, state.b].some((run) => Object.hasOwn(set.first, run));

// What a run found of the relevant documents: "1 of 7" where their number is known, otherwise in percent.
function found(i, side) {
  const share = [chosen.foundA, chosen.foundB][side][i];
  const relevant = set.relevant?.[i];
  return relevant ? `${number(Math.round(1e6 * share * relevant) / 1e6)} of ${relevant}` : percent(share);
}

const [c, a, b] = data.opening ?? ["", "", ""];
const DEFAULT = { c, a, b, q: "", s: "", bin: "", slice: "", runs: "" };
let state = { ...DEFAULT };

// A condition and a pair that the page has: as asked for, else with one of the runs, else the one it opens on.
function withKnownPair(wanted) {
  const own = data.grids.find((item) => item.name === wanted.c && hasQueries(item));
  if (!own) return { ...wanted, c, a, b };
  const areKnown = [wanted.a, wanted.b].every((run) => own.runs.includes(run));
  if (areKnown && canChoose(own, wanted.a, wanted.b)) return wanted;
  const pair = own.pairs.find((item) => item.b === wanted.b) ?? own.pairs[0] ?? { a: own.runs[0], b: own.runs[1] };
  return { ...wanted, a: pair.a, b: pair.b };
}

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const known = Object.keys(DEFAULT).filter((name) => given.has(name));
  state = withKnownPair({ ...DEFAULT, ...Object.fromEntries(known.map((name) => [name, given.get(name)])) });
}

function address(values) {
  return `#${new URLSearchParams(Object.entries(values).filter(([name, value]) => value !== DEFAULT[name]))}`;
}

// A step is something to go back from; typing and filters only change the present one.
function writeAddress(step) {
  const hash = address(state);
  const isFrame = location.protocol === "about:"; // a page inside of another has no address of its own
  if (isFrame || hash === (location.hash || "#")) return;
  history[step ? "pushState" : "replaceState"](null, "", hash === "#" ? location.href.split("#")[0] : hash);
}

// Clicks with other buttons or keys are the browser's.
const isPlain = (event) => !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
