// shader/lower/attachment.cpp -- input attachments: OpImageRead of dimension SubpassData reads the tile at the lane's own pixel, or what
// the pipeline finds in memory (kInputMemory) through the descriptor, at the pixel's place and in its layer, or zeros (kInputNothing).
//
// In: FragmentKey::inputs (which plane, which format); at run time FragmentArgs::target, tile_depth, tile_stencil, tile_pixel. Out: the
// texel as the format unpacks it. A packet holds a place once and places are shaded in primitive order, so the tile holds what earlier
// primitives left. Helper lanes read their own pixel too; outside the render area, where tile memory holds anything, and of samples
// that the pass has not, the value is 0. Source: Vulkan specification, "Fragment Input Attachment Interface", "Rasterization Order";
// framebuffer/tile_memory.hpp for the addresses.
#include "framebuffer/tile_memory.hpp"
#include "shader/ir/format_pack.hpp"
#include "shader/ir/lane_range.hpp"
#include "shader/lower/entry.hpp"
#include "shader/spirv/limits.hpp"
#include "vk/format.hpp"

namespace tilegpu::shader {
namespace {

struct TileReader {
  Interpolator& at;
  const Lowering& l = at.l;
  const Ir& ir = l.ir;

  Value plane(uint32_t target) const {
    if (target == kInputDepth) return ir.field(ir.ptr, l.args, offsetof(FragmentArgs, tile_depth), 8);
    if (target == kInputStencil) return ir.field(ir.ptr, l.args, offsetof(FragmentArgs, tile_stencil), 8);
    return ir.field(ir.ptr, l.args, offsetof(FragmentArgs, target) + 8ull * target, 8);
  }

  /// Word w of every lane's sample; `sample` is in range, a scalar or by lane.
  Value word(Value pointer, uint32_t words, uint32_t w, Value sample) const {
    constexpr uint64_t kWord_B = framebuffer::kPixelsPerBlock * 4;
    const uint64_t sample_B = words * kWord_B, block_B = sample_B * at.key.samples;
    pointer = ir.offset(pointer, w * kWord_B);
    if (at.key.coarse) {  // the pixel in which the fragment's centre lies
      Value pixel = ir.field(ir.vi32, l.args, offsetof(FragmentArgs, lane_pixel), 64);
      Value offset = ir.add(ir.mul(ir.lshr(pixel, 4), ir.ik(static_cast<uint32_t>(block_B))), ir.shl(ir.and_(pixel, ir.ik(15)), 2));
      return ir.load_lanes(ir.i32, pointer, ir.add(offset, ir.mul(l.vary(sample), ir.ik(static_cast<uint32_t>(sample_B)))), 4);
    }
    if (Lowering::is_varying(sample)) {
      Value corner = at.quads_to_lanes(ir.field(Ir::vec(ir.i32, ir.lanes / 4), l.args, offsetof(FragmentArgs, tile_pixel)));
      Value own[kMaxLanes];
      for (uint32_t lane = 0; lane < ir.lanes; ++lane) own[lane] = ir.c32(lane & 3);
      Value within = ir.shl(ir.add(ir.and_(corner, ir.ik(15)), LLVMConstVector(own, ir.lanes)), 2);
      Value offset = ir.add(ir.add(ir.mul(ir.lshr(corner, 4), ir.ik(static_cast<uint32_t>(block_B))), within),
                            ir.mul(sample, ir.ik(static_cast<uint32_t>(sample_B))));
      return ir.load_lanes(ir.i32, pointer, offset, 4);
    }
    pointer = ir.offset(pointer, ir.mul(ir.zext(sample, ir.i64), ir.c64(sample_B)));
    std::vector<Value> quads;
    const auto address = [&](uint32_t q) {
      Value pixel = ir.zext(ir.field(ir.i32, l.args, offsetof(FragmentArgs, tile_pixel) + 4 * q), ir.i64);
      return ir.offset(pointer, ir.add(ir.mul(ir.lshr(pixel, 4), ir.c64(block_B)), ir.shl(ir.and_(pixel, ir.c64(12)), 2)));
    };
    for (uint32_t q = 0; q < ir.lanes / 4; ++q) quads.push_back(ir.load(Ir::vec(ir.i32, 4), address(q), 16));
    for (uint32_t width = 4; quads.size() > 1; width *= 2) {
      std::vector<Value> next;
      for (size_t k = 0; k + 1 < quads.size(); k += 2) next.push_back(ir.shuffle(quads[k], quads[k + 1], lane_range(0, 2 * width)));
      quads = next;
    }
    return quads[0];
  }

  std::array<Value, 4> texel(const InputSource& source, Value sample) const {
    const vk::FormatInfo& format = *vk::find_format(source.format);
    Value pointer = plane(source.target), zero = ir.fk(0.0f);
    if (source.target == kInputStencil) return {ir.as_float(word(pointer, 1, 0, sample)), zero, zero, ir.as_float(ir.ik(1))};
    if (source.target == kInputDepth) {
      Value raw = word(pointer, 1, 0, sample);
      const uint32_t bits = format.depth_bits;
      return {bits == 32 ? ir.as_float(raw) : emit_unpack_component(ir, vk::Numeric::unorm, raw, bits, false), zero, zero, ir.fk(1.0f)};
    }
    Value words[4] = {};
    const uint32_t count = texel_words(format);
    for (uint32_t w = 0; w < count; ++w) words[w] = word(pointer, count, w, sample);
    return emit_unpack_texel(ir, format, words);
  }

  /// Lanes whose pixel lies in the render area.
  Value inside() const {
    Value x = at.pixel(offsetof(FragmentArgs, x_px)), y = at.pixel(offsetof(FragmentArgs, y_px));
    const auto edge = [&](size_t offset_B) { return ir.splat(ir.sitofp(ir.field(ir.i32, l.args, offset_B))); };
    Value in_x = ir.and_(ir.fge(x, edge(offsetof(FragmentArgs, area_x0_px))), ir.flt(x, edge(offsetof(FragmentArgs, area_x1_px))));
    Value in_y = ir.and_(ir.fge(y, edge(offsetof(FragmentArgs, area_y0_px))), ir.flt(y, edge(offsetof(FragmentArgs, area_y1_px))));
    return ir.and_(in_x, in_y);
  }
};

/// One instruction's reads: of the tile, or of what the descriptor has.
struct AttachmentReader {
  TileReader tile;
  const Instruction& i;
  const ImageValue& image;
  Value sample;
  Value inside = tile.inside(), zero = tile.ir.fk(0.0f);

  std::array<Value, 4> texel(const InputSource& source) const {
    if (source.target == kInputNothing) return {zero, zero, zero, zero};
    return source.target == kInputMemory ? in_memory(source) : in_tile(source);
  }

  std::array<Value, 4> in_tile(const InputSource& source) const {
    const Ir& ir = tile.ir;
    Value known = ir.ult(sample, Ir::same(sample, tile.at.key.samples));
    std::array<Value, 4> texel = tile.texel(source, tile.l.select(known, sample, Ir::same(sample, 0)));
    for (Value& c : texel) c = ir.select(tile.l.vary(known), tile.l.vary(c), ir.fk(0.0f));
    return texel;
  }

  /// An element for each source: what lanes ask of an array that lies partly in the tile is selected by the caller.
  std::array<Value, 4> in_memory(const InputSource& source) const {
    const Ir& ir = tile.ir;
    Lowering& l = tile.at.l;
    const auto number = [&](Value v) { return ir.fptosi(v); };
    const Lowering::TexelPlace at{number(tile.at.pixel(offsetof(FragmentArgs, x_px))), number(tile.at.pixel(offsetof(FragmentArgs, y_px))),
                                  ir.splat(ir.field(ir.i32, l.args, offsetof(FragmentArgs, layer))), l.vary(sample)};
    const std::vector<Value> texel = l.fetch_attachment(i, image, image.image_element ? ir.c32(source.element) : nullptr, at);
    return {texel[0], texel[1], texel[2], texel[3]};
  }
};

}  // namespace

Val read_input_attachment(Interpolator& at, const Instruction& i) {
  Lowering& l = at.l;
  const Ir& ir = l.ir;
  const ImageValue image = l.image_value(l.m.operand(i, 0));
  Val result = l.zero(i.type);
  if (!image.image) return result;
  if (l.m.type(descriptor_type(l.m, image.image)).dim != spv::DimSubpassData) {
    l.unsupported("storage images are not supported; use a storage buffer");
    return result;
  }
  const uint32_t operands = l.m.operand(i, 2);
  const uint32_t harmless = spv::ImageOperandsSignExtendMask | spv::ImageOperandsZeroExtendMask | spv::ImageOperandsNonPrivateTexelMask |
                            spv::ImageOperandsVolatileTexelMask | spv::ImageOperandsNontemporalMask;
  if (operands & ~(harmless | spv::ImageOperandsSampleMask)) {
    l.fail("an input attachment is read with image operands other than Sample");
    return result;
  }
  Value sample = operands & spv::ImageOperandsSampleMask ? l.scalar(l.m.operand(i, 3)) : ir.c32(0);
  AttachmentReader reader{{at}, i, image, sample};
  std::array<Value, 4> texel{};
  for (const InputSource& source : at.key.inputs) {
    if (source.variable != image.image) continue;
    // Without an index into an array the first element is meant; an index that is out of range reads the last.
    if (!image.image_element) {
      if (source.element == 0) texel = reader.texel(source);
      continue;
    }
    const std::array<Value, 4> here = reader.texel(source);
    for (uint32_t c = 0; c < 4; ++c) {
      Value element = l.vary(image.image_element);
      texel[c] = texel[c] ? ir.select(ir.uge(element, Ir::same(element, source.element)), here[c], texel[c]) : here[c];
    }
  }
  if (!texel[0]) {
    l.fail("input attachment '" + l.m.name(image.image) + "' is not mapped to an attachment");
    return result;
  }
  const auto& kinds = l.bases(i.type);
  for (size_t k = 0; k < kinds.size() && k < 4; ++k) {
    Value v = ir.select(reader.inside, texel[k], ir.fk(0.0f));
    result.c[k] = kinds[k] == Base::f32 ? v : ir.bits(v);
  }
  return result;
}

}  // namespace tilegpu::shader
