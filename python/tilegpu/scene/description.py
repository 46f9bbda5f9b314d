"""What a picture is made of, as plain data that no renderer is needed to build.

A :class:`Frame` is a render pass that makes the picture, and the passes before it, if there are any: attachments and a list of draws
each. It names no device, so that the same frame is drawn by tilegpu
(:mod:`tilegpu.scene.render`), by the moderngl reference of ``tilegpu compare``, and by the benchmarks.

Conventions: Vulkan's clip space (x right, y **down**, depth 0..1), row 0 of an image is its top row, a (4, 4) array is the matrix of
mathematics (``M @ column_vector``), strings are Vulkan's names in lower case without the ``VK_..._`` prefix.

Identity matters: a renderer may keep what it made from a :class:`Texture`, a :class:`Program` or a vertex array for as long as that very
object lives, so a scene returns the same objects from frame to frame. It looks whether arrays and mappings still hold the same; not at
those that are read-only (``array.flags.writeable = False``, ``types.MappingProxyType``).
"""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tilegpu import arguments
from tilegpu.errors import LostPrimitivesWarning, UnusedNameWarning, ValidationError, users_level
from tilegpu.sampler import addresses_of, say_all_given
from tilegpu.scene import methods
from tilegpu.scene.arrays import as_indices, as_vertices
from tilegpu.scene.fields import tell_frozen
from tilegpu.scene.sending import NOTHING, Sendable

if TYPE_CHECKING:
    from tilegpu.scene.camera import OrbitCamera

Array = NDArray[Any]
_PACKAGE = str(Path(__file__).parent.parent) + os.sep
Filter = Literal["nearest", "linear"]
Address = Literal["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border", "mirror_clamp_to_edge"]
Compare = Literal["never", "less", "equal", "less_or_equal", "greater", "not_equal", "greater_or_equal", "always"]
Resolve = Literal["none", "pass", "store_cmd"]
LoadOp = Literal["clear", "load", "dont_care"]


def _noting_given(cls: Any) -> Any:
    """Of a dataclass: its objects know which fields were given where they were made (``_given``), and which are defaults; of those that
    :func:`dataclasses.replace` makes nobody knows. ``__new__`` notes it, as who calls ``__init__`` tells of names that there are not."""
    names = [one.name for one in fields(cls)]

    def __new__(made: Any, *args: Any, **kwargs: Any) -> Any:
        self = object.__new__(made)
        copied = sys._getframe(1).f_globals.get("__name__") == "dataclasses"
        object.__setattr__(self, "_given", frozenset() if copied else frozenset([*names[: len(args)], *kwargs]))
        return self

    cls.__signature__ = inspect.signature(cls)
    cls.__new__ = __new__
    return cls


def _require_plain(thing: Any, what: str, **also: type) -> None:
    """Raises where a field holds what is no name, number, True, False or None: equal objects are interchangeable, so all can be hashed.
    ``also``: what else a field may be."""
    for one in fields(thing):
        value = getattr(thing, one.name)
        kinds = (str, bool, int, float, np.generic, *([also[one.name]] if one.name in also else []))
        if value is not None and not isinstance(value, kinds):
            raise ValidationError(f"{what}: {one.name} is {arguments.shown(value)}; it must be a name, a number, True or False")


def _as_tuples(thing: Any, *names: str) -> None:
    """Lists become the tuples that the fields are: what is made of the object is kept by its values, which must be hashable."""
    for name in names:
        if isinstance(given := getattr(thing, name), list):
            object.__setattr__(thing, name, tuple(given))


@dataclass(frozen=True)
class Sampler:
    """A sampler, in Vulkan's terms. Equal samplers are interchangeable.

    ``filter`` sets those of the three filters that are not given by themselves, and ``address``, one mode or one each for u, v (and w),
    those of the three addresses, as :meth:`tilegpu.Device.sampler` has it. By default ``"linear"`` and ``"repeat"``. They are no fields:
    a sampler that was made has the six.
    """

    min_filter: Filter = None  # type: ignore[assignment]  # until it is made: then as filter says
    mag_filter: Filter = None  # type: ignore[assignment]
    mipmap_mode: Filter = None  # type: ignore[assignment]
    address_u: Address = None  # type: ignore[assignment]
    address_v: Address = None  # type: ignore[assignment]
    address_w: Address = None  # type: ignore[assignment]
    lod_bias: float = 0.0
    min_lod: float = 0.0
    max_lod: float = (
        1000.0  #: 0.25 with mipmap_mode "nearest" uses level 0 alone and still tells minification from magnification
    )
    compare: Compare | None = None  #: of a ``sampler2DShadow``
    filter: InitVar[Filter | None] = field(default=None, kw_only=True)
    address: InitVar[Address | Sequence[Address] | None] = field(default=None, kw_only=True)

    def __post_init__(self, filter: Filter | None, address: Address | Sequence[Address] | None) -> None:
        filters, addresses = ("min_filter", "mag_filter", "mipmap_mode"), ("address_u", "address_v", "address_w")
        self._fill(filters, "filter", filter, ["linear" if filter is None else filter] * 3)
        self._fill(addresses, "address", address, addresses_of("repeat" if address is None else address, "Sampler: address"))
        _require_plain(self, "Sampler")

    def _fill(self, names: tuple[str, ...], one: str, given: Any, values: Sequence[Any]) -> None:
        """Those of the fields that are not given. Warns where ``one`` was given for them, and they all are."""
        if given is not None and one == "filter" and not isinstance(given, str):
            raise ValidationError(f"Sampler: filter is {arguments.shown(given)}; it must be 'nearest' or 'linear'")
        say_all_given("Sampler", one, given, {name: getattr(self, name) for name in names}, values)
        for name, value in zip(names, values, strict=True):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)


def _require_sampler(sampler: Any, what: str) -> None:
    """Two classes have the name: this one is plain data, :class:`tilegpu.Sampler` is of a device."""
    if not isinstance(sampler, Sampler):
        of_device = "; one of a device (dev.sampler) is for dev.texture and bind= of a pass" if type(sampler).__name__ == "Sampler" else ""
        must = "it must be a tilegpu.scene.Sampler, such as Sampler(min_filter='nearest', mag_filter='nearest')"
        raise ValidationError(f"{what}: sampler is {arguments.shown(sampler)}; {must}{of_device}")


#: Sides of pictures that are drawn in windows (:meth:`tilegpu.scene.SceneRenderer.render`); images end at 16384.
_MOST_TILED_PX = 65534

#: As passes sample each other's targets, where nothing else is said.
CLAMPED = Sampler(address_u="clamp_to_edge", address_v="clamp_to_edge")


@dataclass(frozen=True, eq=False)
class Texture:
    """A sampled 2D image with its sampler.

    ``pixels``: (H, W, C) array, C = 1, 2 or 4, of the format's type: uint8 for ``*_unorm`` and ``*_srgb``, float16 or float32
    for ``*_sfloat``.
    ``mipmaps``: ``False`` for level 0 alone, ``True`` for a full chain made by the renderer, or the levels from 1 down as arrays
    (the whole chain or its beginning).
    """

    pixels: Array
    format: str = "r8g8b8a8_unorm"
    mipmaps: bool | Sequence[Array] = True
    sampler: Sampler = Sampler()
    label: str = "texture"

    def __post_init__(self) -> None:
        _require_sampler(self.sampler, f"texture '{self.label}'")


@dataclass(frozen=True, eq=False)
class Target:
    """An image of the frame's own, one level and one layer, that passes draw to (:class:`Output`), and later passes load or sample
    (:class:`Sampled`). ``size``: (width, height) in pixels, ``None``: the frame's."""

    format: str = "r8g8b8a8_unorm"
    size: tuple[int, int] | None = None
    label: str = "target"

    def __post_init__(self) -> None:
        arguments.text(self.label, "target: label")
        arguments.text(self.format, f"target '{self.label}': format")
        if self.size is None:
            return
        what, must = f"target '{self.label}': size", "it must be (width, height) in pixels, or None: the frame's"
        width, height = arguments.wholes(self.size, what, 2, must)
        if width < 1 or height < 1:
            raise ValidationError(f"{what} is {arguments.shown(self.size)}; {must}")
        object.__setattr__(self, "size", (width, height))


@dataclass(frozen=True, eq=False)
class Sampled:
    """A target as a texture, for :attr:`Draw.bind`: what passes before this one stored in it."""

    target: Target
    sampler: Sampler = CLAMPED

    def __post_init__(self) -> None:
        if not isinstance(self.target, Target):
            raise ValidationError(f"Sampled: target is {arguments.shown(self.target)}; it must be a tilegpu.scene.Target")
        _require_sampler(self.sampler, f"Sampled of target '{self.target.label}'")


@_noting_given
@dataclass(frozen=True, eq=False)
class Output:
    """A target as an attachment of a pass. ``clear``: (r, g, b, a), or a number for depth; used where ``load`` is ``"clear"``.

    ``store = False``: it is of the pass alone (depth, a g-buffer that is read in the tile) and never leaves tile memory.
    """

    target: Target
    load: LoadOp = "clear"
    clear: tuple[float, float, float, float] | float = (0.0, 0.0, 0.0, 1.0)
    store: bool = True

    def __post_init__(self) -> None:
        _as_tuples(self, "clear")
        if isinstance(self.load, str) and self.load != "clear" and "clear" in vars(self)["_given"]:
            what, load = f"output of target '{getattr(self.target, 'label', self.target)}'", arguments.shown(self.load)
            raise ValidationError(f"{what}: clear is given, but load is {load}; use load='clear', or leave clear out")


@dataclass(frozen=True, eq=False)
class Program(Sendable):
    """Vertex and fragment shader as Vulkan GLSL (``#version 450``); the files are where the texts came from, for messages. ``fragment =
    None``: depth only, as of a shadow map; such a draw leaves colours as they are.

    ``constants``: specialisation constants by name, value a bool, int or float. ``input_attachments``: which attachments
    (``"color0"``, ..., ``"depth"``) its ``input_attachment_index`` 0, 1, ... are: what the pass has in the tile at this pixel.
    """

    vertex: str
    fragment: str | None = None
    label: str = "program"
    vertex_file: str = ""
    fragment_file: str = ""
    constants: Mapping[str, bool | int | float] = field(default_factory=lambda: NOTHING)
    input_attachments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.constants, Mapping):
            given = f"program '{self.label}': constants is {arguments.shown(self.constants)}"
            raise ValidationError(f"{given}; it must be a mapping by name, such as {{'COUNT': 4}}; leave it out for none")
        if not isinstance(self.input_attachments, (tuple, list)):
            given = f"program '{self.label}': input_attachments is {arguments.shown(self.input_attachments)}"
            raise ValidationError(f"{given}; it must be a tuple of names, such as ('color0',)")
        _as_tuples(self, "input_attachments")


@dataclass(frozen=True)
class Blend:
    """result = source * src_* op destination * dst_*, for colour and for alpha. The factors' names are Vulkan's."""

    src_color: str = "src_alpha"
    dst_color: str = "one_minus_src_alpha"
    color_op: str = "add"
    src_alpha: str = "one"
    dst_alpha: str = "one_minus_src_alpha"
    alpha_op: str = "add"

    def __post_init__(self) -> None:
        _require_plain(self, "Blend")


#: What ``blend="alpha"`` stands for.
ALPHA_BLEND = Blend()


@_noting_given
@dataclass(frozen=True)
class State:
    """Fixed-function state of a draw. Equal states are interchangeable.

    ``blend``: ``None`` (off), ``"alpha"`` (:data:`ALPHA_BLEND`) or a :class:`Blend`; the same for every colour attachment.
    ``depth_bias``: (constant factor, slope factor), ``None`` for off.
    """

    cull: Literal["none", "back", "front", "front_and_back"] = "none"
    front_face: Literal["counter_clockwise", "clockwise"] = "counter_clockwise"  #: as seen on the upright picture
    depth_test: bool = True
    depth_write: bool = True
    depth_compare: Compare = "less"
    blend: Literal["alpha"] | Blend | None = None
    topology: Literal["triangle_list", "triangle_strip", "triangle_fan", "line_list", "point_list"] = "triangle_list"
    primitive_restart: bool = False
    polygon_mode: Literal["fill", "line"] = "fill"
    alpha_to_coverage: bool = False
    depth_bias: tuple[float, float] | None = None
    color_write_mask: str = "rgba"

    def __post_init__(self) -> None:
        if isinstance(self.depth_bias, (tuple, list, np.ndarray)):
            must = "it must be (constant factor, slope factor), or None"
            object.__setattr__(self, "depth_bias", arguments.numbers(self.depth_bias, "State: depth_bias", (2, 3), must))
        self._require_blend()
        _require_plain(self, "State", blend=Blend, depth_bias=tuple)

    def _require_blend(self) -> None:
        """What :meth:`tilegpu.Device.pipeline` takes as a mapping is a :class:`Blend` here, which can be hashed."""
        if self.blend is None or self.blend is False or isinstance(self.blend, (str, Blend)):
            return
        must, fields_of = "it must be None, 'alpha' or a tilegpu.scene.Blend", [one.name for one in fields(Blend)]
        if isinstance(self.blend, Mapping) and self.blend.keys() <= set(fields_of):
            given = {name: self.blend.get(name, "add") for name in fields_of}  # those of alpha are those of colour, where it has none
            for side in ("src", "dst"):
                given[f"{side}_color"] = self.blend.get(f"{side}_color", "one" if side == "src" else "zero")
                given[f"{side}_alpha"] = self.blend.get(f"{side}_alpha", given[f"{side}_color"])
            given["alpha_op"] = self.blend.get("alpha_op", given["color_op"])
            said = ", ".join(f"{name}={given[name]!r}" for name in fields_of if "op" not in name or given[name] != "add")
            must = f"give tilegpu.scene.Blend({said})"
        raise ValidationError(f"State: blend is {arguments.shown(self.blend)}; {must}")

    @property
    def wants_depth(self) -> str:
        """What of it says that draws are to be tested by depth, as ``depth_compare='less'``; "" where only defaults do: a picture in 2D
        leaves them as they are. Of a state that :func:`dataclasses.replace` made the values alone tell."""
        given = vars(self).get("_given", ())
        if self.depth_bias is not None and self.depth_bias is not False:
            return f"depth_bias={self.depth_bias}"
        if self.depth_test is not True or self.depth_compare == "always":
            return ""
        if self.depth_compare != "less" or "depth_compare" in given:
            return f"depth_compare='{self.depth_compare}'"
        return next((f"{name}=True" for name in ("depth_test", "depth_write") if name in given and getattr(self, name) is True), "")


@dataclass(frozen=True, eq=False)
class Draw(Sendable):
    """One draw call.

    ``vertices``: structured array whose fields match the vertex shader's inputs by name (f0, f1, ...: by order = location), rows of one
    to four numbers, (n, C), for a shader with one input, or ``None`` for a shader that makes its vertices from ``gl_VertexIndex``; 64-bit
    floats become 32-bit ones. ``indices``: integers of any shape, such as (n, 3) for triangles (rows that are no primitives
    of a list are told), none below 0; then
    ``count`` and ``first`` count indices, else vertices. What has to be made anew (64 bits) is a copy: what is changed in
    the original afterwards is not seen. Masked arrays are refused where something is masked. ``count = None`` draws all from ``first`` on.
    ``push``: members of the push constant block by name. ``bind``: by name of the uniform or block: a :class:`Texture`, a mapping
    (the members of a uniform block), an array (a buffer's content, raw), or :class:`Sampled`.
    ``scissor``: (x, y, width, height) in pixels of the pass, outside of which nothing is drawn; ``None``: the whole.
    """

    program: Program
    vertices: Array | None = None
    indices: Array | None = None
    count: int | None = None
    first: int = 0
    instances: int = 1
    push: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    bind: Mapping[str, Texture | Sampled | Mapping[str, Any] | Array] = field(default_factory=lambda: NOTHING)
    state: State = State()
    label: str = ""
    scissor: tuple[int, int, int, int] | None = None

    def __post_init__(self) -> None:
        """Numbers of other widths, as NumPy makes them where nothing is said, become those that shaders read."""
        if isinstance(self.vertices, np.ndarray) and (made := as_vertices(self.vertices, self.label)) is not self.vertices:
            object.__setattr__(self, "vertices", made)
        if isinstance(self.indices, np.ndarray) and (made := as_indices(self.indices, self.label)) is not self.indices:
            object.__setattr__(self, "indices", made)
        _as_tuples(self, "scissor")
        self._say_rows()

    def _say_rows(self) -> None:
        """Warns of indices, or records without, in rows that are no primitives."""
        name = "vertices" if self.indices is None else "indices"
        source = getattr(self, name)
        if not isinstance(source, np.ndarray) or source.ndim < 2 or not isinstance(self.state, State) or self.state.primitive_restart:
            return
        step = {"triangle_list": 3, "line_list": 2}.get(str(self.state.topology), 1)
        if name == "vertices" and not source.dtype.names:
            return
        if wrong := arguments.rows_misfit(source.shape[1:], step, name, self.state.topology):
            warnings.warn(f"{self.title}: {wrong}", LostPrimitivesWarning, stacklevel=users_level())

    @property
    def title(self) -> str:
        """What messages call it, where nobody knows its place in a frame."""
        return f"draw '{self.label}'" if self.label else "a draw without a label"

    @property
    def element_count(self) -> int:
        """Number of vertices or indices to draw (of one instance)."""
        if self.count is not None:
            return self.count
        source = self.indices if self.indices is not None else self.vertices
        if source is None:
            raise ValidationError(f"{self.title}: no vertices and no indices, so count must be given")
        # Faces as rows, or meshes as a grid, have more elements than rows, as rp.draw has it.
        rows = self.indices is None and source.dtype.names is None and source.ndim > 0
        there = int(source.shape[0] if rows else source.size)
        if there < self.first:
            counted = arguments.there_are(there, "vertex" if self.indices is None else "index")
            raise ValidationError(f"{self.title}: first is {self.first}; {counted}")
        return there - self.first

    @property
    def triangle_count(self) -> int:
        """Triangles of one instance; lines and points have none."""
        n, topology = self.element_count, self.state.topology
        if topology in ("line_list", "point_list"):
            return 0
        return n // 3 if topology == "triangle_list" else max(0, n - 2)


@dataclass(frozen=True, eq=False)
class Pass:
    """A render pass before the frame's own, over the whole of its attachments, which have one size.

    With more than one of ``samples`` colours that are stored are resolved in tile memory, and nothing is loaded, nor depth stored.
    """

    color: tuple[Output, ...] = ()
    depth: Output | None = None
    draws: tuple[Draw, ...] = ()
    samples: int = 1
    label: str = "pass"

    def __post_init__(self) -> None:
        _as_tuples(self, "color")

    @property
    def outputs(self) -> tuple[Output, ...]:
        """All attachments."""
        return (*self.color, *(() if self.depth is None else (self.depth,)))


@dataclass(frozen=True, eq=False)
class Frame:
    """The render pass that makes the picture, over the whole of its attachments: clear, draw, resolve, store; and ``passes`` before it,
    whose targets it may sample.

    ``resolve``: ``"none"`` (the only choice with one sample), ``"pass"`` (in tile memory; the samples are not stored) or
    ``"store_cmd"`` (the samples are stored, then resolved by a command outside the pass). Resolves of colour 0 and of all others alike.
    The single-sampled (or resolved) colour images are stored, in the order of ``color_formats``; depth is stored if ``store_depth``.
    """

    size: tuple[int, int]  #: (width, height) in pixels
    samples: int = 1
    color_formats: tuple[str, ...] = ("r8g8b8a8_unorm",)
    clear_colors: tuple[tuple[float, float, float, float], ...] = (
        (0.1, 0.2, 0.3, 1.0),
    )  #: one for each attachment, or one for all
    depth_format: str | None = "d32_sfloat"
    clear_depth: float = 1.0
    store_depth: bool = False
    resolve: Resolve = "none"
    draws: tuple[Draw, ...] = ()
    label: str = "frame"
    passes: tuple[Pass, ...] = ()  #: drawn before, in order

    def __post_init__(self) -> None:
        _as_tuples(self, "size", "color_formats", "clear_colors")

    def size_of(self, target: Target) -> tuple[int, int]:
        """(width, height) of a target in pixels."""
        return target.size or self.size

    @property
    def all_draws(self) -> tuple[Draw, ...]:
        """Those of all passes, in order."""
        return (*(draw for one in self.passes for draw in one.draws), *self.draws)

    def told(self, live: Any) -> Frame:
        """The frame, told of mouse and keys (:class:`tilegpu.scene.Interaction`), where somebody asks for them: a function that draws."""
        return self

    def clear_color(self, attachment: int) -> tuple[float, float, float, float]:
        """Clear value of one colour attachment."""
        return self.clear_colors[attachment if len(self.clear_colors) > 1 else 0]

    @property
    def triangles(self) -> int:
        """Triangles of all draws, degenerate ones included (primitive restart is not looked at)."""
        return sum(draw.triangle_count * draw.instances for draw in self.all_draws)


class Scene:
    """A thing that can be drawn: base class of the samples and of loaded models.

    ``default_size`` and ``default_samples`` are what the scene is specified with; any other may be asked for. A scene with
    ``fixed_samples`` is defined by its sample count (``msaa4_pass_resolve``), which then is the only one that may be asked for.
    """

    name: str = ""
    description: str = ""
    default_size: tuple[int, int] = (1920, 1080)
    default_samples: int = 1
    fixed_samples: bool = False
    moves: bool = True  #: whether its picture depends on the time; a scene that is always the same may say ``False``

    @property
    def _title(self) -> str:
        """What messages call it."""
        return f"scene '{self.name}'"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        methods.say_misspelt(cls, Scene)
        if isinstance(drawn := cls.__dict__.get("frame"), FunctionType) and not methods.takes_request(drawn):
            cls.frame = methods.telling_request(drawn)  # type: ignore[method-assign]
        for name in ("camera", "turn_camera"):
            own = cls.__dict__.get(name)
            if isinstance(own, FunctionType):
                takes = list(inspect.signature(own).parameters)
                if (len(takes) == 1 and name == "camera") or takes[1:] == ["aspect"]:
                    setattr(cls, name, methods.taking_aspect(own, len(takes) == 2))

    def camera(self, aspect: float | None = None) -> OrbitCamera | None:
        """A new camera at the scene's own viewpoint; ``None`` if the scene has no viewpoint to move. ``aspect``: width / height of the
        picture that it is for, of which a scene may frame something (models do); ``None``: of ``default_size``. :meth:`frame` draws with
        this one where none is given."""
        return None

    def turn_camera(self, aspect: float | None = None) -> OrbitCamera | None:
        """One to turn once about the scene, by its ``yaw`` alone: of a model from where it is in the picture all the way round. That of
        :meth:`camera` where the scene says no other."""
        return self.camera(aspect)

    @property
    def why_still(self) -> str:
        """For messages: why a time changes nothing, where nothing :attr:`moves`."""
        return "the scene looks the same at any time"

    @property
    def duration_s(self) -> float:
        """How long what moves by itself takes before it begins anew, in seconds; 0 where nothing does."""
        return 0.0

    def configured(self, **options: Any) -> Scene:
        """This scene with other choices; ``None`` is the scene's own. Models have some: :meth:`tilegpu.scene.model.ModelScene.configured`.

        Raises :class:`tilegpu.ValidationError` for a choice that there is not.
        """
        for name, value in options.items():
            if value is not None:
                raise ValidationError(f"scene '{self.name}' has no {name} to choose; models have (glTF, GLB, OBJ, PLY, STL)")
        return self

    def frame(
        self,
        size: tuple[int, int] | None = None,
        samples: int | None = None,
        camera: OrbitCamera | None = None,
        time: float = 0.0,
    ) -> Frame:
        """The picture at ``time`` (seconds). ``camera = None`` is the scene's own viewpoint, exactly as specified.

        Raises :class:`tilegpu.ValidationError` for a size, sample count, camera or time that makes no sense.
        """
        raise ValidationError(
            f"scene '{self.name}': its class {type(self).__name__} has no method frame; define "
            "frame(self, size=None, samples=None, camera=None, time=0.0), which returns a tilegpu.scene.Frame"
        )

    def _resolve_request(
        self, size: tuple[int, int] | None, samples: int | None, camera: Any = None, time: Any = 0.0
    ) -> tuple[tuple[int, int], int]:
        """Defaults filled in and checked, and the other arguments of :meth:`frame`; for that of the subclasses."""
        what = f"scene '{self.name}'"
        must = f"it must be (width, height), 1x1 to 16384x16384, and to {_MOST_TILED_PX} a side in tiles"
        width, height = arguments.wholes(self.default_size if size is None else size, f"{what}: size", 2, must)
        if self.fixed_samples and samples is not None and not (np.isscalar(samples) and samples == self.default_samples):
            fixed = f"the scene is defined with {self.default_samples}; leave samples= out"
            raise ValidationError(f"{what}: samples is {arguments.shown(samples)}; {fixed}")
        samples = self.default_samples if samples is None else samples
        if not (1 <= width <= _MOST_TILED_PX and 1 <= height <= _MOST_TILED_PX):
            raise ValidationError(
                f"{what}: size is {width}x{height}; allowed is 1x1 to 16384x16384, and to {_MOST_TILED_PX} a side in tiles"
            )
        if isinstance(samples, bool) or not isinstance(samples, (int, float, np.number)) or samples not in (1, 2, 4, 8, 16):
            raise ValidationError(f"{what}: samples is {arguments.shown(samples)}; allowed are 1, 2, 4, 8 and 16")
        if camera is not None and not hasattr(camera, "view_projection"):
            raise ValidationError(f"{what}: camera is {arguments.shown(camera)}; it must be a tilegpu.math.OrbitCamera, or None")
        seconds = "it must be a number of seconds"
        if not np.isfinite(arguments.number(time, f"{what}: time", seconds)):
            raise ValidationError(f"{what}: time is {time}; {seconds}")
        self._say_unused(camera, time)
        return (width, height), int(samples)

    def _say_unused(self, camera: Any, time: Any) -> None:
        """Warns of a time and a camera that change nothing: a loop over scenes may give them, so that they are no errors."""
        for given, text in (
            (time != 0 and not self.moves, f"time={time} has no effect: {self.why_still}; leave it out"),
            (camera is not None and self.camera() is None, "camera= has no effect: the scene has none (camera() is None); leave it out"),
        ):
            if given:
                warnings.warn(f"scene '{self.name}': {text}", UnusedNameWarning, stacklevel=self._callers_level())

    def _callers_level(self) -> int:
        """The ``stacklevel`` of a warning by the caller that names who called :meth:`frame`, which is of a sample or of the user's."""
        frame, level = sys._getframe(1), 1
        while frame.f_back is not None and (frame.f_code.co_filename.startswith(_PACKAGE) or frame.f_locals.get("self") is self):
            frame, level = frame.f_back, level + 1
        return level


@dataclass
class RenderResult:
    """What a renderer hands back: colour images as (H, W, C) arrays in attachment order, depth if it was stored, statistics if any."""

    images: list[Array]
    depth: Array | None = None
    stats: Any = None
    explain: Any = None

    def picture_of(self, frame: Frame) -> Array:
        """The picture of a frame, which is colour 0: as commands and windows want one."""
        if not self.images:
            raise ValidationError(f"frame '{frame.label}' has no colour, so there is no picture; give color_formats=('r8g8b8a8_srgb',)")
        return self.images[0]


def byte_view(array: Array) -> NDArray[np.uint8]:
    """The bytes of a C-contiguous copy or view of ``array``, 1-D."""
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1)


tell_frozen(Sampler, Texture, Target, Sampled, Output, Program, Blend, State, Draw, Pass, Frame)
