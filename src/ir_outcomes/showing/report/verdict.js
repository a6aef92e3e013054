// The verdict on any two runs, from one column of ranks for each run, as Python computes it (places are in the
// package). P-values are exact, or a pair of bounds; where these lie on both sides of alpha there is no label.

const FEW = 30; // statistics/counts.py, FEW: with fewer differences that are not zero sign flips stand in for t
const ROUNDING = 64 * Number.EPSILON; // statistics/counts.py, ROUNDING
const EQUAL = 1e-12; // sums that are equal except for rounding
const SMALLEST = 2.2250738585072014e-308; // statistics/counts.py, SMALLEST_PVALUE
const MOST_EXACT_WILCOXON = 50; // statistics/kernels.py, MOST_EXACT_WILCOXON
const MOST_ENUMERATED = 42; // statistics/signflips.py; so are the following
const LARGEST_DENOMINATOR = 1000;
const LARGEST_SCALE = 2 ** 30;
const LARGEST_TOTAL = 2 ** 20;
const MOST_STEPS = 2 ** 28;
const GRIDS = [2 ** 13, 2 ** 15, 2 ** 18, 2 ** 21];

// Stirling's series; a smaller argument is raised first.
function logGamma(x) {
  let product = 1;
  let raised = x;
  for (; raised < 15; raised += 1) product *= raised;
  const square = 1 / (raised * raised);
  const series = 1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188))));
  return (raised - 0.5) * Math.log(raised) - raised + 0.5 * Math.log(2 * Math.PI) + series / raised - Math.log(product);
}

// A continued fraction by Lentz's method: the numerators of its steps, from the second on; all denominators are 1.
function continuedFraction(numerator) {
  let c = 1;
  let d = 1 / (1 + numerator(1));
  let fraction = d;
  for (let step = 2; step < 100000; step += 1) {
    d = 1 / (1 + numerator(step) * d);
    c = 1 + numerator(step) / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return fraction;
}

// Regularized incomplete beta function for x below (a + 1) / (a + b + 2), from the logarithms of x and of 1 - x.
function incompleteBeta(a, b, x, logX, logRest) {
  const front = Math.exp(a * logX + b * logRest + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
  const fraction = continuedFraction((step) => {
    const m = Math.floor(step / 2);
    if (step % 2) return (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    return (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
  });
  return front * fraction;
}

// Two-sided p-value of Student's t.
function tailOfT(t, freedom) {
  const ratio = (t * t) / freedom;
  const x = 1 / (1 + ratio);
  const rest = ratio / (1 + ratio);
  const [logX, logRest] = [-Math.log1p(ratio), Math.log(rest)];
  if (rest === 0) return 1;
  const a = freedom / 2;
  if (x < (a + 1) / (a + 2.5)) return incompleteBeta(a, 0.5, x, logX, logRest);
  return 1 - incompleteBeta(0.5, a, rest, logRest, logX);
}

// Two-sided p-value of a normal score: the complementary error function of z / sqrt(2).
function tailOfNormal(z) {
  const x = (z * z) / 2;
  if (x < 2) {
    let term = 1;
    let sum = 1;
    for (let step = 1; term > 1e-17 * sum; step += 1) {
      term *= x / (step + 0.5);
      sum += term;
    }
    return 1 - (2 * Math.sqrt(x) * Math.exp(-x) * sum) / Math.sqrt(Math.PI);
  }
  return (Math.exp(-x) / Math.sqrt(Math.PI * x)) * continuedFraction((step) => step / (2 * x));
}

// ---- tests: bounds of the two-sided p-value, equal where it is exact, and the direction of the effect

const proper = (p) => Math.min(1, Math.max(p, SMALLEST)); // statistics/kernels.py, _proper
const exactly = (p, direction) => ({ low: proper(p), high: proper(p), direction });

// Differences, contender minus baseline, as counts of sizes in ascending order (statistics/counts.py, tally). Sizes
// that differ by no more than the rounding of the values are one size (differences).
function sampleOf(baseline, contender, queries) {
  const changes = new Float64Array(queries.length);
  let scale = 0;
  queries.forEach((query, place) => {
    changes[place] = contender[query] - baseline[query];
    scale = Math.max(scale, Math.abs(baseline[query]), Math.abs(contender[query]));
  });
  const place = new Map();
  const all = [0];
  let last = 0;
  for (const size of changes.map(Math.abs).sort()) {
    if (size - last > ROUNDING * scale) all.push(size);
    place.set(size, all.length - 1);
    last = size;
  }
  const [ups, downs] = [all.map(() => 0), all.map(() => 0)];
  for (const change of changes) (change < 0 ? downs : ups)[place.get(Math.abs(change))] += 1;
  const [sizes, positive, negative] = [all, ups, downs].map((values) => values.slice(1));
  const counts = positive.map((number, size) => number + negative[size]);
  const [n, zeros] = [changes.length, ups[0] + downs[0]];
  const [up, down] = [dot(sizes, positive), dot(sizes, negative)];
  // statistics/counts.py, Differences.totals: exactly 0 where it is 0 except for rounding.
  const total = Math.abs(up - down) > EQUAL * (up + down) ? up - down : 0;
  return { n, zeros, nonzero: n - zeros, sizes, positive, negative, counts, up, down, total };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);
const dot = (values, counts) => sum(values.map((value, place) => value * counts[place]));

// statistics/kernels.py, _testable: two differences or more, not all of them zero.
const isTestable = (sample) => sample.n >= 2 && sample.nonzero > 0;

// statistics/kernels.py, _t; where all differences are equal and not zero the sign-flip test's 2^(1 - n).
function tTest(sample) {
  const { n, zeros, sizes, positive, negative, total } = sample;
  const direction = Math.sign(total);
  if (!isTestable(sample)) return exactly(1, direction);
  if (Math.max(...positive, ...negative) === n) return exactly(2 ** (1 - n), direction);
  const mean = total / n;
  let deviations = zeros * mean * mean;
  sizes.forEach((size, place) => {
    deviations += positive[place] * (size - mean) ** 2 + negative[place] * (size + mean) ** 2;
  });
  return exactly(tailOfT(mean / Math.sqrt(deviations / ((n - 1) * n)), n - 1), direction);
}

// statistics/kernels.py, _wilcoxon: zeros dropped, tied ranks averaged; exact up to 50 differences, else asymptotic.
function wilcoxonTest(sample) {
  const n = sample.nonzero;
  let below = 0;
  let twicePlus = 0;
  let ties = 0;
  const ranks = []; // twice each, so that they are whole numbers
  sample.counts.forEach((number, size) => {
    const rank = 2 * below + number + 1;
    twicePlus += sample.positive[size] * rank;
    ties += number ** 3 - number;
    if (n <= MOST_EXACT_WILCOXON) ranks.push(...Array(number).fill(rank));
    below += number;
  });
  const twiceMinus = n * (n + 1) - twicePlus;
  const direction = Math.sign(twicePlus - twiceMinus);
  const smaller = Math.min(twicePlus, twiceMinus);
  if (!isTestable(sample)) return exactly(1, direction);
  if (n <= MOST_EXACT_WILCOXON) return exactly(2 * shareOfSubsets(ranks, smaller), direction);
  const spread = (n * (n + 1) * (2 * n + 1) - ties / 2) / 24;
  return exactly(tailOfNormal((smaller / 2 - (n * (n + 1)) / 4) / Math.sqrt(spread)), direction);
}

// statistics/kernels.py, binomial_tests: exact, won against lost.
function binomialTest(won, lost) {
  const share = shareOfSubsets(Array(won + lost).fill(1), Math.min(won, lost));
  return exactly(2 * share, Math.sign(won - lost));
}

// statistics/signflips.py, _pvalue: the share of the assignments of signs whose sum is as far from 0. Exact by counting
// on a lattice or by enumeration in two halves; otherwise bounds that hold for certain, so close that they tell the
// side of alpha.
function signFlipTest(sample, alpha) {
  const { nonzero: n, sizes, positive, negative, counts, up, down } = sample;
  const direction = Math.sign(sample.total);
  if (!isTestable(sample)) return exactly(1, direction);
  const flipped = Math.min(up, down);
  if (flipped === 0) return exactly(2 ** (1 - n), direction);
  if (Math.abs(up - down) <= EQUAL * (up + down)) return exactly(1, direction);
  const units = inUnits(sizes, counts);
  if (units) {
    const limit = Math.min(Math.round(dot(units, positive)), Math.round(dot(units, negative)));
    const most = n <= MOST_ENUMERATED ? 64 * 2 ** Math.floor(n / 2) : MOST_STEPS;
    if (n * limit <= most) return exactly(2 * shareOfSubsets(repeated(units, counts), limit), direction);
  }
  if (n <= MOST_ENUMERATED) {
    return exactly(2 * enumeratedShare(repeated(sizes, counts), flipped + EQUAL * (up + down)), direction);
  }
  return { ...boundsOnGrid(sizes, counts, flipped, alpha), direction };
}

const repeated = (values, counts) => values.flatMap((value, place) => Array(counts[place]).fill(value));
const greatestDivisor = (a, b) => (b ? greatestDivisor(b, a % b) : a);

// statistics/signflips.py, _in_units: sizes as whole numbers of their largest common unit, or null.
function inUnits(sizes, counts) {
  let scale = 1;
  for (const size of sizes) {
    const denominator = denominatorOf(size);
    if (!denominator) return null;
    scale *= denominator / greatestDivisor(scale, denominator);
    if (scale > LARGEST_SCALE) return null;
  }
  const scaled = sizes.map((size) => size * scale);
  const units = scaled.map(Math.round);
  if (scaled.some((size, place) => size > 2 ** 52 || Math.abs(size - units[place]) > 1e-9 * size)) return null;
  const divisor = units.reduce(greatestDivisor);
  const reduced = units.map((unit) => unit / divisor);
  return dot(reduced, counts) <= LARGEST_TOTAL ? reduced : null;
}

function denominatorOf(size) {
  for (let denominator = 1; denominator <= LARGEST_DENOMINATOR; denominator += 1) {
    const off = Math.abs(Math.round(size * denominator) / denominator - size);
    if (off <= Math.min(1e-9 * size, 1e-7 / denominator)) return denominator;
  }
  return 0;
}

// Share of the subsets of whole numbers whose sum is at most the limit (statistics/signflips.py, subset_sums): sums of
// positive numbers only, so no digits are lost, however small the share. With a lower limit the shares of both.
function shareOfSubsets(units, limit, lower = limit) {
  let counts = new Float64Array(limit + 1);
  let spare = new Float64Array(limit + 1);
  counts[0] = 1;
  let reach = 0;
  let exponent = 0;
  units.filter((unit) => unit <= limit).sort((one, other) => one - other).forEach((unit, place) => {
    const end = Math.min(reach + unit, limit);
    spare.set(counts.subarray(0, unit));
    for (let own = unit; own <= end; own += 1) spare[own] = counts[own] + counts[own - unit];
    [counts, spare] = [spare, counts];
    reach = end;
    if (place % 256 < 255) return;
    // Each step at most doubles the numbers, and 2^1024 would overflow.
    const raised = Math.floor(Math.log2(counts.reduce((most, ways) => Math.max(most, ways), 1))) - 500;
    if (raised <= 0) return;
    counts = counts.map((ways) => ways * 2 ** -raised);
    exponent += raised;
  });
  const power = exponent - units.length; // 2^-n alone may be too small for a number
  const share = (last) => {
    return sum(counts.subarray(0, last + 1)) * 2 ** Math.ceil(power / 2) * 2 ** Math.floor(power / 2);
  };
  return lower === limit ? share(limit) : [share(lower), share(limit)];
}

// The same of any sizes (statistics/signflips.py, _enumerated): each sum of one half needs a small enough one of the
// other.
function enumeratedShare(sizes, limit) {
  const halves = [0, 1].map((half) => sizes.filter((_, place) => place % 2 === half));
  const [first, second] = halves.map((own) => own.reduce(merged, new Float64Array(1)));
  let ways = 0;
  let fitting = second.length;
  for (const sum of first) {
    while (fitting > 0 && second[fitting - 1] > limit - sum) fitting -= 1;
    ways += fitting;
  }
  return ways * 2 ** -sizes.length;
}

// Ascending sums, and the same with one size more.
function merged(sums, size) {
  const all = new Float64Array(2 * sums.length);
  let [plain, raised] = [0, 0];
  for (let end = 0; end < all.length; end += 1) {
    const isPlain = plain < sums.length && sums[plain] <= sums[raised] + size;
    all[end] = isPlain ? sums[plain] : sums[raised] + size;
    if (isPlain) plain += 1;
    else raised += 1;
  }
  return all;
}

// Sizes rounded to a grid: a subset's sum moves up by `up` steps at most and down by `down`, so counting up to a
// higher and to a lower limit gives bounds. Finer grids follow until they are within 1 % and on one side of alpha.
function boundsOnGrid(sizes, counts, limit, alpha) {
  const n = sum(counts);
  let bounds = { low: SMALLEST, high: 1 };
  for (const steps of GRIDS) {
    if (steps > GRIDS[1] && n * steps > MOST_STEPS) break;
    const scaled = sizes.map((size) => (size * steps) / limit);
    const units = scaled.map(Math.round);
    const errors = units.map((unit, place) => unit - scaled[place]);
    const up = dot(errors.map((error) => Math.max(error, 0)), counts);
    const down = dot(errors.map((error) => Math.max(-error, 0)), counts);
    const middle = Math.floor(dot(units, counts) / 2);
    const most = Math.min(middle, Math.floor(steps + up + 1e-6));
    const least = Math.min(most - 1, Math.floor(steps - down - 1e-6));
    const [low, high] = shareOfSubsets(repeated(units, counts), most, least);
    bounds = { low: proper(2 * low), high: proper(2 * high) };
    const isClose = bounds.high <= 1.01 * bounds.low;
    if (isClose && sideOf(bounds, alpha) !== null) break;
  }
  return bounds;
}

// Whether a p-value is at most alpha; null where its bounds do not tell.
function sideOf({ low, high }, alpha) {
  if (high <= alpha) return true;
  return low > alpha ? false : null;
}

// statistics/counts.py, few: t, or sign flips with fewer than 30 differences that are not zero.
const meanTest = (sample, alpha) => (sample.nonzero < FEW ? signFlipTest(sample, alpha) : tTest(sample));

// Search lengths of the items of a run, 0 where not found: by query the rank of its first relevant document; by
// document the irrelevant documents above and 1, which is the rank less the relevant documents above
// (evaluation/lengths.py, atoms).
function searchLengths(ranks, sizes, cutoff) {
  if (!sizes) return Float64Array.from(ranks, (rank) => (rank <= cutoff ? rank : 0));
  const lengths = new Float64Array(ranks.length);
  let start = 0;
  for (const size of sizes) {
    const items = Array.from({ length: size }, (_, place) => start + place);
    const found = items.filter((item) => ranks[item] > 0 && ranks[item] <= cutoff);
    found.sort((one, other) => ranks[one] - ranks[other]);
    found.forEach((item, above) => { lengths[item] = ranks[item] - above; });
    start += size;
  }
  return lengths;
}

// comparison/outcomes.py, from_items: items of a query are averaged first, so that each query weighs the same. `sizes`
// are the numbers of items of the queries, null where each query is one item; `horizon` is k of the restricted search
// length.
function pairQueries(baseline, contender, sizes, horizon) {
  const n = sizes ? sizes.length : baseline.length;
  const names = ["shared", "foundA", "foundB", "a", "b", "allA", "allB", "won", "lost"];
  const pair = Object.fromEntries(names.map((name) => [name, new Float64Array(n)]));
  const missing = horizon + 1;
  let item = 0;
  for (let query = 0; query < n; query += 1) {
    const size = sizes ? sizes[query] : 1;
    let [foundA, foundB, both] = [0, 0, 0]; // numbers of items
    let [sumA, sumB, commonA, commonB] = [0, 0, 0, 0]; // of search lengths
    for (const end = item + size; item < end; item += 1) {
      const [a, b] = [baseline[item], contender[item]];
      const isShared = Number(a > 0 && b > 0);
      foundA += Number(a > 0);
      foundB += Number(b > 0);
      both += isShared;
      sumA += a;
      sumB += b;
      commonA += isShared * a;
      commonB += isShared * b;
    }
    pair.shared[query] = both;
    pair.foundA[query] = foundA / size;
    pair.foundB[query] = foundB / size;
    pair.a[query] = both ? commonA / both : sumA / foundA; // NaN where it found nothing
    pair.b[query] = both ? commonB / both : sumB / foundB;
    pair.allA[query] = (sumA + (size - foundA) * missing) / size;
    pair.allB[query] = (sumB + (size - foundB) * missing) / size;
    pair.won[query] = (sumB - commonB - (foundB - both) * missing) / size;
    pair.lost[query] = ((foundA - both) * missing - (sumA - commonA)) / size;
  }
  return pair;
}

// comparison/pair_tests.py, run_tests: of some of the queries. `rules`: alpha; the test of ranking; that of coverage,
// "exact" unless a query of the whole evaluation has several relevant documents (comparison/outcomes.py,
// coverage_test_for).
function testPair(pair, queries, rules) {
  const { alpha } = rules;
  const shared = queries.filter((query) => pair.shared[query]);
  const coverage = sampleOf(pair.foundA, pair.foundB, queries);
  const ranking = sampleOf(pair.a, pair.b, shared);
  const everywhere = sampleOf(pair.allA, pair.allB, queries);
  const wonAndLost = sampleOf(pair.won.map((value) => -value), pair.lost, queries);
  const rankingMean = meanTest(ranking, alpha);
  const rankingWilcoxon = wilcoxonTest(ranking);
  const isExact = rules.coverageTest === "exact";
  const byName = { t: rankingMean, wilcoxon: rankingWilcoxon };
  return {
    coverage: isExact ? binomialTest(sum(coverage.positive), sum(coverage.negative)) : signFlipTest(coverage, alpha),
    ranking: byName[rules.test] ?? signFlipTest(ranking, alpha),
    rankingMean,
    rankingWilcoxon,
    everywhere: meanTest(everywhere, alpha),
    everywhereWilcoxon: wilcoxonTest(everywhere),
    wonAndLost: meanTest(wonAndLost, alpha),
  };
}

// comparison/verdict.py, judge, without a correction: the label of the contender; null where a p-value is not sure
// enough.
function judge(tests, alpha) {
  if (Object.values(tests).some((test) => sideOf(test, alpha) === null)) return null;
  // What a test shows at alpha, 1 better and -1 worse; lower is better, except for coverage.
  const shows = (test, sign = -1) => (sideOf(test, alpha) ? sign * test.direction : 0);
  // comparison/verdict.py, find: harm and gain by the deciding test, of ranking also by the mean and by Wilcoxon,
  // because "no harm" must not hang on the choice of a test.
  const coverage = shows(tests.coverage, 1);
  const ranking = shows(tests.ranking);
  const vetoes = [coverage, ranking, shows(tests.rankingMean), shows(tests.rankingWilcoxon)];
  const hurt = vetoes.includes(-1);
  const gain = vetoes.includes(1);
  const up = coverage > 0 || ranking > 0;
  const down = coverage < 0 || ranking < 0;
  // comparison/verdict.py, decide: the rules of Lin et al. 2021, section 5.
  const harmless = (up && !hurt) - (down && !gain);
  const onBoth = coverage === ranking ? harmless : 0;
  // comparison/verdict.py, over_all: the mean over all queries confirms, or Wilcoxon in its direction; only the mean
  // can decide.
  const mean = tests.everywhere;
  const decided = shows(mean);
  const agrees = tests.everywhereWilcoxon.direction === mean.direction;
  const confirmed = decided || (agrees ? shows(tests.everywhereWilcoxon) : 0);
  // Where neither facet decides, all queries can, if no facet's estimate points against them and none is hurt.
  const estimates = [tests.coverage.direction, -tests.rankingMean.direction];
  const isSilent = !up && !down && !(decided > 0 ? hurt : gain);
  const together = isSilent && estimates.every((estimate) => estimate * decided >= 0) ? decided : 0;
  // The guard: what is won and lost, or all queries, contradict.
  const guards = [decided, shows(tests.wonAndLost)];
  const claimed = harmless + together;
  if ((claimed && guards.includes(-claimed)) || (up && hurt) || (down && gain)) return "trade-off";
  const word = claimed > 0 ? "better" : "worse";
  if (onBoth) return `${word} on both facets`;
  if (together) return `${word} over all queries`;
  if (!harmless) return "no significant difference";
  const facet = coverage === harmless ? "coverage" : "ranking";
  return harmless === confirmed ? `${word} on ${facet}` : `${facet} ${claimed > 0 ? "gain" : "loss"}, unconfirmed`;
}
