// shader/spirv/workgroup.cpp -- see workgroup.hpp.
#include "shader/spirv/workgroup.hpp"

#include <algorithm>

#include "shader/spirv/interface.hpp"

namespace tilegpu::shader {

WorkgroupFacts workgroup_of(const Module& m, const Constants& constants) {
  WorkgroupFacts facts;
  for (const auto& [mode, values] : m.entry.modes) {
    if (values.size() < 3) continue;
    if (mode == spv::ExecutionModeLocalSize) std::copy_n(values.begin(), 3, facts.size.begin());
    if (mode == spv::ExecutionModeLocalSizeId)
      for (size_t k = 0; k < 3; ++k) facts.size[k] = constants.word(values[k]);
  }
  for (uint32_t id : m.constants) {
    const Constant* size = m.decoration(id).builtin == spv::BuiltInWorkgroupSize ? constants.find(id) : nullptr;
    if (size && size->words.size() == 3)
      for (size_t k = 0; k < 3; ++k) facts.size[k] = static_cast<uint32_t>(size->words[k]);
  }
  constexpr uint64_t kLine_B = 64;
  for (uint32_t id : used_variables(m, spv::StorageClassWorkgroup)) {
    const uint32_t scalar_B = constants.size(m.pointee(id)).widest_B;
    facts.shared.push_back({id, facts.shared_B, scalar_B});
    facts.shared_B += (scalar_count(constants, m.pointee(id)) * scalar_B + kLine_B - 1) / kLine_B * kLine_B;
  }
  return facts;
}

bool waits_for_workgroup(const Module& m, const Constants& constants, const Instruction& i) {
  assert(i.op == spv::OpControlBarrier);
  return constants.word(m.operand(i, 0)) != spv::ScopeSubgroup && constants.word(m.operand(i, 0)) != spv::ScopeInvocation;
}

}  // namespace tilegpu::shader
