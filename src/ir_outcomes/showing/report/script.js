// The list of queries and the ranked lists of one query. All text is set with textContent, so it is never markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const comparisons = data.comparisons.filter((item) => item.queries);
  const byId = (id) => document.getElementById(id);
  if (!comparisons.length) return;

  const EXTRA = 12; // rows that are drawn above and below those in view
  const PRINTED = 100; // rows on paper
  const MOST_UNFOLDED = 3; // comparisons that are all unfolded on paper
  const KINDS = {
    won: ["▲ won", "better"],
    lost: ["▼ lost", "worse"],
    better: ["↑ better", "better"],
    worse: ["↓ worse", "worse"],
    equal: ["= equal", "same"],
    neither: ["○ neither", "same"],
  };

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

  // ---- values of the chosen comparison

  let chosen, set, settings, kinds, changes; // changes: by how much each query changes, for sorting; positive is worse

  function choose(number) {
    chosen = data.comparisons[number];
    set = data.sets[chosen.set];
    settings = chosen.comparison;
    const { outcome, baseline, contender, difference, found_baseline, found_contender } = chosen.queries;
    const direction = settings.ranking.higher_is_better ? -1 : 1;
    const known = [...baseline, ...contender].filter((length) => length !== null);
    const missing = 1 + known.reduce((most, length) => Math.max(most, length), settings.settings.cutoff ?? 0);
    kinds = outcome.map((name, i) => {
      if (name !== "both") return name;
      const change = direction * (difference[i] ?? 0);
      return change < 0 ? "better" : change > 0 ? "worse" : "equal";
    });
    changes = outcome.map((name, i) => {
      if (name === "won" || name === "lost") {
        const share = found_baseline[i] - found_contender[i];
        const length = (name === "won" ? contender : baseline)[i] ?? missing;
        return share * (missing - Math.min(length, missing - 1));
      }
      return direction * (difference[i] ?? 0);
    });
  }

  // ---- state, kept in the address

  const DEFAULT = { c: comparisons.length ? data.comparisons.indexOf(comparisons[0]) : 0, q: "", s: "", o: "", slice: "", sort: "size", at: "" };
  let state = { ...DEFAULT };

  function readAddress() {
    const hash = location.hash.slice(1);
    if (!hash.includes("=")) return false;
    const given = new URLSearchParams(hash);
    state = { ...DEFAULT };
    for (const name of Object.keys(DEFAULT)) if (given.has(name)) state[name] = given.get(name);
    state.c = Number(state.c);
    if (!data.comparisons[state.c]?.queries) state.c = DEFAULT.c;
    return true;
  }

  function writeAddress() {
    const kept = Object.entries(state).filter(([name, value]) => value !== DEFAULT[name]);
    const hash = `#${new URLSearchParams(kept)}`;
    if (hash === location.hash || (hash === "#" && !location.hash)) return;
    try {
      history.replaceState(null, "", hash === "#" ? location.href.split("#")[0] : hash);
    } catch {
      // a page inside of another has no address of its own
    }
  }

  // ---- which queries are listed, in which order

  let listed = []; // indices of queries

  const COLUMNS = [
    { key: "id", head: () => "query", order: (i) => set.ids[i] },
    { key: "outcome", head: () => "outcome", order: (i) => Object.keys(KINDS).indexOf(kinds[i]) },
    { key: "a", head: () => "A", title: () => `A: search length of ${settings.baseline}`, order: (i) => chosen.queries.baseline[i] ?? Infinity, number: true },
    { key: "b", head: () => "B", title: () => `B: search length of ${settings.contender}`, order: (i) => chosen.queries.contender[i] ?? Infinity, number: true },
    { key: "change", head: () => "change", title: () => "change: B minus A", order: (i) => changes[i], number: true },
  ];

  function update() {
    const words = state.s.toLowerCase().split(/\s+/).filter(Boolean);
    const outcomes = state.o ? state.o.split(",") : null;
    const at = state.at ? state.at.split(",").map(Number) : null;
    listed = [];
    set.ids.forEach((id, i) => {
      if (outcomes && !outcomes.includes(kinds[i])) return;
      if (state.slice && set.slices?.[i] !== state.slice) return;
      if (at && !(chosen.queries.baseline[i] === at[0] && chosen.queries.contender[i] === at[1] && chosen.queries.difference[i] !== null)) return;
      if (words.length) {
        const text = `${id} ${set.texts?.[i] ?? ""}`.toLowerCase();
        if (!words.every((word) => text.includes(word))) return;
      }
      listed.push(i);
    });
    if (state.sort === "size") {
      listed.sort((i, j) => Math.abs(changes[j]) - Math.abs(changes[i]) || i - j);
    } else {
      const sign = state.sort.startsWith("-") ? -1 : 1;
      const column = COLUMNS.find((item) => item.key === state.sort.replace("-", "")) ?? COLUMNS[0];
      const values = new Map(listed.map((i) => [i, column.order(i)]));
      const compare = typeof values.values().next().value === "string"
        ? (a, b) => a.localeCompare(b, "en", { numeric: true })
        : (a, b) => (a === b ? 0 : a < b ? -1 : 1);
      listed.sort((i, j) => sign * compare(values.get(i), values.get(j)) || i - j);
    }
    const order = state.sort === "size" ? ", the largest change first" : "";
    byId("count").textContent = `${listed.length.toLocaleString("en")} of ${set.ids.length.toLocaleString("en")} ${set.ids.length === 1 ? "query" : "queries"}${order}`;
    byId("meaning").textContent = settings.settings.unit === "document"
      ? "Won and lost: B found more, or fewer, of the query's relevant documents than A. Better and worse: it found as many, and read less, or more, to find them."
      : "Won and lost: only B, or only A, answered the query. Better and worse: both did, and B read less, or more.";
    drawHeads();
    drawControls();
    byId("list").scrollTop = 0;
    drawRows();
    writeAddress();
  }

  // ---- the list: only the rows in view exist

  const number = (value, signed) => {
    if (value === null) return "-";
    const text = Number.isInteger(value) ? String(Math.abs(value)) : Math.abs(value).toFixed(2);
    return (value < 0 ? "-" : signed && value > 0 ? "+" : "") + text;
  };

  function drawHeads() {
    byId("heads").replaceChildren(
      ...COLUMNS.map((column) => {
        const ascending = state.sort === column.key;
        const descending = state.sort === `-${column.key}`;
        const head = element("th", { scope: "col", className: `c-${column.key}${column.number ? " number" : ""}` });
        if (ascending || descending) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        const button = element("button", { type: "button", textContent: column.head() + (ascending ? " ▲" : descending ? " ▼" : "") });
        if (column.title) {
          button.title = column.title();
          button.setAttribute("aria-label", column.title());
        }
        button.dataset.sort = column.key;
        head.append(button);
        return head;
      }),
    );
  }

  byId("heads").addEventListener("click", (event) => {
    const key = event.target.closest("button")?.dataset.sort;
    if (!key) return;
    state.sort = state.sort === key ? `-${key}` : state.sort === `-${key}` ? "size" : key;
    update();
    byId("heads").querySelector(`[data-sort="${key}"]`).focus();
  });

  function makeRow(place) {
    const i = listed[place];
    const { baseline, contender, difference } = chosen.queries;
    const id = set.ids[i];
    const link = element("a", { href: `#${new URLSearchParams({ q: id })}`, textContent: id, tabIndex: place === current() ? 0 : -1 });
    const name = element("td", {}, link);
    if (set.texts?.[i]) name.append(element("span", { className: "words", textContent: set.texts[i], title: set.texts[i] }));
    const row = element(
      "tr",
      { className: id === state.q ? "selected" : "", "aria-rowindex": place + 2 },
      name,
      element("td", {}, element("span", { className: `kind ${KINDS[kinds[i]][1]}`, textContent: KINDS[kinds[i]][0] })),
      element("td", { className: "number", textContent: number(baseline[i]) }),
      element("td", { className: "number", textContent: number(contender[i]) }),
      element("td", { className: "number", textContent: number(difference[i], true) }),
    );
    if (id === state.q) link.setAttribute("aria-current", "true");
    row.dataset.place = place;
    return row;
  }

  const current = () => Math.max(0, listed.findIndex((i) => set.ids[i] === state.q));

  function spacer(rows, height) {
    const row = element("tr", { className: "spacer", ariaHidden: "true" }, element("td"));
    row.firstChild.style.height = `${rows * height}px`;
    return row;
  }

  let printing = false;
  let drawn = "";

  function drawRows() {
    const list = byId("list");
    const rows = byId("rows");
    list.querySelector("table").setAttribute("aria-rowcount", listed.length + 1);
    const height = rows.querySelector("tr:not(.spacer)")?.getBoundingClientRect().height || 38.4;
    const visible = Math.ceil(innerHeight / height);
    const first = printing ? 0 : Math.max(0, Math.floor(list.scrollTop / height) - EXTRA);
    const last = Math.min(listed.length, printing ? PRINTED : first + visible + 2 * EXTRA);
    const focused = rows.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.place : undefined;
    const made = [];
    for (let place = first; place < last; place += 1) made.push(makeRow(place));
    const rest = printing ? 0 : listed.length - last;
    rows.replaceChildren(spacer(first, height), ...made, spacer(rest, height));
    drawn = `${first}`;
    if (focused !== undefined) rows.querySelector(`tr[data-place="${focused}"] a`)?.focus({ preventScroll: true });
    const real = made[0]?.getBoundingClientRect().height;
    if (real && Math.abs(real - height) > 0.5) {
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
      const height = byId("rows").querySelector("tr:not(.spacer)")?.getBoundingClientRect().height || 38.4;
      const first = Math.max(0, Math.floor(byId("list").scrollTop / height) - EXTRA);
      if (Math.abs(first - Number(drawn)) >= EXTRA / 2) drawRows();
    });
  });
  addEventListener("resize", () => drawRows());

  function showPlace(place) {
    const list = byId("list");
    const height = byId("rows").querySelector("tr:not(.spacer)")?.getBoundingClientRect().height || 38.4;
    const head = byId("heads").getBoundingClientRect().height;
    if (place * height < list.scrollTop) list.scrollTop = place * height;
    else if ((place + 1) * height + head > list.scrollTop + list.clientHeight) list.scrollTop = (place + 1) * height + head - list.clientHeight;
    drawRows();
  }

  byId("rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-place]");
    if (!row) return;
    event.preventDefault();
    select(set.ids[listed[Number(row.dataset.place)]], true);
  });

  byId("rows").addEventListener("keydown", (event) => {
    const place = Number(event.target.closest("tr[data-place]")?.dataset.place);
    const page = Math.max(1, Math.floor(byId("list").clientHeight / 40) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -listed.length, End: listed.length }[event.key];
    if (step === undefined || Number.isNaN(place)) return;
    event.preventDefault();
    const next = Math.min(listed.length - 1, Math.max(0, place + step));
    select(set.ids[listed[next]], false);
    showPlace(next);
    byId("rows").querySelector(`tr[data-place="${next}"] a`)?.focus({ preventScroll: true });
  });

  // ---- one query

  function select(id, moveFocus) {
    state.q = id;
    drawRows();
    drawQuery();
    writeAddress();
    if (moveFocus && id) {
      byId("query").focus({ preventScroll: true });
      byId("query").scrollIntoView({ block: "nearest" });
    }
  }

  function sentence(i) {
    const { outcome, baseline, contender, difference, found_baseline, found_contender } = chosen.queries;
    const percent = (share) => `${number(100 * share)} %`;
    const parts = [];
    if (settings.settings.unit === "document") {
      parts.push(`Of the relevant documents, ${settings.baseline} (A) found ${percent(found_baseline[i])} and ${settings.contender} (B) ${percent(found_contender[i])}.`);
    } else {
      parts.push({
        won: `Only ${settings.contender} (B) answered it.`,
        lost: `Only ${settings.baseline} (A) answered it.`,
        neither: "Neither run answered it.",
        both: "Both runs answered it.",
      }[outcome[i]]);
    }
    const unit = settings.ranking.measured_in;
    if (difference[i] !== null) parts.push(`On what both found: ${number(baseline[i])} and ${number(contender[i])} ${unit}, a change of ${number(difference[i], true)}.`);
    else if (outcome[i] !== "neither") parts.push(`Search length of A: ${number(baseline[i])}, of B: ${number(contender[i])}.`);
    return parts.join(" ");
  }

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
    place.replaceChildren(
      element("h3", { id: "query-title", textContent: text ? `${state.q}: ${text}` : `Query ${state.q}` }),
      element("p", {}, element("span", { className: `kind ${KINDS[kinds[i]][1]}`, textContent: `${KINDS[kinds[i]][0]}. ` }), sentence(i)),
    );
    if (!rankings) {
      place.append(element("p", { className: "small", textContent: "The ranked lists of this query are not part of the page." }));
      return;
    }
    const sides = [settings.baseline, settings.contender].map((run) => set.runs.indexOf(run));
    const lists = element("div", { id: "lists" });
    sides.forEach((run, side) => lists.append(drawList(rankings, run, sides[1 - side], side)));
    place.append(lists);
  }

  const relevantOf = (rankings) => Object.keys(rankings.grades).map(Number).filter((document) => rankings.grades[document] >= settings.settings.rel);

  function ranksOf(rankings, run) {
    const ranks = new Map(rankings.lists[run].map((document, place) => [document, place + 1]));
    for (const [document, rank] of rankings.beyond[run]) ranks.set(document, rank);
    for (const document of relevantOf(rankings)) if (!ranks.has(document)) ranks.set(document, 0);
    return ranks;
  }

  function drawList(rankings, run, opposite, side) {
    const heading = `list-${side}`;
    const there = ranksOf(rankings, opposite);
    const items = rankings.lists[run].map((document, place) => drawDocument(rankings, document, place + 1, there, side));
    const own = ranksOf(rankings, run);
    const absent = relevantOf(rankings).filter((document) => own.get(document) === 0).map((document) => [document, 0]);
    const further = [...rankings.beyond[run], ...absent];
    if (!items.length) items.push(element("li", { className: "further", textContent: "This run returned nothing." }));
    if (further.length) {
      items.push(element("li", { className: "further", textContent: `Relevant documents after rank ${data.depth}; -: not returned` }));
      items.push(...further.map(([document, rank]) => drawDocument(rankings, document, rank, there, side)));
    }
    const letter = side ? "B" : "A";
    return element(
      "section",
      { "aria-labelledby": heading },
      element("h4", { id: heading }, element("span", { className: `key ${side ? "contender" : "baseline"}`, textContent: `${letter}: ${side ? settings.contender : settings.baseline}` })),
      element("ol", {}, ...items),
    );
  }

  function drawDocument(rankings, document, rank, there, side) {
    const id = rankings.ids[document];
    const grade = rankings.grades[document];
    const kind = grade === undefined ? "unjudged" : grade >= settings.settings.rel ? "relevant" : "irrelevant";
    const mark = { relevant: `✔ relevant, grade ${grade}`, irrelevant: `✘ not relevant, grade ${grade}`, unjudged: "? unjudged" }[kind];
    const item = element(
      "li",
      { className: kind, id: `document-${side}-${document}` },
      element("span", { className: "rank", textContent: rank || "-" }),
      element("div", {}, element("span", { className: "id", textContent: id }), element("span", { className: "mark", textContent: mark }), elsewhere(there.get(document), side, document)),
    );
    item.dataset.document = document;
    const text = set.documents[id];
    if (text) item.append(element("p", { className: "text", textContent: text }));
    return item;
  }

  function elsewhere(rank, side, document) {
    const letter = side ? "A" : "B";
    if (rank === undefined) return element("span", { className: "elsewhere", textContent: `not in ${letter}'s first ${data.depth}` });
    if (rank === 0) return element("span", { className: "elsewhere", textContent: `not in ${letter}` });
    const link = element("a", { className: "elsewhere", href: `#document-${1 - side}-${document}`, textContent: `${letter}: ${rank}` });
    link.setAttribute("aria-label", `${letter}: ${rank}, the rank of the same document in ${letter}`);
    return link;
  }

  byId("query").addEventListener("click", (event) => {
    const link = event.target.closest("a.elsewhere");
    if (!link) return;
    event.preventDefault();
    const target = byId(link.getAttribute("href").slice(1));
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

  const filters = byId("filters");

  function drawControls() {
    const counts = {};
    for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
    const outcomes = state.o ? state.o.split(",") : [];
    byId("outcomes").querySelectorAll("input").forEach((box) => {
      box.checked = outcomes.includes(box.value);
      box.nextSibling.textContent = `${KINDS[box.value][0]} (${(counts[box.value] ?? 0).toLocaleString("en")})`;
    });
    if (byId("words").value !== state.s) byId("words").value = state.s;
    if (byId("which")) byId("which").value = state.c;
    const point = byId("point");
    point.hidden = !state.at;
    if (state.at) point.textContent = `✕ only search lengths ${state.at.split(",").map((length) => number(Number(length))).join(" and ")}`;
    const slice = byId("slice");
    if (slice) {
      const names = [...new Set((set.slices ?? []).filter((name) => name !== null))].sort();
      slice.replaceChildren(element("option", { value: "", textContent: "all" }), ...names.map((name) => element("option", { value: name, textContent: name })));
      slice.value = state.slice;
    }
    for (const mark of document.querySelectorAll(".point.selected")) mark.classList.remove("selected");
    if (state.at) {
      for (const mark of document.querySelectorAll(`.scatter[data-comparison="${state.c}"] .point`)) {
        if (`${Number(mark.dataset.a)},${Number(mark.dataset.b)}` === state.at) mark.classList.add("selected");
      }
    }
  }

  for (const kind of Object.keys(KINDS)) {
    byId("outcomes").append(element("label", {}, element("input", { type: "checkbox", value: kind }), element("span")));
  }
  byId("outcomes").addEventListener("change", () => {
    state.o = [...byId("outcomes").querySelectorAll("input:checked")].map((box) => box.value).join(",");
    update();
  });
  byId("words").addEventListener("input", () => {
    state.s = byId("words").value;
    update();
  });
  byId("which")?.addEventListener("change", () => {
    state = { ...state, c: Number(byId("which").value), at: "", slice: "" };
    start();
  });
  byId("slice")?.addEventListener("change", () => {
    state.slice = byId("slice").value;
    update();
  });
  byId("point").addEventListener("click", () => {
    state.at = "";
    update();
    byId("words").focus();
  });
  byId("reset").addEventListener("click", () => {
    state = { ...DEFAULT, c: state.c };
    start();
  });
  filters.addEventListener("submit", (event) => event.preventDefault());

  for (const chart of document.querySelectorAll(".scatter")) {
    chart.addEventListener("click", (event) => {
      const point = event.target.closest(".point");
      if (!point) return;
      state = { ...DEFAULT, c: Number(chart.dataset.comparison), at: `${Number(point.dataset.a)},${Number(point.dataset.b)}` };
      start();
      select(set.ids[listed[0]], false);
      byId("filters").scrollIntoView();
    });
  }

  // ---- links to folded sections, paper, and the beginning

  function unfold() {
    const target = location.hash.length > 1 && !location.hash.includes("=") ? byId(location.hash.slice(1)) : null;
    if (target?.tagName === "DETAILS") target.open = true;
  }

  const opened = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not([open])")) {
      if (details.matches(".comparison") && data.comparisons.length > MOST_UNFOLDED) continue;
      details.open = true;
      opened.push(details);
    }
    printing = true;
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
    drawQuery();
    if (state.q && listed.some((i) => set.ids[i] === state.q)) showPlace(current());
  }

  addEventListener("hashchange", () => {
    unfold();
    if (readAddress()) start();
  });
  const linked = readAddress();
  start();
  unfold();
  if (linked && state.q) byId("query").scrollIntoView({ behavior: "instant" });
})();
