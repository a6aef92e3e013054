// The way in: labels by condition, the forest plot, the queries with the most harm, and a matrix of signs of all
// pairs of runs. Rows and cells choose their pair. Cells of pairs of the call have the corrected label; the others are
// computed while nothing else happens, and are not corrected.

const MOST_COMPUTED = 20; // runs whose other pairs are all computed

function drawTable(place, heads, rows) {
  const rowOf = ([head, ...cells]) => make("tr", make("th", { scope: "row" }, head), cells);
  const headings = heads.map((head) => make("th", { scope: "col" }, head));
  place?.replaceChildren(make("table", make("thead", make("tr", headings)), make("tbody", rows.map(rowOf))));
}

function linkTo(pair, words, q = "") {
  if (!pair || !data.grids.some(hasQueries)) return words;
  const [c, a, b] = pair;
  const href = address({ ...DEFAULT, c, a, b, q });
  return make("a", { href, "data-c": c, "data-a": a, "data-b": b, "data-q": q }, words);
}

function drawForest({ what, panels, rows, last }) {
  const axes = panels.map(([, [low, high, ticks]]) => ({ low, high, ticks }));
  const lines = rows.map(({ name, label, tone, pair, estimates, margins }) => {
    const labelled = make(`span.label.${tone}`, last === "gate" ? label : SIGNS[tone] + label);
    const cells = estimates.map(([gain, low, high, text, range, tone], place) => {
      const [words, interval] = [`${text} ${range}`, low === null ? null : [low, high]];
      const drawn = strip(axes[place], { gain, interval, margin: margins[place] ?? null, tone }, words);
      return make("td", drawn, make("span.small", words));
    });
    return [linkTo(pair, name), ...cells, make("td", label ? labelled : "")];
  });
  drawTable(byId("forest"), [what, ...panels.map(([title]) => title), last], lines);
  const scales = axes.map((axis) => strip({ ...axis, isLabelled: true }, { gain: null, tone: "same" }, "axis"));
  const lastRow = ["", ...scales, ""].map((scale) => make("td", scale));
  byId("forest").firstChild.append(make("tfoot", { "aria-hidden": "true" }, make("tr", lastRow)));
  const hasMargins = rows.some((row) => row.margins.length);
  byId("legend").append(...legendOf(last === "tier" ? "mean" : "difference", "interval", hasMargins));
}

function drawConditions({ columns, rows }) {
  drawTable(byId("conditions"), ["run", ...columns], rows.map(([run, cells]) => [run, ...cells.map((cell) => {
    if (!cell) return make("td.empty", "none");
    const [label, tone, mark, pair] = cell;
    return make(`td.${tone}`, { title: label }, linkTo(pair, mark), make("span.hidden", label));
  })]));
}

function drawCauses(causes) {
  const cells = (pair, query, text) => make("td", linkTo(pair, query, query), ` ${text ?? ""}`);
  const rows = causes.map(([run, query, text, harm, pair]) => [run, cells(pair, query, text), make("td", harm)]);
  drawTable(byId("causes"), ["run", "query", "harm"], rows);
}

function cellOf(own, b, a) {
  if (a === b) return make("td");
  const cell = make("td", { "data-a": a, "data-b": b });
  describe(cell, `${b} against ${a}`);
  if (!hasQueries(own) || !canChoose(own, a, b)) cell.className = "fixed";
  if (labelOfCall(own, a, b)) fillCell(cell, own);
  return cell;
}

function fillCell(cell, own) {
  const { a, b } = cell.dataset;
  const { label, tone, sign: mark, isCorrected } = verdictOf(own, a, b);
  cell.textContent = mark;
  cell.classList.add(tone, isCorrected ? "corrected" : "raw");
  describe(cell, `${b} against ${a}: ${label ?? "no label"}${isCorrected ? "" : ", not corrected"}`);
}

function drawPairs(own) {
  const { runs } = own;
  const heads = runs.map((run) => make("span", run));
  drawTable(byId("crossed"), ["run", ...heads], runs.map((b) => [b, ...runs.map((a) => cellOf(own, b, a))]));
  const matrix = byId("crossed").firstChild;
  const help = "Labels of all pairs; arrow keys move, Enter or a click chooses the pair";
  setAttributes(matrix, { id: "matrix", role: "grid", "aria-label": help });
  const cells = [...matrix.querySelectorAll("td")];
  moveByArrows(matrix, cells, runs.length);
  const isComputed = runs.length <= MOST_COMPUTED && !own.silent;
  const waiting = isComputed ? cells.filter((cell) => !cell.matches(".corrected, .fixed, :not([data-a])")) : [];
  const some = () => {
    const start = performance.now();
    while (waiting.length && performance.now() - start < 30) fillCell(waiting.shift(), own);
    if (waiting.length) setTimeout(some);
  };
  setTimeout(some);
}

if (byId("conditions")) drawConditions(data.matrix);
if (byId("forest")) drawForest(data.forest);
if (byId("causes")) drawCauses(data.causes);
if (byId("crossed")) drawPairs(data.grids[0]);

if (!data.grids.some(hasQueries)) {
  const [own] = data.grids;
  const [pair] = own?.pairs ?? [];
  if (byId("pair") && pair) byId("pair").append(...drawRows(pair.rows, { ...own, ...pair }));
  return;
}
