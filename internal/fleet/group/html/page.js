"use strict";

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);

// time writes nanoseconds with the digits that matter.
function time(n) {
  const a = Math.abs(n);
  const unit = a >= 1e9 ? [1e9, "s", a >= 1e10 ? 1 : 2] : a >= 1e6 ? [1e6, "ms", a >= 1e7 ? 0 : 2] : a >= 1e3 ? [1e3, "µs", 1] : [1, "ns", 0];
  return (n / unit[0]).toLocaleString("en", { maximumFractionDigits: unit[2] }) + " " + unit[1];
}
const count = (n) => n.toLocaleString("en", { maximumFractionDigits: n < 100 ? 2 : 0 });

// parts are a method's name, and behind it its class and then its package.
function parts(label) {
  const all = label.split("."), method = all.pop(), cls = all.pop();
  return { method, of: cls ? cls + (all.length ? " · " + all.join(".") : "") : "" };
}

function element(tag, text, parent) {
  const e = document.createElement(tag);
  e.textContent = text;
  if (parent) parent.append(e);
  return e;
}

if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.dataset.theme = "dark";
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
});
