// The page's data, small helpers, the chosen pair of runs, and the state that the address keeps. All text is set with
// textContent, so it is never markup.

document.documentElement.classList.add("scripted");
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const opened = []; // what was unfolded for paper

const EXTRA = 12; // rows that are drawn above and below those in view
const PRINTED = 25; // rows on paper
const FIRST = 10; // documents of a list that are shown at once
const SIGNS = { better: "▲ ", worse: "▼ ", same: "" };

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function picture(tag, properties, ...children) {
  const made = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
  for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const count = (number, noun = "query", nouns = "queries") => `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;

function number(value, signed) {
  if (value === null) return "none";
  const size = Math.abs(value);
  const text = Number.isInteger(value) ? String(size) : size < 0.005 ? size.toPrecision(1) : size.toFixed(2);
  return (value < 0 ? "−" : signed && value > 0 ? "+" : "") + text;
}

// ---- labels

// The label of a pair of the call, corrected over all of them, also with the runs swapped; null for other pairs.
function labelOfCall(grid, a, b) {
  const own = grid.codes[grid.runs.indexOf(a)][grid.runs.indexOf(b)];
  if (own !== ".") return data.labels[own.charCodeAt(0) - 97];
  const swapped = grid.codes[grid.runs.indexOf(b)][grid.runs.indexOf(a)];
  if (swapped === ".") return null;
  return data.labels[data.labels[swapped.charCodeAt(0) - 97][3]];
}

const described = (label) => data.labels.find(([name]) => name === label);

// What is known of a pair: its label, style and sign; whether it is corrected; or why there is none.
function verdictOf(grid, a, b) {
  const own = labelOfCall(grid, a, b);
  if (own) return { label: own[0], tone: own[1], sign: own[2], isCorrected: true };
  const silent = { label: null, tone: "same", sign: "", isCorrected: false };
  if (grid.silent) return { ...silent, why: `it is not a pair of the call, and ${grid.silent}, so it was not tested` };
  const { pair } = numbersOf(grid, a, b);
  const label = judge(testPair(pair, pair.queries, grid.rules), grid.rules.alpha);
  if (!label) return { ...silent, why: UNSURE };
  const [, tone, sign] = described(label);
  return { label, tone, sign, isCorrected: false };
}

const UNSURE = "a p-value is too close to alpha to be told here";

// ---- the chosen pair

let chosen, set, grid, byDocument, changeHead;
let printing = false;
const compared = new Map(); // numbers of pairs
const columns_ = new Map(); // search lengths of runs

const hasQueries = (own) => own.set !== null && own.runs.length > 1;
const canChoose = (own, a, b) => a !== b && (data.sets[own.set].columns !== null || pairOfCall(own, a, b) !== undefined);
const pairOfCall = (own, a, b) => own.pairs.find((pair) => pair.a === a && pair.b === b);

function lengthsOfRun(own, place) {
  const key = `${own.set} ${own.cutoff} ${place}`;
  const { ranks, sizes } = data.sets[own.set].columns;
  if (!columns_.has(key)) columns_.set(key, searchLengths(ranks[place], sizes, own.cutoff));
  return columns_.get(key);
}

// The numbers of each query of a pair: from the columns of its runs, or as Python gave them.
function numbersOf(own, a, b) {
  const key = JSON.stringify([own.name, a, b]);
  if (compared.has(key)) return compared.get(key);
  const { columns, runs } = data.sets[own.set];
  const about = { measure: own.measure, higher: own.pairs[0]?.rows[1].higher };
  let numbers;
  if (columns) {
    const places = [a, b].map((run) => runs.indexOf(run));
    const horizon = Math.min(own.cutoff, Math.max(...places.map((place) => columns.depths[place])));
    const pair = pairQueries(...places.map((place) => lengthsOfRun(own, place)), columns.sizes, horizon);
    const known = (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
    pair.queries = pair.items.map((_, query) => query);
    const change = pair.queries.map((query) => pair.allB[query] - pair.allA[query]);
    const [foundA, foundB] = [Array.from(pair.foundA), Array.from(pair.foundB)];
    numbers = { pair, horizon, a: known(pair.a), b: known(pair.b), change, foundA, foundB, both: pair.shared };
  } else {
    const { given, horizon } = pairOfCall(own, a, b);
    numbers = { ...given, horizon };
  }
  Object.assign(numbers, changesOf(numbers, { ...about, horizon: numbers.horizon }));
  if (compared.size > 200) compared.clear();
  compared.set(key, numbers);
  return numbers;
}

function choose() {
  grid = data.grids.find((own) => own.name === state.c);
  set = data.sets[grid.set];
  byDocument = grid.unit === "document";
  const numbers = numbersOf(grid, state.a, state.b);
  chosen = {
    ...numbers,
    baseline: state.a,
    contender: state.b,
    ...verdictOf(grid, state.a, state.b),
    unit: grid.unit,
    cutoff: grid.cutoff,
    rel: grid.rel,
    measure: grid.measure,
    // Both found something, but nothing in common.
    apart: set.ids.map((_, i) => i).filter((i) => numbers.foundA[i] && numbers.foundB[i] && !numbers.both[i]),
    found: byDocument ? numbers.foundA.map((share, query) => [share, numbers.foundB[query]]) : null,
  };
  changeHead = byDocument && chosen.horizon ? "change, all" : "change";
}

const kindOf = (i) => (chosen.bin[i] < 0 ? ["neither", "same"] : chosen.bins[chosen.bin[i]]);
const lengthOf = (side, i) => (side ? chosen.b : chosen.a)[i];

// What a run found of the relevant documents: "1 of 7" where their number is known, otherwise in percent.
function found(i, side) {
  const share = chosen.found[i][side];
  const relevant = set.relevant?.[i];
  return relevant ? `${Math.round(share * relevant)} of ${relevant}` : `${number(Math.round(1000 * share) / 10)} %`;
}

// ---- state, kept in the address

const NONE = "-"; // no run beside A and B
const [c, a, b] = data.opening ?? ["", "", ""];
const DEFAULT = { c, a, b, q: "", s: "", bin: "", slice: "", sort: "size", at: "", runs: "" };
let state = { ...DEFAULT };

// A condition and a pair that the page has: as asked for, otherwise with one of the runs, otherwise the one it opens on.
function withKnownPair(wanted) {
  const own = data.grids.find((item) => item.name === wanted.c && hasQueries(item));
  if (!own) return { ...wanted, c, a, b };
  const known = (run) => own.runs.includes(run);
  if (known(wanted.a) && known(wanted.b) && canChoose(own, wanted.a, wanted.b)) return wanted;
  for (const pair of own.pairs) if (pair.b === wanted.b) return { ...wanted, a: pair.a };
  if (own.pairs.length) return { ...wanted, a: own.pairs[0].a, b: own.pairs[0].b };
  return { ...wanted, a: own.runs[0], b: own.runs[1] };
}

function readAddress() {
  const hash = location.hash.slice(1);
  if (hash && !hash.includes("=")) return;
  const given = new URLSearchParams(hash);
  state = { ...DEFAULT };
  for (const name of Object.keys(DEFAULT)) if (given.has(name)) state[name] = given.get(name);
  state = withKnownPair(state);
}

const address = (values) => `#${new URLSearchParams(Object.entries(values).filter(([name, value]) => value !== DEFAULT[name]))}`;

// A step is something to go back from; typing and filters only change the present one.
function writeAddress(step) {
  const hash = address(state);
  if (hash === location.hash || (hash === "#" && !location.hash)) return;
  try {
    history[step ? "pushState" : "replaceState"](null, "", hash === "#" ? location.href.split("#")[0] : hash);
  } catch {
    // a page inside of another has no address of its own
  }
}
