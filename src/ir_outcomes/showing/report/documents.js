// How a document is shown: its id, cut in the middle where it is long, its judgment, and its text with marked words.

const USUAL = new Set("a an and are as at by do does for from how in is of on or that the to what who with".split(" "));
const JUDGED = { relevant: ["✔", "relevant"], irrelevant: ["✘", "judged not relevant"], unjudged: ["?", "unjudged"] };
const signsThatFit = (width) => Math.max(12, Math.floor(width / 8.5)); // of so many pixels

// Ids by their short forms, of at most so many characters: cut in the middle, or whole where that makes several alike.
function shortIds(ids, most) {
  const start = Math.floor((most - 1) / 3);
  const cut = (signs) => [...signs.slice(0, start), "…", ...signs.slice(start + 1 - most)].join("");
  const short = new Map(ids.map((id) => [id, [...id].length > most ? cut([...id]) : id]));
  for (const alike of Map.groupBy(ids, (id) => short.get(id)).values()) {
    if (alike.length > 1) for (const id of alike) short.set(id, id);
  }
  return short;
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

// An id that is cut, or has a text, is a button: it opens both.
function drawId(id, short, text) {
  if (short === id && text === undefined) return make("span.id", id);
  return make("button.id", { type: "button", title: id, "aria-expanded": "false", "data-short": short }, short);
}

byId("query").addEventListener("click", (event) => {
  const item = event.target.closest("#lists li");
  const button = item?.querySelector("button.id");
  if (!button || !event.target.closest("button, .text") || String(getSelection())) return;
  const isOpen = item.classList.toggle("open");
  button.setAttribute("aria-expanded", isOpen);
  button.textContent = isOpen ? button.title : button.dataset.short;
});
