"use strict";

// What stands beside the charts: the list of stalls, details of what is selected, and tables of methods.

const stallOrders = {
  duration: (a, b) => b.wall - a.wall || a.begin - b.begin,
  time: (a, b) => a.begin - b.begin,
  verdict: (a, b) => (a.reason < b.reason ? -1 : a.reason > b.reason ? 1 : 0) || b.wall - a.wall,
};

/** How long a stall took, as far as that is known. */
function lasted(s) {
  return s.wallUnknown ? "duration not known" : (s.ended ? "" : "at least ") + duration(s.wall);
}

/** What lasted as long as a stall and is none, by its role. */
const notStalls = { run: "run", idle: "wait for work" };

/** Stalls of one cause, in an order: a list of lists of positions, the first of each first. */
function causes(stalls, order) {
  const groups = new Map();
  const rows = stalls.map((s, k) => k).sort((a, b) => stallOrders[order](stalls[a], stalls[b]));
  for (const k of rows) {
    const key = stalls[k].role + stalls[k].cause,
      group = groups.get(key);
    if (group) group.push(k);
    else groups.set(key, [k]);
  }
  return [...groups.values()];
}

/**
 * Fills the list with the stalls of a recording, in an order: those of one cause are one entry, and those behind the
 * first are shown when it is chosen. Behind them, folded, is what lasted as long and is no stall: runs of the program,
 * and waiting for work. open(k) is called for the one that is chosen.
 */
function showStalls(list, recording, order, open) {
  const { stalls } = recording,
    byThread = new Map(recording.threads.map((t) => [t.index, t.name]));
  const place = (s) => `${byThread.get(s.thread) || "thread " + s.thread}, at ${duration(s.begin)}`;
  const button = (k, ...children) => {
    const b = element("button", { onclick: () => open(k), title: stalls[k].verdict }, ...children);
    b.dataset.stall = k;
    return b;
  };
  const entry = (group) => {
    const first = stalls[group[0]],
      sum = group.reduce((sum, k) => sum + stalls[k].wall, 0),
      many = group.length > 1 ? ` ×${group.length.toLocaleString("en")}, ${duration(sum)} in all` : "";
    const head = button(
      group[0],
      element("span", {}, element("b", {}, lasted(first)), `${many}: ${notStalls[first.role] || first.reason}`),
      named(first.method || first.what, first.class),
      element("small", {}, place(first)),
    );
    const item = element("li", { className: first.role }, head);
    if (!many) return item;
    const row = (k) =>
      element("li", {}, button(k, element("span", {}, element("b", {}, lasted(stalls[k])), ` ${place(stalls[k])}`)));
    item.group = group;
    item.unfold = () => {
      item.append(element("ol", {}, ...group.slice(1).map(row)));
      head.setAttribute("aria-expanded", true);
    };
    head.setAttribute("aria-expanded", false);
    return item;
  };
  const groups = causes(stalls, order),
    slow = groups.filter(([k]) => stalls[k].role === "stall"),
    other = groups.filter(([k]) => stalls[k].role !== "stall");
  list.replaceChildren(...slow.map(entry));
  if (!slow.length) list.append(element("li", { className: "none" }, "No stall was recorded."));
  if (!other.length) return;
  const count = (role) => stalls.filter((s) => s.role === role).length,
    parts = [count("run") && plural(count("run"), "run"), count("idle") && plural(count("idle"), "wait") + " for work"];
  const summary = element("summary", {}, "Not stalls: " + parts.filter(Boolean).join(", "));
  list.append(
    element("li", {}, element("details", { open: !slow.length }, summary, element("ul", {}, ...other.map(entry)))),
  );
}

/** Fills the list with what detectors found; open(incident) is called for the one that is chosen. */
function showIncidents(list, recording, open) {
  list.replaceChildren(
    ...(recording.incidents || []).map((i) => {
      const where = [i.thread, `at ${duration(i.begin)}`, ...i.stalls.map((n) => `stall #${n}`)].filter(Boolean);
      const took = element("b", {}, i.ended ? (i.end > i.begin ? duration(i.end - i.begin) : "") : "no end"),
        head = element("span", { title: i.text }, took, ` ${i.name}: ${i.text}`),
        small = element("small", {}, `${where.join(", ")}${i.what ? " · " + i.what : ""}`);
      return element("li", {}, element("button", { onclick: () => open(i) }, head, small));
    }),
  );
}

/** Marks stall k as the one that is shown, and unfolds its group. */
function markStall(list, k) {
  for (const item of list.querySelectorAll("li"))
    if (item.group?.includes(k) && item.children.length === 1) item.unfold();
  for (const button of list.querySelectorAll("button")) {
    const current = +button.dataset.stall === k;
    button.setAttribute("aria-current", current);
    if (!current) continue;
    const folded = button.closest("details");
    if (folded) folded.open = true;
    button.scrollIntoView({ block: "nearest" });
  }
}

/** The key of a fact in words: "meta.versionName" is "version name". */
function factName(key) {
  return key
    .replace(/^(meta|repairs|damage)\./, (_, group) => (group === "meta" ? "" : group + ": "))
    .replace(/([a-z])([A-Z])/g, (_, a, b) => a + " " + b.toLowerCase());
}

const stallKinds = {
  RUNNABLE: "ready to run",
  BLOCKED: "blocked by a lock",
  WAITING: "waiting",
  TIMED_WAITING: "waiting with a limit",
  NEW: "new",
  TERMINATED: "ended",
  unknown: "state not known",
};

/** Stack samples as text: what the thread did, and the frames; equal ones in a row are one. */
function sampleParts(title, samples) {
  const parts = [];
  for (let i = 0, n; i < samples.length; i += n) {
    const same = (a, b) => a.state === b.state && a.frames.join() === b.frames.join();
    for (n = 1; i + n < samples.length && same(samples[i], samples[i + n]);) n++;
    const { afterNanos, state, activity, frames } = samples[i];
    const until = n > 1 ? `, and ${plural(n - 1, "more sample")} until ${duration(samples[i + n - 1].afterNanos)}` : "";
    const did = activity && activity !== "unknown" ? `, ${activity}` : "";
    parts.push(
      element(
        "details",
        { open: parts.length === 0 },
        element("summary", {}, `after ${duration(afterNanos)}${until}: ${stallKinds[state] || state}${did}`),
        lines(frames),
      ),
    );
  }
  return parts.length ? [heading(title), ...parts] : [];
}

/** The class and name of a method. */
function identity(method) {
  return method.class ? `${method.class}.${method.name}` : method.name;
}

/** A path, or a list of methods, each with its times. */
function stepParts(title, steps, nested) {
  if (!steps.length) return [];
  const rows = steps.map((s, depth) =>
    element(
      "tr",
      {},
      ...[duration(s.totalNanos), duration(s.selfNanos), s.calls.toLocaleString("en")].map((t) => element("td", {}, t)),
      element("td", { style: nested ? `padding-left: ${Math.min(depth, 12) * 6 + 4}px` : "" }, named(identity(s.method), s.method.class)),
    ),
  );
  const head = element("tr", {}, ...["total", "self", "calls", "method"].map((t) => element("th", {}, t)));
  return [
    heading(title),
    element("table", { className: "steps" }, element("thead", {}, head), element("tbody", {}, ...rows)),
  ];
}

/** A list that may be unknown, which is not the same as empty. */
function listParts(title, list, empty) {
  return [
    heading(title),
    list === null ? element("small", {}, "not available") : list.length ? lines(list) : element("small", {}, empty),
  ];
}

/** All that is known of a stall: s is its row of the list, more the rest. */
function stallParts(s, more, thread) {
  const stopped = more.suspendedNanos,
    cpu = more.cpuNanos,
    main = more.exit?.mainThread;
  const share = cpu >= 0 ? `${duration(cpu)} (${percent(cpu, s.wall - stopped)})` : "not recorded";
  const rows = [
    ["why", s.verdict],
    ["what ran", s.what],
    ["where", more.where],
    ["posted by", more.postedBy],
    ["thread", thread],
    ["took", lasted(s) + (s.ended ? "" : "; still open when the recording ended")],
    ["did not run", stopped ? duration(stopped) : ""],
    ["times of methods", more.exactness],
    ["on a processor", share],
    [
      "garbage collection",
      more.gcNanos >= 0 ? `${duration(more.gcNanos)} in ${plural(more.gcCount, "collection")}` : "not recorded",
    ],
    ["began", `at ${duration(s.begin)}` + (more.time ? `, ${more.time}` : "")],
    ["lock", more.lockOwner],
    ["reported", more.reported ? "" : "not by the device; found by its calls"],
    ["repaired", more.repaired],
  ];
  return [
    definitions(rows),
    ...stepParts("Where the time went", more.hotPath, true),
    ...stepParts("Most own time", more.mostSelf, false),
    ...sampleParts("Stack samples", more.samples),
    ...sampleParts("Holder of the lock", more.holderSamples),
    ...(main ? [heading("Main thread in the system's trace"), lines([main.state, ...main.frames])] : []),
    ...listParts(
      "Ran before, the latest first",
      more.before && [...more.before].reverse(),
      "nothing: it was the first message of its thread",
    ),
    ...listParts("Waited behind it", more.pending, "nothing: the queue was empty"),
  ];
}

/** A time of a table; part is what of it only samples show, hint says between what it is. */
const timeColumn = (title, key, part, hint) => ({
  title,
  bounded: true,
  text: (r) => (part(r) > 0 ? "≈ " : "") + duration(r[key]),
  hint,
  share: (r, whole) => percent(r[key], whole[key] ?? whole.total),
});

const estimatedTotal = (r) => (r.estSelf ? Math.max(0, r.total - r.recorded) : 0);

const columns = {
  self: timeColumn(
    "Self",
    "self",
    (r) => r.estSelf?.time,
    (r, tree) => r.estSelf?.sampled > 0 && estimateText(r.self, methodBounds(tree, "self", r, r.estSelf.sampled), r.estSelf),
  ),
  cpu: timeColumn("CPU", "cpu", (r) => r.estSelf?.time),
  total: timeColumn("Total", "total", estimatedTotal, (r, tree) => {
    const part = estimatedTotal(r);
    return part > 0 && estimateText(r.total, methodBounds(tree, "total", r, part), r.estSelf);
  }),
  calls: { title: "Calls", text: (r) => (r.calls ? r.calls.toLocaleString("en") : "est.") },
  name: { title: "Method" },
};

const maxRows = 1000;

/**
 * Shows rows of {method, ...} in a table. sort is {column, down}; whole has what shares are of, {total, cpu, tree}; times are lower bounds
 * if bounded is set; onsort and onpick are called with a column and with a method.
 */
function showMethods(table, rows, { keys, names, sort, whole, bounded, selected, onsort, onpick }) {
  const value = (r) => (sort.column === "name" ? names(r.method).text : r[sort.column]);
  rows.sort(
    (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (sort.down ? -1 : 1) || a.method - b.method,
  );
  const head = element("tr", {});
  for (const key of keys) {
    const sorted = key === sort.column,
      arrow = sorted ? (sort.down ? " ▾" : " ▴") : "";
    const th = element(
      "th",
      { scope: "col", className: key },
      onsort ? element("button", { onclick: () => onsort(key) }, columns[key].title + arrow) : columns[key].title,
    );
    if (sorted) th.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
    head.append(th);
    if (columns[key].share) head.append(element("th", { scope: "col", className: "share" }, "%"));
  }
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(
    ...rows.slice(0, maxRows).map((r) => methodRow(r, keys, names, whole, bounded, selected, onpick)),
  );
  if (rows.length > maxRows)
    table.tBodies[0].append(
      element(
        "tr",
        {},
        element("td", { colSpan: 9 }, `${plural(rows.length - maxRows, "more method")}; the search finds them`),
      ),
    );
}

function methodRow(r, keys, names, whole, bounded, selected, onpick) {
  const tr = element("tr", { tabIndex: 0 }),
    { text, lost, cls } = names(r.method);
  for (const key of keys) {
    if (key === "name") {
      tr.append(element("td", { className: lost ? "lost" : "" }, named(text, cls)));
      continue;
    }
    tr.append(element("td", { className: key, title: columns[key].hint?.(r, whole.tree) || "" }, (bounded && columns[key].bounded && !lost ? "≥ " : "") + columns[key].text(r)));
    if (columns[key].share) tr.append(element("td", { className: "share" }, columns[key].share(r, whole)));
  }
  tr.setAttribute("aria-selected", r.method === selected);
  if (onpick && r.method >= 0) {
    tr.onclick = () => onpick(r.method);
    tr.onkeydown = (event) => event.key === "Enter" && onpick(r.method);
  }
  return tr;
}
