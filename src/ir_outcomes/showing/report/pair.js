// The chosen pair: its label and numbers, and the label of the queries that are listed.

const MINUS = "−";
const signedText = (value, places) => {
  const text = Math.abs(value).toFixed(places);
  if (Number(text) === 0) return text;
  return (value < 0 ? MINUS : "+") + text;
};

// As many digits as show on which side of alpha it is (formatting.py, pvalue).
function pText(p, alpha) {
  if (p < 1e-300) return "< 1e-300";
  let text = "";
  for (let more = 0; more < 15; more += 1) {
    text = p < 0.001 ? p.toExponential(1 + more).replace(".0e", "e").replace(/e-(\d)$/, "e-0$1") : p.toFixed(3 + more);
    if (p === alpha || Number(text) !== alpha) break;
  }
  return text;
}

function boundsText({ low, high }, alpha) {
  const [least, most] = [pText(low, alpha), pText(high, alpha)];
  return least === most ? most : `${least} to ${most}`;
}

const meanOf = (values, queries) => queries.reduce((sum, query) => sum + values[query], 0) / queries.length;

// The rows of a pair that Python did not compute, or of some of its queries: means, differences and raw p-values.
function computedRows(pair, queries, tests) {
  const { alpha } = grid.rules;
  const shared = queries.filter((query) => pair.shared[query]);
  const row = (name, unit, a, b, some, test, higher) => {
    const means = some.length ? [meanOf(a, some), meanOf(b, some)] : [null, null];
    const shown = means.map((mean) => (mean === null ? "none" : mean.toFixed(2) + (unit === "points" ? " %" : "")));
    const direction = sideOf(test, alpha) ? test.direction * (higher ? 1 : -1) : 0;
    const found = { 0: "none", 1: "better", "-1": "worse" }[direction];
    const difference = some.length ? means[1] - means[0] : null;
    return { name, unit, a: shown[0], b: shown[1], difference, interval: null, p: boundsText(test, alpha), found, higher, margin: null };
  };
  const percent = (values) => values.map((value) => 100 * value);
  const unit = byDocument ? "irrelevant documents above" : "ranks";
  return [
    row("Coverage", "points", percent(pair.foundA), percent(pair.foundB), queries, tests.coverage, true),
    row("Ranking", unit, pair.a, pair.b, shared, tests.ranking, false),
    row("All queries", unit, pair.allA, pair.allB, queries, tests.everywhere, false),
  ].map((own, place) => ({ ...own, explanation: explanations()[place] }));
}

// What the numbers are (showing/charts.py, facets_of).
function explanations() {
  const within = `within rank ${chosen.horizon.toLocaleString("en")}`;
  const missing = (chosen.horizon + 1).toLocaleString("en");
  if (!byDocument) {
    const rank = "rank of the first answer";
    return [`queries answered ${within}`, `${rank}, where both answer`, `${rank}, ${missing} where none`];
  }
  const length = "irrelevant documents above a relevant one, plus 1";
  return [`relevant documents found ${within}`, `${length}, where both found it`, `${length}, ${missing} where not found`];
}

const SWAPPED = { better: "worse", worse: "better", none: "none" };

// Rows of a pair of the call, with the runs swapped.
const swappedRow = (row) => ({
  ...row,
  a: row.b,
  b: row.a,
  difference: row.difference === null ? null : 0 - row.difference,
  interval: row.interval && [0 - row.interval[1], 0 - row.interval[0]],
  found: SWAPPED[row.found],
  margin: null,
});

// Those of a pair of the call; null for others.
function rowsOfCall() {
  const own = pairOfCall(grid, state.a, state.b);
  if (own) return own.rows;
  return pairOfCall(grid, state.b, state.a)?.rows.map(swappedRow) ?? null;
}

function rowsOfPair() {
  const { pair } = chosen;
  return pair && !grid.silent ? computedRows(pair, pair.queries, testPair(pair, pair.queries, grid.rules)) : [];
}

// About four round numbers that cover a range (showing/charts.py, round_numbers).
function roundNumbers(least, most) {
  const width = most - least || 1;
  const size = 10 ** Math.floor(Math.log10(width / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => size * factor).find((own) => own * 4 >= width * 0.9);
  const numbers = [];
  for (let place = Math.ceil(least / step); place * step <= most; place += 1) numbers.push(Number((place * step).toPrecision(12)));
  return numbers;
}

// An estimate with its interval; right is better.
function strip(row) {
  const sign = row.higher ? 1 : -1;
  const gains = [row.difference, ...(row.interval ?? [])].map((value) => sign * value);
  const shown = [0, row.margin ?? 0, ...gains];
  const space = 0.06 * (Math.max(...shown) - Math.min(...shown)) || 0.5;
  const low = Math.min(...shown) - space;
  const high = Math.max(...shown) + space;
  const percent = (gain) => `${((100 * (gain - low)) / (high - low)).toFixed(2)}%`;
  const zero = percent(0);
  const tone = row.found === "none" ? "same" : row.found;
  const drawing = picture("svg", { class: `strip ${tone}`, width: "100%", height: 40, role: "img", "aria-label": describedRow(row) });
  drawing.append(picture("rect", { class: "zone", x: zero, width: `${100 - parseFloat(zero)}%`, y: 0, height: 24 }));
  for (const tick of roundNumbers(low, high)) {
    const x = percent(tick);
    drawing.append(picture("line", { class: "grid", x1: x, x2: x, y1: 0, y2: 24 }));
    drawing.append(picture("text", { x, y: 37, "text-anchor": "middle" }, tick ? number(sign * tick, true) : "0"));
  }
  drawing.append(picture("line", { class: "zero", x1: zero, x2: zero, y1: 0, y2: 24 }));
  if (row.margin !== null) {
    const x = percent(row.margin);
    drawing.append(picture("line", { class: "margin", x1: x, x2: x, y1: 0, y2: 24 }, picture("title", {}, "margin")));
  }
  if (row.interval) {
    const [start, end] = gains.slice(1).sort((one, other) => one - other);
    drawing.append(picture("line", { class: "interval", x1: percent(start), x2: percent(end), y1: 12, y2: 12 }));
  }
  if (row.difference !== null) drawing.append(picture("circle", { class: "estimate", cx: percent(gains[0]), cy: 12, r: 5.5 }));
  return drawing;
}

const placesOf = (row) => (row.unit === "" ? 4 : 2);
const differenceOf = (row) => (row.difference === null ? "none" : signedText(row.difference, placesOf(row)));
const intervalOf = (row) => (row.interval ? `[${row.interval.map((end) => signedText(end, placesOf(row))).join(", ")}]` : "");
const describedRow = (row) => `${row.name}: B minus A ${differenceOf(row)} ${row.unit} ${intervalOf(row)}`;

function drawRow(row) {
  const tone = row.found === "none" ? "same" : row.found;
  const words = row.found === "none" ? "" : row.found;
  return element(
    "div", { className: `facet ${tone}`, role: "group", ariaLabel: row.name },
    element("div", { className: "name" }, element("b", { textContent: row.name }), element("span", { textContent: row.explanation })),
    element("div", { className: "value" }, element("b", { textContent: differenceOf(row) }), ` ${row.unit}`, element("span", { textContent: intervalOf(row) })),
    strip(row),
    element(
      "div", { className: "means" },
      element("span", { className: "key baseline", textContent: `A ${row.a}` }), " → ", element("span", { className: "key contender", textContent: `B ${row.b}` }),
    ),
    element("div", { className: "finding" }, (SIGNS[tone] ?? "") + words, element("span", { textContent: `p ${row.p}` })),
  );
}

function outcomesOfPair() {
  if (!chosen.pair) return "";
  const total = { won: 0, both: 0, neither: 0, lost: 0 };
  for (const item of chosen.pair.items) for (const name of Object.keys(total)) total[name] += item[name];
  const nouns = byDocument ? ["document", "documents"] : ["query", "queries"];
  return Object.entries(total).map(([name, many]) => `${name}: ${count(many, ...nouns)}`).join(" · ");
}

const corrected = () => (grid.family > 1 && grid.correction !== "none" ? `corrected (${grid.correction}) over ${grid.family.toLocaleString("en")} comparisons` : "");

function drawPair() {
  const place = byId("pair");
  if (!place) return;
  const own = pairOfCall(grid, state.a, state.b);
  const { label, tone, isCorrected, why } = chosen;
  const hasLabel = label !== data.labels.at(-1)[0]; // the last one stands for none: too few queries
  let how = "not corrected: the call did not compare these two";
  if (isCorrected) how = hasLabel ? corrected() : "";
  const ofCall = rowsOfCall();
  const rows = ofCall ?? rowsOfPair();
  const mark = element("span", { className: `label ${tone}`, textContent: label ? (SIGNS[tone] ?? "") + label : "no label" });
  const title = element("h3", { textContent: `${state.b} against ${state.a}: ` }, mark);
  title.append(" ", element("span", { className: "small", textContent: label ? how : why }));
  const notes = (own?.notes ?? []).map((note) => element("li", { textContent: note }));
  place.replaceChildren(title);
  if (own && hasLabel) place.append(element("p", { textContent: own.sentence }));
  if (notes.length) place.append(element("ul", { className: "notes" }, ...notes));
  if (rows.length) {
    const about = ofCall ? "" : " These p-values are not corrected, and there are no intervals.";
    place.append(element("p", { className: "small", textContent: `Right of the line is better, always.${about}` }), ...rows.map(drawRow));
  }
  const outcomes = outcomesOfPair();
  if (outcomes) place.append(element("p", { className: "small", textContent: outcomes }));
}

// The label of the queries that are listed, where they are not all.
function drawListed() {
  const byResult = state.bin || state.at;
  const isFiltered = byResult || state.s || state.slice;
  byId("listed").textContent = isFiltered && listed.length && chosen.pair && !grid.silent ? aboutListed(byResult) : "";
}

function aboutListed(byResult) {
  const queries = [...listed].sort((one, other) => one - other);
  const tests = testPair(chosen.pair, queries, grid.rules);
  const label = judge(tests, grid.rules.alpha);
  const rows = computedRows(chosen.pair, queries, tests);
  const numbers = rows.map((row) => `${row.name.toLowerCase()} ${differenceOf(row)}${row.difference === null ? "" : ` ${row.unit}`} (p ${row.p})`);
  const these = listed.length === 1 ? "This query" : `These ${listed.length.toLocaleString("en")} queries`;
  const reason = byResult ? "chosen by their change itself, so this is no evidence" : "exploratory: chosen on these queries";
  return `${these}: ${label ?? `no label, ${UNSURE}`} (${reason}). B minus A: ${numbers.join(", ")}; not corrected.`;
}
