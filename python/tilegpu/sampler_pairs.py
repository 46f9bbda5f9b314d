"""Which images and samplers that come apart a shader samples together, and whether it compares depths then.

In: SPIR-V. Out: pairs of (set, binding). What goes through functions, or is chosen among several, is not among them. Source: SPIR-V
specification, "Image Instructions" (OpSampledImage).
"""

from __future__ import annotations

import functools

from tilegpu.pipeline_rules import Words

_VARIABLE, _LOAD, _CHAINS, _DECORATE, _SAMPLED_IMAGE = 59, 61, (65, 66), 71, 86
_BINDING, _SET = 33, 34
_COMPARES, _PLAIN = frozenset({89, 90, 93, 94, 97}), frozenset({87, 88, 91, 92, 96})

Place = tuple[int, int]


@functools.lru_cache(maxsize=128)
def pairs(spirv: bytes) -> dict[tuple[Place, Place], frozenset[bool]]:
    """(image, sampler): whether depths are compared; both where it does both."""
    places: dict[int, list[int]] = {}
    made: dict[int, tuple[int, list[int]]] = {}
    together: dict[int, tuple[Place, Place]] = {}
    found: dict[tuple[Place, Place], set[bool]] = {}

    def place(number: int) -> Place | None:
        op, a = made.get(number, (0, []))
        while op == _LOAD or op in _CHAINS:
            number = a[2]
            op, a = made.get(number, (0, []))
        at = places.get(number)
        return (at[0], at[1]) if op == _VARIABLE and at is not None else None

    for op, a in Words(spirv).instructions():
        if op == _DECORATE and a[1] in (_BINDING, _SET):
            places.setdefault(a[0], [0, 0])[a[1] == _BINDING] = a[2]
        elif op in (_VARIABLE, _LOAD, *_CHAINS):
            made[a[1]] = op, a
        elif op == _SAMPLED_IMAGE:
            image, sampler = place(a[2]), place(a[3])
            if image is not None and sampler is not None:
                together[a[1]] = image, sampler
        elif (op in _COMPARES or op in _PLAIN) and a[2] in together:
            found.setdefault(together[a[2]], set()).add(op in _COMPARES)
    return {pair: frozenset(compares) for pair, compares in found.items()}
