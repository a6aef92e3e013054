// How a document is shown: its id, cut in the middle where it is long, its judgment, and its text with the words of the query.

const USUAL = new Set(
  "a about an and are as at be by can did do does for from had has have how i if in is it its of on or that the this to was were what when where which who why will with you your".split(" "),
);

// Ids that fit in so many characters. What is cut out of a longer one is not what tells it from the others.
function shortIds(ids, most) {
  const short = new Map();
  const alike = new Map(); // ids by their short form
  for (const id of ids) {
    const signs = [...id];
    const start = Math.floor((most - 1) / 3);
    const cut = signs.length <= most ? id : `${signs.slice(0, start).join("")}…${signs.slice(start + 1 - most).join("")}`;
    short.set(id, cut);
    alike.set(cut, [...(alike.get(cut) ?? []), id]);
  }
  for (const group of alike.values()) {
    if (group.length > 1) for (const [id, cut] of whereTheyDiffer(group, most)) short.set(id, cut);
  }
  const times = new Map();
  for (const form of short.values()) times.set(form, (times.get(form) ?? 0) + 1);
  for (const [id, form] of short) if (times.get(form) > 1) short.set(id, id);
  return short;
}

// What is between the beginning and the end that all have; the whole id where that is no shorter.
function whereTheyDiffer(group, most) {
  const all = group.map((id) => [...id]);
  const least = Math.min(...all.map((signs) => signs.length));
  const same = (place) => all.every((signs) => signs.at(place) === all[0].at(place));
  let before = 0;
  while (before < least && same(before)) before += 1;
  let after = 0;
  while (after < least - before && same(-1 - after)) after += 1;
  return group.map((id, number) => {
    const signs = all[number];
    const middle = signs.slice(before, signs.length - after);
    if (middle.length + 6 > Math.max(most, 12)) return [id, id];
    return [id, [...signs.slice(0, 3), "…", ...middle, after ? "…" : ""].join("")];
  });
}

// How many characters of such ids fit in so many pixels.
const pen = document.createElement("canvas").getContext("2d");
function signsThatFit(ids, size, width) {
  pen.font = `500 ${size}px ${getComputedStyle(document.body).fontFamily}`;
  const some = [...ids.slice(0, 200).join("")];
  const mean = pen.measureText(some.join("")).width / Math.max(1, some.length) || size;
  return Math.max(12, Math.floor(width / mean - 0.7));
}

// The ids of the queries, as many characters as their column is wide.
let queryIds = { of: null, width: -1, short: null };
function shortQuery(id) {
  const width = byId("heads").querySelector(".c-id")?.clientWidth ?? 0;
  if (queryIds.of !== set || queryIds.width !== width) {
    queryIds = { of: set, width, short: shortIds(set.ids, signsThatFit(set.ids, 15, width - 24)) };
  }
  return queryIds.short.get(id);
}

const stem = (word) => word.toLowerCase().replace(/(?<=..)s$/, "");

function wordsOf(text) {
  const words = (text ?? "").match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length > 1 && !USUAL.has(word.toLowerCase())).map(stem));
}

// A text in which the words of the query are marked.
function markedText(text, words) {
  return text.split(/([\p{L}\p{N}]+)/u).map((part) => (words.has(stem(part)) ? element("mark", { textContent: part }) : part));
}

const JUDGED = { relevant: "✔", irrelevant: "✘", unjudged: "?" };

function judgment(grade) {
  if (grade === undefined) return "unjudged";
  return grade >= chosen.rel ? "relevant" : "irrelevant";
}

function inWords(grade) {
  return { relevant: `relevant, grade ${grade}`, irrelevant: `judged not relevant, grade ${grade}`, unjudged: "unjudged" }[judgment(grade)];
}

// An id that is cut, or has a text, is a button: it opens both.
function drawId(id, short, text) {
  if (short === id && text === undefined) return element("span", { className: "id", textContent: id });
  const button = element("button", { type: "button", className: "id", textContent: short, title: id });
  button.setAttribute("aria-expanded", "false");
  button.dataset.short = short;
  button.dataset.id = id;
  return button;
}

const openItems = new Set(); // they stay open when the lists are drawn again

function open(item, is = !item.classList.contains("open")) {
  const button = item.querySelector("button.id");
  if (!button) return;
  const key = `${state.q} ${item.id}`;
  if (is) openItems.add(key);
  else openItems.delete(key);
  item.classList.toggle("open", is);
  button.setAttribute("aria-expanded", is);
  button.textContent = is ? button.dataset.id : button.dataset.short;
}

byId("query").addEventListener("click", (event) => {
  const item = event.target.closest("li[data-document]");
  if (!item || !event.target.closest("button.id, .text") || String(getSelection())) return;
  open(item);
});
