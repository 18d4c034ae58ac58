"use strict";

// Samples joined with calls, as package evidence of the program does it. A sample shows which calls were open at one
// moment, recorded ones and others below or between them: these are estimated calls. The own time of recorded calls is
// divided among the paths that their samples show; sums do not change.

/** The columns of a sample, as htmlsamples.go writes them. */
const SAMPLE = { nanos: 0, call: 1, weight: 2, cpu: 3, state: 4, count: 5, stack: 6, between: 7 };

/** The methods of a stack, the outermost first. */
function stackMethods(stacks, k) {
  const methods = [];
  for (; k; k = stacks[k - 1][0]) methods.push(stacks[k - 1][1]);
  return methods.reverse();
}

/** How much samples say: how many there are, their weight, and the squares of the weights. */
class Weight {
  constructor() {
    this.count = this.weight = this.squares = 0;
    this.list = [];
  }

  add(o) {
    this.count += o.count;
    this.weight += o.weight;
    this.squares += o.squares;
  }

  /** Adds samples that are to be found again. */
  take(o) {
    this.add(o);
    this.list.push(o);
  }

  /** The number of equally long samples that say as much. */
  get effective() {
    return this.squares > 0 ? this.weight ** 2 / this.squares : 0;
  }
}

/** How long a thread was on a processor in the time that a sample stands for; it ran all of it if that is not known. */
function cpuOf(s) {
  if (s[SAMPLE.cpu] < 0) return s[SAMPLE.state] ? 0 : s[SAMPLE.weight];
  return Math.min(s[SAMPLE.weight], s[SAMPLE.cpu]);
}

/** Notes the samples of a thread between two times; nodeOf has the node of each of its calls, -1 for none. */
function noteSamples(tree, calls, nodeOf, from, to) {
  tree.samples ||= { below: new Map(), between: new Map(), stacks: calls.stacks };
  const merge = (map, key, node, stack, state, s) => {
    const count = s[SAMPLE.count],
      weight = Math.max(1, s[SAMPLE.weight]);
    let m = map.get(key);
    if (!m) map.set(key, (m = Object.assign(new Weight(), { node, stack, state, cpu: 0 })));
    m.add({ count, weight, squares: weight ** 2 / count });
    m.cpu += cpuOf(s);
  };
  for (const s of calls.samples) {
    const node = nodeOf[s[SAMPLE.call]],
      stack = s[SAMPLE.stack],
      state = s[SAMPLE.state];
    if (s[SAMPLE.nanos] < from || s[SAMPLE.nanos] > to || !(node > 0)) continue;
    merge(tree.samples.below, [node, stack, state].join(), node, stack, state, s);
    for (let j = SAMPLE.between; j < s.length; j += 2) {
      let at = node;
      for (let up = s[j]; up > 0 && at > 0; up--) at = tree.parent[at];
      if (at > 0 && s[j + 1]) merge(tree.samples.between, [at, s[j + 1]].join(), at, s[j + 1], 0, s);
    }
  }
}

/** Joins a tree of recorded calls with samples; same is as in mergeCalls. Without samples it is the tree itself. */
function graft(tree, same) {
  if (!tree.samples?.below.size) return tree;
  return new Grafter(tree, same).graft();
}

const maxPlaces = 4, // in how many places a recorded node is at most
  parts = 1 << 16; // into how many parts the time of the whole tree is divided at most, beside one for each node

class Grafter {
  constructor(tree, same) {
    const all = () => Array.from({ length: tree.length }, () => new Weight());
    this.tree = tree;
    this.own = all(); // by node: the samples that fell in it
    this.under = all(); // by node: those in it and below
    this.outside = all(); // by node: those that show something between it and its caller
    this.pool = new Map(); // by method: the samples that fell in its calls
    this.edges = new Map(); // by caller and method: as outside
    this.places = [[{ at: 0, share: 1 }]]; // by node
    this.out = new Tree();
    this.out.total[0] = tree.total[0];
    this.out.recorded = { tree, under: this.under, own: this.own, pool: this.pool, from: [0], self: [] };
    this.least = Math.max(1, tree.total[0] / parts);
    const known = new Map();
    this.methods = (stack) => {
      let list = known.get(stack);
      if (!list)
        known.set(stack, (list = stackMethods(tree.samples.stacks, stack).map((m) => (same ? same[m] : m))));
      return list;
    };
    this.collect();
  }

  collect() {
    const { tree, own, under, outside, pool, edges } = this;
    const of = (map, key) => map.get(key) || map.set(key, new Weight()).get(key);
    for (const b of tree.samples.below.values()) {
      under[b.node].add(b);
      own[b.node].take(b);
      of(pool, tree.method[b.node]).take(b);
    }
    for (let k = tree.length - 1; k > 0; k--) under[tree.parent[k]].add(under[k]);
    for (const b of tree.samples.between.values()) {
      outside[b.node].list.push(b);
      of(edges, this.ends(b.node)).list.push(b);
    }
    for (let k = 1; k < tree.length; k++) {
      outside[k].add(under[k]);
      edges.get(this.ends(k))?.add(under[k]);
    }
  }

  ends(k) {
    return `${this.tree.method[this.tree.parent[k]]},${this.tree.method[k]}`;
  }

  graft() {
    const { out, tree } = this;
    for (let k = 1; k < tree.length; k++) {
      this.place(k);
      this.divide(k);
    }
    out.effective = Math.floor(this.under[0].effective);
    const stays = [true];
    for (let k = out.length - 1; k > 0; k--) {
      const above = out.parent[k],
        estimated = out.estimated[k];
      stays[k] ||= out.calls[k] > 0 || out.self[k] !== 0 || (out.count[k] || 0) > 0;
      stays[above] ||= stays[k];
      out.total[k] += out.self[k];
      if (above > 0) out.total[above] += out.total[k];
      if (above > 0) out.spend(above, out.by[k]);
      if (estimated) {
        out.count[above] = (out.count[above] || 0) + (out.count[k] || 0);
        out.pooled[above] = Math.max(out.pooled[above] || 0, out.pooled[k] || 0);
      }
      const count = out.count[k] || 0,
        pooled = out.pooled[k] || 0;
      if (estimated) out.estTotal[k] = { time: out.total[k], count, pooled };
      const self = { time: estimated ? out.self[k] : 0, sampled: count || pooled ? out.self[k] : 0 };
      out.estSelf[k] = { ...self, count, pooled };
    }
    out.children = out.children.map((list) => list.filter((k) => stays[k]));
    return out;
  }

  /** The node below another one in the result, where k is the recorded node around it. */
  below(above, method, estimated, k) {
    const at = this.out.child(above, method, estimated);
    this.out.recorded.from[at] ??= k;
    return at;
  }

  graftPath(at, stack, k) {
    for (const method of this.methods(stack)) at = this.below(at, method, true, k);
    return at;
  }

  /** Puts node k below each place of its caller, directly or with what samples show between the two. */
  place(k) {
    const { tree, out } = this,
      shares = new Map();
    let of = this.outside[k];
    if (!of.weight) of = this.edges.get(this.ends(k)) || new Weight();
    for (const p of this.places[tree.parent[k]]) {
      let direct = p.share;
      const put = (stack, share) => {
        const at = this.below(this.graftPath(p.at, stack, k), tree.method[k], false, k);
        shares.set(at, (shares.get(at) || 0) + share);
      };
      for (const b of of.list) {
        const share = (p.share * b.weight) / of.weight;
        direct -= share;
        put(b.stack, share);
      }
      if (direct > 1e-9 || !of.list.length) put(0, Math.max(0, direct));
    }
    const order = [...shares].map(([at, share]) => ({ at, share })).sort((a, b) => b.share - a.share),
      places = (this.places[k] = order.slice(0, maxPlaces));
    for (const p of order.slice(maxPlaces)) places[0].share += p.share;
    out.calls[places[0].at] += tree.calls[k];
  }

  /** Divides the own time of node k. */
  divide(k) {
    const { tree, out } = this,
      pool = this.pool.get(tree.method[k]),
      pooled = this.own[k].weight === 0 && pool,
      shown = pooled || this.own[k];
    for (const [i, { at, share }] of this.places[k].entries()) {
      const self = tree.self[k] * share,
        others = pooled || i > 0; // the samples count in one place
      (out.recorded.self[at] ||= new Weight()).add(shown);
      if (!shown.weight) out.self[at] += self;
      else if (pooled && tree.self[k] / this.least < shown.list.length) this.spread(at, k, self, shown);
      else for (const b of shown.list) this.give(at, k, (self * b.weight) / shown.weight, b, others);
    }
  }

  /** Divides a time that is too short for all samples of its method: among some of them, other ones each time. */
  spread(at, k, self, shown) {
    const n = Math.max(1, Math.floor(this.tree.self[k] / this.least));
    shown.next ||= 0;
    for (let part = 0, i = 0, sum = shown.list[0].weight; part < n; part++) {
      const point = ((part + shown.next) / n) * shown.weight;
      while (sum < point && i < shown.list.length - 1) sum += shown.list[++i].weight;
      this.give(at, k, self / n, shown.list[i], true);
    }
    shown.next = (shown.next + 0.6180339887498949) % 1;
  }

  give(at, k, part, b, pooled) {
    const { out } = this,
      to = this.graftPath(at, b.stack, k),
      by = [0, 0, 0, part * Math.min(1, b.cpu / b.weight)];
    if (b.state < 3) by[b.state] = part;
    out.self[to] += part;
    out.spend(to, by);
    if (pooled) out.pooled[to] = Math.max(out.pooled[to] || 0, b.count);
    else out.count[to] = (out.count[to] || 0) + b.count;
  }
}

/** Between what a part of a time lies with a probability of 95 % that n samples of the whole time show: Wilson. */
function bounds(part, whole, n) {
  if (!(whole > 0)) return [part, part];
  if (!(n >= 1)) return [0, Math.max(part, whole)];
  const z = 1.959964,
    p = Math.min(1, part / whole),
    middle = p + (z * z) / (2 * n),
    off = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n)),
    scale = whole / (1 + (z * z) / n);
  return [Math.min(part, Math.max(0, (middle - off) * scale)), Math.max(part, Math.min(whole, (middle + off) * scale))];
}

/** Between what the total and the own time of a node of a tree are that graft has made. */
function nodeBounds(tree, k) {
  const { recorded } = tree,
    from = recorded.from[k],
    under = recorded.under[from],
    total = recorded.tree.total[from];
  if (!tree.estimated[k]) {
    const differs = Math.abs(tree.total[k] - total) > 1;
    return {
      total: differs ? bounds(tree.total[k], total, under.effective) : null,
      self: tree.estSelf[k]?.sampled > 0 ? bounds(tree.self[k], recorded.tree.self[from], recorded.self[k].effective) : null,
    };
  }
  let n = under.effective;
  if (!recorded.own[from].weight) n = Math.max(n, recorded.pool.get(recorded.tree.method[from])?.effective || 0);
  return { total: bounds(tree.total[k], total, n), self: bounds(tree.self[k], total, n) };
}

/** How many samples of running threads say as much as any number of them: see package evidence. */
const enough = 100;

/**
 * By method: how far its own time and its total may be too great and too small, as squares. The own time of a recorded
 * method is exact: its samples say only how it is divided. Errors of several such methods are independent.
 */
function spreads(tree) {
  if (tree.spreads) return tree.spreads;
  const whole = new Map(), // by recorded method: its own time, with what of it was divided
    parts = { self: new Map(), total: new Map() }, // by method and recorded method around it: its part of that
    ran = { self: new Map(), total: new Map() }, // by method: what of its parts no thread waited in
    within = [], // by node: the recorded method around it
    open = new Map(),
    everEstimated = new Set(),
    estimated = []; // methods whose outermost open call is estimated
  let allRan = 0;
  const add = (map, key, n) => map.set(key, (map.get(key) || 0) + n),
    samples = (m) => tree.recorded.pool.get(m)?.effective || 0;
  for (const waiting = [...tree.children[0]]; waiting.length; ) {
    const k = waiting.pop(),
      m = tree.method[Math.abs(k)];
    if (k < 0) {
      add(open, m, -1);
      if (estimated.at(-1) === m && !open.get(m)) estimated.pop();
      continue;
    }
    within[k] = tree.estimated[k] ? within[tree.parent[k]] : m;
    if (tree.estimated[k]) everEstimated.add(m);
    if (tree.estimated[k] && !open.get(m)) estimated.push(m);
    add(open, m, 1);
    add(whole, within[k], tree.self[k]);
    const by = tree.own(k) || [],
      ranHere = samples(within[k]) ? tree.self[k] - (by[1] || 0) - (by[2] || 0) : 0;
    allRan += ranHere;
    for (const [which, list] of [
      ["self", [m]],
      ["total", estimated],
    ])
      for (const of of list) {
        add(parts[which], `${of},${within[k]}`, tree.self[k]);
        add(ran[which], of, ranHere);
      }
    waiting.push(-k, ...tree.children[k]);
  }
  let divided = 0; // the own times that samples fell in
  for (const [m, nanos] of whole) if (samples(m)) divided += nanos;
  tree.spreads = { self: new Map(), total: new Map() };
  for (const which of ["self", "total"]) {
    const off = (sum, part, [low, high]) => {
      sum.below += (part - low) ** 2;
      sum.above += (high - part) ** 2;
    };
    for (const [key, part] of parts[which]) {
      const [m, of] = key.split(",").map(Number);
      if (!samples(of)) continue; // nothing of it was divided
      const sum = tree.spreads[which].get(m) || { below: 0, above: 0, part: 0, seen: 0 };
      off(sum, part, bounds(part, whole.get(of), samples(of)));
      sum.part += part;
      sum.seen += whole.get(of);
      tree.spreads[which].set(m, sum);
    }
    for (const [m, sum] of tree.spreads[which]) {
      const most = everEstimated.has(m) ? divided : sum.seen;
      if (everEstimated.has(m)) off(sum, 0, bounds(0, divided - sum.seen, tree.recorded.under[0].effective));
      off(sum, ran[which].get(m), bounds(ran[which].get(m), allRan, enough));
      sum.below = Math.min(sum.below, sum.part ** 2);
      sum.above = Math.min(sum.above, (most - sum.part) ** 2);
    }
  }
  return tree.spreads;
}

/** Between what the own time ("self") or the total of a method is; part is what of it rests on samples. */
function methodBounds(tree, which, row, part) {
  if (!tree.recorded) return sumBounds(row[which], part, tree);
  const { below, above } = spreads(tree)[which].get(row.method) || { below: 0, above: 0 };
  return [row[which] - Math.sqrt(below), row[which] + Math.sqrt(above)];
}

/** Between what a sum of times is of which a part rests on samples, in a tree of which no more is known. */
function sumBounds(sum, part, tree) {
  const [low, high] = bounds(part, tree.total[0], tree.effective || 0);
  return [sum - part + low, sum - part + high];
}

/** What rests on samples in two times together: samples of other calls of the method count once. */
function sumOf(a, b) {
  if (!a || !b) return a || b;
  return {
    time: a.time + b.time,
    count: a.count + b.count,
    pooled: Math.max(a.pooled, b.pooled),
    sampled: (a.sampled || 0) + (b.sampled || 0),
  };
}

/** "est. 1.94 s (1.70 to 2.18 s), 212 samples" */
function estimateText(nanos, range, { count, pooled }) {
  const within = range ? ` (${duration(Math.max(0, range[0]))} to ${duration(range[1])})` : "",
    rests = count ? plural(count, "sample") : plural(pooled, "sample") + " of other calls of it";
  return `est. ${duration(nanos)}${within}, ${rests}`;
}

/** The tree with the time in which threads ran, in place of all time. */
function cpuTree(tree) {
  const cpu = Object.assign(new Tree(), tree, { wall: tree });
  const part = (est, now, was) => est && { ...est, time: was > 0 ? (est.time * now) / was : 0 };
  cpu.total = tree.total.map((_, k) => (k ? tree.by[k]?.[3] || 0 : 0));
  cpu.self = tree.self.map((_, k) => Math.max(0, tree.own(k)?.[3] || 0));
  cpu.total[0] = tree.children[0].reduce((sum, k) => sum + cpu.total[k], 0);
  cpu.estTotal = tree.estTotal.map((est, k) => part(est, cpu.total[k], tree.total[k]));
  cpu.estSelf = tree.estSelf.map((est, k) => part(est, cpu.self[k], tree.self[k]));
  return cpu;
}

/** Calls with those that samples show below the innermost recorded call at their moments woven in. */
function weave(calls) {
  const found = [],
    known = new Map();
  const methodsOf = (stack) =>
    known.get(stack) || known.set(stack, stackMethods(calls.stacks, stack)).get(stack);
  for (const s of calls.samples) {
    const i = s[SAMPLE.call],
      at = s[SAMPLE.nanos],
      weight = s[SAMPLE.weight],
      begin = at - weight / s[SAMPLE.count] / 2;
    if (!s[SAMPLE.stack] || at < calls.begin[i] || at > calls.end[i]) continue;
    const below = calls.rows[calls.depth[i] + 1] || [],
      next = calls.after(below, at);
    if (next < below.length && calls.begin[below[next]] <= at) continue; // as clocks differ, it seems to be in a callee
    const room = next < below.length ? Math.min(calls.begin[below[next]], calls.end[i]) : calls.end[i],
      from = Math.max(begin, calls.begin[i], next > 0 ? calls.end[below[next - 1]] : 0),
      to = Math.min(begin + weight, room);
    if (to > from) found.push({ i, from, to, next, methods: methodsOf(s[SAMPLE.stack]), count: s[SAMPLE.count] });
  }
  return found.length ? woven(calls, joined(found)) : calls;
}

/** Estimated calls of samples one after the other: equal ones that touch are one call. */
function joined(found) {
  const list = [],
    open = []; // by depth below the recorded call
  let last = null;
  for (const f of found.sort((a, b) => a.from - b.from)) {
    if (last && f.from < last.to) f.from = last.to;
    if (f.to <= f.from) continue;
    const touches = last && last.i === f.i && last.next === f.next && f.from - last.to <= (f.to - f.from) * 0.1 + 1;
    let same = 0;
    while (touches && same < open.length && open[same].method === f.methods[same]) same++;
    open.length = same;
    for (const o of open) {
      o.end = f.to;
      o.count += f.count;
    }
    f.methods.slice(same).forEach((method, k) => {
      const call = { i: f.i, begin: f.from, end: f.to, method, below: same + k + 1, count: f.count };
      open.push(call);
      list.push(call);
    });
    last = f;
  }
  return list;
}

/** Calls with estimated ones among them: origin has the recorded call that each is, or is below. */
function woven(calls, list) {
  const out = new Calls(calls.length + list.length),
    path = [],
    place = new Int32Array(calls.length);
  out.origin = new Int32Array(out.begin.length);
  out.samples = new Int32Array(out.begin.length); // of estimated calls
  out.states = calls.states;
  const put = (method, begin, end, depth, origin) => {
    const k = out.length++;
    path[depth] = k;
    out.method[k] = method;
    out.begin[k] = begin;
    out.end[k] = end;
    out.depth[k] = depth;
    out.parent[k] = depth ? path[depth - 1] : -1;
    out.origin[k] = origin;
    (out.rows[depth] ||= []).push(k);
    return k;
  };
  for (let i = 0, j = 0; i < calls.length || j < list.length; ) {
    if (j === list.length || (i < calls.length && (calls.begin[i] <= list[j].begin || i <= list[j].i))) {
      const k = (place[i] = put(calls.method[i], calls.begin[i], calls.end[i], calls.depth[i], i));
      out.marks[k] = calls.marks[i];
      out.calls[k] = calls.calls[i];
      out.inner[k] = calls.inner[i];
      i++;
    } else {
      const e = list[j++],
        k = put(e.method, e.begin, e.end, calls.depth[e.i] + e.below, e.i);
      out.samples[k] = e.count;
      if (e.below > 1) out.inner[out.parent[k]] += e.end - e.begin;
    }
  }
  return out;
}
