"use strict";

const page = JSON.parse(document.getElementById("recordings").textContent);
const $ = (id) => document.getElementById(id);

// A package's methods share a colour; the hue is a hash of its name, so that it is the same on every page.
const labels = page.names.map((n) => {
  if (n.unknown) return { text: n.label, hue: -1 };
  const pack = n.class ? n.class.replace(/\.[^.]*$/, "") : n.label;
  let hash = 2166136261; // FNV-1a
  for (let i = 0; i < pack.length; i++) hash = Math.imul(hash ^ pack.charCodeAt(i), 16777619);
  return { text: n.label, hue: ((hash ^ hash >>> 15) >>> 0) % 360 };
});

class Page {
  constructor() {
    this.chart = new Chart($("chart"), (m) => labels[m]);
    this.overview = new Overview($("overview"));
    this.mode = "chart";
    this.sort = { column: "self", down: true };
    this.decoded = new Map();
    this.tokens = 0;
    this.chart.onview = () => this.viewed();
    this.chart.onselect = (i) => this.details(i);
    this.chart.onhover = (i, event) => this.tip(i, event);
    this.overview.onchoose = (from, to) => this.choose(from, to);
    this.controls();
  }

  controls() {
    page.recordings.forEach((r, k) => $("source").append(new Option(r.name, k)));
    $("source-label").hidden = page.recordings.length < 2;
    $("source").onchange = () => this.openRecording(+$("source").value);
    $("thread").onchange = () => this.openThread(+$("thread").value);
    for (const mode of ["chart", "graph", "methods"]) $("tab-" + mode).onclick = () => this.setMode(mode);
    $("search").oninput = () => this.search($("search").value);
    $("search").onkeydown = (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.nextMatch(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        $("search").value = "";
        this.search("");
        $("chart").focus();
      }
    };
    $("theme").onclick = () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    $("help").onclick = () => $("keys").showModal();
    document.addEventListener("keydown", (event) => this.key(event));
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    if (page.banner) {
      $("banner").textContent = page.banner;
      $("banner").hidden = false;
    }
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme;
    this.chart.draw();
    this.overview.paint();
  }

  async openRecording(k) {
    this.recording = page.recordings[k];
    const threads = this.recording.threads;
    $("thread").replaceChildren(...threads.map((t, i) => new Option(`${t.name} (${t.calls} calls)`, i)));
    $("thread-label").hidden = threads.length < 2;
    let best = threads.findIndex((t) => t.main);
    if (best < 0) best = threads.reduce((b, t, i) => (t.calls > threads[b].calls ? i : b), 0);
    $("thread").value = best;
    this.stallList();
    this.status();
    if (threads.length) await this.openThread(best);
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }

  async openThread(i) {
    const thread = this.recording.threads[i], token = ++this.tokens;
    if (!this.decoded.has(thread)) this.decoded.set(thread, decodeCalls(await inflate($(thread.events).textContent), thread.calls));
    if (token !== this.tokens) return; // another thread was chosen meanwhile
    this.thread = thread;
    this.calls = this.decoded.get(thread);
    const stalls = this.recording.stalls.filter((s) => s.thread === thread.index);
    this.overview.show(this.calls, 0, this.recording.end, stalls, this.recording.frames, this.recording.threshold);
    this.range = [0, this.recording.end];
    this.setMode(this.recording.timed || this.mode !== "chart" ? this.mode : "graph");
  }

  setMode(mode) {
    this.mode = mode;
    for (const m of ["chart", "graph", "methods"]) $("tab-" + m).setAttribute("aria-selected", m === mode);
    $("canvas-pane").hidden = mode === "methods";
    $("methods-pane").hidden = mode !== "methods";
    if (mode === "chart") {
      const [from, to] = this.range;
      this.chart.show(this.calls, 0, this.recording.end);
      this.chart.view(from, to);
    } else this.rangeChanged();
    this.search($("search").value);
  }

  /** The chosen range moves with the flame chart; graph and table are made of what is in it. */
  viewed() {
    if (this.mode !== "chart") return;
    this.range = [this.chart.from, this.chart.to];
    this.overview.seen = this.range;
    this.overview.paint();
  }

  choose(from, to) {
    this.range = [Math.max(0, from), Math.min(this.recording.end, Math.max(to, from + 1))];
    this.overview.seen = this.range;
    this.overview.paint();
    if (this.mode === "chart") this.chart.view(...this.range);
    else this.rangeChanged();
  }

  rangeChanged() {
    const [from, to] = this.range;
    if (this.mode === "graph") {
      const merged = mergeCalls(this.calls, from, to), row = merged.rows[0] || [];
      this.chart.show(merged, 0, row.length ? merged.end[row[row.length - 1]] : 1);
    } else if (this.mode === "methods") this.methodTable();
  }

  methodTable() {
    const heads = [["self", "Self"], ["total", "Total"], ["calls", "Calls"], ["name", "Method"]];
    const rows = methodTimes(this.calls, ...this.range), { column, down } = this.sort;
    const value = (r) => (column === "name" ? labels[r.method].text : r[column]);
    rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a.method - b.method) * (down ? -1 : 1));
    const head = document.createElement("tr");
    for (const [key, text] of heads) {
      const th = document.createElement("th");
      th.textContent = text + (key === column ? (down ? " ▾" : " ▴") : "");
      th.onclick = () => {
        this.sort = { column: key, down: key === column ? !down : key !== "name" };
        this.methodTable();
      };
      head.append(th);
    }
    const shown = rows.filter((r) => !this.chart.matches || this.chart.matches[r.method]).slice(0, 1000);
    $("methods").tHead.replaceChildren(head);
    $("methods").tBodies[0].replaceChildren(...shown.map((r) => {
      const tr = document.createElement("tr");
      for (const text of [duration(r.self), duration(r.total), r.calls.toLocaleString("en"), labels[r.method].text]) {
        const td = document.createElement("td");
        td.textContent = text;
        tr.append(td);
      }
      tr.onclick = () => {
        $("search").value = labels[r.method].text;
        this.setMode("chart");
        this.nextMatch(1);
      };
      return tr;
    }));
  }

  search(text) {
    const wanted = text.trim().toLowerCase();
    this.chart.matches = wanted ? labels.map((l) => l.text.toLowerCase().includes(wanted)) : null;
    this.match = -1;
    $("found").textContent = "";
    if (wanted && this.calls) {
      let methods = 0, calls = 0, time = 0, until = -1;
      const seen = new Uint8Array(labels.length);
      for (let i = 0; i < this.calls.length; i++) {
        const m = this.calls.method[i];
        if (!this.chart.matches[m]) continue;
        if (!seen[m]) methods += seen[m] = 1;
        calls += this.calls.calls[i];
        if (this.calls.begin[i] >= until) { // what a match encloses is counted with it
          time += this.calls.end[i] - this.calls.begin[i];
          until = this.calls.end[i];
        }
      }
      $("found").textContent = calls ? `${methods} method${methods > 1 ? "s" : ""}, ${calls.toLocaleString("en")} call${calls > 1 ? "s" : ""}, ${duration(time)}` : "not found";
    }
    if (this.mode === "methods") this.methodTable();
    this.chart.draw();
  }

  nextMatch(step) {
    const { calls, matches } = this.chart;
    if (!matches || !calls.length) return;
    let i = this.match;
    for (let tries = 0; tries < calls.length; tries++) {
      i = (i + step + calls.length) % calls.length;
      if (!matches[calls.method[i]]) continue;
      this.match = i;
      this.chart.select(i);
      this.chart.fit(i);
      return;
    }
  }

  stallList() {
    const items = this.recording.stalls.map((s, k) => {
      const li = document.createElement("li");
      li.tabIndex = 0;
      const head = document.createElement("b"), small = document.createElement("small");
      head.textContent = s.wall ? duration(s.wall) : "?";
      small.textContent = ["at " + duration(s.begin), s.verdict && s.what].filter(Boolean).join(" · ");
      li.append(head, " " + (s.verdict || s.what), small);
      li.onclick = () => this.openStall(k);
      li.onkeydown = (event) => {
        if (event.key === "Enter") this.openStall(k);
      };
      return li;
    });
    if (!items.length) {
      const li = document.createElement("li");
      li.textContent = "No stall was recorded.";
      li.style.borderColor = "var(--good)";
      items.push(li);
    }
    $("stalls").replaceChildren(...items);
    this.stall = -1;
  }

  async openStall(k) {
    const s = this.recording.stalls[k];
    this.stall = k;
    [...$("stalls").children].forEach((li, i) => li.setAttribute("aria-current", i === k));
    $("stalls").children[k].scrollIntoView({ block: "nearest" });
    const i = this.recording.threads.findIndex((t) => t.index === s.thread);
    if (i >= 0 && this.recording.threads[i] !== this.thread) {
      $("thread").value = i;
      await this.openThread(i);
    }
    const margin = s.wall * 0.05;
    this.choose(s.begin - margin, s.begin + s.wall + margin);
    this.stallDetails(s);
  }

  stallDetails(s) {
    const long = s.facts.filter(([, text]) => text.includes("\n")), short = s.facts.filter(([, text]) => !text.includes("\n"));
    const before = this.thread.messages.filter((m) => m.end <= s.begin).slice(-20).map((m) => `${duration(m.end - m.begin)} ${m.kind}: ${m.name}`);
    const parts = [definitions([["verdict", s.verdict], ["took", s.wall ? duration(s.wall) : ""], ...short])];
    for (const [name, text] of long) parts.push(heading(name), lines(text.split("\n")));
    if (before.length) parts.push(heading("ran before"), lines(before.reverse()));
    $("details").replaceChildren(...parts);
  }

  details(i) {
    const { calls } = this.chart;
    if (i < 0) return;
    const n = page.names[calls.method[i]], took = calls.end[i] - calls.begin[i], whole = this.chart.limit[1] - this.chart.limit[0];
    const root = (() => { let r = i; while (calls.parent[r] >= 0) r = calls.parent[r]; return r; })();
    const rows = [["method", labels[calls.method[i]].text + (n.descriptor ? " " + n.descriptor : "")],
      ["source", n.source],
      ["took", duration(took) + ` (${(100 * took / Math.max(1, calls.end[root] - calls.begin[root])).toFixed(1)} % of the outermost, ${(100 * took / whole).toFixed(1)} % of all)`],
      ["own time", duration(calls.self(i))],
      [this.mode === "graph" ? "calls" : "began", this.mode === "graph" || !this.recording.timed ? calls.calls[i].toLocaleString("en") + " calls" : "at " + duration(calls.begin[i])],
      ["times", this.recording.clock]];
    if (this.mode === "chart" && calls.parent[i] < 0) rows.push(["message", this.message(calls.begin[i], calls.end[i])]);
    for (const [bit, text] of MARKS) if (calls.marks[i] & bit) rows.push(["repaired", text]);
    const path = [];
    for (let p = calls.parent[i]; p >= 0; p = calls.parent[p]) path.push(labels[calls.method[p]].text);
    $("details").replaceChildren(definitions(rows), ...(path.length ? [heading("Called by"), lines(path.slice(0, 200))] : []));
  }

  /** What the history says of the message between two times; it and the records have clocks that differ a little. */
  message(begin, end) {
    const { off } = this.recording;
    const found = this.thread.messages.find((m) => Math.abs(m.begin - begin) <= off && Math.abs(m.end - end) <= off);
    return found ? found.name : "";
  }

  tip(i, event) {
    const tip = $("tip");
    tip.hidden = i < 0;
    if (i < 0) return;
    const { calls } = this.chart, small = document.createElement("small");
    small.textContent = `${duration(calls.end[i] - calls.begin[i])}; own time ${duration(calls.self(i))}` + (calls.calls[i] > 1 ? `, ${calls.calls[i]} calls` : "");
    tip.replaceChildren(labels[calls.method[i]].text, small);
    tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8) + "px";
  }

  status() {
    const named = new Map(this.recording.facts), about = ["meta.package", "meta.versionName", "meta.process", "meta.device"].map((k) => named.get(k));
    const rest = this.recording.facts.filter(([k]) => /^(times|reports|samples|methods without|segments|repairs|damage|overwritten)/.test(k));
    $("status").textContent = [about.filter(Boolean).join(" "), ...rest.map(([k, v]) => (k === "times" ? v : `${k}: ${v}`))].filter(Boolean).join(" · ");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, input") || $("keys").open) return;
    const middle = $("chart").getBoundingClientRect().width / 2;
    const actions = {
      "w": () => this.chart.zoom(0.7, middle), "+": () => this.chart.zoom(0.7, middle), "=": () => this.chart.zoom(0.7, middle),
      "s": () => this.chart.zoom(1 / 0.7, middle), "-": () => this.chart.zoom(1 / 0.7, middle),
      "a": () => this.chart.move(-0.2), "ArrowLeft": () => this.chart.move(-0.2),
      "d": () => this.chart.move(0.2), "ArrowRight": () => this.chart.move(0.2),
      "f": () => this.chart.selected >= 0 && this.chart.fit(this.chart.selected),
      "0": () => this.whole(), "Home": () => this.whole(),
      "n": () => this.stepStall(1), "p": () => this.stepStall(-1),
      "1": () => this.setMode("chart"), "2": () => this.setMode("graph"), "3": () => this.setMode("methods"),
      "/": () => $("search").focus(), "?": () => $("keys").showModal(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  whole() {
    if (this.mode === "chart") this.chart.view(...this.chart.limit);
    else this.choose(0, this.recording.end);
  }

  stepStall(step) {
    const n = this.recording.stalls.length;
    if (n) this.openStall((Math.max(this.stall, step < 0 ? 0 : -1) + step + n) % n);
  }
}

function heading(text) {
  const h = document.createElement("h2");
  h.textContent = text;
  return h;
}

function lines(list) {
  const div = document.createElement("div");
  for (const text of list) {
    const line = document.createElement("small");
    line.textContent = text;
    div.append(line);
  }
  return div;
}

function definitions(rows) {
  const dl = document.createElement("dl");
  for (const [name, text] of rows) {
    if (!text) continue;
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = text;
    dl.append(dt, dd);
  }
  return dl;
}

const shown = new Page();
if (page.recordings.length) shown.openRecording(0);
else document.documentElement.dataset.ready = "0";
