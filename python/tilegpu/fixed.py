"""What users can't do with objects of a device: set what they were made with, and send them to other processes; and with any object: set
what is almost one of its names, or means something elsewhere.

In: an assignment, or a pickler. Out: an error that names the object and says what to do. Names of the user's own are taken, and methods may
be replaced by others (tests do that). Classes of the user's own, made of ours, have attributes of their own: only what is known is refused.
"""

from __future__ import annotations

import functools
import re
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from tilegpu import argument_names, arguments, set_names
from tilegpu.errors import ValidationError, candidates, near_names
from tilegpu.keywords import names_of

_T = TypeVar("_T")


def _check_trace(value: Any, what: str) -> None:
    if not isinstance(value, bool) and not (isinstance(value, tuple) and len(value) == 2):
        raise ValidationError(f"{what} is {arguments.shown(value)}; it must be True, False or (x, y), shares of the picture from 0 to 1")


#: What may be set, and what asks whether a value is one of it.
_SETTABLE: dict[str, Callable[[Any, str], Any]] = {
    "label": arguments.text,
    "strict": arguments.flag,
    "takes_inner": arguments.flag,
    "default_trace": _check_trace,
}


_OWN_LINE = "and there is nothing to end; write what gives it on a line of its own"


class made_once(functools.cached_property[_T]):
    """What is made when somebody asks for it first, as Python's own from 3.12 on. Before, that takes a lock, one for all objects of the
    class: threads wait for each other, and a child by fork for ever, for a thread that it has not (gh-87634)."""

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        if thing is None:
            return self
        name = self.attrname
        assert name is not None
        own: dict[str, Any] = vars(thing)
        return own[name] if name in own else own.setdefault(name, self.func(thing))


#: Classes whose methods make objects for users: :func:`makes_things`.
_makers: list[type] = []


def makes_things(cls: type[_T]) -> type[_T]:
    """Of a class whose methods make objects: their arguments are what the objects were made with."""
    _makers.append(cls)
    return cls


def _is_method(cls: type, name: str) -> bool:
    value = getattr(cls, name, None)
    return callable(value) and not isinstance(value, property)


def _plain(parameter: str) -> str:
    """What users call it: ``type`` for ``type_``, which keeps out of the way of Python's own."""
    return parameter.rstrip("_")


def _makers_of(own: Sequence[type]) -> list[Any]:
    """What makes objects of these classes: their own, and what of the device and of passes says that it returns one."""
    names = {c.__name__ for c in own}
    makers = [vars(c)[name] for c in own for name in ("__init__", "create") if name in vars(c)]
    for made_by in _makers:
        for c in made_by.__mro__:
            makers += [value for value in vars(c).values() if getattr(value, "__annotations__", {}).get("return") in names]
    return makers


def _known(thing: Any) -> tuple[list[str], list[str]]:
    """What an object tells of itself, with what it is made with; the latter alone."""
    cls = type(thing)
    of_class, made_with = _of_class.get(cls) or _of_class.setdefault(cls, _known_of(cls))
    users = getattr(thing, "_users", ())
    names = dict.fromkeys([*(name for name in getattr(thing, "__dict__", ()) if name not in users), *of_class])
    return [
        name for name in names if name.strip("_") == name and name != "device" and not _is_method(cls, name)
    ], made_with


#: What :func:`_known_of` found: a program may set a name on each of many objects.
_of_class: weakref.WeakKeyDictionary[type, tuple[list[str], list[str]]] = weakref.WeakKeyDictionary()


def _known_of(cls: type) -> tuple[list[str], list[str]]:
    """Of any object of the class: slots, properties and what it is made with; the latter alone."""
    own = [c for c in cls.__mro__ if c.__module__.split(".")[0] == "tilegpu"]
    functions = [getattr(maker, "__func__", maker) for maker in _makers_of(own)]
    made_with = [name for function in functions if isinstance(function, FunctionType) for name in map(_plain, names_of(function))]
    told = [
        name for c in own for name, value in vars(c).items() if isinstance(value, (property, functools.cached_property))
    ]
    slots = [name for c in own for name in vars(c).get("__slots__", ())]
    return [*slots, *told, *made_with], made_with


class NotPicklableError(ValidationError, TypeError):
    """As Python's own, a TypeError too: programs that try whether something can be sent catch that."""


class NoKeyError(ValidationError, KeyError):
    """As Python's own, a KeyError too."""

    __str__ = Exception.__str__  # KeyError's is the repr


class Named(dict[str, Any]):
    """What is asked by name; a name that there is not says what is near."""

    def __init__(self, what: str, of: Mapping[str, Any]) -> None:
        super().__init__(of)
        self._what = what

    def __missing__(self, name: Any) -> Any:
        raise NoKeyError(f"{self._what} has no {name!r}{candidates(name, self)}")

    def __reduce__(self) -> Any:
        return Named, (self._what, dict(self))


class OfThisProcess:
    """Base of what a device makes: memory and machine code of this process."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise NotPicklableError(
            f"{said(self)} is of this process, and can't be pickled or copied; send arrays (image.numpy(), buffer.numpy()), statistics "
            "and texts of shaders, and make a device in each process (docs/farms.md)"
        )

    def __copy__(self) -> Any:
        """Itself, another name for the same memory: copy.copy asks for no more, and a second object would not know when a pass ends."""
        return self


def said(thing: Any) -> str:
    """Kind and label, for messages."""
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(thing).__name__).lower()
    label = getattr(thing, "label", "")
    return f"{kind} '{label}'" if isinstance(label, str) and label else kind


class NoInterfaceError(ValidationError, AttributeError):
    """An AttributeError too: NumPy then takes the array by ``__array__``."""


class NoElementsError(ValidationError, TypeError):
    """Of what is no sequence. A TypeError too, as Python's own."""


def no_interface(thing: Any) -> NoInterfaceError:
    """Of what NumPy takes and who looks for its older interface does not."""
    return NoInterfaceError(f"{said(thing)} is no NumPy array; give np.asarray(...) of it, such as PIL.Image.fromarray(np.asarray(image))")


class NoOperationError(ValidationError, TypeError):
    """As Python's own, a TypeError too."""


def _refused(how: str) -> Callable[..., Any]:
    """Of what arrays can do."""

    def operation(self: Any, *given: Any) -> Any:
        to_array = ".numpy()" if hasattr(self, "numpy") else "numpy.asarray of it"
        raise NoOperationError(f"{said(self)} {how}; {to_array} is an array")

    return operation


class AsArray:
    """Base of what NumPy takes as an array, for programs that look for the older interface and nothing else (``PIL.Image.fromarray``), and
    for those that take it for one itself. Without ``__iter__``: it is no iterable."""

    __slots__ = ()

    if not TYPE_CHECKING:  # else all of it could be done
        for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
            locals()[f"__{_name}__"] = locals()[f"__r{_name}__"] = _refused("is not computed with")
        __neg__ = __pos__ = __abs__ = __invert__ = _refused("is not computed with")
        __lt__ = __le__ = __gt__ = __ge__ = _refused("is not compared")
        del _name

    @property
    def __array_interface__(self) -> Any:
        raise no_interface(self)

    if not TYPE_CHECKING:  # else it could be indexed

        def __getitem__(self, key: Any) -> Any:
            raise NoElementsError(f"{said(self)} has no elements by number; give np.asarray(...) of it, which is an array")

        def __setitem__(self, key: Any, value: Any) -> None:
            raise NoElementsError(f"{said(self)} has no elements by number; what writes to images and buffers is their write(...)")


class NoLength:
    """Base of what ``len`` is asked of, and has none: as arrays it has several dimensions, or bytes. It is true, as what has no length."""

    __slots__ = ()
    _in_its_place: ClassVar[str]  # what has a length, or a size

    if not TYPE_CHECKING:  # else it had one

        def __len__(self) -> int:
            raise NoElementsError(f"{said(self)} has no length; {self._in_its_place}")

        def __bool__(self) -> bool:
            return True  # Python would ask for the length


def _settable(thing: Any, known: Sequence[str]) -> list[str]:
    """Those that may be set from outside."""
    return [name for name in known if name in _SETTABLE or (isinstance(thing, Spelt) and name in vars(thing))]


def _refuse(thing: Any, name: str, value: Any, alike: Callable[[str, str], bool]) -> None:
    """Raises for what is known of it, for what is almost spelt so, and for what would say something if somebody read it. The user's own
    names are left alone."""
    what = said(thing)
    known, made_with = _known(thing)
    if elsewhere := thing._said_elsewhere(name):
        raise ValidationError(f"{what}: {name} can't be set; {elsewhere}")
    if name in known or (isinstance(own_property := getattr(type(thing), name, None), property) and own_property.fset is None):
        how = f"is given where it is made; make a new one with {name}=" if name in made_with and name in known else "can't be set"
        raise ValidationError(f"{what}: {name} {how}")
    for near in () if set_names.is_argument(name) else near_names(name, known):
        if (sorted(near) == sorted(name) or len(near) >= 4) and alike(name, near):
            raise ValidationError(f"{what}: there is no attribute '{name}' to set; did you mean '{near}'?")
    own = [c.__name__ for c in type(thing).__mro__ if c.__module__.split(".")[0] == "tilegpu"]
    method = _is_method(type(thing), name)
    if type(thing).__module__.split(".")[0] != "tilegpu" or (method and callable(value)):
        return  # a class of the user's own; another method
    if method:
        raise ValidationError(f"{what}: {name} is a method, which is called: {name}(...); {arguments.shown(value)} is none to put there")
    if where := set_names.meaning(own, name, _settable(thing, known), not callable(value)):
        raise MissingAttributeError(thing, name, where, " to set")


class MissingAttributeError(ValidationError, AttributeError):
    """Of a thing of ours, with what is near, or what other interfaces' word is here. Its words are found when somebody reads them:
    ``hasattr`` asks often, and never does. ``where``: who has it instead; ``how``: what can't be done with it."""

    def __init__(self, thing: Any, missing: str, where: str = "", how: str = "") -> None:
        super().__init__(missing)
        self._thing, self._missing, self._where, self._how = thing, missing, where, how

    def __str__(self) -> str:
        thing, name = self._thing, self._missing
        cls = type(thing)
        of = said(thing) if hasattr(thing, "label") or isinstance(thing, Spelt) else cls.__name__
        what = f"{of}: there is no attribute '{name}'{self._how}"
        if elsewhere := self._where or argument_names.method_elsewhere(cls.__name__, name):
            return f"{what}; {elsewhere}"
        own = (n for n in dir(thing) if n[0] != "_" and n != name)
        # A slot that is not set yet is no name to offer.
        known = [n for n in own if not self._how or n in vars(cls).get("__slots__", ())]
        return what + candidates(name, known, argument_names.methods_meant(name, known))


class _Listed(type):
    """Of classes that users ask ``help()`` of: what only the package calls is there, and not listed."""

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if name not in argument_names.INTERNAL]


class Told(metaclass=_Listed):
    """Base of what users read: an attribute that there is not is an error that says what is near."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in argument_names.INTERNAL]

    def _where_else(self, name: str) -> str:
        """Who has an attribute of this name; for messages."""
        return ""

    if not TYPE_CHECKING:  # else every name would be one

        def __getattr__(self, name: str) -> Any:
            if isinstance(own := getattr(type(self), name, None), property):
                return own.__get__(self)  # which has an AttributeError of its own to say
            if name[0] == "_":
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            raise MissingAttributeError(self, name, self._where_else(name))

        def __enter__(self) -> Any:
            raise ValidationError(f"{said(self)} is no with block, {_OWN_LINE}")

        def __exit__(self, *raised: Any) -> None:
            """Python looks for it before it enters."""


def no_block(cls: type[_T]) -> type[_T]:
    """Of a class that has other bases than these: its objects say so, too, where somebody enters them."""
    for name in ("__enter__", "__exit__"):
        setattr(cls, name, vars(Told)[name])
    return cls


class Slotted(Told):
    """The same, of what is made to be set and has ``__slots__``: there is nothing else to set."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            object.__setattr__(self, name, value)
        except AttributeError:
            pass
        else:
            return
        if hasattr(type(self), name):
            raise ValidationError(f"{said(self)}: {name} can't be set")
        raise MissingAttributeError(self, name, how=" to set")


class Made(Told):
    """The same, with attributes that say what it was made with. Classes with ``__slots__``, and with ``_closed``, take no others."""

    __slots__ = ()
    _users: frozenset[str] = frozenset()  # attributes that the user added
    _closed = False

    def _said_elsewhere(self, name: str) -> str:
        """Where what an attribute of this name would say is said, if it is; for messages."""
        return ""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SETTABLE and hasattr(self, name):
            _SETTABLE[name](value, f"{said(self)}: {name}")
        elif (
            name[0] != "_"
            and name not in self._users
            and sys._getframe(1).f_globals.get("__name__", "").split(".")[0] != "tilegpu"
        ):
            _refuse(self, name, value, _almost)
            if self._closed or not hasattr(self, "__dict__"):
                raise MissingAttributeError(self, name, "it takes none but its own", " to set")
            if not _is_method(type(self), name):
                object.__setattr__(self, "_users", self._users | {name})
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        from_outside = sys._getframe(1).f_globals.get("__name__", "").split(".")[0] != "tilegpu"
        if name[0] != "_" and name not in self._users and from_outside and name in _known(self)[0]:
            raise ValidationError(f"{said(self)}: {name} can't be deleted; it is what the object tells of itself")
        object.__delattr__(self, name)


class Fixed(OfThisProcess, Made):
    """The same, of what a device makes: it lives as long as something names it, and is no ``with`` block unless it says so."""

    __slots__ = ()

    if not TYPE_CHECKING:  # else every one could be entered

        def __enter__(self) -> Any:
            raise ValidationError(f"{said(self)} is no with block; {argument_names.FREED}")


class Spelt(Told):
    """Base of what is made to be set: only what it has not, and what looks as if it had, is refused."""

    __slots__ = ()

    def _said_elsewhere(self, name: str) -> str:
        return ""

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_" and name not in vars(self) and sys._getframe(1).f_globals.get("__name__", "").split(".")[0] != "tilegpu":
            _refuse(self, name, value, _meant)
        object.__setattr__(self, name, value)


def _almost(name: str, known: str) -> bool:
    """One letter more, less or other, or letters in another order. A plural is a name of its own, and so is one that holds ours and goes on
    (``format2``), unless it only doubles a letter."""
    if name in (known + "s", known + "es") or known in (name + "s", name + "es"):
        return False
    if sorted(name) == sorted(known):
        return True
    if abs(len(name) - len(known)) > 1:
        return False
    if known in name and not any(name[k] == name[k + 1] and name[:k] + name[k + 1 :] == known for k in range(len(known))):
        return False
    same = next((k for k, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), min(len(name), len(known)))
    rest = (name[same + 1 :], known[same + 1 :]), (name[same + 1 :], known[same:]), (name[same:], known[same + 1 :])
    return len(known) >= 4 and any(a == b for a, b in rest)


#: What some add to a name of ours: what it is counted in.
_UNITS = frozenset({"degrees", "degree", "deg", "radians", "radian", "rad", "angle", "plane"})


def _meant(name: str, known: str) -> bool:
    """Of what is made to be set: also a name cut short (``fov`` for ``fov_y``), and one with a unit behind it (``fov_y_degrees``)."""
    short = len(name) >= 3 and known.startswith(name) and known not in (name + "s", name + "es")
    return short or (name.startswith(f"{known}_") and name[len(known) + 1 :] in _UNITS) or _almost(name, known)
