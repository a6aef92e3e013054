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
  if (byDocument && change && changeHead !== "change") parts.push(`Over all relevant documents ${number(Math.abs(change))} ${change < 0 ? "fewer" : "more"} irrelevant documents above, ${chosen.horizon + 1} where a document is not found.`);
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

function drawQuery() {
  const i = set.ids.indexOf(state.q);
  const place = byId("query");
  if (i < 0) {
    const title = state.q ? `There is no query ${state.q}` : "No query is selected";
    place.replaceChildren(element("h3", { id: "query-title", textContent: title }), element("p", { className: "small", textContent: "Select a query to see what both runs returned." }));
    return;
  }
  const text = set.texts?.[i];
  const rankings = set.rankings?.[i];
  const move = (step, label) => action(step < 0 ? "◀" : "▶", label, () => {
    goTo(current() + step, true);
    byId("query").querySelector(`[aria-label="${label}"]`).focus({ preventScroll: true });
  });
  const link = () => `${location.href.split("#")[0]}${address({ ...DEFAULT, c: state.c, q: state.q })}`;
  const actions = element("div", { className: "actions" }, move(-1, "Previous query"), move(1, "Next query"), action("Copy link", "Copy link", (button) => copy(link(), button)));
  if (rankings) actions.append(action("Copy as Markdown", "Copy as Markdown", (button) => copy(markdown(i, rankings), button)));
  place.replaceChildren(
    element("h3", { id: "query-title", textContent: text || `Query ${state.q}` }),
    element("p", { className: "small" }, ...(text ? [element("code", { textContent: state.q }), " "] : []), sentence(i)),
    actions,
  );
  if (!rankings) {
    place.append(element("p", { className: "small", textContent: "The ranked lists of this query are not part of the page." }));
    return;
  }
  const lists = element("div", { id: "lists" });
  lists.dataset.side = side;
  const buttons = ["A", "B"].map((letter, own) => action(`${letter} · ${own ? chosen.contender : chosen.baseline}`, `Show ${letter}`, () => {
    side = own;
    lists.dataset.side = side;
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", other === side));
  }));
  buttons.forEach((button, own) => button.setAttribute("aria-pressed", own === side));
  for (const own of [0, 1]) lists.append(drawList(rankings, own));
  place.append(element("p", { className: "small", textContent: `✔ relevant with its grade, ✘ judged and not relevant, ? unjudged; at the right the rank in the other run` }));
  place.append(element("div", { className: "switch", role: "group", ariaLabel: "Ranking" }, ...buttons), lists);
  if (Math.max(...runsOf().map((run) => rankings.lists[run].length)) > FIRST) {
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

const runsOf = () => [chosen.baseline, chosen.contender].map((run) => set.runs.indexOf(run));
const gradeOf = (rankings, document) => rankings.grades[document];
const relevantOf = (rankings) => Object.keys(rankings.grades).map(Number).filter((document) => rankings.grades[document] >= chosen.rel);

// Rank of each document that is known of a run; 0 for relevant ones that it did not return.
function ranksOf(rankings, run) {
  const ranks = new Map(rankings.lists[run].map((document, place) => [document, place + 1]));
  for (const [document, rank] of rankings.beyond[run]) ranks.set(document, rank);
  for (const document of relevantOf(rankings)) if (!ranks.has(document)) ranks.set(document, 0);
  return ranks;
}

function drawList(rankings, own) {
  const runs = runsOf();
  const there = ranksOf(rankings, runs[1 - own]);
  const ranked = [...ranksOf(rankings, runs[own])];
  const items = [];
  let cut = !chosen.cutoff;
  for (const [document, rank] of ranked) {
    if (!cut && (rank === 0 || rank > chosen.cutoff)) {
      items.push(element("li", { className: "cut", textContent: `cutoff ${chosen.cutoff}` }));
      cut = true;
    }
    if (rank > 0 && rank <= data.depth && rank > FIRST && !all && !there.has(document)) continue;
    if (rank > FIRST && rank <= data.depth && !all && !(gradeOf(rankings, document) >= chosen.rel)) continue;
    items.push(drawDocument(rankings, document, rank, there, own));
  }
  if (!rankings.lists[runs[own]].length) items.unshift(element("li", { className: "cut", textContent: "This run returned nothing." }));
  if (!cut) items.push(element("li", { className: "cut", textContent: `cutoff ${chosen.cutoff}` }));
  return element(
    "section",
    { "aria-labelledby": `list-${own}` },
    element("h4", { id: `list-${own}`, className: `key ${own ? "contender" : "baseline"}`, textContent: `${"AB"[own]} · ${own ? chosen.contender : chosen.baseline}` }),
    element("ol", {}, ...items),
  );
}

function drawDocument(rankings, document, rank, there, own) {
  const id = rankings.ids[document];
  const grade = gradeOf(rankings, document);
  const kind = grade === undefined ? "unjudged" : grade >= chosen.rel ? "relevant" : "irrelevant";
  const mark = { relevant: `✔ ${grade}`, irrelevant: `✘ ${grade}`, unjudged: "?" }[kind];
  const words = { relevant: `relevant, grade ${grade}`, irrelevant: `judged not relevant, grade ${grade}`, unjudged: "unjudged" }[kind];
  const item = element(
    "li",
    { className: kind, id: `document-${own}-${document}` },
    element("span", { className: "rank", textContent: rank || "none" }),
    element("span", { className: "id", textContent: id, title: id }),
    element("span", { className: "mark", title: words }, element("span", { ariaHidden: "true", textContent: mark }), element("span", { className: "hidden", textContent: words })),
    elsewhere(there.get(document), own, document),
  );
  if (chosen.cutoff && (rank === 0 || rank > chosen.cutoff)) item.classList.add("behind");
  item.dataset.document = document;
  if (Object.hasOwn(set.documents, id)) item.append(element("p", { className: "text", textContent: set.documents[id] }));
  return item;
}

function elsewhere(rank, own, document) {
  const letter = own ? "A" : "B";
  if (rank === undefined) return element("span", { className: "elsewhere", textContent: `${letter} > ${data.depth}`, title: `not among the first ${data.depth} of ${letter}` });
  if (rank === 0) return element("span", { className: "elsewhere", textContent: `not in ${letter}` });
  const link = element("a", { className: "elsewhere", href: `#document-${1 - own}-${document}`, textContent: `${letter} ${rank}` });
  link.setAttribute("aria-label", `${letter} ${rank}, the rank of the same document in ${letter}`);
  return link;
}

function markdown(i, rankings) {
  const text = (value) => value.replace(/[\\`*_[\]<>#|]/g, "\\$&");
  const lines = [`**${text(set.texts?.[i] || state.q)}** (${text(state.q)})`, "", sentence(i)];
  runsOf().forEach((run, own) => {
    lines.push("", `${"AB"[own]}: ${text(own ? chosen.contender : chosen.baseline)}`, "");
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
