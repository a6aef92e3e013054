// One query with its ranked lists, of A and B first.

const letter = (place) => String.fromCharCode(65 + place);

function select(id, step) {
  state.q = id;
  markCurrent();
  drawQuery();
  writeAddress(step);
}

function sentence(i) {
  const [name, tone] = kindOf(i);
  const [a, b] = [chosen.a[i], chosen.b[i]];
  const parts = [`${SIGNS[tone]}${name}.`];
  if (byDocument) {
    parts.push(`A found ${found(i, 0)} relevant documents, B ${found(i, 1)}.`);
    const what = isApart(i) ? "On what each found, none in common" : "On what both found";
    if (a !== null && b !== null) parts.push(`${what}, search length: A ${number(a)}, B ${number(b)}.`);
  } else {
    const missing = grid.cutoff ? `not within ${grid.cutoff}` : "not found";
    const rank = (value) => (value === null ? missing : `${isOfLengths() ? "rank " : ""}${number(value)}`);
    const share = (found) => (found[i] % 1 ? `, found in ${percent(found[i])} of its runs` : "");
    parts.push(`A: ${rank(a)}${share(chosen.foundA)}. B: ${rank(b)}${share(chosen.foundB)}.`);
  }
  if (isOfSeveral()) parts.push("Numbers are means over runs.");
  return parts.join(" ");
}

// The runs beside each other, A and B first; of the others those that the reader chose, or two.
function shownRuns() {
  const placeOf = (run) => (Object.hasOwn(set.first, run) ? set.first[run] : set.runs.indexOf(run));
  const pair = [state.a, state.b].map(placeOf);
  const others = [...set.runs.keys()].filter((run) => !pair.includes(run));
  const wanted = state.runs.split(",").map(Number);
  return [...pair, ...(state.runs ? others.filter((run) => wanted.includes(run)) : others.slice(0, 2))];
}

function drawQuery() {
  const i = set.ids.indexOf(state.q);
  const text = set.texts?.[i];
  const unknown = state.q ? `There is no query ${state.q}` : "No query is selected";
  byId("query-title").textContent = i < 0 ? unknown : text || `Query ${state.q}`;
  const others = [...set.runs.entries()].filter(([run]) => !shownRuns().includes(run));
  fill("beside", [["", "add a run"], [NONE, "only A and B"], ...others], "");
  byId("beside").hidden = i < 0 || set.runs.length < 3;
  if (i < 0) return byId("desk").replaceChildren("Select a query to see what the runs returned.");
  const about = make("p.small", text ? [make("code", state.q), " "] : [], sentence(i));
  if (!set.rankings?.[i]) return byId("desk").replaceChildren(about, "Its ranked lists are not part of the page.");
  const other = set.runs.length > 2 ? "A, in A that in B" : "the other run";
  const marks = `✔ relevant with its grade, ✘ judged and not relevant, ? unjudged. At the right the rank in ${other}.`;
  return byId("desk").replaceChildren(about, make("p.small", marks), drawLists(i));
}

byId("previous").addEventListener("click", () => goTo(current() - 1, true));
byId("next").addEventListener("click", () => goTo(current() + 1, true));
byId("beside").addEventListener("input", () => {
  const { value } = byId("beside");
  state.runs = value === NONE ? NONE : [...shownRuns().slice(2), value].join(",");
  drawQuery();
  writeAddress(false);
});

function drawLists(i) {
  const runs = shownRuns();
  const rankings = set.rankings[i];
  const width = byId("query").clientWidth;
  // A list has 320 pixels, where two of these fit (style.css), and 150 of them are beside the ids.
  const space = Math.max(Math.min(320, width / 2 - 30), width / runs.length - 30) - 150;
  const shown = { rankings, runs, words: wordsOf(set.texts?.[i]), ids: shortIds(rankings.ids, signsThatFit(space)) };
  return make("div", { id: "lists", tabindex: 0 }, runs.map((_, own) => drawRanking(shown, own)));
}

// Rank of each document that is known of a run, 0 for those that it did not return: what is relevant, and, where its
// list is shorter than those of the page, all others.
function ranksOf({ ids, lists, beyond, grades }, run) {
  const ranks = new Map(lists[run].map((document, place) => [document, place + 1]));
  for (const [document, rank] of beyond[run]) ranks.set(document, rank);
  for (const document of ids.keys()) {
    const isKnown = lists[run].length < data.depth || grades[document] >= grid.rel;
    if (isKnown && !ranks.has(document)) ranks.set(document, 0);
  }
  return ranks;
}

const isBehind = (rank) => Boolean(grid.cutoff) && (rank === 0 || rank > grid.cutoff);

function drawRanking(shown, own) {
  const { rankings, runs } = shown;
  const there = ranksOf(rankings, runs[own === 0 ? 1 : 0]);
  const isRelevant = (document) => rankings.grades[document] >= grid.rel;
  const ranked = [...ranksOf(rankings, runs[own])].filter(([document, rank]) => rank || isRelevant(document));
  const items = ranked.map(([document, rank]) => drawDocument(shown, document, rank, there.get(document), own));
  const above = ranked.filter(([, rank]) => !isBehind(rank)).length;
  if (grid.cutoff) items.splice(above, 0, make("li.cut", `cutoff ${grid.cutoff}`));
  if (!rankings.lists[runs[own]].length) items.unshift(make("li.cut", "This run returned nothing."));
  const title = make(`h4.key.${own ? "contender" : "baseline"}`, `${letter(own)} · ${set.runs[runs[own]]}`);
  return make("section", { "aria-label": title.textContent }, title, make("ol", items));
}

function drawDocument({ rankings, words: wordsOfQuery, ids }, document, rank, there, own) {
  const id = rankings.ids[document];
  const grade = rankings.grades[document];
  const kind = judgment(grade);
  const text = Object.hasOwn(set.documents, id) ? set.documents[id] : undefined;
  const [sign, words] = JUDGED[kind];
  const about = grade === undefined ? words : `${words}, grade ${grade}`;
  const mark = make("span", { "aria-hidden": "true" }, `${sign} ${grade ?? ""}`);
  return make(
    `li.${kind}${isBehind(rank) ? ".behind" : ""}`,
    make("span.rank", rank ? String(rank) : "none"),
    drawId(id, ids.get(id), text),
    make("span.mark", { title: about }, mark, make("span.hidden", about)),
    make("span.elsewhere", elsewhere(there, letter(own === 0 ? 1 : 0))),
    text === undefined ? [] : make("p.text", markedText(text, wordsOfQuery)),
  );
}

function elsewhere(rank, run) {
  if (rank === undefined) return `${run} > ${data.depth}`;
  return rank ? `${run} ${rank}` : `not in ${run}`;
}
