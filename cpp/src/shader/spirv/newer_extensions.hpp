// shader/spirv/newer_extensions.hpp -- extensions of SPIR-V that the headers and the validator of SPIRV-Tools 2023.1 don't know: numbers,
// names, operands, and what the validator is shown in place of them.
//
// SPV_KHR_maximal_reconvergence, SPV_KHR_quad_control, SPV_EXT_replicated_composites, SPV_KHR_relaxed_extended_instruction,
// SPV_KHR_float_controls2. In: words; a Module. Out: words that the validator can judge; an error about what it was not shown, or nothing.
// Source: those extensions' specifications.
#pragma once

#include <string>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

inline constexpr auto kOpExtInstWithForwardRefs = static_cast<spv::Op>(4433);
inline constexpr auto kOpConstantCompositeReplicate = static_cast<spv::Op>(4461);
inline constexpr auto kOpSpecConstantCompositeReplicate = static_cast<spv::Op>(4462);
inline constexpr auto kOpCompositeConstructReplicate = static_cast<spv::Op>(4463);
inline constexpr auto kOpGroupNonUniformQuadAll = static_cast<spv::Op>(5110);
inline constexpr auto kOpGroupNonUniformQuadAny = static_cast<spv::Op>(5111);

inline constexpr auto kCapabilityQuadControl = static_cast<spv::Capability>(5087);
inline constexpr auto kCapabilityReplicatedComposites = static_cast<spv::Capability>(6024);
inline constexpr auto kCapabilityFloatControls2 = static_cast<spv::Capability>(6029);

inline constexpr auto kExecutionModeQuadDerivatives = static_cast<spv::ExecutionMode>(5088);
inline constexpr auto kExecutionModeRequireFullQuads = static_cast<spv::ExecutionMode>(5089);
inline constexpr auto kExecutionModeMaximallyReconverges = static_cast<spv::ExecutionMode>(6023);
inline constexpr auto kExecutionModeFPFastMathDefault = static_cast<spv::ExecutionMode>(6028);

inline bool is_quad_vote(spv::Op op) { return op == kOpGroupNonUniformQuadAll || op == kOpGroupNonUniformQuadAny; }
inline bool is_replicated_constant(spv::Op op) { return op == kOpConstantCompositeReplicate || op == kOpSpecConstantCompositeReplicate; }

/// Of the module's declarations.
inline bool is_constant(spv::Op op) {
  return (op >= spv::OpConstantTrue && op <= spv::OpSpecConstantOp && op != spv::OpConstantSampler) || is_replicated_constant(op);
}

/// Has an instruction a result, and a type of it? Of these extensions' and all others.
void result_and_type(spv::Op op, bool& has_result, bool& has_type);
/// "GroupNonUniformQuadAllKHR"; null: none of these.
const char* newer_name(spv::Op op);

/// Whether the instruction may be rounded together with another one.
bool may_contract(const Module& module, const Instruction& instruction);

/// The words without what SPIRV-Tools can't read, or with what it takes for the same: an instruction of the same types and operands for
/// each that computes; modes, capabilities and what is for debuggers alone are left out. What that hides, check_newer looks at. Words of
/// modules that declare none of these extensions stay.
std::vector<uint32_t> without_newer(const std::vector<uint32_t>& words);
/// Empty, or what is wrong with an instruction or a mode that the validator was not shown.
std::string check_newer(const Module& module);

}  // namespace tilegpu::shader
