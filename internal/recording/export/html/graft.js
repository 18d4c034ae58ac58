"use strict";

// Samples joined with calls, as package graft of the program does it. A sample shows which calls were open at one
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

/** Between what a part of a time lies with a probability of 95 % that n samples of the whole time show: Wilson. */
function bounds(part, whole, n) {
  if (!(whole > 0) || !(n > 0)) return [0, Math.max(0, whole)];
  const z = 1.959964,
    p = Math.min(1, Math.max(0, part / whole)),
    middle = p + (z * z) / (2 * n),
    off = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n)),
    scale = whole / (1 + (z * z) / n);
  return [Math.max(0, (middle - off) * scale), Math.min(whole, (middle + off) * scale)];
}

/** What the samples of one node show: paths with their weights, and how much the samples say. */
class Shown {
  constructor() {
    this.paths = new Map(); // by stack and what is between: {stack, between, weight, by, count}
    this.weight = 0;
    this.squares = 0;
    this.count = 0;
  }

  add(stack, between, weight, by, count) {
    const key = [stack, ...between].join(),
      path = this.paths.get(key);
    this.weight += weight;
    this.squares += (weight * weight) / count;
    this.count += count;
    if (!path) {
      this.paths.set(key, { stack, between, weight, by: [...by], count });
      return;
    }
    path.weight += weight;
    path.count += count;
    by.forEach((n, k) => (path.by[k] += n));
  }

  addAll(other) {
    for (const p of other.paths.values()) if (!p.between.length) this.add(p.stack, [], p.weight, p.by, p.count);
  }

  /** The number of equally long samples that say as much. */
  get effective() {
    return this.weight ** 2 / this.squares;
  }
}

/** How long a thread was on a processor in the time that a sample stands for; it ran all of it if that is not known. */
function cpuOf(s) {
  if (s[SAMPLE.cpu] < 0) return s[SAMPLE.state] ? 0 : s[SAMPLE.weight];
  return Math.min(s[SAMPLE.weight], s[SAMPLE.cpu]);
}

/** Notes the samples of a thread between two times; nodeOf has the node of each of its calls, -1 for none. */
function noteSamples(tree, calls, nodeOf, from, to) {
  for (const s of calls.samples) {
    const at = s[SAMPLE.nanos],
      node = nodeOf[s[SAMPLE.call]],
      weight = s[SAMPLE.weight];
    if (at < from || at > to || !(node > 0) || !(weight > 0)) continue;
    const by = [0, 0, 0, cpuOf(s)];
    if (s[SAMPLE.state] < 3) by[s[SAMPLE.state]] = weight;
    tree.shown ||= new Map();
    tree.stacks = calls.stacks;
    let shown = tree.shown.get(node);
    if (!shown) tree.shown.set(node, (shown = new Shown()));
    shown.add(s[SAMPLE.stack], s.slice(SAMPLE.between), weight, by, s[SAMPLE.count]);
  }
}

/** Divides the own time of the nodes of a tree among what samples show; same is as in mergeCalls. */
function graft(tree, same) {
  if (!tree.shown) return;
  const pools = new Map(),
    methods = stackMethodsOf(tree.stacks, same),
    recorded = tree.length;
  for (const [k, shown] of tree.shown) {
    let pool = pools.get(tree.method[k]);
    if (!pool) pools.set(tree.method[k], (pool = new Shown()));
    pool.addAll(shown);
  }
  for (let k = 1; k < recorded; k++) {
    const shown = tree.shown.get(k) || pools.get(tree.method[k]);
    if (shown?.weight > 0 && tree.self[k] > 0) divide(tree, k, shown, methods);
  }
}

function stackMethodsOf(stacks, same) {
  const known = new Map();
  return (stack) => {
    let list = known.get(stack);
    if (!list) known.set(stack, (list = stackMethods(stacks, stack).map((m) => (same ? same[m] : m))));
    return list;
  };
}

/** Divides the own time of node k. */
function divide(tree, k, shown, methods) {
  const own = tree.self[k],
    totals = new Map(), // by estimated node: its time and samples
    selves = new Map();
  const note = (map, node, time, count) => {
    const of = map.get(node) || { time: 0, count: 0 };
    map.set(node, { time: of.time + time, count: of.count + count });
  };
  for (const path of shown.paths.values()) {
    const share = (own * path.weight) / shown.weight,
      by = path.by.map((n) => (own * n) / shown.weight);
    let at = k,
      rest = [];
    if (path.between.length) [at, rest] = aside(tree, k, path.between, methods, share);
    for (const method of [...rest, ...methods(path.stack)]) {
      at = tree.child(at, method, true);
      tree.total[at] += share;
      note(totals, at, share, path.count);
    }
    tree.self[k] -= share;
    tree.self[at] += share;
    note(selves, at, share, path.count);
    for (let up = at; up > 0; up = tree.parent[up]) tree.spend(up, by);
  }
  if (tree.self[k] < 1e-6) tree.self[k] = 0;
  for (const [map, list] of [
    [totals, tree.estTotal],
    [selves, tree.estSelf],
  ])
    for (const [node, { time, count }] of map) {
      const [low, high] = bounds(time, own, shown.effective);
      list[node] = sumOf(list[node], {
        time: tree.estimated[node] ? time : 0,
        count,
        low: (time - low) ** 2,
        high: (high - time) ** 2,
      });
    }
}

/**
 * Where a path leaves the recorded calls because others lie between them: the node that it leaves, and the methods from
 * there to that of node k. Its time is taken off the nodes that it passes by.
 */
function aside(tree, k, between, methods, share) {
  const chain = [k],
    path = [];
  let highest = 0;
  for (let j = 0; j < between.length; j += 2) highest = Math.max(highest, between[j]);
  while (chain.length <= highest && tree.parent[chain.at(-1)] > 0) chain.push(tree.parent[chain.at(-1)]);
  for (let up = chain.length - 1; up >= 0; up--) {
    for (let j = 0; j < between.length; j += 2) if (between[j] === up) path.push(...methods(between[j + 1]));
    path.push(tree.method[chain[up]]);
    tree.total[chain[up]] -= share;
  }
  return [tree.parent[chain.at(-1)], path];
}

/** What rests on samples in two times together: how much it is, on how many samples, and the squares of its bounds. */
function sumOf(a, b) {
  if (!a || !b) return a || b;
  return { time: a.time + b.time, count: a.count + b.count, low: a.low + b.low, high: a.high + b.high };
}

/** "est. 1.9 s (1.7 to 2.1 s), 212 samples"; empty for a time that rests on no samples. */
function estimateText(nanos, est) {
  if (!est || !(est.time > 0 || est.low + est.high > 1)) return "";
  const low = Math.max(0, nanos - Math.sqrt(est.low)),
    high = nanos + Math.sqrt(est.high);
  return `est. ${duration(nanos)} (${duration(low)} to ${duration(high)}), ${plural(est.count, "sample")}`;
}

/** The tree with the time in which threads ran, in place of all time. */
function cpuTree(tree) {
  const cpu = Object.assign(new Tree(), tree, { wall: tree });
  const part = (est, now, was) => est && { ...est, time: was > 0 ? (est.time * now) / was : 0, low: 0, high: 0 };
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
    methodsOf = stackMethodsOf(calls.stacks, null);
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
