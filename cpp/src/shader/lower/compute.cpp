// shader/lower/compute.cpp -- the compute entry point: void f(ComputeArgs*) runs workgroups, N invocations at a time.
//
// In: ComputeKey, of compute, task, mesh or tessellation control shaders. Out: machine code. Lane l of vector v is the invocation with
// LocalInvocationIndex v * N + l (N: compute_lanes(); lanes that a vector has beyond them never run). Where invocations never wait for one
// another, or all of them fit one vector, a workgroup is a loop over its vectors. Else each vector is a coroutine (LLVM's, switched
// resume): it runs to a barrier of the workgroup and comes back, with what it needs later in a frame of its own; vectors go on in order,
// round after round, until all have ended. So a barrier may stand anywhere; where not all vectors come to it (which Vulkan leaves
// undefined) those that do go on in the next round, and none waits for ever. Source: Vulkan specification, "Compute Shaders", "Shader
// Built-in Variables"; SPIR-V specification, OpControlBarrier; LLVM, "Coroutines in LLVM" (why: docs/decisions.md, 55).
#include <algorithm>
#include <cassert>

#include "shader/lower/entry.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kFrameAlign_B = 64;

/// Vectors of a workgroup, of `at_once` invocations each.
uint32_t vectors_of(const WorkgroupFacts& facts, uint32_t at_once) {
  assert(at_once >= kSubgroupSize);
  return static_cast<uint32_t>((facts.invocations() + at_once - 1) / at_once);
}

/// The workgroup, and which of its invocations the lanes are.
struct Place {
  std::array<Value, 3> group{};  // without the dispatch's base
  Value vector = nullptr;        // i32
};

struct ComputeBuilder {
  Lowering& l;
  const WorkgroupFacts& facts;
  uint32_t at_once;
  Place place;
  std::array<Value, 3> local{};  // LocalInvocationId: scalars where all lanes have the same
  Value index = nullptr;         // LocalInvocationIndex
  Value position = nullptr;      // number in the workgroup, subgroup by subgroup: the index, but where quads are squares

  void find_local();
  void find_in_quads();
  Value word(size_t array_B, uint32_t k) const { return l.ir.constant_field(l.ir.i32, l.args, array_B + 4 * k, 4); }
  Value builtin(const InterfaceScalar& s);
  void make_inputs();
  void make(const Instruction& i);
  void run();
};

/// Four positions that follow each other are a square of LocalInvocationId; squares go in rows, and rows in layers.
void ComputeBuilder::find_in_quads() {
  const Ir& ir = l.ir;
  assert(facts.size[0] % 2 == 0 && facts.size[1] % 2 == 0);
  const uint32_t row = facts.size[0] / 2, rows = facts.size[1] / 2;
  const auto over = [&](Value v, uint32_t d) { return LLVMBuildUDiv(ir.builder, v, Ir::same(v, d), ""); };
  const auto rest = [&](Value v, uint32_t d) { return LLVMBuildURem(ir.builder, v, Ir::same(v, d), ""); };
  const auto within = [&](Value square, Value bit) { return ir.add(ir.shl(square, 1), ir.and_(bit, ir.ik(1))); };
  Value square = ir.lshr(position, 2), below = over(square, row);
  local = {within(rest(square, row), position), within(rest(below, rows), ir.lshr(position, 1)), over(below, rows)};
  index = ir.add(local[0], ir.mul(ir.ik(facts.size[0]), ir.add(local[1], ir.mul(ir.ik(facts.size[1]), local[2]))));
}

/// Rows of a workgroup that are as long as the vector, or several vectors, make y and z scalars and x a run of numbers.
void ComputeBuilder::find_local() {
  const Ir& ir = l.ir;
  const uint32_t n = at_once, sx = facts.size[0], sy = facts.size[1];
  const auto over = [&](Value v, uint32_t d) { return d == 1 ? v : LLVMBuildUDiv(ir.builder, v, Ir::same(v, d), ""); };
  const auto rest = [&](Value v, uint32_t d) { return d == 1 ? Ir::same(v, 0) : LLVMBuildURem(ir.builder, v, Ir::same(v, d), ""); };
  Value start = ir.mul(place.vector, ir.c32(n));
  index = position = ir.add(ir.splat(start), ir.lane_index());
  if (facts.derivatives == DerivativeGroup::quads) return find_in_quads();
  if (sx % n == 0) {
    Value row = over(start, sx);
    local = {ir.add(ir.splat(rest(start, sx)), ir.lane_index()), rest(row, sy), over(row, sy)};
    return;
  }
  std::vector<Value> x, y;
  for (uint32_t k = 0; k < ir.lanes; ++k) x.push_back(ir.c32(k % sx)), y.push_back(ir.c32(k / sx));
  if (n % sx == 0 && sy % (n / sx) == 0) {
    Value row = over(start, sx);
    local = {LLVMConstVector(x.data(), ir.lanes), ir.add(ir.splat(rest(row, sy)), LLVMConstVector(y.data(), ir.lanes)), over(row, sy)};
    return;
  }
  Value row = over(index, sx);
  local = {rest(index, sx), rest(row, sy), over(row, sy)};
}

Value ComputeBuilder::builtin(const InterfaceScalar& s) {
  const Ir& ir = l.ir;
  const uint32_t k = std::min(s.element, 2u);
  switch (static_cast<spv::BuiltIn>(s.builtin)) {
    case spv::BuiltInNumWorkgroups:
      return word(offsetof(ComputeArgs, groups), k);
    case spv::BuiltInWorkgroupId:
      return ir.add(place.group[k], word(offsetof(ComputeArgs, base), k));
    case spv::BuiltInLocalInvocationId:
      return local[k];
    case spv::BuiltInGlobalInvocationId: {
      Value first = ir.mul(ir.add(place.group[k], word(offsetof(ComputeArgs, base), k)), ir.c32(facts.size[k])), own = local[k];
      l.unify(first, own);
      return ir.add(first, own);
    }
    case spv::BuiltInLocalInvocationIndex:
      return index;
    case spv::BuiltInNumSubgroups:
      return ir.c32(static_cast<uint32_t>((facts.invocations() + kSubgroupSize - 1) / kSubgroupSize));
    case spv::BuiltInSubgroupId:
      return ir.lshr(position, 2);
    case spv::BuiltInDeviceIndex:
      return ir.c32(0);
    case spv::BuiltInInvocationId:
      return index;
    case spv::BuiltInPrimitiveId:
      return word(offsetof(ComputeArgs, primitive_id), 0);
    case spv::BuiltInPatchVertices:
      return word(offsetof(ComputeArgs, patch_vertices), 0);
    case spv::BuiltInViewIndex:
      return word(offsetof(ComputeArgs, view_index), 0);
    case spv::BuiltInDrawIndex:
      return word(offsetof(ComputeArgs, draw_index), 0);
    default:
      if (Value of_subgroup = subgroup_builtin(ir, s)) return of_subgroup;
      break;
  }
  l.unsupported("the built-in input " + builtin_name(s.builtin) + " is not supported in compute shaders");
  return ir.c32(0);
}

void ComputeBuilder::make_inputs() {
  for (uint32_t id : used_variables(l.m, spv::StorageClassInput)) {
    if (facts.find(id)) continue;  // of a patch's vertices
    std::vector<Value> values;
    for (const InterfaceScalar& s : interface_of(l.m, l.constants, id)) {
      values.push_back(s.builtin == kNone ? nullptr : builtin(s));
      if (values.back()) continue;
      l.unsupported("a compute shader has no input '" + l.m.name(id) + "': only built-ins are there");
      values.back() = l.ir.c32(0);
    }
    set_input(l, id, std::move(values));
  }
}

/// What a task or mesh shader says of the workgroup counts once, as its first invocation says it: so whatever the number of lanes.
void ComputeBuilder::make(const Instruction& i) {
  const Ir& ir = l.ir;
  assert(i.count >= 2);
  Value mask = l.write_mask();
  Value lanes = ir.movemask(mask ? mask : ir.true_mask());
  Value lane = ir.call_intrinsic("llvm.cttz", {ir.i32}, {ir.or_(lanes, ir.c32(1u << (ir.lanes - 1))), ir.c1(true)});
  const auto of_lane = [&](Value v) { return Lowering::is_varying(v) ? LLVMBuildExtractElement(ir.builder, v, lane, "") : v; };
  const uint32_t count = i.op == spv::OpEmitMeshTasksEXT ? 3 : 2;
  std::vector<Value> made;
  for (uint32_t k = 0; k < count; ++k) made.push_back(of_lane(l.scalar(l.m.operand(i, k))));
  Value who = of_lane(index), by = ir.field(ir.i32, l.args, offsetof(ComputeArgs, made_by));
  ir.if_then(ir.and_(ir.ne(lanes, ir.c32(0)), ir.ult(who, by)), [&] {
    for (uint32_t k = 0; k < count; ++k) ir.store(made[k], ir.offset(l.args, offsetof(ComputeArgs, made) + 4 * k), 4);
    ir.store(who, ir.offset(l.args, offsetof(ComputeArgs, made_by)), 4);
  });
}

/// The vector's invocations from the beginning to the end. Those of the last vector that the workgroup does not have never run.
void ComputeBuilder::run() {
  const Ir& ir = l.ir;
  ir.store(l.whole_budget(), l.budget, 8);
  find_local();
  l.exec = facts.invocations() % at_once ? ir.ult(position, ir.ik(static_cast<uint32_t>(facts.invocations()))) : nullptr;
  if (at_once < ir.lanes) {
    Value used = ir.ult(ir.lane_index(), ir.ik(at_once));
    l.exec = l.exec ? ir.and_(l.exec, used) : used;
  }
  if (is_task_or_mesh(l.m.entry.model)) l.make = [this](const Instruction& i) { make(i); };
  if (l.m.entry.model == spv::ExecutionModelTaskEXT) {  // OpEmitMeshTasksEXT ends invocations
    l.alive = l.mask_alloca("alive");
    l.store_mask(l.alive, l.exec);
    l.killed = l.mask_alloca("killed");
  }
  make_inputs();
  make_globals(l);
  run_entry_point(l);
  l.exec = nullptr;
}

/// A loop over the workgroups of a call; run() emits one.
struct GroupLoop {
  const Ir& ir;
  Value args;
  Value at[4] = {};  // allocas: x, y, z, workgroups left

  void begin(const std::function<Value(Type)>& alloca_of) {
    for (Value& slot : at) slot = alloca_of(ir.i32);
  }
  Value groups(size_t k) const { return ir.constant_field(ir.i32, args, offsetof(ComputeArgs, groups) + 4 * k, 4); }
  void emit(const WorkgroupFacts& facts, const std::function<void(const std::array<Value, 3>&)>& run) const {
    Value first = ir.field(ir.i64, args, offsetof(ComputeArgs, first), 8);
    Value x = ir.zext(groups(0), ir.i64), y = ir.zext(groups(1), ir.i64);
    const auto rest = [&](Value v, Value d) { return ir.trunc(LLVMBuildURem(ir.builder, v, d, ""), ir.i32); };
    Value row = LLVMBuildUDiv(ir.builder, first, x, "");
    ir.store(rest(first, x), at[0], 4), ir.store(rest(row, y), at[1], 4);
    ir.store(ir.trunc(LLVMBuildUDiv(ir.builder, row, y, ""), ir.i32), at[2], 4);
    ir.store(ir.field(ir.i32, args, offsetof(ComputeArgs, count)), at[3], 4);
    Block loop = ir.block("workgroup"), body = ir.block("run"), end = ir.block("end");
    ir.br(loop);
    ir.at(loop);
    Value left = ir.load(ir.i32, at[3], 4);
    Value loops = ir.constant_field(ir.ptr, args, offsetof(ComputeArgs, loops), 8);
    Value ended = ir.ne(ir.field(ir.i32, loops, offsetof(LoopBudget, spent_stage)), ir.c32(0));
    ir.br(ir.or_(ended, ir.eq(left, ir.c32(0))), end, body);
    ir.at(body);
    if (facts.shared_B) {
      Value shared = ir.constant_field(ir.ptr, args, offsetof(ComputeArgs, shared), 8);
      LLVMBuildMemSet(ir.builder, shared, ir.c8(0), ir.c64(facts.shared_B), 64);
      for (const InitialScalar& s : facts.initial)
        ir.store(LLVMConstInt(LLVMIntTypeInContext(ir.context, s.size_B * 8), s.bits, 0), ir.offset(shared, s.offset_B), s.size_B);
    }
    const std::array<Value, 3> group = {ir.load(ir.i32, at[0], 4), ir.load(ir.i32, at[1], 4), ir.load(ir.i32, at[2], 4)};
    run(group);
    // The next one in x, y, z.
    Value next_x = ir.add(group[0], ir.c32(1)), wrap_x = ir.eq(next_x, groups(0));
    Value next_y = ir.select(wrap_x, ir.add(group[1], ir.c32(1)), group[1]), wrap_y = ir.eq(next_y, groups(1));
    ir.store(ir.select(wrap_x, ir.c32(0), next_x), at[0], 4);
    ir.store(ir.select(wrap_y, ir.c32(0), next_y), at[1], 4);
    ir.store(ir.select(wrap_y, ir.add(group[2], ir.c32(1)), group[2]), at[2], 4);
    ir.store(ir.sub(left, ir.c32(1)), at[3], 4);
    ir.br(loop);
    ir.at(end);
  }
};

/// A loop; `slot`: an alloca for its number.
void each_vector(const Ir& ir, uint32_t vectors, Value slot, const std::function<void(Value vector)>& emit) {
  Block loop = ir.block("vectors"), after = ir.block("vectors_end");
  ir.store(ir.c32(0), slot, 4);
  ir.br(loop);
  ir.at(loop);
  Value vector = ir.load(ir.i32, slot, 4);
  emit(vector);
  Value next = ir.add(vector, ir.c32(1));
  ir.store(next, slot, 4);
  ir.br(ir.ult(next, ir.c32(vectors)), loop, after);
  ir.at(after);
}

void begin(Lowering& l) {
  begin_body(l, offsetof(ComputeArgs, sets), offsetof(ComputeArgs, push_constants), offsetof(ComputeArgs, scratch),
             offsetof(ComputeArgs, loops));
  l.shared = l.ir.constant_field(l.ir.ptr, l.args, offsetof(ComputeArgs, shared), 8);
}

/// A loop over the vectors of each workgroup.
void build_loop(Lowering& l, const WorkgroupFacts& facts, uint32_t at_once, Value f) {
  const Ir& ir = l.ir;
  l.compute = true, l.workgroup = &facts;
  l.args = LLVMGetParam(f, 0);
  l.entry = ir.block(f, "entry");
  LLVMPositionBuilderAtEnd(l.alloca_builder, l.entry);
  Block start = ir.block(f, "start");
  ir.at(start);
  begin(l);
  GroupLoop groups{ir, l.args};
  groups.begin([&](Type type) { return l.alloca_of(type, "group", 4); });
  Value slot = l.alloca_of(ir.i32, "vector", 4);
  groups.emit(facts, [&](const std::array<Value, 3>& group) {
    each_vector(ir, vectors_of(facts, at_once), slot, [&](Value vector) { ComputeBuilder{l, facts, at_once, {group, vector}}.run(); });
  });
  LLVMBuildRetVoid(ir.builder);
  LLVMBuildBr(l.alloca_builder, start);
}

/// One vector as a coroutine: ptr body(ptr args, i32 x, i32 y, i32 z, i32 vector) runs to the first barrier. Null: the frames have no room.
Value build_waiting_lanes(Lowering& l, const WorkgroupFacts& facts, uint32_t at_once, const std::string& name, uint32_t private_memory_B) {
  const Ir& ir = l.ir;
  Type parameters[] = {ir.ptr, ir.i32, ir.i32, ir.i32, ir.i32};
  Value body = ir.function((name + ".lanes").c_str(), LLVMFunctionType(ir.ptr, parameters, 5, 0));
  LLVMSetLinkage(body, LLVMInternalLinkage);
  ir.add_attribute(body, "presplitcoroutine");
  ir.add_attribute(body, "noinline");
  l.compute = true, l.workgroup = &facts;
  l.args = LLVMGetParam(body, 0);
  l.entry = ir.block(body, "entry");
  LLVMPositionBuilderAtEnd(l.alloca_builder, l.entry);
  Block start = ir.block(body, "start"), room = ir.block(body, "room"), no_room = ir.block(body, "no_room");
  Block cleanup = ir.block(body, "cleanup"), suspend = ir.block(body, "suspend");
  ComputeBuilder builder{l, facts, at_once, {{LLVMGetParam(body, 1), LLVMGetParam(body, 2), LLVMGetParam(body, 3)}, LLVMGetParam(body, 4)}};

  ir.at(start);
  Value null = LLVMConstNull(ir.ptr), none = LLVMConstNull(LLVMTokenTypeInContext(ir.context));
  Value id = ir.call_intrinsic("llvm.coro.id", {}, {ir.c32(kFrameAlign_B), null, null, null});
  Value frame_B = ir.call_intrinsic("llvm.coro.size", {ir.i64}, {});
  frame_B = ir.and_(ir.add(frame_B, ir.c64(kFrameAlign_B - 1)), ir.c64(~uint64_t{kFrameAlign_B - 1}));
  Value needed_B = ir.mul(frame_B, ir.c64(vectors_of(facts, at_once)));
  ir.br(ir.ule(needed_B, ir.constant_field(ir.i64, l.args, offsetof(ComputeArgs, frames_B), 8)), room, no_room);
  ir.at(no_room);
  ir.store(needed_B, ir.offset(l.args, offsetof(ComputeArgs, frames_needed_B)), 8);
  LLVMBuildRet(ir.builder, null);
  ir.at(room);
  Value vector = ir.zext(builder.place.vector, ir.i64);
  Value frames = ir.constant_field(ir.ptr, l.args, offsetof(ComputeArgs, frames), 8);
  Value handle = ir.call_intrinsic("llvm.coro.begin", {}, {id, ir.offset(frames, ir.mul(vector, frame_B))});

  const auto wait = [&](bool last) {
    Value way = ir.call_intrinsic("llvm.coro.suspend", {}, {none, ir.c1(last)});
    Block resumed = ir.block(last ? "resumed_after_its_end" : "resumed");
    Value choice = LLVMBuildSwitch(ir.builder, way, suspend, 2);
    LLVMAddCase(choice, ir.c8(0), resumed);
    LLVMAddCase(choice, ir.c8(1), cleanup);
    ir.at(resumed);
  };
  l.wait = [&] { wait(false); };
  begin(l);
  l.scratch = ir.offset(l.scratch, ir.mul(vector, ir.c64(private_memory_B)));
  builder.run();
  wait(true);
  LLVMBuildUnreachable(ir.builder);
  ir.at(cleanup);
  ir.br(suspend);
  ir.at(suspend);
  ir.call_intrinsic("llvm.coro.end", {}, {handle, ir.c1(false), none});
  LLVMBuildRet(ir.builder, handle);
  LLVMBuildBr(l.alloca_builder, start);
  return body;
}

/// Rounds over the vectors of each workgroup.
void build_rounds(const Ir& ir, uint32_t vectors, const WorkgroupFacts& facts, Value f, Value body) {
  Value args = LLVMGetParam(f, 0);
  ir.at(ir.block(f, "start"));
  Value handles = LLVMBuildAlloca(ir.builder, LLVMArrayType2(ir.ptr, vectors), "handles");
  Value slot = LLVMBuildAlloca(ir.builder, ir.i32, "vector"), waiting = LLVMBuildAlloca(ir.builder, ir.i32, "waiting");
  GroupLoop groups{ir, args};
  groups.begin([&](Type type) { return LLVMBuildAlloca(ir.builder, type, "group"); });
  Block end = ir.block("no_room");
  const auto handle_of = [&](Value vector) { return ir.offset(handles, ir.shl(ir.zext(vector, ir.i64), 3)); };
  groups.emit(facts, [&](const std::array<Value, 3>& group) {
    each_vector(ir, vectors, slot, [&](Value vector) {
      Value arguments[] = {args, group[0], group[1], group[2], vector};
      Value begun = LLVMBuildCall2(ir.builder, LLVMGlobalGetValueType(body), body, arguments, 5, "");
      Block go_on = ir.block("begun");
      ir.br(LLVMBuildIsNull(ir.builder, begun, ""), end, go_on);
      ir.at(go_on);
      ir.store(begun, handle_of(vector), 8);
    });
    Block round = ir.block("round"), after = ir.block("ended");
    ir.br(round);
    ir.at(round);
    ir.store(ir.c32(0), waiting, 4);
    each_vector(ir, vectors, slot, [&](Value vector) {
      Value handle = ir.load(ir.ptr, handle_of(vector), 8);
      Value done = ir.call_intrinsic("llvm.coro.done", {}, {handle});
      ir.if_then(ir.not_(done), [&] {
        ir.call_intrinsic("llvm.coro.resume", {}, {handle});
        ir.store(ir.c32(1), waiting, 4);
      });
    });
    ir.br(ir.ne(ir.load(ir.i32, waiting, 4), ir.c32(0)), round, after);
    ir.at(after);
  });
  ir.br(end);
  ir.at(end);
  LLVMBuildRetVoid(ir.builder);
}

/// Inputs that are the same for all lanes: everything of the workgroup, and places in it along which a vector does not reach.
UniformInput uniform_inputs(const Module& m, const WorkgroupFacts& facts, uint32_t at_once) {
  const bool rows = facts.size[0] % at_once == 0 && facts.derivatives != DerivativeGroup::quads;
  const bool layers = uint64_t{facts.size[0]} * facts.size[1] % at_once == 0;
  return [&m, rows, layers](uint32_t variable, uint32_t component) {
    switch (m.decoration(variable).builtin) {
      case spv::BuiltInNumWorkgroups:
      case spv::BuiltInWorkgroupId:
      case spv::BuiltInSubgroupSize:
      case spv::BuiltInNumSubgroups:
      case spv::BuiltInDeviceIndex:
      case spv::BuiltInPrimitiveId:
      case spv::BuiltInPatchVertices:
      case spv::BuiltInViewIndex:
      case spv::BuiltInDrawIndex:
        return true;
      case spv::BuiltInLocalInvocationId:
      case spv::BuiltInGlobalInvocationId:
        return (component == 1 && rows) || (component == 2 && rows && layers);
      default:
        return false;
    }
  };
}

/// `together`: lanes are those of several vectors.
Status build_compute(const ComputeKey& key, LLVMModuleRef module, const char* name, uint32_t lanes, uint32_t at_once, bool together) {
  assert(at_once <= lanes);
  if (Status parsed = key.module->parse(); !parsed) return parsed;
  const Module& m = key.module->module();
  Expected<Constants> constants = specialise(m, key.specialization);
  if (!constants) return constants.error();
  Expected<StageTraits> traits = analyze(*key.module, key.specialization);
  if (!traits) return traits.error();
  const WorkgroupFacts facts = workgroup_of(m, *constants);
  Expected<Divergence> divergence = analyze_divergence(m, *constants, uniform_inputs(m, facts, at_once));
  if (!divergence) return divergence.error();
  Lowering l(module, lanes, m, *constants, *divergence, key.resources);
  const Ir& ir = l.ir;
  Value f = ir.function(name, LLVMFunctionType(ir.void_type, const_cast<Type*>(&ir.ptr), 1, 0));
  if (together) add_text_attribute(f, kPacketsMark);
  if (traits->waits && facts.invocations() > at_once)
    build_rounds(ir, vectors_of(facts, at_once), facts, f, build_waiting_lanes(l, facts, at_once, name, traits->private_memory_B));
  else
    build_loop(l, facts, at_once, f);
  return l.status;
}

}  // namespace

uint32_t compute_lanes(const Jit& jit, const StageTraits& traits) {
  // Code that calls functions of samplers has the Jit's lanes; four of them are there whatever it has.
  constexpr uint32_t kOrdered = 8, kOrderedWithImages = 4;
  if (traits.orders_lanes) return traits.uses_images ? kOrderedWithImages : kOrdered;
  if (traits.uses_images) return jit.lanes();
  const auto& size = traits.workgroup_size;
  const uint64_t invocations = uint64_t{size[0]} * size[1] * size[2];
  uint32_t lanes = jit.lanes();
  while (lanes > 4 && lanes / 2 >= invocations) lanes /= 2;
  // Rows of eight: their words are side by side. A loop that loads none goes faster by sixteen.
  return lanes == 16 && size[0] == 8 && (traits.loads_words || !traits.loops) ? 8 : lanes;
}

namespace {

/// Vectors of a workgroup that go together, where a kernel's loops are such that each round waits for the one before, and nothing but its
/// results is in memory (as goes_together of blocks.cpp has it for fragments).
uint32_t packets_at_once(const StageTraits& traits, bool is_compute, uint32_t at_once, uint32_t lanes) {
  // Rounds of more wait for the processor, not for one another: a packet beside others takes its time even where no lane of it is left.
  constexpr uint32_t kMostPackets = 4, kMostOfFour = 64, kMostOfTwo = 128;
  const bool computes = traits.open_loops && !traits.uses_images && !traits.loads_words && !traits.uses_addresses() && !traits.waits &&
                        !traits.orders_lanes && traits.private_memory_B == 0;
  if (!computes || at_once != lanes || !is_compute || traits.open_loop_instructions > kMostOfTwo) return 1;
  const auto& size = traits.workgroup_size;
  const uint64_t vectors = uint64_t{size[0]} * size[1] * size[2] / at_once;
  const uint32_t most = at_once == 16 && traits.open_loop_instructions <= kMostOfFour ? kMostPackets : 2;
  uint32_t packets = 1;
  while (packets < most && vectors % (packets * 2) == 0) packets *= 2;
  return vectors ? packets : 1;
}

}  // namespace

Expected<Code<ComputeFunction>> compile_compute(Jit& jit, const ComputeKey& key, const StageTraits& traits, When when) {
  assert(key.module && (key.module->reflection().stage & (VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT |
                                                          VK_SHADER_STAGE_TASK_BIT_EXT | VK_SHADER_STAGE_MESH_BIT_EXT)));
  CodeKey code("compute");
  add_stage(code, *key.module, key.specialization, {}, key.resources);
  const uint32_t of_vector = compute_lanes(jit, traits), of_code = traits.uses_images ? jit.lanes() : of_vector;
  const uint32_t packets = packets_at_once(traits, key.module->reflection().stage == VK_SHADER_STAGE_COMPUTE_BIT, of_vector, of_code),
                 lanes = packets * of_code, at_once = packets * of_vector;
  code.add(lanes), code.add(at_once);
  Expected<const CodeSlot*> slot = jit.function(
      code,
      [key, lanes, at_once, packets](LLVMModuleRef module, const char* name) {
        return build_compute(key, module, name, lanes, at_once, packets > 1);
      },
      when);
  if (!slot) return Error{slot.error().code, "shader '" + key.module->label() + "': " + slot.error().message};
  return Code<ComputeFunction>(*slot);
}

}  // namespace tilegpu::shader
