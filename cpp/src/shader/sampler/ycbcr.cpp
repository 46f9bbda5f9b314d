// shader/sampler/ycbcr.cpp -- formats whose luma and chroma lie apart, and the conversion of what was sampled to RGB.
//
// In: coordinates by lane, the conversion of the plan. Out: raw components (see internal.hpp), and from raw ones the result. Each plane is
// read as a texture of its own:
//   - implicit reconstruction: luma by the sampler's filter, chroma by the chroma filter at the same normalised coordinates, which for
//     cosited chroma are a quarter of its texel further (0.5 * (u + 0.5) in place of 0.5 * u);
//   - explicit reconstruction: chroma is filtered to the places of luma's texels first, and both are filtered as one.
// Filters are linear and so is the conversion: it comes once, after them. Nothing is clamped to the ranges of Y', Cb and Cr.
// Source: Vulkan specification, "Chroma Reconstruction", "Sampler Y'CbCr Range Expansion", "Sampler Y'CbCr Model Conversion".
#include <bit>
#include <cassert>
#include <memory>

#include "shader/sampler/function.hpp"

namespace tilegpu::shader {
namespace {

/// Beside a conversion Vulkan has clamping to the edge alone; what repeats is done where it is tolerated. Texels beside the edge of what is
/// mirrored are those of the edge: a mirrored coordinate, clamped.
VkSamplerAddressMode plane_mode(VkSamplerAddressMode mode) {
  return mode == VK_SAMPLER_ADDRESS_MODE_REPEAT ? mode : VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
}

/// `coordinate`: as fold_coordinate left it.
Value mirrored(const Ir& ir, VkSamplerAddressMode mode, Value coordinate) {
  if (mode == VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT) return ir.fmin_second(ir.fsub(ir.fk(2), coordinate), coordinate);
  if (mode == VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE) return ir.fabs(coordinate);
  return coordinate;
}

SamplerPlan plan_of_plane(const SamplerPlan& whole, const vk::SampledPlane& of) {
  SamplerPlan plan = whole;
  plan.format = &of.texel;
  plan.texel_B = of.texel.texel_B;
  plan.planes = false;
  for (uint32_t k = 0; k < 4; ++k) {
    if (of.texel.rgba[k].bits) continue;
    plan.components[k] = {};
    plan.needed[k] = false;
  }
  return plan;
}

/// One of the textures that a sample is made of.
class PlaneReader {
 public:
  PlaneReader(const SamplerContext& whole, const vk::SampledPlane& of)
      : of_(of), plan_(plan_of_plane(whole.plan, of)), c_{whole.ir, plan_, view_of(whole, of), whole.sampler, whole.level_count} {
    c_.layer = whole.layer;
    level_ = load_level(c_, c_.ir.c32(0));
    if (whole.plan.format->is_multi_planar() || !of.is_subsampled()) return;
    // Packed: columns of blocks.
    level_.width = c_.ir.lshr(level_.width, of.x_log2);
    level_.width_f = c_.ir.sitofp(c_.ir.splat(level_.width));
  }
  PlaneReader(const PlaneReader&) = delete;
  PlaneReader& operator=(const PlaneReader&) = delete;

  bool is_subsampled() const { return of_.is_subsampled(); }

  /// By normalised coordinates, moved by parts of a texel.
  TexelValues sample(Value s, Value t, bool linear, float move_x, float move_y) const {
    return filter(along(mode_u(), s, level_.width_f, level_.width, linear, move_x),
                  along(mode_v(), t, level_.height_f, level_.height, linear, move_y));
  }
  Axis columns(Value s, bool linear) const { return along(mode_u(), s, level_.width_f, level_.width, linear, 0); }
  Axis rows(Value t, bool linear) const { return along(mode_v(), t, level_.height_f, level_.height, linear, 0); }

  /// At luma's texel (i, j), in range.
  TexelValues at(Value i, Value j, const SamplerYcbcrConversionCreateInfo& how) const {
    const bool linear = how.chroma_filter == VK_FILTER_LINEAR;
    return filter(place(mode_u(), i, of_.x_log2, how.x_chroma_offset, linear, level_.width),
                  place(mode_v(), j, of_.y_log2, how.y_chroma_offset, linear, level_.height));
  }

 private:
  static Value view_of(const SamplerContext& whole, const vk::SampledPlane& of) {
    if (of.plane == 0) return whole.view;
    return whole.ir.field(whole.ir.ptr, whole.view, offsetof(ImageViewAbi, plane) + sizeof(void*) * (of.plane - 1u), 8);
  }
  VkSamplerAddressMode mode_u() const { return plane_mode(c_.plan.key.sampler.address_u); }
  VkSamplerAddressMode mode_v() const { return plane_mode(c_.plan.key.sampler.address_v); }
  Axis axis(VkSamplerAddressMode mode, const AxisPosition& at, Value size) const { return wrap_axis(c_, mode, at, size, c_.ir.c32(0)); }

  Axis along(VkSamplerAddressMode mode, Value coordinate, Value size_f, Value size, bool linear, float move) const {
    const Ir& ir = c_.ir;
    if (mode == VK_SAMPLER_ADDRESS_MODE_REPEAT && !linear && move != 0) {  // beyond the last texel is the first
      coordinate = fold_coordinate(c_, mode, ir.fadd(coordinate, ir.fdiv(ir.fk(move), size_f)));
      move = 0;
    }
    return axis(mode, place_on_axis(c_, mode, coordinate, size_f, linear, move), size);
  }

  /// Where chroma for luma's index is: 0.5 * i, or 0.5 * (i - 0.5) where chroma lies between two of luma.
  Axis place(VkSamplerAddressMode mode, Value index, uint8_t log2, VkChromaLocation location, bool linear, Value size) const {
    const Ir& ir = c_.ir;
    Axis a;
    if (!log2) {
      a.low = index;
    } else if (!linear) {
      a.low = ir.lshr(index, log2);
    } else {
      assert(log2 == 1);
      const bool midpoint = location == VK_CHROMA_LOCATION_MIDPOINT;
      Value odd = ir.ne(ir.and_(index, ir.ik(1)), ir.ik(0));
      Value fraction = ir.select(odd, ir.fk(midpoint ? 0.25f : 0.5f), ir.fk(midpoint ? 0.75f : 0.0f));
      Value low = ir.ashr(midpoint ? ir.sub(index, ir.ik(1)) : index, 1);
      return axis(mode, {low, fraction}, size);
    }
    return a;
  }

  /// Of one texel, two in a row or column, or four.
  TexelValues filter(const Axis& x, const Axis& y) const {
    const auto row = [&](Value j) {
      const TexelValues low = load_texel(c_, level_, x.low, j, nullptr);
      return x.fraction ? mix_texels(c_, low, load_texel(c_, level_, x.high, j, nullptr), x.fraction) : low;
    };
    const TexelValues top = row(y.low);
    return y.fraction ? mix_texels(c_, top, row(y.high), y.fraction) : top;
  }

  const vk::SampledPlane& of_;
  SamplerPlan plan_;
  SamplerContext c_;
  Level level_;
};

using Readers = std::vector<std::unique_ptr<PlaneReader>>;

void join(TexelValues& all, const TexelValues& some) {
  for (uint32_t k = 0; k < 4; ++k)
    if (some[k]) all[k] = some[k];
}

TexelValues implicit_sample(const Readers& readers, Value s, Value t, bool linear, const SamplerYcbcrConversionCreateInfo& how,
                            bool subsampled_y) {
  constexpr float kCosited = 0.25f;
  const float x = how.x_chroma_offset == VK_CHROMA_LOCATION_COSITED_EVEN ? kCosited : 0;
  const float y = subsampled_y && how.y_chroma_offset == VK_CHROMA_LOCATION_COSITED_EVEN ? kCosited : 0;
  TexelValues all{};
  for (const auto& reader : readers)
    join(all,
         reader->is_subsampled() ? reader->sample(s, t, how.chroma_filter == VK_FILTER_LINEAR, x, y) : reader->sample(s, t, linear, 0, 0));
  return all;
}

TexelValues explicit_sample(const SamplerContext& c, const Readers& readers, Value s, Value t, bool linear,
                            const SamplerYcbcrConversionCreateInfo& how) {
  const Axis x = readers.front()->columns(s, linear), y = readers.front()->rows(t, linear);  // luma's
  const auto texel = [&](Value i, Value j) {
    TexelValues all{};
    for (const auto& reader : readers) join(all, reader->at(i, j, how));
    return all;
  };
  if (!linear) return texel(x.low, y.low);
  const TexelValues top = mix_texels(c, texel(x.low, y.low), texel(x.high, y.low), x.fraction);
  return mix_texels(c, top, mix_texels(c, texel(x.low, y.high), texel(x.high, y.high), x.fraction), y.fraction);
}

}  // namespace

/// There is one level. `magnified`: null unless the filters differ.
void SamplerFunctionBuilder::sample_planes(Value s, Value t, Value magnified) {
  assert(plan.planes && plan.key.sampler.ycbcr && (plan.mag == plan.min) == !magnified);
  fold(s, t, false);
  s = mirrored(ir, plan.key.sampler.address_u, s), t = mirrored(ir, plan.key.sampler.address_v, t);
  const SamplerYcbcrConversionCreateInfo& how = plan.key.sampler.ycbcr->info();
  Readers readers;
  for (const vk::SampledPlane& of : vk::sampled_planes(*plan.format)) readers.push_back(std::make_unique<PlaneReader>(c, of));
  assert(!readers.front()->is_subsampled());
  const bool is_explicit = how.force_explicit_reconstruction && plan.format->chroma_x_log2;
  const auto by = [&](bool linear) {
    return is_explicit ? explicit_sample(c, readers, s, t, linear, how)
                       : implicit_sample(readers, s, t, linear, how, plan.format->chroma_y_log2);
  };
  const TexelValues small = by(plan.min != LevelFilter::nearest);
  finish(magnified ? select_texels(ir, magnified, by(plan.mag != LevelFilter::nearest), small) : small);
}

/// `result`: after the conversion's swizzle, of which alpha remains. Luma is G; codes are those of `raw` times `one`.
std::array<Value, 4> convert_ycbcr(const SamplerContext& c, const TexelValues& raw, const std::array<Value, 4>& result, uint32_t one) {
  const Ir& ir = c.ir;
  const SamplerYcbcrConversionCreateInfo& how = c.plan.key.sampler.ycbcr->info();
  assert(how.model != VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY);
  // Codes less the range's zero, then one division: as precise as the codes are.
  const auto expanded = [&](uint32_t component) {
    const auto from = static_cast<uint32_t>(c.plan.key.swizzle[component] - VK_COMPONENT_SWIZZLE_R);
    assert(from < 4 && c.plan.components[from].kind == ComponentKind::code);
    if (!raw[from]) return ir.fk(0);  // nobody asks for it
    const auto bits = static_cast<uint32_t>(std::bit_width(c.plan.components[from].maximum));
    const vk::YcbcrRange range = component == 1 ? vk::luma_range(how.range, bits) : vk::chroma_range(how.range, bits);
    Value code = range.zero ? ir.fsub(raw[from], ir.fk(static_cast<float>(range.zero * one))) : raw[from];
    return emit_divide_by_maximum(ir, code, range.one * one);
  };
  Value cr = expanded(0), y = expanded(1), cb = expanded(2);
  if (how.model == VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_IDENTITY) return {cr, y, cb, result[3]};
  const vk::YcbcrModel k = vk::ycbcr_model(how.model);
  return {ir.fma(cr, ir.fk(k.r_of_cr), y), ir.fma(cr, ir.fk(-k.g_of_cr), ir.fma(cb, ir.fk(-k.g_of_cb), y)), ir.fma(cb, ir.fk(k.b_of_cb), y),
          result[3]};
}

}  // namespace tilegpu::shader
