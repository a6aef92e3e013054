// What a mark says when it is pointed at, and the same by keyboard: bars, strips, cells, points and steps of charts.

const tip = make("div", { id: "tip", role: "tooltip", hidden: true });
document.body.append(tip);
const hideTip = () => { tip.hidden = true; };
const describe = (mark, text) => setAttributes(mark, { "aria-label": text, "data-tip": text });

function showTip(event) {
  const mark = event.target.closest?.("[data-tip]");
  if (!mark) return;
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const { left, width, top } = mark.getBoundingClientRect();
  const last = document.documentElement.clientWidth - tip.offsetWidth - 4;
  tip.style.left = `${Math.max(4, Math.min(left + (width - tip.offsetWidth) / 2, last))}px`;
  tip.style.top = `${Math.max(4, top - tip.offsetHeight - 8)}px`;
}

for (const type of ["mouseover", "focusin"]) addEventListener(type, showTip);
for (const type of ["mouseout", "focusout", "scroll"]) addEventListener(type, hideTip, { passive: true });
addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

// Of marks in rows of so many one can be reached by Tab, and the others by arrow keys.
function moveByArrows(place, marks, inRow) {
  marks.forEach((mark, i) => { mark.setAttribute("tabindex", i ? -1 : 0); });
  place.addEventListener("keydown", (event) => {
    const here = marks.indexOf(event.target);
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: inRow, ArrowUp: -inRow, PageDown: 10 * inRow };
    const step = { ...steps, PageUp: -10 * inRow, Home: -here, End: marks.length - 1 - here }[event.key];
    const next = marks[here + step];
    if (!next) return;
    event.preventDefault();
    event.target.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });
}
