"""The window of ``tilegpu view``: glfw opens it, moderngl puts the picture in it, tilegpu renders."""

from tilegpu.viewer.window import ViewerError, view

__all__ = ["ViewerError", "view"]
