// The listed queries as a file.

const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

function csvOfListed() {
  const texts = Boolean(set.texts);
  const slices = Boolean(set.slices);
  const names = [chosen.baseline, chosen.contender];
  const length = chosen.measure !== null ? chosen.measure : byDocument ? "search length" : "rank";
  const head = ["query", ...(texts ? ["text"] : []), ...(slices ? ["slice"] : []), "outcome"];
  if (byDocument) head.push(...names.map((name) => `found by ${name}`));
  head.push(...names.map((name) => `${length} of ${name}`), "change");
  const rows = listed.map((i) => {
    const row = [set.ids[i], ...(texts ? [set.texts[i] ?? ""] : []), ...(slices ? [set.slices[i] ?? ""] : []), kindOf(i)[0]];
    if (byDocument) row.push(...chosen.found[i]);
    return [...row, lengthOf(0, i), lengthOf(1, i), chosen.change[i]];
  });
  return [head, ...rows].map((row) => `${row.map((value) => quoted(String(value ?? ""))).join(",")}\r\n`).join("");
}

byId("save").addEventListener("click", () => {
  const file = new Blob([csvOfListed()], { type: "text/csv;charset=utf-8" });
  const link = element("a", { href: URL.createObjectURL(file), download: `${chosen.contender} against ${chosen.baseline}.csv`.replace(/[^\p{L}\p{N} ._+-]/gu, "_") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});
