// The histogram of changes, whose bars filter the list.

// Bars of coverage are in the full colour, those on which only ranking changes are lighter.
const facetOf = (name) => (/(won|lost|more|fewer)$/.test(name) ? "coverage" : "ranking");

const MEANINGS = {
  query: "Won and lost: only B, or only A, answers the query. Up and down: both do, B so many ranks higher or lower.",
  document:
    "Won and lost: B found more, or fewer, of the relevant documents. Up and down: it found as many, with so many" +
    " fewer or more irrelevant documents above them on average.",
  share:
    "More and fewer: B found so many points more, or fewer, of the relevant documents. Fewer and more above: it found" +
    " as many, with fewer, or more, irrelevant documents above them.",
  runs:
    "Won and lost, or more and fewer (points): on average over the runs B found more, or less, than A. Up and down," +
    " or fewer and more above: it found as much, higher or lower.",
};

function meaningOfBars() {
  if (!isOfLengths()) return `Won and lost: only B, or only A, is above 0. Up and down: change of ${grid.measure}.`;
  if (isOfSeveral()) return MEANINGS.runs;
  return MEANINGS[chosen.by_share ? "share" : grid.unit];
}

function drawHistogram() {
  const numbers = chosen.bins.map(() => 0);
  for (const i of counted) if (chosen.bin[i] >= 0) numbers[chosen.bin[i]] += 1;
  const sum = (tone) => numbers.reduce((total, many, bin) => total + (chosen.bins[bin][1] === tone ? many : 0), 0);
  const most = Math.max(1, ...numbers.filter((_, bin) => chosen.bins[bin][1] !== "same"));
  const tallest = Math.min(Math.max(most, ...numbers), 1.25 * most); // the bar of "same" is broken where it is taller
  const ahead = isOfLengths() ? "finds more, or as much and earlier" : "better"; // coverage comes first
  byId("sides").replaceChildren(
    make("span.worse", `▼ ${state.a} ${ahead}: ${count(sum("worse"))}`),
    make("span", `same: ${written(sum("same"))}`),
    make("span.better", `${state.b} ${ahead}: ${count(sum("better"))} ▲`),
  );
  const pressed = state.bin.split(",");
  const buttons = chosen.bins.map(([name, tone], bin) => {
    const bar = make(numbers[bin] > tallest ? "span.bar.broken" : "span.bar");
    bar.style.height = `${(100 * Math.min(numbers[bin], tallest)) / tallest}%`;
    const change = tone === "same" ? "" : `, ${facetOf(name)} changes`;
    const tip = `${name}: ${written(numbers[bin])} of ${count(chosen.bin.length)}${change}`;
    const about = { type: "button", "aria-pressed": String(pressed.includes(name)), "data-bin": name, "data-tip": tip };
    const words = [make("b", written(numbers[bin])), make("span.well", bar), make("span.name", name)];
    return make(`button.${tone}.${facetOf(name)}`, about, words);
  });
  byId("histogram").replaceChildren(...buttons);
  const neither = counted.length - numbers.reduce((total, many) => total + many, 0);
  const verb = neither === 1 ? "is" : "are";
  const none = neither ? ` Neither run finds anything on ${count(neither)}, which ${verb} only in the list.` : "";
  byId("meaning").textContent = `Each bar is a button: it lists its queries below. ${meaningOfBars()}${none}`;
}

byId("histogram").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.bin;
  if (!name) return;
  state = { ...state, bin: state.bin === name ? "" : name, at: "" };
  update();
  byId("histogram").querySelector(`[data-bin="${CSS.escape(name)}"]`).focus();
});
