// The listed queries as a file.

const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

function csvOfListed() {
  const of = (words, values) => [state.a, state.b].map((run, place) => [`${words} ${run}`, (i) => values[place][i]]);
  const columns = [["query", (i) => set.ids[i]]];
  if (set.texts) columns.push(["text", (i) => set.texts[i]]);
  if (set.slices) columns.push(["slice", (i) => set.slices[i]]);
  columns.push(["outcome", (i) => kindOf(i)[0]]);
  if (byDocument) columns.push(...of("found by", [chosen.foundA, chosen.foundB]));
  columns.push(...of(`${grid.measure ?? (byDocument ? "search length" : "rank")} of`, [chosen.a, chosen.b]));
  columns.push(["change", (i) => chosen.change[i]]);
  const rows = listed.map((i) => columns.map(([, value]) => value(i)));
  const line = (row) => `${row.map((value) => quoted(String(value ?? ""))).join(",")}\r\n`;
  return [columns.map(([name]) => name), ...rows].map(line).join("");
}

byId("save").addEventListener("click", () => {
  const href = URL.createObjectURL(new Blob([csvOfListed()], { type: "text/csv;charset=utf-8" }));
  const name = `${state.b} against ${state.a}`.replace(/[^\p{L}\p{N} ._+-]/gu, "_");
  make("a", { href, download: `${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
});
