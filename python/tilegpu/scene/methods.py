"""Methods of the users' scenes, looked at where their classes are made. In: a class, a method. Out: the method as it is, or one that says
what it is told and does not take; a warning of what is misspelt.
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tilegpu import arguments
from tilegpu.errors import UnusedNameWarning, ValidationError, users_level

if TYPE_CHECKING:
    from tilegpu.scene.camera import OrbitCamera


def say_misspelt(cls: type, base: type) -> None:
    """Warns of what the body of a class has under almost the name of an attribute that ``base`` has: nobody would look at
    it."""
    if cls.__module__.startswith("tilegpu."):
        return
    import difflib

    known = [name for name in dir(base) if not name.startswith("_") and name not in cls.__dict__]
    for name in cls.__dict__:
        if name.startswith("_") or any(name in other.__dict__ for other in cls.__mro__[1:]):
            continue
        if near := difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.85):
            what = f"class {cls.__qualname__}: {name} is no attribute of a scene, and has no effect; did you mean {near[0]}?"
            warnings.warn(what, UnusedNameWarning, stacklevel=users_level())


def takes_request(method: Callable[..., Any]) -> bool:
    """Whether a ``frame`` takes what it is called with."""
    try:
        inspect.signature(method).bind(None, None, None, camera=None, time=0.0)
        inspect.signature(method).bind(None, None, None, None, 0.0)
    except TypeError:
        return False
    return True


def telling_request(method: Callable[..., Any]) -> Callable[..., Any]:
    """A ``frame`` that takes less: calls of the class's own go on as before, others are told what it must take."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def frame(self: Any, *given: Any, **named: Any) -> Any:
        try:
            signature.bind(self, *given, **named)
        except TypeError as wrong:
            must = "define frame(self, size=None, samples=None, camera=None, time=0.0), which all scenes are called with"
            raise ValidationError(f"{self._title}: {type(self).__name__}.frame{signature} is called with more: {wrong}; {must}") from None
        return method(self, *given, **named)

    return frame


def taking_aspect(method: Callable[..., OrbitCamera | None], takes: bool) -> Callable[..., OrbitCamera | None]:
    """A ``camera`` that looks whether it is told an aspect; one that frames nothing, and so ``takes`` none, can be told it like any."""

    @functools.wraps(method)
    def camera(self: Any, aspect: float | None = None) -> OrbitCamera | None:
        if aspect is not None:
            what, must = f"{self._title}: aspect", "it must be width / height, above 0, or None"
            if not 0 < arguments.number(aspect, what, must) < math.inf:
                raise ValidationError(f"{what} is {arguments.shown(aspect)}; {must}")
        return method(self, aspect) if takes else method(self)

    del camera.__wrapped__  # its signature is its own
    return camera
