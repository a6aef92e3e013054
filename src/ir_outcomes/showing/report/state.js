// The page's data, small helpers, the chosen comparison, and the state that the address keeps. All text is set with textContent, so it is never markup.

document.documentElement.classList.add("scripted");
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const opened = []; // what was unfolded for paper

function unfold() {
  const target = location.hash.length > 1 && !location.hash.includes("=") ? byId(location.hash.slice(1)) : null;
  if (target?.tagName === "DETAILS") target.open = true;
}
addEventListener("hashchange", unfold);
unfold();
if (!data.comparisons.length) return;

const EXTRA = 12; // rows that are drawn above and below those in view
const PRINTED = 25; // rows on paper
const FIRST = 10; // documents of a list that are shown at once
const MOST_UNFOLDED = 3; // comparisons that are all unfolded on paper
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

// ---- the chosen comparison

let chosen, set, byDocument, changeHead;
let printing = false;

function choose(place) {
  chosen = data.comparisons[place];
  set = data.sets[chosen.set];
  byDocument = chosen.unit === "document";
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
const DEFAULT = { c: 0, q: "", s: "", bin: "", slice: "", sort: "size", at: "", runs: "" };
let state = { ...DEFAULT };

function readAddress() {
  const hash = location.hash.slice(1);
  if (hash && !hash.includes("=")) return;
  const given = new URLSearchParams(hash);
  state = { ...DEFAULT };
  for (const name of Object.keys(DEFAULT)) if (given.has(name)) state[name] = given.get(name);
  state.c = Number(state.c);
  if (!data.comparisons[state.c]) state.c = DEFAULT.c;
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
