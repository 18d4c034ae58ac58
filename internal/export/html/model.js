"use strict";

// What a call is marked with; the bits of trace.Marks.
const MARKS = [
  [1, "still open when the records end"],
  [2, "its exit is missing; it ended at this time at the latest"],
  [4, "it began before the records, or its entry is lost"],
  [8, "its time was impossible and was set between its neighbours'"],
  [16, "reported with less time than the calls in it"],
];

/** Calls of one thread, in the order in which they began: columns of equal length. */
class Calls {
  constructor(count) {
    this.length = 0;
    this.begin = new Float64Array(count); // nanoseconds from the recording's first time on
    this.end = new Float64Array(count);
    this.method = new Int32Array(count);  // indices of names
    this.parent = new Int32Array(count);  // -1 for none
    this.depth = new Int32Array(count);
    this.marks = new Uint8Array(count);
    this.calls = new Int32Array(count);   // how many it stands for
    this.inner = new Float64Array(count); // nanoseconds in calls directly below
    this.rows = [];                       // by depth: the indices of its calls, which never overlap
  }

  self(i) { return Math.max(0, this.end[i] - this.begin[i] - this.inner[i]); }

  /** The first position in row whose call ends after t. */
  after(row, t) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[row[middle]] > t) high = middle; else low = middle + 1;
    }
    return low;
  }

  /** The call at time t and depth, -1 if there is none. */
  at(t, depth) {
    const row = this.rows[depth];
    if (!row) return -1;
    const k = this.after(row, t);
    return k < row.length && this.begin[row[k]] <= t ? row[k] : -1;
  }
}

/** Base64 of raw deflate, as it stands in a script element, to bytes. */
async function inflate(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Decodes the events of a thread. Each begins with a number, whose two lowest bits tell its kind, the others the
 * time since the event before: 0 leaves the innermost call; 1 enters one, and its method follows; 2 leaves and its
 * marks follow; 3 enters, and method and number of calls follow. Numbers have seven bits a byte, the lowest first.
 */
function decodeCalls(bytes, count) {
  const calls = new Calls(count), open = [];
  let at = 0, time = 0;
  const number = () => {
    let n = 0, unit = 1, b;
    do { b = bytes[at++]; n += (b & 127) * unit; unit *= 128; } while (b > 127);
    return n;
  };
  while (at < bytes.length) {
    const head = number(), kind = head % 4;
    time += (head - kind) / 4;
    if (kind & 1) {
      const i = calls.length++, depth = open.length;
      calls.method[i] = number();
      calls.calls[i] = kind === 3 ? number() : 1;
      calls.begin[i] = time;
      calls.parent[i] = depth ? open[depth - 1] : -1;
      calls.depth[i] = depth;
      (calls.rows[depth] ||= []).push(i);
      open.push(i);
    } else {
      const i = open.pop();
      if (kind === 2) calls.marks[i] = number();
      calls.end[i] = time;
      if (calls.parent[i] >= 0) calls.inner[calls.parent[i]] += time - calls.begin[i];
    }
  }
  return calls;
}

/**
 * Merges the calls between two times by the path that leads to them: rows of {method, begin, end, self, calls},
 * begin and end being nanoseconds from the left. Siblings are in the order of their time, the greatest first.
 */
function mergeCalls(calls, from, to) {
  const nodes = [{ method: -1, parent: -1, total: 0, self: 0, calls: 0, depth: -1, children: [] }];
  const at = new Int32Array(calls.length).fill(-1), index = new Map();
  for (let i = 0; i < calls.length; i++) {
    const begin = Math.max(from, calls.begin[i]), end = Math.min(to, calls.end[i]);
    if (end < begin || (end === begin && calls.end[i] > calls.begin[i])) continue;
    const above = calls.parent[i] < 0 ? 0 : at[calls.parent[i]];
    if (above < 0) continue;
    const key = above * 2097152 + calls.method[i];
    let k = index.get(key);
    if (k === undefined) {
      k = nodes.length;
      index.set(key, k);
      nodes.push({ method: calls.method[i], parent: above, total: 0, self: 0, calls: 0, depth: nodes[above].depth + 1, children: [] });
      nodes[above].children.push(k);
    }
    at[i] = k;
    nodes[k].total += end - begin;
    nodes[k].self += end - begin;
    nodes[k].calls += calls.calls[i];
    nodes[above].self -= end - begin;
    if (above === 0) nodes[0].total += end - begin;
  }
  return layOut(nodes);
}

/** Gives the nodes of a merged tree their places, callers first. */
function layOut(nodes) {
  const merged = new Calls(nodes.length - 1), place = new Int32Array(nodes.length), todo = [0];
  nodes[0].begin = 0;
  while (todo.length) {
    const node = todo.pop(), n = nodes[node];
    if (node) {
      const i = place[node] = merged.length++;
      merged.method[i] = n.method;
      merged.begin[i] = n.begin;
      merged.end[i] = n.begin + n.total;
      merged.parent[i] = n.parent ? place[n.parent] : -1;
      merged.depth[i] = n.depth;
      merged.calls[i] = n.calls;
      merged.inner[i] = n.total - n.self;
      (merged.rows[n.depth] ||= []).push(i);
    }
    n.children.sort((a, b) => nodes[b].total - nodes[a].total || nodes[a].method - nodes[b].method);
    let begin = n.begin;
    for (const child of n.children) {
      nodes[child].begin = begin;
      begin += nodes[child].total;
    }
    for (let k = n.children.length - 1; k >= 0; k--) todo.push(n.children[k]);
  }
  for (const row of merged.rows) row.sort((a, b) => merged.begin[a] - merged.begin[b]);
  return merged;
}

/** Per method, over the calls between two times: {method, calls, self, total}. Recursion counts once in total. */
function methodTimes(calls, from, to) {
  const times = new Map(), inside = new Map(), path = [];
  for (let i = 0; i < calls.length; i++) {
    while (path.length > calls.depth[i]) {
      const m = calls.method[path.pop()];
      inside.set(m, inside.get(m) - 1);
    }
    const m = calls.method[i], begin = Math.max(from, calls.begin[i]), end = Math.min(to, calls.end[i]);
    const outer = inside.get(m) || 0;
    path.push(i);
    inside.set(m, outer + 1);
    if (end < begin) continue;
    let t = times.get(m);
    if (!t) times.set(m, t = { method: m, calls: 0, self: 0, total: 0 });
    t.calls += calls.calls[i];
    t.self += end - begin;
    if (!outer) t.total += end - begin;
    const parent = calls.parent[i];
    if (parent >= 0) times.get(calls.method[parent]).self -= end - begin;
  }
  return [...times.values()];
}

/** Nanoseconds as people write them. */
function duration(nanos) {
  const n = Math.abs(nanos);
  if (n >= 1e9) return trim(nanos / 1e9) + " s";
  if (n >= 1e6) return trim(nanos / 1e6) + " ms";
  if (n >= 1e3) return trim(nanos / 1e3) + " µs";
  return Math.round(nanos) + " ns";
}

/** A time on a ruler whose marks are step apart: as many digits as tell one mark from the next. */
function tick(nanos, step) {
  const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([u]) => Math.abs(nanos) >= u) || [1, "ns"];
  return (nanos / unit).toFixed(Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9))) + " " + name;
}

function trim(x) { return x.toFixed(Math.abs(x) >= 100 ? 0 : Math.abs(x) >= 10 ? 1 : 2); }
