// shader/spirv/limits.hpp -- what a specialised stage may ask for, said once, before anything is allocated or compiled.
//
// In: a Module and its constants with a specialisation applied. Out: Ok, or an error that names the object, its value, what is allowed and
// the fix. Everything later (tables, batches, memory of lanes, clamps of indices) takes its figures from the same Constants.
// Source: SPIR-V specification 1.6, OpTypeArray ("Length ... must be at least 1"), 2.17 "Universal Limits"; Vulkan specification,
// "Limits", "Location and Component Assignment", "DescriptorSet and Binding Assignment".
#pragma once

#include "shader/spirv/interface.hpp"

namespace tilegpu::shader {

/// Scalars of one value, parts of one variable: more is no program but an attack on the compiler's memory.
inline constexpr uint64_t kMaxValueParts = 65536;
/// Types within types: walks through them are recursive.
inline constexpr uint32_t kMaxTypeDepth = 128;
/// Of one array.
inline constexpr uint32_t kMaxDescriptors = kMaxDescriptorsOfSet;
/// Locations go from 0 to this one less; beyond are those of built-ins.
inline constexpr uint32_t kMaxLocations = kPositionLocation;

/// The constants of a specialised stage, within limits. Every analysis and every compile begins here.
Expected<Constants> specialise(const Module& module, const Specialization& specialization);
Status check_limits(const Module& module, const Constants& constants);

/// Elements of gl_ClipDistance and gl_CullDistance: of the vertex stage's outputs, of the fragment stage's inputs. All elements of an
/// array that is used at all.
struct DistanceCounts {
  uint32_t clip = 0, cull = 0;
};
DistanceCounts count_distances(const Module& module, const Constants& constants);

/// Descriptors of a module-scope resource, or kUnbounded; and the type of one of them.
uint32_t descriptor_count(const Module& module, const Constants& constants, uint32_t variable);
uint32_t descriptor_type(const Module& module, uint32_t variable);

/// Bytes of a block; 0: a run-time array ends it.
uint64_t block_size_B(const Module& module, const Constants& constants, uint32_t type, bool row_major = false,
                      uint32_t matrix_stride_B = 0);

}  // namespace tilegpu::shader
