// One query with its ranked lists, of A and B first.

const FIRST = 10; // documents of a list that are shown at once
const NARROW = 300; // pixels that a list needs
const GAP = 20; // between lists
const BESIDE_ID = 146; // pixels of rank, the shortest judgment, and rank in the other run

let side = 1; // the ranking that a phone shows
let isWhole = false; // whether the lists are shown to their ends
let areOthersOpen = false;
const letter = (place) => String.fromCharCode(65 + place);

function select(id, isFocused, step = true) {
  state.q = id;
  markCurrent();
  drawQuery();
  writeAddress(step);
  if (!isFocused) return;
  byId("query").focus({ preventScroll: true });
  byId("query").scrollIntoView({ block: "nearest" });
}

function sentence(i) {
  const [name, tone] = kindOf(i);
  const [a, b] = chosen.lengths.map((lengths) => lengths[i]);
  const change = chosen.change[i];
  const parts = [`${SIGNS[tone]}${name}.`];
  if (byDocument) {
    parts.push(`A found ${found(i, 0)} relevant documents, B ${found(i, 1)}.`);
    const [common, none] = ["Search length on what both found", "None in common: search length on what each found"];
    const where = chosen.apart[i] ? none : common;
    if (a !== null && b !== null) parts.push(`${where}: A ${number(a)}, B ${number(b)}.`);
    const missing = `counting ${chosen.horizon} where a document is not found`;
    const more = `${number(Math.abs(change))} ${change < 0 ? "fewer" : "more"} irrelevant documents above`;
    if (change && isOfAll()) parts.push(`Over all relevant documents ${more}, ${missing}.`);
  } else {
    const missing = grid.cutoff ? `not within ${grid.cutoff}` : "not found";
    const rank = (value) => (value === null ? missing : `${isOfLengths() ? "rank " : ""}${number(value)}`);
    const percent = (share) => `${number(Math.round(1000 * share) / 10)} %`;
    const share = (found) => (found[i] % 1 ? `, found in ${percent(found[i])} of its runs` : "");
    parts.push(`A: ${rank(a)}${share(chosen.foundA)}. B: ${rank(b)}${share(chosen.foundB)}.`);
  }
  if (isOfSeveral()) parts.push("Numbers are means over runs.");
  return parts.join(" ");
}

function action(words, label, run) {
  const button = make("button", { type: "button", "aria-label": label }, words);
  button.addEventListener("click", () => run(button));
  return button;
}

// The runs beside each other, A and B first; the others as the reader chose them, or as many as are wide enough.
function shownRuns() {
  const placeOfRun = (run) => (Object.hasOwn(set.first, run) ? set.first[run] : set.runs.indexOf(run));
  const pair = [state.a, state.b].map(placeOfRun);
  const others = [...set.runs.keys()].filter((run) => !pair.includes(run));
  const fitBesides = Math.floor(byId("query").clientWidth / NARROW) - 2;
  const wanted = state.runs.split(",").map(Number);
  const fitting = others.slice(0, Math.max(0, Math.min(fitBesides, 2)));
  return [...pair, ...(state.runs ? others.filter((run) => wanted.includes(run)) : fitting)];
}

function withoutLists() {
  const none = "The ranked lists of this query are not part of the page";
  const kept = set.rankings?.filter(Boolean).length;
  const verb = kept === 1 ? "changes" : "change";
  return kept ? `${none}: it has those of the ${count(kept)} that ${verb} most.` : `${none}.`;
}

function drawQuery() {
  const i = set.ids.indexOf(state.q);
  const place = byId("query");
  const titled = (words) => make("h3", { id: "query-title" }, words);
  if (i < 0) {
    const title = titled(state.q ? `There is no query ${state.q}` : "No query is selected");
    return place.replaceChildren(title, make("p.small", "Select a query to see what the runs returned."));
  }
  const text = set.texts?.[i];
  const rankings = set.rankings?.[i];
  const move = (step, label) => action(step < 0 ? "◀" : "▶", label, () => {
    goTo(current() + step, true);
    place.querySelector(`[aria-label="${label}"]`).focus({ preventScroll: true });
  });
  place.replaceChildren(
    titled(text || `Query ${state.q}`),
    make("p.small", text ? [make("code", state.q), " "] : [], sentence(i)),
    make("div.actions", move(-1, "Previous query"), move(1, "Next query")),
  );
  if (!rankings) return place.append(make("p.small", withoutLists()));
  const other = set.runs.length > 2 ? "A, in A that in B" : "the other run";
  const marks = `✔ relevant with its grade, ✘ judged and not relevant, ? unjudged. At the right the rank in ${other}.`;
  place.append(make("p.small", marks));
  if (set.runs.length > 2) place.append(drawRunChoice());
  place.append(...drawLists(rankings, text));
  if (shownRuns().every((run) => rankings.lists[run].length <= FIRST)) return undefined;
  const depth = `Show ${isWhole ? FIRST : data.depth} documents`;
  return place.append(action(depth, depth, () => {
    isWhole = !isWhole;
    drawQuery();
    byId("query").lastChild.focus({ preventScroll: true });
  }));
}

function drawRunChoice() {
  const shown = shownRuns();
  const boxOf = (run) => {
    const box = make("input", { type: "checkbox", checked: shown.includes(run), value: run });
    box.addEventListener("change", () => {
      const wanted = shown.slice(2).filter((other) => other !== run);
      if (box.checked) wanted.push(run);
      state.runs = wanted.join(",") || NONE;
      writeAddress(false);
      drawQuery();
      byId("others").querySelector(`[value="${run}"]`).focus({ preventScroll: true });
    });
    return make("label", box, ` ${set.runs[run]}`);
  };
  const others = [...set.runs.keys()].filter((run) => !shown.slice(0, 2).includes(run));
  const words = make("summary", "Other runs beside A and B");
  const fold = make("details", { id: "others", open: areOthersOpen }, words, make("div", others.map(boxOf)));
  fold.addEventListener("toggle", () => { areOthersOpen = fold.open; });
  return fold;
}

let widthOfDesk = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === widthOfDesk) return; // a phone hides its address
  widthOfDesk = innerWidth;
  drawQuery();
});

function drawLists(rankings, text) {
  const runs = shownRuns();
  side = Math.min(side, runs.length - 1);
  const width = Math.max(byId("query").clientWidth, NARROW) - 40;
  const fitting = matchMedia("(max-width: 40rem)").matches ? 1 : Math.floor(width / (NARROW - 60));
  const columns = Math.max(1, Math.min(runs.length, fitting));
  const space = (width - GAP * (columns - 1)) / columns - BESIDE_ID;
  const shown = { rankings, words: wordsOf(text), ids: shortIds(rankings.ids, signsThatFit(rankings.ids, 14, space)) };
  const lists = make("div", { id: "lists" }, runs.map((_, own) => drawRanking(shown, own)));
  lists.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const names = runs.map((run, own) => `${letter(own)} · ${set.runs[run]}`);
  const buttons = names.map((name, own) => action(name, name, () => showSide(own)));
  function showSide(own) {
    side = own;
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === own));
    [...lists.children].forEach((list, other) => list.classList.toggle("other", other !== own));
  }
  showSide(side);
  return [make("div.switch", { role: "group", "aria-label": "Ranking" }, buttons), lists];
}

// Rank of each document that is known of a run; 0 for relevant ones that it did not return.
function ranksOf(rankings, run) {
  const ranks = new Map(rankings.lists[run].map((document, place) => [document, place + 1]));
  for (const [document, rank] of rankings.beyond[run]) ranks.set(document, rank);
  for (const [document, grade] of Object.entries(rankings.grades)) {
    if (grade >= grid.rel && !ranks.has(Number(document))) ranks.set(Number(document), 0);
  }
  return ranks;
}

const isBehind = (rank) => Boolean(grid.cutoff) && (rank === 0 || rank > grid.cutoff);

function drawRanking(shown, own) {
  const { rankings } = shown;
  const runs = shownRuns();
  const other = runs[own === 0 ? 1 : 0];
  const there = ranksOf(rankings, other);
  // A list that is shorter than the page shows is whole: what it lacks was not returned.
  const isComplete = rankings.lists[other].length < data.depth;
  if (isComplete) for (const document of rankings.ids.keys()) if (!there.has(document)) there.set(document, 0);
  const isShown = ([document, rank]) => {
    return isWhole || rank <= FIRST || rank > data.depth || rankings.grades[document] >= grid.rel;
  };
  const ranked = [...ranksOf(rankings, runs[own])].filter(isShown);
  const items = ranked.map(([document, rank]) => drawDocument(shown, document, rank, there, own));
  const above = ranked.filter(([, rank]) => !isBehind(rank)).length;
  if (grid.cutoff) items.splice(above, 0, make("li.cut", `cutoff ${grid.cutoff}`));
  if (!rankings.lists[runs[own]].length) items.unshift(make("li.cut", "This run returned nothing."));
  const name = `${letter(own)} · ${set.runs[runs[own]]}`;
  return make(
    "section", { "aria-labelledby": `list-${own}` },
    make(`h4.key.${own ? "contender" : "baseline"}`, { id: `list-${own}` }, name),
    make("p.small", judgedOf(rankings, runs[own])),
    make("ol", items),
  );
}

// How the first documents of a list are judged.
function judgedOf(rankings, run) {
  const list = rankings.lists[run];
  if (!list.length) return "";
  const many = (kind) => list.filter((document) => judgment(rankings.grades[document]) === kind).length;
  return `First ${list.length}: ${many("relevant")} relevant, ${many("irrelevant")} not, ${many("unjudged")} unjudged`;
}

function drawDocument({ rankings, words, ids }, document, rank, there, own) {
  const id = rankings.ids[document];
  const grade = rankings.grades[document];
  const kind = judgment(grade);
  const text = Object.hasOwn(set.documents, id) ? set.documents[id] : undefined;
  const about = inWords(grade);
  const sign = make("span", { "aria-hidden": "true" }, `${JUDGED[kind]} ${grade ?? ""}`.trim());
  const item = make(
    `li.${kind}`, { id: `document-${own}-${document}`, "data-document": document },
    make("span.rank", rank ? String(rank) : "none"),
    drawId(id, ids.get(id), text),
    make("span.mark", { title: about }, sign, make("span.hidden", about)),
    elsewhere(there.get(document), own, document),
  );
  if (isBehind(rank)) item.classList.add("behind");
  if (text !== undefined) item.append(make("p.text", markedText(text, words)));
  if (openItems.has(`${state.q} ${item.id}`)) open(item, true);
  return item;
}

function elsewhere(rank, own, document) {
  const other = own === 0 ? 1 : 0;
  const name = letter(other);
  if (rank === undefined) {
    return make("span.elsewhere", { title: `not among the first ${data.depth} of ${name}` }, `${name} > ${data.depth}`);
  }
  if (rank === 0) return make("span.elsewhere", `not in ${name}`);
  const label = `${name} ${rank}, the rank of the same document in ${name}`;
  return make("a.elsewhere", { href: `#document-${other}-${document}`, "aria-label": label }, `${name} ${rank}`);
}

byId("query").addEventListener("click", (event) => {
  const link = event.target.closest("a.elsewhere");
  if (!link || !isPlain(event)) return;
  event.preventDefault();
  const name = link.hash.slice(1);
  if (!byId(name)) {
    isWhole = true;
    drawQuery();
  }
  const target = byId(name);
  const buttons = byId("query").querySelectorAll(".switch button");
  if (!target.getClientRects().length) buttons[Number(name.split("-")[1])].click();
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
});

// The same document stands out in all lists.
for (const type of ["mouseover", "mouseout", "focusin", "focusout"]) {
  byId("query").addEventListener(type, (event) => {
    const document = event.target.closest("li[data-document]")?.dataset.document;
    const isOn = type === "mouseover" || type === "focusin";
    for (const item of byId("query").querySelectorAll("li[data-document]")) {
      item.classList.toggle("linked", isOn && item.dataset.document === document);
    }
  });
}
