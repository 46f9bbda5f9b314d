"""Pictures to the window, by OpenGL 3.3. In: (H, W, 4) uint8, row 0 on top. Out: the window's back buffer.

A picture is uploaded as a texture and drawn by one full-screen triangle: pixel for pixel where it has the framebuffer's size, else as large
as fits. What lies over it is a second texture, blended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu import Error
from tilegpu.viewer.mapping import Size, fitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VERTEX = """#version 330
out vec2 uv;
void main() {
  vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  uv = vec2(p.x * 0.5 + 0.5, 0.5 - p.y * 0.5);
  gl_Position = vec4(p, 0.0, 1.0);
}"""
_FRAGMENT = """#version 330
uniform sampler2D picture;
uniform float opaque;
in vec2 uv;
out vec4 color;
void main() { vec4 c = texture(picture, uv); color = vec4(c.rgb, max(c.a, opaque)); }"""
_GROUND = (0.086, 0.086, 0.102)


class ViewerError(Error, RuntimeError):
    """The window cannot be opened; the message says what is missing."""


class Blitter:
    """Shows pictures in the current window."""

    def __init__(self) -> None:
        import moderngl

        try:
            self.ctx: moderngl.Context = moderngl.create_context(require=330)
        except Exception as error:
            raise ViewerError(f"no OpenGL 3.3 in this window: {error}") from error
        self._gl = moderngl
        self._program = self.ctx.program(vertex_shader=_VERTEX, fragment_shader=_FRAGMENT)
        self._array = self.ctx.vertex_array(self._program, [])
        self._textures: dict[str, Any] = {}
        self.shown: Size | None = None  #: size of the picture

    def _upload(self, name: str, picture: NDArray[np.uint8], smooth: bool) -> None:
        size = picture.shape[1], picture.shape[0]
        texture = self._textures.get(name)
        if texture is None or texture.size != size:
            if texture is not None:
                texture.release()
            texture = self._textures[name] = self.ctx.texture(size, 4)
        texture.filter = (self._gl.LINEAR, self._gl.LINEAR) if smooth else (self._gl.NEAREST, self._gl.NEAREST)
        texture.write(np.ascontiguousarray(picture))

    def put(self, picture: NDArray[np.uint8], framebuffer: Size) -> None:
        """The picture from now on; smaller ones are enlarged by squares."""
        self.shown = picture.shape[1], picture.shape[0]
        self._upload("picture", picture, smooth=self.shown[0] >= framebuffer[0])

    def put_over(self, overlay: NDArray[np.uint8] | None) -> None:
        """What lies over it from now on, as large as the window; ``None`` for nothing."""
        if overlay is not None:
            self._upload("overlay", overlay, smooth=False)
        elif "overlay" in self._textures:
            self._textures.pop("overlay").release()

    def draw(self, framebuffer: Size) -> None:
        """Both, into the window's back buffer."""
        screen = self.ctx.screen
        screen.use()
        self.ctx.viewport = (0, 0, *framebuffer)
        screen.clear(*_GROUND)
        if self.shown is not None:
            left, top, width, height = fitted(self.shown, framebuffer)
            self.ctx.viewport = (left, framebuffer[1] - top - height, width, height)
            self._triangle("picture", 1.0)
            self.ctx.viewport = (0, 0, *framebuffer)
        if "overlay" in self._textures:
            self.ctx.enable(self._gl.BLEND)
            self.ctx.blend_func = self._gl.SRC_ALPHA, self._gl.ONE_MINUS_SRC_ALPHA
            self._triangle("overlay", 0.0)
            self.ctx.disable(self._gl.BLEND)

    def _triangle(self, name: str, opaque: float) -> None:
        self._textures[name].use(0)
        self._program["opaque"].value = opaque
        self._array.render(self._gl.TRIANGLES, vertices=3)

    def read(self, framebuffer: Size) -> NDArray[np.uint8]:
        """(H, W, 3): what the window's back buffer holds, row 0 on top."""
        data = self.ctx.screen.read(viewport=(0, 0, *framebuffer), components=3, alignment=1)
        return np.frombuffer(data, np.uint8).reshape(framebuffer[1], framebuffer[0], 3)[::-1]
