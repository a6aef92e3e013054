// The bins of the histogram, from lost to won: by ranks, or by the share found, where that changes for most queries.
// `numbers` are those of each query: a and b, whether both found something in common, and the shares found; `about`:
// the measure (null for search lengths), whether higher values are better, the horizon. A test has the same in Python.

const SHARE_EDGES = [1, 2, 5, 10, 20, 50]; // points
const MEASURE_EDGES = [0.1, 0.3];
const RANK_EDGES = [1, 2, 10, 100, 1000];

function changesOf(numbers, about) {
  const queries = [...numbers.a.keys()];
  const shares = queries.map((query) => Math.round(1e8 * (numbers.foundB[query] - numbers.foundA[query])) / 1e6);
  const sign = about.higher ? 1 : -1;
  const gains = queries.map((query) => (numbers.both[query] ? sign * (numbers.b[query] - numbers.a[query]) : 0));
  const changed = shares.filter(Boolean).map(Math.abs);
  const byShare = 2 * changed.length > shares.length && changed.some((share) => share % 100);
  const { edges, names } = byShare ? binsOfShares(changed) : binsOfRanking(gains, about);
  const named = (word) => names.map((name) => `${name} ${word}`);
  const upward = byShare ? ["fewer above", ...named("more")] : [...named("up"), "won"];
  const downward = byShare ? ["more above", ...named("fewer")] : [...named("down"), "lost"];
  const reached = (limits, size) => 1 + limits.filter((limit) => limit <= size).length;
  const step = (query) => {
    const [share, gain] = [shares[query], gains[query]];
    if (share && !byShare) return Math.sign(share) * upward.length;
    if (share) return Math.sign(share) * reached([0, ...edges], Math.abs(share));
    return gain && Math.sign(gain) * reached(byShare ? [] : edges, Math.abs(gain));
  };
  const isNothing = (query) => numbers.foundA[query] === 0 && numbers.foundB[query] === 0;
  const toned = (bins, tone) => bins.map((name) => [name, tone]);
  return {
    by_share: byShare,
    bins: [...toned(downward, "worse").reverse(), ["same", "same"], ...toned(upward, "better")],
    bin: queries.map((query) => (isNothing(query) ? -1 : downward.length + step(query))),
  };
}

// The edges lie about the usual change.
function binsOfShares(changed) {
  const sorted = [...changed].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  const median = (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
  const place = SHARE_EDGES.filter((edge) => edge < median).length;
  const edges = SHARE_EDGES.slice(Math.max(place - 1, 0), place + 2);
  const between = edges.slice(1).map((edge, before) => `${edges[before]}–${edge}`);
  return { edges, names: [`<${edges[0]}`, ...between, `≥${edges.at(-1)}`] };
}

function binsOfRanking(gains, about) {
  if (about.measure !== null) return { edges: MEASURE_EDGES, names: ["<0.1", "0.1–0.3", ">0.3"] };
  const [first, ...edges] = RANK_EDGES.filter((edge) => edge === 1 || edge < (about.horizon ?? 11));
  const between = (start, end) => (start === end ? `${start}` : `${start}–${end}`);
  const names = edges.map((edge, place) => between([first, ...edges][place], edge - 1));
  if (names.length && gains.some((gain) => gain % 1)) names[0] = "<2"; // of several documents they are averages
  return { edges, names: [...names, `≥${edges.at(-1) ?? first}`] };
}
