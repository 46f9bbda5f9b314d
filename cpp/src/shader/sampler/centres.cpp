// shader/sampler/centres.cpp -- linear look-ups of a block of pixels that go in step with these, a texel for each pixel: what a pass of a
// picture's own size reads, blurs and their kind, letters and icons that are drawn as they were made. Where their places are the centres of
// texels along both axes or one, a filter has less to do, or nothing: one texel or two in place of four.
//
// In: folded coordinates, the view's one level. Out: texels, with the bits that the filter of any place gives: of a place between texels
// kSubTexelBits bits are kept, so that all pixels of such a block have one weight, which at centres is exactly 0.
// Source: Vulkan specification, "Texel Filtering" (subTexelPrecisionBits); own (decisions.md, 555).
#include <cassert>

#include "shader/sampler/function.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kMinusZero = 0x80000000u;  // which a filter of halves keeps or makes 0, as the texels without weight have it

}  // namespace

bool SamplerFunctionBuilder::asks_centres() const {
  return plan.level_0_alone && plan.min == LevelFilter::linear && !ir.quick && !plan.cube && !plan.volume && !plan.one_dimensional &&
         !plan.planes && !plan.anisotropic && !plan.key.multisampled && Ir::lanes_of(c.offset_x) == 1;
}

/// Not `bounded`: places that are none of the level's are such as no window has.
SamplerFunctionBuilder::Places SamplerFunctionBuilder::find_places(const FixedLevel& fixed, const Level& level, Value s, Value t,
                                                                   bool bounded) const {
  assert(Ir::type_of(s) == ir.vf32 && Ir::type_of(t) == ir.vf32);
  if (plan.fixed) {
    const FixedPlace at = place_fixed(c, fixed, s, t, bounded);
    return {ir.ashr(at.u, 16), ir.ashr(at.v, 16), at.u, at.v};
  }
  const auto place = bounded ? place_bounded : place_in_window;
  const AxisPosition x = place(c, plan.key.sampler.address_u, s, level.width_f, true),
                     y = place(c, plan.key.sampler.address_v, t, level.height_f, true);
  return {x.low, y.low, x.fraction, y.fraction};
}

/// Whether the fraction is 0, of one lane or all: i1.
Value SamplerFunctionBuilder::is_centre(Value fraction) const {
  Value zero = plan.fixed ? ir.eq(ir.and_(fraction, Ir::same(fraction, kKeptFraction)), Ir::same(fraction, 0))
                          : ir.feq(fraction, ir.fk(fraction, 0));
  return Ir::lanes_of(fraction) == 1 ? zero : ir.all(zero);
}

/// Halves are filtered by rows of pixels, which want one weight for all.
Value SamplerFunctionBuilder::is_one_fraction(const Places& at) const {
  const auto as_first = [&](Value v) { return ir.eq(ir.bits(v), ir.splat(ir.extract(ir.bits(v), 0))); };
  return ir.all(ir.and_(as_first(at.at_x), as_first(at.at_y)));
}

void SamplerFunctionBuilder::branch_in_step(const Places& at, const TexelWindow& step, Block in_step, Block other) const {
  if (!plan.halves) return ir.br(step.there, in_step, other);
  Block there = ir.block("step");
  ir.br(step.there, there, other);
  ir.at(there);
  ir.br(is_one_fraction(at), in_step, other);
}

/// A Between, i32.
Value SamplerFunctionBuilder::between_of(const Places& at) const {
  const auto fraction = [&](Value v) { return plan.halves ? ir.extract(v, 0) : v; };
  Value row = ir.zext(is_centre(fraction(at.at_y)), ir.i32), column = ir.zext(is_centre(fraction(at.at_x)), ir.i32);
  static_assert(static_cast<uint32_t>(Between::columns) == 1 && static_cast<uint32_t>(Between::rows) == 2);
  return ir.or_(row, ir.shl(column, 1));
}

/// As the filter gives them, before finish_texel.
TexelValues SamplerFunctionBuilder::as_filtered(const TexelValues& texel) const {
  if (!plan.fixed) return texel;
  TexelValues sums{};
  for (uint32_t k = 0; k < 4; ++k)
    if (texel[k]) sums[k] = ir.fmul(texel[k], ir.fk(kFixedOne));
  return sums;
}

/// Of all lanes whatever their order, where no texel needs wrapping.
void SamplerFunctionBuilder::sample_centres_by_lane(const FixedLevel& fixed, const Level& level, const Places& at, Block other) {
  const bool by_axes = plan.texel_B <= 4 && !plan.format->is_compressed() && !level.layer_offset && !plan.compare && !plan.uses_border &&
                       plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  const auto is_inside = [&](Value index, Value size) { return ir.ult(index, ir.splat(by_axes ? ir.sub(size, ir.c32(1)) : size)); };
  Value inside = ir.all(ir.and_(is_inside(at.x, level.width), is_inside(at.y, level.height)));
  Value usual = ir.and_(inside, ir.eq(ir.or_(c.offset_x, c.offset_y), ir.c32(0)));
  Value on_row = is_centre(at.at_y), on_column = is_centre(at.at_x);
  Block some = ir.block("centres");
  Value worth = !by_axes ? ir.and_(on_row, on_column) : plan.fixed ? on_row : ir.or_(on_row, on_column);
  ir.br(ir.and_(usual, worth), some, other);
  ir.at(some);
  const auto of_texel = [&] {
    const TexelValues texel = load_texel(c, level, at.x, at.y, nullptr);
    if (plan.halves) {
      Value odd = nullptr;
      for (Value v : pack(texel)) {
        Value is = ir.eq(ir.bits(v), ir.ik(kMinusZero));
        odd = odd ? ir.or_(odd, is) : is;
      }
      Block plain = ir.block("no_minus_zero");
      ir.br(ir.any(odd), other, plain);
      ir.at(plain);
    }
    finish(plan.compare ? compare_depth(c, texel) : as_filtered(texel), plan.fixed);
  };
  if (!by_axes) return of_texel();
  const auto of_two = [&](bool down) {
    if (plan.fixed) return finish_fixed(sum_of_upper_row(c, fixed, at.at_x, at.at_y));
    TexelValues two[2];
    unpack_two_words(c, load_two_words(c, level, at.x, at.y, down), 15, two);
    finish(mix_texels(c, two[0], two[1], down ? at.at_y : at.at_x));
  };
  if (!plan.fixed) {
    Block between_rows = ir.block("between_rows"), rows = ir.block("centres_of_rows");
    ir.br(on_row, rows, between_rows);
    ir.at(between_rows);
    of_two(true);
    ir.at(rows);
  }
  Block columns = ir.block("between_columns"), neither = ir.block("at_centres");
  ir.br(on_column, neither, columns);
  ir.at(columns);
  of_two(false);
  ir.at(neither);
  of_texel();
}

/// Returns from the function; goes on in a new block where the whole filter is asked for.
void SamplerFunctionBuilder::sample_centres(Value s, Value t) {
  assert(asks_centres());
  const Level level = load_level(c, ir.c32(0));
  const FixedLevel fixed = plan.fixed ? load_fixed_level(c, ir.c32(0)) : FixedLevel{};
  const bool by_rows = asks_window(c) && !level.layer_offset && (plan.texel_B <= 4 || plan.halves) && !plan.compare && !plan.uses_border &&
                       plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  const Places at = find_places(fixed, level, s, t, !by_rows);
  Block other = ir.block("any_place");
  if (by_rows) {
    const TexelWindow w = find_step(c, level, at.x, at.y, true);
    Block step = ir.block("in_step");
    branch_in_step(at, w, step, other);
    ir.at(step);
    const WindowRows rows = step_rows(c, level, step_address(c, level, w));
    each_between(between_of(at), [&](Between between) {
      const auto fraction = [&](Value v) { return plan.halves ? ir.splat(ir.extract(v, 0)) : v; };
      return_values(filter_place(between, w, rows, fraction(at.at_x), fraction(at.at_y), other));
    });
  } else {
    sample_centres_by_lane(fixed, level, at, other);
  }
  ir.at(other);
}

/// `serve` ends its block. Fixed weights are pairs of columns: places between rows are as those between both.
void SamplerFunctionBuilder::each_between(Value between, const std::function<void(Between)>& serve) const {
  for (const Between one : {Between::columns, Between::rows, Between::neither}) {
    if (plan.fixed && one == Between::rows) continue;
    Block of = ir.block("between"), others = ir.block("others");
    ir.br(ir.eq(between, ir.c32(static_cast<uint32_t>(one))), of, others);
    ir.at(of);
    serve(one);
    ir.at(others);
  }
  serve(Between::both);
}

/// NaN, or a zero whose sign a filter with weights of 0 may change, is left to `otherwise`.
std::array<Value, 4> SamplerFunctionBuilder::filter_step_of_halves(Between between, const WindowRows& rows, Value fx, Value fy,
                                                                   Block otherwise) {
  assert(plan.halves && rows.in_step);
  prefetch_window(ir, rows);
  const bool across = between == Between::both || between == Between::columns, down = between == Between::both || between == Between::rows;
  const std::array<Value, 4> v = filter_step(c, rows, across ? fx : nullptr, down ? fy : nullptr);
  Value odd = nullptr;
  if (between == Between::neither) {
    // Not by comparisons of floats, which would be turned into those of halves, lane by lane.
    constexpr uint32_t kNanOrMinusZero = 0x85;
    for (Value row : v) {
      Value is = ir.call_intrinsic("llvm.x86.avx512.fpclass.ps.512", {}, {row, ir.c32(kNanOrMinusZero)});
      odd = odd ? ir.or_(odd, is) : is;
    }
  } else {
    const auto unordered = [&](Value a, Value b) { return ir.fcmp(LLVMRealUNO, a, b); };
    odd = ir.or_(unordered(v[0], v[1]), unordered(v[2], v[3]));
  }
  Block numbers = ir.block("numbers");
  ir.br(ir.any(odd), otherwise, numbers);
  ir.at(numbers);
  TexelValues texel = components_of_rows(ir, v);
  for (uint32_t k = 0; k < 4; ++k)
    if (!plan.needed[k]) texel[k] = nullptr;
  return finish_texel(c, texel);
}

/// The filtered texel of a window. `otherwise`: where halves are no numbers.
std::array<Value, 4> SamplerFunctionBuilder::filter_place(Between between, const TexelWindow& w, WindowRows rows, Value fx, Value fy,
                                                          Block otherwise) {
  assert(!plan.compare && !plan.uses_border && (plan.halves || plan.texel_B <= 4));
  if (plan.halves && rows.in_step) return filter_step_of_halves(between, rows, fx, fy, otherwise);
  if (plan.halves) {
    assert(between == Between::both);
    prefetch_window(ir, rows);
    const std::array<Value, 4> v = filter_window(c, w, rows, fx, fy);
    const auto unordered = [&](Value a, Value b) { return ir.fcmp(LLVMRealUNO, a, b); };
    Block numbers = ir.block("numbers");
    ir.br(ir.any(ir.or_(unordered(v[0], v[1]), unordered(v[2], v[3]))), otherwise, numbers);
    ir.at(numbers);
    TexelValues texel = components_of_rows(ir, v);
    for (uint32_t k = 0; k < 4; ++k)
      if (!plan.needed[k]) texel[k] = nullptr;
    return finish_texel(c, texel);
  }
  const bool down = between == Between::both || between == Between::rows;
  load_rows_of_window(c, rows, down ? 1 : 0);
  const auto with_alpha = [&](const std::function<std::array<Value, 4>(uint32_t components)>& some) {
    if (!c.wants_alpha) return some(15);
    std::array<Value, 4> result = some(7);
    result[3] = ir.if_else(c.wants_alpha, [&] { return std::vector<Value>{some(8)[3]}; }, [&] { return std::vector<Value>{ir.fk(0)}; })[0];
    return result;
  };
  if (between == Between::neither) return finish_texel(c, as_filtered(window_texel(c, w, rows)), plan.fixed ? kFixedOne : 1);
  if (plan.fixed) {
    assert(between != Between::rows);
    const FixedSum sum = sum_of_rows(c, pairs_of_window(ir, w, rows.upper), down ? pairs_of_window(ir, w, rows.lower) : nullptr, fx, fy,
                                     whole_weight(ir), nullptr);
    return with_alpha([&](uint32_t components) { return finish_texel(c, components_of(sum, components), kFixedOne); });
  }
  const std::array<Value, 4> words = window_words(ir, w, rows, between != Between::rows);
  return with_alpha([&](uint32_t components) {
    if (between != Between::both) {
      TexelValues two[2];
      unpack_two_words(c, {words[0], words[down ? 2 : 1]}, components, two);
      return finish_texel(c, mix_texels(c, two[0], two[1], down ? fy : fx));
    }
    TexelValues four[4];
    unpack_words(c, words, components, four);
    return finish_texel(c, mix_texels(c, mix_texels(c, four[0], four[1], fx), mix_texels(c, four[2], four[3], fx), fy));
  });
}

}  // namespace tilegpu::shader
