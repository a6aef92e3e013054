// Search, slices, reset, the pair of runs; paper; and the beginning.

const fill = (chooser, options, value) => {
  chooser.replaceChildren(...options.map(([name, words]) => make("option", { value: name }, words)));
  chooser.value = value;
};
const named = (names) => names.map((name) => [name, name]);

function drawControls() {
  if (byId("words").value !== state.s) byId("words").value = state.s;
  if (byId("slice")) {
    const names = new Set((set.slices ?? []).filter((name) => name !== null));
    fill(byId("slice"), [["", "all slices"], ...named([...names].sort())], state.slice);
  }
  byId("reset").hidden = !(state.s || state.bin || state.slice || state.at || state.sort !== "size");
  for (const point of document.querySelectorAll(".point")) {
    point.classList.toggle("selected", point.dataset.at === state.at);
  }
}

function drawChoosers() {
  if (byId("condition")) fill(byId("condition"), named(data.grids.filter(hasQueries).map((own) => own.name)), state.c);
  fill(byId("run-a"), named(grid.runs), state.a);
  fill(byId("run-b"), named(grid.runs), state.b);
  byId("swap").hidden = !canChoose(grid, state.b, state.a);
  document.querySelector("#matrix .chosen")?.classList.remove("chosen");
  const [column, row] = [state.a, state.b].map((run) => grid.runs.indexOf(run) + 1);
  byId("matrix")?.rows[row].cells[column].classList.add("chosen");
}

for (const [id, type, name] of [["words", "input", "s"], ["slice", "change", "slice"]]) {
  byId(id)?.addEventListener(type, () => {
    state[name] = byId(id).value;
    update();
  });
}
byId("reset").addEventListener("click", () => {
  state = { ...withoutFilters(), q: state.q };
  update();
  byId("words").focus();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());

// The queries of a point of the scatter.
function showAt(at) {
  state = { ...withoutFilters(), at };
  update();
  select(set.ids[listed[0]], false);
  byId("filters").scrollIntoView();
}

// ---- the pair of runs

// Another pair or condition: filter, order and query stay where they mean the same.
function choosePair(wanted) {
  state = withKnownPair({ ...state, ...wanted, at: "" });
  choose();
  const names = chosen.bins.map(([name]) => name);
  if (!state.bin.split(",").every((name) => names.includes(name))) state.bin = "";
  if (state.slice && !set.slices?.includes(state.slice)) state.slice = "";
  if (!set.ids.includes(state.q)) state.q = "";
  writeAddress(true);
  start();
}

byId("condition")?.addEventListener("change", () => choosePair({ c: byId("condition").value }));
for (const [own, other] of ["ab", "ba"]) {
  byId(`run-${own}`)?.addEventListener("change", () => {
    const wanted = byId(`run-${own}`).value;
    choosePair({ [own]: wanted, [other]: state[other] === wanted ? state[own] : state[other] });
  });
}
byId("swap")?.addEventListener("click", () => choosePair({ a: state.b, b: state.a }));

// A cell or a row chooses its pair; a query that a gate names is shown at once.
function follow(event) {
  const mark = event.target.closest("[data-b]");
  if (!mark || mark.matches(".fixed") || !isPlain(event)) return;
  event.preventDefault();
  if (!mark.matches(".causes a")) {
    choosePair({ c: mark.dataset.c ?? state.c, a: mark.dataset.a, b: mark.dataset.b });
    return byId("queries").scrollIntoView({ block: "start" });
  }
  history.pushState(null, "", mark.hash);
  readAddress();
  start();
  byId("query").focus({ preventScroll: true });
  return byId("query").scrollIntoView({ behavior: "instant", block: "start" });
}
byId("summary").addEventListener("click", follow);
byId("summary").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("td")) follow(event);
});

// ---- paper, and the beginning

const opened = []; // what was unfolded for paper
addEventListener("beforeprint", () => {
  opened.push(...document.querySelectorAll("details:not([open])"));
  for (const details of opened) details.open = true;
  printing = true;
  drawHeads();
  drawList();
  if (byId("means")) drawMeans();
  if (listed.length > PRINTED) byId("count").textContent += `; the first ${PRINTED} are printed`;
});
addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
  printing = false;
  update();
});

function start() {
  choose();
  if (byId("chooser")) drawChoosers();
  drawPair();
  drawFigures();
  update();
  if (placeOf(state.q) > 0) showPlace(current());
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
