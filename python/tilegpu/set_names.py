"""What an attribute that somebody sets would say, where the object has none of that name: so that nothing is set which does nothing.

In: the object's classes, and a name. Out: where it is said instead, for an error's text; "" for a name of the user's own. What means
something: arguments of the package's public calls, and the words that other interfaces have for them (argument_names.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from tilegpu import argument_names

#: Left to users though some call takes them, or some interface calls them so: what people note of a thing.
_NOTES = (
    "cause content contents cores device entries file files frames kind name note path place quality targets text title total values x y"
)
_USERS = frozenset(_NOTES.split())
#: The calls that say most, first; with the same argument in several, these are named.
_FIRST = (
    "dev.pipeline", "rp.draw", "rp.set", "dev.render_pass", "tilegpu.Attachment", "dev.image", "dev.texture", "dev.sampler", "dev.buffer",
    "buffer.slice", "dev.dispatch", "dev.compute_pipeline", "tilegpu.Device",
)  # fmt: skip
#: What comes before that, by the object's class.
_FIRST_OF: dict[str, tuple[str, ...]] = {
    "Device": ("tilegpu.Device",),
    "Image": ("dev.image", "dev.texture", "dev.sampler", "image.view", "image.write", "image.numpy"),
    "Buffer": ("dev.buffer", "buffer.slice", "buffer.texels", "buffer.write", "buffer.numpy"),
    "ComputePipeline": ("dev.compute_pipeline", "dev.dispatch"),
    "RenderPass": ("rp.draw", "dev.render_pass", "rp.clear", "tilegpu.Attachment", "dev.pipeline"),
    "SecondaryCommandBuffer": ("rp.draw", "dev.secondary", "dev.pipeline"),
    "Frame": ("dev.frame",),
    "Framebuffer": ("dev.framebuffer", "tilegpu.FramebufferLayout", "tilegpu.FramebufferDesc"),
    "DescriptorSet": ("dev.descriptor_set",),
    "DescriptorSetLayout": ("dev.descriptor_set_layout",),
}
_SHOWN = 3

_EYE = "eye is where target, distance, yaw and pitch put it: set these, or give tilegpu.math.look_at(eye, target) to the shaders"
_TARGET = "set target, (x, y, z) of what the camera looks at"
_ANGLES = "set yaw and pitch, in radians"
_ASPECT = "it is the picture's: projection(aspect) and view_projection(aspect) take it, view.aspect has it"
_FOV = "set fov_y, in degrees"
_MATRIX = "matrices follow from target, distance, yaw, pitch and fov_y; tilegpu.math.look_at and perspective make others for the shaders"
#: Of cameras that orbit, what other scenes' cameras have; without ``_``.
_OF_CAMERAS: dict[str, str] = {
    _EYE: "position pos location origin eyeposition camerapos cameraposition translation viewpos from",
    _TARGET: "lookat at center centre focus focalpoint lookattarget pivot interest orbittarget",
    _ANGLES: "direction forward right rotation orientation quaternion euler azimuth elevation theta phi heading tilt dir front "
             "viewdirection viewdir angle angles",
    "up is +y; tilegpu.math.look_at(eye, target, up) makes the matrix of another one": "up upvector worldup viewup upaxis roll",
    _ASPECT: "aspect aspectratio ratio width height size viewport resolution",
    "set distance, or fov_y in degrees; zoom(factor) is a method": "zoom zoomfactor scale dolly",
    _FOV: "fovx hfov xfov yfov vfov fieldofview viewangle angleofview focallength lens",
    "set near": "znear nearclip nearclipping clipnear nearplane zn",
    "set far": "zfar farclip farclipping clipfar farplane zf",
    "set near and far": "clip clippingrange clipplanes",
    _MATRIX: "matrix viewmatrix projectionmatrix projmatrix proj viewprojection matrixworld worldmatrix transform model pose viewproj "
             "mvp viewprojmatrix viewprojectionmatrix",
    "it is a perspective one; tilegpu.math.orthographic makes the other matrix": "orthographic ortho type mode",
}  # fmt: skip
_CAMERA = {word: said for said, words in _OF_CAMERAS.items() for word in words.split()}

_PASS_CLEAR = "it is of an attachment: tilegpu.Attachment(image, clear=...) when the pass is made, or rp.clear(...) in it"
_SAMPLING = "it is of samplers: dev.sampler({0}=...), or dev.texture(pixels, {0}=...)"
#: By class and name without ``_``, where the tables of arguments don't say it well; "" for any class.
_HERE: dict[tuple[str, str], str] = {
    **{(cls, name): _PASS_CLEAR for cls in ("RenderPass", "Framebuffer") for name in (
        "clearcolor", "clearvalue", "clearvalues", "cleardepth", "clearstencil", "background", "backgroundcolor", "bgcolor")},
    **{("", word): _SAMPLING.format("address") for word in ("repeatx", "repeaty", "repeatz", "wrapu", "wrapv", "wrapr")},
    ("", "viewport"): "give it to rp.draw(viewport=...) or rp.set(viewport=...)",
    ("", "scissor"): "give it to rp.draw(scissor=...) or rp.set(scissor=...)",
    ("", "pointsize"): "the vertex shader says it: gl_PointSize",
    ("", "depthrange"): "it is of the viewport: rp.draw(viewport=(x, y, width, height, min_depth, max_depth))",
    ("", "depth"): "it is the pass's and the pipeline's: dev.render_pass(depth=image), dev.pipeline(depth=format)",
    **{("", word): "give what they hold to rp.draw(push={...}) and rp.draw(bind={...})" for word in ("uniforms", "uniform")},
    **{(cls, word): "shaders are given where it is made: make a new one" for cls in ("Pipeline", "ComputePipeline") for word in (
        "source", "code", "shader", "shaders", "module", "program", "stages")},
    **{("RenderPass", word): "give it to rp.draw(pipeline, ...)" for word in ("pipeline", "program", "shader")},
}  # fmt: skip

#: Of samplers, and set on what they read.
_SAMPLER_WORDS = (
    "filter filtering interpolation magminfilter magfilter minfilter address wrap addressmode wrapmode wraps wrapt anisotropy "
    "maxanisotropy mipmapmode mipfilter lodbias miplodbias minlod maxlod comparefunc bordercolor"
)
_SAMPLERS = frozenset(_SAMPLER_WORDS.split())

#: What the calls are by name, and what gives the names of their arguments: told by :func:`takes`, asked when somebody sets a name.
_calls: dict[str, Callable[[], Collection[str]]] = {}
_by_argument: dict[str, list[str]] = {}
_by_plain: dict[str, str] = {}


def takes(call: str, names: Callable[[], Collection[str]]) -> None:
    """A public call, and what gives its arguments' names; who tells of it first knows best."""
    _calls.setdefault(call, names)
    _by_argument.clear()


def _arguments() -> dict[str, list[str]]:
    """Calls by argument, without names that are left to users; plain spellings beside them."""
    if not _by_argument:
        found: dict[str, list[str]] = {}
        for call, names in list(_calls.items()):
            for name in names():
                if name not in _USERS and name != "label" and name[:1] != "_":
                    found.setdefault(name.rstrip("_"), []).append(call)
        _by_plain.update({argument_names.plain(name): name for name in found})
        _by_argument.update(found)
    return _by_argument


def _given_to(classes: Sequence[str], words: Sequence[str], exact: bool) -> str:
    """The calls that take one of these arguments, most likely first. ``exact``: the first of them is what was set."""
    order = [*(call for cls in classes for call in _FIRST_OF.get(cls, ())), *_FIRST]
    near = {call for cls in classes for call in _FIRST_OF.get(cls, ())}
    # What another interface means is said beside what is called so here where it is the object's own.
    taken = [(call, word) for word in words for call in _arguments()[word] if word == words[0] or call in near or not exact]
    ranked = sorted(taken, key=lambda one: order.index(one[0]) if one[0] in order else len(order))
    said: dict[str, str] = {}
    for call, word in ranked:
        said.setdefault(call, f"{call}({word}=...)")
    first = [text for call, text in said.items() if call in order] or list(said.values())
    return "give it to " + " or ".join(first[:_SHOWN])


def is_argument(name: str) -> bool:
    """Of one of the calls: no other name is meant."""
    return name in _arguments()


def meaning(classes: Sequence[str], name: str, settable: Collection[str], by_value: bool) -> str:
    """What the name says and where, for objects of these classes, the nearest first; "" where it is the user's own. ``settable``: names
    of the object that may be set instead. ``by_value``: it is no function that is set, which is a method of the user's own."""
    word = argument_names.plain(name)
    if "OrbitCamera" in classes and word in _CAMERA:
        return _CAMERA[word]
    if name in _USERS or not by_value:
        return ""
    for cls in (*classes, ""):
        if said := _HERE.get((cls, word)) or (argument_names.method_elsewhere(cls, name) if cls else ""):
            return said
    known = _arguments()
    meant = [own for own in dict.fromkeys([_by_plain.get(word, ""), *argument_names.foreign(name)]) if own in known]
    if word in _SAMPLERS and "Image" in classes:
        return _SAMPLING.format(meant[0] if meant else word)
    if own := [n for n in argument_names.foreign(name) if n in settable and n != "label"]:
        return f"did you mean '{own[0]}'?"
    if not meant:
        return ""
    exact = meant[0] == _by_plain.get(word) and known[meant[0]] != ["rp.set"]  # which says only what pipelines leave to it
    return _given_to(classes, meant, exact)
