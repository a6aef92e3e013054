// One query with its ranked lists.

function select(id, moveFocus, step = true) {
  state.q = id;
  drawRows();
  drawQuery();
  writeAddress(step);
  if (moveFocus && id) {
    byId("query").focus({ preventScroll: true });
    byId("query").scrollIntoView({ block: "nearest" });
  }
}

function sentence(i) {
  const [name, tone] = kindOf(i);
  const [a, b] = [lengthOf(0, i), lengthOf(1, i)];
  const change = chosen.change[i];
  const parts = [`${SIGNS[tone]}${name}.`];
  if (byDocument) {
    parts.push(`A found ${found(i, 0)} relevant documents, B ${found(i, 1)}.`);
    if (chosen.apart.includes(i)) parts.push(`None in common: search length on what each found: A ${number(a)}, B ${number(b)}.`);
    else if (a !== null && b !== null) parts.push(`Search length on what both found: A ${number(a)}, B ${number(b)}.`);
  } else {
    const where = chosen.cutoff ? `not within ${chosen.cutoff}` : "not found";
    const rank = (value) => (value === null ? where : chosen.measure === null ? `rank ${number(value)}` : number(value));
    parts.push(`A: ${rank(a)}. B: ${rank(b)}.`);
  }
  if (byDocument && change && changeHead !== "change") parts.push(`Over all relevant documents ${number(Math.abs(change))} ${change < 0 ? "fewer" : "more"} irrelevant documents above, counting ${chosen.horizon} where a document is not found.`);
  return parts.join(" ");
}

function action(textContent, label, run) {
  const button = element("button", { type: "button", textContent });
  button.setAttribute("aria-label", label);
  button.addEventListener("click", () => run(button));
  return button;
}

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { value: text, readOnly: true }); // a page inside of another may not use the clipboard
    byId("query").append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1500);
}

let side = 1; // the ranking that a phone shows
let all = false; // whether the lists are shown to their ends
const NARROW = 300; // pixels that a list needs
const GAP = 20; // between lists
const BESIDE_ID = 146; // rank, the shortest judgment, and rank in the other run

const letter = (place) => String.fromCharCode(65 + place);

// The runs beside each other, A and B first; the others as the reader chose them, or as many as are wide enough.
function shownRuns() {
  const pair = [chosen.baseline, chosen.contender].map((run) => set.runs.indexOf(run));
  const others = set.runs.map((_, run) => run).filter((run) => !pair.includes(run));
  const room = Math.floor(byId("query").clientWidth / NARROW) - 2;
  const more = state.runs ? state.runs.split(",").map(Number) : others.slice(0, Math.max(0, Math.min(room, 2)));
  return [...pair, ...(state.runs === NONE ? [] : others.filter((run) => more.includes(run)))];
}

function withoutLists() {
  const none = "The ranked lists of this query are not part of the page";
  const kept = set.rankings?.filter((rankings) => rankings).length;
  return kept ? `${none}: it has those of the ${count(kept)} that ${kept === 1 ? "changes" : "change"} most.` : `${none}.`;
}

function drawQuery() {
  const i = set.ids.indexOf(state.q);
  const place = byId("query");
  if (i < 0) {
    const title = state.q ? `There is no query ${state.q}` : "No query is selected";
    place.replaceChildren(element("h3", { id: "query-title", textContent: title }), element("p", { className: "small", textContent: "Select a query to see what the runs returned." }));
    return;
  }
  const text = set.texts?.[i];
  const rankings = set.rankings?.[i];
  const move = (step, label) => action(step < 0 ? "◀" : "▶", label, () => {
    goTo(current() + step, true);
    byId("query").querySelector(`[aria-label="${label}"]`).focus({ preventScroll: true });
  });
  const link = () => `${location.href.split("#")[0]}${address({ ...DEFAULT, c: state.c, a: state.a, b: state.b, q: state.q })}`;
  const actions = element("div", { className: "actions" }, move(-1, "Previous query"), move(1, "Next query"), action("Copy link", "Copy link", (button) => copy(link(), button)));
  if (rankings) actions.append(action("Copy as Markdown", "Copy as Markdown", (button) => copy(markdown(i, rankings), button)));
  place.replaceChildren(
    element("h3", { id: "query-title", textContent: text || `Query ${state.q}` }),
    element("p", { className: "small" }, ...(text ? [element("code", { textContent: state.q }), " "] : []), sentence(i)),
    actions,
  );
  if (!rankings) {
    place.append(element("p", { className: "small", textContent: withoutLists() }));
    return;
  }
  place.append(element("p", { className: "small", textContent: `✔ relevant with its grade, ✘ judged and not relevant, ? unjudged. At the right the rank in ${set.runs.length > 2 ? "A, in A that in B" : "the other run"}.` }));
  if (set.runs.length > 2) place.append(drawRunChoice());
  place.append(...drawLists(rankings, text));
  if (Math.max(...shownRuns().map((run) => rankings.lists[run].length)) > FIRST) {
    const depth = `Show ${all ? FIRST : data.depth} documents`;
    const button = action(depth, depth, () => {
      all = !all;
      drawQuery();
      byId("depth").focus({ preventScroll: true });
    });
    button.id = "depth";
    place.append(button);
  }
}

function drawRunChoice() {
  const shown = shownRuns();
  const boxes = set.runs.flatMap((name, run) => {
    if (shown.indexOf(run) === 0 || shown.indexOf(run) === 1) return [];
    const box = element("input", { type: "checkbox", checked: shown.includes(run), value: run });
    box.addEventListener("change", () => {
      const wanted = shown.slice(2).filter((other) => other !== run);
      if (box.checked) wanted.push(run);
      state.runs = wanted.join(",") || NONE;
      writeAddress(false);
      drawQuery();
      [...byId("others").querySelectorAll("input")].find((other) => Number(other.value) === run).focus({ preventScroll: true });
    });
    return [element("label", {}, box, ` ${name}`)];
  });
  const fold = element("details", { id: "others", open: othersOpen }, element("summary", { textContent: "Other runs beside A and B" }), element("div", {}, ...boxes));
  fold.addEventListener("toggle", () => { othersOpen = fold.open; });
  return fold;
}
let othersOpen = false;

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
  const columns = matchMedia("(max-width: 40rem)").matches ? 1 : Math.max(1, Math.min(runs.length, Math.floor(width / (NARROW - 60))));
  const space = (width - GAP * (columns - 1)) / columns - BESIDE_ID;
  const shown = { rankings, words: wordsOf(text), ids: shortIds(rankings.ids, signsThatFit(rankings.ids, 14, space)) };
  const lists = element("div", { id: "lists" }, ...runs.map((_, own) => drawList(shown, own)));
  lists.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  const buttons = runs.map((run, own) => action(`${letter(own)} · ${set.runs[run]}`, `${letter(own)} · ${set.runs[run]}`, () => showSide(own)));
  function showSide(own) {
    side = own;
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === own));
    [...lists.children].forEach((list, other) => list.classList.toggle("other", other !== own));
  }
  showSide(side);
  return [element("div", { className: "switch", role: "group", ariaLabel: "Ranking" }, ...buttons), lists];
}

const gradeOf = (rankings, document) => rankings.grades[document];
const relevantOf = (rankings) => Object.keys(rankings.grades).map(Number).filter((document) => rankings.grades[document] >= chosen.rel);

// Rank of each document that is known of a run; 0 for relevant ones that it did not return.
function ranksOf(rankings, run) {
  const ranks = new Map(rankings.lists[run].map((document, place) => [document, place + 1]));
  for (const [document, rank] of rankings.beyond[run]) ranks.set(document, rank);
  for (const document of relevantOf(rankings)) if (!ranks.has(document)) ranks.set(document, 0);
  return ranks;
}

function drawList(shown, own) {
  const { rankings } = shown;
  const runs = shownRuns();
  const other = runs[own === 0 ? 1 : 0];
  const there = ranksOf(rankings, other);
  // A list that is shorter than the page shows is whole: what it lacks was not returned.
  if (rankings.lists[other].length < data.depth) for (const document of rankings.ids.keys()) if (!there.has(document)) there.set(document, 0);
  const ranked = [...ranksOf(rankings, runs[own])];
  const items = [];
  let cut = !chosen.cutoff;
  for (const [document, rank] of ranked) {
    if (!cut && (rank === 0 || rank > chosen.cutoff)) {
      items.push(element("li", { className: "cut", textContent: `cutoff ${chosen.cutoff}` }));
      cut = true;
    }
    if (rank > FIRST && rank <= data.depth && !all && !(gradeOf(rankings, document) >= chosen.rel)) continue;
    items.push(drawDocument(shown, document, rank, there, own));
  }
  if (!rankings.lists[runs[own]].length) items.unshift(element("li", { className: "cut", textContent: "This run returned nothing." }));
  if (!cut) items.push(element("li", { className: "cut", textContent: `cutoff ${chosen.cutoff}` }));
  return element(
    "section",
    { "aria-labelledby": `list-${own}` },
    element("h4", { id: `list-${own}`, className: `key ${own ? "contender" : "baseline"}`, textContent: `${letter(own)} · ${set.runs[runs[own]]}` }),
    element("p", { className: "small", textContent: judgedOf(rankings, runs[own]) }),
    element("ol", {}, ...items),
  );
}

// How the first documents of a list are judged.
function judgedOf(rankings, run) {
  const list = rankings.lists[run];
  if (!list.length) return "";
  const numbers = { relevant: 0, irrelevant: 0, unjudged: 0 };
  for (const document of list) numbers[judgment(gradeOf(rankings, document))] += 1;
  return `First ${list.length}: ${numbers.relevant} relevant, ${numbers.irrelevant} not, ${numbers.unjudged} unjudged`;
}

function drawDocument({ rankings, words, ids }, document, rank, there, own) {
  const id = rankings.ids[document];
  const grade = gradeOf(rankings, document);
  const kind = judgment(grade);
  const text = Object.hasOwn(set.documents, id) ? set.documents[id] : undefined;
  const item = element(
    "li",
    { className: kind, id: `document-${own}-${document}` },
    element("span", { className: "rank", textContent: rank || "none" }),
    drawId(id, ids.get(id), text),
    element("span", { className: "mark", title: inWords(grade) }, element("span", { ariaHidden: "true", textContent: `${JUDGED[kind]} ${grade ?? ""}`.trim() }), element("span", { className: "hidden", textContent: inWords(grade) })),
    elsewhere(there.get(document), own, document),
  );
  if (chosen.cutoff && (rank === 0 || rank > chosen.cutoff)) item.classList.add("behind");
  item.dataset.document = document;
  if (text !== undefined) item.append(element("p", { className: "text" }, ...markedText(text, words)));
  if (openItems.has(`${state.q} ${item.id}`)) open(item, true);
  return item;
}

function elsewhere(rank, own, document) {
  const other = own === 0 ? 1 : 0;
  const name = letter(other);
  if (rank === undefined) return element("span", { className: "elsewhere", textContent: `${name} > ${data.depth}`, title: `not among the first ${data.depth} of ${name}` });
  if (rank === 0) return element("span", { className: "elsewhere", textContent: `not in ${name}` });
  const link = element("a", { className: "elsewhere", href: `#document-${other}-${document}`, textContent: `${name} ${rank}` });
  link.setAttribute("aria-label", `${name} ${rank}, the rank of the same document in ${name}`);
  return link;
}

function markdown(i, rankings) {
  const text = (value) => value.replace(/[\\`*_[\]<>#|]/g, "\\$&");
  const lines = [`**${text(set.texts?.[i] || state.q)}** (${text(state.q)})`, "", sentence(i)];
  shownRuns().forEach((run, own) => {
    lines.push("", `${letter(own)}: ${text(set.runs[run])}`, "");
    const shown = [...ranksOf(rankings, run)].filter(([document, rank]) => (rank > 0 && rank <= FIRST) || gradeOf(rankings, document) >= chosen.rel);
    for (const [document, rank] of shown) {
      const grade = gradeOf(rankings, document);
      const mark = grade === undefined ? "unjudged" : grade >= chosen.rel ? `**relevant, ${grade}**` : `not relevant, ${grade}`;
      lines.push(`- ${rank || "not returned"}: ${text(rankings.ids[document])}, ${mark}`);
    }
  });
  return `${lines.join("\n")}\n`;
}

byId("query").addEventListener("click", (event) => {
  const link = event.target.closest("a.elsewhere");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const name = link.getAttribute("href").slice(1);
  if (!byId(name)) {
    all = true;
    drawQuery();
  }
  const target = byId(name);
  if (!target.getClientRects().length) byId("query").querySelectorAll(".switch button")[Number(name.split("-")[1])].click();
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
});

for (const type of ["mouseover", "mouseout", "focusin", "focusout"]) {
  byId("query").addEventListener(type, (event) => {
    const document = event.target.closest("li[data-document]")?.dataset.document;
    const on = type === "mouseover" || type === "focusin";
    for (const item of byId("query").querySelectorAll("li[data-document]")) item.classList.toggle("linked", on && item.dataset.document === document);
  });
}

// A query that a gate names is shown at once.
byId("summary").addEventListener("click", (event) => {
  const link = event.target.closest(".causes a");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  history.pushState(null, "", link.hash);
  readAddress();
  start();
  byId("query").focus({ preventScroll: true });
  byId("query").scrollIntoView({ behavior: "instant", block: "start" });
});
