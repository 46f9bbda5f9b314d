"""A picture as video has it (NV12: luma, and a quarter as much chroma), drawn on a screen; beside it its chroma alone.

    python samples/scripts/video_frame.py [picture.png [out.png]]
"""

import sys

import numpy as np
from PIL import Image

import tilegpu as tg
from tilegpu.scene.camera import multiply, perspective, rotate_y, translate

NV12 = "g8_b8r8_2plane_420_unorm"
VERTEX = """#version 450
layout(push_constant) uniform Push { mat4 view; };
layout(location = 0) out vec2 uv;
void main() { uv = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1); gl_Position = view * vec4(uv.x * 3.2 - 1.6, 0.9 - uv.y * 1.8, 0, 1); }"""
FRAGMENT = """#version 450
layout(binding = 0) uniform sampler2D frame;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() { color = texture(frame, uv); }"""

path, target = [*sys.argv[1:], *("docs/images/demo.png", "video_frame.png")[len(sys.argv) - 1 :]][:2]
rgb = np.asarray(Image.open(path).convert("RGB").resize((640, 360)), np.float32) / 255
y = rgb @ np.array([0.2126, 0.7152, 0.0722], np.float32)  # BT.709; luma is 16 to 235, chroma in the middle of four pixels
chroma = np.stack([(rgb[:, :, 2] - y) / 1.8556, (rgb[:, :, 0] - y) / 1.5748], 2).reshape(180, 2, 320, 2, 2).mean((1, 3))
planes = [np.rint(16 + 219 * y).astype(np.uint8), np.rint(128 + 224 * chroma).astype(np.uint8)]
device = tg.Device()
ycbcr = device.sampler_ycbcr_conversion(NV12, model="ycbcr_709", range="itu_narrow", x_chroma_offset="midpoint")
frame = device.texture(planes, NV12, ycbcr=ycbcr)
out = device.image((1280, 480), "r8g8b8a8_unorm")
pipe = device.pipeline(VERTEX, FRAGMENT, color=out, topology="triangle_strip")
with device.render_pass(color=[tg.Attachment(out, clear=(0.05, 0.05, 0.06, 1))]) as rp:
    for side, picture in ((-1, frame), (1, (frame.image.planes[1], device.sampler(filter="nearest")))):
        view = multiply(perspective(30, 1280 / 480, 0.1, 20), multiply(translate(side * 1.75, 0, -5.4), rotate_y(-0.35 * side)))
        rp.draw(pipe, count=4, bind={"frame": picture}, push={"view": view})
out.save(target)
