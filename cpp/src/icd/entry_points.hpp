// icd/entry_points.hpp -- the driver's commands and extensions by name.
// In: a name. Out: an address.
// Source: Vulkan specification, "Command Function Pointers"; the rows are made from the registry (generated/entry_points.inc).
#pragma once

#include "icd/generated/entry_points.hpp"

namespace tilegpu::icd {

/// Extension::count: not known.
Extension find_extension(const char* name);

/// Null: not known.
const EntryPoint* find_entry_point(const char* name);

}  // namespace tilegpu::icd
