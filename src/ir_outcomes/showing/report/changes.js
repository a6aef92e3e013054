// The bins of the histogram, from lost to won: by ranks, or by the share found, where that changes for most queries.
// `numbers` are those of each query: a and b, whether both found something in common, and the shares found; `about`:
// the measure (null for search lengths), whether higher values are better, the horizon. A test has the same in Python.

const SHARE_EDGES = [1, 2, 5, 10, 20, 50]; // points
const MEASURE_EDGES = [0.1, 0.3];
const RANK_EDGES = [1, 2, 10, 100, 1000];

function changesOf(numbers, about) {
  const queries = numbers.a.map((_, query) => query);
  const shares = queries.map((query) => Math.round(1e8 * (numbers.foundB[query] - numbers.foundA[query])) / 1e6);
  const sign = about.higher ? 1 : -1;
  const gains = queries.map((query) => (numbers.both[query] ? sign * (numbers.b[query] - numbers.a[query]) : 0));
  const changed = shares.filter(Boolean).map(Math.abs);
  const byShare = 2 * changed.length > shares.length && changed.some((share) => share % 100);
  const { edges, names } = byShare ? binsOfShares(changed) : binsOfRanking(gains, about);
  const named = (word) => names.map((name) => `${name} ${word}`);
  const upward = byShare ? ["fewer above", ...named("more")] : [...named("up"), "won"];
  const downward = byShare ? ["more above", ...named("fewer")] : [...named("down"), "lost"];
  const reached = (limits, size) => limits.filter((limit) => limit <= size).length;
  const step = (query) => {
    const share = shares[query];
    const gain = gains[query];
    if (share && !byShare) return Math.sign(share) * upward.length;
    if (share) return Math.sign(share) * (1 + reached([0, ...edges], Math.abs(share)));
    return gain ? Math.sign(gain) * (1 + reached(byShare ? [] : edges, Math.abs(gain))) : 0;
  };
  const nothing = (query) => numbers.foundA[query] === 0 && numbers.foundB[query] === 0;
  return {
    by_share: byShare,
    bins: [
      ...downward.reverse().map((name) => [name, "worse"]),
      ["same", "same"],
      ...upward.map((name) => [name, "better"]),
    ],
    bin: queries.map((query) => (nothing(query) ? -1 : downward.length + step(query))),
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
  return { edges, names: [`<${edges[0]}`, ...between, `≥${edges[edges.length - 1]}`] };
}

function binsOfRanking(gains, about) {
  if (about.measure !== null) return { edges: MEASURE_EDGES, names: ["<0.1", "0.1–0.3", ">0.3"] };
  const last = about.horizon ?? 11; // no bin is beyond the cutoff
  const within = RANK_EDGES.filter((edge) => edge < last);
  const edges = within.length ? within : [1];
  const between = (first, last) => (first === last ? `${first}` : `${first}–${last}`);
  const names = edges.slice(1).map((edge, before) => between(edges[before], edge - 1));
  // Search lengths of several documents are averages.
  if (names.length && gains.some((gain) => gain % 1)) names[0] = "<2";
  return { edges: edges.slice(1), names: [...names, `≥${edges[edges.length - 1]}`] };
}
