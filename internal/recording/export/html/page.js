"use strict";

const page = JSON.parse($("head").textContent);

const views = ["threads", "chart", "topdown", "bottomup", "sandwich", "methods"];

/** A package's methods share a shade, which is a hash of its name, so that it is the same on every page. */
function labelOf(n) {
  const pack = n.class ? n.class.replace(/\.[^.]*$/, "") : "";
  let hash = 2166136261; // FNV-1a
  for (let i = 0; i < pack.length; i++) hash = Math.imul(hash ^ pack.charCodeAt(i), 16777619);
  const shade = ((hash ^ (hash >>> 15)) >>> 0) % 5;
  return { text: n.label, cls: n.class, ...partsOf(n.label, n.class), shade, lost: n.lost };
}

/** Waits until what is there has been painted; not for long, because a page in the background is not painted. */
function shellPainted() {
  return new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
    setTimeout(done, 300);
  });
}

/** What every view is made of: the recording, the threads, the range, the view, the search and the selection. */
class Page {
  constructor() {
    this.labels = [];
    const names = (m) => this.labels[m] || { text: "(outermost)", shade: 0 };
    this.names = names;
    this.timeline = new Timeline($("timeline"));
    this.charts = {
      chart: new Chart($("chart"), names),
      callers: new Chart($("callers"), names, true),
      callees: new Chart($("callees"), names),
    };
    this.threads = new Threads($("threads"), names);
    this.view = "chart";
    this.time = "wall"; // or "cpu"
    this.scope = 0; // the position of the thread, -1 for all
    this.sort = { column: "self", down: true };
    this.jobs = 0; // of refresh, so far
    this.working = 0; // how many of them are not done
    this.selection = null; // {names, text}: what is copied
    this.method = -1; // of the sandwich
    this.stall = -1;
    this.refreshSoon = later(120, () => this.refresh());
    this.belowSoon = later(30, () => this.showBelow());
    this.hashSoon = later(150, () => this.writeHash());
    this.listen();
    this.controls();
  }

  // What happens on the canvases.

  listen() {
    const { chart } = this.charts;
    for (const c of Object.values(this.charts)) {
      c.onhover = (i, event) => this.tip(i === null ? null : this.callTip(c.calls, i), event);
      c.onselect = (i) => this.details(c, i);
    }
    chart.onview = () => this.view === "chart" && this.viewed(chart);
    this.threads.onview = () => this.view === "threads" && this.viewed(this.threads);
    this.threads.onhover = (hit, event) => this.tip(hit && this.threadTip(hit), event);
    this.threads.onselect = (hit) => this.threadClick(hit);
    this.timeline.onhover = (about, event) => this.tip(about, event);
    this.timeline.onchoose = (from, to) => this.choose(from, to);
    this.timeline.onthread = (k) => this.setScope(k);
    this.timeline.onstall = (k) => this.openStall(k);
    document.addEventListener("scroll", () => this.tip(null), true);
    for (const gone of ["blur", "resize", "hashchange"]) addEventListener(gone, () => this.tip(null));
    addEventListener("hashchange", () => location.hash !== this.hash && this.restore());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  controls() {
    page.recordings.forEach((r, k) => $("source").append(new Option(r.name, k)));
    $("source-label").hidden = page.recordings.length < 2;
    $("source").onchange = () => this.openRecording(+$("source").value);
    $("thread").onchange = () => this.setScope(+$("thread").value);
    for (const view of views) $("tab-" + view).onclick = () => this.setView(view);
    $("search").oninput = () => this.search();
    $("search").onkeydown = (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.nextMatch(event.shiftKey ? -1 : 1);
      if (event.key !== "Escape") return;
      $("search").value = "";
      this.search();
      $("tab-" + this.view).focus();
    };
    $("stall-order").onchange = () => this.stallList();
    $("time-wall").onclick = () => this.setTime("wall");
    $("time-cpu").onclick = () => this.setTime("cpu");
    $("theme").onclick = () => this.setTheme(colors.dark ? "light" : "dark", true);
    $("help").onclick = () => this.help();
    $("link").onclick = () => this.copyLink();
    $("copy-name").onclick = () => this.copyName();
    $("copy-stack").onclick = () => this.copyStack();
    $("to-sandwich").onclick = () => this.toSandwich();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.onchange = () => this.themed || this.setTheme(dark.matches ? "dark" : "light");
    this.setTheme(dark.matches ? "dark" : "light");
    this.notices();
  }

  notices() {
    const all = [page.banner, ...page.notices].filter(Boolean);
    $("banner").firstElementChild.textContent = all.length > 1 ? `${all[0]} (and ${all.length - 1} more)` : all[0];
    $("banner").lastElementChild.textContent = all.join("\n");
    $("banner").hidden = !all.length;
    $("banner").className = page.banner ? "" : "notice";
  }

  setTheme(theme, chosen = false) {
    this.themed ||= chosen;
    document.documentElement.dataset.theme = theme;
    document.documentElement.style.colorScheme = theme;
    colors.read();
    this.timeline.draw();
    this.drawAll();
    if (chosen) this.hashSoon();
  }

  drawAll() {
    for (const c of [...Object.values(this.charts), this.threads]) c.draw();
  }

  // The recording and its calls.

  /** Shows what the head of the page says at once, and the calls as they are decoded. */
  async openRecording(k, state = {}) {
    const token = (this.opening = {}),
      r = (this.recording = page.recordings[k]);
    this.wanted = state;
    this.source = k;
    $("source").value = k;
    $("title").textContent = document.title = r.title;
    this.calls = r.threads.map(() => null); // by thread: its calls once they are complete
    this.messages = r.threads.map(() => []);
    this.more = null;
    this.states = [];
    this.tree = null;
    const options = r.threads.map((t, i) => new Option(`${t.name} (${plural(t.calls, "call")})`, i));
    if (r.threads.length > 1) options.push(new Option("all threads", -1));
    $("thread").replaceChildren(...options);
    $("thread-label").hidden = r.threads.length < 2;
    this.timeline.show(r);
    this.applyState(state);
    this.stallList();
    this.status();
    this.setView(this.view);
    const alive = () => token === this.opening;
    await shellPainted();
    document.documentElement.dataset.shell ||= String(Math.round(performance.now()));
    try {
      await this.readData(alive);
    } catch (e) {
      page.notices.push(`This page cannot be read: ${e.message}.`);
      this.notices();
      throw e;
    }
  }

  /** Reads what is behind the head of the page: names, then calls. */
  async readData(alive) {
    if (!this.named) {
      this.named = await inflateJSON("names");
      this.labels = this.named.map(labelOf);
      this.foldNames();
    }
    if (alive()) await this.decodeFirst(alive);
    if (alive()) await this.decodeRest(alive);
  }

  /** Calls that stand for several methods have names of their own; merged views show all of them as one. */
  foldNames() {
    this.same = this.named.map((n, m) => (n.folded ? this.named.length : m));
    if (this.named.some((n) => n.folded))
      this.labels.push({ text: "(folded: short calls of several methods)", shade: 0 });
  }

  /** Decodes what is shown, and then what is known of stalls and messages. */
  async decodeFirst(alive) {
    this.search();
    const k = Math.max(0, this.scope);
    if (this.recording.threads.length) await this.decode(k, alive);
    if (!alive()) return;
    const more = (this.more = await inflateJSON(this.recording.more));
    if (!alive()) return;
    this.messages = more.messages;
    this.states = more.states.map((list) => new States(list));
    this.calls.forEach((calls) => calls && this.attach(calls));
    this.timeline.states = this.states;
    this.timeline.frames = more.frames;
    this.tree = null;
    await this.refresh();
    if (!alive()) return;
    $("facts").lastElementChild.replaceChildren(definitions(more.facts.map(([key, text]) => [factName(key), text])));
    this.timeline.draw();
    this.applySelection(this.wanted); // a link may have been pasted meanwhile
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  }

  async decodeRest(alive) {
    for (;;) {
      const k = this.calls[this.scope] === null ? this.scope : this.calls.indexOf(null);
      if (k < 0) break;
      await this.decode(k, alive);
      if (!alive()) return;
    }
    if (this.view === "threads") this.showThreads();
    if (this.scope < 0) this.refresh();
    document.documentElement.dataset.complete = String(Math.round(performance.now()));
  }

  /** Decodes the calls of a thread; the flame chart shows those that are there already. */
  async decode(k, alive) {
    const thread = this.recording.threads[k];
    const calls = await decodeCalls(thread.events, thread.calls, (part) => {
      if (alive() && this.view === "chart" && this.scope === k) this.showChart(part);
    });
    if (!alive()) return;
    calls.thread = k;
    this.calls[k] = calls;
    if (this.more) this.attach(calls);
    this.tree = null;
    if (this.scope === k) this.refresh();
    else if (this.view === "threads") this.showThreads();
  }

  /** Gives the calls of a thread what samples show of them. */
  attach(calls) {
    calls.states = this.states[calls.thread];
    calls.samples = this.more.samples[calls.thread];
    calls.stacks = this.more.stacks;
    if (calls.samples.length) calls.woven = weave(calls);
  }

  /** Whether there are steady samples, so that it is known how long threads ran. */
  sampled() {
    return this.more?.samples.some((list) => list.length > 0) || false;
  }

  /** The calls of the chosen threads that are decoded. Asynchronous calls are no thread: their time is that of others. */
  scoped() {
    const { threads } = this.recording;
    return this.scope < 0 ? this.calls.filter((calls, k) => calls && !threads[k].async) : this.calls[this.scope] ? [this.calls[this.scope]] : [];
  }

  // State: view, threads, range.

  defaultScope() {
    const { threads } = this.recording,
      main = threads.findIndex((t) => t.main);
    const better = (t, best) => !t.async && (best.async || t.calls > best.calls);
    return main >= 0 ? main : threads.reduce((best, t, i) => (better(t, threads[best]) ? i : best), 0);
  }

  applyState(state) {
    const { threads, end, timed } = this.recording;
    const named = threads.findIndex((t) => String(t.index) === state.thread);
    this.scope = state.thread === "all" ? -1 : named >= 0 ? named : this.defaultScope();
    this.view = views.includes(state.view) ? state.view : timed ? "chart" : "topdown";
    const from = +state.from,
      to = +state.to;
    this.range = to > from ? [Math.max(0, from), Math.min(end, to)] : [0, end];
    if (state.search !== undefined) $("search").value = state.search;
    if (state.stalls in stallOrders) $("stall-order").value = state.stalls;
    if (state.sort) this.sort = { column: state.sort.replace(/^-/, ""), down: state.sort.startsWith("-") };
    this.time = state.time === "cpu" ? "cpu" : "wall";
    for (const t of ["wall", "cpu"]) $("time-" + t).setAttribute("aria-pressed", t === this.time);
    if (!(this.sort.column in columns)) this.sort = { column: this.time === "cpu" ? "cpu" : "self", down: true };
    if (state.theme === "dark" || state.theme === "light") this.setTheme(state.theme, true);
    $("thread").value = this.scope;
    this.stall = -1;
  }

  /** Selects what the state names, when its calls are there. */
  applySelection(state) {
    if (state.method) this.method = this.labels.findIndex((l) => l.text === state.method);
    if (state.method && this.view === "sandwich") this.refresh();
    const k = this.recording.stalls.findIndex((s) => String(s.number) === state.stall);
    const i = +state.call;
    if (k >= 0) this.showStall(k);
    else if (state.call && i < this.charts.chart.calls.length && this.view === "chart") this.charts.chart.select(i);
  }

  setScope(k) {
    this.scope = k;
    $("thread").value = k;
    if (k < 0 && this.view === "chart") this.view = "threads";
    this.tree = null;
    this.method = this.view === "sandwich" ? this.method : -1;
    this.setView(this.view);
  }

  setView(view) {
    this.tip(null);
    if (view === "chart" && this.scope < 0) {
      this.scope = this.defaultScope();
      $("thread").value = this.scope;
      this.tree = null;
    }
    this.view = view;
    for (const v of views) {
      $("tab-" + v).setAttribute("aria-selected", v === view);
      $("tab-" + v).tabIndex = v === view ? 0 : -1;
    }
    $("tab-" + view).scrollIntoView({ block: "nearest", inline: "nearest" });
    const panes = {
      threads: "threads-pane",
      chart: "canvas-pane",
      topdown: "canvas-pane",
      bottomup: "canvas-pane",
      sandwich: "sandwich-pane",
      methods: "methods-pane",
    };
    for (const id of Object.values(panes)) $(id).hidden = id !== panes[view];
    this.select(null);
    this.timeline.thread = this.recording.threads[this.scope] || null;
    this.timeline.draw();
    this.refresh();
  }

  /** The range moves with flame chart and threads; the other views are made of what is in it. */
  viewed(pane) {
    if (pane.from === this.range[0] && pane.to === this.range[1]) return;
    this.range = [pane.from, pane.to];
    this.rangeChanged();
  }

  choose(from, to) {
    this.range = [Math.max(0, from), Math.min(this.recording.end, Math.max(to, from + 1))];
    if (this.view === "chart") this.charts.chart.view(...this.range);
    else if (this.view === "threads") this.threads.view(...this.range);
    this.rangeChanged();
  }

  rangeChanged() {
    this.timeline.seen = this.range;
    this.timeline.draw();
    this.spanText();
    this.hashSoon();
    const timed = this.view === "threads" || (this.view === "chart" && !this.below());
    if (!timed || $("search").value) this.refreshSoon();
  }

  /** Makes the view anew of recording, threads and range. What is made for the one before is given up. */
  async refresh() {
    const token = ++this.jobs;
    this.working++;
    try {
      await this.makeView(() => token === this.jobs);
    } finally {
      this.working--;
      this.spanText();
    }
  }

  /** Whether something is being computed, or will be soon. */
  busy() {
    return this.working > 0 || this.refreshSoon.waiting || this.belowSoon.waiting || this.hashSoon.waiting;
  }

  async makeView(alive) {
    this.timeline.seen = this.range;
    this.hashSoon();
    this.spanText();
    if (this.view === "chart") this.showChart(this.calls[this.scope]);
    if (this.view === "threads") this.showThreads();
    if (!$("search").value && (this.view === "threads" || (this.view === "chart" && !this.below()))) return;
    if (!this.scoped().length) this.showNothing();
    const tree = await this.treeOf(alive);
    if (!tree) return;
    this.foundText(tree);
    if (this.view === "chart") this.belowSoon();
    const shown = this.shownTree();
    if (this.view === "topdown") this.showMerged(shown, shown);
    if (this.view === "bottomup") this.showMerged(await invert(shown, alive), shown);
    if (this.view === "topdown" || this.view === "bottomup") this.belowSoon();
    if (this.view === "methods") this.showTable($("methods"), tree, this.keys());
    if (this.view === "sandwich") await this.showSandwich(shown, alive);
  }

  /** The merged calls of the chosen threads in the range; null if the view has changed meanwhile. */
  async treeOf(alive) {
    const calls = this.scoped(),
      key = [this.scope, calls.length, ...this.range].join();
    if (!calls.length) return null;
    if (this.tree?.key === key) return this.tree;
    const tree = await mergeCalls(calls, ...this.range, alive, this.same);
    if (!tree || !alive()) return null;
    tree.key = key;
    tree.all = calls.reduce((sum, c) => sum + c.total(), 0);
    tree.lost = tree.method.reduce((sum, m, k) => sum + (k && this.names(m).lost ? tree.self[k] : 0), 0);
    return (this.tree = tree);
  }

  /** The merged calls with the time that is shown: all of it, or that in which threads ran. */
  shownTree() {
    if (this.time !== "cpu" || !this.tree) return this.tree;
    if (!this.tree.cpu) {
      this.tree.cpu = cpuTree(this.tree);
      const ran = (samples) => (samples || []).reduce((sum, s) => sum + cpuOf(s), 0);
      this.tree.cpu.all = this.scoped().reduce((sum, c) => sum + ran(c.samples), 0);
    }
    return this.tree.cpu;
  }

  setTime(time) {
    this.time = time;
    for (const t of ["wall", "cpu"]) $("time-" + t).setAttribute("aria-pressed", t === time);
    const of = { self: "cpu", cpu: "self" };
    if (this.sort.column === of[time === "cpu" ? "cpu" : "self"]) this.sort.column = of[this.sort.column];
    this.refresh();
  }

  // The views.

  showChart(calls) {
    calls = calls?.woven || calls;
    const { chart } = this.charts,
      range = this.range,
      same = calls === chart.calls,
      { selected, top } = chart;
    chart.gaps = this.more?.windows[this.scope] || [];
    chart.show(calls || new Calls(0), 0, this.recording.end);
    chart.view(...range);
    this.fitChart();
    if (!same) return;
    chart.selected = selected;
    chart.top = top;
  }

  /** Makes a chart that is short as tall as it is, and puts the table of methods in the room below it. */
  fitChart() {
    const tall = this.charts.chart.tall() + 8,
      room = $("canvas-pane").clientHeight;
    $("below").hidden = tall > room * 0.6;
    $("chart-box").style.flex = $("below").hidden ? "" : `0 0 ${tall}px`;
  }

  /** Whether the methods of what is selected, or of what is shown, are below the chart. */
  below() {
    return !$("below").hidden;
  }

  /** The methods of the call that is selected on a short chart, or of all that is shown. */
  async showBelow() {
    const token = (this.belowOf = {}),
      alive = () => token === this.belowOf;
    if (!this.below() || !this.tree) return;
    const { chart } = this.charts,
      { calls, selected: i } = chart,
      one = i >= 0 && this.view !== "bottomup";
    let tree = this.tree;
    if (one && this.view === "chart") {
      const of = this.calls[this.scope];
      tree = await mergeCalls([of], calls.begin[i], calls.end[i], alive, this.same, calls.origin ? calls.origin[i] : i);
    }
    else if (one && calls.tree) tree = await calleesOf(calls.tree, { outer: [calls.node[i]] }, alive);
    if (!tree || !alive()) return;
    $("below-methods").caption.replaceChildren(
      one ? `Methods in ${this.names(calls.method[i]).text}, ${duration(tree.total[0])}` : "Methods of what is shown",
    );
    tree.lost = this.tree.lost;
    this.showTable($("below-methods"), tree, this.keys());
  }

  /** The columns of a table of methods. */
  keys() {
    return this.sampled() ? ["self", "cpu", "total", "calls", "name"] : ["self", "total", "calls", "name"];
  }

  showThreads() {
    const all = this.recording.threads.map((thread, k) => ({
      thread,
      calls: this.calls[k],
      messages: this.messages[k] || [],
      states: this.states[k] || new States([]),
      stalls: this.recording.stalls.filter((s) => s.thread === thread.index && s.role === "stall"),
    }));
    const range = this.range,
      { top } = this.threads;
    this.threads.show(all, this.recording.end);
    this.threads.view(...range);
    this.threads.scroll(top || 0);
  }

  /** While the calls are not there. */
  showNothing() {
    if (this.view === "topdown" || this.view === "bottomup") this.charts.chart.show(new Calls(0), 0, 1);
  }

  showMerged(tree, whole) {
    if (!tree || this.shownTree() !== whole) return;
    const { chart } = this.charts;
    chart.gaps = [];
    chart.shares = { shown: whole.total[0], all: whole.all };
    chart.show(layOut(tree), 0, Math.max(1, tree.total[0]));
    this.fitChart();
  }

  showTable(table, tree, keys) {
    const matches = this.matches,
      rows = [...methodTimes(tree).values()].filter((r) => !matches || matches[r.method]);
    showMethods(table, rows, {
      keys,
      names: this.names,
      sort: this.sort,
      whole: {
        total: tree.total[0],
        self: tree.total[0],
        cpu: tree.children[0].reduce((sum, k) => sum + (tree.by[k]?.[3] || 0), 0),
        tree,
      },
      bounded: tree.lost > 0,
      selected: this.method,
      onpick: (m) => this.toSandwich(m),
      onsort: (column) => {
        this.sort = { column, down: column === this.sort.column ? !this.sort.down : column !== "name" };
        this.refresh();
      },
    });
  }

  async showSandwich(tree, alive) {
    const times = methodTimes(tree, true);
    if (!times.has(this.method))
      this.method =
        [...times.values()].reduce((best, t) => (best && best.self >= t.self ? best : t), null)?.method ?? -1;
    this.showTable($("sandwich-methods"), this.tree, this.time === "cpu" ? ["cpu", "total", "name"] : ["self", "total", "name"]);
    const t = times.get(this.method),
      bound = tree.lost > 0 ? "≥ " : "";
    if (!t) return;
    $("sandwich-head").replaceChildren(
      element("b", { title: this.names(t.method).text }, this.names(t.method).text),
      element(
        "span",
        {},
        `total ${bound}${duration(t.total)}, self ${bound}${duration(t.self)}, ` +
          `${t.calls ? plural(t.calls, "call") : "no recorded call"}: ` +
          shares(t.total, tree.total[0], tree.all),
      ),
    );
    for (const [id, callers] of [
      ["caller-table", true],
      ["callee-table", false],
    ]) {
      showMethods($(id), neighbours(tree, t, callers), {
        keys: ["total", "calls", "name"],
        names: this.names,
        sort: { column: "total", down: true },
        whole: t,
        bounded: tree.lost > 0,
        onpick: (m) => this.toSandwich(m),
      });
    }
    const callers = await callersOf(tree, t, alive),
      callees = callers && (await calleesOf(tree, t, alive));
    if (!callees) return;
    for (const [name, part] of [
      ["callers", callers],
      ["callees", callees],
    ]) {
      this.charts[name].shares = { shown: tree.total[0], all: tree.all };
      this.charts[name].show(layOut(part), 0, Math.max(1, part.total[0]));
    }
  }

  /** "21 ms of 3.2 s shown": what percentages are of. */
  spanText() {
    if (!this.recording) return;
    const [from, to] = this.range,
      { end, timed } = this.recording,
      parts = [];
    if (timed)
      parts.push(`${duration(to - from)} of ${duration(end)} shown`, `from ${duration(from)} to ${duration(to)}`);
    if (this.view !== "chart" && this.view !== "threads" && this.tree)
      parts.push(
        `${duration(this.shownTree().total[0])} ${this.time === "cpu" ? "CPU " : ""}in calls of ` +
          (this.scope < 0 ? "all threads" : this.recording.threads[this.scope].name),
      );
    if (this.view !== "chart" && this.view !== "threads" && this.tree?.lost)
      parts.push(`${duration(this.tree.lost)} of it not recorded: times are lower bounds`);
    if (!this.scoped().length && this.recording.threads.length) parts.push("calls are being read");
    else if (this.working) parts.push("calls are being merged");
    $("span").textContent = parts.join(" · ");
    $("time").hidden = !this.sampled();
  }

  // Search.

  search() {
    const text = $("search").value.trim(),
      box = $("search");
    this.matches = null;
    this.error = "";
    if (text && this.labels.length)
      ({ matches: this.matches, error: this.error } = matching(
        text,
        this.labels.map((l) => l.text),
      ));
    box.setAttribute("aria-invalid", this.error !== "");
    for (const c of [...Object.values(this.charts), this.threads]) c.matches = this.matches;
    $("found").textContent = this.error;
    this.drawAll();
    this.refreshSoon();
  }

  foundText(tree) {
    if (!this.matches || this.error) return;
    const { methods, calls, time } = found(tree, this.matches);
    $("found").textContent = calls
      ? `${plural(methods, "method")}, ${plural(calls, "call")}, ` +
        `${percent(time, tree.total[0])} of the ${duration(tree.total[0])} in calls shown`
      : "not found";
  }

  nextMatch(step) {
    const chart = this.charts[this.view === "sandwich" ? "callees" : "chart"],
      { calls } = chart;
    if (!this.matches || !calls.length || this.view === "methods" || this.view === "threads") return;
    for (let tries = 0, i = chart.selected; tries < calls.length; tries++) {
      i = (i + step + calls.length) % calls.length;
      if (!this.matches[calls.method[i]]) continue;
      chart.select(i);
      chart.fit(i);
      return;
    }
  }

  // Stalls.

  stallList() {
    showStalls($("stalls"), this.recording, $("stall-order").value, (k) => this.openStall(k));
    const stalls = this.recording.stalls.filter((s) => s.role === "stall").length;
    $("stall-count").textContent = stalls ? `(${stalls.toLocaleString("en")})` : "";
    markStall($("stalls"), this.stall);
    this.incidentList();
    this.hashSoon();
  }

  incidentList() {
    const found = this.recording.incidents || [],
      states = this.recording.detectors || "";
    $("found-by-detectors").hidden = !found.length && !states;
    $("incident-count").textContent = found.length ? `(${found.length.toLocaleString("en")})` : "";
    $("detectors").textContent = states && `${states}${found.length ? "" : ". Those that were on found nothing."}`;
    showIncidents($("incidents"), this.recording, (i) => {
      const margin = Math.max((i.end - i.begin) * 0.05, 1e6);
      this.choose(i.begin - margin, i.end + margin);
      $("details").replaceChildren(
        definitions([
          ["found", i.text],
          ["what", i.what],
          ["facts", i.facts.join(", ")],
          ["path", (i.methods || []).join(" › ")],
          ["stack", (i.stack || []).join("\n")],
        ]),
      );
    });
  }

  openStall(k) {
    const s = this.recording.stalls[k],
      i = this.recording.threads.findIndex((t) => t.index === s.thread),
      margin = s.wall * 0.05;
    if (i >= 0 && i !== this.scope && this.scope >= 0) this.setScope(i);
    this.choose(s.begin - margin, s.begin + s.wall + margin);
    this.showStall(k);
  }

  showStall(k) {
    const s = this.recording.stalls[k],
      thread = this.recording.threads.find((t) => t.index === s.thread);
    this.stall = k;
    markStall($("stalls"), k);
    if (!this.more) {
      $("details").replaceChildren(
        definitions([
          ["why", s.verdict],
          ["what ran", s.what],
        ]),
      );
      return;
    }
    const more = this.more.stalls[k],
      stack = more.samples[0]?.frames || more.hotPath.map((p) => identity(p.method)).reverse();
    this.select({ name: `${lasted(s)}: ${s.verdict}`, stack, method: -1 });
    $("details").replaceChildren(...stallParts(s, more, thread ? thread.name : String(s.thread)));
    this.stall = k;
    this.hashSoon();
  }

  stepStall(step) {
    const order = [...$("stalls").querySelectorAll("button")]
      .filter((b) => !b.closest("details:not([open])"))
      .map((b) => +b.dataset.stall);
    if (!order.length) return;
    const at = order.indexOf(this.stall);
    this.openStall(order[(at < 0 ? (step > 0 ? 0 : order.length - 1) : at + step + order.length) % order.length]);
  }

  // Details of what is selected.

  select(selection) {
    this.selection = selection;
    this.stall = -1;
    $("copy").hidden = !selection;
    $("to-sandwich").hidden = !selection || selection.method < 0;
    this.hashSoon();
  }

  /** What shares of a call on a chart are of: the time that is shown, or that of all merged calls. */
  sharesOf(chart, part) {
    if (chart === this.charts.chart && this.view === "chart")
      return shares(part, this.range[1] - this.range[0], this.recording.end);
    return shares(part, chart.shares.shown, chart.shares.all);
  }

  details(chart, i) {
    if (chart === this.charts.chart && this.below()) this.belowSoon();
    if (i < 0) return;
    const { calls } = chart,
      m = calls.method[i],
      label = this.names(m),
      timed = chart === this.charts.chart && this.view === "chart";
    const clipped = timed
      ? Math.min(calls.end[i], this.range[1]) - Math.max(calls.begin[i], this.range[0])
      : calls.took(i);
    const path = calls.path(i),
      inverted = this.view === "bottomup" || chart === this.charts.callers,
      root = path[path.length - 1];
    const rows = [
      ["method", this.nameOf(m)],
      ["took", duration(calls.took(i))],
    ];
    if (inverted && i !== root)
      rows[1] = ["in it", `${duration(calls.took(i))} of ${this.names(calls.method[root]).text}`];
    rows.push(["share", this.sharesOf(chart, Math.max(0, clipped))]);
    if (!inverted) rows.push(["own time", duration(calls.self(i))]);
    rows.push(["estimated", this.estimateOf(calls, i)]);
    if (path.length > 1)
      rows.push([
        "in its root",
        percent(calls.took(i), calls.took(root)) + " of " + this.names(calls.method[root]).text,
      ]);
    if (timed && this.recording.timed) rows.push(["began", "at " + duration(calls.begin[i])]);
    const count = calls.calls[i].toLocaleString("en");
    if (!timed) rows.push(["calls", calls.calls[i] ? count : "not recorded"]);
    else if (calls.calls[i] > 1) rows.push(["calls", `${count}, shown as one: their times are added up`]);
    if (timed && calls.parent[i] < 0) rows.push(["message", this.message(calls.begin[i], calls.end[i])]);
    for (const [bit, text] of MARKS) if (calls.marks[i] & bit) rows.push(["repaired", text]);
    rows.push(["times", this.recording.clock], ...this.sourceRows(m));
    const left = this.more?.off.find(([method]) => method === m);
    if (left)
      rows.push([
        "left out",
        plural(left[1], "more call") + ", because the method was switched off; their time is in their callers",
      ]);
    if (label.lost) rows.push(["not recorded", "records of this thread are missing here; what ran is not known"]);
    const around = path.slice(1),
      above = around.map((p) => this.names(calls.method[p]).text);
    this.select({
      name: label.text,
      stack: inverted ? [label.text, ...above].reverse() : [label.text, ...above],
      method: m,
    });
    $("details").replaceChildren(
      definitions(rows),
      ...(above.length
        ? [heading(inverted ? "Calls, down to the root" : "Called by"), this.pathList(chart, around.slice(0, 300))]
        : []),
    );
  }

  nameOf(m) {
    const { text, cls } = this.names(m);
    return named(text, cls);
  }

  sourceRows(m) {
    const n = this.named?.[m];
    return n
      ? [
          ["source", n.source],
          ["descriptor", n.descriptor],
        ]
      : [];
  }

  /** The callers of a call; a click selects one. */
  pathList(chart, path) {
    return element(
      "div",
      { className: "path" },
      ...path.map((p) =>
        element("button", { onclick: () => chart.select(p) }, this.nameOf(chart.calls.method[p])),
      ),
    );
  }

  /** What the history says of the message between two times; it and the records have clocks that differ a little. */
  message(begin, end) {
    const { off } = this.recording,
      near = (a, b) => Math.abs(a - b) <= off;
    return this.messages[this.scope]?.find((m) => near(m.begin, begin) && near(m.end, end))?.name || "";
  }

  threadClick(hit) {
    if (!hit) return;
    const { row, i } = hit,
      k = this.recording.threads.indexOf(row.t.thread);
    if (row.kind === "calls" && row.t.calls) {
      const near = {
        calls: row.t.calls,
        shares: { shown: this.range[1] - this.range[0], all: this.recording.end },
        select: () => {},
      };
      this.details(near, i);
    }
    if (row.kind === "messages") this.messageDetails(row.t.messages[i]);
    if (row.kind === "name") this.setScope(k);
  }

  messageDetails(m) {
    this.select({ name: m.name, stack: [m.name], method: -1 });
    $("details").replaceChildren(
      definitions([
        ["message", m.name],
        ["kind", m.kind],
        ["took", duration(m.end - m.begin)],
        ["share", shares(m.end - m.begin, this.range[1] - this.range[0], this.recording.end)],
        ["began", "at " + duration(m.begin)],
      ]),
    );
  }

  // Tooltips.

  callTip(calls, i) {
    const parts = [`${duration(calls.took(i))}; own time ${duration(calls.self(i))}`, this.estimateOf(calls, i)];
    if (calls.calls[i] > 1) parts.splice(1, 0, plural(calls.calls[i], "call"));
    return [this.names(calls.method[i]).text, parts.filter(Boolean).join("; ")];
  }

  /** What of a call rests on samples, in words; empty if nothing does. */
  estimateOf(calls, i) {
    if (calls.origin) return calls.samples[i] ? `est. from ${plural(calls.samples[i], "sample")}` : "";
    const { tree } = calls,
      k = calls.node[i];
    if (!tree?.effective) return "";
    const est = tree.estTotal[k];
    if (!tree.recorded || this.time === "cpu")
      return est?.time > 0
        ? estimateText(calls.took(i), this.time === "cpu" ? null : sumBounds(calls.took(i), est.time, tree), est)
        : "";
    const { total, self } = nodeBounds(tree, k);
    if (total) return estimateText(calls.took(i), total, tree.estSelf[k]);
    return self && tree.self[k] ? "own time " + estimateText(tree.self[k], self, tree.estSelf[k]) : "";
  }

  threadTip({ row, i }) {
    if (i < 0) return [row.t.thread.name, plural(row.t.thread.calls, "call")];
    if (row.kind === "calls") return this.callTip(row.t.calls, i);
    const m = row.t.messages[i];
    return [m.name, `${m.kind}, ${duration(m.end - m.begin)}`];
  }

  /** Shows a tooltip of two lines at a pointer, or hides it. */
  tip(text, event) {
    const tip = $("tip");
    tip.hidden = !text;
    if (!text) return;
    tip.replaceChildren(text[0], element("small", {}, text[1]));
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top =
      Math.max(
        4,
        event.clientY + 16 + tip.offsetHeight > innerHeight
          ? event.clientY - tip.offsetHeight - 10
          : event.clientY + 16,
      ) + "px";
  }

  status() {
    $("status").textContent = this.recording.about.join(" · ");
  }

  // Copies and links.

  say(text) {
    $("said").textContent = text;
    clearTimeout(this.saying);
    this.saying = setTimeout(() => $("said").replaceChildren(), 1500);
  }

  async copyName() {
    if (!this.selection) return;
    await copyText(this.selection.name);
    this.say("copied the name");
  }

  async copyStack() {
    if (!this.selection) return;
    await copyText(this.selection.stack.join("\n"));
    this.say("copied the stack");
  }

  async copyLink() {
    this.writeHash();
    await copyText(location.href);
    this.say("copied a link to this view");
  }

  toSandwich(m = this.selection?.method ?? -1) {
    if (m < 0) return;
    this.method = this.same[m] ?? m;
    if (this.view === "sandwich") this.refresh();
    else this.setView("sandwich");
  }

  /** The state as parameters; what is as it is at first is left out. */
  state() {
    const { recording: r } = this,
      state = { view: this.view },
      { column, down } = this.sort;
    if (this.source) state.recording = this.source + 1;
    if (this.scope < 0) state.thread = "all";
    else if (this.scope !== this.defaultScope()) state.thread = r.threads[this.scope].index;
    if (this.range[0] > 0 || this.range[1] < r.end) [state.from, state.to] = this.range.map(Math.round);
    if ($("search").value) state.search = $("search").value;
    if ($("stall-order").value !== "duration") state.stalls = $("stall-order").value;
    if (this.time === "cpu") state.time = "cpu";
    if (column !== "self" || !down) state.sort = (down ? "-" : "") + column;
    if (this.stall >= 0) state.stall = r.stalls[this.stall].number;
    else if (this.view === "chart" && this.charts.chart.selected >= 0) state.call = this.charts.chart.selected;
    if (this.view === "sandwich" && this.method >= 0) state.method = this.names(this.method).text;
    if (this.themed) state.theme = document.documentElement.dataset.theme;
    return state;
  }

  /** Keeps the state in the address, so that it can be copied. Not before what it says has been restored. */
  writeHash() {
    if (!this.recording || !this.more) return;
    if (location.hash !== this.hash) return; // a pasted link, of which hashchange has yet to tell
    const hash = "#" + new URLSearchParams(this.state());
    if (hash !== this.hash) history.replaceState(null, "", hash);
    this.hash = location.hash;
  }

  restore() {
    this.hash = location.hash;
    const state = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const k = Math.min(Math.max(0, (+state.recording || 1) - 1), page.recordings.length - 1);
    if (!this.recording || k !== this.source) return this.openRecording(k, state);
    this.wanted = state;
    $("search").value = "";
    this.applyState(state);
    this.stallList();
    this.tree = null;
    this.setView(this.view);
    this.search();
    if (this.more) this.applySelection(state);
  }

  // Keys.

  help() {
    $("keys").showModal();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("select, input") || $("keys").open)
      return;
    const pane =
      this.view === "threads"
        ? this.threads
        : this.charts[
            this.view === "sandwich" ? (document.activeElement === $("callers") ? "callers" : "callees") : "chart"
          ];
    const fit = () =>
      pane === this.threads ? pane.hovered && pane.fit(pane.hovered) : pane.selected >= 0 && pane.fit(pane.selected);
    const actions = {
      w: () => pane.zoom(0.7),
      "+": () => pane.zoom(0.7),
      "=": () => pane.zoom(0.7),
      s: () => pane.zoom(1 / 0.7),
      "-": () => pane.zoom(1 / 0.7),
      a: () => pane.move(-0.2),
      ArrowLeft: () => pane.move(-0.2),
      d: () => pane.move(0.2),
      ArrowRight: () => pane.move(0.2),
      f: fit,
      0: () => this.whole(pane),
      Home: () => this.whole(pane),
      n: () => this.stepStall(1),
      p: () => this.stepStall(-1),
      t: () => this.sampled() && this.setTime(this.time === "cpu" ? "wall" : "cpu"),
      x: () => this.toSandwich(),
      l: () => this.copyLink(),
      c: () => (event.shiftKey ? this.copyStack() : this.copyName()),
      "/": () => $("search").focus(),
      "?": () => this.help(),
      Escape: () => this.tip(null),
    };
    views.forEach((view, k) => {
      actions[k + 1] = () => this.setView(view);
    });
    if (event.target.matches?.("[role=tab]") && event.key.startsWith("Arrow")) return this.stepTab(event);
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || !this.recording) return;
    event.preventDefault();
    this.tip(null);
    action();
  }

  /** Arrow keys go from tab to tab, as everywhere. */
  stepTab(event) {
    const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
    this.setView(views[(views.indexOf(this.view) + step + views.length) % views.length]);
    $("tab-" + this.view).focus();
  }

  whole(pane) {
    if (this.view === "chart" || this.view === "threads") pane.view(...pane.limit);
    else this.choose(0, this.recording.end);
  }
}

const shown = new Page();
if (page.recordings.length) shown.restore();
else
  document.documentElement.dataset.shell =
    document.documentElement.dataset.ready =
    document.documentElement.dataset.complete =
      "0";
