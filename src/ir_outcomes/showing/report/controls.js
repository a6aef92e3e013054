// Search, slices, reset, the points of the scatter; paper; and the beginning.

// ---- controls

function drawControls() {
  if (byId("words").value !== state.s) byId("words").value = state.s;
  drawChoosers();
  const slice = byId("slice");
  if (slice) {
    const names = [...new Set((set.slices ?? []).filter((name) => name !== null))].sort();
    slice.replaceChildren(element("option", { value: "", textContent: "all slices" }), ...names.map((name) => element("option", { value: name, textContent: name })));
    slice.value = state.slice;
  }
  byId("reset").hidden = !(state.s || state.bin || state.slice || state.at || state.sort !== "size");
  for (const mark of document.querySelectorAll(".point")) {
    mark.classList.toggle("selected", `${Number(mark.dataset.a)},${Number(mark.dataset.b)}` === state.at);
  }
}

for (const [id, type, name] of [["words", "input", "s"], ["slice", "change", "slice"]]) {
  byId(id)?.addEventListener(type, () => {
    state[name] = byId(id).value;
    update();
  });
}
byId("reset").addEventListener("click", () => {
  state = { ...DEFAULT, c: state.c, a: state.a, b: state.b, q: state.q };
  start();
  byId("words").focus();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());

if (byId("charts")) {
  byId("charts").addEventListener("click", (event) => {
    const point = event.target.closest(".point");
    if (!point) return;
    state = { ...DEFAULT, c: state.c, a: state.a, b: state.b, at: `${Number(point.dataset.a)},${Number(point.dataset.b)}` };
    start();
    select(set.ids[listed[0]], false);
    byId("filters").scrollIntoView();
  });
}

// ---- the pair of runs

function drawChoosers() {
  if (!byId("run-a")) return;
  const fill = (chooser, names, value) => {
    chooser.replaceChildren(...names.map((name) => element("option", { value: name, textContent: name })));
    chooser.value = value;
  };
  if (byId("condition")) fill(byId("condition"), data.grids.filter(hasQueries).map((own) => own.name), state.c);
  fill(byId("run-a"), grid.runs, state.a);
  fill(byId("run-b"), grid.runs, state.b);
  byId("swap").hidden = !canChoose(grid, state.b, state.a);
  for (const cell of byId("matrix")?.querySelectorAll("td[data-a]") ?? []) {
    cell.classList.toggle("chosen", cell.dataset.a === state.a && cell.dataset.b === state.b);
  }
}

// Another pair or condition: filter, order and query stay where they mean the same.
function choosePair(wanted, step = true) {
  state = withKnownPair({ ...state, ...wanted, at: "" });
  choose();
  const names = chosen.bins.map(([name]) => name);
  if (!state.bin.split(",").every((name) => names.includes(name))) state.bin = "";
  if (state.slice && !set.slices?.includes(state.slice)) state.slice = "";
  if (!set.ids.includes(state.q)) state.q = "";
  if (step) writeAddress(true);
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
function chooseMarked(event) {
  const mark = event.target.closest("[data-b]");
  if (!mark || !mark.dataset.a || mark.matches(".fixed, .causes a") || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  choosePair({ c: mark.dataset.c ?? state.c, a: mark.dataset.a, b: mark.dataset.b });
  byId("queries").scrollIntoView({ block: "start" });
}
byId("summary").addEventListener("click", chooseMarked);
byId("summary").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.tagName === "TD") chooseMarked(event);
});

// ---- paper, and the beginning

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    opened.push(details);
  }
  printing = true;
  drawHeads();
  drawRows();
  if (listed.length > PRINTED) byId("count").textContent += `; the first ${PRINTED} are printed`;
});
addEventListener("afterprint", () => {
  for (const details of opened.splice(0)) details.open = false;
  printing = false;
  update();
});

function start() {
  choose();
  drawPair();
  drawFigures();
  update();
  if (state.q && listed.some((i) => set.ids[i] === state.q)) showPlace(current());
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
