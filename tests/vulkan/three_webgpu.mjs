// three.js's WebGPU renderer in node, by Dawn (npm `webgpu`): a scene of its node materials, and one of particles that a kernel of its
// shading language moves. Run: SCENE RESULT MODULES; the picture's texels are written to RESULT.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [, , name, path, modules] = process.argv;
const resolve = createRequire(modules + '/').resolve;
const { create, globals } = await import(pathToFileURL(resolve('webgpu')).href);
Object.assign(globalThis, globals);
const gpu = globalThis.kept = create(['backend=vulkan']);  // as long as anything of it
Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'node' }, configurable: true });
globalThis.self = globalThis;
globalThis.requestAnimationFrame = call => setTimeout(() => call(performance.now()), 16);
globalThis.cancelAnimationFrame = clearTimeout;
const THREE = await import(pathToFileURL(resolve('three/webgpu')).href);
const TSL = await import(pathToFileURL(resolve('three/tsl')).href);

const width = 320, height = 240;
const adapter = await gpu.requestAdapter();
if (!adapter) { console.log('NO ADAPTER'); process.exit(0); }
console.log(`ADAPTER ${adapter.info.device} ${adapter.info.description}`);
const device = await adapter.requestDevice();
device.addEventListener('uncapturederror', e => { console.log(e.error.message); process.exit(1); });

// A page has a canvas; here a texture stands for what it shows.
let shown = null;
const context = {
  configure({ device, format, usage = GPUTextureUsage.RENDER_ATTACHMENT }) {
    shown = device.createTexture({ size: [width, height], format, usage: usage | GPUTextureUsage.COPY_SRC });
  },
  unconfigure() {},
  getConfiguration() { return null; },
  getCurrentTexture() { return shown; },
};
const canvas = { width, height, style: {}, getContext: () => context, addEventListener() {}, removeEventListener() {}, setAttribute() {} };
const renderer = new THREE.WebGPURenderer({ canvas, device, antialias: true });
await renderer.init();
renderer.setSize(width, height, false);

const scenes = {
  materials() {
    renderer.shadowMap.enabled = true;
    renderer.toneMapping = THREE.ACESFilmicToneMapping;
    const scene = new THREE.Scene();
    scene.background = new THREE.Color(0x203040);
    const camera = new THREE.PerspectiveCamera(50, width / height, 0.1, 50);
    camera.position.set(3, 2.5, 4);
    camera.lookAt(0, 0.3, 0);
    const size = 64, data = new Uint8Array(size * size * 4);
    for (let i = 0; i < size * size; i++) data.set(((i >> 3) + (i >> 9)) & 1 ? [255, 200, 120, 255] : [60, 90, 160, 255], 4 * i);
    const texture = Object.assign(new THREE.DataTexture(data, size, size), { generateMipmaps: true, minFilter: THREE.LinearMipmapLinearFilter,
      magFilter: THREE.LinearFilter, colorSpace: THREE.SRGBColorSpace, anisotropy: 4, needsUpdate: true });
    const add = (geometry, material, at) => {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.set(...at);
      scene.add(mesh);
      return mesh;
    };
    const floor = add(new THREE.PlaneGeometry(8, 8), new THREE.MeshStandardMaterial({ map: texture, roughness: 0.8 }), [0, -0.5, 0]);
    floor.rotation.x = -Math.PI / 2;
    floor.receiveShadow = true;
    const knot = add(new THREE.TorusKnotGeometry(0.6, 0.22, 96, 16), new THREE.MeshStandardMaterial({ metalness: 0.4, roughness: 0.35 }), [0, 0.6, 0]);
    knot.material.colorNode = TSL.mix(TSL.color(0xcc5533), TSL.color(0x33cc88), TSL.sin(TSL.positionLocal.y.mul(9)).mul(0.5).add(0.5));
    knot.castShadow = true;
    const balls = new THREE.InstancedMesh(new THREE.SphereGeometry(0.15, 16, 12), new THREE.MeshPhysicalMaterial({ color: 0x3388cc, clearcoat: 1 }), 12);
    for (let i = 0; i < 12; i++) balls.setMatrixAt(i, new THREE.Matrix4().setPosition(1.6 * Math.cos(i * Math.PI / 6), -0.3, 1.6 * Math.sin(i * Math.PI / 6)));
    balls.castShadow = true;
    const sun = new THREE.DirectionalLight(0xffffff, 3);
    sun.position.set(2, 4, 1);
    sun.castShadow = true;
    scene.add(balls, sun, new THREE.HemisphereLight(0x88aaff, 0x332211, 0.6));
    add(new THREE.BoxGeometry(0.7, 0.7, 0.7), new THREE.MeshBasicMaterial({ color: 0x66ff88, transparent: true, opacity: 0.4 }), [-1, 0.2, 1]);
    return [scene, camera];
  },
  async particles() {
    const count = 2000;
    const positions = TSL.instancedArray(count, 'vec3');
    const kernel = TSL.Fn(() => {
      const turn = TSL.float(TSL.instanceIndex).mul(2.399963);
      const rise = TSL.float(TSL.instanceIndex).div(count).mul(2).sub(1);
      const around = TSL.sqrt(TSL.float(1).sub(rise.mul(rise)));
      positions.element(TSL.instanceIndex).assign(TSL.vec3(TSL.cos(turn).mul(around), rise, TSL.sin(turn).mul(around)));
    })().compute(count);
    await renderer.computeAsync(kernel);
    const material = new THREE.SpriteNodeMaterial({ transparent: true, depthWrite: false, blending: THREE.AdditiveBlending });
    material.positionNode = positions.toAttribute();
    material.scaleNode = TSL.float(0.06);
    material.colorNode = TSL.mix(TSL.color(0x3366ff), TSL.color(0xff9933), positions.toAttribute().y.mul(0.5).add(0.5));
    material.opacityNode = TSL.smoothstep(0.5, 0.1, TSL.length(TSL.uv().sub(0.5)));
    const sprites = new THREE.Sprite(material);
    sprites.count = count;
    const scene = new THREE.Scene();
    scene.add(sprites);
    const camera = new THREE.PerspectiveCamera(40, width / height, 0.1, 50);
    camera.position.set(0, 0, 3.5);
    return [scene, camera];
  },
};
const [scene, camera] = await scenes[name]();
await renderer.renderAsync(scene, camera);
console.log(`FORMAT ${shown.format}; ${renderer.info.render.drawCalls} draws, ${renderer.info.compute.calls} dispatches`);
const result = device.createBuffer({ size: width * height * 4, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
const encoder = device.createCommandEncoder();
encoder.copyTextureToBuffer({ texture: shown }, { buffer: result, bytesPerRow: 4 * width }, [width, height]);
device.queue.submit([encoder.finish()]);
await result.mapAsync(GPUMapMode.READ);
writeFileSync(path, new Uint8Array(result.getMappedRange()));
console.log('DONE');
process.exit(0);
