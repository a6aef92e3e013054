// The page's data, small helpers, the chosen pair of runs, and the state that the address keeps. Text is appended as
// text, so it is never markup.

document.documentElement.classList.add("scripted");
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const drawing = new DOMParser().parseFromString("<svg>", "text/html").querySelector("svg").namespaceURI;
const SHAPES = new Set(["svg", "g", "line", "rect", "circle", "path", "text"]);
const SIGNS = { better: "▲ ", worse: "▼ ", same: "" };
const MINUS = "−";
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

const written = (value) => value.toLocaleString("en");
const count = (value, noun = "query", nouns = "queries") => `${written(value)} ${value === 1 ? noun : nouns}`;
const sign = (value, signed) => (value < 0 ? MINUS : signed && value > 0 ? "+" : "");

function number(value, signed) {
  if (value === null) return "none";
  const size = Math.abs(value);
  if (Number.isInteger(value)) return `${sign(value, signed)}${size}`;
  return sign(value, signed) + (size < 0.005 ? size.toPrecision(1) : size.toFixed(2));
}

// ---- labels

// The label of a pair of the call, corrected over all of them, also with the runs swapped; undefined for other pairs.
function labelOfCall(own, a, b) {
  const [first, second] = [a, b].map((run) => own.runs.indexOf(run));
  const label = (code) => data.labels[code.charCodeAt(0) - 97]; // undefined for ".", no pair of the call
  const swapped = label(own.codes[second][first]);
  return label(own.codes[first][second]) ?? (swapped && data.labels[swapped[3]]);
}

// What is known of a pair: its label, style and sign; whether it is corrected; or why there is none.
function verdictOf(own, a, b) {
  const known = labelOfCall(own, a, b);
  if (known) return { label: known[0], tone: known[1], sign: known[2], isCorrected: true };
  const silent = { label: null, tone: "same", sign: "", isCorrected: false };
  if (own.silent) return { ...silent, why: `it is not a pair of the call, and ${own.silent}, so it was not tested` };
  const { pair } = numbersOf(own, a, b);
  const label = judge(testPair(pair, pair.queries, own.rules), own.rules.alpha);
  if (!label) return { ...silent, why: UNSURE };
  const [, tone, mark] = data.labels.find(([name]) => name === label);
  return { label, tone, sign: mark, isCorrected: false };
}

// ---- the chosen pair

let chosen, set, grid, byDocument;
const compared = new Map(); // numbers of pairs
const columnsOfRuns = new Map(); // search lengths

const hasQueries = (own) => own.set !== null && own.runs.length > 1;
const pairOfCall = (own, a, b) => own.pairs.find((pair) => pair.a === a && pair.b === b);
const canChoose = (own, a, b) => a !== b && Boolean(data.sets[own.set].columns ?? pairOfCall(own, a, b));

function lengthsOfRun(own, place) {
  const key = `${own.set} ${own.cutoff} ${place}`;
  const { ranks, sizes } = data.sets[own.set].columns;
  if (!columnsOfRuns.has(key)) columnsOfRuns.set(key, searchLengths(ranks[place], sizes, own.cutoff));
  return columnsOfRuns.get(key);
}

// The numbers of each query of a pair: from the columns of its runs, or as Python gave them.
function numbersOf(own, a, b) {
  const key = JSON.stringify([own.name, a, b]);
  if (compared.has(key)) return compared.get(key);
  const { columns, runs } = data.sets[own.set];
  let { given: numbers, horizon } = pairOfCall(own, a, b) ?? {};
  if (columns) {
    const places = [a, b].map((run) => runs.indexOf(run));
    horizon = Math.min(own.cutoff, Math.max(...places.map((place) => columns.depths[place])));
    const pair = pairQueries(...places.map((place) => lengthsOfRun(own, place)), columns.sizes, horizon);
    const known = (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
    pair.queries = pair.items.map((_, query) => query);
    const change = pair.queries.map((query) => pair.allB[query] - pair.allA[query]);
    const [foundA, foundB] = [Array.from(pair.foundA), Array.from(pair.foundB)];
    numbers = { pair, a: known(pair.a), b: known(pair.b), change, foundA, foundB, both: pair.shared };
  }
  const about = { measure: own.measure, higher: own.pairs[0]?.rows[1].higher, horizon };
  const whole = { ...numbers, horizon, ...changesOf(numbers, about) };
  if (compared.size > 200) compared.clear();
  compared.set(key, whole);
  return whole;
}

function choose() {
  grid = data.grids.find((own) => own.name === state.c);
  set = data.sets[grid.set];
  byDocument = grid.unit === "document";
  const numbers = numbersOf(grid, state.a, state.b);
  const { foundA, foundB, both } = numbers;
  // Both found something, but nothing in common.
  const apart = set.ids.map((_, i) => Boolean(foundA[i] && foundB[i] && !both[i]));
  chosen = { ...numbers, ...verdictOf(grid, state.a, state.b), lengths: [numbers.a, numbers.b], apart };
}

const isOfLengths = () => grid.measure === null;
const kindOf = (i) => (chosen.bin[i] < 0 ? ["neither", "same"] : chosen.bins[chosen.bin[i]]);

// Whether numbers are means over the runs of a system.
const isOfSeveral = () => [state.a, state.b].some((run) => Object.hasOwn(set.first, run));

// What a run found of the relevant documents: "1 of 7" where their number is known, otherwise in percent.
function found(i, side) {
  const share = [chosen.foundA, chosen.foundB][side][i];
  const relevant = set.relevant?.[i];
  const many = Math.round(1e6 * share * relevant) / 1e6; // of several runs the mean
  return relevant ? `${number(many)} of ${relevant}` : `${number(Math.round(1000 * share) / 10)} %`;
}

// ---- state, kept in the address

const [c, a, b] = data.opening ?? ["", "", ""];
const DEFAULT = { c, a, b, q: "", s: "", bin: "", slice: "", sort: "size", at: "", runs: "" };
let state = { ...DEFAULT };
const withoutFilters = () => ({ ...DEFAULT, c: state.c, a: state.a, b: state.b });

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
  const hash = location.hash.slice(1);
  if (hash && !hash.includes("=")) return;
  const given = new URLSearchParams(hash);
  const known = Object.keys(DEFAULT).filter((name) => given.has(name));
  state = withKnownPair({ ...DEFAULT, ...Object.fromEntries(known.map((name) => [name, given.get(name)])) });
}

function address(values) {
  return `#${new URLSearchParams(Object.entries(values).filter(([name, value]) => value !== DEFAULT[name]))}`;
}

// A step is something to go back from; typing and filters only change the present one.
function writeAddress(step) {
  const hash = address(state);
  if (hash === (location.hash || "#")) return;
  try {
    history[step ? "pushState" : "replaceState"](null, "", hash === "#" ? location.href.split("#")[0] : hash);
  } catch {
    // a page inside of another has no address of its own
  }
}

// Clicks with other buttons or keys are the browser's.
function isPlain(event) {
  return !event.button && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}
