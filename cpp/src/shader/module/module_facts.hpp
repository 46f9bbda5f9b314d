// shader/module/module_facts.hpp -- what analyses found out about a module, kept with it: pipelines of the same shaders don't ask twice.
// The disk cache keeps it too (module_record.hpp). In: constants. Out: facts of the module with them.
#pragma once

#include <map>
#include <mutex>

#include "base/memory_budget.hpp"
#include "shader/compiler.hpp"
#include "shader/module/faint_sample.hpp"
#include "shader/spirv/module.hpp"
#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu::shader {

struct ModuleFacts {
  // Of the specialisations seen lately.
  static constexpr size_t kMost = 16;
  ForkMutex mutex;    // of what is below
  ForkMutex parsing;  // of the module that is parsed when it is first wanted
  std::map<Specialization, StageTraits> traits;
  std::map<Specialization, VaryingLayout> varyings;
  std::map<Specialization, ResourceTable> resources;  // of this stage alone, in the order of its uses; `first` is not set
  std::map<Specialization, FaintSamples> faint;
  std::map<Specialization, Reflection> reflections;  // other than the module's own
  bool grown = true;                                 // since it was last written to disk
  MemoryShare memory;                                // of the module, its words and what was parsed of them
};

/// The constants of a specialised stage (spirv/limits.hpp); parses the module first, if need be. The error names the module.
Expected<Constants> specialise(const ShaderModule& module, const Specialization& specialization);

/// What `find` returns for a specialisation, or returned before. Errors are not kept.
template <class T, class Find>
Expected<T> known_or(ModuleFacts& facts, std::map<Specialization, T> ModuleFacts::* table, const Specialization& specialization,
                     Find find) {
  {
    const std::lock_guard lock(facts.mutex);
    if (const auto found = (facts.*table).find(specialization); found != (facts.*table).end()) return found->second;
  }
  Expected<T> made = find();
  if (!made) return made;
  const std::lock_guard lock(facts.mutex);
  if ((facts.*table).size() >= ModuleFacts::kMost) (facts.*table).clear();
  (facts.*table).insert_or_assign(specialization, *made);
  facts.grown = true;
  return made;
}

}  // namespace tilegpu::shader
