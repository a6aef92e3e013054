// Search, slices, reset, the pair of runs, and the beginning.

function fill(id, options, value) {
  byId(id).replaceChildren(...options.map(([name, words]) => make("option", { value: name }, words)));
  byId(id).value = value;
}
const named = (names) => names.map((name) => [name, name]);

function drawControls() {
  if (byId("words").value !== state.s) byId("words").value = state.s;
  const slices = [...new Set((set.slices ?? []).filter((name) => name !== null))];
  fill("slice", [["", "all slices"], ...named(slices.sort())], state.slice);
  byId("slice").hidden = !slices.length;
}

function drawChoosers() {
  const conditions = data.grids.filter(hasQueries).map((own) => own.name);
  fill("condition", named(conditions), state.c);
  byId("condition").parentNode.hidden = conditions.length < 2;
  fill("run-a", named(grid.runs), state.a);
  fill("run-b", named(grid.runs), state.b);
  document.querySelector("#matrix .chosen")?.classList.remove("chosen");
  const [column, row] = [state.a, state.b].map((run) => grid.runs.indexOf(run) + 1);
  byId("matrix")?.rows[row].cells[column].classList.add("chosen");
}

for (const [id, name] of [["words", "s"], ["slice", "slice"]]) {
  byId(id).addEventListener("input", () => {
    state[name] = byId(id).value;
    update();
  });
}
byId("reset").addEventListener("click", () => {
  state = { ...DEFAULT, c: state.c, a: state.a, b: state.b, q: state.q };
  update();
  byId("words").focus();
});

// Another pair or condition: filter, order and query stay where they mean the same.
function choosePair(wanted) {
  state = withKnownPair({ ...state, ...wanted });
  choose();
  if (!chosen.bins.some(([name]) => name === state.bin)) state.bin = "";
  if (state.slice && !set.slices?.includes(state.slice)) state.slice = "";
  if (!set.ids.includes(state.q)) state.q = "";
  writeAddress(true);
  start();
}

byId("condition")?.addEventListener("input", () => choosePair({ c: byId("condition").value }));
for (const [own, other] of ["ab", "ba"]) {
  byId(`run-${own}`)?.addEventListener("input", () => {
    const wanted = byId(`run-${own}`).value;
    choosePair({ [own]: wanted, [other]: state[other] === wanted ? state[own] : state[other] });
  });
}

// A cell or a row chooses its pair; a query that a gate names is shown at once.
function follow(event) {
  const mark = event.target.closest("[data-b]");
  if (!mark || mark.matches(".fixed") || !isPlain(event)) return;
  event.preventDefault();
  const { c = state.c, a, b, q } = mark.dataset;
  choosePair(q ? { ...DEFAULT, c, a, b, q } : { c, a, b });
  const place = byId(q ? "query" : "queries");
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "start" });
}
byId("summary").addEventListener("click", follow);
byId("summary").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("td")) follow(event);
});

function start() {
  choose();
  if (byId("chooser")) drawChoosers();
  drawPair();
  drawFigures();
  update();
  if (placeOf(state.q) > 0) showPlace(placeOf(state.q));
}

addEventListener("popstate", () => {
  if (location.hash && !location.hash.includes("=")) return;
  readAddress();
  start();
});
readAddress();
const linked = state.q; // a query that the address names, not the first one that start() chooses
start();
if (linked) byId("query").scrollIntoView({ behavior: "instant", block: "nearest" });
