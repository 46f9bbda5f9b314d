// shader/sampler/compressed.cpp -- texels of compressed formats: where their blocks are, and the call that decodes them.
//
// In: indices in range. Out: raw components, as of other texels. Blocks are decoded each time that they are read, by
// vk/compressed/texels.cpp, and not by generated code: a BC7 or ASTC block takes some hundred instructions before its first texel is known,
// which then are there for its others too. Texels of one filter are asked for by one call.
#include <cassert>

#include "shader/sampler/internal.hpp"
#include "vk/compressed/texels.hpp"

namespace tilegpu::shader {
namespace {

/// Memory of the function, also where it is asked for in a loop.
Value function_memory(const Ir& ir, Type type, uint32_t count) {
  Block entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(ir.current_block()));
  Block now = ir.current_block();
  if (Value first = LLVMGetFirstInstruction(entry))
    LLVMPositionBuilderBefore(ir.builder, first);
  else
    LLVMPositionBuilderAtEnd(ir.builder, entry);
  Value memory = LLVMBuildAlloca(ir.builder, LLVMArrayType2(type, count), "");
  LLVMSetAlignment(memory, 64);
  ir.at(now);
  return memory;
}

}  // namespace

void load_compressed(const SamplerContext& c, const Level& level, uint32_t count, const TexelPosition* texels, TexelValues* out) {
  const Ir& ir = c.ir;
  const vk::FormatInfo& format = *c.plan.format;
  assert(format.is_compressed() && format.texel_B == c.plan.texel_B && count >= 1 && count <= 4);
  const uint32_t lanes = ir.lanes;
  Value offsets_B = function_memory(ir, ir.i64, count * lanes), positions = function_memory(ir, ir.i32, count * lanes),
        raw = function_memory(ir, ir.f32, 4 * count * lanes);
  // Divisions are by constants: a shift, or a multiplication.
  const auto split = [&](Value index, uint32_t block_px, Value& in_block) {
    Value block = LLVMBuildUDiv(ir.builder, index, ir.ik(block_px), "");
    in_block = ir.sub(index, ir.mul(block, ir.ik(block_px)));
    return block;
  };
  for (uint32_t k = 0; k < count; ++k) {
    const TexelPosition& at = texels[k];
    Value x_in_block = nullptr, y_in_block = nullptr;
    Value column = split(at.x, format.block_width_px, x_in_block);
    Value row = split(c.plan.one_dimensional ? ir.ik(0) : at.y, format.block_height_px, y_in_block);
    Value offset_B = texel_offsets(c, level, column, row, at.layer_offset);
    if (Ir::element_of(Ir::type_of(offset_B)) != ir.i64) offset_B = ir.zext(offset_B, ir.i64);
    ir.store(offset_B, ir.offset(offsets_B, size_t{8} * lanes * k), 8);
    ir.store(ir.or_(x_in_block, ir.shl(y_in_block, 8)), ir.offset(positions, size_t{4} * lanes * k), 4);
  }
  Value decoder = ir.field(ir.ptr, c.view, offsetof(ImageViewAbi, decoder), 8);
  Value read = ir.field(ir.ptr, decoder, offsetof(vk::TexelDecoder, read), 8);
  Type parameters[] = {ir.ptr, ir.ptr, ir.ptr, ir.ptr, ir.i32, ir.ptr};  // vk::ReadTexels
  Value arguments[] = {decoder, level.data, offsets_B, positions, ir.c32(count * lanes), raw};
  LLVMBuildCall2(ir.builder, LLVMFunctionType(ir.void_type, parameters, std::size(parameters), 0), read, arguments, std::size(arguments),
                 "");
  for (uint32_t k = 0; k < count; ++k) {
    out[k] = {};
    for (uint32_t n = 0; n < 4; ++n) {
      const ComponentKind kind = c.plan.components[n].kind;
      if (!c.plan.needed[n] || kind == ComponentKind::zero || kind == ComponentKind::one) continue;
      out[k][n] = ir.load(ir.vf32, ir.offset(raw, size_t{4} * lanes * (size_t{count} * n + k)), 4);
    }
  }
}

}  // namespace tilegpu::shader
