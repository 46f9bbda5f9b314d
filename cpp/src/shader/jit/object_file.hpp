// shader/jit/object_file.hpp -- what tilegpu reads of the ELF objects that LLVM makes. In: an object. Out: its sections and symbols.
#pragma once

#include <cstdint>
#include <string>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// Name of the first undefined symbol that generated code may not use; "" when there is none: it may call what core_functions.hpp has.
/// Fails where the file is none of ours.
Expected<std::string> foreign_symbol(const std::string& object);
/// TILEGPU_PERF_MAP=1: names and places of generated functions where `perf report` looks for them, /tmp/perf-PID.map. `object` has passed
/// foreign_symbol.
void add_to_perf_map(const std::string& object, uint64_t address, const std::string& name, const char* kind);

}  // namespace tilegpu::shader
