// The curve and the scatter of the chosen pair, on a page of several runs. They are as on the page of two runs
// (showing/report/__init__.py), without the band of the difference, which needs more than the columns.

const RANK_TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
const [LEFT, RIGHT, TOP] = [46, 352, 8];

function scale(low, high, start, end, form = (value) => value) {
  const first = form(low);
  const width = form(high) - first || 1;
  return (value) => Math.round(10 * (start + ((end - start) * (form(value) - first)) / width)) / 10;
}

const text = (content, properties) => picture("text", properties, content);
const line = (kind, x1, y1, x2, y2) => picture("line", { class: kind, x1, y1, x2, y2 });

// Percent of the queries answered, or of the relevant documents found, by each rank up to the last, queries weighing the same.
function sharesByRank(place, last) {
  const { ranks, sizes } = set.columns;
  const added = new Float64Array(last + 1);
  const n = sizes ? sizes.length : ranks[place].length;
  let item = 0;
  for (let query = 0; query < n; query += 1) {
    const size = sizes ? sizes[query] : 1;
    for (const end = item + size; item < end; item += 1) {
      const rank = ranks[place][item];
      if (rank && rank <= last) added[rank] += 100 / size / n;
    }
  }
  for (let rank = 1; rank <= last; rank += 1) added[rank] += added[rank - 1];
  return added;
}

// Ranks so dense that steps are finer than a pixel or two (showing/charts.py, curve_lines).
function denseRanks(last) {
  const ranks = new Set([last]);
  for (let rank = 1; rank <= Math.min(last, 50); rank += 1) ranks.add(rank);
  for (let rank = 50; rank < last; rank = Math.ceil(rank * 1.02)) ranks.add(rank);
  return [...ranks].sort((one, other) => one - other);
}

function curve() {
  const last = chosen.horizon;
  const columns = [state.a, state.b].map((run) => sharesByRank(set.runs.indexOf(run), last));
  const ranks = denseRanks(last);
  const [a, b] = columns.map((shares) => ranks.map((rank) => shares[rank]));
  const difference = ranks.map((_, place) => b[place] - a[place]);
  const end = 1.08 * last; // the last step gets a width too
  const shares = roundNumbers(0, Math.max(...a, ...b, 1e-7));
  const points = roundNumbers(Math.min(0, ...difference), Math.max(0, ...difference, 1e-7));
  const across = scale(1, end, LEFT, RIGHT, Math.log);
  const up = scale(0, Math.max(...shares, ...a, ...b), 158, TOP);
  const beside = scale(Math.min(0, ...difference), Math.max(1e-7, ...difference), 268, 184);
  const steps = (values, height) => values.map((value, place) => `${place ? `H${across(ranks[place])}V` : `M${across(1)} `}${height(value)}`).join("") + `H${RIGHT}`;
  const drawing = picture("svg", { class: "curve", viewBox: "0 0 360 304", role: "img", "aria-label": "Found by rank k" });
  Object.assign(drawing.dataset, { ranks: ranks.join(" "), a: a.join(" "), b: b.join(" "), end });
  const heights = [...shares.map((share) => [up(share), `${share}`]), ...points.map((point) => [beside(point), number(point, true)])];
  for (const [y, words] of heights) drawing.append(line("grid", LEFT, y, RIGHT, y), text(words, { x: 41, y: y + 4, "text-anchor": "end" }));
  for (const tick of RANK_TICKS.filter((rank) => rank <= last)) {
    const x = across(tick);
    drawing.append(line("grid", x, TOP, x, 268), text(tick.toLocaleString("en"), { x, y: 283, "text-anchor": "middle" }));
  }
  drawing.append(line("zero", LEFT, beside(0), RIGHT, beside(0)));
  for (const [kind, path] of [["difference", steps(difference, beside)], ["baseline", steps(a, up)], ["contender", steps(b, up)]]) {
    drawing.append(picture("path", { class: kind, d: path }));
  }
  drawing.append(text("rank k (logarithmic)", { x: 199, y: 299, "text-anchor": "middle" }));
  const what = byDocument ? "relevant documents found" : "queries answered";
  return element(
    "figure", {}, drawing,
    element(
      "figcaption", {}, element("strong", { textContent: "Found by rank k." }), ` Above: % of ${what}, `,
      element("span", { className: "key contender", textContent: state.b }), " solid, ",
      element("span", { className: "key baseline", textContent: state.a }), " dashed; up is better. Below: the difference in points.",
    ),
  );
}

function scatter() {
  const points = new Map(); // queries by their search lengths
  chosen.a.forEach((a, query) => {
    if (!chosen.both[query]) return;
    const key = `${a},${chosen.b[query]}`;
    points.set(key, (points.get(key) ?? 0) + 1);
  });
  const found = [...points].map(([key, many]) => ({ lengths: key.split(",").map(Number), many }));
  if (!found.length) return null;
  const last = 1.25 * found.reduce((most, { lengths }) => Math.max(most, ...lengths), 2);
  const bottom = TOP + RIGHT - LEFT;
  const across = scale(0.8, last, RIGHT, LEFT, Math.log);
  const down = scale(0.8, last, TOP, bottom, Math.log);
  const drawing = picture("svg", { class: "scatter", viewBox: `0 0 360 ${bottom + 40}`, role: "img", "aria-label": "Search lengths" });
  for (const tick of RANK_TICKS.filter((rank) => rank < last)) {
    const [x, y] = [across(tick), down(tick)];
    drawing.append(line("grid", x, TOP, x, bottom), text(`${tick}`, { x, y: bottom + 15, "text-anchor": "middle" }));
    drawing.append(line("grid", LEFT, y, RIGHT, y), text(`${tick}`, { x: 41, y: y + 4, "text-anchor": "end" }));
  }
  drawing.append(line("zero", LEFT, bottom, RIGHT, TOP));
  found.sort((one, other) => other.many - one.many);
  for (const { lengths: [a, b], many } of found) {
    const tone = { 0: "same", 1: "better", "-1": "worse" }[Math.sign(a - b)];
    const point = picture("circle", { class: `point ${tone}`, cx: across(a), cy: down(b), r: Math.min(14, 1.7 + 0.75 * Math.sqrt(many)).toFixed(1) });
    Object.assign(point.dataset, { a, b, n: many });
    drawing.append(point);
  }
  const counted = byDocument ? "irrelevant documents above, plus 1" : "rank of the first answer";
  drawing.append(text(`A: ${counted}`, { x: 199, y: bottom + 34, "text-anchor": "middle" }));
  drawing.append(text(`B: ${counted}`, { transform: `translate(11 ${bottom / 2 + 4}) rotate(-90)`, "text-anchor": "middle" }));
  return element(
    "figure", {}, drawing,
    element(
      "figcaption", {}, element("strong", { textContent: "Search lengths" }),
      " where both found something, logarithmic, 1 at the top and right. Above the diagonal B reads less: better. A larger point is several queries; a click, or arrow keys and Enter, lists them.",
    ),
  );
}

function drawFigures() {
  const place = byId("figures");
  if (!place) return;
  if (!chosen.pair || chosen.measure !== null) return place.replaceChildren();
  const drawn = [curve(), scatter()].filter(Boolean);
  place.replaceChildren(...drawn);
  drawn.forEach((figure) => makeChartMovable(figure.querySelector("svg")));
}
