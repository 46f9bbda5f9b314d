// pipeline/coming_code.cpp -- see coming_code.hpp.
#include "pipeline/coming_code.hpp"

#include "shader/jit/jit.hpp"

namespace tilegpu::pipeline {

Status finish(shader::Jit& jit, const std::vector<const ComingCode*>& coming) {
  std::vector<const shader::CodeSlot*> slots;
  for (const ComingCode* code : coming) {
    assert(code);
    for (const ComingCode::Function& function : code->functions) slots.push_back(function.slot);
  }
  jit.help(slots);
  for (const ComingCode* code : coming)
    for (const ComingCode::Function& function : code->functions)
      if (Status made = jit.finish(function.slot); !made)
        return Error{made.error().code, "pipeline '" + code->label + "': " + function.what + ": " + made.error().message};
  return Ok{};
}

}  // namespace tilegpu::pipeline
