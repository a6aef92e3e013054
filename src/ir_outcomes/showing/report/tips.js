// What a mark says when it is pointed at, and the same by keyboard: bars, strips, the curve and the scatter.

const tip = element("div", { id: "tip", role: "tooltip", hidden: true });
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

function showOver(mark, text) {
  const box = mark.getBoundingClientRect();
  showTip(text, box.left + box.width / 2, box.top);
}

// ---- bars, and estimates with their intervals

const TIPPED = [["#histogram button", (button) => button.dataset.tip], ["svg.strip[aria-label]", (strip) => strip.getAttribute("aria-label")]];

for (const type of ["mouseover", "focusin"]) {
  addEventListener(type, (event) => {
    for (const [selector, text] of TIPPED) {
      const mark = event.target.closest?.(selector);
      if (mark) showOver(mark, text(mark));
    }
  });
}
for (const type of ["mouseout", "focusout"]) {
  addEventListener(type, (event) => {
    if (TIPPED.some(([selector]) => event.target.closest?.(selector))) hideTip();
  });
}

// ---- the curve and the scatter: a mark that arrow keys and the pointer move

function makeMovable(chart, marks, { place, text, choose }) {
  if (!marks.length) return;
  let here = -1;
  const cursor = picture("g", { class: "cursor" });
  chart.append(cursor);
  chart.setAttribute("role", "slider");
  chart.setAttribute("tabindex", "0");
  chart.setAttribute("aria-valuemin", "1");
  chart.setAttribute("aria-valuemax", marks.length);
  function move(number) {
    here = Math.max(0, Math.min(marks.length - 1, number));
    const { x, y, shape } = place(marks[here]);
    cursor.replaceChildren(shape);
    chart.setAttribute("aria-valuenow", here + 1);
    chart.setAttribute("aria-valuetext", text(marks[here]));
    const box = chart.getBoundingClientRect();
    const scale = box.width / chart.viewBox.baseVal.width;
    showTip(text(marks[here]), box.left + x * scale, box.top + y * scale);
  }
  function leave() {
    cursor.replaceChildren();
    hideTip();
  }
  function nearest(event) {
    const box = chart.getBoundingClientRect();
    const scale = chart.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const far = marks.map((mark) => place(mark).distance(x, y));
    const least = Math.min(...far);
    return least <= 24 * scale ? far.indexOf(least) : -1;
  }
  chart.setAttribute("aria-valuenow", "1");
  chart.setAttribute("aria-valuetext", text(marks[0]));
  chart.addEventListener("focus", () => { if (chart.matches(":focus-visible")) move(Math.max(0, here)); });
  chart.addEventListener("blur", leave);
  chart.addEventListener("pointermove", (event) => {
    const number = nearest(event);
    if (number < 0) leave();
    else move(number);
  });
  chart.addEventListener("pointerleave", leave);
  chart.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -marks.length, End: marks.length };
    if (event.key in steps) move(here + steps[event.key]);
    else if (event.key === "Enter" && choose && here >= 0) choose(marks[here]);
    else return;
    event.preventDefault();
  });
  if (choose) {
    chart.addEventListener("click", (event) => {
      const number = nearest(event);
      if (!event.target.closest(".point") && number >= 0) choose(marks[number]); // a thumb is larger than a point
    });
  }
}

function makeCurveMovable(chart) {
  const column = (name) => chart.dataset[name]?.split(" ").map(Number);
  const [ranks, a, b, low, high] = ["ranks", "a", "b", "low", "high"].map(column);
  const end = Math.log(Number(chart.dataset.end));
  const bottom = chart.viewBox.baseVal.height - 36;
  const points = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;
  makeMovable(chart, ranks.map((_, i) => i), {
    place(i) {
      const x = 46 + (306 * Math.log(ranks[i])) / end;
      const shape = picture("line", { class: "here", x1: x, x2: x, y1: 8, y2: bottom });
      return { x, y: 8, shape, distance: (other) => Math.abs(other - x) };
    },
    text: (i) => `rank ${ranks[i]}: A ${a[i].toFixed(1)} %, B ${b[i].toFixed(1)} %, difference ${points(b[i] - a[i])} points${low ? ` [${points(low[i])}, ${points(high[i])}]` : ""}`,
  });
}

function makeScatterMovable(chart) {
  const points = [...chart.querySelectorAll(".point")];
  const [across, down] = ["cx", "cy"].map((name) => (point) => Number(point.getAttribute(name)));
  points.sort((one, other) => across(one) - across(other) || down(other) - down(one));
  makeMovable(chart, points, {
    place(point) {
      const [x, y] = [across(point), down(point)];
      const shape = picture("circle", { class: "here", cx: x, cy: y, r: Number(point.getAttribute("r")) + 4 });
      return { x, y, shape, distance: (left, top) => Math.hypot(left - x, top - y) };
    },
    text: ({ dataset }) => `A ${number(Number(dataset.a))}, B ${number(Number(dataset.b))}: ${count(Number(dataset.n))}`,
    choose: (point) => point.dispatchEvent(new MouseEvent("click", { bubbles: true })),
  });
}

const makeChartMovable = (chart) => (chart.matches(".curve") ? makeCurveMovable(chart) : makeScatterMovable(chart));
for (const chart of document.querySelectorAll("svg.curve, svg.scatter")) makeChartMovable(chart);
