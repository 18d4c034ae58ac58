"use strict";

const LANE = 22;

/** A lane's columns: of each the longest outermost call, in nanoseconds, and the share of time that is not recorded. */
class Lane {
  constructor(thread) {
    this.width = thread.lane.width; // nanoseconds a column
    this.longest = [...thread.lane.longest].map((c) => (c === " " ? 0 : 1e3 * 2 ** ((c.charCodeAt(0) - 33) / 3)));
    this.lost = [...thread.lane.lost].map((c) => +c / 9);
  }

  /** What there is between two times. */
  between(from, to) {
    let longest = 0,
      lost = 0;
    for (let k = Math.floor(from / this.width); k <= to / this.width && k < this.longest.length; k++) {
      longest = Math.max(longest, this.longest[k]);
      lost = Math.max(lost, this.lost[k] || 0);
    }
    return { longest, lost };
  }
}

/**
 * All threads of the recording on one time line: how long their outermost calls took, stalls, frames, what was not
 * recorded, and the range that the views show. It needs no calls, so that it is there at once.
 */
class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    this.onchoose = this.onthread = this.onstall = this.onhover = () => {};
    this.frames = [];
    let start = null;
    const done = () => {
      start = null;
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.recording) return;
      this.onhover(null);
      start = {
        x: event.clientX,
        y: event.clientY,
        at: this.time(event),
        far: false,
        touch: event.pointerType === "touch",
      };
      if (!start.touch) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (start === null) {
        if (this.recording && event.pointerType !== "touch") this.onhover(this.about(event), event);
        return;
      }
      if (Math.abs(event.clientX - start.x) > 3) start.far = true;
      if (start.far) this.onchoose(Math.min(start.at, this.time(event)), Math.max(start.at, this.time(event)));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (start !== null && !start.far) this.click(event);
      done();
    });
    canvas.addEventListener("pointercancel", done);
    canvas.addEventListener("pointerleave", () => this.onhover(null));
    canvas.addEventListener("dblclick", () => this.onchoose(0, this.recording.end));
    canvas.parentElement.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  show(recording) {
    this.recording = recording;
    this.end = Math.max(1, recording.end);
    this.lanes = recording.threads.map((t) => new Lane(t));
    this.states = []; // by thread, when they are known
    this.thread = null;
    this.seen = [0, this.end];
    this.frames = [];
    const tall = this.y(this.lanes.length);
    this.canvas.parentElement.firstElementChild.style.height = tall + "px";
    this.canvas.parentElement.style.height = tall + 1 + "px";
    this.draw();
  }

  y(k) {
    return RULER + 8 + k * LANE;
  }

  /** How far the lanes are scrolled: the canvas is as tall as what is seen of them, as many threads are taller than one may be. */
  get top() {
    return this.canvas.parentElement.scrollTop;
  }

  time(event) {
    const box = this.canvas.getBoundingClientRect();
    return this.end * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  laneAt(event) {
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    if (y < RULER) return -1;
    const k = Math.floor((y + this.top - this.y(0)) / LANE);
    return k >= 0 && k < this.lanes.length ? k : -1;
  }

  stallAt(event) {
    const thread = this.recording.threads[this.laneAt(event)],
      near = (this.end / this.canvas.clientWidth) * 4,
      t = this.time(event);
    return thread
      ? this.recording.stalls.findIndex(
          (s) => s.thread === thread.index && s.role === "stall" && s.begin - near <= t && t <= s.begin + s.wall + near,
        )
      : -1;
  }

  /** A click chooses the thread, and the stall if there is one. */
  click(event) {
    const stall = this.stallAt(event),
      k = this.laneAt(event);
    if (stall >= 0) this.onstall(stall);
    else if (k >= 0) this.onthread(k);
  }

  about(event) {
    const k = this.laneAt(event),
      t = this.time(event),
      stall = this.stallAt(event);
    if (k < 0) return null;
    if (stall >= 0) {
      const s = this.recording.stalls[stall];
      return [`stall, ${lasted(s)}`, s.verdict];
    }
    const half = this.end / this.canvas.clientWidth / 2,
      { longest, lost } = this.lanes[k].between(t - half, t + half);
    const text = [
      longest ? `outermost calls of about ${duration(longest)} and less` : "no calls",
      lost ? "records are missing here" : "",
    ];
    return [`${this.recording.threads[k].name} at ${duration(t)}`, text.filter(Boolean).join("; ")];
  }

  draw() {
    if (this.pending || !this.recording) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const { context, width, height } = contextOf(this.canvas);
      context.fillStyle = colors.ground;
      context.fillRect(0, 0, width, height);
      this.scale = width / this.end;
      const first = Math.max(0, Math.floor((this.top - this.y(0)) / LANE) + 1),
        last = Math.min(this.lanes.length, Math.ceil((this.top + height - this.y(0)) / LANE));
      for (let k = Math.max(0, first - 1); k < last; k++) this.paintLane(context, width, this.recording.threads[k], k);
      this.paintRuler(context, width);
      this.paintFrames(context);
      this.paintSeen(context, width, height);
    });
  }

  paintRuler(context, width) {
    const step = roundStep(this.end, Math.max(2, width / 110));
    context.fillStyle = colors.ground;
    context.fillRect(0, 0, width, RULER + 8);
    context.fillStyle = colors.faint;
    for (let t = 0; t < this.end; t += step) {
      context.fillRect(t * this.scale, 0, 1, RULER);
      if (t * this.scale + 40 < width) context.fillText(t ? tick(t, step) : "0", t * this.scale + 4, RULER / 2);
    }
  }

  paintLane(context, width, thread, k) {
    const top = this.y(k) - this.top,
      floor = top + LANE - 2,
      lane = this.lanes[k],
      states = this.states[k] || new States([]),
      tall = LANE - 4;
    if (thread === this.thread) {
      context.fillStyle = colors.panel;
      context.fillRect(0, top - 1, width, LANE);
    }
    context.fillStyle = colors.line;
    context.fillRect(0, floor + 1, width, 1);
    // Height is the logarithm of the duration, from one millisecond to ten seconds.
    for (let x = 0; x < width; x++) {
      const from = x / this.scale,
        to = (x + 1) / this.scale,
        { longest, lost } = lane.between(from, to - 1);
      if (lost) this.paintLost(context, x, top, tall, lost);
      if (!longest) continue;
      const part = Math.min(1, Math.log10(Math.max(longest / 1e6, 1)) / 4),
        high = Math.max(3, part * tall);
      context.fillStyle = colors[states.of(from, to)];
      context.fillRect(x, floor - high, 1, high);
    }
    context.fillStyle = colors.bad;
    for (const s of this.recording.stalls) {
      if (s.thread === thread.index && s.role === "stall")
        context.fillRect(s.begin * this.scale, top + 1, Math.max(3, s.wall * this.scale), tall);
    }
    context.fillStyle = colors.ground + "cc";
    const text = shorten(thread.name, 160, (t) => context.measureText(t).width),
      room = context.measureText(text).width;
    context.fillRect(2, top + 2, room + 6, 14);
    context.fillStyle = thread === this.thread ? colors.accent : colors.text;
    context.fillText(text, 5, top + 9.5);
  }

  /** One column of what was not recorded: a hatch of many such columns. */
  paintLost(context, x, top, tall, share) {
    context.fillStyle = colors.lost;
    context.globalAlpha = 0.35 + 0.65 * share;
    for (let y = top + (5 - (x % 5)); y < top + tall; y += 5) context.fillRect(x, y, 1, 1.4);
    context.globalAlpha = 1;
  }

  paintFrames(context) {
    context.fillStyle = colors.text;
    for (const f of this.frames)
      if (f.dropped > 0)
        context.fillRect(f.begin * this.scale, RULER + 2, Math.max(1.5, (f.end - f.begin) * this.scale), 4);
  }

  /** Dims what the views do not show. */
  paintSeen(context, width, height) {
    const x = this.seen[0] * this.scale,
      wide = Math.max(2, (this.seen[1] - this.seen[0]) * this.scale);
    context.fillStyle = colors.ground + "a0";
    context.fillRect(0, 0, x, height);
    context.fillRect(x + wide, 0, width, height);
    context.strokeStyle = colors.accent;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, 0.5, Math.max(1, wide - 1), height - 1);
  }
}

/** All threads, zoomed: of each its messages, and the first rows of its calls, by the names of their methods. */
class Threads extends Pane {
  constructor(canvas, names) {
    super(canvas);
    this.names = names;
    this.rows = [];
    this.matches = null;
  }

  /** threads: {thread, calls, messages, stalls, states}; calls is null while they are decoded. */
  show(threads, end) {
    this.threads = threads;
    this.layOut();
    this.setLimit(0, end);
  }

  /** Makes the rows of all threads: a name, messages if the recording has some, and at most three rows of calls. */
  layOut() {
    this.rows = [];
    let y = RULER;
    const row = (kind, t, tall, more) => {
      this.rows.push({ kind, t, y, tall, ...more });
      y += tall;
    };
    for (const t of this.threads) {
      row("name", t, 16);
      if (t.messages.length) row("messages", t, ROW);
      const depths = Math.min(3, t.calls ? t.calls.rows.length : 1);
      for (let depth = 0; depth < depths; depth++) row("calls", t, ROW, { depth });
      y += 6;
    }
    this.height = y;
    this.draw();
  }

  tall() {
    return this.height;
  }

  hit({ x, y }) {
    const row = this.rows.find((r) => r.y - this.top <= y && y < r.y - this.top + r.tall);
    if (!row || y < RULER || !this.limit) return null;
    const t = this.timeAt(x),
      same = (a) => (this.hovered && a.row === this.hovered.row && a.i === this.hovered.i ? this.hovered : a);
    if (row.kind === "calls" && row.t.calls) {
      const i = row.t.calls.at(t, row.depth);
      return i < 0 ? null : same({ row, i });
    }
    if (row.kind !== "messages") return same({ row, i: -1 });
    const i = row.t.messages.findIndex((m) => m.begin <= t && t < m.end);
    return i < 0 ? null : same({ row, i });
  }

  select(hit) {
    this.onselect(hit);
  }

  fit({ row, i }) {
    if (i < 0) return;
    const [begin, end] =
      row.kind === "messages"
        ? [row.t.messages[i].begin, row.t.messages[i].end]
        : [row.t.calls.begin[i], row.t.calls.end[i]];
    const margin = (end - begin) * 0.05 + 1;
    this.view(begin - margin, end + margin);
  }

  paint(context, width, height) {
    for (const row of this.rows) {
      const y = row.y - this.top;
      if (y + row.tall < RULER || y > height) continue;
      if (row.kind === "name") this.paintName(context, width, row.t, y);
      else if (row.kind === "messages") this.paintMessages(context, row, y);
      else if (row.t.calls) this.paintCalls(context, width, row, y);
    }
    for (const t of this.threads) this.paintStalls(context, t);
    this.paintLinks(context);
    this.paintRuler(context, width);
  }

  /** When an asynchronous call ran on threads, and the first row of each: what is below the call says "on" a thread. */
  links({ row, i }) {
    const { calls } = row.t,
      list = [];
    for (let k = i + 1; k < calls.length && calls.depth[k] > calls.depth[i]; k++) {
      if (calls.depth[k] > calls.depth[i] + 1) continue;
      const { text } = this.names(calls.method[k]),
        on = this.rows.find((r) => r.kind === "calls" && !r.t.thread.async && "on " + r.t.thread.name === text);
      if (on) list.push({ row: on, begin: calls.begin[k], end: calls.end[k] });
    }
    return list;
  }

  /** Links the asynchronous call under the pointer with the threads that it ran on. */
  paintLinks(context) {
    const hit = this.hovered;
    if (!hit || hit.i < 0 || hit.row.kind !== "calls" || !hit.row.t.thread.async) return;
    context.strokeStyle = colors.accent;
    context.lineWidth = 1;
    const from = hit.row.y - this.top;
    for (const { row, begin, end } of this.links(hit)) {
      const x = this.xOf(begin),
        y = row.y - this.top;
      context.strokeRect(x + 0.5, y + 0.5, Math.max(1, this.xOf(end) - x), ROW - 2);
      context.beginPath();
      context.moveTo(x + 0.5, from < y ? from + ROW : from);
      context.lineTo(x + 0.5, from < y ? y : y + ROW);
      context.stroke();
    }
  }

  paintName(context, width, t, y) {
    context.fillStyle = colors.line;
    context.fillRect(0, y, width, 1);
    context.fillStyle = colors.faint;
    context.fillText(t.thread.name + (t.calls ? "" : ": its calls are being read"), 4, y + 9);
  }

  paintMessages(context, row, y) {
    row.t.messages.forEach((m, i) => {
      if (m.end < this.from || m.begin > this.to || m.kind === "idle") return;
      this.box(
        context,
        Math.max(-2, this.xOf(m.begin)),
        this.xOf(m.end),
        y,
        colors[m.cpu * 2 >= m.end - m.begin ? "running" : row.t.states.of(m.begin, m.end)],
        { text: m.name },
        row,
        i,
      );
    });
  }

  paintCalls(context, width, row, y) {
    const { calls } = row.t,
      list = calls.rows[row.depth] || [],
      scale = this.width / (this.to - this.from);
    for (let k = calls.after(list, this.from); k < list.length;) {
      const i = list[k];
      if (calls.begin[i] >= this.to) break;
      const x = Math.max(-2, this.xOf(calls.begin[i])),
        right = Math.min(width + 2, this.xOf(calls.end[i]));
      const name = this.names(calls.method[i]),
        { lost } = name,
        faded = this.matches && !this.matches[calls.method[i]];
      const color = lost
        ? colors.panel
        : faded
          ? colors.line
          : colors.call(row.t.states.of(calls.begin[i], calls.end[i]), name.shade);
      if (right - x < 1) {
        context.fillStyle = lost ? colors.lost : color;
        context.fillRect(Math.floor(x), y, 1, ROW - 1);
        k = Math.max(k + 1, calls.after(list, this.from + (Math.floor(x) + 1) / scale));
        continue;
      }
      this.box(context, x, right, y, color, name, row, i);
      if (lost) hatch(context, x, y, right - x, ROW - 1, colors.lost, 5);
      k++;
    }
  }

  box(context, x, right, y, color, name, row, i) {
    const wide = Math.max(1, right - x);
    context.fillStyle = color;
    context.fillRect(x, y, wide > 2 ? wide - 0.5 : wide, ROW - 1);
    if (wide > 28) {
      const left = Math.max(0, x) + 4,
        room = Math.min(right, this.left + this.width) - left - 3;
      write(context, name, left, y + ROW / 2, room, colors.text, colors.text + "b0");
    }
    if (this.hovered && this.hovered.row === row && this.hovered.i === i) {
      context.strokeStyle = colors.text;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, wide - 1, ROW - 2);
    }
  }

  paintStalls(context, t) {
    const name = this.rows.find((r) => r.t === t),
      last = this.rows.findLast((r) => r.t === t);
    context.strokeStyle = colors.bad;
    context.lineWidth = 1.5;
    for (const s of t.stalls) {
      if (s.begin + s.wall < this.from || s.begin > this.to) continue;
      const x = this.xOf(s.begin);
      context.strokeRect(
        x,
        name.y + 15 - this.top,
        Math.max(2, this.xOf(s.begin + s.wall) - x),
        last.y + last.tall - name.y - 16,
      );
    }
  }
}
