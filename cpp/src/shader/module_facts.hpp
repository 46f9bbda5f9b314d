// shader/module_facts.hpp -- what analyses found out about a module, kept with it: pipelines of the same shaders don't ask twice.
#pragma once

#include <map>
#include <mutex>

#include "shader/compiler.hpp"

namespace tilegpu::shader {

struct ModuleFacts {
  using Specialization = std::vector<std::pair<uint32_t, uint32_t>>;
  // Of the specialisations seen lately.
  static constexpr size_t kMost = 16;
  std::mutex mutex;
  std::map<Specialization, StageTraits> traits;
  std::map<Specialization, VaryingLayout> varyings;
};

/// What `find` returns for a specialisation, or returned before. Errors are not kept.
template <class T, class Find>
Expected<T> known_or(ModuleFacts& facts, std::map<ModuleFacts::Specialization, T> ModuleFacts::* table,
                     const ModuleFacts::Specialization& specialization, Find find) {
  {
    std::lock_guard lock(facts.mutex);
    if (const auto found = (facts.*table).find(specialization); found != (facts.*table).end()) return found->second;
  }
  Expected<T> made = find();
  if (!made) return made;
  std::lock_guard lock(facts.mutex);
  if ((facts.*table).size() >= ModuleFacts::kMost) (facts.*table).clear();
  (facts.*table).insert_or_assign(specialization, *made);
  return made;
}

}  // namespace tilegpu::shader
