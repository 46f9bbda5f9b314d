// shader/spirv/cooperative_matrix.hpp -- what SPV_KHR_cooperative_matrix adds to SPIR-V, which the headers and the validator of SPIRV-Tools
// 2023.1 don't know: numbers, names, operands; what of it is offered.
//
// In: words; a Module with its constants. Out: words that the validator can judge; an error that names what is not offered, or nothing.
// Source: SPV_KHR_cooperative_matrix, SPV_NV_cooperative_matrix; Vulkan specification, "Cooperative Matrices".
#pragma once

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

inline constexpr auto kOpTypeCooperativeMatrix = static_cast<spv::Op>(4456);
inline constexpr auto kOpCooperativeMatrixLoad = static_cast<spv::Op>(4457);
inline constexpr auto kOpCooperativeMatrixStore = static_cast<spv::Op>(4458);
inline constexpr auto kOpCooperativeMatrixMulAdd = static_cast<spv::Op>(4459);
inline constexpr auto kOpCooperativeMatrixLength = static_cast<spv::Op>(4460);
inline constexpr auto kCapabilityCooperativeMatrix = static_cast<spv::Capability>(6022);

/// Operands of OpCooperativeMatrixMulAddKHR: bits of the word behind its matrices.
inline constexpr uint32_t kSignedA = 1, kSignedB = 2, kSignedC = 4, kSignedResult = 8, kSaturates = 16;
inline constexpr uint32_t kRowMajor = 0, kColumnMajor = 1;

inline bool is_cooperative(spv::Op op) { return op >= kOpTypeCooperativeMatrix && op <= kOpCooperativeMatrixLength; }

/// A value, or a matrix, is read from memory.
inline bool is_load(spv::Op op) { return op == spv::OpLoad || op == kOpCooperativeMatrixLoad; }

/// Has an instruction a result, and a type of it? Of this extension's and of those that the headers know.
void known_result_and_type(spv::Op op, bool& has_result, bool& has_type);

/// "CooperativeMatrixLoadKHR"; null: none of these.
const char* cooperative_name(spv::Op op);

struct MatrixShape {
  uint32_t rows = 0, columns = 0;
  uint32_t components() const { return rows * columns / 4; }  // of each invocation
};
MatrixShape shape_of(const Module& module, const Constants& constants, uint32_t type);

/// The words with the instructions of the extension as those of NVIDIA's that came before it: SPIRV-Tools 2023.1 knows only these. What
/// they don't say (a matrix's use, its layout as a number, signedness) check_cooperative looks at. Words of other modules stay.
std::vector<uint32_t> for_validation(const std::vector<uint32_t>& words);

/// Types, products and pointers of code that runs are offered: all that the validator can't see.
Status check_cooperative(const Module& module, const Constants& constants);

}  // namespace tilegpu::shader
