// Plots of the statistics over time, with a cursor at the shown frame; a click or drag goes to that time.
import { stageColours } from './colours.js';

const margin = { left: 48, right: 14, top: 8, bottom: 18 };

export function short(value) {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace('e+', 'e').replace('.0e', 'e');
  return String(Number(value.toPrecision(3)));
}

// Round steps: 1, 2 or 5 times a power of ten, about `count` of them.
function ticks(lo, hi, count) {
  const raw = (hi - lo) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((f) => f * power >= 0.7 * raw) ?? 10);
  const out = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi * (1 + 1e-12) + 1e-12 * step; i++) out.push(i * step);
  return out;
}

// An array that rows are appended to: the statistics of a run that goes on.
export class Table {
  constructor() {
    this.rows = 0;
    this.columns = {};
  }

  append(payload) {
    let added = 0;
    for (const [name, values] of Object.entries(payload)) {
      if (!(values instanceof Float32Array)) continue;
      const old = this.columns[name] ?? new Float32Array(0);
      const joined = new Float32Array(payload.first + values.length);
      joined.set(old.subarray(0, payload.first));
      joined.set(values, payload.first);
      this.columns[name] = joined;
      added = values.length;
    }
    this.rows = payload.first + added;
  }

  column(name) {
    return this.columns[name] ?? new Float32Array(this.rows);
  }

  // The step that a time belongs to.
  at(time) {
    const t = this.column('time');
    let lo = 0, hi = this.rows - 1;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (t[mid] < time - 1e-6 * (1 + time)) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }
}

class Plot {
  constructor(parent, title, unit, seek) {
    this.unit = unit;
    this.margin = { ...margin };
    this.element = parent.appendChild(document.createElement('div'));
    this.element.className = 'plot';
    this.element.innerHTML = '<h3><span></span><output></output></h3><canvas></canvas>';
    this.element.querySelector('span').textContent = title;
    this.output = this.element.querySelector('output');
    this.canvas = this.element.querySelector('canvas');
    this.still = document.createElement('canvas'); // all but the cursor
    const go = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const x = (event.clientX - box.left - this.margin.left) / (box.width - this.margin.left - this.margin.right);
      seek(this.end * Math.min(1, Math.max(0, x)));
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    this.canvas.addEventListener('pointermove', (event) => event.buttons & 1 && go(event));
  }

  // Smallest and largest of the values that fall into each pixel column.
  bins(time, values, width) {
    const lo = new Float32Array(width).fill(Infinity), hi = new Float32Array(width).fill(-Infinity);
    for (let i = 0; i < values.length; i++) {
      const x = Math.min(width - 1, Math.floor((time[i] / this.end) * width));
      if (!(x >= 0) || !Number.isFinite(values[i])) continue;
      lo[x] = Math.min(lo[x], values[i]);
      hi[x] = Math.max(hi[x], values[i]);
    }
    return { lo, hi };
  }

  draw(table, end, ratio) {
    this.table = table;
    this.end = end || 1;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width || !height) return;
    for (const c of [this.canvas, this.still]) {
      c.width = width * ratio;
      c.height = height * ratio;
    }
    const g = this.still.getContext('2d');
    g.scale(ratio, ratio);
    const m = this.margin;
    this.area = { x: m.left, y: m.top, w: width - m.left - m.right, h: height - m.top - m.bottom };
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(['line', 'dim', 'text', 'accent', 'bar'].map((n) => [n, style.getPropertyValue(`--${n}`)]));
    this.drawAxes(g, ...this.limits());
    g.save();
    g.beginPath();
    g.rect(this.area.x, this.area.y - 1, this.area.w, this.area.h + 2);
    g.clip();
    this.drawData(g);
    g.restore();
  }

  drawAxes(g, lo, hi) {
    const { x, y, w, h } = this.area;
    if (!(hi > lo)) hi = lo + (Math.abs(lo) || 1);
    this.map = (v) => y + h - ((v - lo) / (hi - lo)) * h;
    g.font = '10.5px system-ui, "DejaVu Sans", sans-serif';
    g.lineWidth = 1;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const v of ticks(lo, hi, 3)) {
      const at = Math.round(this.map(v)) + 0.5;
      g.strokeStyle = this.colours.line;
      g.beginPath();
      g.moveTo(x, at);
      g.lineTo(x + w, at);
      g.stroke();
      g.fillStyle = this.colours.dim;
      g.fillText(short(v), x - 6, at);
    }
    g.textBaseline = 'alphabetic';
    for (const t of ticks(0, this.end, Math.max(2, Math.floor(w / 70)))) {
      const at = x + (t / this.end) * w;
      g.textAlign = at > x + w - 12 ? 'right' : 'center';
      g.fillText(`${short(t)}${t === 0 ? ' s' : ''}`, Math.min(at, x + w), y + h + 13);
    }
  }

  cursor(time, ratio) {
    if (!this.area) return;
    const g = this.canvas.getContext('2d'), { x, y, w, h } = this.area;
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, this.canvas.width, this.canvas.height);
    g.drawImage(this.still, 0, 0);
    g.scale(ratio, ratio);
    const at = Math.round(x + (Math.min(time, this.end) / this.end) * w) + 0.5;
    g.strokeStyle = this.colours.text;
    g.globalAlpha = 0.65;
    g.beginPath();
    g.moveTo(at, y - 4);
    g.lineTo(at, y + h);
    g.stroke();
    g.globalAlpha = 1;
    this.output.textContent = this.table.rows ? this.value(this.table.at(time)) : '';
  }
}

class LinePlot extends Plot {
  constructor(parent, title, unit, fields, seek, options = {}) {
    super(parent, title, unit, seek);
    this.fields = fields; // [{ name, colour, label }]
    this.factor = options.factor ?? 1;
    this.zero = options.zero ?? false; // the axis starts at 0
    if (fields.length > 1) this.output.before(keys(fields));
  }

  limits() {
    let lo = this.zero ? 0 : Infinity, hi = this.zero ? 0 : -Infinity;
    for (const f of this.fields)
      for (const v of this.table.column(f.name))
        if (Number.isFinite(v)) {
          lo = Math.min(lo, v * this.factor);
          hi = Math.max(hi, v * this.factor);
        }
    if (!(hi >= lo)) return [0, 1];
    if (!this.zero) {
      lo = Math.min(lo, 0);
      hi = Math.max(hi, 0);
    }
    const room = 0.08 * (hi - lo) || 0.5 * Math.abs(hi) || 1;
    return [this.zero ? lo : lo - (lo < 0 ? room : 0), hi + room];
  }

  drawData(g) {
    const { x, w } = this.area, columns = Math.max(1, Math.floor(w));
    const time = this.table.column('time');
    for (const f of this.fields) {
      const { lo, hi } = this.bins(time, this.table.column(f.name), columns);
      g.strokeStyle = f.colour ?? this.colours.accent;
      g.lineWidth = 1.4;
      g.lineJoin = 'round';
      g.beginPath();
      let started = false;
      for (let i = 0; i < columns; i++) {
        if (lo[i] > hi[i]) continue;
        for (const v of lo[i] === hi[i] ? [lo[i]] : [lo[i], hi[i]]) {
          const at = this.map(v * this.factor);
          if (started) g.lineTo(x + i + 0.5, at);
          else g.moveTo(x + i + 0.5, at);
          started = true;
        }
      }
      g.stroke();
    }
  }

  value(step) {
    return this.fields.map((f) => short(this.table.column(f.name)[step] * this.factor)).join(' · ') + this.unit;
  }
}

// Wall time of the stages of a step, stacked.
class StagePlot extends Plot {
  constructor(parent, stages, seek) {
    super(parent, 'Time per step', ' ms', seek);
    this.stages = stages.map((name, i) => ({ name: `seconds.${name}`, label: name, colour: stageColours[i % stageColours.length] }));
    this.margin.right = 104;
    this.element.append(keys([...this.stages].reverse())); // as they are stacked
  }

  // A bar per step as long as the step took in the simulation; steps that share a pixel column share a bar, which
  // then shows their means.
  limits() {
    const { table, end } = this, rows = table.rows, columns = Math.max(1, Math.floor(this.area.w));
    const time = table.column('time'), dt = table.column('dt'), values = this.stages.map((s) => table.column(s.name));
    this.bars = [];
    let bar = null;
    for (let i = 0; i < rows; i++) {
      const from = Math.floor(((time[i] - dt[i]) / end) * columns);
      if (!bar || from > bar.from) this.bars.push(bar = { from, to: from + 1, steps: 0, sums: values.map(() => 0) });
      bar.to = Math.max(bar.from + 1, Math.floor((time[i] / end) * columns));
      bar.steps++;
      values.forEach((v, s) => { bar.sums[s] += Number.isFinite(v[i]) ? 1000 * v[i] : 0; });
    }
    for (const b of this.bars) b.sums = b.sums.map((v) => v / b.steps);
    // One slow step (a disk, another program) must not flatten the rest.
    const totals = this.bars.map((b) => b.sums.reduce((a, v) => a + v, 0)).sort((a, b) => a - b);
    const most = totals[totals.length - 1] ?? 1, usual = totals[Math.floor(0.98 * totals.length)] ?? 1;
    return [0, 1.05 * (most > 3 * usual ? usual : most)];
  }

  drawData(g) {
    for (const b of this.bars) {
      const gap = b.to - b.from > 4 ? 0.5 : 0;
      let base = 0;
      this.stages.forEach((stage, s) => {
        const from = this.map(base), to = this.map((base += b.sums[s]));
        g.fillStyle = stage.colour;
        g.fillRect(this.area.x + b.from, to, b.to - b.from - gap, from - to);
      });
    }
  }

  value(step) {
    const total = this.stages.reduce((sum, s) => sum + 1000 * this.table.column(s.name)[step], 0);
    return short(total) + this.unit;
  }
}

function keys(entries) {
  const box = document.createElement('div');
  box.className = 'keys';
  for (const e of entries) {
    const item = box.appendChild(document.createElement('span'));
    item.appendChild(document.createElement('i')).style.background = e.colour;
    item.append(e.label);
  }
  return box;
}

export class Plots {
  constructor(parent, stages, seek, elastic) {
    this.parent = parent;
    const energies = [
      { name: 'kinetic_energy', label: 'liquid', colour: stageColours[0] },
      { name: 'body_kinetic_energy', label: 'bodies', colour: stageColours[1] },
      { name: 'elastic_energy', label: 'elastic', colour: stageColours[3] },
    ];
    this.plots = [
      new LinePlot(parent, 'Volume error', ' %', [{ name: 'volume_error' }], seek, { factor: 100 }),
      elastic ? new LinePlot(parent, 'Energy', ' J', energies, seek, { zero: true })
        : new LinePlot(parent, 'Kinetic energy', ' J', [{ name: 'kinetic_energy' }], seek, { zero: true }),
      new LinePlot(parent, 'Iterations', '', [
        { name: 'iterations', label: 'pressure', colour: stageColours[0] },
        { name: 'correction_iterations', label: 'correction', colour: stageColours[1] },
      ], seek, { zero: true }),
      new StagePlot(parent, stages, seek),
    ];
  }

  draw(table, end) {
    this.ratio = Math.min(devicePixelRatio, 2);
    for (const p of this.plots) p.draw(table, end, this.ratio);
  }

  cursor(time) {
    if (this.parent.hidden) return;
    for (const p of this.plots) p.cursor(time, this.ratio);
  }
}
