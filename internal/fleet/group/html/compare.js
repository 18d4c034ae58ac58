const ROW = 18;

// Lists about frames are null if there are none.
for (const key of ["labels", "parent", "label", "oldTotal", "newTotal", "oldSelf", "newSelf", "oldCalls", "newCalls"]) data[key] ??= [];
const frames = data.parent.length;
const children = Array.from({ length: frames }, () => []);
for (let i = 1; i < frames; i++) children[data.parent[i]].push(i);
const depth = new Int32Array(frames);
for (let i = 1; i < frames; i++) depth[i] = depth[data.parent[i]] + 1;

const shown = { by: "new", root: 0, selected: frames > 0 ? 0 : -1, top: 0, match: null, boxes: [] };

const total = (i) => (shown.by === "new" ? data.newTotal : data.oldTotal)[i];
const name = (i) => data.labels[data.label[i]];

const change = (from, to) => (to >= from ? "+" : "−") + time(Math.abs(to - from)) + (from > 0 ? ` (${to >= from ? "+" : "−"}${(100 * Math.abs(to - from) / from).toLocaleString("en", { maximumFractionDigits: 1 })} %)` : "");

// Of the change of a frame, what significant changes of own time in it and below it make up. A caller comes before what it calls.
const significant = new Float64Array(frames);
for (let i = frames - 1; i >= 0; i--) {
  if (data.sure[data.label[i]]) significant[i] += data.newSelf[i] - data.oldSelf[i];
  if (i > 0) significant[data.parent[i]] += significant[i];
}

// changed says whether a frame's time has changed by what can be seen, and whether most of that is significant.
function changed(i) {
  const whole = Math.max(data.oldTotal[i], data.newTotal[i]), by = data.newTotal[i] - data.oldTotal[i];
  if (whole === 0 || Math.abs(by) / whole < 0.01) return "same";
  return Math.abs(significant[i]) * 2 >= Math.abs(by) && significant[i] * by > 0 ? "surely" : "perhaps";
}

// colour is red for calls that take longer now, and blue for those that took longer before. What is not significant is pale.
function colour(i) {
  const how = changed(i);
  if (how === "same") return "hsl(40 12% 75%)";
  const part = (data.newTotal[i] - data.oldTotal[i]) / Math.max(data.oldTotal[i], data.newTotal[i]);
  // Twice or half the time has the full colour.
  const strength = how === "surely" ? Math.min(1, Math.abs(part) * 2) : 0;
  return part > 0 ? `hsl(6 ${20 + 65 * strength}% ${78 - 18 * strength}%)` : `hsl(212 ${20 + 60 * strength}% ${78 - 18 * strength}%)`;
}

// certainty says it of a frame, in words.
function certainty(i) {
  if (changed(i) !== "perhaps") return "";
  return data.few ? "too few to say whether it is significant" : "not significant: it may be chance";
}

// layout places the calls below the chosen one, the longest first, and leaves out what is narrower than half a pixel.
function layout(width) {
  shown.boxes = [];
  if (frames === 0) return;
  const place = [[shown.root, 0, width]];
  while (place.length > 0) {
    const [i, x, w] = place.pop();
    shown.boxes.push({ i, x, w, row: depth[i] - depth[shown.root] });
    let at = x;
    const sorted = children[i].slice().sort((a, b) => total(b) - total(a));
    for (const k of sorted) {
      const part = total(i) > 0 ? w * total(k) / total(i) : 0;
      if (part >= 0.5) place.push([k, at, part]);
      at += part;
    }
  }
}

function draw() {
  const canvas = $("chart"), { width, height } = canvas.getBoundingClientRect(), scale = devicePixelRatio || 1;
  canvas.width = Math.max(1, width * scale);
  canvas.height = Math.max(1, height * scale);
  const g = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  g.scale(scale, scale);
  g.fillStyle = style.getPropertyValue("--ground");
  g.fillRect(0, 0, width, height);
  layout(width);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  for (const { i, x, w, row } of shown.boxes) {
    const y = row * ROW - shown.top;
    if (y < -ROW || y > height) continue;
    const faint = shown.match && !shown.match.has(data.label[i]);
    g.globalAlpha = faint ? 0.25 : 1;
    g.fillStyle = colour(i);
    g.fillRect(x, y, Math.max(0.5, w - 0.5), ROW - 1);
    if (changed(i) === "perhaps") hatch(g, x, y, w, style.getPropertyValue("--faint"));
    g.globalAlpha = 1;
    if (i === shown.selected) {
      g.strokeStyle = style.getPropertyValue("--accent");
      g.lineWidth = 2;
      g.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
    }
    if (w > 30) {
      const { method, of } = parts(name(i)), first = fitted(g, method, w - 8), left = g.measureText(first).width + 6;
      g.fillStyle = "#1c2128";
      g.fillText(first, x + 4, y + ROW / 2);
      g.fillStyle = "#1c2128b0";
      if (of && first === method && w - 8 - left > 24) g.fillText(fitted(g, of, w - 8 - left), x + 4 + left, y + ROW / 2);
    }
  }
  if (frames === 0) {
    g.fillStyle = style.getPropertyValue("--faint");
    g.fillText("The recordings have no calls.", 12, 20);
  }
}

// fitted cuts a text at its right.
function fitted(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let from = 0, to = text.length;
  while (from < to) {
    const middle = (from + to + 1) >> 1;
    if (g.measureText(text.slice(0, middle) + "…").width <= width) from = middle; else to = middle - 1;
  }
  return from > 1 ? text.slice(0, from) + "…" : "";
}

// hatch draws lines over a box.
function hatch(g, x, y, w, color) {
  g.save();
  g.beginPath();
  g.rect(x, y, w, ROW - 1);
  g.clip();
  g.strokeStyle = color;
  g.lineWidth = 0.6;
  g.beginPath();
  for (let at = Math.floor((x - ROW) / 6) * 6; at < x + w; at += 6) {
    g.moveTo(at, y + ROW);
    g.lineTo(at + ROW, y);
  }
  g.stroke();
  g.restore();
}

function hit(event) {
  const box = $("chart").getBoundingClientRect(), x = event.clientX - box.left, row = Math.floor((event.clientY - box.top + shown.top) / ROW);
  const found = shown.boxes.find((b) => b.row === row && x >= b.x && x < b.x + Math.max(b.w, 1));
  return found ? found.i : -1;
}

function select(i) {
  shown.selected = i;
  const details = $("details");
  details.replaceChildren();
  if (i < 0) return;
  element("div", name(i), details);
  const list = element("dl", "", details);
  for (const cell of ["", "old", "new"]) element("dt", cell, list);
  for (const [what, from, to, text] of [
    ["total", data.oldTotal[i], data.newTotal[i], time], ["own time", data.oldSelf[i], data.newSelf[i], time],
    ["calls", data.oldCalls[i], data.newCalls[i], count]]) {
    element("dt", what, list);
    element("dd", text(from), list);
    element("dd", text(to), list);
  }
  element("div", `total ${change(data.oldTotal[i], data.newTotal[i])}`, details);
  element("div", `own time ${change(data.oldSelf[i], data.newSelf[i])}`, details);
  if (certainty(i)) element("div", certainty(i), details);
  element("small", `for each ${data.unit}`, details);
}

function zoom(i) {
  shown.root = i;
  shown.top = 0;
  draw();
}

function width(by) {
  shown.by = by;
  $("by-new").setAttribute("aria-pressed", by === "new");
  $("by-old").setAttribute("aria-pressed", by === "old");
  draw();
}

function search(text) {
  shown.match = null;
  $("found").textContent = "";
  if (text !== "") {
    shown.match = new Set();
    data.labels.forEach((label, k) => { if (label.toLowerCase().includes(text.toLowerCase())) shown.match.add(k); });
    let from = 0, to = 0;
    for (let i = 1; i < frames; i++) {
      if (shown.match.has(data.label[i])) { from += data.oldSelf[i]; to += data.newSelf[i]; }
    }
    $("found").textContent = `${count(shown.match.size)} ${shown.match.size === 1 ? "method" : "methods"}, own time ${time(from)} to ${time(to)}`;
  }
  draw();
}

function lists() {
  for (const side of ["slower", "faster", "noise"]) {
    if (data[side].length === 0) element("li", "none", $(side)).style.cursor = "default";
    for (const m of data[side]) {
      const item = element("li", "", $(side)), { method, of } = parts(m.label);
      item.tabIndex = 0;
      item.title = m.label;
      item.classList.toggle("unsure", !m.sure);
      const head = element("span", "", item);
      element("b", m.delta + " ", head);
      head.append(method + " ");
      element("span", of, head).className = "of";
      element("small", m.text, item).title = m.text;
      element("small", m.certainty, item).title = m.certainty;
      const choose = () => { $("search").value = m.label; search(m.label); };
      item.addEventListener("click", choose);
      item.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
    }
  }
  $("noise-part").hidden = data.noiseCount === 0;
  $("noise-part").firstElementChild.textContent = `Not significant: ${count(data.noiseCount)} ${data.noiseCount === 1 ? "method" : "methods"}`;
  $("banner").hidden = !data.few;
  $("banner").textContent = "Too few to rule out chance: no change here is known to be significant.";
  if (data.title) $("title").textContent = document.title = data.title;
}

$("by-new").addEventListener("click", () => width("new"));
$("by-old").addEventListener("click", () => width("old"));
$("whole").addEventListener("click", () => zoom(0));
$("search").addEventListener("input", () => search($("search").value));
$("theme").addEventListener("click", draw);
$("chart").addEventListener("click", (event) => {
  const i = hit(event);
  if (i >= 0) { select(i); zoom(i); }
});
$("chart").addEventListener("pointermove", (event) => {
  const i = hit(event), tip = $("tip");
  tip.hidden = i < 0;
  if (i < 0) return;
  tip.textContent = name(i);
  element("small", `total ${time(data.oldTotal[i])} to ${time(data.newTotal[i])}: ${change(data.oldTotal[i], data.newTotal[i])}`, tip);
  element("small", `own time ${time(data.oldSelf[i])} to ${time(data.newSelf[i])}; calls ${count(data.oldCalls[i])} to ${count(data.newCalls[i])}`, tip);
  if (certainty(i)) element("small", certainty(i), tip);
  tip.style.left = Math.max(0, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 4)) + "px";
  tip.style.top = Math.max(0, Math.min(event.clientY + 12, innerHeight - tip.offsetHeight - 4)) + "px";
});
$("chart").addEventListener("pointerleave", () => { $("tip").hidden = true; });
$("chart").addEventListener("wheel", (event) => {
  event.preventDefault();
  const deepest = shown.boxes.reduce((most, b) => Math.max(most, b.row), 0);
  shown.top = Math.max(0, Math.min(shown.top + event.deltaY, (deepest + 1) * ROW - $("chart").getBoundingClientRect().height));
  draw();
}, { passive: false });
document.body.addEventListener("keydown", (event) => {
  if (event.target === $("search")) {
    if (event.key === "Escape") { $("search").value = ""; search(""); $("chart").focus(); }
    return;
  }
  if (event.key === "/") { event.preventDefault(); $("search").focus(); }
  if (event.key === "0" || event.key === "Escape") zoom(0);
  if (event.key === "t") width(shown.by === "new" ? "old" : "new");
  if (event.key === "Backspace" && shown.root > 0) zoom(data.parent[shown.root]);
});
addEventListener("resize", draw);

$("status").textContent = `old: ${data.old}; new: ${data.new}; sums for each ${data.unit}` +
  (data.hidden > 0 ? `; ${count(data.hidden)} short paths are left out` : "") +
  "; click: zoom, t: width of old or new, Backspace: to the caller, 0: all";
lists();
select(shown.selected);
width("new");
document.documentElement.dataset.ready = performance.now();
