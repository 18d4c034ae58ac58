"use strict";

// Words, numbers and elements: what every other part of the page uses.

const $ = (id) => document.getElementById(id);

/** An element with properties and children; text is never read as HTML. */
function element(tag, properties, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
}

/** Nanoseconds in the unit in which people read them. */
function duration(nanos) {
  const n = Math.abs(nanos);
  if (n === 0) return "0";
  if (n >= 1e9) return trim(nanos / 1e9) + " s";
  if (n >= 1e6) return trim(nanos / 1e6) + " ms";
  if (n >= 1e3) return trim(nanos / 1e3) + " µs";
  return Math.round(nanos) + " ns";
}

function trim(x) {
  return x.toFixed(Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 10 ? 1 : 2);
}

/** A time on a ruler whose marks are step apart: as many digits as distinguish one mark from the next. */
function tick(nanos, step) {
  const [unit, name] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ].find(([u]) => Math.abs(nanos) >= u) || [1, "ns"];
  return (nanos / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9))) + " " + name;
}

/** A share as people write it: three digits at most, and never 0 or 100 for what is only nearly so. */
function percent(part, whole) {
  if (!(whole > 0) || !part) return "0 %";
  const p = (100 * part) / whole;
  if (p > 0 && p < 0.1) return "< 0.1 %";
  if (p > 99.9 && part < whole) return "> 99.9 %";
  return (p >= 99.95 ? "100" : p.toFixed(1)) + " %";
}

/** "58.0 % of the 21 ms shown, 0.4 % of all 3.2 s" */
function shares(part, shown, all) {
  return `${percent(part, shown)} of the ${duration(shown)} shown, ${percent(part, all)} of all ${duration(all)}`;
}

/** "1 call", "1,234 calls" */
function plural(n, what) {
  return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}

/** A name in two parts: the method, and behind it its class and then its package. A name without a class is whole. */
function partsOf(text, cls) {
  if (!cls || !text.startsWith(cls + ".")) return { method: text, of: "" };
  const dot = cls.lastIndexOf(".");
  return { method: text.slice(cls.length + 1), of: dot < 0 ? cls : `${cls.slice(dot + 1)} · ${cls.slice(0, dot)}` };
}

/** What of a text fits into room, as measured: it is cut at its right. */
function shorten(text, room, measure) {
  if (measure(text) <= room) return text;
  let low = 0,
    high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(text.slice(0, middle) + "…") <= room) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? text.slice(0, low) + "…" : ""; // fewer letters say nothing
}

/** A name in a line of text: what does not fit is cut at the right, the package first. */
function named(text, cls) {
  const { method, of } = partsOf(text, cls),
    span = element("span", { className: "name", title: text }, method);
  if (of) span.append(" ", element("span", { className: "of" }, of));
  return span;
}

function heading(text) {
  return element("h2", {}, text);
}

function lines(list) {
  return element("div", {}, ...list.map((text) => element("small", {}, text)));
}

/** A list of terms and what they are; rows without text are left out. */
function definitions(rows) {
  const dl = element("dl");
  for (const [name, text] of rows) if (text) dl.append(element("dt", {}, name), element("dd", {}, text));
  return dl;
}

/** Copies text; a page that was opened as a file may not have the clipboard's own interface. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** A function that calls f once, some time after its own last call; waiting is set until then. */
function later(millis, f) {
  const call = () => {
    clearTimeout(call.timer);
    call.waiting = true;
    call.timer = setTimeout(() => {
      call.waiting = false;
      f();
    }, millis);
  };
  return call;
}
