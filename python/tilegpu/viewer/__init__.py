"""The window of ``tilegpu view`` and of :func:`tilegpu.show`: glfw opens it, moderngl puts the picture in it, tilegpu renders."""

from tilegpu import keywords
from tilegpu.viewer.blitter import ViewerError
from tilegpu.viewer.function import show
from tilegpu.viewer.keys import TABLE, help_text
from tilegpu.viewer.window import view

__all__ = ["TABLE", "ViewerError", "help_text", "show", "view"]

keywords.explain_calls(globals(), __all__, "tilegpu")
