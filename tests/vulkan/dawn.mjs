// Dawn (npm `webgpu`) on the driver: a kernel with shared memory and atomics, a scene drawn with what it wrote: depth, four samples, a
// texture with mip levels and one of compressed blocks. Run: RESULT, to which the buffer and the picture's texels are written.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { create, globals } = await import(pathToFileURL(createRequire(process.argv[3] + '/').resolve('webgpu')).href);
Object.assign(globalThis, globals);

const gpu = globalThis.kept = create(['backend=vulkan']);  // as long as anything of it
const adapter = await gpu.requestAdapter();
if (!adapter) { console.log('NO ADAPTER'); process.exit(0); }
console.log(`ADAPTER ${adapter.info.device} ${adapter.info.description}`);
const device = await adapter.requestDevice({ requiredFeatures: ['texture-compression-bc'] });
device.addEventListener('uncapturederror', e => { console.log(e.error.message); process.exit(1); });

const side = 256, cells = 24;
const sums = device.createBuffer({ size: 4 * 65, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC });
const vertices = device.createBuffer({ size: cells * cells * 6 * 32, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.VERTEX });
const kernel = device.createComputePipeline({ layout: 'auto', compute: { module: device.createShaderModule({ code: `
@group(0) @binding(0) var<storage, read_write> to: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> sums: array<atomic<u32>, 65>;
var<workgroup> line: array<u32, 64>;
fn height(p: vec2f) -> f32 { return 0.25 * sin(p.x * 5) * cos(p.y * 4); }
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
  line[i] = id.x * 2654435761u;
  workgroupBarrier();
  atomicAdd(&sums[i], line[63 - i] >> 8);
  atomicMax(&sums[64], line[63 - i]);
  if (id.x >= ${cells * cells * 6}) { return; }
  let corner = id.x % 6; let cell = id.x / 6;
  let x = cell % ${cells} + select(0u, 1u, corner == 1 || corner == 4 || corner == 5);
  let y = cell / ${cells} + select(0u, 1u, corner == 2 || corner == 3 || corner == 5);
  let p = vec2f(f32(x), f32(y)) / ${cells} * 2 - 1;
  let n = normalize(vec3f(height(p) - height(p + vec2f(0.01, 0)), height(p) - height(p + vec2f(0, 0.01)), 0.01));
  to[2 * id.x] = vec4f(p, height(p), f32(x) / 4);
  to[2 * id.x + 1] = vec4f(n, f32(y) / 4);
}` }), entryPoint: 'main' } });

const texture = device.createTexture({ size: [32, 32], format: 'rgba8unorm', mipLevelCount: 6, usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST });
for (let level = 0; level < 6; level++) {
  const size = 32 >> level, texels = new Uint8Array(size * size * 4);
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++)
    texels.set(((x << level) >> 3) + ((y << level) >> 3) & 1 ? [240, 200, 120, 255] : [60, 90, 160, 255], 4 * (y * size + x));
  device.queue.writeTexture({ texture, mipLevel: level }, texels, { bytesPerRow: 4 * size }, [size, size]);
}
const blocks = device.createTexture({ size: [16, 16], format: 'bc1-rgba-unorm', usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST });
const packed = new Uint8Array(16 * 8);
for (let b = 0; b < 16; b++) packed.set([b * 16, 0xf8 - b * 8, 255 - b * 16, b, 0x1b, 0xb1, 0xe4, 0x4e], 8 * b);
device.queue.writeTexture({ texture: blocks }, packed, { bytesPerRow: 32 }, [16, 16]);

const module = device.createShaderModule({ code: `
@group(0) @binding(0) var checks: texture_2d<f32>;
@group(0) @binding(1) var blocks: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
@group(0) @binding(3) var<uniform> turn: mat4x4f;
struct V { @builtin(position) at: vec4f, @location(0) normal: vec3f, @location(1) uv: vec2f };
@vertex fn vs(@location(0) p: vec4f, @location(1) n: vec4f) -> V {
  return V(turn * vec4f(p.xyz, 1), (turn * vec4f(n.xyz, 0)).xyz, vec2f(p.w, n.w));
}
@fragment fn fs(v: V) -> @location(0) vec4f {
  let light = 0.25 + 0.75 * max(0, dot(normalize(v.normal), vec3f(0.3, 0.6, -0.74)));
  return vec4f(mix(textureSample(checks, linear, v.uv).rgb, textureSample(blocks, linear, v.uv / 4).rgb, 0.4) * light, 1);
}` });
const pipeline = device.createRenderPipeline({
  layout: 'auto',
  vertex: { module, entryPoint: 'vs', buffers: [{ arrayStride: 32, attributes: [0, 1].map(i => ({ format: 'float32x4', offset: 16 * i, shaderLocation: i })) }] },
  fragment: { module, entryPoint: 'fs', targets: [{ format: 'rgba8unorm' }] },
  depthStencil: { format: 'depth32float', depthWriteEnabled: true, depthCompare: 'less' },
  multisample: { count: 4 },
});
const uniforms = device.createBuffer({ size: 64, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
const c = Math.cos(0.9), s = Math.sin(0.9);
device.queue.writeBuffer(uniforms, 0, new Float32Array([0.8, 0, 0.1, 0, 0, 0.8 * c, 0.4 * s, 0, 0.1, -0.8 * s, 0.4 * c, 0, 0, 0, 0.5, 1]));

const target = (format, samples, usage = 0) => device.createTexture({ size: [side, side], format, sampleCount: samples, usage: GPUTextureUsage.RENDER_ATTACHMENT | usage });
const picture = target('rgba8unorm', 1, GPUTextureUsage.COPY_SRC);
const result = device.createBuffer({ size: 512 + side * side * 4, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
const bind = (layout, resources) => device.createBindGroup({ layout, entries: resources.map((resource, binding) => ({ binding, resource })) });
const encoder = device.createCommandEncoder();
const computing = encoder.beginComputePass();
computing.setPipeline(kernel);
computing.setBindGroup(0, bind(kernel.getBindGroupLayout(0), [{ buffer: vertices }, { buffer: sums }]));
computing.dispatchWorkgroups(Math.ceil(cells * cells * 6 / 64));
computing.end();
const drawing = encoder.beginRenderPass({
  colorAttachments: [{ view: target('rgba8unorm', 4).createView(), resolveTarget: picture.createView(), clearValue: [0.1, 0.15, 0.2, 1], loadOp: 'clear', storeOp: 'discard' }],
  depthStencilAttachment: { view: target('depth32float', 4).createView(), depthClearValue: 1, depthLoadOp: 'clear', depthStoreOp: 'discard' },
});
drawing.setPipeline(pipeline);
drawing.setBindGroup(0, bind(pipeline.getBindGroupLayout(0), [texture.createView(), blocks.createView(), device.createSampler({ magFilter: 'linear', minFilter: 'linear', mipmapFilter: 'linear', addressModeU: 'repeat', addressModeV: 'repeat' }), { buffer: uniforms }]));
drawing.setVertexBuffer(0, vertices);
drawing.draw(cells * cells * 6);
drawing.end();
encoder.copyBufferToBuffer(sums, 0, result, 0, 4 * 65);
encoder.copyTextureToBuffer({ texture: picture }, { buffer: result, offset: 512, bytesPerRow: 4 * side }, [side, side]);
device.queue.submit([encoder.finish()]);
await result.mapAsync(GPUMapMode.READ);
writeFileSync(process.argv[2], new Uint8Array(result.getMappedRange()));
console.log('DONE');
process.exit(0);
