"""Many pictures in one file. In: pictures one by one, frames a second. Out: GIF, WebP (Pillow) or MP4 (PyAV).

WebP is lossless; GIF has 256 colours a picture; MP4 is H.264 with 4:2:0 chroma (ITU-R BT.709), as every player shows it.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilegpu.errors import needs_packages
from tilegpu.picture_file import palette, without_alpha
from tilegpu.terminal import UsageError
from tilegpu.whole_file import whole_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Suffixes of files that hold several pictures.
SUFFIXES = (".gif", ".webp", ".mp4")
#: Browsers show a GIF's picture for 100 ms where less than 20 ms are asked for.
_GIF_MOST = 50


def check(path: Path, size: tuple[int, int] | None, fps: float) -> None:
    """Raises :class:`UsageError` for what the format can't hold, before anything is drawn."""
    suffix = path.suffix.lower()
    if suffix == ".gif" and fps > _GIF_MOST:
        raise UsageError(f"{path}: a GIF has at most {_GIF_MOST} pictures a second, --fps is {fps:g}; write .mp4 or .webp, or fewer")
    if suffix == ".mp4":
        if size is not None and (size[0] % 2 or size[1] % 2):
            even = f"{size[0] + size[0] % 2}x{size[1] + size[1] % 2}"
            raise UsageError(f"{path}: the sides of an MP4 are even, the picture's are {size[0]}x{size[1]}; --size {even}")
        _av(path)


def _av(path: Path) -> Any:
    try:
        import av
    except ImportError:
        raise UsageError(f"{needs_packages(f'{path}: .mp4', 'av', extra='video')}; .gif and .webp need nothing") from None
    return av


def durations_ms(count: int, fps: float, step_ms: int) -> list[int]:
    """How long each picture is shown, in multiples of what the format counts in, so that the whole is right."""
    ends = [round(1000 * (k + 1) / fps / step_ms) * step_ms for k in range(count)]
    return [b - a for a, b in itertools.pairwise([0, *ends])]


def write(path: Path, pictures: Iterable[Any], count: int, fps: float, who: str = "the picture", first: int = 0) -> None:
    """Writes ``count`` Pillow pictures, taken one by one. ``who`` makes them, the first with the number ``first``, for messages.

    Raises :class:`UsageError` where they are of different sizes. Where a picture can't be had, those before it are the film, and the error
    is raised then.
    """
    taken = _Taken(path, pictures, who, first)
    _write(path, iter(taken), count, fps)
    if taken.error is not None:
        if taken.count:
            print(f"{path}: has the {taken.count} of {count} pictures that there were before the error", file=sys.stderr)
        raise taken.error


class _Taken:
    """Pictures of one size, until one can't be had. The first may raise: then there is no film."""

    def __init__(self, path: Path, pictures: Iterable[Any], who: str, first: int) -> None:
        self._path, self._pictures, self._who, self._first = path, pictures, who, first
        self.count = 0
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[Any]:
        size: tuple[int, int] | None = None
        try:
            for picture in self._pictures:
                size = size or picture.size
                if picture.size != size:
                    here, there = (f"{width}x{height}" for width, height in (picture.size, size))
                    raise UsageError(
                        f"{self._path}: a film's pictures have one size; {self._who} made frame {self._first + self.count} {here}, "
                        f"those before it {there}: make all of one size, or write them one by one (-o {self._path.stem}.png)"
                    )
                yield picture
                self.count += 1
        except BaseException as error:
            if not self.count or isinstance(error, GeneratorExit):
                raise
            self.error = error


def _write(path: Path, pictures: Iterator[Any], count: int, fps: float) -> None:
    suffix = path.suffix.lower()
    if suffix == ".mp4":
        _write_mp4(path, pictures, fps)
        return
    if suffix == ".gif":
        pictures = map(palette, pictures)
        options: dict[str, Any] = {"format": "GIF", "duration": durations_ms(count, fps, 10), "disposal": 1}
    else:
        options = {"format": "WEBP", "duration": durations_ms(count, fps, 1), "lossless": True, "exact": True, "method": 3}
    first = next(pictures)
    with whole_file(path, "the film") as stream:
        first.save(stream, save_all=True, append_images=pictures, loop=0, **options)


def _write_mp4(path: Path, rest: Iterator[Any], fps: float) -> None:
    av = _av(path)
    first = next(rest)  # may be refused: then there is no file yet
    with whole_file(path, "the film") as stream:
        _encode_mp4(av, stream.path, itertools.chain([first], rest), first.size, fps)


def _encode_mp4(av: Any, path: str, pictures: Iterable[Any], size: tuple[int, int], fps: float) -> None:
    from fractions import Fraction  # it brings decimal, and this module is imported for every command

    with av.open(path, "w", format="mp4", options={"movflags": "+faststart"}) as file:
        rate = Fraction(fps).limit_denominator(1001)
        stream = file.add_stream("libx264", rate=rate, options={"crf": "16", "preset": "medium"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        context = stream.codec_context
        context.color_primaries = context.color_trc = context.colorspace = 1  # BT.709
        context.color_range = 1  # 16 to 235
        for picture in pictures:
            rgb: NDArray[np.uint8] = np.ascontiguousarray(without_alpha(picture).convert("RGB"))
            frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
            frame = frame.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
            file.mux(stream.encode(frame))
        file.mux(stream.encode())
