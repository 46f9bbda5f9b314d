// shader/lower/quick_inputs.hpp -- inputs of both stages by calls into the core.
//
// Quick code (jit.hpp) asks for its vertex attributes and its interpolated inputs here: generating the loads of every lane and quad costs
// half of its compile time, and a call runs nearly as fast. The formulas, and so the bits, are those of inputs.cpp and
// vertex.cpp. In: the arguments of the stage's call, and words that the compiler puts beside the code. Out: rows of lanes.
#pragma once

#include <vector>

#include "shader/ir/ir_builder.hpp"
#include "shader/jit/core_functions.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::shader {

enum class QuickInput : uint8_t { x, y, z, w, front_facing, primitive_id, point_x, point_y, smooth, noperspective, flat };

/// What quick_fragment_inputs finds, one row for each request, in order.
struct QuickRequests {
  uint32_t lanes = 0, samples = 0, per_sample = 0;
  std::vector<uint32_t> requests;
  uint32_t add(QuickInput what, uint32_t row = 0, bool centroid = false) {
    requests.push_back(static_cast<uint32_t>(what) | static_cast<uint32_t>(centroid) << 8 | row << 16);
    return static_cast<uint32_t>(requests.size() - 1);
  }
  std::vector<uint32_t> words() const {
    std::vector<uint32_t> all{lanes, samples, per_sample, static_cast<uint32_t>(requests.size())};
    all.insert(all.end(), requests.begin(), requests.end());
    return all;
  }
};
/// words: QuickRequests::words. out: [requests][lanes], floats, and integers by their bits (front_facing 0 or 1).
void quick_fragment_inputs(const FragmentArgs* args, const uint32_t* words, float* out);

/// One attribute of `lanes` vertices (index[lanes]) from a binding: words are lanes, stride_B, offset_B, VkFormat.
/// out: [4][lanes], bits of floats or integers; rows of absent components are left alone.
void quick_attribute(const VertexBinding* binding, const uint32_t* index, const uint32_t* words, uint32_t* out);

/// A call of one of them, by name: the object may be another process's one day.
inline void call_core(const Ir& ir, const char* function, const std::vector<Value>& pointers) {
  const std::vector<Type> types(pointers.size(), ir.ptr);
  Type type = LLVMFunctionType(ir.void_type, const_cast<Type*>(types.data()), static_cast<unsigned>(types.size()), 0);
  Value callee = LLVMGetNamedFunction(ir.module, function);
  if (!callee) callee = LLVMAddFunction(ir.module, function, type);
  LLVMBuildCall2(ir.builder, type, callee, const_cast<Value*>(pointers.data()), static_cast<unsigned>(pointers.size()), "");
}

/// Words beside the code.
inline Value constant_words(const Ir& ir, const std::vector<uint32_t>& words) {
  std::vector<Value> values;
  for (uint32_t word : words) values.push_back(ir.c32(word));
  const auto count = static_cast<unsigned>(values.size());
  Value global = LLVMAddGlobal(ir.module, LLVMArrayType2(ir.i32, count), "words");
  LLVMSetInitializer(global, LLVMConstArray2(ir.i32, values.data(), count));
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(global, 1);
  return global;
}

}  // namespace tilegpu::shader
