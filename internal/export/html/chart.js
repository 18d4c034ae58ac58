"use strict";

const ROW = 18, RULER = 20;

/** Sizes a canvas to its element and gives its context in CSS pixels. */
function contextOf(canvas) {
  const scale = window.devicePixelRatio || 1, { width, height } = canvas.getBoundingClientRect();
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return { context, width, height };
}

/** A step of 1, 2 or 5 times a power of ten that divides span into at most n parts. */
function roundStep(span, n) {
  const power = 10 ** Math.floor(Math.log10(span / n));
  return [1, 2, 5, 10].map((f) => f * power).find((s) => span / s <= n);
}

function colors() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ground", "panel", "line", "text", "faint", "accent", "bad", "slow", "good"].map((n) => [n, style.getPropertyValue("--" + n).trim()]));
}

/** Draws calls as boxes, time to the right and what was called below its caller. */
class Chart {
  /** names(method) gives {text, hue}; hue is negative for a method without a name. */
  constructor(canvas, names) {
    this.canvas = canvas;
    this.names = names;
    this.calls = new Calls(0);
    this.matches = null; // by method: whether it was searched for
    this.selected = -1;
    this.hovered = -1;
    this.onview = this.onselect = this.onhover = () => {};
    this.pending = false;
    this.listen();
  }

  show(calls, from, to) {
    this.calls = calls;
    this.limit = [from, Math.max(to, from + 1)];
    this.from = this.limit[0];
    this.to = this.limit[1];
    this.top = 0;
    this.selected = this.hovered = -1;
    this.draw();
  }

  /** Shows the times between from and to, or as much as there is. */
  view(from, to) {
    const [first, last] = this.limit, span = Math.min(Math.max(to - from, 1), last - first);
    this.from = Math.min(Math.max(from, first), last - span);
    this.to = this.from + span;
    this.onview();
    this.draw();
  }

  zoom(factor, x) {
    const { width } = this.canvas.getBoundingClientRect(), at = this.from + (this.to - this.from) * x / width;
    this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  move(part) {
    const by = (this.to - this.from) * part;
    this.view(this.from + by, this.to + by);
  }

  scroll(pixels) {
    const { height } = this.canvas.getBoundingClientRect();
    this.top = Math.max(0, Math.min(this.top + pixels, this.calls.rows.length * ROW + RULER - height));
    this.draw();
  }

  select(i) {
    this.selected = i;
    if (i >= 0) {
      const { height } = this.canvas.getBoundingClientRect(), y = this.calls.depth[i] * ROW - this.top;
      if (y < 0 || y > height - RULER - ROW) this.top = Math.max(0, this.calls.depth[i] * ROW - height / 2);
    }
    this.onselect(i);
    this.draw();
  }

  fit(i) {
    const { calls } = this, margin = (calls.end[i] - calls.begin[i]) * 0.03 + 1;
    this.view(calls.begin[i] - margin, calls.end[i] + margin);
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect(), y = event.clientY - box.top - RULER;
    if (y < 0) return -1;
    const t = this.from + (this.to - this.from) * (event.clientX - box.left) / box.width;
    return this.calls.at(t, Math.floor((y + this.top) / ROW));
  }

  listen() {
    const { canvas } = this;
    let drag = null;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move((event.deltaX || event.deltaY) / box.width);
      else this.zoom(1.0015 ** event.deltaY, event.clientX - box.left);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, y: event.clientY, from: this.from, to: this.to, top: this.top, far: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
        if (Math.abs(dx) + Math.abs(dy) > 4) drag.far = true;
        if (!drag.far) return;
        const by = dx * (drag.to - drag.from) / canvas.getBoundingClientRect().width;
        this.view(drag.from - by, drag.to - by);
        this.top = drag.top;
        this.scroll(-dy);
        return;
      }
      this.hovered = this.hit(event);
      this.onhover(this.hovered, event);
      this.draw();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.far) this.select(this.hit(event));
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => {
      this.hovered = -1;
      this.onhover(-1);
      this.draw();
    });
    canvas.addEventListener("dblclick", (event) => {
      const i = this.hit(event);
      if (i >= 0) this.fit(i);
    });
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        event.preventDefault();
        this.scroll(event.key === "ArrowUp" ? -3 * ROW : 3 * ROW);
      }
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Draws soon, and once for all changes until then. */
  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  paint() {
    if (!this.limit) return;
    const { context, width, height } = contextOf(this.canvas), color = colors();
    context.fillStyle = color.ground;
    context.fillRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const first = Math.floor(this.top / ROW), last = Math.min(this.calls.rows.length - 1, Math.floor((this.top + height) / ROW));
    for (let depth = first; depth <= last; depth++) this.paintRow(context, width, depth, color);
    this.paintRuler(context, width, color);
  }

  /**
   * Draws the calls of one depth. What is narrower than a pixel is drawn as one pixel and the calls in it are jumped
   * over, so that a row costs what it is wide and not how many calls it has.
   */
  paintRow(context, width, depth, color) {
    const { calls, from, to } = this, row = calls.rows[depth], scale = width / (to - from);
    const y = RULER + depth * ROW - this.top;
    for (let k = calls.after(row, from); k < row.length;) {
      const i = row[k];
      if (calls.begin[i] >= to) break;
      const x = Math.max(-2, (calls.begin[i] - from) * scale), right = Math.min(width + 2, (calls.end[i] - from) * scale);
      const wide = right - x;
      if (wide < 1) {
        context.fillStyle = this.fill(i, true);
        context.fillRect(Math.floor(x), y, 1, ROW - 1);
        const next = calls.after(row, from + (Math.floor(x) + 1) / scale);
        k = Math.max(k + 1, next);
        continue;
      }
      this.paintCall(context, i, x, y, wide, color);
      k++;
    }
  }

  paintCall(context, i, x, y, wide, color) {
    context.fillStyle = this.fill(i, false);
    context.fillRect(x, y, Math.max(1, wide - 0.5), ROW - 1);
    if (this.calls.marks[i] & 31) this.hatch(context, x, y, wide, color);
    if (wide > 28) {
      context.fillStyle = this.matches && !this.matches[this.calls.method[i]] ? color.faint : color.text;
      const left = Math.max(x, 0) + 4, text = this.shorten(context, this.names(this.calls.method[i]).text, x + wide - left - 3);
      context.fillText(text, left, y + ROW / 2);
    }
    if (i === this.selected || i === this.hovered) {
      context.strokeStyle = i === this.selected ? color.accent : color.text;
      context.lineWidth = i === this.selected ? 2 : 1;
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), ROW - 3);
    }
  }

  fill(i, thin) {
    const m = this.calls.method[i], { hue } = this.names(m), dark = document.documentElement.dataset.theme === "dark";
    if (this.matches && !this.matches[m]) return dark ? "#262b33" : "#e6e8ec";
    const strong = this.matches ? 75 : hue < 0 ? 0 : 45;
    return `hsl(${Math.max(hue, 0)} ${strong}% ${dark ? (thin ? 38 : 32) : (thin ? 70 : 79)}%)`;
  }

  hatch(context, x, y, wide, color) {
    context.save();
    context.beginPath();
    context.rect(x, y, wide, ROW - 1);
    context.clip();
    context.strokeStyle = color.faint;
    context.lineWidth = 0.7;
    context.beginPath();
    for (let left = Math.max(x, -ROW) - ROW; left < Math.min(x + wide, this.canvas.width); left += 7) {
      context.moveTo(left, y + ROW);
      context.lineTo(left + ROW, y);
    }
    context.stroke();
    context.restore();
  }

  /** The end of a name says more than its beginning: a package is cut first. */
  shorten(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    const parts = text.split(".");
    for (let k = 1; k < parts.length; k++) {
      const tail = parts.slice(k).join(".");
      if (context.measureText(tail).width <= room) return tail;
    }
    const tail = parts[parts.length - 1];
    let low = 0, high = tail.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(tail.slice(0, middle) + "…").width <= room) low = middle; else high = middle - 1;
    }
    return low >= 2 ? tail.slice(0, low) + "…" : "";
  }

  paintRuler(context, width, color) {
    const { from, to } = this, step = roundStep(to - from, Math.max(2, width / 110));
    context.fillStyle = color.panel;
    context.fillRect(0, 0, width, RULER);
    context.fillStyle = color.faint;
    context.strokeStyle = color.line;
    context.lineWidth = 1;
    context.beginPath();
    for (let t = Math.ceil(from / step) * step; t < to; t += step) {
      const x = (t - from) / (to - from) * width;
      context.moveTo(x, 0);
      context.lineTo(x, RULER);
      context.fillText(t ? tick(t, step) : "0", x + 4, RULER / 2);
    }
    context.stroke();
  }
}

/** The whole recording in a strip: outermost calls by how long they took, stalls in red, and the part that is seen. */
class Overview {
  constructor(canvas) {
    this.canvas = canvas;
    this.calls = new Calls(0);
    this.onchoose = () => {};
    let start = null;
    const time = (event) => {
      const box = canvas.getBoundingClientRect();
      return this.from + (this.to - this.from) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    };
    canvas.addEventListener("pointerdown", (event) => {
      start = time(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (start !== null) this.onchoose(Math.min(start, time(event)), Math.max(start, time(event)));
    });
    canvas.addEventListener("pointerup", (event) => {
      const end = time(event), span = (this.to - this.from) / 50;
      if (start !== null && Math.abs(end - start) < span / 20) this.onchoose(end - span, end + span);
      start = null;
    });
    new ResizeObserver(() => this.paint()).observe(canvas);
  }

  show(calls, from, to, stalls, frames, slow) {
    Object.assign(this, { calls, from, to: Math.max(to, from + 1), stalls, frames, slow, seen: [from, to] });
    this.paint();
  }

  paint() {
    if (!this.stalls) return;
    const { context, width, height } = contextOf(this.canvas), color = colors(), scale = width / (this.to - this.from);
    context.fillStyle = color.ground;
    context.fillRect(0, 0, width, height);
    const floor = height - 12, tallest = new Float64Array(Math.ceil(width) + 1), row = this.calls.rows[0] || [];
    for (const i of row) {
      const x = Math.max(0, Math.floor((this.calls.begin[i] - this.from) * scale));
      const right = Math.min(tallest.length - 1, Math.floor((this.calls.end[i] - this.from) * scale)), d = this.calls.end[i] - this.calls.begin[i];
      for (let k = x; k <= right; k++) tallest[k] = Math.max(tallest[k], d);
    }
    // Height is the logarithm of the duration, from one frame at 60 Hz, which is seen, to ten seconds.
    for (let x = 0; x < tallest.length; x++) {
      if (!tallest[x]) continue;
      const part = Math.log10(Math.max(tallest[x] / 1e6, 1)) / 4;
      context.fillStyle = tallest[x] >= this.slow ? color.bad : tallest[x] > 16.7e6 ? color.slow : color.good;
      const tall = Math.max(3, Math.min(1, part) * (floor - 4));
      context.fillRect(x, floor - tall, 1, tall);
    }
    context.fillStyle = color.bad;
    for (const s of this.stalls) context.fillRect((s.begin - this.from) * scale, floor + 2, Math.max(3, s.wall * scale), 4);
    context.fillStyle = color.slow;
    for (const f of this.frames) if (f.dropped > 0) context.fillRect((f.begin - this.from) * scale, floor + 7, Math.max(1, (f.end - f.begin) * scale), 4);
    context.fillStyle = color.accent + "22";
    const x = (this.seen[0] - this.from) * scale, wide = Math.max(2, (this.seen[1] - this.seen[0]) * scale);
    context.fillRect(x, 0, wide, height);
    context.strokeStyle = color.accent;
    context.strokeRect(x + 0.5, 0.5, wide - 1, height - 1);
  }
}
