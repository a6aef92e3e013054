// Search, slices, reset, the points of the scatter; paper; and the beginning.

// ---- controls

function drawControls() {
  if (byId("words").value !== state.s) byId("words").value = state.s;
  if (byId("which")) byId("which").value = state.c;
  const slice = byId("slice");
  if (slice) {
    const names = [...new Set((set.slices ?? []).filter((name) => name !== null))].sort();
    slice.replaceChildren(element("option", { value: "", textContent: "all slices" }), ...names.map((name) => element("option", { value: name, textContent: name })));
    slice.value = state.slice;
  }
  byId("reset").hidden = !(state.s || state.bin || state.slice || state.at || state.sort !== "size");
  for (const mark of document.querySelectorAll(".point")) {
    const here = mark.parentNode.dataset.comparison === String(state.c) && `${Number(mark.dataset.a)},${Number(mark.dataset.b)}` === state.at;
    mark.classList.toggle("selected", here);
  }
}

for (const [id, type, name] of [["words", "input", "s"], ["slice", "change", "slice"]]) {
  byId(id)?.addEventListener(type, () => {
    state[name] = byId(id).value;
    update();
  });
}
byId("which")?.addEventListener("change", () => {
  state = { ...state, c: Number(byId("which").value), at: "", slice: "", bin: "" };
  start();
});
byId("reset").addEventListener("click", () => {
  state = { ...DEFAULT, c: state.c, q: state.q };
  start();
  byId("words").focus();
});
byId("filters").addEventListener("submit", (event) => event.preventDefault());

for (const chart of document.querySelectorAll(".scatter")) {
  chart.addEventListener("click", (event) => {
    const point = event.target.closest(".point");
    if (!point || !data.comparisons[chart.dataset.comparison]) return;
    state = { ...DEFAULT, c: Number(chart.dataset.comparison), at: `${Number(point.dataset.a)},${Number(point.dataset.b)}` };
    start();
    select(set.ids[listed[0]], false);
    byId("filters").scrollIntoView();
  });
}

// ---- paper, and the beginning

addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    if (details.matches(".comparison") && data.comparisons.length > MOST_UNFOLDED) continue;
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
  choose(state.c);
  update();
  if (!state.q && listed.length && matchMedia("(min-width: 56.25rem)").matches) {
    state.q = set.ids[listed[0]]; // the second pane is never empty
    drawRows();
  }
  drawQuery();
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
