// shader/lower/fragment.cpp -- the fragment entry point: void f(FragmentArgs*) shades one packet of N/4 quads; and the same with the
// epilogue behind it, for pixel packets. Loops over whole blocks: blocks.cpp.
//
// In: FragmentKey. Out: machine code. Order: inputs (one version for packets of one primitive, one for mixed ones, joined), the body,
// outputs as 32-bit patterns. A sliced shader (coverage_only) stores only what decides coverage; LLVM removes the rest.
// Source: Vulkan specification, "Fragment Shaders", "Fragment Operations"; abi.hpp.
#include "shader/lower/fragment.hpp"

#include <cassert>

#include "shader/lower/quick_inputs.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {
namespace {

size_t color_offset_B(uint32_t location, uint32_t component) {
  return offsetof(FragmentArgs, color) + (static_cast<size_t>(location) * 4 + component) * kMaxLanes * 4;
}

size_t source1_offset_B(uint32_t component) { return offsetof(FragmentArgs, color_source1) + size_t{component} * kMaxLanes * 4; }

}  // namespace

void FragmentBuilder::find_inputs() {
  for (uint32_t id : used_variables(l.m, spv::StorageClassInput)) {
    InputVariable v;
    v.id = id, v.scalars = interface_of(l.m, l.constants, id), v.used = used_scalars(l.m, l.constants, id);
    variables.push_back(std::move(v));
  }
}

/// Built-ins whose value is that of the packet; null for those that depend on the primitive.
Value FragmentBuilder::builtin(const InterfaceScalar& s, const Interpolator::Position& at, const Interpolator::Barycentrics& b,
                               bool uniform) {
  const Ir& ir = l.ir;
  switch (static_cast<spv::BuiltIn>(s.builtin)) {
    case spv::BuiltInFragCoord:
      if (s.element == 0) return at.x;
      if (s.element == 1) return at.y;
      return s.element == 2 ? inputs.plane(offsetof(PrimitiveSetup, z0), at, uniform) : b.q;
    case spv::BuiltInFrontFacing: {
      Value front = inputs.field(ir.i32, offsetof(PrimitiveSetup, front_facing), uniform);
      return l.vary(ir.ne(front, Ir::same(front, 0)));
    }
    case spv::BuiltInPrimitiveId:
      return l.vary(inputs.field(ir.i32, offsetof(PrimitiveSetup, primitive_id), uniform));
    case spv::BuiltInLayer:
      return ir.field(ir.i32, l.args, offsetof(FragmentArgs, layer));
    case spv::BuiltInSampleId:
      return ir.field(ir.i32, l.args, offsetof(FragmentArgs, sample_index));
    case spv::BuiltInSamplePosition: {
      Value index = ir.zext(ir.field(ir.i32, l.args, offsetof(FragmentArgs, sample_index)), ir.i64);
      Value positions = ir.field(ir.ptr, l.args, offsetof(FragmentArgs, sample_positions), 8);
      return ir.load(ir.f32, ir.offset(positions, ir.add(ir.shl(index, 3), ir.c64(4 * s.element))), 4);
    }
    case spv::BuiltInShadingRateKHR:
      return key.coarse ? inputs.quads_to_lanes(ir.field(Ir::vec(ir.i32, ir.lanes / 4), l.args, offsetof(FragmentArgs, fragment_size)))
                        : ir.ik(0);
    case spv::BuiltInSampleMask: {
      if (s.element > 0) return ir.ik(0);
      if (key.coarse) return ir.field(ir.vi32, l.args, offsetof(FragmentArgs, sample_mask_in));
      const bool tested = l.m.entry.has_mode(spv::ExecutionModePostDepthCoverage);
      Value mask = ir.ik(0);
      for (uint32_t k = 0; k < key.samples; ++k) mask = ir.or_(mask, ir.select(inputs.covered(k, tested), ir.ik(1u << k), ir.ik(0)));
      if (!key.per_sample) return mask;
      Value own = ir.shl(ir.c32(1), ir.and_(ir.field(ir.i32, l.args, offsetof(FragmentArgs, sample_index)), ir.c32(31)));
      return ir.and_(mask, ir.splat(own));
    }
    case spv::BuiltInHelperInvocation:
      return ir.not_(l.load_mask(l.alive));
    case spv::BuiltInPointCoord: {
      // A point is a square of two triangles, both anchored at its first corner, along whose side lambda1 grows to 1.
      const bool along_x = s.element == 0;
      const auto get = [&](size_t at_B) { return l.vary(inputs.field(ir.f32, at_B, uniform)); };
      Value from = get(along_x ? offsetof(PrimitiveSetup, anchor_x) : offsetof(PrimitiveSetup, anchor_y));
      Value each_px = ir.fmul(get(offsetof(PrimitiveSetup, ix)), get(offsetof(PrimitiveSetup, w1)));
      return ir.fmul(ir.fsub(along_x ? at.x : at.y, from), each_px);
    }
    case spv::BuiltInViewportIndex:
      return ir.field(ir.i32, l.args, offsetof(FragmentArgs, viewport_index));
    case spv::BuiltInViewIndex:
      return ir.field(ir.i32, l.args, offsetof(FragmentArgs, view_index));
    default:
      if (Value of_subgroup = subgroup_builtin(ir, s)) return of_subgroup;
      break;
  }
  l.unsupported("the built-in input " + builtin_name(s.builtin) + " is not supported in fragment shaders");
  return Ir::zero(l.scalar_type(s.base));
}

/// The used scalars of an input, of the pixel or sample at a position; barycentrics are found once.
void FragmentBuilder::compute_at(const Interpolator::Position& at, bool uniform, const InputVariable& v,
                                 std::optional<Interpolator::Barycentrics>& b, std::optional<Interpolator::Barycentrics>& at_centroid,
                                 std::vector<Value>& result) {
  const Ir& ir = l.ir;
  if (!b) b = inputs.constant ? Interpolator::Barycentrics{} : inputs.barycentrics(at, uniform);
  for (size_t k = 0; k < v.scalars.size() && k < v.used.size(); ++k) {
    const InterfaceScalar& s = v.scalars[k];
    if (!v.used[k]) continue;
    if (s.builtin != kNone && !is_interpolated(s.builtin)) {
      result.push_back(builtin(s, at, *b, uniform));
      continue;
    }
    const int row = row_of(s);
    Value x = ir.fk(0.0f);
    if (row >= 0) {
      const bool elsewhere = s.centroid && s.interpolation != Interpolation::flat && !key.per_sample && !inputs.constant;
      if (elsewhere && !at_centroid) at_centroid = inputs.barycentrics(inputs.centroid(), uniform);
      x = inputs.interpolate(static_cast<uint32_t>(row), s.interpolation, elsewhere ? *at_centroid : *b, uniform);
    }
    result.push_back(s.base == Base::f32 ? x : ir.bits(x));
  }
}

std::vector<Value> FragmentBuilder::compute(bool uniform) {
  const Ir& ir = l.ir;
  const Interpolator::Position at =
      key.per_sample ? inputs.at_sample(ir.field(ir.i32, l.args, offsetof(FragmentArgs, sample_index))) : inputs.centre();
  std::optional<Interpolator::Barycentrics> b, at_centroid;
  std::vector<Value> result;
  for (const InputVariable& v : variables) compute_at(at, uniform, v, b, at_centroid, result);
  if (!l.pixel_slices) return result;
  for (uint32_t corner = 0; corner < 3; ++corner) {
    std::optional<Interpolator::Barycentrics> there;
    for (const InputVariable& v : variables)
      if (l.pixel_slices->inputs.count(v.id)) compute_at(inputs.corner(corner), uniform, v, there, at_centroid, result);
  }
  return result;
}

/// The same by a call into the core, for quick code.
std::vector<Value> FragmentBuilder::compute_by_call() {
  const Ir& ir = l.ir;
  QuickRequests requests{ir.lanes, key.samples, key.per_sample, {}};
  struct Found {
    Value value = nullptr;  // null: that row
    uint32_t row = 0;
    Type type = nullptr;  // i1: a truth value
  };
  std::vector<Found> found;
  for (const InputVariable& v : variables) {
    for (size_t k = 0; k < v.scalars.size() && k < v.used.size(); ++k) {
      const InterfaceScalar& s = v.scalars[k];
      if (!v.used[k]) continue;
      if (s.builtin == spv::BuiltInFragCoord) {
        constexpr QuickInput kCoordinates[4] = {QuickInput::x, QuickInput::y, QuickInput::z, QuickInput::w};
        found.push_back({nullptr, requests.add(kCoordinates[s.element & 3]), ir.f32});
      } else if (s.builtin == spv::BuiltInFrontFacing) {
        found.push_back({nullptr, requests.add(QuickInput::front_facing), ir.i1});
      } else if (s.builtin == spv::BuiltInPrimitiveId) {
        found.push_back({nullptr, requests.add(QuickInput::primitive_id), ir.i32});
      } else if (s.builtin == spv::BuiltInPointCoord) {
        found.push_back({nullptr, requests.add(s.element == 0 ? QuickInput::point_x : QuickInput::point_y), ir.f32});
      } else if (s.builtin != kNone && !is_interpolated(s.builtin)) {
        found.push_back({builtin(s, {}, {}, false)});
      } else {
        const int row = row_of(s);
        const bool elsewhere = s.centroid && s.interpolation != Interpolation::flat && !key.per_sample;
        const QuickInput how = s.interpolation == Interpolation::flat     ? QuickInput::flat
                               : s.interpolation == Interpolation::smooth ? QuickInput::smooth
                                                                          : QuickInput::noperspective;
        if (row < 0)
          found.push_back({s.base == Base::f32 ? ir.fk(0.0f) : ir.ik(0)});
        else
          found.push_back({nullptr, requests.add(how, static_cast<uint32_t>(row), elsewhere), s.base == Base::f32 ? ir.f32 : ir.i32});
      }
    }
  }
  Value rows = nullptr;
  if (!requests.requests.empty()) {
    rows = l.alloca_of(LLVMArrayType2(ir.vf32, requests.requests.size()), "inputs", 4 * ir.lanes);
    call_core(ir, kQuickFragmentInputs, {l.args, constant_words(ir, requests.words()), rows});
  }
  std::vector<Value> result;
  for (const Found& f : found) {
    if (f.value) {
      result.push_back(f.value);
      continue;
    }
    Value v = ir.field(Ir::vec(f.type == ir.f32 ? ir.f32 : ir.i32, ir.lanes), rows, size_t{4} * ir.lanes * f.row, 4 * ir.lanes);
    result.push_back(f.type == ir.i1 ? ir.int_to_mask(v) : v);
  }
  return result;
}

void FragmentBuilder::make_inputs() {
  const Ir& ir = l.ir;
  std::vector<Value> values;
  if (ir.quick && !inputs.once && !inputs.by_lane && !l.slice && !key.coarse) {
    values = compute_by_call();
  } else if (ir.lanes == 4 || inputs.once) {
    values = compute(true);
  } else if (!variables.empty()) {
    Value uniform = ir.ne(ir.field(ir.i32, l.args, offsetof(FragmentArgs, uniform_primitive)), ir.c32(0));
    values = ir.if_else(uniform, [&] { return compute(true); }, [&] { return compute(false); });
  }
  size_t next = 0;
  const auto take = [&](const InputVariable& v) {
    std::vector<Value> words;
    for (size_t k = 0; k < v.scalars.size(); ++k) {
      const bool used = k < v.used.size() && v.used[k] && next < values.size();
      words.push_back(used ? values[next++] : Ir::zero(l.scalar_type(v.scalars[k].base)));
    }
    return from_words(l, l.m.pointee(v.id), words);
  };
  for (const InputVariable& v : variables) set_input(l, v.id, take(v));
  assert(l.failed() || l.pixel_slices || next == values.size());
  if (!l.pixel_slices) return;
  for (auto& at_corner : l.corner_inputs)
    for (const InputVariable& v : variables)
      if (l.pixel_slices->inputs.count(v.id)) at_corner[v.id] = take(v);
}

/// Components that the shader has not, of locations that it writes, are 0: what an earlier shader left must not be seen. Alpha of location
/// 0 decides coverage even where there is no such output.
void FragmentBuilder::write_left_out(WholePacket* packet, const std::bitset<4> (&written)[kMaxTargets + 1]) {
  const Ir& ir = l.ir;
  for (uint32_t t = 0; t <= kMaxTargets; ++t) {
    for (uint32_t c = 0; c < 4; ++c) {
      const bool coverage = t == 0 && c == 3 && !packet && (!key.coverage_only || key.coverage_needs_alpha);
      if (written[t][c] || !(coverage || (written[t].any() && !key.coverage_only))) continue;
      const Value zero = ir.fk(0.0f);
      if (packet)
        (t == kMaxTargets ? packet->source1[c] : packet->color[t][c]) = zero;
      else
        ir.store(zero, ir.offset(l.args, t == kMaxTargets ? source1_offset_B(c) : color_offset_B(t, c)), 4 * ir.lanes);
    }
  }
}

void FragmentBuilder::write_outputs(WholePacket* packet) {
  const Ir& ir = l.ir;
  assert(!packet || !key.coverage_only);
  std::bitset<4> written[kMaxTargets + 1];  // by location; the last: the second source
  for (uint32_t id : used_variables(l.m, spv::StorageClassOutput)) {
    const auto scalars = interface_of(l.m, l.constants, id);
    const auto used = used_scalars(l.m, l.constants, id);
    const Val v = l.load_variable(*l.globals.at(id), l.m.pointee(id), 0, nullptr);
    assert(scalars.size() == v.c.size() && used.size() == v.c.size());
    for (size_t k = 0; k < scalars.size() && k < used.size() && k < v.c.size(); ++k) {
      const InterfaceScalar& s = scalars[k];
      Value x = l.vary(v.c[k]);
      if (s.builtin != kNone) {
        size_t at = 0;
        switch (static_cast<spv::BuiltIn>(s.builtin)) {
          case spv::BuiltInFragDepth:
            at = offsetof(FragmentArgs, depth);
            break;
          case spv::BuiltInSampleMask:
            at = offsetof(FragmentArgs, sample_mask_out);
            break;
          case spv::BuiltInFragStencilRefEXT:
            at = offsetof(FragmentArgs, stencil_out);
            break;
          default:
            l.unsupported("the built-in output " + builtin_name(s.builtin) + " is not supported in fragment shaders");
            return;
        }
        if (s.element == 0) ir.store(x, ir.offset(l.args, at), 4 * ir.lanes);
        continue;
      }
      if (!used[k] || s.location >= kMaxTargets || s.component > 3) continue;
      if (key.coverage_only && !(key.coverage_needs_alpha && s.location == 0 && s.index == 0 && s.component == 3)) continue;
      written[s.index == 1 ? kMaxTargets : s.location].set(s.component);
      if (s.narrow && s.base == Base::i32) x = s.is_signed ? ir.sext(x, ir.i32) : ir.zext(x, ir.i32);
      if (packet) {
        (s.index == 1 ? packet->source1[s.component] : packet->color[s.location][s.component]) =
            Ir::element_of(Ir::type_of(x)) == ir.i32 ? ir.as_float(x) : x;
        continue;
      }
      const size_t at = s.index == 1 ? source1_offset_B(s.component) : color_offset_B(s.location, s.component);
      ir.store(x, ir.offset(l.args, at), 4 * ir.lanes);
    }
  }
  write_left_out(packet, written);
}

Block begin_function(Lowering& l, Value f) {
  assert(!l.entry && LLVMCountBasicBlocks(f) == 0);
  const Ir& ir = l.ir;
  l.args = LLVMGetParam(f, 0);
  l.entry = ir.block(f, "entry");
  LLVMPositionBuilderAtEnd(l.alloca_builder, l.entry);
  Block start = ir.block(f, "start");
  ir.at(start);
  begin_body(l, offsetof(FragmentArgs, sets), offsetof(FragmentArgs, push_constants), offsetof(FragmentArgs, scratch),
             offsetof(FragmentArgs, loops));
  return start;
}

namespace {

Status build_fragment(const FragmentKey& key, const Constants& constants, const Divergence& divergence, LLVMModuleRef module,
                      const char* name, uint32_t lanes) {
  Lowering l(module, lanes, key.module->module(), constants, divergence, key.resources);
  l.fragment = true;
  l.slice = key.coverage_only;
  const Ir& ir = l.ir;
  Value f = ir.function(name, LLVMFunctionType(ir.void_type, const_cast<Type*>(&ir.ptr), 1, 0));
  if (l.slice) ir.add_attribute(f, kSliceAttribute);
  Block start = begin_function(l, f);
  l.alive = l.mask_alloca("alive");
  l.store_mask(l.alive, ir.mask_from_bits(ir.field(ir.i32, l.args, offsetof(FragmentArgs, alive)), lanes));
  bool kills = false, kills_in_loops = false;
  for (const auto& [id, facts] : divergence.functions) {
    kills = kills || facts.kills;
    for (const Construct& c : facts.tree.constructs) kills_in_loops = kills_in_loops || (c.kind == ConstructKind::loop && c.contains_kill);
  }
  for (const Instruction& i : l.m.instructions) kills = kills || i.op == spv::OpDemoteToHelperInvocation;
  // Those that have ended vote no more, and take no part where helper invocations do.
  bool counts_ended = l.m.entry.has_mode(kExecutionModeRequireFullQuads);
  for (const Instruction& i : l.m.instructions) counts_ended = counts_ended || is_quad_vote(i.op);
  if (kills_in_loops || (kills && counts_ended)) l.killed = l.mask_alloca("killed");

  FragmentBuilder builder{l, key, {l, key}, {}};
  l.interpolate_at = [&](const Instruction& i) { return builder.inputs.at_other_position(i); };
  l.read_attachment = [&](const Instruction& i) { return read_input_attachment(builder.inputs, i); };
  builder.find_inputs();
  builder.make_inputs();
  make_globals(l);
  run_entry_point(l);
  builder.write_outputs(nullptr);
  if (kills) ir.store(ir.movemask(l.load_mask(l.alive)), ir.offset(l.args, offsetof(FragmentArgs, alive)), 4);
  LLVMBuildRetVoid(ir.builder);
  LLVMBuildBr(l.alloca_builder, start);
  return l.status;
}

/// void f(FragmentArgs*): body and epilogue of one pixel packet. The colours stay in registers.
Status build_pixels(const FragmentKey& key, const EpilogueKey& epilogue, const Constants& constants, const Divergence& divergence,
                    LLVMModuleRef module, const char* name, uint32_t lanes) {
  const std::optional<PixelSlices> slices = find_pixel_slices(key.module->module(), constants, divergence);
  if (!slices) return Error{VK_ERROR_UNKNOWN, "internal: the shader needs whole quads"};
  Lowering l(module, lanes, key.module->module(), constants, divergence, key.resources);
  l.fragment = true;
  l.pixel_slices = &*slices;
  const Ir& ir = l.ir;
  Value f = ir.function(name, LLVMFunctionType(ir.void_type, const_cast<Type*>(&ir.ptr), 1, 0));
  Block start = begin_function(l, f);
  FragmentBuilder builder{l, key, {l, key}, {}};
  builder.inputs.by_lane = true;
  l.interpolate_at = [&](const Instruction& i) { return builder.inputs.at_other_position(i); };
  builder.find_inputs();
  builder.make_inputs();
  make_globals(l);
  run_entry_point(l);
  WholePacket colors;
  builder.write_outputs(&colors);
  emit_pixel_packet(ir, epilogue, l.args, colors);
  LLVMBuildRetVoid(ir.builder);
  LLVMBuildBr(l.alloca_builder, start);
  return l.status;
}

}  // namespace

void add_fragment(CodeKey& code, const FragmentKey& key) {
  add_stage(code, *key.module, key.specialization, key.varyings, key.resources);
  code.add(key.samples);
  for (const InputSource& input : key.inputs) {
    for (uint32_t word : {input.variable, input.element, input.target, static_cast<uint32_t>(input.format)}) code.add(word);
  }
  for (bool flag : {key.per_sample, key.coverage_only, key.coverage_needs_alpha, key.coarse}) code.add(static_cast<uint32_t>(flag));
}

bool suits_pixels(const Jit& jit, const FragmentKey& key, const StageTraits& traits, const EpilogueKey& epilogue) {
  return jit.wide() && jit.lanes() == 16 && !key.per_sample && !traits.discards && !traits.writes_depth && !traits.writes_sample_mask &&
         !traits.writes_stencil && !traits.reads_tile && !traits.reads_sample_mask && !traits.reads_helper && !traits.uses_centroid &&
         !traits.per_sample && !traits.writes_memory && !traits.asks_who_runs && !traits.dual_source && traits.lanes_alone &&
         replaces_texels(epilogue);
}

Code<FragmentFunction> offer_pixels(Jit& jit, const FragmentKey& key, const EpilogueKey& epilogue) {
  CodeKey code("pixels");
  add_fragment(code, key);
  add_epilogue(code, epilogue);
  return Code<FragmentFunction>(jit.offer(code, [key, epilogue, lanes = jit.lanes()](LLVMModuleRef module, const char* name) {
    return analyse_and_build(key, [&](const Constants& constants, const Divergence& divergence) {
      return build_pixels(key, epilogue, constants, divergence, module, name, lanes);
    });
  }));
}

Expected<Code<FragmentFunction>> compile_fragment(Jit& jit, const FragmentKey& key, When when) {
  if (key.module->reflection().stage != VK_SHADER_STAGE_FRAGMENT_BIT)
    return Error{VK_ERROR_INVALID_SHADER_NV, "shader '" + key.module->label() + "' is no fragment shader"};
  CodeKey code("fragment");
  add_fragment(code, key);
  Expected<const CodeSlot*> slot = jit.function(
      code,
      [key, lanes = jit.lanes()](LLVMModuleRef module, const char* name) {
        return analyse_and_build(key, [&](const Constants& constants, const Divergence& divergence) {
          return build_fragment(key, constants, divergence, module, name, lanes);
        });
      },
      when);
  if (!slot) return Error{slot.error().code, "shader '" + key.module->label() + "': " + slot.error().message};
  return Code<FragmentFunction>(*slot);
}

}  // namespace tilegpu::shader
