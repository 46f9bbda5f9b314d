"""What the Vulkan driver takes from the registry: entry points, extensions, features, properties. Writes cpp/src/icd/generated.

    python scripts/generate_icd.py [--registry build/vulkan-headers/usr/share/vulkan/registry/vk.xml] [--check]

In: vk.xml beside the headers that the build takes (cpp/cmake/FindTilegpuVulkanHeaders.cmake). Out: C++ that is committed, so that a build
needs no Python; ``--check`` only compares (tests/test_icd_generated.py). Commands and structures of Vulkan up to 1.4 and of KHR and EXT
extensions are taken, whether the driver has them or not: what it has is decided in cpp/src/icd/capabilities.cpp, and a command without an
implementation is null.
Source: Vulkan specification, appendix "API Boilerplate"; the registry's own schema.
"""

from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "cpp" / "src" / "icd" / "generated"
DOWNLOADED = ROOT / "build" / "vulkan-headers" / "usr" / "share" / "vulkan" / "registry" / "vk.xml"
REGISTRY = DOWNLOADED if DOWNLOADED.is_file() else Path("/usr/share/vulkan/registry/vk.xml")
VERSIONS = {f"1.{minor}": f"VK_API_VERSION_1_{minor}" for minor in range(5)}
AUTHORS = (
    "VK_KHR_",
    "VK_EXT_",
    "VK_VALVE_mutable_descriptor_type",
    "VK_GOOGLE_decorate_string",
    "VK_GOOGLE_hlsl_functionality1",
    "VK_GOOGLE_user_type",
)
#: Extensions of a platform whose commands the loader hands to the driver; the others have headers of their own.
PLATFORMS = {"xcb", "xlib", "wayland"}
#: Members that mean what a member of another name means in a structure of a later version.
RENAMED = {
    ("VkPhysicalDeviceSubgroupProperties", "supportedStages"): "subgroupSupportedStages",
    ("VkPhysicalDeviceSubgroupProperties", "supportedOperations"): "subgroupSupportedOperations",
    ("VkPhysicalDeviceSubgroupProperties", "quadOperationsInAllStages"): "subgroupQuadOperationsInAllStages",
}
#: Outputs that are arrays of the caller's, and their counts: filled by hand (physical_device.cpp).
BY_HAND = {"copySrcLayoutCount", "pCopySrcLayouts", "copyDstLayoutCount", "pCopyDstLayouts", "layeredApiCount", "pLayeredApis"}


@dataclass
class Command:
    name: str  # vkCmdDraw
    result: str = ""
    parameters: list[str] = field(default_factory=list)  # as in C
    first: str = ""  # type of the first parameter
    alias: str = ""
    version: str = ""
    extensions: list[str] = field(default_factory=list)
    beside: str = ""  # there only where this extension is too


@dataclass
class Structure:
    name: str
    stype: str
    members: list[tuple[str, str, str]]  # type, name, array length


@dataclass
class Registry:
    header: int
    commands: dict[str, Command]
    extensions: list[tuple[str, int, str]]  # name, specification version, "instance" or "device"
    features: list[Structure]
    properties: list[Structure]


def is_vulkan(node: ET.Element) -> bool:
    """Not of Vulkan SC alone, whose definitions stand beside Vulkan's."""
    return "vulkan" in (node.get("api") or "vulkan").split(",")


def text_of(element: ET.Element) -> str:
    return re.sub(r"\s+", " ", "".join(t for e in [element] for t in walk(e))).strip()


def walk(element: ET.Element) -> list[str]:
    parts = [element.text or ""]
    for child in element:
        if child.tag != "comment":
            parts += walk(child)
        parts.append(child.tail or "")
    return parts


def read_commands(root: ET.Element) -> dict[str, Command]:
    commands: dict[str, Command] = {}
    for node in filter(is_vulkan, root.findall("./commands/command")):
        alias = node.get("alias")
        if alias:
            name = node.get("name")
            assert name
            commands[name] = Command(name, alias=alias)
            continue
        proto = node.find("proto")
        assert proto is not None
        name = proto.findtext("name")
        assert name
        command = Command(name, result=proto.findtext("type") or "void")
        for parameter in node.findall("param"):
            if not is_vulkan(parameter):
                continue
            command.parameters.append(text_of(parameter))
            if not command.first:
                command.first = parameter.findtext("type") or ""
        commands[name] = command
    return commands


def mine(extension: ET.Element) -> bool:
    name = extension.get("name") or ""
    supported = (extension.get("supported") or "").split(",")
    platform = extension.get("platform")
    return (
        name.startswith(AUTHORS)
        and "vulkan" in supported
        and (platform is None or platform in PLATFORMS)
        and extension.get("provisional") != "true"
    )


def read(path: Path) -> Registry:
    root = ET.parse(path).getroot()
    commands = read_commands(root)
    types: set[str] = set()
    for feature in root.findall("./feature"):
        number = feature.get("number") or ""
        if number not in VERSIONS or "vulkan" not in (feature.get("api") or "").split(","):
            continue
        for node in feature.findall("./require/command"):
            commands[node.get("name") or ""].version = VERSIONS[number]
        types |= {node.get("name") or "" for node in feature.findall("./require/type")}
    extensions = []
    for extension in root.findall("./extensions/extension"):
        if not mine(extension):
            continue
        name = extension.get("name") or ""
        version = 1
        for node in extension.findall("./require/enum"):
            if (node.get("name") or "").endswith("_SPEC_VERSION"):
                version = int(node.get("value") or 1)
        extensions.append((name, version, extension.get("type") or "device"))
        for require in extension.findall("./require"):
            for node in require.findall("./command"):
                command = commands[node.get("name") or ""]
                command.extensions.append(name)
                depends = require.get("depends") or ""
                if depends.startswith(AUTHORS) and "," not in depends:
                    command.beside = depends
        types |= {node.get("name") or "" for node in extension.findall("./require/type")}
    wanted = {n: c for n, c in commands.items() if c.version or c.extensions}
    for command in list(wanted.values()):  # what an alias stands for
        if command.alias:
            wanted.setdefault(command.alias, commands[command.alias])
    header = 0
    for define in filter(is_vulkan, root.findall("./types/type[@category='define']")):
        if define.findtext("name") == "VK_HEADER_VERSION":
            header = int((define.find("name").tail or "").strip())  # type: ignore[union-attr]
    return Registry(
        header,
        wanted,
        sorted(extensions),
        structures(root, types, "VkPhysicalDeviceFeatures2"),
        structures(root, types, "VkPhysicalDeviceProperties2"),
    )


def structures(root: ET.Element, types: set[str], extended: str) -> list[Structure]:
    found = []
    for node in filter(is_vulkan, root.findall("./types/type[@category='struct']")):
        name = node.get("name") or ""
        if node.get("alias") or name not in types:
            continue
        if extended not in (node.get("structextends") or "").split(","):
            continue
        stype, members = "", []
        for member in filter(is_vulkan, node.findall("member")):
            kind, label = member.findtext("type") or "", member.findtext("name") or ""
            if label == "sType":
                stype = member.get("values") or ""
            elif label != "pNext" and label not in BY_HAND:
                array = member.findtext("enum") or "".join(re.findall(r"\[(\d+)\]", text_of(member)))
                members.append((kind, RENAMED.get((name, label), label), array))
        if members:
            found.append(Structure(name, stype, members))
    return sorted(found, key=lambda s: s.name)


# --- C++

EXTENSION_SET = """\
/// Some of the extensions.
struct ExtensionSet {
  std::array<uint64_t, (static_cast<size_t>(Extension::count) + 63) / 64> bits{};
  constexpr ExtensionSet() = default;
  constexpr ExtensionSet(std::initializer_list<Extension> list) {
    for (const Extension e : list) add(e);
  }
  constexpr void add(Extension e) { bits[static_cast<size_t>(e) / 64] |= uint64_t{1} << static_cast<size_t>(e) % 64; }
  constexpr bool has(Extension e) const { return bits[static_cast<size_t>(e) / 64] >> static_cast<size_t>(e) % 64 & 1; }
  constexpr bool any_of(const ExtensionSet& other) const {
    for (size_t i = 0; i < bits.size(); ++i)
      if (bits[i] & other.bits[i]) return true;
    return false;
  }
};

"""

FEATURE_FUNCTIONS = """\
using MissingFeatures = std::vector<std::string>;

void fill(VkPhysicalDeviceFeatures& out, const Features& have);
/// The structures of a pNext chain that are structures of features; others are left alone.
void fill(void* next, const Features& have);
/// Into `enabled` what is wanted and there, into `missing` the names of what is wanted and not there.
void enable(const VkPhysicalDeviceFeatures& wanted, const Features& have, Features& enabled, MissingFeatures& missing);
void enable(const void* next, const Features& have, Features& enabled, MissingFeatures& missing);

"""

#: Before what is longer than other functions may be.
ONE_SWITCH = "// NOLINTNEXTLINE(readability-function-size): one switch\n"

OUT_CHAIN = """\
  for (auto* base = static_cast<VkBaseOutStructure*>(next); base; base = base->pNext) {
    switch (vk::given(base->sType)) {
"""

TAKE = """\
static void take(VkBool32 wanted, bool have, bool& enabled, const char* name, MissingFeatures& missing) {
  if (!wanted) return;
  enabled = have;
  if (!have) missing.emplace_back(name);
}

"""

ENTRY_POINT = """\
#pragma once

#include <vulkan/vulkan_core.h>

#include "icd/generated/extensions.hpp"

namespace tilegpu::icd {

/// What the first parameter is; `global` commands have none of these.
enum class Level : uint8_t { global, instance, physical_device, device };

struct EntryPoint {
  const char* name;
  Level level;
  uint32_t version;             ///< of Vulkan; 0: of extensions alone
  ExtensionSet extensions;      ///< any of these
  PFN_vkVoidFunction function;  ///< null: not implemented
};

}  // namespace tilegpu::icd
"""


def head(name: str, what: str, registry: Registry) -> str:
    return (
        f"// icd/generated/{name} -- {what}\n//\n"
        f"// Made by scripts/generate_icd.py from the Vulkan registry, header version {registry.header}; not edited by hand.\n"
    )


def resolved(registry: Registry, command: Command) -> Command:
    while command.alias:
        command = registry.commands[command.alias]
    return command


def platform_of(command: Command, registry: Registry) -> str:
    for name in ("Xcb", "Xlib", "Wayland"):
        if name in command.name:
            return name.lower()
    return ""


def command_hpp(registry: Registry) -> str:
    out = [
        head("commands.hpp", "a declaration for each command; those without a definition are null.", registry),
        "#pragma once\n\n#include <vulkan/vulkan_core.h>\n\n#include \"vk/platforms.hpp\"\n\n",
        "#define TILEGPU_COMMAND __attribute__((weak, visibility(\"hidden\")))\n\nnamespace tilegpu::icd {\n\n",
    ]
    for name, command in sorted(registry.commands.items()):
        if command.alias:
            continue
        out.append(f"TILEGPU_COMMAND {command.result} VKAPI_CALL {name[2:]}({', '.join(command.parameters)});\n")
    out.append("\n}  // namespace tilegpu::icd\n")
    return "".join(out)


def level_of(command: Command) -> str:
    if command.first == "VkPhysicalDevice":
        return "physical_device"
    if command.name in ("vkCreateInstance", "vkEnumerateInstanceExtensionProperties", "vkEnumerateInstanceLayerProperties",
                        "vkEnumerateInstanceVersion", "vkGetInstanceProcAddr"):  # fmt: skip
        return "global"
    return "instance" if command.first == "VkInstance" else "device"


def short(extension: str) -> str:
    return extension[3:]


def entry_points_inc(registry: Registry) -> str:
    rows = []
    for name, command in sorted(registry.commands.items()):
        target = resolved(registry, command)
        version = command.version or "0"
        extensions = ", ".join(f"Extension::{short(e)}" for e in sorted(set(command.extensions)))
        rows.append(f'row<&{target.name[2:]}>("{name}", Level::{level_of(target)}, {version}, {{{extensions}}}),\n')
    return head("entry_points.inc", "rows of icd/entry_points.cpp: the commands by name, and what has them.", registry) + "".join(rows)


def extensions_hpp(registry: Registry) -> str:
    names = [e[0] for e in registry.extensions]
    rows = "".join(
        f'    {{"{n}", {v}, {"true" if kind == "instance" else "false"}}},\n' for n, v, kind in registry.extensions
    )
    return (
        head("extensions.hpp", "the extensions that the registry knows, by name.", registry)
        + "#pragma once\n\n#include <array>\n#include <cstdint>\n#include <initializer_list>\n\nnamespace tilegpu::icd {\n\n"
        + "enum class Extension : uint16_t {\n"
        + "".join(f"  {short(n)},\n" for n in names)
        + "  count\n};\n\n"
        + "struct ExtensionName {\n  const char* name;\n  uint32_t spec_version;\n  bool instance;\n};\n\n"
        + "inline constexpr ExtensionName kExtensionNames[] = {\n"
        + rows
        + "};\n\n"
        + EXTENSION_SET
        + "}  // namespace tilegpu::icd\n"
    )


def flat(list_of: list[Structure]) -> list[tuple[str, str, str]]:
    """The members of all structures; equal names are one member."""
    members: dict[str, tuple[str, str, str]] = {}
    for structure in list_of:
        for kind, name, array in structure.members:
            before = members.setdefault(name, (kind, name, array))
            if before != (kind, name, array):
                raise SystemExit(f"{structure.name}::{name} is {kind} here and {before[0]} elsewhere; add it to RENAMED")
    return sorted(members.values(), key=lambda m: m[1])


def features10(root: ET.Element) -> list[str]:
    node = root.find("./types/type[@name='VkPhysicalDeviceFeatures']")
    assert node is not None
    return [m.findtext("name") or "" for m in node.findall("member")]


def features_hpp(registry: Registry, core: list[str]) -> str:
    names = core + [m[1] for m in flat(registry.features) if m[1] not in core]
    return (
        head("features.hpp", "every feature of the registry as one member.", registry)
        + "#pragma once\n\n#include <string>\n#include <vector>\n\n#include <vulkan/vulkan_core.h>\n\n"
        + "namespace tilegpu::icd {\n\nstruct Features {\n"
        + "".join(f"  bool {n} = false;\n" for n in names)
        + "};\n\n"
        + FEATURE_FUNCTIONS
        + "}  // namespace tilegpu::icd\n"
    )


def features_cpp(registry: Registry, core: list[str]) -> str:
    out = [
        head("features.cpp", "Vulkan's structures of features: filled, and compared with what is wanted.", registry),
        '#include "icd/generated/features.hpp"\n\n#include "vk/given.hpp"\n\nnamespace tilegpu::icd {\n\n',
        TAKE,
        "void fill(VkPhysicalDeviceFeatures& out, const Features& have) {\n",
    ]
    out += [f"  out.{n} = have.{n};\n" for n in core]
    out.append(
        "}\n\nvoid enable(const VkPhysicalDeviceFeatures& wanted, const Features& have, Features& enabled, MissingFeatures& missing) {\n"
    )
    out += [f'  take(wanted.{n}, have.{n}, enabled.{n}, "{n}", missing);\n' for n in core]
    out.append("}\n\n" + ONE_SWITCH + "void fill(void* next, const Features& have) {\n" + OUT_CHAIN)
    for s in registry.features:
        out.append(f"      case {s.stype}: {{\n        auto* out = reinterpret_cast<{s.name}*>(base);\n")
        out += [f"        out->{n} = have.{n};\n" for _, n, _ in s.members]
        out.append("        break;\n      }\n")
    out.append("      default:\n        break;\n    }\n  }\n}\n\n")
    out.append(
        ONE_SWITCH + "void enable(const void* next, const Features& have, Features& enabled, MissingFeatures& missing) {\n"
        "  for (auto* base = static_cast<const VkBaseInStructure*>(next); base; base = base->pNext) {\n"
        "    switch (vk::given(base->sType)) {\n"
    )
    for s in registry.features:
        out.append(f"      case {s.stype}: {{\n        auto* wanted = reinterpret_cast<const {s.name}*>(base);\n")
        out += [f'        take(wanted->{n}, have.{n}, enabled.{n}, "{n}", missing);\n' for _, n, _ in s.members]
        out.append("        break;\n      }\n")
    out.append("      default:\n        break;\n    }\n  }\n}\n\n}  // namespace tilegpu::icd\n")
    return "".join(out)


def properties_hpp(registry: Registry) -> str:
    members = "".join(
        f"  {kind} {name}{f'[{array}]' if array else ''} = {{}};\n" for kind, name, array in flat(registry.properties)
    )
    return (
        head("properties.hpp", "every property of the registry beyond VkPhysicalDeviceProperties as one member.", registry)
        + "#pragma once\n\n#include <vulkan/vulkan_core.h>\n\nnamespace tilegpu::icd {\n\nstruct Properties {\n"
        + members
        + "};\n\n/// The structures of a pNext chain that are structures of properties; others are left alone.\n"
        + "void fill(void* next, const Properties& have);\n\n}  // namespace tilegpu::icd\n"
    )


def properties_cpp(registry: Registry) -> str:
    out = [
        head("properties.cpp", "Vulkan's structures of properties, filled.", registry),
        '#include "icd/generated/properties.hpp"\n\n#include <cstring>\n\n#include "vk/given.hpp"\n\nnamespace tilegpu::icd {\n\n',
        ONE_SWITCH + "void fill(void* next, const Properties& have) {\n" + OUT_CHAIN,
    ]
    original = {(s, new): old for (s, old), new in RENAMED.items()}
    for s in registry.properties:
        out.append(f"      case {s.stype}: {{\n        auto* out = reinterpret_cast<{s.name}*>(base);\n")
        for _, n, array in s.members:
            field_name = original.get((s.name, n), n)
            if array:
                out.append(f"        std::memcpy(out->{field_name}, have.{n}, sizeof out->{field_name});\n")
            else:
                out.append(f"        out->{field_name} = have.{n};\n")
        out.append("        break;\n      }\n")
    out.append("      default:\n        break;\n    }\n  }\n}\n\n}  // namespace tilegpu::icd\n")
    return "".join(out)


def generate(path: Path) -> dict[str, str]:
    registry = read(path)
    core = features10(ET.parse(path).getroot())
    return {
        "commands.hpp": command_hpp(registry),
        "entry_points.hpp": head("entry_points.hpp", "what is known of a command.", registry) + ENTRY_POINT,
        "entry_points.inc": entry_points_inc(registry),
        "extensions.hpp": extensions_hpp(registry),
        "features.hpp": features_hpp(registry, core),
        "features.cpp": features_cpp(registry, core),
        "properties.hpp": properties_hpp(registry),
        "properties.cpp": properties_cpp(registry),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--registry", type=Path, default=REGISTRY)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is not what would be written")
    arguments = parser.parse_args()
    stale = 0
    for name, text in generate(arguments.registry).items():
        path = TARGET / name
        if path.exists() and path.read_text() == text:
            continue
        stale = 1
        if arguments.check:
            print(f"{path.relative_to(ROOT)} is not what {arguments.registry} makes; run scripts/generate_icd.py")
        else:
            TARGET.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return stale if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
