// What a mark says when it is pointed at, and the same by keyboard: bars, strips, the curve and the scatter.

const tip = make("div", { id: "tip", role: "tooltip", hidden: true });
document.body.append(tip);

function showTip(text, left, top) {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(left - width / 2, document.documentElement.clientWidth - width - 4))}px`;
  tip.style.top = `${top - height - 8 < 4 ? top + 24 : top - height - 8}px`;
}

const hideTip = () => { tip.hidden = true; };
addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
addEventListener("scroll", hideTip, { passive: true });

const markOf = (event) => event.target.closest?.("#histogram button, svg.strip[aria-label]");
for (const type of ["mouseover", "focusin", "mouseout", "focusout"]) {
  addEventListener(type, (event) => {
    const mark = markOf(event);
    if (!mark) return;
    const { left, width, top } = mark.getBoundingClientRect();
    if (type.endsWith("out")) hideTip();
    else showTip(mark.dataset.tip ?? mark.getAttribute("aria-label"), left + width / 2, top);
  });
}

// A chart whose marks the pointer and arrow keys go through. Of each mark: its place; what is drawn over it, what it
// says, how far from it a point is, and, where it can be chosen, what then happens.
function makeMovable(chart, marks) {
  let here = 0;
  const cursor = make("g.cursor");
  chart.append(cursor);
  const about = { role: "slider", tabindex: 0, "aria-valuemin": 1, "aria-valuemax": marks.length, "aria-valuenow": 1 };
  setAttributes(chart, { ...about, "aria-valuetext": marks[0].text });
  function move(place) {
    here = Math.max(0, Math.min(marks.length - 1, place));
    const { x, y, shape, text } = marks[here];
    cursor.replaceChildren(shape());
    setAttributes(chart, { "aria-valuenow": here + 1, "aria-valuetext": text });
    const { left, top, width } = chart.getBoundingClientRect();
    const scale = width / chart.viewBox.baseVal.width;
    showTip(text, left + x * scale, top + y * scale);
  }
  function leave() {
    cursor.replaceChildren();
    hideTip();
  }
  function nearest(event) {
    const { left, top, width } = chart.getBoundingClientRect();
    const scale = chart.viewBox.baseVal.width / width;
    const far = marks.map((mark) => mark.distance((event.clientX - left) * scale, (event.clientY - top) * scale));
    const least = far.reduce((one, other) => Math.min(one, other));
    return least <= 24 * scale ? far.indexOf(least) : -1;
  }
  chart.addEventListener("focus", () => { if (chart.matches(":focus-visible")) move(here); });
  chart.addEventListener("blur", leave);
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("pointermove", (event) => {
    const place = nearest(event);
    if (place < 0) leave();
    else move(place);
  });
  chart.addEventListener("click", (event) => {
    const mark = marks.find(({ point }) => point === event.target) ?? marks[nearest(event)]; // thumbs are large
    mark?.choose?.();
  });
  chart.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
    const ends = { Home: -marks.length, End: marks.length };
    const step = { ...steps, ...ends }[event.key];
    if (step) move(here + step);
    else if (event.key === "Enter") marks[here].choose?.();
    else return;
    event.preventDefault();
  });
}
