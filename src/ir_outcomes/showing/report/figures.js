// The curve and the scatter of the chosen pair.

const RANK_TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
const [LEFT, RIGHT, TOP] = [46, 352, 8];
const [UPPER, LOWER] = [[158, TOP], [268, 184]]; // bottom and top of the panels of the curve

function scale(low, high, [start, end], form = (value) => value) {
  const width = form(high) - form(low) || 1;
  return (value) => Math.round(10 * (start + ((end - start) * (form(value) - form(low))) / width)) / 10;
}

const line = (kind, x1, x2, y1, y2) => make(`line.${kind}`, { x1, x2, y1, y2 });
const upright = (kind, x, bottom) => line(kind, x, x, TOP, bottom);
const across = (kind, y) => line(kind, LEFT, RIGHT, y, y);
const lying = (words, x, y, ...where) => make(["text", ...where].join("."), { x, y }, words);
const key = (who) => make(`span.key.${who}`, who === "baseline" ? state.a : state.b);

// Percent of the queries answered, or of the relevant documents found, by each rank, queries weighing the same.
function sharesByRank(place, last) {
  const { ranks, sizes } = set.columns;
  const added = new Float64Array(last + 1);
  const n = set.ids.length;
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
  for (let rank = 1; rank <= last; rank = rank < 50 ? rank + 1 : Math.ceil(rank * 1.02)) ranks.add(rank);
  return [...ranks].sort((one, other) => one - other);
}

// The curve of the call, which has the band of its difference; of others what the columns say.
function curveOfPair() {
  const own = pairOfCall(grid, state.a, state.b)?.curve;
  if (own || !set.columns) return own;
  const ranks = denseRanks(chosen.horizon);
  const [a, b] = [state.a, state.b].map((run) => sharesByRank(set.runs.indexOf(run), chosen.horizon));
  const at = (shares) => ranks.map((rank) => shares[rank]);
  return { ranks, a: at(a), b: at(b), low: null, high: null, level: null };
}

function drawCurve({ ranks, a, b, low, high, level }) {
  const last = ranks.at(-1);
  const [bottom, end] = [LOWER[0], 1.08 * last]; // the last step gets a width too
  const difference = ranks.map((_, place) => b[place] - a[place]);
  const [least, most] = [Math.min(0, ...(low ?? difference)), Math.max(1e-7, ...(high ?? difference))];
  const highest = Math.max(...a, ...b, 1e-7);
  const x = scale(1, end, [LEFT, RIGHT], Math.log);
  const cut = x(grid.cutoff);
  const up = scale(0, highest, UPPER);
  const beside = scale(least, most, LOWER);
  const steps = (values, y) => {
    const parts = values.slice(1).map((value, place) => `H${x(ranks[place + 1])}V${y(value)}`);
    return `M${LEFT} ${y(values[0])}${parts.join("")}H${RIGHT}`;
  };
  const back = (values) => {
    const parts = values.map((value, place) => `V${beside(value)}H${x(ranks[place])}`);
    return `${parts.reverse().join("")}Z`;
  };
  const signed = (value, places) => (value ? sign(value, true) + Math.abs(value).toFixed(places) : "0");
  const heights = roundNumbers(0, highest).map((share) => [up(share), String(share)]);
  const points = roundNumbers(least, most).map((point) => [beside(point), `${sign(point, true)}${Math.abs(point)}`]);
  const ticks = RANK_TICKS.filter((rank) => rank <= last).map((rank) => [x(rank), written(rank)]);
  const path = (kind, d) => make(`path.${kind}`, { d });
  const chart = make(
    "svg.curve", { viewBox: "0 0 360 304", "aria-label": "Found by rank k" },
    [...heights, ...points].flatMap(([y, words]) => [across("grid", y), lying(words, LEFT - 5, y + 4, "end")]),
    ticks.flatMap(([place, words]) => [upright("grid", place, bottom), lying(words, place, bottom + 15)]),
    grid.cutoff < last ? [upright("cutoff", cut, bottom), lying("cutoff", cut - 3, 17, "end")] : [],
    low ? path("band", steps(high, beside) + back(low)) : [],
    across("zero", beside(0)),
    path("difference", steps(difference, beside)),
    path("baseline", steps(a, up)),
    path("contender", steps(b, up)),
    lying("rank k (logarithmic)", 199, bottom + 31),
  );
  const marks = ranks.map((rank, i) => {
    const band = low ? ` [${signed(low[i], 1)}, ${signed(high[i], 1)}]` : "";
    const shares = `A ${a[i].toFixed(1)} %, B ${b[i].toFixed(1)} %`;
    return {
      x: x(rank),
      y: TOP,
      text: `rank ${rank}: ${shares}, difference ${signed(difference[i], 1)} points${band}`,
      shape: () => upright("here", x(rank), bottom),
      distance: (left) => Math.abs(left - x(rank)),
    };
  });
  makeMovable(chart, marks);
  const what = byDocument ? "relevant documents found" : "queries answered";
  const band = low ? `, with a ${Number((100 * level).toPrecision(6))} % band for all k at once` : "";
  const beyond = grid.cutoff > last ? `, the cutoff is ${written(grid.cutoff)}` : "";
  const title = make("strong", `Found by rank k, to rank ${written(last)}${beyond}.`);
  const above = [` Above: % of ${what}, `, key("contender"), " solid, ", key("baseline"), " dashed; up is better."];
  return make("figure", chart, make("figcaption", title, above, ` Below: the difference in points${band}.`));
}

// Queries on which both runs found something, rank 1 at the top and at the right, so that up is better.
function drawScatter() {
  const points = new Map(); // numbers of queries by their search lengths
  for (const i of set.ids.keys()) {
    const lengths = `${chosen.a[i]},${chosen.b[i]}`;
    if (chosen.both[i]) points.set(lengths, (points.get(lengths) ?? 0) + 1);
  }
  if (!points.size) return [];
  const known = [...points].map(([lengths, many]) => [...lengths.split(",").map(Number), many]);
  const last = 1.25 * known.reduce((most, [a, b]) => Math.max(most, a, b), 2);
  const bottom = TOP + RIGHT - LEFT;
  const x = scale(0.8, last, [RIGHT, LEFT], Math.log);
  const y = scale(0.8, last, [TOP, bottom], Math.log);
  const counted = byDocument ? "irrelevant documents above, plus 1" : "rank of the first answer";
  const turned = { transform: `translate(11 ${bottom / 2 + 4}) rotate(-90)` };
  const chart = make(
    "svg.scatter", { viewBox: `0 0 360 ${bottom + 40}`, "aria-label": "Search lengths" },
    RANK_TICKS.filter((rank) => rank < last).flatMap((rank) => [
      upright("grid", x(rank), bottom), lying(written(rank), x(rank), bottom + 15),
      across("grid", y(rank)), lying(written(rank), LEFT - 5, y(rank) + 4, "end"),
    ]),
    line("zero", LEFT, RIGHT, bottom, TOP),
  );
  const tones = { 0: "same", 1: "better", "-1": "worse" };
  const pointOf = ([a, b, many]) => {
    const radius = Math.min(14, 1.7 + 0.75 * Math.sqrt(many));
    const circle = (kind, r) => make(kind, { cx: x(a), cy: y(b), r: r.toFixed(1) });
    const point = circle(`circle.point.${tones[Math.sign(a - b)]}`, radius);
    setAttributes(point, { "data-at": `${a},${b}` });
    return {
      x: x(a),
      y: y(b),
      point,
      many,
      text: `A ${number(a)}, B ${number(b)}: ${count(many)}`,
      shape: () => circle("circle.here", radius + 4),
      distance: (left, top) => Math.hypot(left - x(a), top - y(b)),
      choose: () => showAt(`${a},${b}`),
    };
  };
  const marks = known.map(pointOf).sort((one, other) => other.many - one.many);
  chart.append(...marks.map((mark) => mark.point)); // small ones over large ones
  chart.append(lying(`A: ${counted}`, 199, bottom + 34), make("text", turned, `B: ${counted}`));
  makeMovable(chart, marks.sort((one, other) => one.x - other.x || other.y - one.y));
  const about =
    " where both found something, logarithmic, 1 at the top and right. Above the diagonal B reads less: better. A" +
    " larger point is several queries; a click, or arrow keys and Enter, lists them. ";
  const tone = (name, words) => [make(`i.dot.${name}`), words];
  const legend = make("span.legend", tone("better", "B better"), tone("same", "same"), tone("worse", "A better"));
  return [make("figure", chart, make("figcaption", make("strong", "Search lengths"), about, legend))];
}

function drawFigures() {
  const own = isOfLengths() && curveOfPair();
  const curve = own ? [drawCurve(own)] : [];
  byId("figures").replaceChildren(...curve, ...(isOfLengths() ? drawScatter() : []));
}
