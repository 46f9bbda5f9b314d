"""The driver reads an enumeration that a program wrote by vk::given (cpp/src/vk/given.hpp), as a number, and never as it stands: to read
a number beyond the enumeration's bits as a value of it is undefined in C++."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ICD = ROOT / "cpp" / "src" / "icd"
HEADERS = [ROOT / "build" / "vulkan-headers" / "usr" / "include", Path("/usr/include")]

#: Copies of the driver's own, which were read by `given` when they were made: file, and what they are called there.
OWN = {
    "capabilities.cpp": {"p"},
    "compute.cpp": {"in"},  # a structure in a structure
    "dynamic_state.cpp": {"e", "a", "f", "advanced"},
    "formats.cpp": {"info"},
    "render_pass.cpp": {"a", "ops", "pass->attachments[i]", "open.render_pass->attachments[tiles.depth_stencil]"},
    "subpass.cpp": {"a", "pass.attachments[a]", "pass.attachments[attachment]"},
    "queue.cpp": {"info"},
}
#: Members of one word, which the driver's own structures have as well: of program's structures by what these are called.
PROGRAMS = re.compile(r"^(in|p[A-Z]\w*)(\[\w+\])?$|^(in|p[A-Z]\w*)(->|\.)")

#: What reads an array's elements by itself.
ALGORITHM = re.compile(r"std::(any_of|all_of|none_of|find|find_if|copy|copy_n|count|count_if|equal)\(")


def members() -> set[str]:
    """Names of the members of Vulkan's structures that are enumerations; those of results are answers, and have negative values."""
    for folder in HEADERS:
        if (header := folder / "vulkan" / "vulkan_core.h").is_file():
            text = header.read_text()
            break
    else:
        pytest.skip("Vulkan's headers are not there")
    enums = set(re.findall(r"^typedef enum (\w+) \{", text, re.MULTILINE)) - {"VkResult"}
    found = set()
    for body in re.findall(r"^typedef struct \w+ \{(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        found |= {
            name
            for type_, name in re.findall(r"^\s+(?:const )?(\w+)\*?\s+(\w+)(?:\[\w+\])?;", body, re.MULTILINE)
            if type_ in enums
        }
    assert {"loadOp", "sType", "format", "pColorAttachmentFormats"} <= found
    return found - {"layout"}  # of pipelines, as a rule; the driver asks for no layout of an image


def reads(text: str, names: set[str]) -> list[tuple[int, str, str]]:
    """Line, receiver and member of each read that is not an argument of `given`."""
    out = []
    chain = re.compile(
        r"((?:[A-Za-z_]\w*(?:\([^()]*\))?(?:\[[^\[\]]*\])?(?:->|\.))+)(" + "|".join(sorted(names)) + r")\b(?!\(|\.)"
    )
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("//")[0]
        for match in chain.finditer(code):
            receiver, member = re.sub(r"(->|\.)$", "", match[1]), match[2]
            after = code[match.end() :]
            if re.match(r"(\[[^\]]*\])?\s*(=(?!=)|,\s*\w+->\w+Count)", after) or code[: match.start()].endswith(
                "given("
            ):
                continue
            if re.match(r"\s*[),&|;]", after) and member.startswith("p") and member[1:2].isupper() and "given(" in code:
                continue  # an array, all of it
            if not re.search(r"[a-z][A-Z]", member) and not PROGRAMS.match(receiver):
                continue
            if (
                member.startswith("p")
                and member[1:2].isupper()
                and not after.startswith("[")
                and not ALGORITHM.search(code)
            ):
                continue  # the pointer alone, and for no algorithm
            out.append((number, receiver, member))
    return out


def test_numbers_of_programs_are_read_as_numbers() -> None:
    names = members()
    wrong = []
    for path in sorted([*ICD.rglob("*.cpp"), *ICD.rglob("*.hpp")]):
        if path.parent.name == "generated":
            continue
        for number, receiver, member in reads(path.read_text(), names):
            if receiver not in OWN.get(path.name, set()):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {receiver} … {member}")
    assert not wrong, "read by given():\n" + "\n".join(wrong)


def test_chains_are_followed_by_numbers() -> None:
    """Of structures in a chain the type is a program's, too."""
    for path in [*ICD.glob("generated/*.cpp"), *ICD.glob("*.[ch]pp")]:
        found = re.findall(r".*->sType\b(?!\s*=[^=]).*", path.read_text())
        assert all("given(" in line for line in found), (path.name, found)


def test_arguments_are_settled_before_a_command_has_them() -> None:
    assert "command(settled(arguments)...)" in (ICD / "guard.hpp").read_text()


def test_what_is_read_as_it_stands_is_found() -> None:
    lines = [
        "out.load_op = in->loadOp;",
        "use(given(in->loadOp));",
        "a.loadOp = given(in.loadOp);",
        "f = pCreateInfo->format;  // x->format",
    ]
    lines += ["std::any_of(in.pStates, f);", "use(given(in.pStates[0]));"]
    text = "\n".join(lines)
    assert [(n, m) for n, _, m in reads(text, {"loadOp", "format", "pStates"})] == [
        (1, "loadOp"),
        (4, "format"),
        (5, "pStates"),
    ]
