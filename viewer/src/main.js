// The page: state, timeline, settings, keys, and following a run that is still computing.
import { Cache, isExported, loadPayload, loadRun } from './data.js';
import { Plots, Table, short } from './plots.js';
import { Stage } from './stage.js';
import { colourMaps } from './colours.js';

const $ = (id) => document.getElementById(id);
const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const cache = new Cache(600e6);
const table = new Table();

const state = {
  run: null, settings: {},
  index: 0, // into run.frames: what is wanted
  shown: -1, // and what is on the screen
  playing: false, loop: true, speed: 1, clock: 0, last: 0,
  news: performance.now(), error: '',
};
let stage, plots;

const frames = () => state.run.frames;
const timeOf = (index) => (frames()[index] ?? 0) / state.run.fps;

// ---- Frames ----

// The payloads that the present settings need of a frame.
function wanted(index) {
  const frame = frames()[index], paths = {};
  if ($('surface').checked && state.run.surface) paths.surface = `frame/${frame}/surface`;
  if ($('particles').checked && state.run.particles) paths.particles = `frame/${frame}/particles`;
  if (state.run.bodies.length) paths.bodies = `frame/${frame}/bodies`;
  if (state.run.elastics.length) paths.elastic = `frame/${frame}/elastic`;
  if ($('smoke').checked && state.run.smoke) paths.smoke = `frame/${frame}/smoke`;
  return paths;
}

// Asks for a frame; true when all of it is there (or cannot be had).
function ready(index) {
  return Object.values(wanted(index)).map((path) => cache.get(path)).every((e) => e.value || e.error);
}

function show(index) {
  if (!frames().length || !ready(index)) return false;
  const problems = [], payload = {};
  for (const [kind, path] of Object.entries(wanted(index))) {
    const entry = cache.get(path);
    payload[kind] = entry.value;
    if (entry.error) problems.push(entry.error.message);
  }
  stage.setSurface(payload.surface ?? null);
  stage.setParticles(payload.particles ?? null);
  if (payload.bodies) stage.setPoses(payload.bodies.pose);
  if (state.run.elastics.length) stage.setElastic(payload.elastic ?? null);
  if (state.run.smoke) stage.setSmoke(payload.smoke ?? null);
  state.shown = index;
  state.error = problems.join('\n');
  const thinned = payload.particles?.stride > 1
    ? `1 of ${payload.particles.stride} particles is shown (${payload.particles.total.toLocaleString('en')} in all)` : '';
  $('note').textContent = [state.error, thinned, frames().length ? '' : 'no frame yet'].filter(Boolean).join('\n');
  $('frame').textContent = frames()[index];
  $('of').textContent = ` / ${frames()[frames().length - 1]}`;
  $('time').textContent = `${timeOf(index).toFixed(3)} s`;
  $('scrub').value = index;
  document.body.dataset.frame = frames()[index];
  plots.cursor(timeOf(index));
  return true;
}

function seek(index) {
  state.index = Math.min(frames().length - 1, Math.max(0, index));
  state.clock = timeOf(state.index);
}

function seekTime(time) {
  let best = 0;
  for (let i = 0; i < frames().length; i++) if (Math.abs(timeOf(i) - time) < Math.abs(timeOf(best) - time)) best = i;
  $('follow').checked = false;
  seek(best);
}

function setPlaying(on) {
  if (on && state.index === frames().length - 1) seek(0);
  state.playing = on && frames().length > 1;
  $('play').classList.toggle('playing', state.playing);
  $('play').setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
}

// Time goes on only while the frames keep up: nothing is skipped because it was slow to load.
function advance(now) {
  const passed = Math.min(0.1, (now - state.last) / 1000);
  state.last = now;
  if (!state.playing || state.shown !== state.index) return;
  state.clock += passed * state.speed;
  let next = state.index;
  while (next + 1 < frames().length && timeOf(next + 1) <= state.clock) next++;
  if (next === frames().length - 1 && state.clock >= timeOf(next) + 1 / state.run.fps) {
    if ($('follow').checked) state.clock = timeOf(next);
    else if (state.loop) next = 0;
    else setPlaying(false);
    if (next === 0) state.clock = 0;
  }
  state.index = next;
  for (let k = 1; k <= 6; k++) ready((state.index + k) % frames().length);
}

function loop(now) {
  requestAnimationFrame(loop);
  advance(now);
  if (state.shown !== state.index) show(state.index);
  stage.render();
}

// ---- The run ----

function describe() {
  const { run, settings } = state, domain = settings.settings?.domain;
  const path = settings.scene?.path ?? run.directory;
  $('title').textContent = path.split('/').pop().replace(/\.lua$/, '');
  $('title').title = run.directory;
  document.title = `${$('title').textContent} – Monolith`;
  const parts = [];
  if (domain) {
    const size = run.hi.map((h, a) => Math.round((h - run.lo[a]) / run.cell));
    parts.push(`${(run.flat ? size.slice(0, 2) : size).join(' × ')} cells`);
  }
  const particles = table.column('particles')[table.rows - 1];
  if (particles) parts.push(`${particles.toLocaleString('en')} particles`);
  if (settings.version) parts.push(`version ${settings.version}`);
  $('details').textContent = parts.join('  ·  ');
  const running = run.status === 'running' && !run.exported;
  $('follow-label').hidden = !running;
  const done = settings.frames_done ?? frames().length - 1, all = settings.frames;
  const silent = (performance.now() - state.news) / 1000;
  let text = run.status;
  if (running) text = `computing  ${done} / ${all ?? '?'}` + (silent > 60 ? `  ·  no news for ${Math.floor(silent / 60)} min` : '');
  else if (run.status === 'interrupted' && all) text = `interrupted at ${done} / ${all}`;
  else if (run.status === 'failed' && settings.message) text = `failed: ${settings.message}`;
  $('chip').textContent = text;
  $('chip').className = run.status;
}

function redrawPlots() {
  const end = Math.max(timeOf(frames().length - 1), table.column('time')[table.rows - 1] || 0);
  if (!$('plots').hidden) plots.draw(table, end);
  plots.cursor(timeOf(Math.max(0, state.shown)));
}

function takeRun(run) {
  run.elastics ??= []; // of a page from an older version
  const before = state.run, grown = !before || before.frames.length !== run.frames.length || before.steps !== run.steps;
  state.run = run;
  try {
    state.settings = JSON.parse(run.settings);
  } catch {
    state.settings = {};
  }
  if (grown) state.news = performance.now();
  $('scrub').max = Math.max(0, run.frames.length - 1);
  return grown;
}

async function loadStats() {
  const payload = await loadPayload(isExported() || !table.rows ? 'stats' : `stats/${table.rows}`);
  table.append(payload);
  // A few drops are always much faster than the rest: the colours end at what most steps do not exceed.
  const fastest = table.column('max_speed').filter(Number.isFinite).sort();
  const usual = fastest[Math.floor(0.6 * fastest.length)] || 1, known = stage.range.speed[1];
  if (!stage.knowsSpeed || Math.abs(usual - known) > 0.1 * known) {
    stage.knowsSpeed = true;
    stage.range.speed = [0, usual];
    applyLook();
  }
  redrawPlots();
}

// Looks for new frames. A run that was started anew is another run: everything is loaded again.
async function poll() {
  try {
    const start = state.settings.start, waiting = !frames().length, run = await loadRun();
    const restarted = run.steps < table.rows || JSON.parse(run.settings).start !== start;
    if (restarted) return location.reload();
    if (takeRun(run)) {
      await loadStats();
      if ($('follow').checked || waiting) seek(frames().length - 1);
      if (state.shown >= 0) $('of').textContent = ` / ${frames()[frames().length - 1]}`;
    }
    describe();
  } catch (error) {
    $('chip').textContent = error instanceof TypeError ? 'the server does not answer' : error.message;
    $('chip').className = 'lost';
  }
  setTimeout(poll, state.run.status === 'running' ? 1000 : 5000);
}

// ---- Settings ----

function applyLook() {
  const colour = $('colour').value, size = state.run.cell * 0.5 * Number($('size').value);
  stage.surface.visible = $('surface').checked;
  stage.points.visible = $('particles').checked;
  stage.setColour(colour, size);
  stage.showSolids($('solids').value);
  const byStress = $('elastic-colour').value === 'stress';
  stage.showElastics([...$('elastic-list').querySelectorAll('input')].map((box) => box.checked), byStress);
  $('stress-legend').hidden = !byStress;
  if (byStress) drawLegend('stress-legend', 'stress', 'Von Mises stress, Pa', true);
  if (state.run.smoke) stage.showSmoke($('smoke').checked, 10 ** Number($('smoke-strength').value));
  stage.box.visible = $('box').checked;
  stage.grid.visible = $('grid').checked;
  stage.floor.visible = $('floor').checked;
  $('size-row').hidden = !$('particles').checked;
  const legend = (colour === 'speed' && $('particles').checked) || (colour === 'height' && ($('particles').checked || $('surface').checked));
  $('legend').hidden = !legend;
  if (legend) drawLegend('legend', colour, colour === 'speed' ? 'Speed, m/s' : 'Height, m', colour === 'speed');
  state.shown = -1; // other payloads may be needed
}

// open: values beyond the end have its colour.
function drawLegend(id, colour, title, open) {
  const box = $(id), [lower, upper] = box.querySelectorAll('span');
  box.firstElementChild.textContent = title;
  const g = box.querySelector('canvas').getContext('2d'), image = g.createImageData(160, 10);
  for (let y = 0; y < 10; y++)
    for (let x = 0; x < 160; x++) {
      const k = 4 * Math.round((255 * x) / 159);
      image.data.set(colourMaps[colour].subarray(k, k + 4), 4 * (160 * y + x));
    }
  g.putImageData(image, 0, 0);
  const [lo, hi] = stage.range[colour];
  lower.textContent = short(lo);
  upper.textContent = `${open ? '≥ ' : ''}${short(hi)}`;
}

function setTheme(dark) {
  document.documentElement.classList.toggle('dark', dark);
  stage.setTheme(dark ? 'dark' : 'light');
  if (plots) redrawPlots();
}

function setColour(value) {
  $('colour').value = value;
  // Speeds are the particles': a surface has none.
  if (value === 'speed' && !$('particles').checked && state.run.particles) {
    $('particles').checked = true;
    $('surface').checked = false;
  }
  applyLook();
}

function toggle(id) {
  if ($(id).disabled) return;
  $(id).checked = !$(id).checked;
  applyLook();
}

function cycle(id, apply) {
  const select = $(id);
  select.selectedIndex = (select.selectedIndex + 1) % select.options.length;
  apply(select.value);
}

function changeSpeed(by) {
  const k = Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(state.speed) + by));
  state.speed = speeds[k];
  $('speed').value = state.speed;
}

function setLoop(on) {
  state.loop = on;
  $('loop').classList.toggle('on', on);
}

function step(by) {
  setPlaying(false);
  $('follow').checked = false;
  seek(state.index + by);
}

function togglePlots() {
  $('plots').hidden = !$('plots').hidden;
  redrawPlots();
}

const togglePanel = () => { $('panel').hidden = !$('panel').hidden; };
const toggleHelp = () => { $('help').hidden = !$('help').hidden; };
const toggleTheme = () => setTheme(!document.documentElement.classList.contains('dark'));

// [keys, what they do in words, action]
const keys = [
  [[' '], 'Space', 'play or pause', () => setPlaying(!state.playing)],
  [['ArrowLeft'], '←', 'one frame back (with Shift: ten)', (e) => step(e.shiftKey ? -10 : -1)],
  [['ArrowRight'], '→', 'one frame on (with Shift: ten)', (e) => step(e.shiftKey ? 10 : 1)],
  [['Home'], 'Home', 'first frame', () => step(-Infinity)],
  [['End'], 'End', 'last frame', () => step(Infinity)],
  [['+', '='], '+', 'faster', () => changeSpeed(1)],
  [['-'], '−', 'slower', () => changeSpeed(-1)],
  [['l'], 'L', 'start again at the end', () => setLoop(!state.loop)],
  [['s'], 'S', 'surface', () => toggle('surface')],
  [['p'], 'P', 'particles', () => toggle('particles')],
  [['c'], 'C', 'next colour', () => cycle('colour', setColour)],
  [['b'], 'B', 'solids: opaque, see-through, hidden', () => cycle('solids', applyLook)],
  [['e'], 'E', 'elastic bodies: own colours, stress', () => { if (!$('elastic-set').hidden) cycle('elastic-colour', applyLook); }],
  [['m'], 'M', 'smoke', () => toggle('smoke')],
  [['x'], 'X', 'domain box', () => toggle('box')],
  [['g'], 'G', 'grid cells', () => toggle('grid')],
  [['r'], 'R', 'reset camera', () => stage.resetCamera()],
  [['d'], 'D', 'plots', togglePlots],
  [['o'], 'O', 'settings', togglePanel],
  [['t'], 'T', 'light or dark', toggleTheme],
  [['f'], 'F', 'full screen', () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen())],
  [['?', 'h', 'Escape'], '?', 'these keys', (e) => { if (e.key === 'Escape') $('help').hidden = true; else toggleHelp(); }],
];

function listen() {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'SELECT') return;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = keys.find(([names]) => names.includes(name));
    if (!found) return;
    event.preventDefault();
    found[3](event);
  });
  for (const [, name, text] of keys) {
    const row = $('help').firstElementChild.insertRow();
    row.insertCell().appendChild(document.createElement('kbd')).textContent = name;
    row.insertCell().textContent = text;
  }
  const click = {
    play: () => setPlaying(!state.playing), first: () => step(-Infinity), back: () => step(-1), next: () => step(1),
    last: () => step(Infinity), loop: () => setLoop(!state.loop), reset: () => stage.resetCamera(), theme: toggleTheme,
    'plots-toggle': togglePlots, 'panel-toggle': togglePanel, 'help-toggle': toggleHelp, help: toggleHelp,
  };
  for (const [id, action] of Object.entries(click))
    $(id).addEventListener('click', () => { action(); $(id).blur(); });
  $('scrub').addEventListener('input', () => { $('follow').checked = false; seek(Number($('scrub').value)); });
  $('follow').addEventListener('change', () => $('follow').checked && seek(frames().length - 1));
  $('speed').addEventListener('change', () => { state.speed = Number($('speed').value); $('speed').blur(); });
  $('colour').addEventListener('change', () => { setColour($('colour').value); $('colour').blur(); });
  for (const id of ['surface', 'particles', 'size', 'solids', 'elastic-colour', 'elastic-list', 'smoke', 'smoke-strength', 'box', 'grid', 'floor']) $(id).addEventListener('input', applyLook);
  new ResizeObserver(() => { stage.dirty = true; redrawPlots(); }).observe($('plots'));
}

// The names of elastic bodies, each with a switch.
function listElastics() {
  $('elastic-set').hidden = !state.run.elastics.length;
  for (const body of state.run.elastics) {
    const label = $('elastic-list').appendChild(document.createElement('label'));
    const box = label.appendChild(document.createElement('input'));
    box.type = 'checkbox';
    box.checked = body.visible;
    label.appendChild(document.createElement('span')).textContent = body.name;
    const srgb = body.color.map((c) => Math.round(255 * (c <= 0.0031 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055)));
    label.appendChild(document.createElement('i')).style.background = `rgb(${srgb})`;
  }
}

// A run may have been written without one of the two.
function offer() {
  for (const kind of ['surface', 'particles']) {
    $(kind).disabled = !state.run[kind];
    if (!state.run[kind]) $(kind).checked = false;
  }
  if (!state.run.surface && state.run.particles) $('particles').checked = true;
  $('smoke').disabled = $('smoke-set').hidden = !state.run.smoke;
  $('liquid-set').hidden = state.run.smoke;
  for (const s of speeds) $('speed').add(new Option(`${s}×`, s, s === 1, s === 1));
}

async function start() {
  try {
    stage = new Stage($('view'));
  } catch {
    $('note').textContent = 'This browser offers no WebGL, which the view needs.';
    return;
  }
  takeRun(await loadRun());
  offer();
  stage.resize();
  stage.setDomain(state.run);
  plots = new Plots($('plots'), state.run.stages, seekTime, state.run.elastics.length > 0);
  setTheme(matchMedia('(prefers-color-scheme: dark)').matches);
  const loaded = await Promise.allSettled(state.run.bodies.map((b) => loadPayload(b.path)));
  loaded.forEach((l, i) => stage.addSolid(state.run.bodies[i], l.value ?? { position: new Float32Array(0), triangle: new Int32Array(0) }));
  const skins = await Promise.allSettled(state.run.elastics.map((e) => loadPayload(e.path)));
  skins.forEach((l, i) => stage.addElastic(state.run.elastics[i], l.value ?? {}));
  listElastics();
  await loadStats();
  describe();
  applyLook();
  listen();
  const wantedFrame = Number(new URLSearchParams(location.hash.slice(1)).get('frame'));
  seek(Math.max(0, frames().indexOf(wantedFrame)));
  if (!frames().length) $('note').textContent = 'This run has no frame yet.';
  requestAnimationFrame(loop);
  if (!isExported()) setTimeout(poll, 1000);
}

start().catch((error) => { $('note').textContent = error.message; });
