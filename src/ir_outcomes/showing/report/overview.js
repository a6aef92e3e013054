// The way in: a matrix of signs of all pairs of runs, whose cells choose their pair. Those of the call have the
// corrected label; the others are computed while nothing else happens, and are not corrected.

const MOST_COMPUTED = 20; // runs whose other pairs are all computed
const SLICE = 30; // milliseconds of computing before the page may do something else

function cellOf(own, b, a) {
  if (a === b) return make("td");
  const cell = make("td", { "data-a": a, "data-b": b });
  if (hasQueries(own) && canChoose(own, a, b)) cell.tabIndex = -1;
  else cell.className = "fixed";
  cell.ariaLabel = `${b} against ${a}`;
  if (labelOfCall(own, a, b)) fillCell(cell, own);
  return cell;
}

function fillCell(cell, own) {
  const { a, b } = cell.dataset;
  const { label, tone, sign: mark, isCorrected } = verdictOf(own, a, b);
  cell.textContent = mark;
  cell.className += ` ${tone} ${isCorrected ? "corrected" : "raw"}`;
  cell.ariaLabel = `${b} against ${a}: ${label ?? "no label"}${isCorrected ? "" : ", not corrected"}`;
}

function drawMatrix() {
  const [own] = data.grids;
  const { runs } = own;
  const matrix = byId("matrix");
  const heads = runs.map((run) => make("th", { scope: "col" }, make("span", run)));
  const rowOf = (b) => make("tr", make("th", { scope: "row" }, b), runs.map((a) => cellOf(own, b, a)));
  matrix.append(
    make("thead", make("tr", make("th", { scope: "col" }, "run"), heads)),
    make("tbody", runs.map(rowOf)),
  );
  const [first, ...others] = matrix.querySelectorAll("td[tabindex]");
  matrix.parentNode.classList.toggle("large", runs.length > MOST_COMPUTED);
  if (!first) return;
  first.tabIndex = 0;
  const waiting = [first, ...others].filter((cell) => !cell.matches(".corrected"));
  const some = () => {
    const start = performance.now();
    while (waiting.length && performance.now() - start < SLICE) fillCell(waiting.shift(), own);
    if (waiting.length) setTimeout(some);
  };
  if (runs.length <= MOST_COMPUTED && !own.silent) setTimeout(some);
}

const ARROWS = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };

function moveInMatrix(event) {
  const cell = event.target.closest("td");
  if (!cell || !(event.key in ARROWS)) return;
  event.preventDefault();
  const [down, right] = ARROWS[event.key];
  const at = (steps) => {
    return byId("matrix").rows[cell.parentNode.rowIndex + steps * down]?.cells[cell.cellIndex + steps * right];
  };
  const next = at(1)?.matches("td:not([data-a])") ? at(2) : at(1); // a run itself is passed over
  if (!next?.matches("td")) return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

if (byId("matrix")) {
  drawMatrix();
  const say = (event) => { byId("cell").textContent = event.target.closest("td")?.ariaLabel ?? ""; };
  for (const type of ["mouseover", "focusin"]) byId("matrix").addEventListener(type, say);
  byId("matrix").addEventListener("keydown", moveInMatrix);
}

if (!data.grids.some(hasQueries)) {
  const [own] = data.grids;
  const [pair] = own?.pairs ?? [];
  if (!byId("pair") || !pair) return;
  const outcomes = drawOutcomes(pair.outcomes, { ...pair, byDocument: own.unit === "document" });
  byId("pair").append(...drawRows(pair.rows, { ...own, ...pair }), ...outcomes);
  return;
}
