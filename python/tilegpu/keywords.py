"""Calls that Python refuses: an argument that there is not, or one that is missing, as errors that say what is near.

In: a door's names. Out: its classes and functions, whose calls raise :class:`tilegpu.ValidationError` where Python raises ``TypeError``.
What is called for each draw looks at its names itself (:func:`no_such`): a function around it would cost a tenth of a draw.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from tilegpu import _core, argument_names, set_names
from tilegpu.errors import ValidationError, candidates

#: Of ``**unknown``, for type checkers: there is none. typing has it under this name from 3.11 on.
Never = NoReturn
_TAKES_ANY = inspect.CO_VARKEYWORDS
_TAKES_ALL = inspect.CO_VARKEYWORDS | inspect.CO_VARARGS
#: What users call an object of the class by.
_SHORT = {"Device": "dev", "RenderPass": "rp", "PassCommands": "rp", "PassResults": "rp", "ImagePixels": "image"}
_TOO_MANY = re.compile(r"positional arguments? but (\d+) ")
_EXPLAINED = "_tilegpu_explained"
#: What each frame calls: without a function of Python around it.
_OF_FRAMES = frozenset({"dev.render_pass", "image.numpy", "tilegpu.Attachment"})
#: What draws ask of objects, and users seldom: left as it is.
_OF_DRAWS = frozenset({"pack_push", "plane_of", "push_bytes", "require_filter"})


class NoCallError(ValidationError, TypeError):
    """As Python's own, a TypeError too."""


def names_of(function: Callable[..., Any]) -> list[str]:
    """Arguments that may be given by name."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in ("self", "_cls")]


def no_such(what: str, given: Iterable[str], known: Callable[..., Any] | Iterable[str]) -> NoReturn:
    """The error of the first of ``given``; ``known``: the function, or its names."""
    names = names_of(known) if callable(known) else list(known)
    raise ValidationError(_no_argument(what, next(iter(given)), names))


def _no_argument(what: str, name: str, names: list[str]) -> str:
    elsewhere = argument_names.elsewhere(what, name)
    found = f"; {elsewhere}" if elsewhere else candidates(name, names, argument_names.meant(name, names))
    return f"{what}: there is no argument '{name}'" + found


def _refused(function: Callable[..., Any], what: str, given: Mapping[str, Any], wrong: TypeError) -> ValidationError | None:
    """What Python's error says, where the call itself is wrong, and not something in it."""
    if wrong.__traceback__ is None or wrong.__traceback__.tb_next is not None:
        return None
    names = names_of(function)
    for name in given:
        if name not in names and not function.__code__.co_flags & _TAKES_ANY:
            return ValidationError(_no_argument(what, name, names))
    text = re.sub(r"^\S+\(\) ", "", str(wrong))
    parameters = inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    if (many := _TOO_MANY.search(text)) is None or not named:
        return ValidationError(f"{what}: {text}; its arguments are {', '.join(names) or 'none'}")
    by_place = [name for name in names if name not in named]
    extra = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) - len(by_place)  # self
    takes = f"it takes {len(by_place)} by place ({', '.join(by_place)})" if by_place else "it takes none by place"
    others = ", ".join(f"{name}=" for name in named)
    count = int(many[1]) - extra
    given_so = f"{count} argument{' is' if count == 1 else 's are'} given by place"
    return ValidationError(f"{what}: {given_so}; {takes}, and others by name: {others}")


def explained(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    """The same function, whose calls that Python refuses are errors that say what its arguments are."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # pytest shows who called, and what was called
        try:
            return function(*args, **kwargs)
        except TypeError as wrong:
            refused = _refused(function, what, kwargs, wrong)
            if refused is None:
                raise
        try:
            raise refused
        finally:
            del refused  # it has this frame in its traceback: a ring, with all that the callers hold

    setattr(called, _EXPLAINED, True)
    return functools.update_wrapper(_core.ExplainedMethod(function, called), called) if what in _OF_FRAMES else called


def _made_otherwise(function: Callable[..., Any], what: str, how: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller != "tilegpu" and not caller.startswith("tilegpu."):
            raise ValidationError(f"{what} is not called: {how}")
        return function(*args, **kwargs)

    setattr(called, _EXPLAINED, True)
    return called


def refuse_calls(door: Mapping[str, Any], how: Mapping[str, str]) -> None:
    """Of a module's classes that users don't call: the error says how objects of them are made. Where that costs more than it may, the
    package calls what was there before (``__wrapped__``)."""
    for name, said in how.items():
        cls = door[name]
        setattr(cls, "__init__", _made_otherwise(cls.__init__, f"{cls.__module__.split('.')[0]}.{name}", said))  # noqa: B010


class _Module(ModuleType):
    """One of the package's modules that is called as a method of a device is: ``tilegpu.image(...)`` in place of ``dev.image(...)``."""

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NoCallError(f"{self.__name__} is a module of the package, and not called: {vars(self)['_instead']}")


def refuse_modules(door: Mapping[str, Any], how: Mapping[str, str]) -> None:
    """Of a package's modules by name: calling one says what is meant."""
    for name, said in how.items():
        module = door[name]
        vars(module)["_instead"] = said
        module.__class__ = _Module


def _snake(name: str) -> str:
    return _SHORT.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _wanted(name: str, value: Any) -> bool:
    """A public function that does not look at its arguments itself, and that draws don't ask."""
    if not isinstance(value, FunctionType) or name[0] == "_" or name in _OF_DRAWS:
        return False
    flags = value.__code__.co_flags
    quick = name == "view" and flags & _TAKES_ANY  # of images, for draws
    return not quick and flags & _TAKES_ALL != _TAKES_ALL and not hasattr(value, _EXPLAINED)


def _tell_arguments(cls: type, made_by: str) -> None:
    """To what looks at attributes that are set: what calls of the class take."""
    public = {
        f"{_snake(owner.__name__)}.{name}": value
        for owner in cls.__mro__
        if owner.__module__.startswith("tilegpu")
        for name, value in vars(owner).items()
        if callable(value) and not isinstance(value, type) and name[0] != "_" and name not in argument_names.INTERNAL
    }
    if made_by:
        public[made_by] = vars(cls).get("__init__") or cls
    for call, function in public.items():
        set_names.takes(call, functools.partial(names_of, function))


def _explain_class(cls: type, made_by: str) -> None:
    for owner in cls.__mro__:
        if not owner.__module__.startswith("tilegpu"):
            continue
        for name, value in list(vars(owner).items()):
            if _wanted(name, value):
                setattr(owner, name, explained(value, f"{_snake(owner.__name__)}.{name}"))
    maker = "__new__" if issubclass(cls, tuple) else "__init__"
    made = vars(cls).get(maker)
    made = made.__func__ if isinstance(made, staticmethod) else made
    if made_by and isinstance(made, FunctionType) and not hasattr(made, _EXPLAINED):
        setattr(cls, maker, explained(made, made_by))


def explain_calls(door: dict[str, Any], names: Iterable[str], prefix: str, made_by: Mapping[str, str] | None = None) -> None:
    """Of a module's ``names`` the functions, and the classes' methods. ``made_by``: how objects of a class are made, for classes that
    users make; ``None``: all of them by their name."""
    for name in names:
        value = door.get(name)
        if isinstance(value, type) and not issubclass(value, BaseException):
            if prefix == "tilegpu" and made_by is not None:
                _tell_arguments(value, made_by.get(name, ""))
            _explain_class(value, f"{prefix}.{name}" if made_by is None else made_by.get(name, ""))
        elif isinstance(value, FunctionType) and _wanted(name, value):
            door[name] = explained(value, f"{prefix}.{name}")
