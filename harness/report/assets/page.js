"use strict";

// --- tables: sorted by their column headers ---------------------------------------------------------------------------

const collator = new Intl.Collator("en", { numeric: true });

function sortKey(row, column, isNumber) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent;
  return isNumber ? (text === "" ? null : Number(text)) : text.trim();
}

// What is not known comes last, whichever way the table is sorted.
function compareKeys(a, b, isNumber, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  return direction * (isNumber ? a - b : collator.compare(a, b));
}

function sortBy(table, heading) {
  const isNumber = heading.querySelector("button").dataset.kind === "number";
  const ascending = heading.getAttribute("aria-sort") !== "ascending";
  for (const other of heading.parentElement.cells) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [sortKey(row, heading.cellIndex, isNumber), row]);
  keyed.sort(([a], [b]) => compareKeys(a, b, isNumber, ascending ? 1 : -1));
  body.append(...keyed.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.querySelector("button").addEventListener("click", () => sortBy(table, heading));
  }
}

function filterRows(input) {
  const rows = [...document.getElementById(input.dataset.filter).tBodies[0].rows];
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  const status = document.querySelector(`[data-filter-status="${input.dataset.filter}"]`);
  const shown = rows.filter((row) => !row.hidden).length;
  status.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
}

for (const input of document.querySelectorAll("input[data-filter]")) {
  input.addEventListener("input", () => filterRows(input));
}

// --- marks and bars: told by a tip, by pointer, touch or keyboard -----------------------------------------------------

const tip = document.getElementById("tip");
let told = null;

function showTip(mark) {
  told = mark;
  tip.textContent = mark.getAttribute("aria-label");
  tip.hidden = false;
  const target = mark.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, target.left + target.width / 2 - own.width / 2), innerWidth - own.width - 8);
  const above = target.top - own.height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : Math.min(target.bottom + 8, innerHeight - own.height - 8)}px`;
}

function hideTip() {
  told = null;
  tip.hidden = true;
}

// A group of marks is one stop of the Tab key; arrow keys, Home and End go through it.
function makeRoving(group) {
  const marks = [...group.querySelectorAll("[aria-label]")];
  if (!marks.length) return;
  for (const mark of marks) mark.setAttribute("tabindex", "-1");
  marks[0].setAttribute("tabindex", "0");
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  group.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = Math.min(Math.max(marks.indexOf(event.target) + steps[event.key], 0), marks.length - 1);
    marks[next].focus();
  });
  group.addEventListener("focusin", (event) => {
    for (const mark of marks) mark.setAttribute("tabindex", mark === event.target ? "0" : "-1");
    showTip(event.target);
  });
  group.addEventListener("focusout", hideTip);
  group.addEventListener("pointerover", (event) => showTip(event.target));
  group.addEventListener("pointerout", hideTip);
}

for (const group of document.querySelectorAll(".roving")) makeRoving(group);
addEventListener("scroll", () => told && showTip(told), { passive: true, capture: true });

// --- memory timelines -------------------------------------------------------------------------------------------------

const drawings = JSON.parse(document.getElementById("drawings").textContent);
const edge = { left: 62, right: 14, top: 18, between: 26, live: 44, bottom: 34 };
const fieldHeight = 300;

function svg(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function bytes(number) {
  return `${number.toLocaleString("en")} ${number === 1 ? "byte" : "bytes"}`;
}

function operatorText(plan, step) {
  const entry = plan.steps[step - plan.steps[0][0]];
  return entry && entry[1] !== null ? `operator ${entry[1]}` : "before the first operator";
}

function barText(plan, [name, , shape, first, last, offset, size]) {
  const from = operatorText(plan, first);
  const to = operatorText(plan, last);
  const life = from === to ? from : `${from} to ${to}`;
  return [name, shape, `${bytes(size)} at offset ${offset.toLocaleString("en")}`, life].filter(Boolean).join("\n");
}

// Everything is placed by the step of the planner's clock (across) and the offset in the head (up).
function scalesOf(plan, width) {
  const inner = Math.max(width - edge.left - edge.right, plan.steps.length * 9);
  const step = inner / plan.steps.length;
  const first = plan.steps[0][0];
  const head = Math.max(plan.head, 1);
  return {
    step,
    width: inner,
    x: (number) => edge.left + (number - first) * step,
    y: (offset) => edge.top + fieldHeight * (1 - offset / head),
    liveTop: edge.top + fieldHeight + edge.between,
    liveBottom: edge.top + fieldHeight + edge.between + edge.live,
  };
}

function drawAxes(plan, at) {
  const parts = [
    svg("rect", { class: "field", x: edge.left, y: edge.top, width: at.width, height: fieldHeight }),
  ];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const offset = Math.round(plan.head * share);
    const y = at.y(offset);
    parts.push(svg("line", { class: "grid", x1: edge.left, x2: edge.left + at.width, y1: y, y2: y }));
    parts.push(svg("text", { x: edge.left - 6, y: y + 4, "text-anchor": "end" }, offset.toLocaleString("en")));
  }
  return parts;
}

function drawPeak(plan, at) {
  const x = at.x(plan.peak);
  return [
    svg("rect", { class: "peak-step", x, y: edge.top, width: at.step, height: at.liveBottom - edge.top }),
    svg("text", { class: "peak-label", x: x + at.step / 2, y: edge.top - 6, "text-anchor": "middle" }, "peak"),
  ];
}

function drawOperators(plan, at) {
  const parts = [];
  let free = -Infinity;
  plan.steps.forEach(([step, operator], index) => {
    const x = at.x(step) + at.step / 2;
    const isNew = operator !== null && (index === 0 || plan.steps[index - 1][1] !== operator);
    if (!isNew || x < free) return;
    free = x + 28;
    parts.push(svg("text", { x, y: at.liveBottom + 14, "text-anchor": "middle" }, operator));
  });
  const middle = edge.left + at.width / 2;
  parts.push(svg("text", { x: middle, y: at.liveBottom + 29, "text-anchor": "middle" }, "operator"));
  return parts;
}

function drawLive(plan, at) {
  const most = Math.max(...plan.steps.map(([, , , live]) => live), 1);
  const tops = plan.steps.map(([step, , , live]) => {
    const y = at.liveBottom - (edge.live * live) / most;
    return `V${y}H${at.x(step) + at.step}`;
  });
  return [
    svg("path", { class: "live", d: `M${edge.left} ${at.liveBottom}${tops.join("")}V${at.liveBottom}Z` }),
    svg("text", { x: edge.left - 6, y: at.liveTop + edge.live / 2 + 4, "text-anchor": "end" }, "in use"),
  ];
}

function drawBars(plan, at) {
  const group = svg("g", { class: "bars" });
  for (const bar of plan.bars) {
    const [name, kind, , first, last, offset, size] = bar;
    const box = { x: at.x(first), y: at.y(offset + size), width: at.step * (last - first + 1) };
    const height = Math.max(at.y(offset) - box.y, 1.5);
    const label = barText(plan, bar);
    group.append(svg("rect", { class: `buffer ${kind}`, ...box, height, rx: 2, role: "img", "aria-label": label }));
    const fits = Math.floor((box.width - 10) / 6.2);
    const text = name.length <= fits ? name : size.toLocaleString("en");
    if (height >= 16 && text.length <= fits) {
      group.append(svg("text", { class: "label", x: box.x + 5, y: box.y + height / 2 + 4, "aria-hidden": "true" }, text));
    }
  }
  return group;
}

function draw(place) {
  const plan = drawings[Number(place.dataset.plan)];
  if (!plan.steps.length) return;
  const at = scalesOf(plan, place.clientWidth);
  const size = { width: at.width + edge.left + edge.right, height: at.liveBottom + edge.bottom };
  const title = `Memory timeline of ${place.dataset.title}`;
  const picture = svg("svg", { class: "timeline", ...size, role: "group", "aria-label": title });
  const bars = drawBars(plan, at);
  const under = [...drawAxes(plan, at), ...drawLive(plan, at)];
  picture.append(...under, bars, ...drawPeak(plan, at), ...drawOperators(plan, at));
  place.replaceChildren(picture);
  makeRoving(bars);
}

function drawWhenSeen(details) {
  const place = details.querySelector(".drawing");
  if (details.open) draw(place);
  details.addEventListener("toggle", () => details.open && draw(place));
}

const plans = document.querySelectorAll("details.plan");
for (const details of plans) drawWhenSeen(details);

let redrawing = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(redrawing);
  redrawing = requestAnimationFrame(() => {
    for (const details of plans) if (details.open) draw(details.querySelector(".drawing"));
  });
});
