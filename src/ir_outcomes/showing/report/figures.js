// The curve and the scatter of the chosen pair.

const RANK_TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];
const [LEFT, RIGHT, TOP] = [46, 352, 8];
const [UPPER, LOWER] = [[158, TOP], [268, 184]]; // bottom and top of the panels of the curve

function scale(low, high, [start, end], form = (value) => value) {
  const width = form(high) - form(low) || 1;
  return (value) => Math.round(10 * (start + ((end - start) * (form(value) - form(low))) / width)) / 10;
}

const upright = (kind, x, bottom) => line(kind, x, TOP, x, bottom);
const across = (kind, y) => line(kind, LEFT, y, RIGHT, y);
const atLeft = (ticks) => ticks.flatMap(([y, words]) => [across("grid", y), lettered(words, LEFT - 5, y + 4, "end")]);
const below = (ticks, y) => ticks.flatMap(([x, words]) => [upright("grid", x, y), lettered(words, x, y + 15)]);
const figure = (chart, ...words) => make("figure", chart, make("figcaption", ...words));

// The curve of the call, which has the band of its difference; of others what the columns say: percent of the queries
// answered, or of the relevant documents found, by each rank, queries weighing the same.
function curveOfPair() {
  const own = pairOfCall(grid, state.a, state.b)?.curve;
  if (own || !set.columns) return own;
  const last = chosen.horizon;
  // Ranks so dense that steps are finer than a pixel or two (showing/charts.py, curve_lines).
  const ranks = [];
  for (let rank = 1; rank < last; rank = rank < 50 ? rank + 1 : Math.ceil(rank * 1.02)) ranks.push(rank);
  ranks.push(last);
  const sizes = set.columns.sizes ?? set.ids.map(() => 1);
  const weights = sizes.flatMap((size) => Array(size).fill(100 / size / set.ids.length));
  const [a, b] = [state.a, state.b].map((run) => {
    const column = set.columns.ranks[set.runs.indexOf(run)];
    return ranks.map((rank) => sum(weights.filter((_, item) => column[item] > 0 && column[item] <= rank)));
  });
  return { ranks, a, b, low: null, high: null, level: null };
}

function drawCurve({ ranks, a, b, low, high, level }) {
  const last = ranks.at(-1);
  const [bottom] = LOWER;
  const difference = ranks.map((_, i) => b[i] - a[i]);
  const [least, highest] = [Math.min(0, ...(low ?? difference)), most([...a, ...b], 1e-7)];
  const largest = most(high ?? difference, 1e-7);
  const x = scale(1, 1.08 * last, [LEFT, RIGHT], Math.log); // the last step gets a width too
  const cut = x(grid.cutoff);
  const up = scale(0, highest, UPPER);
  const beside = scale(least, largest, LOWER);
  const steps = (values, y) => {
    const parts = values.slice(1).map((value, i) => `H${x(ranks[i + 1])}V${y(value)}`);
    return `M${LEFT} ${y(values[0])}${parts.join("")}H${RIGHT}`;
  };
  const back = (values) => values.map((value, i) => `V${beside(value)}H${x(ranks[i])}`).reverse().join("");
  const path = (kind, d) => make(`path.${kind}`, { d });
  const columns = ranks.map((rank, i) => {
    const width = Math.max(1, x(ranks[i + 1] ?? 1.08 * last) - x(rank));
    const column = make("rect.column", { x: x(rank), y: TOP, width, height: bottom - TOP, role: "img" });
    const band = low ? ` [${signed(low[i], 1)}, ${signed(high[i], 1)}]` : "";
    const shares = `A ${a[i].toFixed(1)} %, B ${b[i].toFixed(1)} %`;
    describe(column, `rank ${rank}: ${shares}, difference ${signed(difference[i], 1)} points${band}`);
    return column;
  });
  const chart = make(
    "svg.curve", { viewBox: "0 0 360 304", role: "group", "aria-label": "Found by rank k" },
    atLeft(roundNumbers(0, highest).map((share) => [up(share), whole(share)])),
    atLeft(roundNumbers(least, largest).map((points) => [beside(points), whole(points, true)])),
    below(RANK_TICKS.filter((rank) => rank <= last).map((rank) => [x(rank), written(rank)]), bottom),
    grid.cutoff < last ? [upright("cutoff", cut, bottom), lettered("cutoff", cut - 3, 17, "end")] : [],
    low ? path("band", `${steps(high, beside)}${back(low)}Z`) : [],
    across("zero", beside(0)),
    path("difference", steps(difference, beside)),
    path("baseline", steps(a, up)),
    path("contender", steps(b, up)),
    lettered("rank k (logarithmic)", 199, bottom + 31),
    columns,
  );
  moveByArrows(chart, columns, 1);
  const what = byDocument ? "relevant documents found" : "queries answered";
  const band = low ? `, with a ${Number((100 * level).toPrecision(6))} % band for all k at once` : "";
  const title = make("strong", `Found by rank k, to rank ${written(last)}.`);
  const above = ` Above: % of ${what}, ${state.b} solid, ${state.a} dashed; up is better.`;
  return figure(chart, title, above, ` Below: the difference in points${band}.`);
}

// Queries on which both runs found something, rank 1 at the top and at the right, so that up is better.
function drawScatter() {
  const both = [...set.ids.keys()].filter((i) => chosen.both[i]);
  if (!both.length) return [];
  const last = 1.25 * most(both.flatMap((i) => [chosen.a[i], chosen.b[i]]), 2);
  const bottom = TOP + RIGHT - LEFT;
  const x = scale(0.8, last, [RIGHT, LEFT], Math.log);
  const y = scale(0.8, last, [TOP, bottom], Math.log);
  const ticks = RANK_TICKS.filter((rank) => rank < last);
  const tones = { 0: "same", 1: "better", "-1": "worse" };
  const alike = Map.groupBy(both, (i) => `A ${number(chosen.a[i])}, B ${number(chosen.b[i])}`);
  // Small points over large ones, one for all queries with the same search lengths.
  const groups = [...alike].sort(([, one], [, other]) => other.length - one.length);
  const points = groups.map(([lengths, own]) => {
    const [a, b] = [chosen.a[own[0]], chosen.b[own[0]]];
    const r = Math.min(14, 1.7 + 0.75 * Math.sqrt(own.length)).toFixed(1);
    const point = make(`circle.point.${tones[Math.sign(a - b)]}`, { cx: x(a), cy: y(b), r, role: "img" });
    describe(point, `${lengths}: ${count(own.length)}`);
    return point;
  });
  const counted = byDocument ? "irrelevant documents above, plus 1" : "rank of the first answer";
  const turned = { transform: `translate(11 ${bottom / 2 + 4}) rotate(-90)` };
  const chart = make(
    "svg.scatter", { viewBox: `0 0 360 ${bottom + 40}`, role: "group", "aria-label": "Search lengths" },
    below(ticks.map((rank) => [x(rank), written(rank)]), bottom),
    atLeft(ticks.map((rank) => [y(rank), written(rank)])),
    line("zero", LEFT, bottom, RIGHT, TOP),
    points,
    lettered(`A: ${counted}`, 199, bottom + 34),
    make("text.middle", turned, `B: ${counted}`),
  );
  moveByArrows(chart, points, 1);
  const about = " where both found something. Above the diagonal B reads less: better. Large: several queries. ";
  const tone = (name, words) => [make(`i.dot.${name}`), words];
  const legend = make("span.legend", tone("better", "B better"), tone("same", "same"), tone("worse", "A better"));
  return [figure(chart, make("strong", "Search lengths"), about, legend)];
}

function drawFigures() {
  const own = isOfLengths() && curveOfPair();
  byId("figures").replaceChildren(...(own ? [drawCurve(own)] : []), ...(isOfLengths() ? drawScatter() : []));
}
