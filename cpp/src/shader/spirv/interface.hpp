// shader/spirv/interface.hpp -- where the scalars of input and output variables live: locations, components, built-ins.
//
// In: a module-scope variable. Out: one entry for each scalar of its flattened type, two for those of 64 bits; used by analysis and both
// entry points.
// Source: Vulkan specification, "Shader Input and Output Interfaces", "Location Assignment".
#pragma once

#include "shader/compiler.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu::shader {

/// What a scalar is. Halves are computed with as 32-bit floats and rounded after each operation.
enum class Base : uint8_t { f32, i32, boolean, f16, f64, i8, i16, i64 };
Base base_of(const TypeInfo& scalar);
/// As it travels between stages, in words: halves as floats of the same value, integers of 16 bits in the lower half.
Base word_base(Base base);
/// In buffers and shared memory.
uint32_t size_B(Base base);
inline bool is_float(Base base) { return base == Base::f32 || base == Base::f16 || base == Base::f64; }

struct InterfaceScalar {
  uint32_t location = kNone, component = 0, index = 0;  // location kNone: a built-in
  uint32_t builtin = kNone;                             // spv::BuiltIn
  uint32_t element = 0;                                 // built-in: index of the scalar in it
  Base base = Base::f32;                                // of the word
  bool is_signed = false, narrow = false;               // narrow: the scalar has 16 bits
  bool went_on = false;                                 // of a vector of 64 bits, in the second of its locations
  Interpolation interpolation = Interpolation::smooth;
  bool centroid = false, sample = false;
  uint32_t corner = 0;  // 1 to 3: of the primitive's vertex 0 to 2 (PerVertexKHR)
};

/// Whether the variable's outermost array counts the vertices of a primitive or a patch, or the vertices or primitives that a mesh shader
/// makes, and takes no locations.
bool is_per_vertex(const Module& m, uint32_t variable);
/// Of how many vertices such a variable has elements: as many as its array, and of a control shader's outputs one for each vertex that it
/// puts out, whatever its array says.
uint32_t vertex_count(const Module& m, const Constants& constants, uint32_t variable);
/// An input of a fragment shader whose outermost array counts the primitive's vertices (PerVertexKHR), and takes no locations.
bool is_of_corners(const Module& m, uint32_t variable);
/// One for all vertices of a patch.
bool is_of_patch(const Module& m, uint32_t variable);
/// An output of a mesh shader for each primitive: decorated so, or a built-in that is.
bool is_per_primitive(const Module& m, uint32_t variable);
/// Of one vertex (or primitive), where there are several.
std::vector<InterfaceScalar> interface_of(const Module& m, const Constants& constants, uint32_t variable);
/// Which of these reachable code names; all of them where it is indexed dynamically. Of several vertices: of any.
std::vector<bool> used_scalars(const Module& m, const Constants& constants, uint32_t variable);
/// Of each of the interface's words: whether its scalar has 64 bits.
std::vector<bool> scalar_widths(const Module& m, const Constants& constants, uint32_t variable);
/// Where words of a built-in travel between stages, by element; kNone: it stays in its stage.
uint32_t builtin_location(uint32_t builtin);
/// Built-ins that lie among a fragment shader's varyings: distances and barycentrics. It finds the others by itself.
bool is_interpolated(uint32_t builtin);
/// Variables of a storage class that reachable code names.
std::vector<uint32_t> used_variables(const Module& m, spv::StorageClass storage);
/// Of an array the kind of its elements.
/// The pointer that an instruction stores through, atomics apart; 0: none. Of GLSL.std.450 Modf and Frexp do.
uint32_t stored_pointer(const Module& module, const Instruction& instruction);
/// Does reachable code read or write memory by address?
bool uses_addresses(const Module& module);
Kind innermost_kind(const Module& m, uint32_t type);
/// What a variable is, or each element of its array. Source: Vulkan specification, "Shader Resource and Descriptor Type Correspondence".
VkDescriptorType descriptor_type_of(const Module& m, uint32_t variable);
/// Images, samplers, both at once, or an array of them.
bool holds_images(const Module& m, uint32_t type);
/// An OpImageRead of an input attachment; else of a storage image or texel buffer.
bool reads_attachment(const Module& m, const Instruction& i);
/// Module variables that an image, sampler or pointer value may be of (more than one through parameters only).
std::vector<uint32_t> resource_roots(const Module& m, uint32_t id);

}  // namespace tilegpu::shader
