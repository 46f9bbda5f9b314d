"""Frames of wgpu in a window of glfw: a checked, lit torus by compute (vertices), depth, mipmaps drawn by render passes. Run: FRAMES."""

from __future__ import annotations

import struct
import sys

import numpy as np
import wgpu
from rendercanvas.glfw import GlfwRenderCanvas, loop

VERTICES = """
@group(0) @binding(0) var<storage, read_write> to: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= 32 * 16) { return; }
  let a = f32(id.x / 16) * 6.2831853 / 32; let b = f32(id.x % 16) * 6.2831853 / 16;
  let n = vec3f(cos(a) * cos(b), sin(b), sin(a) * cos(b));
  to[2 * id.x] = vec4f(vec3f(cos(a), 0, sin(a)) * 0.7 + n * 0.25, f32(id.x / 16) / 4);
  to[2 * id.x + 1] = vec4f(n, f32(id.x % 16) / 4);
}"""
SCENE = """
struct Frame { turn: f32, aspect: f32 };
@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var checks: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
struct V { @builtin(position) at: vec4f, @location(0) normal: vec3f, @location(1) uv: vec2f };
@vertex fn vs(@location(0) p: vec4f, @location(1) n: vec4f) -> V {
  let c = cos(frame.turn); let s = sin(frame.turn);
  let turn = mat3x3f(c, s * 0.6, s * 0.8, 0, 0.8, -0.6, -s, c * 0.6, c * 0.8);
  let q = turn * p.xyz;
  return V(vec4f(q.x / frame.aspect, q.y, 0.5 + q.z * 0.3, 1), turn * n.xyz, vec2f(p.w, n.w));
}
@fragment fn fs(v: V) -> @location(0) vec4f {
  return vec4f(textureSample(checks, linear, v.uv).rgb * (0.2 + 0.8 * max(0, dot(normalize(v.normal), vec3f(0.3, 0.7, -0.65)))), 1);
}"""


def main() -> None:
    frames = int(sys.argv[1])
    canvas = GlfwRenderCanvas(size=(320, 240), title="tilegpu", update_mode="continuous", max_fps=30)
    device = wgpu.gpu.request_adapter_sync().request_device_sync()
    context = canvas.get_wgpu_context()
    color_format = "bgra8unorm"
    context.configure(device=device, format=color_format)

    vertices = device.create_buffer(size=32 * 16 * 32, usage=wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.VERTEX)
    a, b = np.divmod(np.arange(32 * 16, dtype=np.uint32), 16)
    at = lambda i, k: (a + i) % 32 * 16 + (b + k) % 16  # noqa: E731
    quads = np.stack([at(0, 0), at(1, 0), at(0, 1), at(0, 1), at(1, 0), at(1, 1)], 1).astype(np.uint32)
    indices = device.create_buffer_with_data(data=quads, usage=wgpu.BufferUsage.INDEX)
    uniforms = device.create_buffer(size=16, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
    size = wgpu.TextureUsage.TEXTURE_BINDING | wgpu.TextureUsage.COPY_DST
    checks = device.create_texture(size=(32, 32, 1), format="rgba8unorm", usage=size)
    on = np.add.outer(np.arange(32) // 8, np.arange(32) // 8) % 2
    texels = np.where(on[..., None], [240, 200, 120, 255], [60, 90, 160, 255]).astype(np.uint8)
    device.queue.write_texture({"texture": checks}, texels, {"bytes_per_row": 128}, (32, 32, 1))

    kernel = device.create_compute_pipeline(
        layout="auto", compute={"module": device.create_shader_module(code=VERTICES), "entry_point": "main"}
    )
    module = device.create_shader_module(code=SCENE)
    layout = {
        "array_stride": 32,
        "attributes": [{"format": "float32x4", "offset": 16 * i, "shader_location": i} for i in range(2)],
    }
    pipeline = device.create_render_pipeline(
        layout="auto",
        vertex={"module": module, "entry_point": "vs", "buffers": [layout]},
        primitive={"topology": "triangle-list"},
        depth_stencil={"format": "depth24plus", "depth_write_enabled": True, "depth_compare": "less"},
        fragment={"module": module, "entry_point": "fs", "targets": [{"format": color_format}]},
    )
    sampler = device.create_sampler(
        mag_filter="linear", min_filter="linear", address_mode_u="repeat", address_mode_v="repeat"
    )
    storage = device.create_bind_group(
        layout=kernel.get_bind_group_layout(0), entries=[{"binding": 0, "resource": {"buffer": vertices}}]
    )
    bound = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[
            {"binding": 0, "resource": {"buffer": uniforms}},
            {"binding": 1, "resource": checks.create_view()},
            {"binding": 2, "resource": sampler},
        ],
    )
    drawn = 0

    def draw() -> None:
        nonlocal drawn
        width, height = canvas.get_physical_size()
        device.queue.write_buffer(uniforms, 0, struct.pack("2f", 0.2 * drawn, width / height))
        depth = device.create_texture(
            size=(width, height, 1), format="depth24plus", usage=wgpu.TextureUsage.RENDER_ATTACHMENT
        )
        commands = device.create_command_encoder()
        computing = commands.begin_compute_pass()
        computing.set_pipeline(kernel)
        computing.set_bind_group(0, storage)
        computing.dispatch_workgroups(8)
        computing.end()
        drawing = commands.begin_render_pass(
            color_attachments=[
                {
                    "view": context.get_current_texture().create_view(),
                    "load_op": "clear",
                    "store_op": "store",
                    "clear_value": (0.1, 0.15, 0.2, 1),
                }
            ],
            depth_stencil_attachment={
                "view": depth.create_view(),
                "depth_clear_value": 1,
                "depth_load_op": "clear",
                "depth_store_op": "discard",
            },
        )
        drawing.set_pipeline(pipeline)
        drawing.set_bind_group(0, bound)
        drawing.set_vertex_buffer(0, vertices)
        drawing.set_index_buffer(indices, "uint32")
        drawing.draw_indexed(quads.size)
        drawing.end()
        device.queue.submit([commands.finish()])
        drawn += 1
        if drawn == frames:
            canvas.close()
            loop.stop()

    canvas.request_draw(draw)
    loop.run()
    print(f"{drawn} frames")


main()
