// Estimates with their intervals, right is better: the rows of a pair, and of the forest plot.

const line = (kind, x1, y1, x2, y2) => make(`line.${kind}`, { x1, y1, x2, y2 });
const lettered = (words, x, y, kind = "middle") => make(`text.${kind}`, { x, y }, words);

// About four round numbers that cover a range (showing/charts.py, round_numbers).
function roundNumbers(least, most) {
  const width = most - least || 1;
  const size = 10 ** Math.floor(Math.log10(width / 4));
  const step = [1, 2, 2.5, 5, 10].map((factor) => size * factor).find((own) => own * 4 >= width * 0.9);
  const first = Math.ceil(least / step);
  const numbers = Array.from({ length: Math.floor(most / step) - first + 1 }, (_, place) => (first + place) * step);
  return numbers.map((value) => Number(value.toPrecision(12)));
}

function strip({ low, high, ticks, isLabelled }, { gain, interval, wide, runs = [], margin = null, tone }, label) {
  const share = (value) => (100 * (value - low)) / (high - low);
  const x = (value) => `${share(value).toFixed(2)}%`;
  const upright = (kind, value) => line(kind, x(value), 0, x(value), 24);
  const lying = (kind, ends) => (ends ? [line(kind, x(ends[0]), 12, x(ends[1]), 12)] : []);
  const circle = (kind, value, cy, r) => make(`circle.${kind}`, { cx: x(value), cy, r });
  const hasZero = low < 0 && high > 0;
  return make(
    `svg.strip.${tone}`, { height: isLabelled ? 40 : 24, role: "img", "aria-label": label, "data-tip": label },
    hasZero ? make("rect.zone", { x: x(0), width: `${100 - share(0)}%`, y: 0, height: 24 }) : [],
    ticks.map(([place]) => upright("grid", place)),
    isLabelled ? ticks.map(([place, words]) => lettered(words, x(place), 37)) : [],
    hasZero ? upright("zero", 0) : [],
    margin === null ? [] : upright("margin", margin),
    lying("wide", wide),
    lying("interval", interval),
    runs.map((run) => circle("run", run, 20, 2)),
    gain === null ? [] : circle("estimate", gain, 12, 5.5),
  );
}

function legendOf(dot, interval, hasMargin) {
  const margin = hasMargin ? [make("i.margin"), "margin"] : [];
  return [make("i.dot"), dot, ...(interval ? [make("i.stretch"), interval] : []), ...margin];
}

const placesOf = (row) => (row.unit === "" ? 4 : 2);
const differenceOf = (row) => (row.difference === null ? "none" : signed(row.difference, placesOf(row)));
const endsOf = (row, ends) => (ends ? `[${ends.map((end) => signed(end, placesOf(row))).join(", ")}]` : "");

function stripOfRow(row, tone) {
  const turn = row.higher ? 1 : -1;
  const turned = (values) => values?.map((value) => turn * value).sort((one, other) => one - other);
  const [interval, wide, runs] = [row.interval, row.newRuns, row.runs].map(turned);
  const gain = row.difference === null ? null : turn * row.difference;
  const shown = [0, row.margin ?? 0, gain ?? 0, ...(interval ?? []), ...(wide ?? []), ...(runs ?? [])];
  const space = 0.06 * (Math.max(...shown) - Math.min(...shown)) || 0.5;
  const [low, high] = [Math.min(...shown) - space, Math.max(...shown) + space];
  const ticks = roundNumbers(low, high).map((tick) => [tick, whole(turn * tick, true)]);
  const label = `${row.name}: B minus A ${differenceOf(row)} ${row.unit} ${endsOf(row, row.interval)}`;
  return strip({ low, high, ticks, isLabelled: true }, { gain, interval, wide, runs, margin: row.margin, tone }, label);
}

function drawRow(row) {
  const tone = row.found === "none" ? "same" : row.found;
  const words = row.found === "none" ? "" : SIGNS[tone] + row.found;
  const wide = row.newRuns ? make("span", `new runs ${endsOf(row, row.newRuns)}`) : [];
  return make(
    `div.facet.${tone}`, { role: "group", "aria-label": row.name },
    make("div.name", make("b", row.name), make("span", row.explanation)),
    make("div.value", make("b", differenceOf(row)), ` ${row.unit}`, make("span", endsOf(row, row.interval)), wide),
    stripOfRow(row, tone),
    make("div.means", make("span.key.baseline", `A ${row.a}`), " → ", make("span.key.contender", `B ${row.b}`)),
    make("div.finding", words, make("span", `p ${row.p}`)),
  );
}

function drawRows(rows, { a, b, rules }, about = "") {
  const level = Number((100 - 100 * rules.alpha).toPrecision(6));
  const runs = rows.some((row) => row.runs?.length) ? "; small dots: runs" : "";
  const wide = rows.some((row) => row.newRuns) ? ", thin: for new runs, too" : "";
  const interval = rows.some((row) => row.interval) && `${level} % interval${wide}`;
  const legend = make("span.legend", legendOf(`difference${runs}`, interval, rows.some((row) => row.margin !== null)));
  const ends = make("div.ends", make("span", `◀ ${a} better`), make("span", `${b} better ▶`));
  const heads = make("div.facet.heads", { "aria-hidden": "true" }, make("div"), make("div", "B − A"), ends);
  return [make("p.small", "Right of the line is better, always. ", legend, about), heads, ...rows.map(drawRow)];
}
