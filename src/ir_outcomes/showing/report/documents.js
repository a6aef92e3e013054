// How a document is shown: its id, cut in the middle where it is long, its judgment, and its text with marked words.

const USUAL = new Set(
  ("a about an and are as at be by can did do does for from had has have how i if in is it its of on or that the this" +
    " to was were what when where which who why will with you your").split(" "),
);
const JUDGED = { relevant: "✔", irrelevant: "✘", unjudged: "?" };

// Ids that fit in so many characters. What is cut out of a longer one is not what tells it from the others.
function shortIds(ids, most) {
  const start = Math.floor((most - 1) / 3);
  const cut = (signs) => `${signs.slice(0, start).join("")}…${signs.slice(start + 1 - most).join("")}`;
  const short = new Map(ids.map((id) => [id, [...id].length <= most ? id : cut([...id])]));
  for (const group of alike(short)) for (const [id, form] of whereTheyDiffer(group, most)) short.set(id, form);
  for (const group of alike(short)) for (const id of group) short.set(id, id);
  return short;
}

// Groups of several ids with one short form.
function alike(short) {
  const groups = new Map();
  for (const [id, form] of short) groups.set(form, [...(groups.get(form) ?? []), id]);
  return [...groups.values()].filter((group) => group.length > 1);
}

// What is between the beginning and the end that all have; the whole id where that is no shorter.
function whereTheyDiffer(group, most) {
  const all = group.map((id) => [...id]);
  const least = Math.min(...all.map((signs) => signs.length));
  const isSame = (place) => all.every((signs) => signs.at(place) === all[0].at(place));
  let before = 0;
  while (before < least && isSame(before)) before += 1;
  let after = 0;
  while (after < least - before && isSame(-1 - after)) after += 1;
  return all.map((signs, place) => {
    const middle = signs.slice(before, signs.length - after);
    if (middle.length + 6 > Math.max(most, 12)) return [group[place], group[place]];
    return [group[place], [...signs.slice(0, 3), "…", ...middle, after ? "…" : ""].join("")];
  });
}

// How many characters of such ids fit in so many pixels.
const pen = document.createElement("canvas").getContext("2d");
function signsThatFit(ids, size, width) {
  pen.font = `500 ${size}px ${getComputedStyle(document.body).fontFamily}`;
  const some = ids.slice(0, 200).join("");
  const mean = pen.measureText(some).width / Math.max(1, [...some].length) || size;
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
  return text.split(/([\p{L}\p{N}]+)/u).map((part) => (words.has(stem(part)) ? make("mark", part) : part));
}

function judgment(grade) {
  if (grade === undefined) return "unjudged";
  return grade >= grid.rel ? "relevant" : "irrelevant";
}

function inWords(grade) {
  if (grade === undefined) return "unjudged";
  return `${grade >= grid.rel ? "relevant" : "judged not relevant"}, grade ${grade}`;
}

// An id that is cut, or has a text, is a button: it opens both.
function drawId(id, short, text) {
  if (short === id && text === undefined) return make("span.id", id);
  const about = { type: "button", title: id, "aria-expanded": "false", "data-id": id, "data-short": short };
  return make("button.id", about, short);
}

const openItems = new Set(); // they stay open when the lists are drawn again

function open(item, isOpen) {
  const button = item.querySelector("button.id");
  if (!button) return;
  openItems[isOpen ? "add" : "delete"](`${state.q} ${item.id}`);
  item.classList.toggle("open", isOpen);
  button.setAttribute("aria-expanded", isOpen);
  button.textContent = isOpen ? button.dataset.id : button.dataset.short;
}

byId("query").addEventListener("click", (event) => {
  const item = event.target.closest("li[data-document]");
  if (!item || !event.target.closest("button.id, .text") || String(getSelection())) return;
  open(item, !item.classList.contains("open"));
});
