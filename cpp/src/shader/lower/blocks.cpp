// shader/lower/blocks.cpp -- body and epilogue of a fragment shader in a loop over whole blocks of one primitive: BlocksFunction.
//
// In: FragmentKey, EpilogueKey. Out: machine code. Where all inputs have one value all over the primitive, as the colour of a rectangle,
// a second loop does without the body: that runs once, before it. Whether they have is seen from the vertices in each call.
// Shaders with loops that nobody can count (ray marching, fractals) go over several packets at once: each round of such a loop waits for
// the one before, and packets fill each other's gaps. Source: abi.hpp; Vulkan specification, "Fragment Shaders", "Polygon Rasterization"
// (interpolation).
#include <spirv/unified1/GLSL.std.450.h>

#include <bit>
#include <cassert>

#include "shader/lower/fragment.hpp"

namespace tilegpu::shader {
namespace {

// Beyond this the calls and stores between body and epilogue are a small part of the time: worth code of its own only where it is used.
constexpr uint32_t kMostBlockInstructions = 14;
constexpr uint32_t kMostPackets = 4;
// With 32 registers loops of up to so many instructions go over four packets at once, longer ones, and all with 16 registers, over two.
constexpr uint32_t kMostLoopInstructionsOfFour = 1000;

bool interpolates_elsewhere(const Module& m, const Instruction& i) {
  if (i.op != spv::OpExtInst || m.operand(i, 0) != m.glsl450) return false;
  const uint32_t op = m.operand(i, 1);
  return op == GLSLstd450InterpolateAtCentroid || op == GLSLstd450InterpolateAtSample || op == GLSLstd450InterpolateAtOffset;
}

/// What the inputs are, known from the shader alone.
struct InputKinds {
  bool of_pixel = false;       // some input differs between pixels whatever the vertices are
  std::vector<uint32_t> rows;  // varyings that are interpolated
};

InputKinds kinds_of(const FragmentBuilder& builder) {
  InputKinds kinds;
  for (const Instruction& i : builder.l.m.instructions) kinds.of_pixel |= interpolates_elsewhere(builder.l.m, i);
  for (const FragmentBuilder::InputVariable& v : builder.variables)
    for (size_t k = 0; k < v.scalars.size() && k < v.used.size(); ++k) {
      const InterfaceScalar& s = v.scalars[k];
      if (!v.used[k]) continue;
      switch (s.builtin) {
        case spv::BuiltInFrontFacing:
        case spv::BuiltInPrimitiveId:
        case spv::BuiltInLayer:
        case spv::BuiltInViewportIndex:
        case spv::BuiltInViewIndex:
          break;
        case kNone:
        case spv::BuiltInClipDistance:
        case spv::BuiltInCullDistance:
          if (const int row = builder.row_of(s); row >= 0 && s.interpolation != Interpolation::flat)
            kinds.rows.push_back(static_cast<uint32_t>(row));
          break;
        default:
          kinds.of_pixel = true;
      }
    }
  return kinds;
}

/// One function; both loops are emitted into it.
struct BlocksBuilder {
  const FragmentKey& key;
  const EpilogueKey& epilogue;
  uint32_t packet_lanes;  // the body has as many, or those of some packets
  Value f = nullptr;
  Block end = nullptr;

  Block loop_over(Lowering& l, const std::vector<FragmentBuilder::InputVariable>& variables, bool constant);
  void write_each(const Ir& ir, Value args, WholePacket& all, Value left) const;
  void choose(const Lowering& l, const std::vector<uint32_t>& rows, Block constant, Block any) const;
};

/// The epilogue of each packet of those that are left.
void BlocksBuilder::write_each(const Ir& ir, Value args, WholePacket& all, Value left) const {
  assert(ir.lanes > packet_lanes && !all.constant && all.once);
  const Ir one(ir.module, packet_lanes);
  one.at(ir.current_block());
  const auto write = [&](uint32_t k) {
    std::vector<int> lanes;
    for (uint32_t lane = 0; lane < packet_lanes; ++lane) lanes.push_back(static_cast<int>(k * packet_lanes + lane));
    const auto part = [&](Value v) { return v ? one.shuffle(v, lanes) : nullptr; };
    WholePacket packet;
    packet.once = all.once;
    packet.tile_pixel = k ? one.add(all.tile_pixel, one.c64(16 * k)) : all.tile_pixel;
    for (size_t t = 0; t < all.color.size(); ++t)
      for (size_t c = 0; c < 4; ++c) packet.color[t][c] = part(all.color[t][c]);
    for (size_t c = 0; c < 4; ++c) packet.source1[c] = part(all.source1[c]);
    emit_whole_packet(one, epilogue, args, packet);
    all.once = packet.once;
  };
  write(0);
  for (uint32_t k = 1; k < ir.lanes / packet_lanes; ++k) one.if_then(one.icmp(LLVMIntUGT, left, one.c32(k)), [&] { write(k); });
  ir.at(one.current_block());
}

/// The loop, with what is done once per call before it. Returns the block to enter at. `constant`: all pixels' inputs are those of the
/// first vertex.
Block BlocksBuilder::loop_over(Lowering& l, const std::vector<FragmentBuilder::InputVariable>& variables, bool constant) {
  assert(f && end && l.fragment);
  const Ir& ir = l.ir;
  const uint32_t packets = ir.lanes / packet_lanes;
  assert(packets * packet_lanes == ir.lanes && packets <= kMostPackets);
  Block once = ir.block(f, "once"), loop = ir.block(f, "packet");
  ir.at(once);
  // Lane 4q+p: pixel p of quad q; the next packet's are four pixels to the right. Sums of such small numbers and halves are exact, so a
  // step of 4 gives the bits of a new conversion.
  const auto centres = [&](Value corner, uint32_t bit) {
    Value steps[kMostPackets * kMaxLanes];
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      const uint32_t in = lane % packet_lanes, before = bit == 0 ? lane / packet_lanes * 4 : 0;
      steps[lane] = ir.c32(before + (in >> (2 + bit) & 1) * 2 + (in >> bit & 1));
    }
    return ir.fadd(ir.sitofp(ir.add(ir.splat(corner), LLVMConstVector(steps, ir.lanes))), ir.fk(0.5f));
  };
  Value x = nullptr, y = nullptr, first_x = nullptr;
  if (!constant) first_x = centres(LLVMGetParam(f, 2), 0), y = centres(LLVMGetParam(f, 3), 1);
  ir.at(loop);
  if (!constant) x = LLVMBuildPhi(ir.builder, ir.vf32, "");
  Value pixel = LLVMBuildPhi(ir.builder, ir.i64, ""), left = LLVMBuildPhi(ir.builder, ir.i32, "");
  Block body = constant ? ir.block(f, "body") : nullptr;
  if (constant) ir.at(body);
  Value place_x = x;
  if (packets > 1) {  // the first packet again in place of those that are not there
    std::vector<int> first_again;
    std::vector<Value> number;
    for (uint32_t lane = 0; lane < ir.lanes; ++lane)
      first_again.push_back(static_cast<int>(lane % packet_lanes)), number.push_back(ir.c32(lane / packet_lanes));
    place_x = ir.select(ir.ugt(ir.splat(left), LLVMConstVector(number.data(), ir.lanes)), x, ir.shuffle(x, first_again));
  }

  FragmentBuilder builder{l, key, {l, key, once, {place_x, y}}, variables};
  builder.inputs.constant = constant;
  l.interpolate_at = [&](const Instruction& i) { return builder.inputs.at_other_position(i); };
  if (!constant) ir.store(l.whole_budget(), l.budget, 8);  // each packet's own
  builder.make_inputs();
  make_globals(l);
  run_entry_point(l);
  WholePacket packet;
  packet.tile_pixel = pixel;
  packet.constant = constant;
  builder.write_outputs(&packet);
  packet.once = constant ? ir.current_block() : once;
  if (constant) ir.at(loop);
  if (packets > 1)
    write_each(ir, l.args, packet, left);
  else
    emit_whole_packet(ir, epilogue, l.args, packet);
  Value next_pixel = ir.add(pixel, ir.c64(16 * packets)), next_left = ir.sub(left, ir.c32(packets));
  Value next_x = constant ? nullptr : ir.fadd(x, ir.fk(4.0f * static_cast<float>(packets)));
  Block last = ir.current_block(), before = packet.once;
  ir.br(ir.icmp(LLVMIntSGT, next_left, ir.c32(0)), loop, end);
  const auto comes_from = [&](Value phi, Value first, Value next) {
    LLVMAddIncoming(phi, &first, &before, 1);
    LLVMAddIncoming(phi, &next, &last, 1);
  };
  if (!constant) comes_from(x, first_x, next_x);
  comes_from(pixel, LLVMGetParam(f, 1), next_pixel);
  comes_from(left, LLVMGetParam(f, 4), next_left);
  ir.at(before);
  ir.br(loop);
  if (constant) {
    ir.at(once);
    ir.br(body);
  }
  return once;
}

/// To `constant` where interpolation (Interpolator::interpolate) gives the first vertex's value for every pixel, bit for bit: v0 + b1 * 0 +
/// b2 * 0 with finite barycentrics (anchors are fixed-point numbers, so they are finite). v0 itself is finite, no denormal, and not -0,
/// which a sum with +0 would lose.
void BlocksBuilder::choose(const Lowering& l, const std::vector<uint32_t>& rows, Block constant, Block any) const {
  assert(!rows.empty() && constant != any);  // without rows there is nothing to choose by
  const Ir& ir = l.ir;
  Value setup = ir.field(ir.ptr, l.args, offsetof(FragmentArgs, primitive), 8);
  const auto word = [&](uint32_t vertex, uint32_t row) {
    Value component = ir.field(ir.ptr, setup, offsetof(PrimitiveSetup, varying) + vertex * 8, 8);
    return ir.field(ir.i32, component, static_cast<size_t>(row) * kBatchStride * 4);
  };
  Value different = ir.c32(0);
  std::vector<Value> first;
  for (uint32_t row : rows) {
    first.push_back(word(0, row));
    for (uint32_t vertex : {1u, 2u}) different = ir.or_(different, ir.xor_(first.back(), word(vertex, row)));
  }
  Block equal = ir.block(f, "equal");
  ir.br(ir.eq(different, ir.c32(0)), equal, any);
  ir.at(equal);
  // 1/w is constant, and neither it nor a gradient is so large that a barycentric could overflow within 2^15 pixels. By bits without
  // the sign, where infinities and NaN are the largest.
  constexpr uint32_t kAny = ~0u, kSteep = std::bit_cast<uint32_t>(0x1p60f), kFar = std::bit_cast<uint32_t>(0x1p40f);
  constexpr uint32_t kMost[16] = {kAny, kAny, kFar, 0, 0, kSteep, kSteep, kSteep, kSteep, kSteep, kSteep, kAny, kAny, kAny, kFar, kFar};
  static_assert(offsetof(PrimitiveSetup, q0) == 8 && offsetof(PrimitiveSetup, i0) == 20 && offsetof(PrimitiveSetup, z0) == 44 &&
                offsetof(PrimitiveSetup, w1) == 56);
  Value most[16];
  for (uint32_t k = 0; k < 16; ++k) most[k] = ir.c32(kMost[k]);
  Value sizes = ir.field(Ir::vec(ir.i32, 16), setup, 0, 64);
  sizes = ir.and_(sizes, ir.ik(sizes, 0x7fffffff));
  Value beyond = LLVMBuildBitCast(ir.builder, ir.ugt(sizes, LLVMConstVector(most, 16)), LLVMIntTypeInContext(ir.context, 16), "");
  Value ok = ir.eq(beyond, Ir::same(beyond, 0));
  ok = ir.and_(ok, ir.fgt(ir.field(ir.f32, setup, offsetof(PrimitiveSetup, q0)), ir.cf(0x1p-40f)));
  for (Value v : first) {
    Value exponent = ir.sub(ir.and_(v, ir.c32(0x7f800000)), ir.c32(0x00800000));
    ok = ir.and_(ok, ir.or_(ir.ult(exponent, ir.c32(0x7f000000)), ir.eq(v, ir.c32(0))));
  }
  ir.br(ok, constant, any);
}

/// Loops that nobody can count, whose rounds do nothing but compute. Arrays in the thread's scratch memory have room for one packet.
bool goes_together(const StageTraits& traits) { return traits.open_loops && !traits.uses_images && traits.private_memory_B == 0; }

/// How many packets one body is for.
uint32_t packets_at_once(const StageTraits& traits, uint32_t lanes) {
  if (!goes_together(traits)) return 1;
  // What goes lane by lane through memory knows 32 lanes.
  const bool has_room = lanes == 16 && !traits.uses_addresses();
  return has_room && traits.open_loop_instructions <= kMostLoopInstructionsOfFour ? kMostPackets : 2;
}

struct BlocksShape {
  bool is_short;
  uint32_t packets;  // at once
};

Status build_blocks(const FragmentKey& key, BlocksShape shape, const EpilogueKey& epilogue, const Constants& constants,
                    const Divergence& divergence, LLVMModuleRef module, const char* name, uint32_t lanes) {
  Lowering l(module, shape.packets * lanes, key.module->module(), constants, divergence, key.resources);
  l.fragment = true;
  const Ir& ir = l.ir;
  Type parameters[] = {ir.ptr, ir.i64, ir.i32, ir.i32, ir.i32};
  Value f = ir.function(name, LLVMFunctionType(ir.void_type, parameters, 5, 0));
  ir.add_parameter_attribute(f, 0, "noalias");
  Block start = begin_function(l, f), chosen = ir.current_block();
  BlocksBuilder builder{key, epilogue, lanes, f, ir.block(f, "end")};

  FragmentBuilder inputs{l, key, {l, key}, {}};
  inputs.find_inputs();
  const InputKinds kinds = kinds_of(inputs);
  // A second loop pays where the body is short: it is compiled for pictures that may never have a constant colour. Quick code is for the
  // first packets and has to be made soon.
  const bool never_constant = kinds.of_pixel || shape.packets > 1 || (!kinds.rows.empty() && (ir.quick || !shape.is_short));
  const bool always_constant = !never_constant && kinds.rows.empty();
  if (never_constant || always_constant) {
    Block first = builder.loop_over(l, inputs.variables, always_constant);
    ir.at(chosen);
    ir.br(first);
  } else {
    Lowering again(module, lanes, key.module->module(), constants, divergence, key.resources);
    again.fragment = true;
    share_beginning(again, l);
    Block any = builder.loop_over(l, inputs.variables, false), constant = builder.loop_over(again, inputs.variables, true);
    if (!again.status) return again.status;
    ir.at(chosen);
    builder.choose(l, kinds.rows, constant, any);
  }
  if (!never_constant) add_text_attribute(f, kHoistMark);
  if (shape.packets > 1) add_text_attribute(f, kPacketsMark);
  ir.at(builder.end);
  LLVMBuildRetVoid(ir.builder);
  LLVMBuildBr(l.alloca_builder, start);
  return l.status;
}

}  // namespace

// Shaders with loops that are not known to count, and more in them than arithmetic, are left to packets: whole blocks run many at a time,
// and nothing measured says that it pays.
bool suits_blocks(const FragmentKey& key, const StageTraits& traits) {
  return !key.per_sample && !traits.discards && !traits.writes_depth && !traits.writes_sample_mask && !traits.writes_stencil &&
         !traits.reads_tile && !traits.reads_sample_mask && !traits.reads_helper && !traits.uses_centroid && !traits.per_sample &&
         !traits.writes_memory && !traits.asks_who_runs && (!traits.open_loops || goes_together(traits));
}

Expected<Code<BlocksFunction>> compile_blocks(Jit& jit, const FragmentKey& key, const StageTraits& traits, const EpilogueKey& epilogue,
                                              When when) {
  assert(suits_blocks(key, traits));
  const bool is_short = traits.instructions <= kMostBlockInstructions && !traits.uses_images;
  CodeKey code("blocks");
  add_fragment(code, key);
  add_epilogue(code, epilogue);
  const BlocksShape shape = {is_short, packets_at_once(traits, jit.lanes())};
  const Jit::Build build = [key, shape, epilogue, lanes = jit.lanes()](LLVMModuleRef module, const char* name) {
    return analyse_and_build(key, [&](const Constants& constants, const Divergence& divergence) {
      return build_blocks(key, shape, epilogue, constants, divergence, module, name, lanes);
    });
  };
  if (!is_short) return Code<BlocksFunction>(jit.offer(code, build));
  Expected<const CodeSlot*> slot = jit.function(code, build, when);
  if (!slot) return Error{slot.error().code, "shader '" + key.module->label() + "': " + slot.error().message};
  return Code<BlocksFunction>(*slot);
}

}  // namespace tilegpu::shader
