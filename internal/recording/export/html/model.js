"use strict";

// The model: calls in time, as they were recorded, and trees of calls, which are merged by path. All views show one of
// the two. Work over many calls is done in slices: the browser paints and answers in between.

// What a call is marked with; the bits of trace.Marks.
const MARKS = [
  [1, "still open when the records end"],
  [2, "its exit is missing; it ended at this time at the latest"],
  [4, "it began before the records, or its entry is lost"],
  [8, "its time was impossible and was set between its neighbours'"],
  [16, "reported with less time than the calls in it"],
  [128, "open when a gap began, and not known to be open behind it; it lasted at least until then"],
  [256, "samples show that it had ended before; it ended at the last time at which it is known to have run"],
];

/** Calls of one thread, in the order in which they began: columns of equal length. */
class Calls {
  constructor(count) {
    this.length = 0;
    this.begin = new Float64Array(count); // nanoseconds from the recording's first time on
    this.end = new Float64Array(count);
    this.method = new Int32Array(count); // indices of names
    this.parent = new Int32Array(count); // -1 for none
    this.depth = new Int32Array(count);
    this.marks = new Uint16Array(count);
    this.calls = new Int32Array(count); // how many it stands for
    this.inner = new Float64Array(count); // nanoseconds in calls directly below
    this.by = []; // of merged calls: for how long in each of STATES
    this.est = []; // of merged calls: what of their time only samples show
    this.samples = null; // of the thread; see SAMPLE. Where calls are woven with them: how many each of these rests on
    this.tree = null; // of merged calls: the tree, and of each the node
    this.node = [];
    this.states = null; // of calls in time: the States of their thread
    this.rows = []; // by depth: the indices of its calls, which never overlap
  }

  took(i) {
    return this.end[i] - this.begin[i];
  }

  self(i) {
    return Math.max(0, this.took(i) - this.inner[i]);
  }

  /** Whether samples alone show a call, or most of its time. */
  estimated(i) {
    return this.origin ? this.samples[i] > 0 : this.est[i]?.time * 2 > this.took(i);
  }

  /** What the thread did in most of a call. */
  state(i) {
    if (this.states) return this.states.of(this.begin[i], this.end[i]);
    return this.by[i] ? mostly(this.by[i], this.took(i)) : "unknown";
  }

  /** The time of all outermost calls. */
  total() {
    return (this.rows[0] || []).reduce((sum, i) => sum + this.took(i), 0);
  }

  /** The first position in row whose call ends after t. */
  after(row, t) {
    let low = 0,
      high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[row[middle]] > t) high = middle;
      else low = middle + 1;
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

  /** The first call that begins at t or later. */
  since(t) {
    let low = 0,
      high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.begin[middle] >= t) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** A call and its callers, the innermost first. */
  path(i) {
    const path = [];
    for (; i >= 0; i = this.parent[i]) path.push(i);
    return path;
  }
}

const STATES = ["running", "waiting", "blocked"];

/** What a thread did at which times, as far as that is known: of {begin, end, state} in the order of time. */
class States {
  constructor(list) {
    this.ends = list.map((s) => s.end);
    this.begins = list.map((s) => s.begin);
    this.kinds = list.map((s) => STATES.indexOf(s.state));
    const sum = [0, 0, 0];
    this.before = list.map((s, k) => {
      const before = [...sum];
      if (this.kinds[k] >= 0) sum[this.kinds[k]] += s.end - s.begin;
      return before;
    });
    this.all = sum;
  }

  /** By state: for how long until t. */
  until(t) {
    let low = 0,
      high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] > t) high = middle;
      else low = middle + 1;
    }
    if (low === this.ends.length) return this.all;
    if (t <= this.begins[low] || this.kinds[low] < 0) return this.before[low];
    const sum = [...this.before[low]];
    sum[this.kinds[low]] += t - this.begins[low];
    return sum;
  }

  /** By state: for how long between two times. */
  between(from, to) {
    const begin = this.until(from);
    return this.until(to).map((n, k) => n - begin[k]);
  }

  /** The state in most of the time between two times. */
  of(from, to) {
    return this.ends.length ? mostly(this.between(from, to), to - from) : "unknown";
  }
}

/** The state with the most time; "unknown" if even more time has none. */
function mostly(by, whole) {
  let most = 0;
  for (let k = 1; k < by.length; k++) if (by[k] > by[most]) most = k;
  return by[most] > 0 && by[most] >= whole - by[0] - by[1] - by[2] - whole * 1e-9 ? STATES[most] : "unknown";
}

/** Lets the browser paint and answer when it has waited for 12 ms. */
class Slices {
  constructor() {
    this.began = performance.now();
  }

  due() {
    return performance.now() - this.began > 12;
  }

  async rest() {
    await new Promise((done) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        done();
      };
      port2.postMessage(0);
    });
    this.began = performance.now();
  }
}

/** The element with this ID, once the parser has read all of it: the page is used before it is complete. */
async function whole(id) {
  for (;;) {
    const e = $(id);
    const complete = document.readyState !== "loading";
    if (e && (e.nextElementSibling || complete)) return e;
    if (complete) throw new Error("its end is missing");
    await new Promise((done) => setTimeout(done, 10));
  }
}

/** The bytes of an element that has raw deflate in base64, in pieces. */
async function* inflate(id) {
  const text = (await whole(id)).textContent,
    stream = new DecompressionStream("deflate-raw");
  const feed = async () => {
    const writer = stream.writable.getWriter(),
      slices = new Slices();
    for (let at = 0; at < text.length; at += 1 << 18) {
      // a multiple of 4 characters
      const binary = atob(text.slice(at, at + (1 << 18))),
        bytes = new Uint8Array(binary.length);
      for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
      await writer.write(bytes);
      if (slices.due()) await slices.rest();
    }
    await writer.close();
  };
  const fed = feed(),
    reader = stream.readable.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    yield value;
  }
  await fed;
}

async function inflateJSON(id) {
  const decoder = new TextDecoder(),
    parts = [];
  for await (const bytes of inflate(id)) parts.push(decoder.decode(bytes, { stream: true }));
  return JSON.parse(parts.join(""));
}

/**
 * Decodes the events of a thread. Each begins with a number, whose two lowest bits are its kind, the others the time
 * since the event before: 0 leaves the innermost call; 1 enters one, and its method follows; 2 leaves and its marks
 * follow; 3 enters, and method and number of calls follow. Numbers have seven bits a byte, the lowest first.
 */
class Decoder {
  constructor(count) {
    this.calls = new Calls(count);
    this.open = [];
    this.time = 0;
    this.rest = new Uint8Array(0);
  }

  /** Decodes more bytes. Of the last 32, in which an event may be cut, it does so only with those that follow. */
  async push(bytes, last, slices) {
    if (this.rest.length) {
      const joined = new Uint8Array(this.rest.length + bytes.length);
      joined.set(this.rest);
      joined.set(bytes, this.rest.length);
      bytes = joined;
    }
    const end = last ? bytes.length : bytes.length - 32;
    let at = 0;
    while (at < end) {
      at = this.decode(bytes, at, Math.min(end, at + (1 << 16)));
      if (slices.due()) await slices.rest();
    }
    this.rest = bytes.slice(at);
    for (const i of this.open) this.calls.end[i] = this.time; // so that they can be shown meanwhile
  }

  decode(bytes, at, end) {
    const { calls, open } = this;
    let time = this.time;
    const number = () => {
      let b = bytes[at++],
        n = b & 127,
        unit = 128;
      for (; b > 127; unit *= 128) n += ((b = bytes[at++]) & 127) * unit;
      return n;
    };
    while (at < end) {
      const head = number(),
        kind = head % 4;
      time += (head - kind) / 4;
      if (kind & 1) {
        const i = calls.length++,
          depth = open.length;
        calls.method[i] = number();
        calls.calls[i] = kind === 3 ? number() : 1;
        calls.begin[i] = calls.end[i] = time;
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
    this.time = time;
    return at;
  }
}

/** The calls of a thread. progress gets them while they are decoded. */
async function decodeCalls(id, count, progress) {
  const decoder = new Decoder(count),
    slices = new Slices();
  for await (const bytes of inflate(id)) {
    await decoder.push(bytes, false, slices);
    progress?.(decoder.calls);
  }
  await decoder.push(new Uint8Array(0), true, slices);
  return decoder.calls;
}

/** Calls merged by their path. Node 0 is above all: its total is the time of all outermost calls. */
class Tree {
  constructor() {
    this.method = [-1];
    this.parent = [-1];
    this.total = [0];
    this.self = [0];
    this.calls = [0];
    this.by = []; // by node: for how long in each of STATES and on a processor, as far as that is known
    this.estimated = [false]; // whether samples alone show the path
    this.estTotal = []; // by node: {time, count}, what of its total and of its own time only samples show
    this.estSelf = []; // and {sampled}, what of its own time samples have divided
    this.count = []; // by node: on how many samples its division rests; pooled: on how many of others of its method
    this.pooled = [];
    this.children = [[]];
    this.index = new Map();
    this.recent = [0]; // by node: the child that was asked for last
  }

  get length() {
    return this.method.length;
  }

  /** The child of a node for a method, which is added if there is none. */
  child(above, method, estimated = false) {
    let k = this.recent[above];
    if (k && this.method[k] === method && this.estimated[k] === estimated) return k;
    const key = above * 4194304 + method * 2 + estimated;
    k = this.index.get(key);
    if (k === undefined) {
      this.index.set(key, (k = this.length));
      this.method.push(method);
      this.parent.push(above);
      this.total.push(0);
      this.self.push(0);
      this.calls.push(0);
      this.children.push([]);
      this.recent.push(0);
      this.estimated.push(estimated);
      this.children[above].push(k);
    }
    return (this.recent[above] = k);
  }

  /** Adds to the times of a node by state. */
  spend(k, by) {
    if (by) this.by[k] = this.by[k] ? this.by[k].map((n, state) => n + by[state]) : by;
  }

  /** Adds a call that lasted so long below node above; by is for how long in each state, est what rests on samples. */
  add(above, method, nanos, calls, by, est, estimated) {
    const k = this.child(above, method, estimated);
    this.spend(k, by);
    if (est) this.estTotal[k] = sumOf(this.estTotal[k], est);
    this.total[k] += nanos;
    this.self[k] += nanos;
    this.calls[k] += calls;
    this.self[above] -= nanos;
    if (above === 0) this.total[0] += nanos;
    return k;
  }

  /** By state: the own time of a node, undefined if it is not known. */
  own(k) {
    return this.by[k]?.map((n, state) => {
      const own = this.children[k].reduce((rest, child) => rest - (this.by[child]?.[state] || 0), n);
      return own < 1 ? 0 : own; // less than a nanosecond is what rounding leaves
    });
  }
}

/**
 * Merges the calls of some threads between two times by the path that leads to them. Returns null when alive returns
 * false: the result is not wanted any more. same has, by method, the one that it is merged as. With root, the index of
 * a call, only that and what is below it.
 */
async function mergeCalls(threads, from, to, alive = () => true, same = null, root = -1) {
  const tree = new Tree(),
    slices = new Slices();
  for (const calls of threads) {
    const path = [],
      open = [], // by depth: the call that is open there, and its node
      nodeOf = calls.samples?.length ? new Int32Array(calls.length).fill(-1) : null,
      top = root < 0 ? 0 : calls.depth[root];
    const add = (i) => {
      const depth = calls.depth[i] - top,
        begin = Math.max(from, calls.begin[i]),
        end = Math.min(to, calls.end[i]);
      if (depth < 0 || (depth === 0 && root >= 0 && i !== root)) return;
      if (depth && open[depth - 1] !== calls.parent[i]) return; // its caller ended right where the range begins
      open[depth] = i;
      const method = same ? same[calls.method[i]] : calls.method[i],
        took = Math.max(0, end - begin);
      const by = !nodeOf && calls.states && took ? calls.states.between(begin, end) : null;
      path[depth] = tree.add(depth ? path[depth - 1] : 0, method, took, calls.calls[i], by);
      if (nodeOf) nodeOf[i] = path[depth];
    };
    for (let depth = 0, i; (i = calls.at(from, depth)) >= 0 && calls.begin[i] < from; depth++) add(i);
    for (let i = calls.since(from); i < calls.length && calls.begin[i] <= to; i++) {
      if (calls.begin[i] < to || calls.end[i] === to) add(i);
      else break;
      if (i % 8192 === 0 && slices.due()) {
        await slices.rest();
        if (!alive()) return null;
      }
    }
    if (nodeOf) noteSamples(tree, calls, nodeOf, from, to);
  }
  return graft(tree, same);
}

/**
 * Per method of a tree: {method, calls, self, total, cpu}, where cpu is of self, and recorded is what of total is not
 * estimated. Recursion counts once. If keep is set, the nodes too: outer has those that no node of the same method
 * encloses.
 */
function methodTimes(tree, keep) {
  const times = new Map(),
    inside = new Map(),
    waiting = [...tree.children[0]];
  while (waiting.length) {
    const k = waiting.pop();
    if (k < 0) {
      // all below node -k have been visited
      inside.set(tree.method[-k], inside.get(tree.method[-k]) - 1);
      if (!tree.estimated[-k]) times.get(tree.method[-k]).around--;
      continue;
    }
    const m = tree.method[k],
      outer = inside.get(m) || 0,
      { estimated } = tree;
    let t = times.get(m);
    if (!t) {
      t = { method: m, calls: 0, self: 0, total: 0, cpu: 0, recorded: 0, around: 0 };
      if (keep) Object.assign(t, { outer: [], nodes: [] });
      times.set(m, t);
    }
    t.calls += tree.calls[k];
    t.self += tree.self[k];
    t.cpu += tree.own(k)?.[3] || 0;
    t.estSelf = sumOf(t.estSelf, tree.estSelf[k]);
    if (!outer) t.total += tree.total[k];
    if (!estimated[k] && !t.around++) t.recorded += tree.total[k];
    if (keep) {
      t.nodes.push(k);
      if (!outer) t.outer.push(k);
    }
    inside.set(m, outer + 1);
    waiting.push(-k);
    for (const child of tree.children[k]) waiting.push(child);
  }
  return times;
}

/**
 * A tree of the callers of some nodes: below each method those that called it. Every node stands for what weight says
 * of the node that it comes from. What is shorter than least is not followed further, as it could not be seen.
 */
async function callersTree(tree, nodes, weight, least, alive) {
  const out = new Tree(),
    slices = new Slices();
  const waiting = [{ at: 0, nodes, origins: nodes, up: false }];
  while (waiting.length) {
    const { at, nodes, origins, up } = waiting.pop(),
      groups = new Map();
    for (let j = 0; j < nodes.length; j++) {
      const n = up ? tree.parent[nodes[j]] : nodes[j];
      if (n <= 0) continue;
      const [nanos, by, est] = weight(origins[j]),
        k = out.add(at, tree.method[n], nanos, tree.calls[origins[j]], by, est);
      let group = groups.get(k);
      if (!group) groups.set(k, (group = { at: k, nodes: [], origins: [], up: true }));
      group.nodes.push(n);
      group.origins.push(origins[j]);
      if (j % 8192 === 8191 && slices.due()) {
        await slices.rest();
        if (!alive()) return null;
      }
    }
    for (const group of groups.values()) if (out.total[group.at] >= least) waiting.push(group);
    if (slices.due()) {
      await slices.rest();
      if (!alive()) return null;
    }
  }
  return sampledAs(out, tree);
}

/** A tree that was made of a part of another one, with as much of its samples. */
function sampledAs(part, tree) {
  return Object.assign(part, { effective: ((tree.effective || 0) * part.total[0]) / tree.total[0] });
}

/** The flame graph inverted: below each method its callers, and every node has own time of the method at its root. */
function invert(tree, alive = () => true) {
  const nodes = [];
  for (let k = 1; k < tree.length; k++) if (tree.self[k] > 0) nodes.push(k);
  return callersTree(tree, nodes, (k) => [tree.self[k], tree.own(k), tree.estSelf[k]], tree.total[0] / 20000, alive);
}

/** The callers of the nodes of one method, each with the time that the method took when it was called so. */
function callersOf(tree, times, alive = () => true) {
  return callersTree(tree, times.outer, (k) => [tree.total[k], tree.by[k], tree.estTotal[k]], times.total / 20000, alive);
}

/** What a method called: the nodes below its own, merged. */
async function calleesOf(tree, times, alive = () => true) {
  const out = new Tree(),
    slices = new Slices();
  const waiting = times.outer.map((k) => [k, 0]);
  for (let n = 0; waiting.length; n++) {
    const [k, above] = waiting.pop(),
      at = out.add(above, tree.method[k], tree.total[k], tree.calls[k], tree.by[k], tree.estTotal[k], tree.estimated[k]);
    out.estSelf[at] = sumOf(out.estSelf[at], tree.estSelf[k]);
    for (const child of tree.children[k]) waiting.push([child, at]);
    if (n % 4096 === 0 && slices.due()) {
      await slices.rest();
      if (!alive()) return null;
    }
  }
  return sampledAs(out, tree);
}

/**
 * The methods that called a method and those that it called: {method, calls, total}, the longest first. Time counts
 * once where a pair of methods encloses itself.
 */
function neighbours(tree, times, callers) {
  const found = new Map();
  const pairOf = (k) => (callers ? tree.parent[k] : k);
  const add = (k) => {
    // node k is called by the other one of its pair
    const other = pairOf(k) > 0 ? tree.method[pairOf(k)] : -1;
    let t = found.get(other);
    if (!t) found.set(other, (t = { method: other, calls: 0, total: 0 }));
    t.calls += tree.calls[k];
    for (let up = tree.parent[k]; up > 0; up = tree.parent[up]) {
      if (tree.method[up] === tree.method[k] && tree.method[tree.parent[up]] === tree.method[tree.parent[k]]) return;
    }
    t.total += tree.total[k];
  };
  for (const node of times.nodes)
    if (callers) add(node);
    else tree.children[node].forEach(add);
  return [...found.values()].sort((a, b) => b.total - a.total || b.calls - a.calls || a.method - b.method);
}

/** The nodes of a tree as calls with places, callers first; of siblings the longest is at the left. */
function layOut(tree) {
  const calls = Object.assign(new Calls(tree.length - 1), { tree: tree.wall || tree }),
    place = new Int32Array(tree.length),
    begin = new Float64Array(tree.length);
  const waiting = [0];
  while (waiting.length) {
    const k = waiting.pop();
    if (k) {
      const i = (place[k] = calls.length++),
        above = tree.parent[k];
      calls.method[i] = tree.method[k];
      calls.begin[i] = begin[k];
      calls.end[i] = begin[k] + tree.total[k];
      calls.parent[i] = above ? place[above] : -1;
      calls.depth[i] = above ? calls.depth[place[above]] + 1 : 0;
      calls.calls[i] = tree.calls[k];
      calls.inner[i] = tree.total[k] - tree.self[k];
      calls.by[i] = tree.by[k];
      calls.est[i] = tree.estTotal[k];
      calls.node[i] = k;
      (calls.rows[calls.depth[i]] ||= []).push(i);
    }
    const children = tree.children[k].sort((a, b) => tree.total[b] - tree.total[a] || tree.method[a] - tree.method[b]);
    let left = begin[k];
    for (const child of children) {
      begin[child] = left;
      left += tree.total[child];
    }
    for (let n = children.length - 1; n >= 0; n--) waiting.push(children[n]);
  }
  return calls;
}

/** What of a tree is of the methods that were searched for: what a match encloses is counted with it. */
function found(tree, matches) {
  const methods = new Set(),
    inside = new Uint8Array(tree.length);
  let calls = 0,
    time = 0;
  for (let k = 1; k < tree.length; k++) {
    // a caller comes before those that it calls
    const above = inside[tree.parent[k]];
    inside[k] = above || matches[tree.method[k]] ? 1 : 0;
    if (!matches[tree.method[k]]) continue;
    methods.add(tree.method[k]);
    calls += tree.calls[k];
    if (!above) time += tree.total[k];
  }
  return { methods: methods.size, calls, time };
}

/**
 * By method: whether its name contains the text, or matches it as a regular expression; both without regard to case.
 * error says what is wrong with the expression.
 */
function matching(text, names) {
  const plain = text.toLowerCase();
  let expression = null,
    error = "";
  try {
    expression = new RegExp(text, "i");
  } catch (e) {
    error = e.message.replace(/^Invalid regular expression: /, "");
  }
  const matches = names.map(
    (name) => name.toLowerCase().includes(plain) || (expression !== null && expression.test(name)),
  );
  return { matches, error: matches.some(Boolean) ? "" : error };
}
