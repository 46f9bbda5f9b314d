"""The driver's tables are what scripts/generate_icd.py makes of the Vulkan registry, and its commands are declared as there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
ICD = ROOT / "cpp" / "src" / "icd"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_icd", ROOT / "scripts" / "generate_icd.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def registry(generator: ModuleType) -> Any:
    """Of the version that the committed tables are of: a tree that built nothing yet may find an older one of the system's."""
    if not generator.REGISTRY.is_file():
        pytest.skip("libvulkan-dev is not installed")
    read = generator.read(generator.REGISTRY)
    if f"header version {read.header};" not in (ICD / "generated" / "commands.hpp").read_text():
        pytest.skip("the registry here is of another version than the committed tables")
    return read


@pytest.mark.usefixtures("registry")
def test_generated_files_are_current(generator: ModuleType) -> None:
    made = generator.generate(generator.REGISTRY)
    assert {path.name for path in (ICD / "generated").glob("[!.]*")} == set(made)
    for name, text in made.items():
        assert (ICD / "generated" / name).read_text() == text, f"{name} is stale; run scripts/generate_icd.py"


def test_every_definition_is_a_command_of_the_registry() -> None:
    declared = set(re.findall(r"VKAPI_CALL (\w+)\(", (ICD / "generated" / "commands.hpp").read_text()))
    for path in ICD.glob("*.cpp"):
        defined = re.findall(r"^\w+ VKAPI_CALL (\w+)\(", path.read_text(), re.MULTILINE)
        assert set(defined) <= declared, path.name


def test_listed_extensions_have_their_commands(generator: ModuleType, registry: Any) -> None:
    """Each device command of an extension that the capabilities list is defined: what is listed works."""
    listed = set(re.findall(r"Extension::((?:KHR|EXT)_\w+)", (ICD / "capabilities.cpp").read_text()))
    defined = {
        name for path in ICD.rglob("*.cpp") for name in re.findall(r"VKAPI_CALL (\w+)\(", path.read_text()) if "generated" not in str(path)
    }
    for command in registry.commands.values():
        if not any(extension[3:] in listed for extension in command.extensions):
            continue
        if command.beside and command.beside[3:] not in listed:
            continue
        target = generator.resolved(registry, command).name[2:]
        assert target in defined, f"vk{target} of {command.extensions} has no definition"


def test_documents_name_what_is_left_out() -> None:
    """docs/vulkan.md lists every extension of the registry that the driver does not, and no other."""
    registry = set(re.findall(r'{"VK_((?:KHR|EXT)_\w+)"', (ICD / "generated" / "extensions.hpp").read_text()))
    listed = set(re.findall(r"Extension::((?:KHR|EXT)_\w+)", (ICD / "capabilities.cpp").read_text()))
    text = (ROOT / "docs" / "vulkan.md").read_text().split("## Extensions that are left out")[1].split("\n## ")[0]
    told = re.findall(r"`((?:KHR|EXT)_\w+)`", text)
    assert len(told) == len(set(told)) and listed < registry
    assert set(told) == registry - listed
