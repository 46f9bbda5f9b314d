// shader/spirv/workgroup.hpp -- what a specialised compute shader says of its workgroups: their size, and where shared variables lie.
//
// In: a Module with a GLCompute, TaskEXT, MeshEXT or TessellationControl entry point, its constants. Out: WorkgroupFacts. Source: SPIR-V
// specification 1.6, "Execution Mode" (LocalSize, LocalSizeId), "BuiltIn" (WorkgroupSize, which goes before both); Vulkan specification,
// "Compute Shaders", "Shared Memory".
#pragma once

#include <array>

#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// Invocations of a subgroup, whatever the number of lanes: those of a workgroup in the order of LocalInvocationIndex, or quad by quad
/// (DerivativeGroup::quads).
inline constexpr uint32_t kSubgroupSize = 4;

/// Which invocations of a workgroup are the pixels of a quad (VK_KHR_compute_shader_derivatives): four that follow each other, or two rows
/// of two by LocalInvocationId. none: derivatives are not there.
enum class DerivativeGroup : uint8_t { none, linear, quads };
DerivativeGroup derivative_group(const Module& module);

struct SharedVariable {
  uint32_t id = 0;
  uint64_t offset_B = 0;
  uint32_t scalar_B = 4;  // from each scalar to the next: as large as its widest; of a block: nothing, as it has a layout
};

/// What a scalar of the shared memory begins with, where that is not 0.
struct InitialScalar {
  uint64_t offset_B = 0;
  uint32_t size_B = 4;
  uint64_t bits = 0;
};

struct WorkgroupFacts {
  std::array<uint32_t, 3> size = {1, 1, 1};  // invocations in x, y, z
  /// Variables of the Workgroup storage class that reachable code names: scalar after scalar, each variable in cache lines of its own. Of
  /// tessellation control shaders: outputs, then inputs of several vertices. Of mesh shaders: outputs, then the payload of the task shader;
  /// of task shaders: their payload.
  std::vector<SharedVariable> shared;
  uint64_t shared_B = 0;               // zeros when a workgroup begins, but for
  std::vector<InitialScalar> initial;  // initializers of outputs
  uint64_t inputs_B = 0;               // behind them: filled by the caller
  /// VK_KHR_workgroup_memory_explicit_layout: variables of the Workgroup class are blocks, which begin at one place, and lie as blocks of
  /// buffers do.
  bool has_layout = false;
  DerivativeGroup derivatives = DerivativeGroup::none;
  uint32_t payload = 0;  // the variable of the TaskPayloadWorkgroupEXT class; 0: none

  uint64_t invocations() const { return uint64_t{size[0]} * size[1] * size[2]; }
  uint32_t scalar_of_all_B = 4;  // where variable pointers may be to any of them: of each
  /// Of a shared variable; 0: of what a variable pointer is to.
  uint32_t scalar_B(uint32_t id) const { return find(id) ? find(id)->scalar_B : scalar_of_all_B; }
  /// Null: no shared variable.
  const SharedVariable* find(uint32_t id) const {
    for (const SharedVariable& v : shared)
      if (v.id == id) return &v;
    return nullptr;
  }
};

WorkgroupFacts workgroup_of(const Module& module, const Constants& constants);

/// Sides of the workgroup that its derivative group does not divide: what is wrong with them; "": nothing.
std::string check_derivative_group(const WorkgroupFacts& facts);

/// Inputs of several vertices, or of a patch, in memory of their own: tessellation evaluation and geometry shaders. The end of the last
/// one.
struct PlacedInputs {
  std::vector<SharedVariable> variables;
  uint64_t size_B = 0;
};
PlacedInputs placed_inputs(const Module& module, const Constants& constants);

/// Does a barrier make invocations of the workgroup wait for one another? Not where it is for a subgroup, which runs in step.
bool waits_for_workgroup(const Module& module, const Constants& constants, const Instruction& barrier);

}  // namespace tilegpu::shader
