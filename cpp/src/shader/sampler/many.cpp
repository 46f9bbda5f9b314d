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
  const Level level = load_level(c, ir.c32(0));
  const FixedLevel fixed = plan.fixed ? load_fixed_level(c, ir.c32(0)) : FixedLevel{};
  // Fractions or positions, columns; four addresses, the kind. In step: one address, and of halves the first lane's fractions.
  constexpr uint64_t kVectors = 3, kRows_B = kVectors * kVector_B, kKind_B = kRows_B + 32, kBytes = kRows_B + 64;
  constexpr uint32_t kAlone = 0, kApart = 1, kInStep = 2;  // with a Between added
  Value found = memory(ir, ir.i8, kBytes * kMostPlaces, kVector_B);
  const auto entry = [&](Value k) { return ir.offset(found, ir.mul(k, ir.c64(kBytes))); };
  each_place(ir, how_many, [&](Value k) {
    auto [s, t] = place_at(ir, places, k);
    fold(s, t, plan.fixed);
    const Places at = find_places(fixed, level, s, t, false);
    const TexelWindow step = find_step(c, level, at.x, at.y, false);
    Value e = entry(k);
    Block in_step = ir.block("in_step"), apart = ir.block("apart"), next = ir.block("next_place");
    const auto keep = [&](Value v, uint64_t at_B) { ir.store(v, ir.offset(e, at_B), Ir::lanes_of(v) == 1 ? 4 : kVector_B); };
    branch_in_step(at, step, in_step, apart);
    ir.at(in_step);
    const auto fraction = [&](Value v) { return plan.halves ? ir.extract(v, 0) : v; };
    keep(fraction(at.at_x), 0), keep(fraction(at.at_y), kVector_B);
    ir.store(step_address(c, level, step), ir.offset(e, kRows_B), 8);
    keep(ir.add(between_of(at), ir.c32(kInStep)), kKind_B);
    ir.br(next);
    ir.at(apart);
    const TexelWindow w = find_window(c, level, at.x, at.y, 1, false);
    const WindowRows rows = find_rows(c, level, w);
    keep(at.at_x, 0), keep(at.at_y, kVector_B), keep(w.columns, 2 * kVector_B);
    for (uint32_t r = 0; r < 4; ++r) ir.store(rows.upper_at[r], ir.offset(e, kRows_B + 8 * r), 8);
    keep(ir.select(w.there, ir.c32(kApart), ir.c32(kAlone)), kKind_B);
    ir.br(next);
    ir.at(next);
  });
  each_place(ir, how_many, [&](Value k) {
    Value e = entry(k);
    Block in_step = ir.block("in_step"), others = ir.block("others"), window = ir.block("in_window"), alone = ir.block("alone"),
          done = ir.block("place_done");
    const Type at_type = plan.fixed ? ir.vi32 : ir.vf32;
    const auto fraction = [&](uint64_t at_B) { return ir.load(at_type, ir.offset(e, at_B), kVector_B); };
    const auto first_row = [&](uint32_t row) { return ir.load(ir.ptr, ir.offset(e, kRows_B + uint64_t{8} * row), 8); };
    const auto put = [&](const std::array<Value, 4>& texel) {
      put_texels(ir, texels, k, texel);
      ir.br(done);
    };
    Value kind = ir.load(ir.i32, ir.offset(e, kKind_B), 4);
    ir.br(ir.uge(kind, ir.c32(kInStep)), in_step, others);
    ir.at(in_step);
    TexelWindow w;
    w.columns = step_columns(ir);
    const WindowRows step = step_rows(c, level, first_row(0));
    const auto one = [&](uint64_t at_B) { return plan.halves ? ir.splat(ir.load(ir.f32, ir.offset(e, at_B), 4)) : fraction(at_B); };
    each_between(ir.sub(kind, ir.c32(kInStep)),
                 [&](Between between) { put(filter_place(between, w, step, one(0), one(kVector_B), alone)); });
    ir.at(others);
    ir.br(ir.eq(kind, ir.c32(kApart)), window, alone);
    ir.at(window);
    WindowRows rows;
    w.columns = ir.load(ir.vi32, ir.offset(e, 2 * kVector_B), kVector_B);
    for (uint32_t r = 0; r < 4; ++r) rows.upper_at[r] = first_row(r);
    rows.pitch_B = ir.zext(level.pitch, ir.i64);
    put(filter_place(Between::both, w, rows, fraction(0), fraction(kVector_B), alone));
    ir.at(alone);
    put(one_by_itself(ir, from, place_at(ir, places, k), mask, false));
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
