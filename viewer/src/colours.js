// Colour maps: 256 colours each, interpolated from a few.
const stops = {
  // speed: perceptually even, dark to light (from matplotlib's viridis)
  speed: [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]],
  // height: deep water to foam
  height: [[12, 30, 80], [16, 70, 132], [24, 112, 170], [44, 152, 190], [92, 188, 200], [156, 218, 214], [222, 242, 236]],
  // stress: as in rendered pictures, violet to red
  stress: [[88, 79, 161], [56, 155, 205], [97, 203, 149], [242, 214, 79], [225, 70, 56]],
};

function build(points) {
  const map = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    const x = (i / 255) * (points.length - 1), k = Math.min(Math.floor(x), points.length - 2), t = x - k;
    for (let c = 0; c < 3; c++) map[4 * i + c] = Math.round((1 - t) * points[k][c] + t * points[k + 1][c]);
    map[4 * i + 3] = 255;
  }
  return map;
}

export const colourMaps = { speed: build(stops.speed), height: build(stops.height), stress: build(stops.stress) };

// A map's colours as linear light, for vertices.
export const linearMap = (map) => Float32Array.from(map, (v) => ((v / 255 + 0.055) / 1.055) ** 2.4);

// Stages of a step in the stacked plot.
export const stageColours = ['#4e79a7', '#f28e2b', '#76b7b2', '#e15759', '#59a14f', '#edc948', '#b07aa1', '#9c755f'];
