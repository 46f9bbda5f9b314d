// shader/sampler/compile.cpp -- compile_sampler: the functions sample_gradient, sample_min_lod, sample_implicit, sample_lod and gather of
// one (view, sampler) pair; those by integer coordinates are in storage.cpp.
//
// In: SamplerKey. Out: machine code with the types of sampler_types.hpp. With AVX-512 lanes of most views have levels of their own
// (levels_by_lane). Else they are served in groups that share a level (and magnified or not): nearly always one group, so that level data
// are scalars; a second level is read only where some lane's fraction is not 0.
// What a lane gets does not depend on its company. Source: Vulkan specification, chapter "Image Operations".
#include <cassert>
#include <cstring>

#include "shader/jit/jit.hpp"
#include "shader/sampler/function.hpp"

namespace tilegpu::shader {
namespace {

Value parameter(Value fn, uint32_t index) { return LLVMGetParam(fn, index); }

}  // namespace

void SamplerFunctionBuilder::load_context(Value descriptor, Value layer_argument) {
  assert(!plan.uses_border || plan.key.has_sampler);
  c.view = ir.field(ir.ptr, descriptor, offsetof(TextureDescriptor, view), 8);
  c.level_count = ir.smax(ir.field(ir.i32, c.view, offsetof(ImageViewAbi, level_count)), ir.c32(1));
  if (plan.key.has_sampler) c.sampler = ir.field(ir.ptr, descriptor, offsetof(TextureDescriptor, sampler), 8);
  if (plan.uses_border) {
    for (uint32_t k = 0; k < 4; ++k) {
      Value b = ir.field(ir.f32, c.sampler, offsetof(SamplerAbi, border) + 4 * k);
      if (plan.components[k].kind == ComponentKind::code) b = ir.fmul(b, ir.cf(static_cast<float>(plan.components[k].maximum)));
      c.border[k] = ir.splat(b);
    }
  }
  if (layer_argument && (plan.array || plan.cube)) {
    Value count = ir.field(ir.i32, c.view, offsetof(ImageViewAbi, layer_count));
    if (plan.cube) count = LLVMBuildUDiv(ir.builder, count, ir.c32(6), "");
    if (!plan.array) {
      c.layer = ir.ik(0);
    } else {
      Value last = ir.smax(ir.sub(count, ir.c32(1)), ir.c32(0));
      c.layer = ir.fptosi(ir.fclamp(ir.round_even(layer_argument), ir.fk(0), ir.splat(ir.sitofp(last))));
      if (plan.cube) c.layer = ir.mul(c.layer, ir.ik(6));
    }
  }
}

void SamplerFunctionBuilder::finish(const TexelValues& raw, bool sums) { return_values(finish_texel(c, raw, sums ? kFixedOne : 1)); }

void SamplerFunctionBuilder::return_values(const std::array<Value, 4>& values) {
  Value result = ir.poison(sampler_result_type(ir));
  for (uint32_t k = 0; k < 4; ++k) result = ir.insert_value(result, values[k], k);
  LLVMBuildRet(ir.builder, result);
}

/// The same value, through a jump for each likely one. The level comes at the end of a long chain (the logarithm of the derivatives), and
/// all addresses wait for it; behind a jump the processor goes on with the predicted level at once. The constants pass through empty
/// assembly, so that LLVM does not find out that the jumps are for nothing.
Value SamplerFunctionBuilder::predicted(Value id) {
  assert(Ir::type_of(id) == ir.i32);
  if (ir.quick) return id;
  constexpr uint32_t kLikely = 8;
  Type signature = LLVMFunctionType(ir.i32, const_cast<Type*>(&ir.i32), 1, 0);
  Value opaque = LLVMGetInlineAsm(signature, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
  Block other = ir.block("unlikely"), join = ir.block("predicted");
  Value jump = LLVMBuildSwitch(ir.builder, id, other, kLikely + 1);
  std::vector<std::pair<Value, Block>> incoming;
  for (uint32_t k = 0; k <= kLikely; ++k) {
    const uint32_t value = k < kLikely ? k : 64;  // 64: magnified
    if (value == 64 && plan.mag == plan.min) continue;
    Block b = ir.block("likely");
    LLVMAddCase(jump, ir.c32(value), b);
    ir.at(b);
    Value constant = ir.c32(value);
    incoming.emplace_back(LLVMBuildCall2(ir.builder, signature, opaque, &constant, 1, ""), b);
    ir.br(join);
  }
  ir.at(other);
  ir.br(join);
  incoming.emplace_back(id, other);
  ir.at(join);
  Value result = LLVMBuildPhi(ir.builder, ir.i32, "");
  for (auto [value, block] : incoming) LLVMAddIncoming(result, &value, &block, 1);
  return result;
}

void SamplerFunctionBuilder::fold(Value& s, Value& t, bool fixed) {
  if (plan.seamless()) return;
  if (fixed) {
    s = fold_fixed(c, plan.key.sampler.address_u, s), t = fold_fixed(c, plan.key.sampler.address_v, t);
    return;
  }
  s = fold_coordinate(c, plan.key.sampler.address_u, s);
  if (!plan.one_dimensional) t = fold_coordinate(c, plan.key.sampler.address_v, t);
  if (plan.volume) c.r = fold_coordinate(c, plan.key.sampler.address_w, c.r);
}

/// Whether lanes of different levels are served at once: their sizes and places come from tables of one vector (AVX-512).
bool SamplerFunctionBuilder::levels_by_lane() const {
  return ir.wide && ir.lanes == 16 && plan.mip_linear && plan.min == LevelFilter::linear && plan.mag == plan.min && plan.texel_B == 4 &&
         !plan.array && !plan.cube && !plan.volume && !plan.one_dimensional;
}

/// `magnified`: lanes that take level 0 whatever lambda is; or null. `choose` is emitted where it is needed.
void SamplerFunctionBuilder::sample(Value s, Value t, Value face, const std::function<LevelChoice()>& choose, Value magnified, Value mask) {
  assert(plan.key.has_sampler && Ir::type_of(s) == ir.vf32 && Ir::type_of(t) == ir.vf32 && Ir::type_of(mask) == ir.i32);
  if (plan.planes) return sample_planes(s, t, plan.mag != plan.min ? choose().magnified : nullptr);
  fold(s, t, plan.fixed);
  if (plan.alpha_alone) c.wants_alpha = ir.eq(ir.and_(mask, ir.c32(kWithoutAlpha)), ir.c32(0));
  if (asks_centres()) sample_centres(s, t);
  if (plan.level_0_alone) {
    if (plan.fixed) return finish_fixed(sum_fixed(s, t, ir.c32(0), nullptr, nullptr));
    return finish(sample_level(ir.c32(0), s, t, face, plan.min));
  }
  mask = ir.and_(mask, ir.c32((1u << ir.lanes) - 1));
  auto by_lane = [&](const LevelChoice& choice) {
    return plan.fixed ? sample_fixed(s, t, choice.level, choice.weight, mask) : sample_lanes(s, t, choice, mask);
  };
  if (!levels_by_lane()) return finish(unpack(sample_groups(s, t, face, choose(), mask)), plan.fixed);
  if (ir.quick) return finish(unpack(by_lane(choose())), plan.fixed);
  // Level 0 alone, as where all lanes magnify, is a branch of its own: nothing waits for the level there, and there is no logarithm where
  // the derivatives are short enough.
  LevelChoice choice;
  Value smaller = nullptr;
  if (magnified) {
    smaller = ir.and_(ir.not_(ir.movemask(magnified)), ir.select(ir.eq(c.level_count, ir.c32(1)), ir.c32(0), mask));
  } else {
    choice = choose();
    smaller = ir.and_(ir.movemask(ir.fgt(choice.d, ir.fk(0))), mask);
  }
  if (plan.fixed) {
    const auto pairs = [&](Value level, Value weight) {
      const FixedSum sum = sum_fixed(s, t, level, weight, mask);
      return std::vector<Value>{sum.pair[0], sum.pair[1]};
    };
    const std::vector<Value> sums = ir.if_else(
        ir.ne(smaller, ir.c32(0)),
        [&] {
          // Mostly one level for all, whose lower rows are at the offsets of the upper ones.
          const LevelChoice chosen = magnified ? choose() : choice;
          Value first = ir.extract(chosen.level, 0), others = ir.and_(ir.movemask(ir.ne(chosen.level, ir.splat(first))), mask);
          return ir.if_else(
              ir.eq(others, ir.c32(0)), [&] { return pairs(first, chosen.weight); }, [&] { return pairs(chosen.level, chosen.weight); });
        },
        [&] { return pairs(ir.c32(0), nullptr); });
    return finish_fixed({{sums[0], sums[1]}});
  }
  finish(unpack(ir.if_else(
             ir.ne(smaller, ir.c32(0)), [&] { return by_lane(magnified ? choose() : choice); },
             [&] { return pack(sample_level(ir.c32(0), s, t, face, LevelFilter::linear)); })),
         plan.fixed);
}

/// First the color of the first level itself, then a mix, where the lane has a fraction; finite numbers keep their bits at a fraction of 0.
std::vector<Value> SamplerFunctionBuilder::mix_levels(const std::vector<Value>& now, const std::vector<Value>& first,
                                                      const LevelChoice& choice) const {
  assert(choice.fraction && now.size() == first.size());
  if (plan.reduction != VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE)
    return pack(reduce_texels(c, unpack(first), unpack(now), choice.fraction));
  std::vector<Value> mixed;
  for (size_t k = 0; k < now.size(); ++k) {
    Value v = ir.fma(ir.fsub(now[k], first[k]), choice.fraction, first[k]);
    mixed.push_back(plan.finite ? v : ir.select(ir.fgt(choice.fraction, ir.fk(0)), v, first[k]));
  }
  return mixed;
}

/// Each lane's level, and the next one where some lane has a fraction: no jump and no group depends on the level, which comes at the end of
/// a long chain (the logarithm of the derivatives) and changes from packet to packet where triangles are small.
std::vector<Value> SamplerFunctionBuilder::sample_lanes(Value s, Value t, const LevelChoice& choice, Value mask) {
  assert(levels_by_lane() && choice.fraction && Ir::type_of(choice.level) == ir.vi32);
  const auto one_level = [&](Value levels) { return pack(filter_level(load_level_of_lanes(c, levels), s, t, nullptr)); };
  return sample_two_levels(one_level, choice, choice.level, mask);
}

/// Lanes of `mask` (bits) with equal `id` are served at once, group after group: `serve(id, members, bits)` gives the group's values, of
/// which its members take theirs. The id of the first group is `predicted` where that pays.
std::vector<Value> SamplerFunctionBuilder::each_group(Value id, Value mask, bool predict, const ServeGroup& serve) {
  assert(Ir::type_of(id) == ir.vi32 && Ir::type_of(mask) == ir.i32);
  // The id of any lane, through memory.
  Value id_memory = LLVMBuildAlloca(ir.builder, ir.vi32, "");
  LLVMSetAlignment(id_memory, 4 * ir.lanes);
  ir.store(id, id_memory, 4 * ir.lanes);
  const std::vector<Value> initial(pack(like_texel(ir.fk(0))).size(), ir.fk(0));

  Block before = ir.current_block(), groups = ir.block("group"), body = ir.block("group_body"), done = ir.block("done");
  ir.br(groups);
  ir.at(groups);
  Value remaining = LLVMBuildPhi(ir.builder, ir.i32, "");
  std::vector<Value> result;
  for (size_t k = 0; k < initial.size(); ++k) result.push_back(LLVMBuildPhi(ir.builder, ir.vf32, ""));
  ir.br(ir.ne(remaining, ir.c32(0)), body, done);

  ir.at(body);
  Value first_lane = ir.call_intrinsic("llvm.cttz", {ir.i32}, {remaining, ir.c1(true)});
  Value at = ir.offset(id_memory, ir.shl(ir.zext(ir.and_(first_lane, ir.c32(ir.lanes - 1)), ir.i64), 2));
  Value group_id = ir.load(ir.i32, at, 4);
  if (predict) group_id = predicted(group_id);
  Value members = ir.eq(id, ir.splat(group_id)), member_bits = ir.and_(ir.movemask(members), remaining);
  const std::vector<Value> served = serve(group_id, members, member_bits);
  assert(served.size() == result.size());
  Value rest = ir.and_(remaining, ir.not_(member_bits));
  Block last = ir.current_block();
  for (size_t k = 0; k < result.size(); ++k) {
    Value merged = ir.select(members, served[k], result[k]);
    Value zero = initial[k];
    LLVMAddIncoming(result[k], &zero, &before, 1);
    LLVMAddIncoming(result[k], &merged, &last, 1);
  }
  LLVMAddIncoming(remaining, &mask, &before, 1);
  LLVMAddIncoming(remaining, &rest, &last, 1);
  // All lanes in one group, as mostly: no need to select.
  ir.br(ir.eq(member_bits, mask), done, groups);
  ir.at(done);
  std::vector<Value> all;
  for (size_t k = 0; k < result.size(); ++k) all.push_back(ir.phi(ir.vf32, {{result[k], groups}, {served[k], last}}));
  return all;
}

/// The first level of a group, then the next one where somebody needs it: the body is emitted once.
std::vector<Value> SamplerFunctionBuilder::sample_two_levels(const std::function<std::vector<Value>(Value level)>& one_level,
                                                             const LevelChoice& choice, Value level, Value member_bits) {
  Value blends = ir.fgt(choice.fraction, ir.fk(0));
  Value needs_second = ir.ne(ir.and_(ir.movemask(blends), member_bits), ir.c32(0));
  Block entry = ir.current_block(), levels = ir.block("level"), levels_done = ir.block("levels_done");
  ir.br(levels);
  ir.at(levels);
  Value index = LLVMBuildPhi(ir.builder, Ir::type_of(level), ""), second = LLVMBuildPhi(ir.builder, ir.i1, "");
  std::vector<Value> first;
  for (size_t k = 0; k < pack(like_texel(ir.fk(0))).size(); ++k) first.push_back(LLVMBuildPhi(ir.builder, ir.vf32, ""));
  std::vector<Value> now = one_level(index);
  std::vector<Value> color = ir.if_else(second, [&] { return mix_levels(now, first, choice); }, [&] { return now; });
  Value last_level = ir.sub(c.level_count, ir.c32(1));
  Value next = ir.smin(ir.add(index, Ir::same(index, 1)), Ir::lanes_of(index) > 1 ? ir.splat(last_level) : last_level);
  Block last = ir.current_block();
  ir.br(ir.and_(needs_second, ir.xor_(second, ir.c1(true))), levels, levels_done);
  Value no = ir.c1(false), yes = ir.c1(true), zero = ir.fk(0);
  LLVMAddIncoming(index, &level, &entry, 1), LLVMAddIncoming(index, &next, &last, 1);
  LLVMAddIncoming(second, &no, &entry, 1), LLVMAddIncoming(second, &yes, &last, 1);
  for (size_t k = 0; k < first.size(); ++k) LLVMAddIncoming(first[k], &zero, &entry, 1), LLVMAddIncoming(first[k], &color[k], &last, 1);
  ir.at(levels_done);
  return color;
}

/// The groups of lanes that share a level; for each, one or two levels.
std::vector<Value> SamplerFunctionBuilder::sample_groups(Value s, Value t, Value face, const LevelChoice& choice, Value mask) {
  assert(Ir::type_of(choice.level) == ir.vi32 && (!plan.cube || face) && !(choice.weight && choice.fraction));
  Value id = choice.level;
  if (choice.magnified) id = ir.or_(id, ir.and_(ir.mask_to_int(choice.magnified), ir.ik(64)));
  return each_group(id, mask, true, [&](Value group_id, Value, Value member_bits) {
    Value level = choice.magnified ? ir.and_(group_id, ir.c32(63)) : group_id;
    const auto one_level = [&](Value index) -> std::vector<Value> {
      if (!choice.magnified) return pack(sample_level(index, s, t, face, plan.min));
      return ir.if_else(
          ir.ne(ir.and_(group_id, ir.c32(64)), ir.c32(0)), [&] { return pack(sample_level(index, s, t, face, plan.mag)); },
          [&] { return pack(sample_level(index, s, t, face, plan.min)); });
    };
    if (choice.weight) return sample_fixed(s, t, level, choice.weight, member_bits);
    return choice.fraction ? sample_two_levels(one_level, choice, level, member_bits) : one_level(level);
  });
}

void SamplerFunctionBuilder::gradient() {
  using namespace gradient_arg;
  load_context(parameter(fn, descriptor), parameter(fn, layer));
  c.dref = parameter(fn, dref);
  c.offset_x = parameter(fn, offset_x), c.offset_y = parameter(fn, offset_y);
  if (plan.volume) c.r = parameter(fn, r), c.offset_z = parameter(fn, offset_z);
  const Footprint of = {{parameter(fn, s), parameter(fn, t), parameter(fn, r)},
                        {parameter(fn, dsdx), parameter(fn, dtdx), parameter(fn, drdx)},
                        {parameter(fn, dsdy), parameter(fn, dtdy), parameter(fn, drdy)}};
  if (plan.anisotropic) return sample_along(of, parameter(fn, bias), parameter(fn, mask));
  if (plan.cube) {
    const CubeCoordinates on_face = cube_face(ir, of.at, of.dx, of.dy);
    const Value x[3] = {on_face.dsdx, on_face.dtdx}, y[3] = {on_face.dsdy, on_face.dtdy};
    Value lambda = lod_of_gradients(c, x, y, parameter(fn, bias));
    return sample(on_face.s, on_face.t, on_face.face, [&] { return choose_level(c, lambda); }, nullptr, parameter(fn, mask));
  }
  sample_at(of.at[0], of.at[1], rho_squared(c, of.dx, of.dy), parameter(fn, bias), parameter(fn, mask));
}

void SamplerFunctionBuilder::min_lod() {
  c.min_lod = parameter(fn, min_lod_arg::min_lod);
  gradient();
}

void SamplerFunctionBuilder::implicit() {
  using namespace implicit_arg;
  load_context(parameter(fn, descriptor), parameter(fn, layer));
  c.dref = parameter(fn, dref);
  c.offset_x = parameter(fn, offset_x), c.offset_y = parameter(fn, offset_y);
  if (plan.anisotropic) {
    // One number says nothing of the direction: the coordinates of the quad do.
    const auto difference = [&](Value v, int pixel) {
      std::vector<int> other, first;
      for (int lane = 0; lane < static_cast<int>(ir.lanes); ++lane) other.push_back((lane & ~3) + pixel), first.push_back(lane & ~3);
      return ir.fsub(ir.shuffle(v, other), ir.shuffle(v, first));
    };
    const Value at[2] = {parameter(fn, s), parameter(fn, t)};
    return sample_along({{at[0], at[1], nullptr},
                         {difference(at[0], 1), difference(at[1], 1), nullptr},
                         {difference(at[0], 2), difference(at[1], 2), nullptr}},
                        nullptr, parameter(fn, mask));
  }
  sample_at(parameter(fn, s), parameter(fn, t), parameter(fn, rho2), nullptr, parameter(fn, mask));
}

/// Of 1D, 2D and 3D views. `bias`: or null.
void SamplerFunctionBuilder::sample_at(Value s, Value t, Value rho2, Value bias, Value mask) {
  assert(!plan.cube);
  if (plan.key.sampler.unnormalized_coordinates) return sample(s, t, nullptr, [&] { return choose_level(c, ir.fk(0)); }, nullptr, mask);
  const bool limited = c.min_lod || plan.key.min_lod;  // then a short derivative does not say that level 0 is enough
  sample(
      s, t, nullptr,
      [&] {
        if (plan.fixed && plan.mip_linear && !limited) return choose_fixed_level(c, lod_of_rho_squared(c, rho2, bias, kFixedOne + 1));
        return choose_level(c, lod_of_rho_squared(c, rho2, bias));
      },
      limited ? nullptr : magnified_for_sure(c, rho2, bias), mask);
}

void SamplerFunctionBuilder::lod() {
  using namespace lod_arg;
  load_context(parameter(fn, descriptor), parameter(fn, layer));
  c.dref = parameter(fn, dref);
  c.offset_x = parameter(fn, offset_x), c.offset_y = parameter(fn, offset_y);
  Value lambda = plan.key.sampler.unnormalized_coordinates ? ir.fk(0) : lod_explicit(c, parameter(fn, lod_arg::lod));
  if (plan.cube) {
    const Value v[3] = {parameter(fn, s), parameter(fn, t), parameter(fn, r)};
    const CubeCoordinates on_face = cube_face(ir, v, nullptr, nullptr);
    return sample(on_face.s, on_face.t, on_face.face, [&] { return choose_level(c, lambda); }, nullptr, parameter(fn, mask));
  }
  if (plan.volume) c.r = parameter(fn, r), c.offset_z = parameter(fn, offset_z);
  sample(parameter(fn, s), parameter(fn, t), nullptr, [&] { return choose_level(c, lambda); }, nullptr, parameter(fn, mask));
}

namespace {

CodeKey code_key(const SamplerPlan& plan, TextureUse use) {
  CodeKey code("sampler");
  const SamplerKey& k = plan.key;
  const SamplerCreateInfo& s = k.sampler;
  const bool sampled = use & (kUsesThatSample | kUseQueryLod), filtered = sampled || use == kUseGather;
  const auto is = [](LevelFilter a, LevelFilter b) { return a == b ? 1u : 0u; };
  // Only what reaches the function's code, in a canonical form.
  const uint32_t fields[] = {static_cast<uint32_t>(use),
                             static_cast<uint32_t>(k.format),
                             static_cast<uint32_t>(k.aspect),
                             static_cast<uint32_t>(k.dim),
                             k.multisampled,
                             filtered ? static_cast<uint32_t>(s.address_u) : 0u,
                             filtered && !plan.one_dimensional ? static_cast<uint32_t>(s.address_v) : 0u,
                             filtered && plan.volume ? static_cast<uint32_t>(s.address_w) : 0u,
                             filtered && (plan.compare || plan.compare_zero) ? 1u + static_cast<uint32_t>(s.compare_op) : 0u,
                             filtered && s.unnormalized_coordinates             ? 1u
                             : filtered && plan.cube && s.non_seamless_cube_map ? 2u
                                                                                : 0u,
                             sampled && plan.anisotropic,
                             sampled && plan.level_0_alone && use != kUseQueryLod,
                             sampled ? static_cast<uint32_t>(plan.reduction) : 0u,
                             sampled
                                 ? 1u + is(plan.mag, LevelFilter::linear) + 2u * is(plan.min, LevelFilter::linear) + 4u * plan.mip_linear +
                                       8u * is(plan.mag, LevelFilter::cubic) + 16u * is(plan.min, LevelFilter::cubic)
                                 : 0u};
  code.add_bytes(fields, sizeof fields);
  for (uint32_t c = 0; c < 4; ++c) {
    const auto swizzle = static_cast<uint32_t>(k.swizzle[c]);
    code.add(swizzle == VK_COMPONENT_SWIZZLE_IDENTITY ? VK_COMPONENT_SWIZZLE_R + c : swizzle);
  }
  if (k.min_lod) code.add_bytes("least LOD", 9);
  if (sampled && s.ycbcr) {
    const SamplerYcbcrConversionCreateInfo& how = s.ycbcr->info();  // but for what the plan has of it
    for (uint32_t word : {static_cast<uint32_t>(how.model), static_cast<uint32_t>(how.range), static_cast<uint32_t>(how.x_chroma_offset),
                          static_cast<uint32_t>(how.y_chroma_offset), static_cast<uint32_t>(how.chroma_filter),
                          static_cast<uint32_t>(how.force_explicit_reconstruction)})
      code.add(word);
  }
  return code;
}

/// What the view's type says.
Status set_dimension(VkImageViewType dim, SamplerPlan& plan) {
  switch (dim) {
    case VK_IMAGE_VIEW_TYPE_1D:
      plan.one_dimensional = true;
      break;
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
      plan.one_dimensional = plan.array = true;
      break;
    case VK_IMAGE_VIEW_TYPE_2D:
      break;
    case VK_IMAGE_VIEW_TYPE_2D_ARRAY:
      plan.array = true;
      break;
    case VK_IMAGE_VIEW_TYPE_CUBE:
      plan.cube = true;
      break;
    case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY:
      plan.cube = plan.array = true;
      break;
    case VK_IMAGE_VIEW_TYPE_3D:
      plan.volume = true;
      break;
    default:
      return Error{VK_ERROR_FEATURE_NOT_PRESENT,
                   "sampler: view type " + std::to_string(dim) + "; allowed are 1D, 2D, 3D, cube and arrays of them"};
  }
  return Ok{};
}

/// Integers are not filtered; cubes have no cubic filter (VkFilterCubicImageViewImageFormatPropertiesEXT says so), a linear one in its
/// place.
LevelFilter level_filter(const SamplerPlan& plan, VkFilter filter) {
  if (plan.integer || filter == VK_FILTER_NEAREST) return LevelFilter::nearest;
  return filter == VK_FILTER_CUBIC_EXT && !plan.cube ? LevelFilter::cubic : LevelFilter::linear;
}

}  // namespace

Expected<SamplerPlan> make_sampler_plan(const SamplerKey& key) {
  SamplerPlan plan;
  plan.key = key;
  plan.format = vk::find_format(key.format);
  if (!plan.format || !(plan.format->sampled || (plan.format->is_texel_buffer() && !key.has_sampler))) {
    return Error{VK_ERROR_FORMAT_NOT_SUPPORTED, std::string("sampler: view format ") +
                                                    (plan.format ? plan.format->name : std::to_string(key.format)) + " cannot be sampled"};
  }
  if (Status known = set_dimension(key.dim, plan); !known) return known.error();
  // A number of 64 bits is two words to all code here; who reads and stores puts them together (lower/image.cpp).
  if (plan.format->rgba[0].bits == 64) plan.format = vk::find_format(VK_FORMAT_R32G32_UINT);
  const vk::FormatInfo& f = *plan.format;
  plan.texel_B = f.texel_B;
  if (f.is_depth_stencil()) {
    plan.stencil = key.aspect == VK_IMAGE_ASPECT_STENCIL_BIT || f.depth_bits == 0;
    plan.depth = !plan.stencil;
    if (f.format == VK_FORMAT_D32_SFLOAT_S8_UINT) plan.texel_B = plan.stencil ? 1 : 4;
    plan.integer = plan.stencil;
    plan.components[0] = plan.stencil || f.depth_bits == 32 ? TexelComponent{ComponentKind::direct, 1, false}
                                                            : TexelComponent{ComponentKind::code, (1u << f.depth_bits) - 1, false};
    plan.components[3] = {ComponentKind::one, 1, false};
  } else {
    plan.integer = f.is_integer();
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t bits = f.rgba[c].bits;
      TexelComponent& component = plan.components[c];
      if (bits == 0) {
        component.kind = c == 3 ? ComponentKind::one : ComponentKind::zero;
      } else if (f.is_compressed()) {
        component = f.code_maximum[c] ? TexelComponent{ComponentKind::code, f.code_maximum[c], f.numeric == vk::Numeric::snorm}
                                      : TexelComponent{ComponentKind::direct, 1, false};
      } else if (f.numeric == vk::Numeric::unorm || (f.numeric == vk::Numeric::srgb && c == 3)) {
        component = {ComponentKind::code, (1u << bits) - 1, false};
      } else if (f.numeric == vk::Numeric::snorm) {
        component = {ComponentKind::code, (1u << (bits - 1)) - 1, true};
      } else {
        component.kind = ComponentKind::direct;
      }
    }
  }
  plan.compare = key.has_sampler && key.sampler.compare_enable && !plan.integer && !f.needs_conversion();
  plan.compare_zero = plan.compare && plan.components[0].kind == ComponentKind::zero;
  plan.compare = plan.compare && !plan.compare_zero;
  plan.compare_color = plan.compare && !plan.depth;
  for (uint32_t c = 0; c < 4; ++c) {
    const VkComponentSwizzle s = key.swizzle[c];
    if (s == VK_COMPONENT_SWIZZLE_IDENTITY) plan.needed[c] = true;
    if (s >= VK_COMPONENT_SWIZZLE_R && s <= VK_COMPONENT_SWIZZLE_A) plan.needed[s - VK_COMPONENT_SWIZZLE_R] = true;
  }
  if (plan.depth || plan.stencil || f.format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
    for (bool& n : plan.needed) n = true;  // loaded as a whole
  }
  if (plan.compare_color) plan.needed[0] = true;
  if (plan.compare && plan.depth) plan.components[0].kind = f.depth_bits == 32 ? ComponentKind::direct : ComponentKind::code;
  const SamplerCreateInfo& s = key.sampler;
  plan.mag = level_filter(plan, s.mag_filter), plan.min = level_filter(plan, s.min_filter);
  plan.mip_linear = !plan.integer && s.mipmap_mode == VK_SAMPLER_MIPMAP_MODE_LINEAR && !s.unnormalized_coordinates;
  plan.level_0_alone = key.one_level && plan.mag == plan.min;
  plan.uses_border = key.has_sampler && !plan.seamless() &&
                     (s.address_u == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER ||
                      (!plan.one_dimensional && s.address_v == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) ||
                      (plan.volume && s.address_w == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER));
  // Whatever the filter within a level, but cubic; of integers, which have no average, none.
  plan.anisotropic =
      key.has_sampler && s.max_anisotropy > 1 && plan.min != LevelFilter::cubic && !f.is_integer() && !s.unnormalized_coordinates;
  plan.reduction = key.has_sampler ? s.reduction_mode : VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  plan.planes = f.needs_conversion();
  if (plan.planes && !s.ycbcr)
    return Error{VK_ERROR_FORMAT_NOT_SUPPORTED, std::string("sampler: views of ") + f.name + " are sampled with a Y'CbCr conversion alone"};
  plan.convert = key.has_sampler && s.ycbcr && s.ycbcr->info().model != VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY;
  plan.finite = !plan.uses_border;  // BC6H has an infinity
  for (const TexelComponent& c : plan.components)
    plan.finite = plan.finite && (c.kind != ComponentKind::direct || f.numeric == vk::Numeric::srgb);
  plan.fixed = plan.mag == LevelFilter::linear && plan.min == LevelFilter::linear && plan.texel_B == 4 && !plan.cube && !plan.volume &&
               !plan.one_dimensional && !plan.uses_border && !plan.compare && !plan.anisotropic &&
               plan.reduction == VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE && f.numeric == vk::Numeric::unorm && !plan.planes;
  for (const vk::Component& component : f.rgba) plan.fixed = plan.fixed && component.bits == 8;
  plan.halves = filters_halves(plan);
  plan.alpha_alone = plan.components[3].kind == ComponentKind::code && plan.texel_B == 4 && !plan.cube && !plan.volume &&
                     !plan.one_dimensional && !plan.uses_border && !plan.compare && !plan.planes;
  for (uint32_t c = 0; c < 4; ++c) {
    const VkComponentSwizzle from = key.swizzle[c];
    const bool takes_alpha = from == VK_COMPONENT_SWIZZLE_A || (from == VK_COMPONENT_SWIZZLE_IDENTITY && c == 3);
    plan.alpha_alone = plan.alpha_alone && takes_alpha == (c == 3);
  }
  assert(!plan.fixed || (plan.finite && !plan.integer));
  assert(plan.texel_B >= 1 && plan.texel_B <= 16 && !(plan.depth && plan.stencil));
  return plan;
}

Expected<SamplerFunctions> compile_null_sampler(Jit& jit) {
  SamplerFunctions functions;
  struct Operation {
    TextureUse use;
    Type (*type)(const Ir&);
    const CodeSlot** slot;
  };
  const Operation operations[] = {{kUseGradient, sample_gradient_type, &functions.gradient},
                                  {kUseLod, sample_lod_type, &functions.lod},
                                  {kUseFetch, fetch_type, &functions.fetch},
                                  {kUseGather, gather_type, &functions.gather},
                                  {kUseImplicit, sample_implicit_type, &functions.implicit},
                                  {kUseStore, store_type, &functions.store},
                                  {kUseAddress, address_type, &functions.address},
                                  {kUseQueryLod, sample_gradient_type, &functions.query_lod}};
  for (const Operation& operation : operations) {
    CodeKey key("null sampler");
    key.add(static_cast<uint32_t>(operation.use));
    auto code = jit.function(key, [lanes = jit.lanes(), type = operation.type](LLVMModuleRef module, const char* name) -> Status {
      Ir ir(module, lanes);
      Value fn = ir.function(name, type(ir));
      ir.at(ir.block(fn, "entry"));
      const Type result = LLVMGetReturnType(type(ir));
      if (result == ir.void_type)
        LLVMBuildRetVoid(ir.builder);
      else
        LLVMBuildRet(ir.builder, LLVMConstNull(result));
      return Ok{};
    });
    if (!code) return code.error();
    *operation.slot = *code;
  }
  functions.min_lod = functions.gradient;  // one argument more, which it does not look at either
  Expected<const CodeSlot*> many = compile_many_one_by_one(jit);
  if (!many) return many.error();
  functions.many = *many;
  return functions;
}

Expected<SamplerFunctions> compile_sampler(Jit& jit, const SamplerKey& key, uint16_t uses) {
  Expected<SamplerPlan> plan = make_sampler_plan(key);
  if (!plan) return plan.error();
  const uint32_t lanes = jit.lanes();
  constexpr uint16_t kByCoordinates = kUseFetch | kUsesThatWrite;
  if ((uses & ~kByCoordinates) && !key.has_sampler)
    return Error{VK_ERROR_UNKNOWN, "sampler: sampling needs a sampler, and the descriptor has none"};
  if ((uses & kUseGather) && plan->volume)
    return Error{VK_ERROR_FEATURE_NOT_PRESENT, "sampler: views of type 3D can't be gathered from: SPIR-V has no such operation"};
  const bool writes = (uses & kUseStore && !plan->format->storage) || (uses & kUseAddress && !vk::find_format(key.format)->is_atomic());
  if (writes)
    return Error{VK_ERROR_FORMAT_NOT_SUPPORTED, std::string("storage: format ") + vk::find_format(key.format)->name +
                                                    (uses & kUseStore ? " can't be stored to" : " has no atomic operations")};
  auto make = [&](TextureUse use, Type (*type)(const Ir&), void (SamplerFunctionBuilder::*emit)()) {
    return jit.function(code_key(*plan, use),
                        [plan = *plan, lanes, gathers = jit.gathers(), type, emit](LLVMModuleRef module, const char* name) -> Status {
                          Ir ir(module, lanes);
                          ir.gathers = gathers;
                          Value fn = ir.function(name, type(ir));
                          ir.at(ir.block(fn, "entry"));
                          SamplerFunctionBuilder builder(ir, plan, fn);
                          (builder.*emit)();
                          return Ok{};
                        });
  };
  SamplerFunctions functions;
  struct Use {
    TextureUse use;
    Type (*type)(const Ir&);
    void (SamplerFunctionBuilder::*emit)();
    const CodeSlot** slot;
  };
  const Use table[] = {{kUseGradient, sample_gradient_type, &SamplerFunctionBuilder::gradient, &functions.gradient},
                       {kUseLod, sample_lod_type, &SamplerFunctionBuilder::lod, &functions.lod},
                       {kUseFetch, fetch_type, &SamplerFunctionBuilder::fetch, &functions.fetch},
                       {kUseGather, gather_type, &SamplerFunctionBuilder::gather, &functions.gather},
                       {kUseImplicit, sample_implicit_type, &SamplerFunctionBuilder::implicit, &functions.implicit},
                       {kUseStore, store_type, &SamplerFunctionBuilder::store, &functions.store},
                       {kUseAddress, address_type, &SamplerFunctionBuilder::address, &functions.address},
                       {kUseQueryLod, sample_gradient_type, &SamplerFunctionBuilder::query_lod, &functions.query_lod},
                       {kUseMinLod, sample_min_lod_type, &SamplerFunctionBuilder::min_lod, &functions.min_lod},
                       {kUseMany, sample_many_type, &SamplerFunctionBuilder::many, &functions.many}};
  for (const Use& u : table) {
    if (!(uses & u.use) || (u.use == kUseMany && (lanes != 16 || !filters_many(*plan)))) continue;
    Expected<const CodeSlot*> function = make(u.use, u.type, u.emit);
    if (!function) return function.error();
    *u.slot = *function;
  }
  return functions;
}

}  // namespace tilegpu::shader
