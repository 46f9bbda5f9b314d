"""The core speaks Vulkan, the Python front end Python: no word of one in the messages of the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tilegpu as tg
from tilegpu import errors
from tilegpu.errors import from_core, in_own_words

ROOT = Path(__file__).parent.parent
#: Keyword arguments, the names that tutorials give the package and its objects, Python's constants and libraries.
PYTHON = re.compile(
    r"(?<![-\w])[a-z]\w*=(?!=)|\b(?:dev|tg|tilegpu|rp|np)\.[a-z]|\b(?:True|False|None)\b|"
    r"(?i:\b(?:python|numpy|pillow|dtype|kwargs?)\b)|\bwith block\b"
)
VUID = re.compile(r"VUID-[A-Za-z0-9]+-[A-Za-z0-9]+-\d+")  #: Vulkan's own name of a rule: VUID-vkCmdDraw-None-10608
STRING = re.compile(r'//[^\n]*|R"\(.*?\)"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)


def strings(text: str) -> Iterator[tuple[int, str]]:
    """Line and content of the string literals of C++; of comments and includes nothing."""
    for found in STRING.finditer(re.sub(r"(?m)^\s*#\s*include.*$", "", text)):
        if found[1]:
            yield text.count("\n", 0, found.start()) + 1, VUID.sub("", found[1])


def python_words(text: str) -> list[str]:
    return [f"line {line}: {string}" for line, string in strings(text) if PYTHON.search(string)]


def test_no_message_of_the_core_knows_python() -> None:
    found = {}
    for folder in ("cpp/src", "cpp/include"):
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            if words := python_words(path.read_text(encoding="utf-8")):
                found[str(path.relative_to(ROOT))] = words
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        'return invalid("give the pass depth=");',
        '"x" + std::to_string(n) + "; create it with samples=" + y',
        '"; ask before: dev.render_pass(..)"',
        '"depth_test is False"',
        '"what NumPy can view"',
    ],
)
def test_what_the_check_finds(text: str) -> None:
    assert python_words(text)


@pytest.mark.parametrize(
    "text",
    [
        '// give the pass depth=',
        '#include "tilegpu/device.hpp"',
        'const char c = \'"\'; x = "max-iterations=1"; y = "-misched=tilegpu";',
        '"a == b"',
        '"it must be false (VUID-vkCmdDraw-None-10608)"',
        '"tilegpu needs an x86-64-v3 CPU"',
    ],
)
def test_what_the_check_leaves_alone(text: str) -> None:
    assert not python_words(text)


VERT = """#version 450
layout(location = 0) in vec2 p;
void main() { gl_Position = vec4(p, 0, 1); }"""
FRAG = """#version 450
layout(location = 0) out vec4 c;
void main() { c = vec4(1); }"""
VERTEX = np.dtype([("p", "f4", 2)])


def test_what_the_core_says_of_a_pass_is_said_in_arguments() -> None:
    dev = tg.Device()
    out = dev.image((8, 8), "r8g8b8a8_unorm", label="out")
    data = np.zeros(3, VERTEX)

    def drawn(color: tg.Image, **state: object) -> str:
        pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=["r8g8b8a8_unorm"], **state)
        with pytest.raises(tg.ValidationError) as raised, dev.render_pass(color=[tg.Attachment(color, clear=(0, 0, 0, 1))]) as rp:
            rp.draw(pipeline, data)
        return str(raised.value)

    text = drawn(out, depth="d32_sfloat")
    assert text.endswith("no depth attachment; give the pass depth=, or create the pipeline with depth_test=False")
    text = drawn(out, stencil="s8_uint", stencil_test={"compare": "equal"})
    assert text.endswith("no stencil attachment; give the pass stencil=, or create the pipeline with stencil_test=None")
    four = dev.image((8, 8), "r8g8b8a8_unorm", samples=4)
    assert drawn(four).endswith("made for 1 samples, the pass has 4; create the pipeline with samples=4")


def test_what_the_core_says_of_images_is_said_in_arguments() -> None:
    dev = tg.Device()
    out = dev.image((8, 8), "r8g8b8a8_unorm", label="base_level")
    with pytest.raises(tg.ValidationError, match=r"base_level.*: level is 7, allowed is 0 to 0"):
        out.view(level=7)
    with pytest.raises(tg.ValidationError, match=r": area is .*allowed is"), dev.render_pass(out, area=(0, 0, 9, 9)):
        pass


def test_labels_stay_as_they_are() -> None:
    text = "pass 'render_area': render_area is 0, allowed is 1; set render_area"
    assert in_own_words(text) == "pass 'render_area': area is 0, allowed is 1; give area="
    error = from_core("VK_ERROR_VALIDATION_FAILED_EXT", "copy_image: destination samples is 4, allowed is 1; use resolve_image")
    assert isinstance(error, tg.ValidationError) and str(error) == "copy: destination samples is 4, allowed is 1; use dev.resolve"


LABELS = [
    "it's base_level and render_area",
    "dogs' base_level is 3",
    "a 'base_level' b",
    "x' base_level 'y",
    "'", "''", "'base_level", "base_level'", " ' base_level ' ",
    "\n'base_level\n",
    "base_level\nrender_area",
    'the "base_level"',
    "l'été base_level", "ß’base_level‘", "日本'語 base_level",
    "back\\slash' base_level (.*)",
]  # fmt: skip


@pytest.mark.parametrize("label", LABELS)
def test_labels_with_quotes_stay_as_they_are(label: str) -> None:
    """And the core's words around them don't: of an image, of a pass with a pipeline, of two objects in one message."""
    dev = tg.Device(cache_dir="off", threads=1)
    image = dev.image((8, 8), "r8g8b8a8_unorm", label=label)
    with pytest.raises(tg.ValidationError) as raised:
        image.view(level=7)
    assert str(raised.value).startswith(f"view of image '{label}': level is 7, allowed is 0 to 0")
    with pytest.raises(tg.ValidationError) as raised, dev.render_pass(image, area=(0, 0, 9, 9), label=label):
        pass
    assert f"pass '{label}': area is " in str(raised.value) and "render_area" not in str(raised.value).replace(label, "")
    pipeline = dev.pipeline(VERT, FRAG, vertex=VERTEX, color=[image.format], depth="d32_sfloat", label=label)
    with pytest.raises(tg.ValidationError) as raised, dev.render_pass(image, label=label) as rp:
        rp.draw(pipeline, np.zeros(3, VERTEX))
    said = str(raised.value)
    assert said.startswith(f"pass '{label}', pipeline '{label}'") and said.endswith("or create the pipeline with depth_test=False")
    # Names of files and of captures' objects come without being told; those of words with apostrophes can be seen all the same.
    if re.fullmatch(r"(?:[^']|(?<=\w)'(?=\w))*", label):
        text = f"pipeline '{label} <vertex>': base_level is 1; the pass's base_level of buffer '{label}' (base_level)"
        want = f"pipeline '{label} <vertex>': level is 1; the pass's level of buffer '{label}' (level)"
        errors._labels.clear()
        assert in_own_words(text) == want


def test_what_is_quoted_stays_and_says_nothing() -> None:
    for label in ("render_area", "allowed", "x; use mipLevel", "it's level_count", "a' base_level 'b"):
        errors.keep_label(label)
        error = from_core("VK_ERROR_UNKNOWN", f"image '{label}': base_level is 3")
        assert str(error) == f"image '{label}': level is 3" and type(error) is tg.Error
    assert type(from_core("VK_ERROR_UNKNOWN", "image 'a': base_level is 3, allowed is 0")) is tg.ValidationError


def test_names_of_files_are_quoted_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "o' base_level"
    folder.mkdir()
    (folder / "render_area.vert").write_text("#version 450\nlayout(location = 40) out vec4 mipLevel;\nvoid main() { mipLevel = vec4(1); }")
    with pytest.raises(tg.Error) as error:
        tg.Device(threads=1).pipeline(str(folder / "render_area.vert"), FRAG.replace("vec4(1)", "vec4(x)"), color=["r8_unorm"])
    assert "x" in str(error.value)
    for text in (f"shader '{folder}/render_area.vert': mipLevel is 3", f"shader '{folder}/render_area.vert', level_count"):
        assert str(folder / "render_area.vert") in in_own_words(text)
