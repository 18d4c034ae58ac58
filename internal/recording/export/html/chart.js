"use strict";

const ROW = 18,
  RULER = 20;

/** Sizes a canvas to its element and returns its context in CSS pixels. */
function contextOf(canvas) {
  const scale = window.devicePixelRatio || 1,
    { width, height } = canvas.getBoundingClientRect();
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  return { context, width, height };
}

/** A step of 1, 2 or 5 times a power of ten that divides span into at most n parts. */
function roundStep(span, n) {
  const power = 10 ** Math.floor(Math.log10(span / n));
  return [1, 2, 5, 10].map((f) => f * power).find((s) => span / s <= n);
}

const colors = {
  /** Reads the colours of the theme from the style sheet. */
  read() {
    const style = getComputedStyle(document.documentElement);
    for (const n of ["ground", "panel", "line", "text", "faint", "accent", "bad", "lost", "running", "waiting", "blocked", "unknown"])
      this[n] = style.getPropertyValue("--" + n).trim();
    this.dark = document.documentElement.dataset.theme === "dark";
    this.mixed = new Map();
  },

  /** A colour with a share of another in it; both as in the style sheet. */
  mix(color, other, share) {
    const key = color + other + share;
    let mixed = this.mixed.get(key);
    if (mixed) return mixed;
    const part = (c, k) => parseInt(c.slice(1 + 2 * k, 3 + 2 * k), 16),
      one = (k) => Math.round(part(color, k) * (1 - share) + part(other, k) * share);
    mixed = `rgb(${one(0)} ${one(1)} ${one(2)})`;
    this.mixed.set(key, mixed);
    return mixed;
  },

  /** The fill of a call: its state, in a shade of its package; lighter if it is estimated. */
  call(state, shade, light = false) {
    return this.mix(this[state], this.ground, shade * 0.08 + (light ? 0.45 : 0));
  },
};

/** Writes a name into room: its method, and then as much of class and package as there is room for. */
function write(context, { text, method = text, of = "" }, x, y, room, color, fainter) {
  const measure = (t) => context.measureText(t).width,
    first = shorten(method, room, measure);
  context.fillStyle = color;
  context.fillText(first, x, y);
  const left = measure(first) + 6;
  if (!of || first !== method || room - left < 24) return;
  context.fillStyle = fainter;
  context.fillText(shorten(of, room - left, measure), x + left, y);
}

/** Draws lines from bottom left to top right over a box. */
function hatch(context, x, y, wide, tall, color, gap) {
  const left = Math.max(x, -tall),
    right = Math.min(x + wide, context.canvas.width);
  if (right <= left) return;
  context.save();
  context.beginPath();
  context.rect(x, y, wide, tall);
  context.clip();
  context.strokeStyle = color;
  context.lineWidth = 0.8;
  context.beginPath();
  for (let at = Math.floor((left - tall) / gap) * gap; at < right; at += gap) {
    context.moveTo(at, y + tall);
    context.lineTo(at + tall, y);
  }
  context.stroke();
  context.restore();
}

/** A canvas with time to the right that is zoomed and moved by wheel, mouse, fingers and keys. */
class Pane {
  constructor(canvas) {
    this.canvas = canvas;
    this.limit = null; // the first and the last time that there is
    this.left = 0; // the pixels at the left that are not time
    this.top = 0; // how many pixels have been scrolled
    this.hovered = null;
    this.pending = false;
    this.onview = this.onhover = this.onselect = () => {};
    this.pointers = new Map();
    this.listen();
  }

  setLimit(from, to) {
    this.limit = [from, Math.max(to, from + 1)];
    [this.from, this.to] = this.limit;
    this.top = 0;
    this.leave();
    this.draw();
  }

  /** Shows the times between from and to, or as much as there is. */
  view(from, to) {
    if (!this.limit) return;
    const [first, last] = this.limit,
      span = Math.min(Math.max(to - from, 1), last - first);
    this.from = Math.min(Math.max(from, first), last - span);
    this.to = this.from + span;
    this.leave();
    this.onview();
    this.draw();
  }

  get width() {
    return Math.max(1, this.canvas.getBoundingClientRect().width - this.left);
  }

  zoom(factor, x = this.left + this.width / 2) {
    const at = this.timeAt(x);
    this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  move(part) {
    const by = (this.to - this.from) * part;
    this.view(this.from + by, this.to + by);
  }

  scroll(pixels) {
    const { height } = this.canvas.getBoundingClientRect();
    this.top = Math.max(0, Math.min(this.top + pixels, this.tall() - height));
    this.leave();
    this.draw();
  }

  timeAt(x) {
    return this.from + ((this.to - this.from) * (x - this.left)) / this.width;
  }

  xOf(t) {
    return this.left + ((t - this.from) / (this.to - this.from)) * this.width;
  }

  /** Where an event happened, in pixels of the canvas. */
  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** Nothing is hovered any more: what was under the pointer has moved away. */
  leave() {
    if (this.hovered === null) return;
    this.hovered = null;
    this.onhover(null);
    this.draw();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.released(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => this.leave());
    canvas.addEventListener("dblclick", (event) => {
      const hit = this.hit(this.place(event));
      if (hit !== null) this.fit(hit);
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  wheel(event) {
    event.preventDefault();
    if (!this.limit) return;
    if (event.altKey) this.scroll(event.deltaY);
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.move((event.deltaX || event.deltaY) / this.width);
    else this.zoom(1.0015 ** (event.deltaY * (event.ctrlKey ? 5 : 1)), this.place(event).x);
  }

  down(event) {
    this.leave();
    if (!this.limit) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.canvas.setPointerCapture(event.pointerId);
    this.start = { from: this.from, to: this.to, top: this.top, at: this.middle(), spread: this.spread() };
    if (this.pointers.size === 1) this.far = false;
  }

  /** The middle of all pointers that are down, and how far apart they are. */
  middle() {
    const all = [...this.pointers.values()];
    return { x: all.reduce((s, p) => s + p.x, 0) / all.length, y: all.reduce((s, p) => s + p.y, 0) / all.length };
  }

  spread() {
    const xs = [...this.pointers.values()].map((p) => p.x);
    return Math.max(20, Math.max(...xs) - Math.min(...xs));
  }

  moved(event) {
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType !== "touch" && !event.buttons) this.hover(event);
      return;
    }
    this.pointers.set(event.pointerId, this.place(event));
    const { start } = this,
      at = this.middle();
    if (Math.abs(at.x - start.at.x) + Math.abs(at.y - start.at.y) > 4 || this.pointers.size > 1) this.far = true;
    if (!this.far) return;
    this.drag(start, at);
  }

  /** Fingers that move apart zoom, and all that move together move what is shown. */
  drag(start, at) {
    const factor = this.pointers.size > 1 ? start.spread / this.spread() : 1,
      span = (start.to - start.from) * factor;
    const held = start.from + ((start.to - start.from) * (start.at.x - this.left)) / this.width;
    const from = held - (span * (at.x - this.left)) / this.width;
    this.view(from, from + span);
    this.top = start.top;
    this.scroll(start.at.y - at.y);
  }

  released(event) {
    const was = this.pointers.size;
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pointers.size)
      this.start = { from: this.from, to: this.to, top: this.top, at: this.middle(), spread: this.spread() };
    else if (!this.far && was === 1) this.tap(event);
  }

  tap(event) {
    const hit = this.hit(this.place(event));
    const twice = event.pointerType === "touch" && this.tapped && event.timeStamp - this.tapped < 350;
    this.tapped = event.timeStamp;
    if (twice && hit !== null) this.fit(hit);
    else this.select(hit);
  }

  hover(event) {
    const hit = this.hit(this.place(event)),
      changed = hit !== this.hovered;
    this.hovered = hit;
    this.onhover(hit, event);
    if (changed) this.draw();
  }

  /** Draws soon, and once for all changes until then. */
  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (!this.limit || !this.canvas.getClientRects().length) return;
      const { context, width, height } = contextOf(this.canvas);
      context.fillStyle = colors.ground;
      context.fillRect(0, 0, width, height);
      this.paint(context, width, height);
    });
  }

  paintRuler(context, width) {
    const { from, to, left } = this,
      step = roundStep(to - from, Math.max(2, this.width / 110));
    context.fillStyle = colors.panel;
    context.fillRect(0, 0, width, RULER);
    context.fillStyle = colors.faint;
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    context.beginPath();
    for (let t = Math.ceil(from / step) * step; t < to; t += step) {
      const x = this.xOf(t);
      context.moveTo(x, 0);
      context.lineTo(x, RULER);
      if (x + 30 < width && x >= left - 1) context.fillText(t ? tick(t, step) : "0", x + 4, RULER / 2);
    }
    context.stroke();
  }
}

/** Draws calls as boxes: time to the right, and what was called below its caller, or above it if up is set. */
class Chart extends Pane {
  /** names(method) returns {text, method, of, shade, lost}; see partsOf. */
  constructor(canvas, names, up = false) {
    super(canvas);
    this.names = names;
    this.up = up;
    this.calls = new Calls(0);
    this.matches = null; // by method: whether it was searched for
    this.gaps = []; // times that are hatched lightly: calls may be missing there
    this.shares = { shown: 0, all: 0 }; // of merged calls: what percentages are of
    this.selected = -1;
    canvas.addEventListener("keydown", (event) => this.step(event));
  }

  show(calls, from, to) {
    this.calls = calls;
    this.selected = -1;
    this.setLimit(from, to);
  }

  tall() {
    return this.calls.rows.length * ROW + RULER;
  }

  select(i) {
    this.selected = i ?? -1;
    if (this.selected >= 0) {
      const { height } = this.canvas.getBoundingClientRect(),
        y = this.calls.depth[i] * ROW - this.top;
      if (y < 0 || y > height - RULER - ROW) this.top = Math.max(0, this.calls.depth[i] * ROW - height / 2);
    }
    this.onselect(this.selected);
    this.draw();
  }

  fit(i) {
    const { calls } = this,
      margin = calls.took(i) * 0.03 + 1;
    this.view(calls.begin[i] - margin, calls.end[i] + margin);
  }

  hit({ x, y }) {
    const { height } = this.canvas.getBoundingClientRect(),
      down = this.up ? height - y : y - RULER;
    if (down < 0 || y < RULER || !this.limit) return null;
    const i = this.calls.at(this.timeAt(x), Math.floor((down + this.top) / ROW));
    return i < 0 ? null : i;
  }

  /** Arrow keys up and down scroll; with shift, arrow keys go to the caller, the first callee and the siblings. */
  step(event) {
    if (!event.key.startsWith("Arrow")) return;
    const { calls, selected: i } = this,
      vertical = event.key === "ArrowUp" || event.key === "ArrowDown";
    if (!event.shiftKey) {
      if (!vertical) return;
      event.preventDefault();
      this.scroll(event.key === "ArrowUp" ? -3 * ROW : 3 * ROW);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (i < 0) {
      const first = (calls.rows[0] || [])[calls.after(calls.rows[0] || [], this.from)];
      if (first !== undefined) this.select(first);
      return;
    }
    const row = calls.rows[calls.depth[i]],
      at = calls.after(row, calls.begin[i]),
      below = calls.rows[calls.depth[i] + 1] || [];
    const here = row.indexOf(i, Math.max(0, at - 1));
    const child = below[calls.after(below, calls.begin[i])];
    const next = {
      ArrowUp: this.up ? child : calls.parent[i],
      ArrowDown: this.up ? calls.parent[i] : child,
      ArrowLeft: row[here - 1],
      ArrowRight: row[here + 1],
    }[event.key];
    if (next === undefined || next < 0 || (next === child && calls.parent[next] !== i)) return;
    this.select(next);
    if (calls.end[next] < this.from || calls.begin[next] > this.to) this.fit(next);
  }

  y(depth, height) {
    return this.up ? height - (depth + 1) * ROW + this.top : RULER + depth * ROW - this.top;
  }

  paint(context, width, height) {
    for (const g of this.gaps) {
      const x = this.xOf(g[0]),
        right = this.xOf(g[1]);
      if (right >= 0 && x <= width) hatch(context, x, RULER, Math.max(1, right - x), height, colors.line, 11);
    }
    const first = Math.floor(this.top / ROW),
      last = Math.min(this.calls.rows.length - 1, Math.floor((this.top + height) / ROW));
    for (let depth = first; depth <= last; depth++) this.paintRow(context, width, depth, this.y(depth, height));
    this.paintRuler(context, width);
  }

  /**
   * Draws the calls of one depth. What is narrower than a pixel is drawn as one pixel and the calls in it are jumped
   * over, so that a row costs what it is wide and not how many calls it has.
   */
  paintRow(context, width, depth, y) {
    const { calls, from, to } = this,
      row = calls.rows[depth],
      scale = width / (to - from);
    for (let k = calls.after(row, from); k < row.length;) {
      const i = row[k];
      if (calls.begin[i] >= to) break;
      const x = Math.max(-2, (calls.begin[i] - from) * scale),
        right = Math.min(width + 2, (calls.end[i] - from) * scale);
      const wide = right - x;
      if (wide < 1) {
        context.fillStyle = this.fill(i, true);
        context.fillRect(Math.floor(x), y, 1, ROW - 1);
        const next = calls.after(row, from + (Math.floor(x) + 1) / scale);
        k = Math.max(k + 1, next);
        continue;
      }
      this.paintCall(context, i, x, y, wide);
      k++;
    }
  }

  paintCall(context, i, x, y, wide) {
    const m = this.calls.method[i],
      name = this.names(m);
    context.fillStyle = this.fill(i, false);
    context.fillRect(x, y, Math.max(1, wide - 0.5), ROW - 1);
    if (name.lost) hatch(context, x, y, wide, ROW - 1, colors.lost, 5);
    else if (this.calls.marks[i]) hatch(context, x, y, wide, ROW - 1, colors.faint, 7);
    if (wide > 28) {
      const left = Math.max(x, 0) + 4,
        room = Math.min(x + wide, this.width) - left - 3,
        pale = (this.matches && !this.matches[m]) || name.lost;
      write(context, this.calls.estimated(i) ? { ...name, method: "≈ " + name.method } : name, left, y + ROW / 2, room, pale ? colors.faint : colors.text, pale ? colors.faint : colors.text + "b0");
    }
    if (i === this.selected || i === this.hovered) {
      context.strokeStyle = i === this.selected ? colors.accent : colors.text;
      context.lineWidth = i === this.selected ? 2 : 1;
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), ROW - 3);
    }
  }

  fill(i, thin) {
    const m = this.calls.method[i],
      { shade, lost } = this.names(m);
    if (lost) return thin ? colors.lost : colors.panel;
    if (this.matches && !this.matches[m]) return colors.line;
    return colors.call(this.calls.state(i), shade, this.calls.estimated(i));
  }
}
