"""Which hidden-surface removal a device or a pass uses: names to switches and back.

A choice is ``"default"`` (the profile's), ``"off"``, ``"all"`` (that a GPU of the profile's kind may have) or names from
:data:`TECHNIQUES`. No choice changes a bit of an
attachment, of an occlusion count or of memory written without races; statistics of invocations do change.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilegpu import _core
from tilegpu.arguments import sequence, shown
from tilegpu.errors import ValidationError

#: Names, and the field of the core's structure.
TECHNIQUES = {
    "visibility_buffer": "visibility_buffer",
    "hierarchical_z": "hierarchical_z",
    "pre_pass": "pre_pass",
    "forward_pixel_kill": "forward_pixel_kill",
    "deferred_vertex_shading": "deferred_vertex_shading",
    "lrz": "low_resolution_z",
    "depth_filter": "depth_filter",
}
_FILTERS = ("one_plane", "two_plane", "three_plane", "two_plane_skip")
_DEFAULT_FILTER = "two_plane_skip"
_COUNTERS = "counters"
_BIDIRECTIONAL = "bidirectional"
_KILLS = ("groups", "samples")  # what forward pixel kill takes at once: the first is Arm's

#: What only some GPUs have, and whose it is.
_OF_OTHERS = {"pre_pass": "Arm's", "forward_pixel_kill": "Arm's", "deferred_vertex_shading": "Arm's", "lrz": "Adreno's"}

Choice = str | Iterable[str]


def absent(profile: str) -> frozenset[str]:
    """Techniques that a pass on the profile can't ask for, because no GPU of its kind has them: Arm's on Adreno's, Adreno's on Arm's,
    either's on one without tiles. ``host`` has all; on Arm's older ones those of the newer can be tried."""
    own = _core.default_hsr(profile)
    if own.visibility_buffer:
        return frozenset()
    kind = "Arm's" if own.forward_pixel_kill else "Adreno's" if own.low_resolution_z else ""
    return frozenset(name for name, whose in _OF_OTHERS.items() if whose != kind)


def tried(chosen: Iterable[str], profile: str) -> tuple[str, ...]:
    """Of techniques that are on, those that are of the profile's kind and not its own; ``host`` is nobody's."""
    own = _core.default_hsr(profile)
    if own.visibility_buffer:
        return ()
    has = {name.partition(":")[0] for name in names(own)}
    return tuple(name for name in (one.partition(":")[0] for one in chosen) if name in _OF_OTHERS and name not in has)


def _refuse_absent(technique: str, profile: str, what: str) -> None:
    if technique not in absent(profile):
        return
    has, whose = ", ".join(names(_core.default_hsr(profile))), _OF_OTHERS[technique]
    raise ValidationError(
        f"{what}: hsr: {technique} is {whose}, which no GPU like profile {profile} has; it has {has}. "
        f"Leave {technique} out, or use one of {whose} profiles, or 'host', where each can be tried"
    )


def _off() -> _core.HiddenSurfaceRemoval:
    chosen = _core.HiddenSurfaceRemoval()
    chosen.visibility_buffer = chosen.hierarchical_z = False
    return chosen


def _set_filter(chosen: _core.HiddenSurfaceRemoval, mode: str, what: str) -> None:
    """``mode``: a filter's name; behind it, if they are to be told, ``@`` and the position (1 to 15) at which it is held, or
    ``@counters`` where it moves as in hardware; and ``/`` and the spacing of its planes (1 to 16)."""
    rest, slash, spacing = mode.partition("/")
    name, at, position = rest.partition("@")
    if name not in _FILTERS:
        raise ValidationError(f"{what}: hsr: depth filter '{name}' is not known; there are {', '.join(_FILTERS)}")
    if at and position != _COUNTERS and not (position.isdecimal() and 1 <= int(position) <= 15):
        raise ValidationError(
            f"{what}: hsr: depth filter's position is '{position}'; it must be 1 to 15 (16ths of the depth range, held there), or "
            f"'{_COUNTERS}' (it moves by counters and leading-one detectors)"
        )
    if slash and not (spacing.isdecimal() and 1 <= int(spacing) <= 16):
        raise ValidationError(
            f"{what}: hsr: depth filter's spacing is '{spacing}'; it must be 1 to 16 (64ths of the depth range between planes)"
        )
    if slash and name == "one_plane":
        raise ValidationError(
            f"{what}: hsr: depth filter's spacing is '{spacing}', and one_plane has no second plane; leave '/{spacing}' out"
        )
    chosen.depth_filter = getattr(_core.DepthFilter, name)
    chosen.depth_filter_counters = position == _COUNTERS
    chosen.depth_filter_position = int(position) if at and position != _COUNTERS else 0
    chosen.depth_filter_spacing = int(spacing) if slash else 0


def parse(choice: Choice, profile: str, what: str) -> _core.HiddenSurfaceRemoval:
    """Switches of a choice; ``what`` names the object in messages. Raises :class:`tilegpu.ValidationError`."""
    if isinstance(choice, str):
        if choice == "default":
            return _core.default_hsr(profile)
        if choice == "off":
            return _off()
        choice = tuple(name for name in TECHNIQUES if name not in absent(profile)) if choice == "all" else (choice,)
    chosen = _off()
    must = f"it must be 'default', 'off', 'all' or names out of {', '.join(TECHNIQUES)}"
    for name in sequence(choice, f"{what}: hsr", must):
        technique, colon, mode = (name if isinstance(name, str) else shown(name)).partition(":")
        if not colon and technique in ("default", "off", "all"):
            raise ValidationError(f"{what}: hsr: '{technique}' stands alone, and in no list: hsr='{technique}'")
        if technique not in TECHNIQUES or (colon and technique not in ("depth_filter", "forward_pixel_kill", "lrz")):
            raise ValidationError(
                f"{what}: hsr: {shown(name)} is not known; there are {', '.join(TECHNIQUES)} (depth_filter also as 'depth_filter:MODE' "
                f"with {', '.join(_FILTERS)}; forward_pixel_kill with {', '.join(_KILLS)}; lrz with {_BIDIRECTIONAL}), and 'default', "
                "'off', 'all'"
            )
        _refuse_absent(technique, profile, what)
        if technique == "depth_filter":
            _set_filter(chosen, mode if colon else _DEFAULT_FILTER, what)
        elif technique == "forward_pixel_kill":
            if colon and mode not in _KILLS:
                raise ValidationError(f"{what}: hsr: forward_pixel_kill kills {', '.join(_KILLS)}, not '{mode}'")
            chosen.forward_pixel_kill, chosen.kill_single_samples = True, mode == "samples"
        elif technique == "lrz":
            if colon and mode != _BIDIRECTIONAL:
                raise ValidationError(f"{what}: hsr: lrz is one-directional, or '{_BIDIRECTIONAL}', not '{mode}'")
            if colon and not _core.has_bidirectional_lrz(profile):
                raise ValidationError(
                    f"{what}: hsr: 'lrz:{_BIDIRECTIONAL}' is there from A7xx on, not on profile {profile}; use 'lrz' or adreno-a740"
                )
            chosen.low_resolution_z, chosen.lrz_bidirectional = True, bool(colon)
        else:
            setattr(chosen, TECHNIQUES[technique], True)
    return chosen


def names(chosen: _core.HiddenSurfaceRemoval) -> tuple[str, ...]:
    """The switches that are on, as :func:`parse` takes them."""
    found = []
    for name, field in TECHNIQUES.items():
        value = getattr(chosen, field)
        if name == "depth_filter":
            if value != _core.DepthFilter.off:
                held = f"@{chosen.depth_filter_position}" if chosen.depth_filter_position else ""
                moved = f"@{_COUNTERS}" if chosen.depth_filter_counters else ""
                spaced = f"/{chosen.depth_filter_spacing}" if chosen.depth_filter_spacing else ""
                found.append(f"depth_filter:{value.name}{held or moved}{spaced}")
        elif value:
            samples = name == "forward_pixel_kill" and chosen.kill_single_samples
            both = name == "lrz" and chosen.lrz_bidirectional
            found.append(f"{name}:samples" if samples else f"{name}:{_BIDIRECTIONAL}" if both else name)
    return tuple(found)
