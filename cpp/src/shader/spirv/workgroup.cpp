// shader/spirv/workgroup.cpp -- see workgroup.hpp.
#include "shader/spirv/workgroup.hpp"

#include <algorithm>

#include "shader/spirv/interface.hpp"
#include "shader/spirv/limits.hpp"

namespace tilegpu::shader {

static constexpr uint64_t kLine_B = 64;
static constexpr uint32_t kWord_B = 4;  // interfaces are made of these; scalars of 16 bits have one each

DerivativeGroup derivative_group(const Module& m) {
  if (m.entry.has_mode(spv::ExecutionModeDerivativeGroupQuadsNV)) return DerivativeGroup::quads;
  return m.entry.has_mode(spv::ExecutionModeDerivativeGroupLinearNV) ? DerivativeGroup::linear : DerivativeGroup::none;
}

// VUID-StandaloneSpirv-DerivativeGroupQuadsKHR-10151, VUID-StandaloneSpirv-DerivativeGroupLinearKHR-10152.
std::string check_derivative_group(const WorkgroupFacts& facts) {
  const auto& size = facts.size;
  const std::string text = std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
  if (facts.derivatives == DerivativeGroup::quads && (size[0] % 2 || size[1] % 2))
    return "its workgroups have " + text + " invocations, and DerivativeGroupQuads wants multiples of 2 in x and y";
  if (facts.derivatives == DerivativeGroup::linear && facts.invocations() % 4)
    return "its workgroups have " + text + " invocations, and DerivativeGroupLinear wants a multiple of 4 in all";
  return {};
}

WorkgroupFacts workgroup_of(const Module& m, const Constants& constants) {
  WorkgroupFacts facts;
  facts.derivatives = derivative_group(m);
  for (const auto& [mode, values] : m.entry.modes) {
    if (mode == spv::ExecutionModeOutputVertices && !values.empty() && m.entry.model == spv::ExecutionModelTessellationControl)
      facts.size[0] = values[0];
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
  const auto initialise = [&](const SharedVariable& v) {
    const Instruction& declared = *m.find(v.id);
    const Constant* begins = declared.count > 1 ? constants.find(m.operand(declared, 1)) : nullptr;
    if (!begins) return;
    for (size_t k = 0; k < begins->words.size(); ++k)
      if (begins->words[k]) facts.initial.push_back({v.offset_B + k * v.scalar_B, v.scalar_B, begins->words[k]});
  };
  const auto place = [&](uint32_t id, uint64_t& end_B) {
    const uint32_t least_B = m.storage_of(id) != spv::StorageClassWorkgroup ? kWord_B : m.variable_pointers ? facts.scalar_of_all_B : 0;
    const uint32_t scalar_B = std::max(constants.size(m.pointee(id)).widest_B, least_B);
    facts.shared.push_back({id, facts.shared_B + facts.inputs_B, scalar_B});
    initialise(facts.shared.back());
    const uint64_t scalars = is_per_vertex(m, id) ? scalar_count(constants, m.type(m.pointee(id)).element) * vertex_count(m, constants, id)
                                                  : scalar_count(constants, m.pointee(id));
    end_B += (scalars * scalar_B + kLine_B - 1) / kLine_B * kLine_B;
  };
  if (m.variable_pointers)
    for (uint32_t id : used_variables(m, spv::StorageClassWorkgroup))
      facts.scalar_of_all_B = std::max(facts.scalar_of_all_B, constants.size(m.pointee(id)).widest_B);
  const auto blocks = used_variables(m, spv::StorageClassWorkgroup);
  facts.has_layout = std::any_of(blocks.begin(), blocks.end(), [&](uint32_t id) { return m.decoration(m.pointee(id)).block; });
  uint64_t blocks_B = 0;
  for (uint32_t id : blocks) {
    if (!facts.has_layout) {
      place(id, facts.shared_B);
      continue;
    }
    facts.shared.push_back({id, 0, constants.size(m.pointee(id)).widest_B});
    blocks_B = std::max(blocks_B, block_size_B(m, constants, m.pointee(id)));
  }
  facts.shared_B += (blocks_B + kLine_B - 1) / kLine_B * kLine_B;
  const bool mesh = m.entry.model == spv::ExecutionModelMeshEXT;
  if (mesh)
    for (uint32_t id : used_variables(m, spv::StorageClassOutput)) place(id, facts.shared_B);
  for (uint32_t id : used_variables(m, spv::StorageClassTaskPayloadWorkgroupEXT)) {
    facts.payload = id;
    place(id, mesh ? facts.inputs_B : facts.shared_B);
  }
  if (m.entry.model != spv::ExecutionModelTessellationControl) return facts;
  for (uint32_t id : used_variables(m, spv::StorageClassOutput)) place(id, facts.shared_B);
  for (uint32_t id : used_variables(m, spv::StorageClassInput))
    if (is_per_vertex(m, id)) place(id, facts.inputs_B);
  return facts;
}

PlacedInputs placed_inputs(const Module& m, const Constants& constants) {
  PlacedInputs placed;
  for (uint32_t id : used_variables(m, spv::StorageClassInput)) {
    if (!is_per_vertex(m, id) && !is_of_patch(m, id)) continue;
    const uint32_t scalar_B = std::max(constants.size(m.pointee(id)).widest_B, kWord_B);
    placed.variables.push_back({id, placed.size_B, scalar_B});
    placed.size_B += (scalar_count(constants, m.pointee(id)) * scalar_B + kLine_B - 1) / kLine_B * kLine_B;
  }
  return placed;
}

bool waits_for_workgroup(const Module& m, const Constants& constants, const Instruction& i) {
  assert(i.op == spv::OpControlBarrier);
  return constants.word(m.operand(i, 0)) != spv::ScopeSubgroup && constants.word(m.operand(i, 0)) != spv::ScopeInvocation;
}

}  // namespace tilegpu::shader
