// The chosen pair: its label and numbers, and the label of the queries that are listed.

// As many digits as show on which side of alpha it is (formatting.py, pvalue).
function pText(p, alpha) {
  if (p < 1e-300) return "< 1e-300";
  const short = (places) => p.toExponential(1 + places).replace(".0e", "e").replace(/e-(\d)$/, "e-0$1");
  const texts = Array.from({ length: 15 }, (_, more) => (p < 0.001 ? short(more) : p.toFixed(3 + more)));
  return p === alpha ? texts[0] : texts.find((text) => Number(text) !== alpha);
}

function boundsText({ low, high }, alpha) {
  const [least, most] = [pText(low, alpha), pText(high, alpha)];
  return least === most ? most : `${least} to ${most}`;
}

const ABOVE = "irrelevant documents above";
const meanOf = (values, queries) => sum(queries.map((query) => values[query])) / queries.length;

// The rows of a pair that Python did not compute, or of some of its queries: means, differences and raw p-values. What
// the numbers are is in showing/charts.py, facets_of.
function computedRows(pair, queries, tests) {
  const { alpha } = grid.rules;
  const shared = queries.filter((query) => pair.shared[query]);
  const [unit, what, length, where, missing] = byDocument
    ? [ABOVE, "relevant documents found", `${ABOVE} a relevant one, plus 1`, "found it", "where not found"]
    : ["ranks", "queries answered", "rank of the first answer", "answer", "where none"];
  const rows = [
    ["Coverage", "points", `${what} within rank ${written(chosen.horizon)}`, queries, pair.foundA, pair.foundB],
    ["Ranking", unit, `${length}, where both ${where}`, shared, pair.a, pair.b],
    ["All queries", unit, `${length}, ${written(chosen.horizon + 1)} ${missing}`, queries, pair.allA, pair.allB],
  ];
  return rows.map(([name, unit, explanation, some, ...columns]) => {
    const higher = name === "Coverage";
    const test = { Coverage: tests.coverage, Ranking: tests.ranking }[name] ?? tests.everywhere;
    const means = columns.map((values) => (higher ? 100 : 1) * meanOf(values, some));
    const [a, b] = means.map((mean) => (some.length ? `${mean.toFixed(2)}${higher ? " %" : ""}` : "none"));
    const difference = some.length ? means[1] - means[0] : null;
    const gain = sideOf(test, alpha) ? test.direction * (higher ? 1 : -1) : 0;
    const found = { 0: "none", 1: "better", "-1": "worse" }[gain];
    const p = some.length ? boundsText(test, alpha) : "-";
    return { name, unit, explanation, a, b, difference, p, found, higher, interval: null, margin: null };
  });
}

// The label of the pair with its reasons, on a page of several.
function drawLabel() {
  const own = pairOfCall(grid, state.a, state.b);
  const { label, tone, isCorrected, why } = chosen;
  const hasLabel = label !== data.labels.at(-1)[0]; // the last one stands for none: too few queries
  const isOfFamily = hasLabel && grid.family > 1 && grid.correction !== "none";
  const over = isOfFamily ? `corrected (${grid.correction}) over ${written(grid.family)} comparisons` : "";
  const raw = label ? "not corrected: the call did not compare these two" : why;
  const mark = make(`span.label.${tone}`, label ? SIGNS[tone] + label : "no label");
  return [
    make("h3", `${state.b} against ${state.a}: `, mark, " ", make("span.small", isCorrected ? over : raw)),
    own?.sentence ? make("p", own.sentence) : "",
    own?.notes.length ? make("ul.notes", own.notes.map((note) => make("li", note))) : "",
  ];
}

function drawPair() {
  const { pair } = chosen;
  const ofCall = pairOfCall(grid, state.a, state.b)?.rows;
  const tests = !ofCall && pair && !grid.silent && testPair(pair, pair.queries, grid.rules);
  const rows = ofCall ?? (tests ? computedRows(pair, pair.queries, tests) : []);
  const raw = "These p-values are not corrected";
  const ofBoard = data.forest?.last === "tier" ? `${raw}.` : "";
  const about = ofCall ? ofBoard : `${raw}, and there are no intervals.`;
  const drawn = rows.length ? drawRows(rows, { ...grid, ...state }, about) : [];
  byId("pair").replaceChildren(...(byId("chooser") ? drawLabel() : []), ...drawn);
}

// The label of the queries that are listed, where they are not all.
function drawListed() {
  const isFiltered = state.bin || state.s || state.slice;
  byId("listed").textContent = "";
  if (!isFiltered || !listed.length || !chosen.pair || grid.silent) return;
  const queries = [...listed].sort((one, other) => one - other);
  const tests = testPair(chosen.pair, queries, grid.rules);
  const label = judge(tests, grid.rules.alpha) ?? `no label, ${UNSURE}`;
  const numbers = computedRows(chosen.pair, queries, tests).map((row) => {
    const unit = row.difference === null ? "" : ` ${row.unit}`;
    return `${row.name.toLowerCase()} ${differenceOf(row)}${unit} (p ${row.p})`;
  });
  const these = queries.length === 1 ? "This query" : `These ${count(queries.length)}`;
  const exploratory = "exploratory: chosen on these queries";
  const how = state.bin ? "chosen by their change itself, so this is no evidence" : exploratory;
  byId("listed").textContent = `${these}: ${label} (${how}). B minus A: ${numbers.join(", ")}; not corrected.`;
}

// All runs on the listed queries, best first: what they found, and the mean over all of these queries.
function drawMeans() {
  const { columns } = set;
  byId("means").hidden = !columns || grid.runs.length < 3 || !listed.length;
  if (byId("means").hidden || !byId("means").open) return;
  const horizon = Math.min(grid.cutoff, most(columns.depths, 0));
  const rows = grid.runs.map((run) => {
    const lengths = lengthsOfRun(grid, run);
    const own = pairQueries(lengths, lengths, columns.sizes, horizon);
    return { run, found: 100 * meanOf(own.foundA, listed), length: meanOf(own.allA, listed) };
  });
  rows.sort((one, other) => one.length - other.length);
  const heads = ["run, best first", "found, %", `${byDocument ? "search length" : "rank"}, ${horizon + 1} where none`];
  const lines = rows.map(({ run, found, length }) => {
    return [run, ...[found, length].map((value) => make("td.number", value.toFixed(2)))];
  });
  drawTable(byId("means").lastChild, heads, lines);
}

byId("means").addEventListener("toggle", drawMeans);
