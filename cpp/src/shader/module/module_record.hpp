// shader/module/module_record.hpp -- what the disk cache keeps of a module beside its words: the reflection, and what analyses found out.
//
// In: a module that was found valid. Out: bytes; and from these and the same words the module again, without validation, parsing and
// analysis, which take longer than all the rest of a pipeline whose code is on disk. The bytes are those of this build alone: the key
// says so (Jit::load_bytes), and every read is bounds-checked all the same.
#pragma once

#include <string>

#include "shader/jit/jit.hpp"
#include "shader/module/module_facts.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

CodeKey record_key(const std::vector<uint32_t>& words, const std::string& entry_point);

std::string write_record(const Reflection& reflection, ModuleFacts& facts);
/// False, with both in any state, where the bytes are no record.
bool read_record(const std::string& bytes, Reflection& reflection, ModuleFacts& facts);

/// To disk, where pipelines found out something since it was last kept.
void keep_record(const Jit& jit, const ShaderModule& module);

}  // namespace tilegpu::shader
