// The way in: a matrix of signs of all pairs of runs, whose cells choose their pair. Those of the call have the corrected label;
// the others are computed while nothing else happens, and are not corrected.

const MOST_COMPUTED = 20; // runs whose other pairs are all computed
const SLICE = 30; // milliseconds of computing before the page may do something else

function cellOf(own, b, a) {
  const cell = element("td");
  if (a === b) return cell;
  cell.dataset.a = a;
  cell.dataset.b = b;
  if (!hasQueries(own) || !canChoose(own, a, b)) cell.className = "fixed";
  else cell.tabIndex = -1;
  if (labelOfCall(own, a, b)) fillCell(cell, own);
  else cell.ariaLabel = `${b} against ${a}`;
  return cell;
}

function fillCell(cell, own) {
  const { a, b } = cell.dataset;
  const { label, tone, sign, isCorrected } = verdictOf(own, a, b);
  cell.textContent = sign;
  cell.classList.add(tone, isCorrected ? "corrected" : "raw");
  cell.ariaLabel = `${b} against ${a}: ${label ?? "no label"}${isCorrected ? "" : ", not corrected"}`;
}

function drawMatrix() {
  const [own] = data.grids;
  const { runs } = own;
  const heads = runs.map((run) => element("th", { scope: "col" }, element("span", { textContent: run })));
  const rows = runs.map((b) => element("tr", {}, element("th", { scope: "row", textContent: b }), ...runs.map((a) => cellOf(own, b, a))));
  byId("matrix").replaceChildren(
    element("thead", {}, element("tr", {}, element("th", { scope: "col", textContent: "run" }), ...heads)),
    element("tbody", {}, ...rows),
  );
  const first = byId("matrix").querySelector("td[tabindex]");
  if (first) first.tabIndex = 0;
  const waiting = [...byId("matrix").querySelectorAll("td[tabindex]:not(.corrected)")];
  const some = () => {
    const start = performance.now();
    while (waiting.length && performance.now() - start < SLICE) fillCell(waiting.shift(), own);
    if (waiting.length) setTimeout(some);
  };
  if (runs.length <= MOST_COMPUTED && !own.silent) setTimeout(some);
}

function showCell(cell) {
  byId("cell").textContent = cell?.ariaLabel ?? "";
}

if (byId("matrix")) {
  drawMatrix();
  for (const type of ["mouseover", "focusin"]) byId("matrix").addEventListener(type, (event) => showCell(event.target.closest("td")));
  byId("matrix").addEventListener("keydown", (event) => {
    const cell = event.target.closest("td");
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
    if (down === undefined || !cell) return;
    event.preventDefault();
    let [row, column] = [cell.parentNode.rowIndex + down, cell.cellIndex + right];
    let next = byId("matrix").rows[row]?.cells[column];
    if (next?.tagName === "TD" && !next.dataset.a) next = byId("matrix").rows[row + down]?.cells[column + right]; // a run itself
    if (next?.tagName !== "TD") return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

if (!data.grids.some(hasQueries)) return;
