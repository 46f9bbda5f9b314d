"""A user's file, written whole or not at all. In: a path, bytes or whoever writes them. Out: the file, or the one that was there before.

Every file that a user names is written here: into a new one beside it, which takes its name when it is complete. Where the disk is full, a
limit is reached or whoever makes the content fails, the old file stays as it was, and the error is a :class:`tilegpu.WriteError` with path
and cause. Devices, pipes and what this process prints to have no name to take: they are written to as they are, once the content is there.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tilegpu.errors import WriteError
from tilegpu.files import place

#: So long a named pipe may wait for somebody who reads it.
_READER_S = 2.0
#: The folder takes no new file, or the name can't be taken: the old file, where there is one, may be written to all the same.
_NO_NEW_FILE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.ENAMETOOLONG)
#: Paths of files that are open here already.
_OPEN_FILES = ("/dev/fd/", "/dev/std", "/proc/")
_PIECE_B = 1 << 20


class WholeStream(io.RawIOBase):
    """A file that is being written; ``path``: for libraries that want one. It has no number of the system (``fileno``), by which some write
    past Python and then don't know what went wrong."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self._file = open(path, "w+b")  # noqa: SIM115, PTH123 -- closed by close()

    def writable(self) -> bool:
        """It is."""
        return True

    def readable(self) -> bool:
        """TIFF looks at what it wrote."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def write(self, data: object, /) -> int:
        """All of it, or ``OSError``."""
        return self._file.write(data)  # type: ignore[arg-type]

    def readinto(self, buffer: object, /) -> int:
        """Of what was written."""
        return self._file.readinto(buffer)  # type: ignore[arg-type]

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """As of a file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """As of a file."""
        return self._file.tell()

    def truncate(self, size: int | None = None, /) -> int:
        """As of a file."""
        return self._file.truncate(size)

    def flush(self) -> None:
        """To the system."""
        if not self._file.closed:
            self._file.flush()

    def close(self) -> None:
        """What is held back is written, or an ``OSError`` says why not."""
        try:
            self._file.close()
        finally:
            super().close()


@contextmanager
def whole_file(path: str | os.PathLike[str], what: str) -> Iterator[WholeStream]:
    """A stream; the file has its content when the block ends, and is as it was if anything is raised. ``what``: who writes, for the
    message of the :class:`WriteError` that every ``OSError`` becomes."""
    named = place(path)
    target, before, beside = _place(named)
    try:
        fresh, beside = _new_file(target, before, beside)
        try:
            stream = WholeStream(fresh)
            try:
                yield stream
            finally:
                with suppress(OSError):  # what is wrong is raised already, or by the flush below
                    stream.flush()
                stream.close()
            if beside:
                beside = _takes_name(fresh, target, before)
            if not beside:
                _write_as_it_is(fresh, target, before)
        finally:
            with suppress(OSError):
                os.unlink(fresh)  # noqa: PTH108 -- pathlib would be imported for this alone
    except WriteError:
        raise
    except OSError as error:
        kept = before is not None and stat.S_ISREG(before.st_mode)
        raise _error(named, what, error, "; the file that was there is as it was" if kept else "") from error


@contextmanager
def told(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Of a file that grows piece by piece: what goes wrong with it is a :class:`WriteError`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise _error(place(path), what, error) from error


def _error(path: str, what: str, error: OSError, more: str = "") -> WriteError:
    return WriteError(f"{what}: can't write {path}: {_cause(error)}{more}", errno=error.errno, path=path)


def write_whole(path: str | os.PathLike[str], content: bytes | str, what: str) -> None:
    """Bytes, or text as UTF-8, as a file's content."""
    with whole_file(path, what) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


def _cause(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full, free some space"
    if error.errno == errno.EFBIG:
        return "it is larger than the system lets a file of this process be (ulimit -f)"
    return (error.strerror or str(error) or type(error).__name__).replace("\n", " ")


def _place(named: str) -> tuple[str, os.stat_result | None, bool]:
    """Where the file is, links followed; what is there now; whether another file may take its name."""
    try:
        there = os.stat(named)  # noqa: PTH116
    except OSError:
        return os.path.realpath(named), None, True
    if not stat.S_ISREG(there.st_mode) or os.path.abspath(named).startswith(_OPEN_FILES) or _is_printed_to(there):  # noqa: PTH100
        return named, there, False
    return os.path.realpath(named), there, True


def _is_printed_to(there: os.stat_result) -> bool:
    """The shell's file (``> file``): under another one of that name, what is printed later would be lost."""
    for number in (1, 2):
        with suppress(OSError):
            if os.path.samestat(there, os.fstat(number)):
                return True
    return False


def _new_file(target: str, before: os.stat_result | None, beside: bool) -> tuple[str, bool]:
    """A new file, and whether it lies beside the target, and is to take its name."""
    suffix = os.path.splitext(target)[1][:16]  # noqa: PTH122 -- libraries look at it
    if beside:
        fresh = os.path.join(os.path.dirname(target) or ".", f".tilegpu-{os.urandom(8).hex()}{suffix}")  # noqa: PTH118, PTH120
        try:
            # The system takes the user's mask off; a mode of its own is what mkstemp would give it.
            os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        except OSError as error:
            if before is None or error.errno not in _NO_NEW_FILE:
                raise
        else:
            return fresh, True
    import tempfile  # rarely wanted, and it imports much

    number, fresh = tempfile.mkstemp(suffix, "tilegpu-")
    os.close(number)
    return fresh, False


def _takes_name(fresh: str, target: str, before: os.stat_result | None) -> bool:
    """Whether it did. Owner and mode stay what they were, as far as the system lets them."""
    if before is not None:
        with suppress(OSError):
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(fresh, before.st_uid, before.st_gid)
            os.chmod(fresh, stat.S_IMODE(before.st_mode))  # noqa: PTH101
    try:
        os.replace(fresh, target)  # noqa: PTH105
    except OSError as error:
        if before is None or error.errno not in _NO_NEW_FILE:
            raise
        return False
    return True


def _write_as_it_is(fresh: str, target: str, before: os.stat_result | None) -> None:
    """Into what is there: a device, a pipe, or a file whose folder takes no new one, which gets its old content back if that fails."""
    old: bytes | None = None
    if before is not None and stat.S_ISREG(before.st_mode):
        with suppress(OSError), open(target, "rb") as stream:  # noqa: PTH123
            old = stream.read()
    try:
        with open(fresh, "rb") as content, os.fdopen(_open_as_it_is(target, before), "wb") as stream:  # noqa: PTH123
            while piece := content.read(_PIECE_B):
                stream.write(piece)
    except OSError:
        if old is not None:
            with suppress(OSError), open(target, "wb") as stream:  # noqa: PTH123
                stream.write(old)
        raise


def _open_as_it_is(target: str, before: os.stat_result | None) -> int:
    if before is None or not stat.S_ISFIFO(before.st_mode):
        return os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    end = time.monotonic() + _READER_S
    while True:
        try:
            number = os.open(target, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > end:
                raise OSError(error.errno, "it is a named pipe that nobody reads; start its reader first") from None
            time.sleep(0.02)
        else:
            os.set_blocking(number, True)
            return number
