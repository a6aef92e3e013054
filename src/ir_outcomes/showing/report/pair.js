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

const meanOf = (values, queries) => queries.reduce((sum, query) => sum + values[query], 0) / queries.length;

// The rows of a pair that Python did not compute, or of some of its queries: means, differences and raw p-values.
function computedRows(pair, queries, tests) {
  const { alpha } = grid.rules;
  const findings = { 0: "none", 1: "better", "-1": "worse" };
  const row = (name, unit, columns, some, test, higher) => {
    const means = some.length ? columns.map((values) => meanOf(values, some)) : [null, null];
    const [a, b] = means.map((mean) => (mean === null ? "none" : mean.toFixed(2) + (unit === "points" ? " %" : "")));
    const difference = some.length ? means[1] - means[0] : null;
    const found = findings[sideOf(test, alpha) ? test.direction * (higher ? 1 : -1) : 0];
    return { name, unit, a, b, difference, interval: null, p: boundsText(test, alpha), found, higher, margin: null };
  };
  const unit = byDocument ? "irrelevant documents above" : "ranks";
  const shared = queries.filter((query) => pair.shared[query]);
  const percent = [pair.foundA, pair.foundB].map((shares) => shares.map((share) => 100 * share));
  return [
    row("Coverage", "points", percent, queries, tests.coverage, true),
    row("Ranking", unit, [pair.a, pair.b], shared, tests.ranking, false),
    row("All queries", unit, [pair.allA, pair.allB], queries, tests.everywhere, false),
  ].map((own, place) => ({ ...own, explanation: explanations()[place] }));
}

// What the numbers are (showing/charts.py, facets_of).
function explanations() {
  const within = `within rank ${written(chosen.horizon)}`;
  const missing = written(chosen.horizon + 1);
  const length = byDocument ? "irrelevant documents above a relevant one, plus 1" : "rank of the first answer";
  return [
    `${byDocument ? "relevant documents found" : "queries answered"} ${within}`,
    `${length}, where both ${byDocument ? "found it" : "answer"}`,
    `${length}, ${missing} ${byDocument ? "where not found" : "where none"}`,
  ];
}

// Rows of a pair of the call, with the runs swapped.
const swappedRow = (row) => ({
  ...row,
  a: row.b,
  b: row.a,
  difference: row.difference === null ? null : 0 - row.difference,
  interval: row.interval && [0 - row.interval[1], 0 - row.interval[0]],
  newRuns: row.newRuns && [0 - row.newRuns[1], 0 - row.newRuns[0]],
  runs: row.runs.map((change) => 0 - change),
  found: { better: "worse", worse: "better", none: "none" }[row.found],
  margin: null,
});

// Those of a pair of the call; undefined for others.
function rowsOfCall() {
  return pairOfCall(grid, state.a, state.b)?.rows ?? pairOfCall(grid, state.b, state.a)?.rows.map(swappedRow);
}

function rowsOfPair() {
  const { pair } = chosen;
  return pair && !grid.silent ? computedRows(pair, pair.queries, testPair(pair, pair.queries, grid.rules)) : [];
}

// Numbers of items by outcome, and their shares, queries weighing the same; what only one run found has a pattern.
function outcomesOfPair() {
  const { items } = chosen.pair;
  return ["won", "both", "neither", "lost"].map((name) => {
    const shares = items.map((own) => own[name] / (own.won + own.both + own.neither + own.lost));
    return [name, items.reduce((sum, own) => sum + own[name], 0), meanOf(shares, chosen.pair.queries)];
  });
}

function drawOutcomes(outcomes, own) {
  const runs = { lost: `lost, only ${own.a}`, won: `won, only ${own.b}` };
  const nouns = own.byDocument ? ["document", "documents"] : ["query", "queries"];
  const items = outcomes.map(([name, many, share]) => {
    const percent = `${(100 * share).toFixed(1)} %`;
    const words = many === null ? ["", percent] : [written(many), ` ${nouns[many === 1 ? 0 : 1]} (${percent})`];
    return make("li", make(`i.swatch.${name}`), `${runs[name] ?? name}: `, make("b", words[0]), words[1]);
  });
  const list = make("ul.outcomes", { "aria-label": "Outcomes" }, items);
  return own.byDocument ? [list, make("p.small", "In percent, each query weighs the same.")] : [list];
}

function corrected() {
  if (grid.family <= 1 || grid.correction === "none") return "";
  return `corrected (${grid.correction}) over ${written(grid.family)} comparisons`;
}

// The label of the pair with its reasons, on a page of several.
function drawLabel() {
  const own = pairOfCall(grid, state.a, state.b);
  const { label, tone, isCorrected, why } = chosen;
  const hasLabel = label !== data.labels.at(-1)[0]; // the last one stands for none: too few queries
  let how = "not corrected: the call did not compare these two";
  if (isCorrected) how = hasLabel ? corrected() : "";
  const mark = make(`span.label.${tone}`, label ? (SIGNS[tone] ?? "") + label : "no label");
  const drawn = [make("h3", `${state.b} against ${state.a}: `, mark, " ", make("span.small", label ? how : why))];
  if (own && hasLabel) drawn.push(make("p", own.sentence));
  if (own?.notes.length) drawn.push(make("ul.notes", own.notes.map((note) => make("li", note))));
  return drawn;
}

function drawPair() {
  const drawn = byId("chooser") ? drawLabel() : [];
  const ofCall = rowsOfCall();
  const about = ofCall ? "" : "These p-values are not corrected, and there are no intervals.";
  const rows = ofCall ?? rowsOfPair();
  if (rows.length) drawn.push(...drawRows(rows, { ...grid, ...state }, about));
  const outcomes = chosen.pair ? outcomesOfPair() : pairOfCall(grid, state.a, state.b)?.outcomes;
  if (outcomes) drawn.push(...drawOutcomes(outcomes, { a: state.a, b: state.b, byDocument }));
  byId("pair").replaceChildren(...drawn);
}

// The label of the queries that are listed, where they are not all.
function drawListed() {
  const isByResult = Boolean(state.bin || state.at);
  const isFiltered = isByResult || state.s || state.slice;
  const isDecided = isFiltered && listed.length && chosen.pair && !grid.silent;
  byId("listed").textContent = isDecided ? aboutListed(isByResult) : "";
}

function aboutListed(isByResult) {
  const queries = [...listed].sort((one, other) => one - other);
  const tests = testPair(chosen.pair, queries, grid.rules);
  const label = judge(tests, grid.rules.alpha) ?? `no label, ${UNSURE}`;
  const unitOf = (row) => (row.difference === null ? "" : ` ${row.unit}`);
  const rows = computedRows(chosen.pair, queries, tests);
  const numbers = rows.map((row) => `${row.name.toLowerCase()} ${differenceOf(row)}${unitOf(row)} (p ${row.p})`);
  const these = queries.length === 1 ? "This query" : `These ${count(queries.length)}`;
  const exploratory = "exploratory: chosen on these queries";
  const reason = isByResult ? "chosen by their change itself, so this is no evidence" : exploratory;
  return `${these}: ${label} (${reason}). B minus A: ${numbers.join(", ")}; not corrected.`;
}

// All runs on the listed queries, best first: what they found, and the mean over all of these queries.
function drawMeans() {
  const { columns, runs } = set;
  byId("means").hidden = !columns || grid.runs.length < 3 || !listed.length;
  if (byId("means").hidden || !byId("means").open) return;
  const horizon = Math.min(grid.cutoff, Math.max(...columns.depths));
  const rows = grid.runs.map((run) => {
    const lengths = lengthsOfRun(grid, runs.indexOf(run));
    const own = pairQueries(lengths, lengths, columns.sizes, horizon);
    return { run, found: 100 * meanOf(own.foundA, listed), length: meanOf(own.allA, listed) };
  });
  rows.sort((one, other) => one.length - other.length);
  const length = `${byDocument ? "search length" : "rank"}, ${horizon + 1} where none`;
  const heads = ["run, best first", "found, %", length];
  const cells = ({ found, length }) => [found, length].map((value) => make("td.number", value.toFixed(2)));
  const items = rows.map((row) => make("tr", make("th", { scope: "row" }, row.run), cells(row)));
  byId("means").lastChild.replaceChildren(
    make("thead", make("tr", heads.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", items),
  );
}

byId("means")?.addEventListener("toggle", drawMeans);
