// The queries of the chosen comparison and the ranked lists of one. All text is set with textContent, so it is never markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const opened = []; // what was unfolded for paper

  function unfold() {
    const target = location.hash.length > 1 && !location.hash.includes("=") ? byId(location.hash.slice(1)) : null;
    if (target?.tagName === "DETAILS") target.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();
  if (!data.comparisons.length) return;

  const EXTRA = 12; // rows that are drawn above and below those in view
  const PRINTED = 25; // rows on paper
  const FIRST = 10; // documents of a list that are shown at once
  const MOST_UNFOLDED = 3; // comparisons that are all unfolded on paper
  const SIGNS = { better: "▲ ", worse: "▼ ", same: "" };

  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === undefined) continue;
      if (name in made) made[name] = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  function picture(tag, properties, ...children) {
    const made = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
    for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const count = (number, noun = "query", nouns = "queries") => `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;

  function number(value, signed) {
    if (value === null) return "none";
    const size = Math.abs(value);
    const text = Number.isInteger(value) ? String(size) : size < 0.005 ? size.toPrecision(1) : size.toFixed(2);
    return (value < 0 ? "−" : signed && value > 0 ? "+" : "") + text;
  }

  // ---- the chosen comparison

  let chosen, set, byDocument, changeHead;
  let printing = false;

  function choose(place) {
    chosen = data.comparisons[place];
    set = data.sets[chosen.set];
    byDocument = chosen.unit === "document";
    changeHead = byDocument && chosen.horizon ? "change, all" : "change";
  }

  const kindOf = (i) => (chosen.bin[i] < 0 ? ["neither", "same"] : chosen.bins[chosen.bin[i]]);
  const lengthOf = (side, i) => (side ? chosen.b : chosen.a)[i];

  // What a run found of the relevant documents: "1 of 7" where their number is known, otherwise in percent.
  function found(i, side) {
    const share = chosen.found[i][side];
    const relevant = set.relevant?.[i];
    return relevant ? `${Math.round(share * relevant)} of ${relevant}` : `${number(Math.round(1000 * share) / 10)} %`;
  }

  // ---- state, kept in the address

  const DEFAULT = { c: 0, q: "", s: "", bin: "", slice: "", sort: "size", at: "" };
  let state = { ...DEFAULT };

  function readAddress() {
    const hash = location.hash.slice(1);
    if (hash && !hash.includes("=")) return false;
    const given = new URLSearchParams(hash);
    state = { ...DEFAULT };
    for (const name of Object.keys(DEFAULT)) if (given.has(name)) state[name] = given.get(name);
    state.c = Number(state.c);
    if (!data.comparisons[state.c]) state.c = DEFAULT.c;
    return Boolean(hash);
  }

  const address = (values) => `#${new URLSearchParams(Object.entries(values).filter(([name, value]) => value !== DEFAULT[name]))}`;

  // A step is something to go back from; typing and filters only change the present one.
  function writeAddress(step) {
    const hash = address(state);
    if (hash === location.hash || (hash === "#" && !location.hash)) return;
    try {
      history[step ? "pushState" : "replaceState"](null, "", hash === "#" ? location.href.split("#")[0] : hash);
    } catch {
      // a page inside of another has no address of its own
    }
  }

  // ---- which queries are listed, in which order

  let listed = []; // indices of queries

  const lengths = (side) => ({
    key: "ab"[side],
    head: byDocument ? `length ${"AB"[side]}` : "AB"[side],
    title: `${"AB"[side]}: ${byDocument ? "search length on what both found" : "rank of the first answer"}, ${side ? chosen.contender : chosen.baseline}`,
    order: (i) => lengthOf(side, i) ?? Infinity,
    text: (i) => number(lengthOf(side, i)),
    number: true,
  });
  const shares = (side) => ({
    key: `found-${"ab"[side]}`,
    head: `found ${"AB"[side]}`,
    title: `relevant documents that ${side ? chosen.contender : chosen.baseline} found`,
    order: (i) => -chosen.found[i][side],
    text: (i) => found(i, side),
    number: true,
  });

  function columns() {
    const change = {
      key: "change",
      head: changeHead,
      title: changeHead === "change" ? `change: B minus A${chosen.horizon ? `, none counts as ${chosen.horizon + 1}` : ""}` : `change: B minus A over all relevant documents, ${chosen.horizon + 1} where nothing is found`,
      order: (i) => chosen.change[i] ?? Infinity,
      text: (i) => number(chosen.change[i], true),
      number: true,
    };
    const query = { key: "id", head: "query", order: (i) => set.ids[i] };
    return byDocument ? [query, shares(0), shares(1), lengths(0), lengths(1), change] : [query, lengths(0), lengths(1), change];
  }

  function update() {
    const words = state.s.toLowerCase().split(/\s+/).filter(Boolean);
    const bins = state.bin ? state.bin.split(",") : null;
    const at = state.at ? state.at.split(",").map(Number) : null;
    listed = [];
    set.ids.forEach((id, i) => {
      if (bins && !bins.includes(kindOf(i)[0])) return;
      if (state.slice && set.slices?.[i] !== state.slice) return;
      if (at && !(chosen.a[i] === at[0] && chosen.b[i] === at[1])) return;
      if (words.length) {
        const text = `${id} ${set.texts?.[i] ?? ""}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) return;
      }
      listed.push(i);
    });
    if (state.sort === "size") {
      listed.sort((i, j) => Math.abs(chosen.change[j] ?? 0) - Math.abs(chosen.change[i] ?? 0) || i - j);
    } else {
      const sign = state.sort.startsWith("-") ? -1 : 1;
      const column = columns().find((item) => item.key === state.sort.replace(/^-/, "")) ?? columns()[0];
      const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a === b ? 0 : a < b ? -1 : 1);
      listed.sort((i, j) => sign * compare(column.order(i), column.order(j)) || i - j);
    }
    const order = state.sort === "size" ? ", largest change first" : "";
    const filters = [state.bin.replaceAll(",", ", "), state.slice, at ? `search lengths ${at.map((length) => number(length)).join(" and ")}` : ""].filter(Boolean);
    byId("count").textContent = `${filters.length ? `${filters.join("; ")}: ` : ""}${listed.length.toLocaleString("en")} of ${count(set.ids.length)}${order}`;
    drawHistogram();
    drawHeads();
    drawControls();
    byId("list").scrollTop = 0;
    drawRows();
    writeAddress(false);
  }

  // ---- the histogram

  function drawHistogram() {
    const numbers = chosen.bins.map(() => 0);
    let neither = 0;
    for (const bin of chosen.bin) {
      if (bin < 0) neither += 1;
      else numbers[bin] += 1;
    }
    const sum = (tone) => numbers.reduce((total, many, place) => total + (chosen.bins[place][1] === tone ? many : 0), 0);
    const changed = numbers.filter((_, place) => chosen.bins[place][1] !== "same");
    const most = Math.max(1, ...changed);
    const tallest = Math.min(Math.max(most, ...numbers), 1.25 * most); // the bar of "same" is broken where it is much taller
    byId("sides").replaceChildren(
      element("span", { className: "worse", textContent: `▼ ${chosen.baseline} better: ${count(sum("worse"))}` }),
      element("span", { textContent: `same: ${sum("same").toLocaleString("en")}` }),
      element("span", { className: "better", textContent: `${chosen.contender} better: ${count(sum("better"))} ▲` }),
    );
    const pressed = state.bin ? state.bin.split(",") : [];
    byId("histogram").replaceChildren(
      ...chosen.bins.map(([name, tone], place) => {
        const bar = element("span", { className: numbers[place] > tallest ? "bar broken" : "bar" });
        bar.style.height = `${(100 * Math.min(numbers[place], tallest)) / tallest}%`;
        const button = element(
          "button",
          { type: "button", className: tone },
          element("b", { textContent: numbers[place].toLocaleString("en") }),
          element("span", { className: "well" }, bar),
          element("span", { className: "name", textContent: name }),
        );
        button.setAttribute("aria-pressed", pressed.includes(name));
        button.setAttribute("aria-label", `${name}: ${count(numbers[place])}`);
        button.dataset.bin = name;
        return button;
      }),
    );
    const what = {
      query: "Won and lost: only B, or only A, answers the query. Up and down: both do, B so many ranks higher or lower.",
      document: "Won and lost: B found more, or fewer, of the relevant documents. Up and down: it found as many, with so many fewer or more irrelevant documents above them on average.",
      share: "More and fewer: B found so many points more, or fewer, of the relevant documents. Higher and lower: it found as many, on average higher or lower.",
      measure: `Won and lost: only B, or only A, is above 0. Up and down: change of ${chosen.measure}.`,
    }[chosen.measure !== null ? "measure" : chosen.by_share ? "share" : chosen.unit];
    const none = neither ? ` Neither run finds anything on ${count(neither)}, which ${neither === 1 ? "is" : "are"} only in the list.` : "";
    byId("meaning").textContent = `Each bar is a button: it lists its queries below. ${what}${none}`;
    byId("chosen")?.replaceChildren(element("span", { className: `label ${chosen.tone}`, textContent: (SIGNS[chosen.tone] ?? "") + chosen.label }));
  }

  byId("histogram").addEventListener("click", (event) => {
    const name = event.target.closest("button")?.dataset.bin;
    if (!name) return;
    state = { ...state, bin: state.bin === name ? "" : name, at: "" };
    update();
    byId("histogram").querySelector(`[data-bin="${CSS.escape(name)}"]`).focus();
  });

  // ---- the list: only the rows in view exist

  function drawHeads() {
    const heads = columns().map((column) => {
      const sorted = { [column.key]: "ascending", [`-${column.key}`]: "descending" }[state.sort];
      const head = element("th", { scope: "col", className: `c-${column.key}${column.number ? " number" : ""}` });
      if (sorted) head.setAttribute("aria-sort", sorted);
      const button = element(printing ? "span" : "button", { type: printing ? undefined : "button", textContent: column.head + (sorted ? { ascending: " ▲", descending: " ▼" }[sorted] : "") });
      if (column.title) button.title = column.title;
      button.dataset.sort = column.key;
      head.append(button);
      return head;
    });
    if (!byDocument && chosen.measure === null) {
      heads.splice(1, 0, element("th", { scope: "col", className: "c-ranks", textContent: "none … 1" }));
    }
    byId("heads").replaceChildren(...heads);
  }

  byId("heads").addEventListener("click", (event) => {
    const key = event.target.closest("button")?.dataset.sort;
    if (!key) return;
    state.sort = state.sort === key ? `-${key}` : state.sort === `-${key}` ? "size" : key;
    update();
    byId("heads").querySelector(`[data-sort="${key}"]`).focus();
  });

  // Both ranks on a line, rank 1 at the right; what is not found stands behind a line at the left.
  function drawRanks(i) {
    const last = Math.max(2, chosen.horizon ?? chosen.a.reduce((most, rank) => Math.max(most, rank ?? 0), 2));
    const place = (rank) => (rank === null ? 6 : 114 - (96 * Math.log(Math.min(rank, last))) / Math.log(last));
    const a = place(chosen.a[i]), b = place(chosen.b[i]);
    return picture(
      "svg", { viewBox: "0 0 120 20", width: 120, height: 20, "aria-hidden": "true" },
      picture("line", { class: "grid", x1: 12, x2: 12, y1: 2, y2: 18 }),
      picture("line", { class: `change ${kindOf(i)[1]}`, x1: a, x2: b, y1: 10, y2: 10 }),
      picture("circle", { class: "dot contender", cx: b, cy: 10, r: 5 }),
      picture("circle", { class: "dot baseline", cx: a, cy: 10, r: 4 }),
    );
  }

  const current = () => Math.max(0, listed.findIndex((i) => set.ids[i] === state.q));

  function makeRow(place) {
    const i = listed[place];
    const id = set.ids[i];
    const link = element("a", { href: address({ ...state, q: id }), textContent: set.texts?.[i] || id, tabIndex: place === current() ? 0 : -1 });
    const name = element("td", { className: "c-id" }, link);
    const [kind, tone] = kindOf(i);
    const below = element("span", { className: "below" }, element("span", { className: `kind ${tone}`, textContent: SIGNS[tone] + kind }));
    if (set.texts?.[i]) {
      link.title = set.texts[i];
      below.append(" · ", element("span", { className: "id", textContent: id }));
    }
    name.append(below);
    const row = element("tr", { className: id === state.q ? "selected" : "", "aria-rowindex": place + 2 }, name);
    for (const column of columns().slice(1)) {
      row.append(element("td", { className: `c-${column.key}${column.number ? " number" : ""}`, textContent: column.text(i) }));
    }
    if (!byDocument && chosen.measure === null) row.insertBefore(element("td", { className: "c-ranks" }, drawRanks(i)), row.children[1]);
    if (id === state.q) link.setAttribute("aria-current", "true");
    row.dataset.id = id;
    row.dataset.place = place;
    return row;
  }

  function spacer(height) {
    const row = element("tr", { className: "spacer", ariaHidden: "true" }, element("td"));
    row.firstChild.style.height = `${height}px`;
    return row;
  }

  let drawn = 0;
  const rowHeight = () => byId("rows").querySelector("tr[data-place]")?.getBoundingClientRect().height || 48;
  const firstRow = () => Math.max(0, Math.floor(byId("list").scrollTop / rowHeight()) - EXTRA);

  function drawRows() {
    const list = byId("list");
    const rows = byId("rows");
    list.querySelector("table").setAttribute("aria-rowcount", listed.length + 1);
    if (!listed.length) {
      rows.replaceChildren(element("tr", {}, element("td", { colSpan: 9, className: "nothing", textContent: "No query is like this. Reset shows all." })));
      return;
    }
    const height = rowHeight();
    const first = printing ? 0 : firstRow();
    const last = Math.min(listed.length, printing ? PRINTED : first + Math.ceil(innerHeight / height) + 2 * EXTRA);
    const focused = rows.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.place : undefined;
    const made = [];
    for (let place = first; place < last; place += 1) made.push(makeRow(place));
    const rest = printing ? 0 : listed.length - last;
    rows.replaceChildren(spacer(first * height), ...made, spacer(rest * height));
    drawn = first;
    if (focused !== undefined) rows.querySelector(`tr[data-place="${focused}"] a`)?.focus({ preventScroll: true });
    const real = made[0].getBoundingClientRect().height;
    if (Math.abs(real - height) > 0.5) {
      rows.firstChild.firstChild.style.height = `${first * real}px`;
      rows.lastChild.firstChild.style.height = `${rest * real}px`;
    }
  }

  let waiting = false;
  byId("list").addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (Math.abs(firstRow() - drawn) >= EXTRA / 2) drawRows();
    });
  });
  addEventListener("resize", () => drawRows());

  function showPlace(place) {
    const list = byId("list");
    const height = rowHeight();
    const head = byId("heads").getBoundingClientRect().height;
    if (place * height < list.scrollTop) list.scrollTop = place * height;
    else if ((place + 1) * height + head > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * height + head - list.clientHeight;
    drawRows();
  }

  byId("rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-place]");
    if (!row || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // those are the browser's
    event.preventDefault();
    select(row.dataset.id, true);
  });

  byId("rows").addEventListener("keydown", (event) => {
    const place = Number(event.target.closest("tr[data-place]")?.dataset.place);
    const page = Math.max(1, Math.floor(byId("list").clientHeight / rowHeight()) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -listed.length, End: listed.length }[event.key];
    if (step === undefined || Number.isNaN(place)) return;
    event.preventDefault();
    const next = goTo(place + step, false);
    byId("rows").querySelector(`tr[data-place="${next}"] a`)?.focus({ preventScroll: true });
  });

  function goTo(place, step) {
    const next = Math.min(listed.length - 1, Math.max(0, place));
    select(set.ids[listed[next]], false, step);
    showPlace(next);
    return next;
  }

  // ---- one query

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
      if (a !== null && b !== null) parts.push(`Search length on what both found: A ${number(a)}, B ${number(b)}.`);
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
      place.append(action(all ? `Show ${FIRST} documents` : `Show ${data.depth} documents`, "Number of documents", () => {
        all = !all;
        drawQuery();
        byId("query").querySelector("[aria-label='Number of documents']").focus({ preventScroll: true });
      }));
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

  // ---- controls

  function drawControls() {
    if (byId("words").value !== state.s) byId("words").value = state.s;
    if (byId("which")) byId("which").value = state.c;
    const slice = byId("slice");
    if (slice) {
      const names = [...new Set((set.slices ?? []).filter((name) => name !== null))].sort();
      slice.replaceChildren(element("option", { value: "", textContent: "all slices" }), ...names.map((name) => element("option", { value: name, textContent: name })));
      slice.value = state.slice;
    }
    byId("reset").hidden = !(state.s || state.bin || state.slice || state.at || state.sort !== "size");
    for (const mark of document.querySelectorAll(".point")) {
      const here = mark.parentNode.dataset.comparison === String(state.c) && `${Number(mark.dataset.a)},${Number(mark.dataset.b)}` === state.at;
      mark.classList.toggle("selected", here);
    }
  }

  for (const [id, type, name] of [["words", "input", "s"], ["slice", "change", "slice"]]) {
    byId(id)?.addEventListener(type, () => {
      state[name] = byId(id).value;
      update();
    });
  }
  byId("which")?.addEventListener("change", () => {
    state = { ...state, c: Number(byId("which").value), at: "", slice: "", bin: "" };
    start();
  });
  byId("reset").addEventListener("click", () => {
    state = { ...DEFAULT, c: state.c, q: state.q };
    start();
    byId("words").focus();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());

  for (const chart of document.querySelectorAll(".scatter")) {
    chart.addEventListener("click", (event) => {
      const point = event.target.closest(".point");
      if (!point || !data.comparisons[chart.dataset.comparison]) return;
      state = { ...DEFAULT, c: Number(chart.dataset.comparison), at: `${Number(point.dataset.a)},${Number(point.dataset.b)}` };
      start();
      select(set.ids[listed[0]], false);
      byId("filters").scrollIntoView();
    });
  }

  // ---- paper, and the beginning

  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      if (details.matches(".comparison") && data.comparisons.length > MOST_UNFOLDED) continue;
      details.open = true;
      opened.push(details);
    }
    printing = true;
    drawHeads();
    drawRows();
    if (listed.length > PRINTED) byId("count").textContent += `; the first ${PRINTED} are printed`;
  });
  addEventListener("afterprint", () => {
    for (const details of opened.splice(0)) details.open = false;
    printing = false;
    update();
  });

  function start() {
    choose(state.c);
    update();
    if (!state.q && listed.length && matchMedia("(min-width: 56.25rem)").matches) {
      state.q = set.ids[listed[0]]; // the second pane is never empty
      drawRows();
    }
    drawQuery();
    if (state.q && listed.some((i) => set.ids[i] === state.q)) showPlace(current());
  }

  addEventListener("popstate", () => {
    if (location.hash && !location.hash.includes("=")) return;
    readAddress();
    start();
  });
  const linked = readAddress();
  start();
  if (linked && state.q) byId("query").scrollIntoView({ behavior: "instant", block: "nearest" });
})();
