// shader/ir/sampler_types.hpp -- the LLVM types of the sampler functions that a TextureDescriptor carries, and how to call them.
//
// In: coordinates of N lanes in registers. Out: four vectors <N x float> (red, green, blue, alpha after the view's swizzle; bit
// patterns for integer formats; for depth comparison [0] is the result). One signature for each operation, whatever the
// dimension: arguments that a dimension does not use may be poison, which costs nothing. `mask` has a bit for each lane whose
// result is wanted; the others are undefined, but safe. The result of a lane does not depend on the other lanes.
//   coordinates   2D: (s, t); 3D: (s, t, r); cube: direction (s, t, r); 1D: s
//   layer         array views: the layer as float (sample, gather), rounded to nearest even and clamped; cube arrays: the cube
//   bias          added to the computed LOD (0 when the instruction has none)
//   dref          depth reference; ignored unless the sampler compares
//   offset_x, _y, _z  texel offsets: scalars i32 where constant by SPIR-V's rules, vectors for gather; _z of 3D alone
// Source: Vulkan specification, chapter "Image Operations".
#pragma once

#include <type_traits>

#include "shader/ir/ir_builder.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::shader {

/// In `mask` of sample_gradient, sample_min_lod, sample_lod and sample_implicit: nobody wants the result's alpha, which is then undefined.
inline constexpr uint32_t kWithoutAlpha = 1u << 31;
/// Coordinates in texels are kept within: beyond it no level has any; floor and conversion stay exact.
inline constexpr float kFarTexel = 0x1p20f;
/// Texel offsets beyond it are this; constant ones are small by SPIR-V's rules.
inline constexpr int32_t kMostOffset = 4096;

/// Positions of the arguments; each enumerator is a parameter index.
namespace gradient_arg {
enum : uint32_t { descriptor, s, t, dsdx, dtdx, dsdy, dtdy, bias, dref, layer, r, drdx, drdy, offset_x, offset_y, mask, offset_z, count };
}
/// sample_min_lod: the same, and one more: the LOD is not less (nor than the sampler's own limit).
namespace min_lod_arg {
enum : uint32_t { min_lod = gradient_arg::count, count };
}
/// query_lod takes the same as sample_gradient (no dref, layer, offsets); the result's first two values are the level that would be read,
/// and the LOD. Of 1D and 2D views, without a bias, of packets of quads where the sampler is anisotropic: it takes their derivatives. rho2:
/// the square of the longer derivative in texels of level 0, 0 or more.
/// dref of an instruction that compares nothing, as bits: no number, and none that arithmetic makes. A sampler that compares has the texel
/// of a colour then, and of a depth what no number compares as; Vulkan leaves both undefined.
inline constexpr uint32_t kNoReference = 0xffc0dead;
namespace implicit_arg {
enum : uint32_t { descriptor, s, t, rho2, dref, layer, offset_x, offset_y, mask, count };
}
/// Several look-ups of one descriptor, as sample_implicit of packets of whole quads, 2D, without layers, references and offsets: `places`
/// are s and t of each by turns, `texels` four vectors for each.
namespace many_arg {
enum : uint32_t { descriptor, places, texels, how_many, mask, count };
}
inline constexpr uint32_t kMostPlaces = 16;
namespace lod_arg {
enum : uint32_t { descriptor, s, t, lod, dref, layer, r, offset_x, offset_y, mask, offset_z, count };
}
/// x, y, layer (3D: the slice; cubes: the face), lod, sample: <N x i32>. Outside of the view: zero (alpha 1 where the format has none).
namespace fetch_arg {
enum : uint32_t { descriptor, x, y, layer, lod, sample, mask, count };
}
/// component: scalar i32, 0..3 (0 when comparing). The result's four values are the texels (i0 j1), (i1 j1), (i1 j0), (i0 j0).
namespace gather_arg {
enum : uint32_t { descriptor, s, t, dref, layer, r, offset_x, offset_y, component, mask, count };
}

/// x, y, layer (3D: the slice; cubes: the face), sample: <N x i32>; r, g, b, a: <N x float>, bit patterns for integer formats. Nothing is
/// returned. Outside of the view nothing is written.
namespace store_arg {
enum : uint32_t { descriptor, x, y, layer, sample, r, g, b, a, mask, count };
}
/// The same coordinates. The result is <N x i64>: where the texels lie; 0 outside of the view, and for lanes that are not in the mask.
namespace address_arg {
enum : uint32_t { descriptor, x, y, layer, sample, mask, count };
}
/// Beside the lanes of an address's mask: it is asked for numbers of 64 bits.
inline constexpr uint32_t kWideTexels = 1u << 31;

/// { <N x float>, <N x float>, <N x float>, <N x float> }
inline Type sampler_result_type(const Ir& ir) {
  Type members[4] = {ir.vf32, ir.vf32, ir.vf32, ir.vf32};
  return LLVMStructTypeInContext(ir.context, members, 4, 0);
}

inline Type sample_gradient_type(const Ir& ir) {
  const Type f = ir.vf32;
  Type parameters[gradient_arg::count] = {ir.ptr, f, f, f, f, f, f, f, f, f, f, f, f, ir.i32, ir.i32, ir.i32, ir.i32};
  return LLVMFunctionType(sampler_result_type(ir), parameters, gradient_arg::count, 0);
}

inline Type sample_min_lod_type(const Ir& ir) {
  Type parameters[min_lod_arg::count];
  LLVMGetParamTypes(sample_gradient_type(ir), parameters);
  parameters[min_lod_arg::min_lod] = ir.vf32;
  return LLVMFunctionType(sampler_result_type(ir), parameters, min_lod_arg::count, 0);
}

inline Type sample_implicit_type(const Ir& ir) {
  const Type f = ir.vf32;
  Type parameters[implicit_arg::count] = {ir.ptr, f, f, f, f, f, ir.i32, ir.i32, ir.i32};
  return LLVMFunctionType(sampler_result_type(ir), parameters, implicit_arg::count, 0);
}

inline Type sample_many_type(const Ir& ir) {
  Type parameters[many_arg::count] = {ir.ptr, ir.ptr, ir.ptr, ir.i32, ir.i32};
  return LLVMFunctionType(ir.void_type, parameters, many_arg::count, 0);
}

inline Type sample_lod_type(const Ir& ir) {
  const Type f = ir.vf32;
  Type parameters[lod_arg::count] = {ir.ptr, f, f, f, f, f, f, ir.i32, ir.i32, ir.i32, ir.i32};
  return LLVMFunctionType(sampler_result_type(ir), parameters, lod_arg::count, 0);
}

inline Type fetch_type(const Ir& ir) {
  const Type i = ir.vi32;
  Type parameters[fetch_arg::count] = {ir.ptr, i, i, i, i, i, ir.i32};
  return LLVMFunctionType(sampler_result_type(ir), parameters, fetch_arg::count, 0);
}

inline Type gather_type(const Ir& ir) {
  const Type f = ir.vf32, i = ir.vi32;
  Type parameters[gather_arg::count] = {ir.ptr, f, f, f, f, f, i, i, ir.i32, ir.i32};
  return LLVMFunctionType(sampler_result_type(ir), parameters, gather_arg::count, 0);
}

inline Type store_type(const Ir& ir) {
  const Type f = ir.vf32, i = ir.vi32;
  Type parameters[store_arg::count] = {ir.ptr, i, i, i, i, f, f, f, f, ir.i32};
  return LLVMFunctionType(LLVMVoidTypeInContext(ir.context), parameters, store_arg::count, 0);
}

inline Type address_type(const Ir& ir) {
  const Type i = ir.vi32;
  Type parameters[address_arg::count] = {ir.ptr, i, i, i, i, ir.i32};
  return LLVMFunctionType(ir.vec(ir.i64), parameters, address_arg::count, 0);
}

/// Of a derivative (ds, dt; null: 1D; dr; null: not 3D), in texels of the view's level 0.
Value length_squared(const Ir& ir, Value view, Value ds, Value dt, Value dr = nullptr);
/// rho2 of the squares of both derivatives.
Value longer_squared(const Ir& ir, Value x, Value y);

/// Calls the function that is in `descriptor` at `slot_offset_B` (offsetof(TextureDescriptor, sample_gradient), ...).
/// `removable`: LLVM may leave the call out where nobody uses its result.
inline Value call_sampler(const Ir& ir, Type type, size_t slot_offset_B, Value* arguments, uint32_t count, bool removable) {
  static_assert(std::is_standard_layout_v<CodeSlot> && offsetof(CodeSlot, address) == 0);
  Value callee = ir.load(ir.ptr, ir.constant_field(ir.ptr, arguments[0], slot_offset_B, 8), 8);
  Value call = LLVMBuildCall2(ir.builder, type, callee, arguments, count, "");
  if (removable) ir.mark_removable(call);
  return call;
}

/// The argument `mask_index` of this call may get kWithoutAlpha.
void mark_alpha_optional(const Ir& ir, Value call, uint32_t mask_index);
/// This call of sample_implicit may be one of many.
void mark_one_of_many(const Ir& ir, Value call);
/// Makes calls of sample_many of those that are marked and don't wait for each other; after the module's passes.
void join_samples(LLVMModuleRef module);
/// Sets it where the result's alpha is not used; after the module's passes.
void leave_out_alpha(LLVMModuleRef module);

}  // namespace tilegpu::shader
