// Where the data comes from: the server, or elements of this page when it was exported. Both know the same paths.

function embedded(path) {
  const element = document.getElementById('/' + path);
  if (!element) return null;
  const text = atob(element.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

export const isExported = () => document.getElementById('/run.json') !== null;

async function load(path) {
  if (isExported()) {
    const buffer = embedded(path);
    if (!buffer) throw new Error(`this page holds no ${path}`);
    return buffer;
  }
  const answer = await fetch('/' + path, { cache: 'no-store' });
  if (!answer.ok) throw new Error((await answer.text()).trim() || `${path}: ${answer.status}`);
  return answer.arrayBuffer();
}

export async function loadRun() {
  return JSON.parse(new TextDecoder().decode(await load('run.json')));
}

const views = { f32: Float32Array, i32: Int32Array, u16: Uint16Array, u8: Uint8Array, i8: Int8Array };

// Differences of successive indices, zigzag, 7 bits per byte.
function undelta(bytes, count) {
  const out = new Int32Array(count);
  let at = 0, last = 0;
  for (let i = 0; i < count; i++) {
    let value = 0, shift = 0, byte;
    do {
      byte = bytes[at++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte & 128);
    last += (value >>> 1) ^ -(value & 1);
    out[i] = last;
  }
  return out;
}

// The arrays of a payload by name (src/view/view.h), positions and speeds in SI units whatever they were stored as.
export function unpack(buffer) {
  const end = buffer.byteLength - 4;
  const length = new DataView(buffer).getUint32(end, true);
  const described = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, end - length, length)));
  for (const [name, a] of Object.entries(described)) {
    if (typeof a !== 'object' || a === null || Array.isArray(a)) continue;
    if (a.type === 'delta') {
      described[name] = undelta(new Uint8Array(buffer, a.offset), a.count);
      continue;
    }
    const stored = new views[a.type](buffer, a.offset, a.count);
    if (a.scale === undefined) {
      described[name] = stored;
    } else {
      const many = Array.isArray(a.scale) ? a.scale.length : 1;
      const scale = [a.scale].flat(), origin = [a.origin ?? 0].flat();
      const out = new Float32Array(a.count);
      for (let i = 0; i < a.count; i++) out[i] = origin[i % many] + scale[i % many] * stored[i];
      described[name] = out;
    }
  }
  described.bytes = buffer.byteLength;
  return described;
}

export const loadPayload = async (path) => unpack(await load(path));

// Payloads in memory up to a limit; those asked for longest ago go first.
export class Cache {
  constructor(limit) {
    this.limit = limit;
    this.bytes = 0;
    this.entries = new Map(); // path -> { value, error, failed, bytes }
  }

  clear() {
    this.entries.clear();
    this.bytes = 0;
  }

  // The entry at once; its `value` comes later.
  get(path) {
    let entry = this.entries.get(path);
    if (entry?.error && performance.now() - entry.failed > 3000) entry = null; // perhaps it is there by now
    if (entry) {
      this.entries.delete(path);
      this.entries.set(path, entry);
      return entry;
    }
    entry = { value: null, error: null, bytes: 0 };
    loadPayload(path).then((value) => {
      entry.value = value;
      entry.bytes = value.bytes;
      if (this.entries.get(path) === entry) this.bytes += value.bytes;
      this.shrink(path);
    }, (error) => {
      entry.error = error;
      entry.failed = performance.now();
    });
    this.entries.set(path, entry);
    return entry;
  }

  shrink(keep) {
    for (const [path, entry] of this.entries) {
      if (this.bytes <= this.limit) return;
      if (path === keep || !entry.value) continue;
      this.entries.delete(path);
      this.bytes -= entry.bytes;
    }
  }
}
