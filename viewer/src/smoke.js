// Smoke: a box whose fragments march through a texture of soot and of the sunlight that reaches it.
import {
  BackSide, BoxGeometry, Data3DTexture, DepthTexture, LinearFilter, Mesh, NearestFilter, RGFormat, ShaderMaterial, Vector2, Vector3,
  WebGLRenderTarget,
} from 'three';

const perKilogramme = 8700; // m^2/kg: what soot takes from light, as in pictures by `monolith render`
const sun = new Vector3(0.75, 1.25, 0.35).normalize(); // as that of the stage; upwards

const vertexShader = `
  varying vec3 place;
  void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    place = world.xyz;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

// Each fragment is the far wall of the box. Light is gathered from the near wall, or the eye, to the first solid.
const fragmentShader = `
  precision highp sampler3D;
  uniform sampler3D soot;
  uniform sampler2D depth;
  uniform vec3 lo, hi, colour, forward;
  uniform float extinction, pace, near, far;
  uniform vec2 size;
  varying vec3 place;

  float solidDistance(vec3 way) {
    float z = 2.0 * texture2D(depth, gl_FragCoord.xy / size).r - 1.0;
    return 2.0 * near * far / (far + near - z * (far - near)) / dot(way, forward);
  }

  void main() {
    vec3 way = normalize(place - cameraPosition), a = (lo - cameraPosition) / way, b = (hi - cameraPosition) / way;
    vec3 enter = min(a, b), leave = max(a, b);
    float first = max(max(max(enter.x, enter.y), enter.z), 0.0);
    float last = min(min(min(leave.x, leave.y), leave.z), solidDistance(way));
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    float passed = 1.0;
    vec3 light = vec3(0.0);
    float t = first + noise * pace;
    for (int i = 0; i < 400 && t < last && passed > 0.005; i++, t += pace) {
      vec2 here = texture(soot, (cameraPosition + t * way - lo) / (hi - lo)).rg;
      float through = exp(-extinction * here.r * pace);
      light += passed * (1.0 - through) * colour * (0.35 + 0.75 * here.g);
      passed *= through;
    }
    gl_FragColor = vec4(light / max(1.0 - passed, 1e-4), 1.0 - passed);
    #include <colorspace_fragment>
  }`;

// The part of the sun's light that reaches each cell: from the top layer down, each takes from the layer above, where
// the ray came from, what that lets through.
function lit(density, n, extinction, cell) {
  const light = new Float32Array(density.length).fill(1), [nx, ny, nz] = n, row = nx, layer = nx * ny;
  const dx = sun.x / sun.y, dz = sun.z / sun.y, length = cell / sun.y;
  for (let y = ny - 2; y >= 0; y--)
    for (let z = 0; z < nz; z++)
      for (let x = 0; x < nx; x++) {
        const px = x + dx, pz = z + dz, i = Math.floor(px), k = Math.floor(pz), fx = px - i, fz = pz - k;
        let sum = 0;
        for (let c = 0; c < 4; c++) {
          const ix = i + (c & 1), iz = k + (c >> 1), weight = (c & 1 ? fx : 1 - fx) * (c >> 1 ? fz : 1 - fz);
          if (ix >= nx || iz >= nz) sum += weight;
          else if (weight > 0) {
            const at = ix + row * (y + 1) + layer * iz;
            sum += weight * light[at] * Math.exp((-extinction * density[at] * length) / 255);
          }
        }
        light[x + row * y + layer * z] = sum;
      }
  return light;
}

export class Smoke {
  // depth: how much deeper a slice counts than it is.
  constructor(colour, depth) {
    this.depth = depth;
    this.target = new WebGLRenderTarget(1, 1, { depthTexture: new DepthTexture(1, 1), minFilter: NearestFilter, magFilter: NearestFilter });
    this.material = new ShaderMaterial({
      vertexShader, fragmentShader, transparent: true, depthTest: false, depthWrite: false, side: BackSide,
      uniforms: {
        soot: { value: null }, depth: { value: this.target.depthTexture }, lo: { value: new Vector3() }, hi: { value: new Vector3() },
        colour: { value: new Vector3(...colour) }, forward: { value: new Vector3() }, extinction: { value: 0 }, pace: { value: 1 },
        near: { value: 0 }, far: { value: 1 }, size: { value: new Vector2() },
      },
    });
    this.mesh = new Mesh(new BoxGeometry(1, 1, 1), this.material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 3;
    this.mesh.visible = false;
    this.strength = 1;
  }

  set(payload) {
    if (this.payload === payload) return;
    this.payload = payload;
    this.fill();
  }

  setStrength(strength) {
    if (this.strength === strength) return;
    this.strength = strength;
    this.fill();
  }

  fill() {
    const { payload, material: { uniforms: u } } = this, count = payload?.density.length ?? 0;
    this.present = count > 0;
    u.soot.value?.dispose();
    u.soot.value = null;
    if (!this.present) return;
    const { cells, cell, lo, most, density } = payload, extinction = this.strength * perKilogramme * most * this.depth;
    const light = lit(density, cells, this.depth > 1 ? 0 : extinction, cell), data = new Uint8Array(2 * count);
    for (let i = 0; i < count; i++) {
      data[2 * i] = density[i];
      data[2 * i + 1] = Math.round(255 * light[i]);
    }
    const texture = new Data3DTexture(data, ...cells);
    texture.format = RGFormat;
    texture.minFilter = texture.magFilter = LinearFilter;
    texture.unpackAlignment = 1;
    texture.needsUpdate = true;
    u.soot.value = texture;
    u.lo.value.set(...lo);
    u.hi.value.set(...lo.map((x, a) => x + cells[a] * cell));
    u.extinction.value = extinction;
    u.pace.value = 0.7 * cell;
    this.mesh.position.copy(u.lo.value).add(u.hi.value).multiplyScalar(0.5);
    this.mesh.scale.copy(u.hi.value).sub(u.lo.value);
  }

  // Everything but the smoke is drawn once for its depth.
  prepare(renderer, scene, camera) {
    this.mesh.visible = false;
    if (!this.present || !this.wanted) return;
    const { uniforms: u } = this.material;
    renderer.getDrawingBufferSize(u.size.value);
    this.target.setSize(u.size.value.x, u.size.value.y);
    u.near.value = camera.near;
    u.far.value = camera.far;
    camera.getWorldDirection(u.forward.value);
    renderer.setRenderTarget(this.target);
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
    this.mesh.visible = true;
  }
}
