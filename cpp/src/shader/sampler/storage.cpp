// shader/sampler/storage.cpp -- texels by integer coordinates: fetch, and what storage images and texel buffers do more: store, address.
//
// In: coordinates of N lanes. Out: the texels, or memory that is written, lane after lane; nothing outside of the view is touched. Source:
// Vulkan specification, "Integer Texel Coordinate Validation", "Texel Output Operations", "Robust Image Access".
#include <algorithm>
#include <cassert>

#include "shader/sampler/function.hpp"

namespace tilegpu::shader {

/// Which lanes' texels are there in a level, and their bytes before the row: of layers, slices and samples (i64; null: 0).
SamplerFunctionBuilder::TexelPlace SamplerFunctionBuilder::place_in_level(const Level& level, Value level_index,
                                                                          const TexelCoordinates& at) const {
  TexelPlace place;
  place.inside = ir.and_(ir.ult(at.x, ir.splat(level.width)), ir.ult(at.y, ir.splat(level.height)));
  const auto step = [&](Value index, Value count, Value pitch) {
    Value in_range = ir.ult(index, ir.splat(count));
    place.inside = ir.and_(place.inside, in_range);
    Value bytes = ir.mul(ir.zext(ir.select(in_range, index, ir.ik(0)), ir.i64), ir.splat(pitch));
    place.offset = place.offset ? ir.add(place.offset, bytes) : bytes;
  };
  if (plan.array || plan.cube || plan.volume) {
    Value count = plan.volume ? level.depth : ir.smax(ir.field(ir.i32, c.view, offsetof(ImageViewAbi, layer_count)), ir.c32(1));
    Value pitch = ir.load(ir.i64, ir.offset(c.view, ir.shl(ir.zext(level_index, ir.i64), 3)), 8);  // layer_pitch_B is the first field
    step(at.layer, count, pitch);
  }
  if (plan.key.multisampled)
    step(at.sample, ir.field(ir.i32, c.view, offsetof(ImageViewAbi, sample_count)),
         ir.field(ir.i64, c.view, offsetof(ImageViewAbi, sample_pitch_B), 8));
  place.x = ir.select(place.inside, at.x, ir.ik(0)), place.y = ir.select(place.inside, at.y, ir.ik(0));
  return place;
}
static_assert(offsetof(ImageViewAbi, layer_pitch_B) == 0);

void SamplerFunctionBuilder::fetch() {
  using namespace fetch_arg;
  load_context(LLVMGetParam(fn, descriptor), nullptr);
  TexelCoordinates at{LLVMGetParam(fn, fetch_arg::x), plan.one_dimensional ? ir.ik(0) : LLVMGetParam(fn, fetch_arg::y),
                      LLVMGetParam(fn, fetch_arg::layer), LLVMGetParam(fn, fetch_arg::sample)};
  Value level_index = LLVMGetParam(fn, fetch_arg::lod);
  Value valid = ir.ult(level_index, ir.splat(c.level_count));
  if (plan.key.min_lod) valid = ir.and_(valid, ir.sge(level_index, ir.splat(ir.field(ir.i32, c.view, offsetof(ImageViewAbi, min_level)))));
  if (plan.key.multisampled) level_index = ir.ik(0), valid = ir.true_mask();
  Value safe_level = ir.select(valid, level_index, ir.ik(0));
  Value lanes_wanted = ir.and_(LLVMGetParam(fn, fetch_arg::mask), ir.c32((1u << ir.lanes) - 1));
  const auto groups = [&] {
    return each_group(safe_level, lanes_wanted, false, [&](Value group_level, Value, Value) {
      const Level level = load_level(c, group_level);
      TexelPlace place = place_in_level(level, group_level, at);
      Value inside = ir.and_(valid, place.inside);
      std::vector<Value> loaded = pack(load_texel(c, level, place.x, place.y, place.offset));
      for (Value& v : loaded) v = ir.select(inside, v, ir.fk(0));
      return loaded;
    });
  };
  if (!asks_window(c) || plan.key.min_lod) return finish(unpack(groups()));
  const Level level = load_level(c, ir.c32(0));
  const TexelWindow w = find_window(c, level, at.x, at.y, 0, false);
  finish(unpack(
      ir.if_else(ir.and_(w.there, ir.all(ir.eq(level_index, ir.ik(0)))), [&] { return pack(load_window_texel(c, level, w)); }, groups)));
}

/// Of level 0, which storage images are; lanes that are outside of it or not in `mask` are not `wanted`.
SamplerFunctionBuilder::StoragePlace SamplerFunctionBuilder::place_in_storage(const TexelCoordinates& at, Value mask) {
  load_context(LLVMGetParam(fn, 0), nullptr);
  const Level level = load_level(c, ir.c32(0));
  const TexelPlace place = place_in_level(level, ir.c32(0), at);
  Value offsets = texel_offsets(c, level, place.x, place.y, place.offset);
  if (Ir::element_of(Ir::type_of(offsets)) != ir.i64) offsets = ir.zext(offsets, ir.i64);
  return {level.data, offsets, ir.and_(place.inside, ir.mask_from_bits(mask, ir.lanes))};
}

void SamplerFunctionBuilder::store() {
  using namespace store_arg;
  const StoragePlace place = place_in_storage({LLVMGetParam(fn, x), plan.one_dimensional ? ir.ik(0) : LLVMGetParam(fn, y),
                                               LLVMGetParam(fn, layer), LLVMGetParam(fn, store_arg::sample)},
                                              LLVMGetParam(fn, mask));
  const std::array<Value, 4> rgba = {LLVMGetParam(fn, r), LLVMGetParam(fn, g), LLVMGetParam(fn, b), LLVMGetParam(fn, a)};
  Value words[4] = {};
  emit_pack_texel(ir, *plan.format, rgba, words);
  assert(plan.texel_B <= 4 || plan.texel_B % 4 == 0);
  const Type element = plan.texel_B == 1 ? ir.i8 : plan.texel_B == 2 ? ir.i16 : ir.i32;
  for (uint32_t w = 0; w < texel_words(*plan.format); ++w) {
    Value word = element == ir.i32 ? words[w] : ir.trunc(words[w], element);
    // Lanes that meet in a texel write in their order.
    ir.scatter(word, ir.offset(place.data, 4 * w), place.offsets, std::min(plan.texel_B, 4u), place.wanted);
  }
  LLVMBuildRetVoid(ir.builder);
}

void SamplerFunctionBuilder::address() {
  using namespace address_arg;
  const StoragePlace place = place_in_storage({LLVMGetParam(fn, x), plan.one_dimensional ? ir.ik(0) : LLVMGetParam(fn, y),
                                               LLVMGetParam(fn, layer), LLVMGetParam(fn, address_arg::sample)},
                                              LLVMGetParam(fn, mask));
  Value data = LLVMBuildPtrToInt(ir.builder, place.data, ir.i64, "");
  Value addresses = ir.add(place.offsets, ir.splat(data));
  Value wanted = place.wanted;
  // Of narrower texels none is the place of a number of 64 bits, which would reach into the next one.
  if (plan.texel_B < 8) wanted = ir.and_(wanted, ir.splat(ir.eq(ir.and_(LLVMGetParam(fn, mask), ir.c32(kWideTexels)), ir.c32(0))));
  LLVMBuildRet(ir.builder, ir.select(wanted, addresses, Ir::zero(ir.vec(ir.i64))));
}

}  // namespace tilegpu::shader
