// Estimates with their intervals, right is better: the rows of a pair, and of the forest plot.

// About four round numbers that cover a range (showing/charts.py, round_numbers).
function roundNumbers(least, most) {
  const width = most - least || 1;
  const size = 10 ** Math.floor(Math.log10(width / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => size * factor).find((own) => own * 4 >= width * 0.9);
  const first = Math.ceil(least / step);
  const numbers = Array.from({ length: Math.floor(most / step) - first + 1 }, (_, place) => (first + place) * step);
  return numbers.map((value) => Number(value.toPrecision(12)));
}

const signedText = (value, places) => sign(Number(value.toFixed(places)), true) + Math.abs(value).toFixed(places);

function strip({ low, high, ticks, isLabelled }, { gain, interval, wide, runs = [], margin = null, tone }, label) {
  const x = (value) => `${((100 * (value - low)) / (high - low)).toFixed(2)}%`;
  const upright = (kind, value) => make(`line.${kind}`, { x1: x(value), x2: x(value), y1: 0, y2: 24 });
  const parts = ticks.map(([place]) => upright("grid", place));
  if (isLabelled) parts.push(...ticks.map(([place, words]) => make("text", { x: x(place), y: 37 }, words)));
  if (low < 0 && high > 0) {
    parts.unshift(make("rect.zone", { x: x(0), width: `${100 - parseFloat(x(0))}%`, y: 0, height: 24 }));
    parts.push(upright("zero", 0));
  }
  if (margin !== null) parts.push(upright("margin", margin));
  const lying = (kind, [start, end]) => make(`line.${kind}`, { x1: x(start), x2: x(end), y1: 12, y2: 12 });
  if (wide) parts.push(lying("wide", wide));
  if (interval) parts.push(lying("interval", interval));
  parts.push(...runs.map((run) => make("circle.run", { cx: x(run), cy: 20, r: 2 })));
  if (gain !== null) parts.push(make("circle.estimate", { cx: x(gain), cy: 12, r: 5.5 }));
  const about = { width: "100%", height: isLabelled ? 40 : 24, role: "img", "aria-label": label };
  return make(`svg.strip.${tone}`, about, parts);
}

// ---- the rows of a pair

const placesOf = (row) => (row.unit === "" ? 4 : 2);
const differenceOf = (row) => (row.difference === null ? "none" : signedText(row.difference, placesOf(row)));
const endsOf = (row, ends) => `[${ends.map((end) => signedText(end, placesOf(row))).join(", ")}]`;
const intervalOf = (row) => (row.interval ? endsOf(row, row.interval) : "");

function stripOfRow(row, tone) {
  const turn = row.higher ? 1 : -1;
  const gain = row.difference === null ? null : turn * row.difference;
  const turned = (values) => values?.map((value) => turn * value).sort((one, other) => one - other);
  const [interval, wide, runs] = [row.interval, row.newRuns, row.runs].map(turned);
  const shown = [0, row.margin ?? 0, gain ?? 0, ...(interval ?? []), ...(wide ?? []), ...(runs ?? [])];
  const space = 0.06 * (Math.max(...shown) - Math.min(...shown)) || 0.5;
  const [low, high] = [Math.min(...shown) - space, Math.max(...shown) + space];
  const ticks = roundNumbers(low, high).map((tick) => [tick, `${sign(turn * tick, true)}${Math.abs(tick)}`]);
  const label = `${row.name}: B minus A ${differenceOf(row)} ${row.unit} ${intervalOf(row)}`;
  return strip({ low, high, ticks, isLabelled: true }, { gain, interval, wide, runs, margin: row.margin, tone }, label);
}

const newRunsOf = (row) => (row.newRuns ? [make("span", `new runs ${endsOf(row, row.newRuns)}`)] : []);

function drawRow(row) {
  const tone = row.found === "none" ? "same" : row.found;
  const words = row.found === "none" ? "" : SIGNS[tone] + row.found;
  return make(
    `div.facet.${tone}`, { role: "group", "aria-label": row.name },
    make("div.name", make("b", row.name), make("span", row.explanation)),
    make("div.value", make("b", differenceOf(row)), ` ${row.unit}`, make("span", intervalOf(row)), newRunsOf(row)),
    stripOfRow(row, tone),
    make("div.means", make("span.key.baseline", `A ${row.a}`), " → ", make("span.key.contender", `B ${row.b}`)),
    make("div.finding", words, make("span", `p ${row.p}`)),
  );
}

function drawRows(rows, { a, b, rules }, about = "") {
  const margin = rows.some((row) => row.margin !== null) ? [make("i.margin"), "margin"] : [];
  const level = Number((100 - 100 * rules.alpha).toPrecision(6));
  const interval = rows.some((row) => row.interval) ? [make("i.stretch"), `${level} % interval`] : [];
  const runs = rows.some((row) => row.runs?.length) ? "; small dots: runs" : "";
  const wide = rows.some((row) => row.newRuns) ? ", thin: for new runs, too" : "";
  const legend = make("span.legend", make("i.dot"), `difference${runs}`, interval, wide, margin);
  const ends = make("div.ends", make("span", `◀ ${a} better`), make("span", `${b} better ▶`));
  const empty = () => make("div");
  return [
    make("p.small", "Right of the line is better, always. ", legend, about),
    make("div.facet.heads", { "aria-hidden": "true" }, empty(), make("div", "B − A"), ends, empty(), empty()),
    ...rows.map(drawRow),
  ];
}

// ---- the forest plot, whose numbers are in its cells

for (const table of document.querySelectorAll("table.forest")) {
  const axes = [...table.querySelectorAll("[data-axis]")].map((head) => {
    const [low, high, ticks] = JSON.parse(head.dataset.axis);
    return { low, high, ticks };
  });
  for (const row of table.tBodies[0].rows) {
    row.querySelectorAll("[data-estimate]").forEach((cell, place) => {
      const [gain, low, high, words, range, tone] = JSON.parse(cell.dataset.estimate);
      const margin = cell.dataset.margin && Number(cell.dataset.margin);
      const interval = low === null ? null : [low, high];
      cell.prepend(strip(axes[place], { gain, interval, margin, tone }, `${words} ${range}`));
    });
  }
  const ends = axes.map((axis) => strip({ ...axis, isLabelled: true }, { gain: null, tone: "same" }, "axis"));
  ends.forEach((axis, place) => table.tFoot.rows[0].cells[place + 1].append(axis));
}
