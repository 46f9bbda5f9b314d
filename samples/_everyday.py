"""What the everyday samples share: states, samplers, a box, textures, a triangle over the picture, the pass that makes it."""

from __future__ import annotations

import functools

from tilegpu.scene import Blend, Draw, Frame, Sampler, Scene, State, Texture, frozen, mip_chain, program
from tilegpu.scene.mesh import Mesh, box

HDR = "r16g16b16a16_sfloat"
SRGB = ("r8g8b8a8_srgb",)
BACKGROUND = State(depth_test=False, depth_write=False)
OVER = State(depth_test=False, depth_write=False, blend="alpha")
ADD = State(depth_test=False, depth_write=False, blend=Blend("one", "one", "add", "one", "one", "add"))
POINT = Sampler("nearest", "nearest", "nearest", "clamp_to_edge", "clamp_to_edge")
EDGE = Sampler(mipmap_mode="nearest", address_u="clamp_to_edge", address_v="clamp_to_edge")


def read_only(make):
    """For what functools.cache keeps: nobody changes it, so its arrays are made read-only, once: no frame is asked whether they changed."""

    @functools.wraps(make)
    def made(*given):
        return frozen(make(*given))

    return made


@functools.cache
@read_only
def cube() -> Mesh:
    return box()


def texture(pixels, label, srgb=True, sampler=None) -> Texture:
    """8 bits with all levels, made in linear light where it is sRGB; repeated, unless the sampler says otherwise."""
    return Texture(pixels, "r8g8b8a8_srgb" if srgb else "r8g8b8a8_unorm", mip_chain(pixels, srgb), sampler or Sampler(), label)


def full(fragment: str, label: str, bind=None, push=None, state=BACKGROUND, **defines) -> Draw:
    """A triangle over the whole picture."""
    return Draw(program("passes_full.vert", fragment, **defines), count=3, bind=bind or {}, push=push or {}, state=state, label=label)


def frame_of(scene: Scene, size, samples, draws, **options) -> Frame:
    """The pass that makes a scene's picture; several samples are resolved in the tile."""
    return Frame(size, samples, draws=tuple(draws), label=scene.name, resolve="pass" if samples > 1 else "none", **options)
