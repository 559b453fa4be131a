// The three-dimensional view: liquid, solids, domain, camera. Knows nothing of files or time.
import {
  ACESFilmicToneMapping, AmbientLight, Box3, BufferAttribute, BufferGeometry, Color, DataTexture, DirectionalLight, DoubleSide, Group,
  LineBasicMaterial, LineSegments, LinearFilter, Mesh, MeshPhysicalMaterial, MeshStandardMaterial, PCFSoftShadowMap,
  PMREMGenerator, PerspectiveCamera, PlaneGeometry, Points, RGBAFormat, Scene, ShaderMaterial,
  ShadowMaterial, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { RoomEnvironment } from 'three/examples/jsm/environments/RoomEnvironment.js';
import { colourMaps, linearMap } from './colours.js';
import { Smoke } from './smoke.js';

const themes = {
  light: { back: 0xf0f3f6, line: 0x8593a3, grid: 0xa9b5c1, ambient: 0.25, shadow: 0.22 },
  dark: { back: 0x171c22, line: 0x5b6875, grid: 0x3f4a55, ambient: 0.12, shadow: 0.5 },
};

const pointShader = {
  vertex: `
    attribute float speed;
    uniform float size, pixels, lo, hi;
    uniform int mode;
    varying float value;
    void main() {
      vec4 eye = modelViewMatrix * vec4(position, 1.0);
      gl_Position = projectionMatrix * eye;
      gl_PointSize = max(1.5, size * pixels / -eye.z);
      value = clamp(((mode == 2 ? position.y : speed) - lo) / max(hi - lo, 1e-9), 0.0, 1.0);
    }`,
  fragment: `
    uniform sampler2D map;
    uniform int mode;
    varying float value;
    void main() {
      vec2 p = 2.0 * gl_PointCoord - 1.0;
      float r2 = dot(p, p);
      if (r2 > 1.0) discard;
      vec3 normal = vec3(p.x, -p.y, sqrt(1.0 - r2));
      float light = 0.55 + 0.45 * max(0.0, dot(normal, normalize(vec3(0.4, 0.8, 0.6))));
      vec3 colour = mode == 0 ? vec3(0.11, 0.42, 0.72) : texture2D(map, vec2(value * 0.996 + 0.002, 0.5)).rgb;
      gl_FragColor = vec4(colour * light, 1.0);
    }`,
};

function mapTexture(map) {
  const texture = new DataTexture(map, 256, 1, RGBAFormat);
  texture.minFilter = texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

function meshGeometry(payload) {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(payload.position, 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(payload.triangle.buffer, payload.triangle.byteOffset, payload.triangle.length), 1));
  if (payload.normal) geometry.setAttribute('normal', new BufferAttribute(payload.normal, 3, payload.normal instanceof Int8Array));
  else geometry.computeVertexNormals();
  return geometry;
}

export class Stage {
  constructor(canvas) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    this.scene = new Scene();
    const generator = new PMREMGenerator(this.renderer);
    this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.02).texture;
    generator.dispose();
    this.scene.environmentIntensity = 0.45;
    this.camera = new PerspectiveCamera(35, 1, 0.01, 100);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.15;
    this.dirty = true;
    this.colour = 'water';
    this.range = { speed: [0, 1], height: [0, 1], stress: [0, 0] };
    this.ambient = new AmbientLight(0xffffff, 0.3);
    this.sun = new DirectionalLight(0xfff6ea, 1.5);
    this.scene.add(this.ambient, this.sun, this.sun.target);
    this.makeLiquid();
    this.solids = new Group();
    this.elastics = new Group();
    this.byStress = false;
    this.domain = new Group();
    this.scene.add(this.solids, this.elastics, this.domain);
  }

  makeLiquid() {
    this.water = new MeshPhysicalMaterial({
      color: 0x0b5fa5, roughness: 0.09, metalness: 0, ior: 1.33, clearcoat: 0.5, clearcoatRoughness: 0.08,
      transparent: true, opacity: 0.86, envMapIntensity: 1.6,
    });
    this.mapped = new MeshStandardMaterial({ vertexColors: true, roughness: 0.35 });
    this.surface = new Mesh(new BufferGeometry(), this.water);
    this.surface.castShadow = true;
    this.textures = { speed: mapTexture(colourMaps.speed), height: mapTexture(colourMaps.height) };
    this.pointMaterial = new ShaderMaterial({
      vertexShader: pointShader.vertex, fragmentShader: pointShader.fragment,
      uniforms: {
        size: { value: 0.01 }, pixels: { value: 1 }, lo: { value: 0 }, hi: { value: 1 }, mode: { value: 0 },
        map: { value: this.textures.speed },
      },
    });
    this.points = new Points(new BufferGeometry(), this.pointMaterial);
    this.surface.frustumCulled = this.points.frustumCulled = false;
    this.surface.renderOrder = 2;
    this.scene.add(this.surface, this.points);
  }

  // ---- The domain ----

  setDomain(run) {
    this.run = run;
    const lo = new Vector3(...run.lo), hi = new Vector3(...run.hi);
    this.bounds = new Box3(lo, hi);
    this.extent = hi.clone().sub(lo).length();
    this.range.height = [run.lo[1], run.hi[1]];
    this.domain.clear();
    this.box = new LineSegments(this.boxGeometry(lo, hi), new LineBasicMaterial());
    this.domain.add(this.box);
    this.faces = this.makeFaces(lo, hi, run.cell);
    this.grid = new Group().add(...this.faces.map((f) => f.lines));
    this.grid.visible = false;
    this.domain.add(this.grid);
    this.floor = new Mesh(new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), new ShadowMaterial());
    const middle = lo.clone().add(hi).multiplyScalar(0.5);
    this.floor.position.set(middle.x, lo.y - 0.002 * this.extent, middle.z);
    this.floor.scale.setScalar(4 * this.extent);
    this.floor.receiveShadow = true;
    this.domain.add(this.floor);
    this.placeSun(middle);
    this.resetCamera();
    if (run.smoke) this.makeSmoke(run);
  }

  // A slice shows the smoke of a room a third as deep as it is wide, as pictures do.
  makeSmoke(run) {
    const deep = run.flat ? (run.hi[0] - run.lo[0]) / 3 / (run.hi[2] - run.lo[2]) : 1;
    this.smoke = new Smoke(run.smoke_color, Math.max(1, deep));
    this.scene.add(this.smoke.mesh);
  }

  setSmoke(payload) {
    this.smoke.set(payload);
    this.dirty = true;
  }

  showSmoke(wanted, strength) {
    this.smoke.wanted = wanted;
    this.smoke.setStrength(strength);
    this.dirty = true;
  }

  boxGeometry(lo, hi) {
    const corner = (i) => [i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z];
    const points = [];
    for (let i = 0; i < 8; i++)
      for (const bit of [1, 2, 4]) if (!(i & bit)) points.push(...corner(i), ...corner(i | bit));
    return new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
  }

  // The lines between cells on the six faces; only faces behind the liquid are shown, see render().
  makeFaces(lo, hi, cell) {
    const faces = [];
    const l = lo.toArray(), h = hi.toArray();
    const material = new LineBasicMaterial({ transparent: true, opacity: 0.75 });
    for (let axis = 0; axis < 3; axis++)
      for (const side of [0, 1]) {
        const u = (axis + 1) % 3, v = (axis + 2) % 3, points = [];
        const fixed = side ? h[axis] : l[axis];
        for (const [across, along] of [[u, v], [v, u]]) {
          const count = Math.round((h[across] - l[across]) / cell);
          for (let i = 0; i <= count; i++) {
            const a = [0, 0, 0], b = [0, 0, 0];
            a[axis] = b[axis] = fixed;
            a[across] = b[across] = l[across] + i * cell;
            a[along] = l[along];
            b[along] = h[along];
            points.push(...a, ...b);
          }
        }
        const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
        faces.push({ axis, side, fixed, lines: new LineSegments(geometry, material) });
      }
    this.gridMaterial = material;
    return faces;
  }

  placeSun(middle) {
    const r = 0.75 * this.extent;
    this.sun.position.copy(middle).add(new Vector3(0.75, 1.25, 0.35).multiplyScalar(this.extent));
    this.sun.target.position.copy(middle);
    this.sun.castShadow = !this.run.flat;
    Object.assign(this.sun.shadow.camera, { left: -r, right: r, top: r, bottom: -r, near: 0.1 * this.extent, far: 3 * this.extent });
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 5;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.002 * this.extent;
  }

  resetCamera() {
    const { run, camera, bounds } = this;
    const middle = bounds.getCenter(new Vector3());
    if (run.camera) {
      camera.fov = run.camera.fov;
      camera.position.set(...run.camera.eye);
      this.controls.target.set(...run.camera.target);
    } else {
      camera.fov = 32;
      const direction = run.flat ? new Vector3(0, 0, 1) : new Vector3(0.55, 0.42, 1).normalize();
      this.controls.target.copy(middle);
      camera.position.copy(middle).addScaledVector(direction, this.fitDistance(direction, middle));
    }
    camera.near = 0.002 * this.extent;
    camera.far = 30 * this.extent;
    camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  // The distance at which all corners of the domain are just in the picture.
  fitDistance(direction, middle) {
    const up = new Vector3(0, 1, 0), right = up.clone().cross(direction).normalize();
    const top = direction.clone().cross(right);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360), wide = tall * this.camera.aspect;
    let distance = 0;
    for (let i = 0; i < 8; i++) {
      const c = new Vector3(i & 1 ? this.bounds.max.x : this.bounds.min.x, i & 2 ? this.bounds.max.y : this.bounds.min.y,
        i & 4 ? this.bounds.max.z : this.bounds.min.z).sub(middle);
      const near = c.dot(direction);
      distance = Math.max(distance, near + Math.abs(c.dot(top)) / tall, near + Math.abs(c.dot(right)) / wide);
    }
    return 1.04 * distance;
  }

  // ---- Solids ----

  addSolid(look, payload) {
    const geometry = meshGeometry(payload);
    const material = new MeshStandardMaterial({ roughness: 0.6, metalness: 0 });
    material.color.setRGB(...look.color); // linear
    if (look.shell) material.side = DoubleSide;
    const mesh = new Mesh(geometry, material);
    mesh.castShadow = mesh.receiveShadow = !look.clear;
    mesh.userData.wanted = look.visible;
    mesh.userData.clear = look.clear; // a pane of glass
    this.solids.add(mesh);
    this.dirty = true;
  }

  setPoses(pose) {
    this.solids.children.forEach((mesh, i) => {
      const [x, y, z, w, a, b, c] = pose.subarray(7 * i, 7 * i + 7);
      mesh.visible = mesh.userData.wanted && Number.isFinite(x);
      if (mesh.visible) {
        mesh.position.set(x, y, z);
        mesh.quaternion.set(a, b, c, w);
      }
    });
    this.dirty = true;
  }

  showSolids(how) {
    this.solids.visible = how !== 'none';
    this.elastics.visible = this.solids.visible;
    for (const { material, userData } of [...this.solids.children, ...this.elastics.children]) {
      const clear = how === 'clear' || Boolean(userData.clear);
      material.transparent = clear;
      material.opacity = clear ? 0.3 : 1;
      material.depthWrite = !clear;
      material.needsUpdate = true;
    }
    this.dirty = true;
  }

  // ---- Elastic bodies ----

  // The triangles come once; places, normals and stress with each frame.
  addElastic(look, payload) {
    const geometry = new BufferGeometry(), count = payload.vertices ?? 0;
    if (payload.triangle) geometry.setIndex(new BufferAttribute(new Uint32Array(payload.triangle), 1));
    geometry.setAttribute('color', new BufferAttribute(new Float32Array(3 * count).fill(1), 3));
    const mesh = new Mesh(geometry, new MeshStandardMaterial({ roughness: 0.5, metalness: 0, vertexColors: true }));
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    mesh.userData = { wanted: look.visible, own: look.color, count, stress: null };
    mesh.visible = false;
    this.range.stress[1] = Math.max(this.range.stress[1], payload.stress_top ?? 0);
    this.elastics.add(mesh);
  }

  setElastic(payload) {
    this.elastics.children.forEach((mesh, i) => {
      const { userData, geometry } = mesh, position = payload?.[`position${i}`];
      mesh.visible = userData.wanted && position?.length === 3 * userData.count && userData.count > 0;
      if (!mesh.visible) return;
      this.copyInto(geometry, 'position', position, false);
      const normal = payload[`normal${i}`];
      if (normal) this.copyInto(geometry, 'normal', normal, normal instanceof Int8Array);
      else geometry.computeVertexNormals();
      userData.stress = payload[`stress${i}`] ?? null;
      this.colourElastic(mesh);
    });
    this.dirty = true;
  }

  // Into the buffer that is there, so that no new one is made for every frame.
  copyInto(geometry, name, values, normalized) {
    const attribute = geometry.getAttribute(name);
    if (attribute?.array.constructor === values.constructor && attribute.array.length === values.length) {
      attribute.array.set(values);
      attribute.needsUpdate = true;
    } else {
      geometry.setAttribute(name, new BufferAttribute(values.slice(), 3, normalized));
    }
  }

  colourElastic(mesh) {
    const { stress, own } = mesh.userData, colour = mesh.geometry.getAttribute('color');
    const mapped = this.byStress && stress;
    mesh.material.color.setRGB(...(mapped ? [1, 1, 1] : own)); // linear
    const linear = this.stressColours ??= linearMap(colourMaps.stress), top = this.range.stress[1] || 1;
    for (let i = 0; i < colour.count; i++) {
      const k = mapped ? 4 * Math.min(255, Math.round((255 * stress[i]) / top)) : 0;
      for (let c = 0; c < 3; c++) colour.array[3 * i + c] = mapped ? linear[k + c] : 1;
    }
    colour.needsUpdate = true;
  }

  showElastics(wanted, byStress) {
    this.byStress = byStress;
    this.elastics.children.forEach((mesh, i) => {
      mesh.userData.wanted = wanted[i];
      this.colourElastic(mesh);
    });
    this.dirty = true;
  }

  // ---- Liquid ----

  setSurface(payload) {
    if (this.surface.userData.payload === payload) return;
    this.surface.userData.payload = payload;
    this.surface.geometry.dispose();
    this.surface.geometry = payload ? meshGeometry(payload) : new BufferGeometry();
    this.colourSurface();
    this.dirty = true;
  }

  setParticles(payload) {
    if (this.points.userData.payload === payload) return;
    this.points.userData.payload = payload;
    this.points.geometry.dispose();
    const geometry = new BufferGeometry();
    if (payload) {
      geometry.setAttribute('position', new BufferAttribute(payload.position, 3));
      geometry.setAttribute('speed', new BufferAttribute(payload.speed, 1));
    }
    this.points.geometry = geometry;
    this.dirty = true;
  }

  // A surface has no velocity: it is coloured by height, or is water.
  colourSurface() {
    const byHeight = this.colour === 'height';
    this.surface.material = byHeight ? this.mapped : this.water;
    const position = this.surface.geometry.getAttribute('position');
    if (!byHeight || !position || this.surface.geometry.hasAttribute('color')) return;
    const [lo, hi] = this.range.height, map = colourMaps.height, colour = new Float32Array(3 * position.count);
    const linear = linearMap(map);
    for (let i = 0; i < position.count; i++) {
      const k = 4 * Math.min(255, Math.max(0, Math.round((255 * (position.array[3 * i + 1] - lo)) / (hi - lo))));
      for (let c = 0; c < 3; c++) colour[3 * i + c] = linear[k + c];
    }
    this.surface.geometry.setAttribute('color', new BufferAttribute(colour, 3));
  }

  setColour(colour, pointSize) {
    this.colour = colour;
    const u = this.pointMaterial.uniforms;
    u.mode.value = { water: 0, speed: 1, height: 2 }[colour];
    u.size.value = pointSize;
    if (colour !== 'water') {
      u.map.value = this.textures[colour];
      [u.lo.value, u.hi.value] = this.range[colour];
    }
    this.colourSurface();
    this.dirty = true;
  }

  // ---- Drawing ----

  setTheme(name) {
    const t = themes[name];
    this.scene.background = new Color(t.back);
    this.ambient.intensity = t.ambient;
    this.box?.material.color.set(t.line);
    this.gridMaterial?.color.set(t.grid);
    if (this.floor) this.floor.material.opacity = t.shadow;
    this.dirty = true;
  }

  resize() {
    const canvas = this.renderer.domElement, width = canvas.clientWidth, height = canvas.clientHeight;
    const ratio = Math.min(devicePixelRatio, 2);
    if (canvas.width === Math.floor(width * ratio) && canvas.height === Math.floor(height * ratio)) return;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  render() {
    this.resize();
    if (this.controls.update()) this.dirty = true;
    if (!this.dirty) return false;
    this.dirty = false;
    const buffer = this.renderer.domElement.height;
    this.pointMaterial.uniforms.pixels.value = buffer / (2 * Math.tan((this.camera.fov * Math.PI) / 360));
    const eye = this.camera.position.toArray();
    for (const f of this.faces ?? []) f.lines.visible = f.side ? eye[f.axis] < f.fixed : eye[f.axis] > f.fixed;
    this.smoke?.prepare(this.renderer, this.scene, this.camera);
    this.renderer.render(this.scene, this.camera);
    return true;
  }
}
