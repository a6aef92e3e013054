// The histogram of changes, whose bars filter the list.

// Bars of coverage are in the full colour, those on which only ranking changes are lighter.
const facetOf = (name) => (/(won|lost|more|fewer)$/.test(name) ? "coverage" : "ranking");

function meaningOfBars() {
  if (!isOfLengths()) return `Won and lost: only B, or only A, is above 0. Up and down: change of ${grid.measure}.`;
  if (isOfSeveral()) return "Means over the runs. Won, lost, more, fewer: what B found. Others: higher or lower.";
  if (chosen.by_share) return "More and fewer: B found so many points more, or fewer. Above: as much, higher or lower.";
  if (byDocument) return "Won and lost: B found more, or fewer, documents. Up and down: as many, higher or lower.";
  return "Won and lost: only B, or only A, answers the query. Up and down: both do, B so many ranks higher or lower.";
}

function drawHistogram() {
  const { bins } = chosen;
  const numbers = bins.map(() => 0);
  for (const i of counted) if (chosen.bin[i] >= 0) numbers[chosen.bin[i]] += 1;
  const ofTone = (wanted) => sum(numbers.filter((_, bin) => bins[bin][1] === wanted));
  const tallest = most(numbers.filter((_, bin) => bins[bin][1] !== "same"), 1); // that of "same" ends there
  const ahead = isOfLengths() ? "finds more, or as much and earlier" : "better"; // coverage comes first
  byId("sides").replaceChildren(
    make("span.worse", `▼ ${state.a} ${ahead}: ${count(ofTone("worse"))}`),
    make("span", `same: ${written(ofTone("same"))}`),
    make("span.better", `${state.b} ${ahead}: ${count(ofTone("better"))} ▲`),
  );
  const buttons = bins.map(([name, tone], bin) => {
    const bar = make("span.bar");
    bar.style.height = `${Math.min(100, (100 * numbers[bin]) / tallest)}%`;
    const change = tone === "same" ? "" : `, ${facetOf(name)} changes`;
    const tip = `${name}: ${written(numbers[bin])} of ${count(chosen.bin.length)}${change}`;
    const about = { type: "button", "aria-pressed": String(state.bin === name), "data-bin": name, "data-tip": tip };
    const words = [make("b", written(numbers[bin])), make("span.well", bar), make("span.name", name)];
    return make(`button.${tone}.${facetOf(name)}`, about, words);
  });
  byId("histogram").replaceChildren(...buttons);
  const neither = counted.length - sum(numbers);
  const none = neither ? ` Only in the list: ${count(neither)} on which neither run finds anything.` : "";
  const missing = chosen.horizon ? `, counting ${chosen.horizon + 1} where none is found` : "";
  const change = ` Change: B minus A${missing}.`;
  byId("meaning").textContent = `Each bar is a button: it lists its queries below. ${meaningOfBars()}${none}${change}`;
}

byId("histogram").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.bin;
  if (!name) return;
  state.bin = state.bin === name ? "" : name;
  update();
  byId("histogram").querySelector(`[data-bin="${CSS.escape(name)}"]`).focus();
});
