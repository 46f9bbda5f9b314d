// shader/sampler/many.cpp -- sample_many: several look-ups of one view of one level, as filters of whole pictures have.
//
// In: coordinates in memory. Out: texels in memory, with the bits of sample_implicit. Where the texels of all places are is found first, in
// a loop of its own: a look-up is a long chain (address, loads, filter), of which a processor's window holds little more than one. In two
// loops its halves are short, and those of several places go side by side. Places whose texels lie in no window are left to
// sample_implicit. Source: own (decisions.md, 529).
#include <cassert>

#include "shader/jit/jit.hpp"
#include "shader/sampler/function.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kVector_B = 64;

Value memory(const Ir& ir, Type element, uint32_t count, uint32_t align_B) {
  Value m = LLVMBuildAlloca(ir.builder, LLVMArrayType2(element, count), "");
  LLVMSetAlignment(m, align_B);
  return m;
}

/// `body(k)` for each number below `count`, which is not 0.
template <class Body>
void each_place(const Ir& ir, Value count, Body&& body) {
  Block before = ir.current_block(), loop = ir.block("place"), done = ir.block("places_done");
  ir.br(loop);
  ir.at(loop);
  Value k = LLVMBuildPhi(ir.builder, ir.i64, "");
  body(k);
  Value next = ir.add(k, ir.c64(1));
  Block last = ir.current_block();
  Value zero = ir.c64(0);
  LLVMAddIncoming(k, &zero, &before, 1), LLVMAddIncoming(k, &next, &last, 1);
  ir.br(LLVMBuildICmp(ir.builder, LLVMIntULT, next, ir.zext(count, ir.i64), ""), loop, done);
  ir.at(done);
}

struct Place {
  Value s, t;
};

Place place_at(const Ir& ir, Value places, Value k) {
  Value at = ir.offset(places, ir.mul(k, ir.c64(uint64_t{8} * ir.lanes)));
  return {ir.load(ir.vf32, at, 4 * ir.lanes), ir.load(ir.vf32, ir.offset(at, uint64_t{4} * ir.lanes), 4 * ir.lanes)};
}

void put_texels(const Ir& ir, Value texels, Value k, const std::array<Value, 4>& values) {
  Value at = ir.offset(texels, ir.mul(k, ir.c64(uint64_t{16} * ir.lanes)));
  for (uint32_t c = 0; c < 4; ++c) ir.store(values[c], ir.offset(at, uint64_t{4} * ir.lanes * c), 4 * ir.lanes);
}

/// sample_implicit of the descriptor; `needs_level`: with the square of the longer derivative, as shaders find it.
std::array<Value, 4> one_by_itself(const Ir& ir, Value descriptor, const Place& place, Value mask, bool needs_level) {
  std::vector<Value> a(implicit_arg::count, ir.fk(0));
  a[implicit_arg::descriptor] = descriptor, a[implicit_arg::s] = place.s, a[implicit_arg::t] = place.t;
  a[implicit_arg::dref] = ir.as_float(ir.ik(kNoReference));
  a[implicit_arg::offset_x] = a[implicit_arg::offset_y] = ir.c32(0), a[implicit_arg::mask] = mask;
  if (needs_level) {
    const auto pixel = [&](Value v, uint32_t p) {
      std::vector<int> order;
      for (uint32_t lane = 0; lane < ir.lanes; ++lane) order.push_back(static_cast<int>((lane & ~3u) + p));
      return ir.shuffle(v, order);
    };
    Value view = ir.field(ir.ptr, descriptor, offsetof(TextureDescriptor, view), 8);
    Value squared = length_squared(ir, view, ir.fsub(place.s, pixel(place.s, 0)), ir.fsub(place.t, pixel(place.t, 0)));
    a[implicit_arg::rho2] = longer_squared(ir, pixel(squared, 1), pixel(squared, 2));
  }
  Value r = call_sampler(ir, sample_implicit_type(ir), offsetof(TextureDescriptor, sample_implicit), a.data(), implicit_arg::count, false);
  std::array<Value, 4> texel;
  for (uint32_t k = 0; k < 4; ++k) texel[k] = ir.extract_value(r, k);
  return texel;
}

}  // namespace

bool filters_many(const SamplerPlan& plan) {
  const uint32_t B = plan.texel_B;
  const bool by_words = (B == 1 || B == 2 || B == 4) && !plan.integer;
  return plan.level_0_alone && plan.min == LevelFilter::linear && (plan.fixed || plan.halves || by_words) &&
         !plan.format->is_compressed() && !plan.array && !plan.cube && !plan.volume && !plan.one_dimensional && !plan.planes &&
         !plan.key.multisampled && !plan.uses_border && !plan.compare && !plan.compare_zero && !plan.anisotropic && !plan.convert &&
         !plan.key.sampler.unnormalized_coordinates && plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
}

/// The filtered texel of a window. `otherwise`: where halves are no numbers.
std::array<Value, 4> SamplerFunctionBuilder::filter_place(const TexelWindow& w, WindowRows rows, const AxisPosition& x,
                                                          const AxisPosition& y, Value follow, Block otherwise) {
  if (plan.halves) {
    prefetch_window(ir, rows);
    const auto filtered = [&](bool columns_follow) {
      const std::array<Value, 4> v = filter_window(c, w, rows, x.fraction, y.fraction, columns_follow);
      return std::vector<Value>(v.begin(), v.end());
    };
    const std::vector<Value> v = ir.if_else(follow, [&] { return filtered(true); }, [&] { return filtered(false); });
    const auto unordered = [&](Value a, Value b) { return ir.fcmp(LLVMRealUNO, a, b); };
    Block numbers = ir.block("numbers");
    ir.br(ir.any(ir.or_(unordered(v[0], v[1]), unordered(v[2], v[3]))), otherwise, numbers);
    ir.at(numbers);
    TexelValues texel = components_of_rows(ir, {v[0], v[1], v[2], v[3]});
    for (uint32_t k = 0; k < 4; ++k)
      if (!plan.needed[k]) texel[k] = nullptr;
    return finish_texel(c, texel);
  }
  load_rows_of_window(c, rows, 1);
  const auto with_alpha = [&](const std::function<std::array<Value, 4>(uint32_t components)>& some) {
    if (!c.wants_alpha) return some(15);
    std::array<Value, 4> result = some(7);
    result[3] = ir.if_else(c.wants_alpha, [&] { return std::vector<Value>{some(8)[3]}; }, [&] { return std::vector<Value>{ir.fk(0)}; })[0];
    return result;
  };
  if (plan.fixed) {
    const FixedSum sum = sum_of_rows(c, pairs_of_window(ir, w, rows.upper), pairs_of_window(ir, w, rows.lower), x.fraction, y.fraction,
                                     whole_weight(ir), nullptr);
    return with_alpha([&](uint32_t components) { return finish_texel(c, components_of(sum, components), kFixedOne); });
  }
  const std::array<Value, 4> words = window_words(ir, w, rows);
  return with_alpha([&](uint32_t components) {
    TexelValues four[4];
    unpack_words(c, words, components, four);
    return finish_texel(
        c, mix_texels(ir, mix_texels(ir, four[0], four[1], x.fraction), mix_texels(ir, four[2], four[3], x.fraction), y.fraction));
  });
}

void SamplerFunctionBuilder::many() {
  using namespace many_arg;
  assert(filters_many(plan) && ir.lanes == 16);
  Value places = LLVMGetParam(fn, many_arg::places), texels = LLVMGetParam(fn, many_arg::texels),
        how_many = LLVMGetParam(fn, many_arg::how_many), mask = LLVMGetParam(fn, many_arg::mask), from = LLVMGetParam(fn, descriptor);
  load_context(from, nullptr);
  c.offset_x = c.offset_y = ir.c32(0);
  if (!asks_window(c)) {
    each_place(ir, how_many, [&](Value k) { put_texels(ir, texels, k, one_by_itself(ir, from, place_at(ir, places, k), mask, false)); });
    LLVMBuildRetVoid(ir.builder);
    return;
  }
  if (plan.alpha_alone) c.wants_alpha = ir.eq(ir.and_(mask, ir.c32(kWithoutAlpha)), ir.c32(0));
  const SamplerCreateInfo& sampler = plan.key.sampler;
  const Level level = load_level(c, ir.c32(0));
  const FixedLevel fixed = plan.fixed ? load_fixed_level(c, ir.c32(0)) : FixedLevel{};
  constexpr uint32_t kVectors = 3, kBytes = kVectors * kVector_B + 64;  // fractions or positions, columns; four addresses, two bits
  Value found = memory(ir, ir.i8, kBytes * kMostPlaces, kVector_B);
  const auto entry = [&](Value k) { return ir.offset(found, ir.mul(k, ir.c64(kBytes))); };
  each_place(ir, how_many, [&](Value k) {
    auto [s, t] = place_at(ir, places, k);
    fold(s, t, plan.fixed);
    Value x, y, at_x, at_y;
    if (plan.fixed) {
      const FixedPlace at = place_fixed_in_window(c, fixed, s, t);
      at_x = at.u, at_y = at.v, x = ir.ashr(at.u, 16), y = ir.ashr(at.v, 16);
    } else {
      const AxisPosition u = place_in_window(c, sampler.address_u, s, level.width_f, true),
                         v = place_in_window(c, sampler.address_v, t, level.height_f, true);
      at_x = u.fraction, at_y = v.fraction, x = u.low, y = v.low;
    }
    const TexelWindow w = find_window(c, level, x, y, 1, false);
    const WindowRows rows = find_rows(c, level, w);
    Value e = entry(k);
    ir.store(at_x, e, kVector_B), ir.store(at_y, ir.offset(e, kVector_B), kVector_B),
        ir.store(w.columns, ir.offset(e, 2 * kVector_B), kVector_B);
    for (uint32_t r = 0; r < 4; ++r) ir.store(rows.upper_at[r], ir.offset(e, kVectors * kVector_B + 8 * r), 8);
    ir.store(ir.zext(w.there, ir.i32), ir.offset(e, kVectors * kVector_B + 32), 4);
    if (plan.halves) ir.store(ir.zext(columns_follow(ir, w), ir.i32), ir.offset(e, kVectors * kVector_B + 36), 4);
  });
  each_place(ir, how_many, [&](Value k) {
    Value e = entry(k);
    const auto is_set = [&](uint64_t at_B) { return ir.ne(ir.load(ir.i32, ir.offset(e, at_B), 4), ir.c32(0)); };
    Block window = ir.block("in_window"), alone = ir.block("alone"), done = ir.block("place_done");
    ir.br(is_set(kVectors * kVector_B + 32), window, alone);
    ir.at(window);
    TexelWindow w;
    WindowRows rows;
    const Type at_type = plan.fixed ? ir.vi32 : ir.vf32;
    const AxisPosition x{nullptr, ir.load(at_type, e, kVector_B)}, y{nullptr, ir.load(at_type, ir.offset(e, kVector_B), kVector_B)};
    w.columns = ir.load(ir.vi32, ir.offset(e, 2 * kVector_B), kVector_B);
    for (uint32_t r = 0; r < 4; ++r) rows.upper_at[r] = ir.load(ir.ptr, ir.offset(e, kVectors * kVector_B + 8 * r), 8);
    rows.pitch_B = ir.zext(level.pitch, ir.i64);
    Value follow = plan.halves ? is_set(kVectors * kVector_B + 36) : nullptr;
    put_texels(ir, texels, k, filter_place(w, rows, x, y, follow, alone));
    ir.br(done);
    ir.at(alone);
    put_texels(ir, texels, k, one_by_itself(ir, from, place_at(ir, places, k), mask, false));
    ir.br(done);
    ir.at(done);
  });
  LLVMBuildRetVoid(ir.builder);
}

Expected<const CodeSlot*> compile_many_one_by_one(Jit& jit) {
  CodeKey key("many samples");
  return jit.function(key, [lanes = jit.lanes()](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, lanes);
    Value fn = ir.function(name, sample_many_type(ir));
    ir.at(ir.block(fn, "entry"));
    const auto argument = [&](uint32_t k) { return LLVMGetParam(fn, k); };
    each_place(ir, argument(many_arg::how_many), [&](Value k) {
      put_texels(
          ir, argument(many_arg::texels), k,
          one_by_itself(ir, argument(many_arg::descriptor), place_at(ir, argument(many_arg::places), k), argument(many_arg::mask), true));
    });
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  });
}

}  // namespace tilegpu::shader
