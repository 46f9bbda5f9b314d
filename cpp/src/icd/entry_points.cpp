// icd/entry_points.cpp -- look-up of commands and extensions by name.
//
// In: names as programs write them. Out: rows of the generated tables. Source: Vulkan specification, "Command Function Pointers".
#include "icd/entry_points.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>
#include <string_view>

#include "icd/generated/commands.hpp"
#include "icd/guard.hpp"

namespace tilegpu::icd {
namespace {

/// A command that is not implemented is a null, weak symbol.
template <auto command>
EntryPoint row(const char* name, Level level, uint32_t version, ExtensionSet extensions) {
  return {name, level, version, extensions, command ? reinterpret_cast<PFN_vkVoidFunction>(&Guarded<command>::call) : nullptr};
}

/// By name, in order.
std::span<const EntryPoint> entry_points() {
  static const EntryPoint rows[] = {
#include "icd/generated/entry_points.inc"
  };
  return rows;
}

}  // namespace

Extension find_extension(const char* name) {
  for (size_t i = 0; i < std::size(kExtensionNames); ++i)
    if (std::strcmp(kExtensionNames[i].name, name) == 0) return static_cast<Extension>(i);
  return Extension::count;
}

const EntryPoint* find_entry_point(const char* name) {
  const auto rows = entry_points();
  assert(
      std::is_sorted(rows.begin(), rows.end(), [](const EntryPoint& a, const EntryPoint& b) { return std::strcmp(a.name, b.name) < 0; }));
  const auto found = std::lower_bound(rows.begin(), rows.end(), std::string_view(name),
                                      [](const EntryPoint& row, std::string_view wanted) { return row.name < wanted; });
  return found != rows.end() && std::strcmp(found->name, name) == 0 ? &*found : nullptr;
}

}  // namespace tilegpu::icd
