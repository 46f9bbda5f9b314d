"""A textured, lit ball with mipmaps, depth and four samples by moderngl, kept as an array: moderngl_scene.py FILE.npy."""

import sys

import moderngl
import numpy as np

context = moderngl.create_standalone_context(backend="egl")
print(context.info["GL_RENDERER"])
program = context.program(
    vertex_shader="""#version 330
    in vec3 at; out vec3 normal; out vec2 uv; uniform vec2 turn;
    void main() {
      normal = vec3(at.x * turn.x - at.z * turn.y, at.y, at.x * turn.y + at.z * turn.x);
      uv = vec2(atan(at.z, at.x) / 6.2831853, at.y * 0.5 + 0.5) * 4.0;
      gl_Position = vec4(normal.xy * 0.9, normal.z * 0.5, 1.0);
    }""",
    fragment_shader="""#version 330
    in vec3 normal; in vec2 uv; out vec4 o; uniform sampler2D map;
    void main() { o = vec4(texture(map, uv).rgb * (0.2 + 0.8 * max(0.0, dot(normalize(normal), vec3(0.6, 0.6, -0.53)))), 1.0); }""",
)
v, u = np.mgrid[0 : np.pi : 33j, 0 : 2 * np.pi : 65j]
ball = np.stack([np.sin(v) * np.cos(u), np.cos(v), np.sin(v) * np.sin(u)], -1).astype("f4")
corner = np.arange(32)[:, None] * 65 + np.arange(64)
faces = np.stack([corner, corner + 1, corner + 65, corner + 65, corner + 1, corner + 66], -1).astype("i4")
vertices = context.buffer(ball.tobytes())
mesh = context.vertex_array(program, [(vertices, "3f", "at")], context.buffer(faces.tobytes()))
checks = (np.indices((64, 64)).sum(0) // 8 % 2 * 200 + 40).astype("u1")
texture = context.texture((64, 64), 4, np.dstack([checks, checks[::-1], 255 - checks, np.full_like(checks, 255)]).tobytes())
texture.build_mipmaps()
texture.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
texture.use()
program["turn"] = (0.8, 0.6)
many = context.framebuffer(context.renderbuffer((256, 256), samples=4), context.depth_renderbuffer((256, 256), samples=4))
one = context.simple_framebuffer((256, 256))
many.use()
context.clear(0.1, 0.2, 0.3)
context.enable(moderngl.DEPTH_TEST)
mesh.render()
context.copy_framebuffer(one, many)
np.save(sys.argv[1], np.frombuffer(one.read(components=4), "u1").reshape(256, 256, 4))
