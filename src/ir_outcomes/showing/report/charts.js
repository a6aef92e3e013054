// The histogram of changes, whose bars filter the list.

// Bars of coverage are in the full colour, those on which only ranking changes are lighter.
const facetOf = (name) => (/won|lost|more|fewer/.test(name) ? "coverage" : "ranking");

function drawHistogram() {
  const numbers = chosen.bins.map(() => 0);
  let neither = 0;
  for (const i of counted) {
    const bin = chosen.bin[i];
    if (bin < 0) neither += 1;
    else numbers[bin] += 1;
  }
  const sum = (tone) => numbers.reduce((total, many, place) => total + (chosen.bins[place][1] === tone ? many : 0), 0);
  const changed = numbers.filter((_, place) => chosen.bins[place][1] !== "same");
  const most = Math.max(1, ...changed);
  const tallest = Math.min(Math.max(most, ...numbers), 1.25 * most); // the bar of "same" is broken where it is much taller
  byId("sides").replaceChildren(
    element("span", { className: "worse", textContent: `▼ ${chosen.baseline} better: ${count(sum("worse"))}` }),
    element("span", { textContent: `same: ${sum("same").toLocaleString("en")}` }),
    element("span", { className: "better", textContent: `${chosen.contender} better: ${count(sum("better"))} ▲` }),
  );
  const pressed = state.bin ? state.bin.split(",") : [];
  byId("histogram").replaceChildren(
    ...chosen.bins.map(([name, tone], place) => {
      const bar = element("span", { className: numbers[place] > tallest ? "bar broken" : "bar" });
      bar.style.height = `${(100 * Math.min(numbers[place], tallest)) / tallest}%`;
      const button = element(
        "button",
        { type: "button", className: `${tone} ${facetOf(name)}` },
        element("b", { textContent: numbers[place].toLocaleString("en") }),
        element("span", { className: "well" }, bar),
        element("span", { className: "name", textContent: name }),
      );
      button.setAttribute("aria-pressed", pressed.includes(name));
      button.dataset.bin = name;
      button.dataset.tip = `${name}: ${numbers[place].toLocaleString("en")} of ${count(chosen.bin.length)}${place === chosen.bins.length >> 1 ? "" : `, ${facetOf(name)} changes`}`;
      return button;
    }),
  );
  const what = {
    query: "Won and lost: only B, or only A, answers the query. Up and down: both do, B so many ranks higher or lower.",
    document: "Won and lost: B found more, or fewer, of the relevant documents. Up and down: it found as many, with so many fewer or more irrelevant documents above them on average.",
    share: "More and fewer: B found so many points more, or fewer, of the relevant documents. Fewer and more above: it found as many, with fewer, or more, irrelevant documents above them.",
    measure: `Won and lost: only B, or only A, is above 0. Up and down: change of ${chosen.measure}.`,
  }[chosen.measure !== null ? "measure" : chosen.by_share ? "share" : chosen.unit];
  const none = neither ? ` Neither run finds anything on ${count(neither)}, which ${neither === 1 ? "is" : "are"} only in the list.` : "";
  byId("meaning").textContent = `Each bar is a button: it lists its queries below. ${what}${none}`;
  byId("facets").replaceChildren(
    ...["coverage", "ranking"].flatMap((name) => [element("i", { className: `dot better ${name}` }), element("i", { className: `dot worse ${name}` }), `${name === "ranking" ? "only " : ""}${name} changes `]),
  );
}

byId("histogram").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.bin;
  if (!name) return;
  state = { ...state, bin: state.bin === name ? "" : name, at: "" };
  update();
  byId("histogram").querySelector(`[data-bin="${CSS.escape(name)}"]`).focus();
});
