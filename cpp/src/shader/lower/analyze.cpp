// shader/lower/analyze.cpp -- what a specialised stage does: traits for classification.
//
// In: ShaderModules and specialisation. Out: StageTraits of compiler.hpp.
// Source: Vulkan specification, "Fragment Operations" (early tests, sample shading).
#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>

#include "shader/lower/context.hpp"
#include "shader/lower/stage_modes.hpp"
#include "shader/module/module_facts.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/operands.hpp"
#include "shader/spirv/tile_images.hpp"
#include "shader/spirv/workgroup.hpp"

namespace tilegpu::shader {
namespace {

/// Those that take a value from a lane by its number don't: it is there whether the lane runs or not.
bool asks_who_runs(spv::Op op) {
  switch (op) {
    case spv::OpGroupNonUniformElect:
    case spv::OpGroupNonUniformAll:
    case spv::OpGroupNonUniformAny:
    case spv::OpGroupNonUniformAllEqual:
    case spv::OpGroupNonUniformBroadcastFirst:
    case spv::OpGroupNonUniformBallot:
      return true;
    default:
      return op >= spv::OpGroupNonUniformIAdd && op <= spv::OpGroupNonUniformLogicalXor;
  }
}

template <class F>
void each_instruction(const Module& m, F&& visit) {
  for (uint32_t id : m.reachable) {
    for (const BasicBlock& b : m.functions.at(id).blocks) {
      for (uint32_t k = b.first; k < b.end; ++k) visit(m.instructions[k]);
    }
  }
}

/// Of a variable in memory, as Lowering::new_variable lays it out.
uint64_t memory_words(const Constants& constants, uint32_t type) {
  return std::max<uint64_t>(1, scalar_count(constants, type)) * (constants.size(type).widest_B > 4 ? 2 : 1);
}

/// Of one function, calls included.
uint64_t memory_of(const Module& m, const Constants& constants, const Divergence& d, uint32_t function,
                   std::map<uint32_t, uint64_t>& known) {
  if (auto found = known.find(function); found != known.end()) return found->second;
  uint64_t own = 0, calls = 0;
  const auto add = [&](uint32_t type, bool dynamic) {
    const uint64_t scalars = scalar_count(constants, type);
    if (kept_in_memory(scalars, dynamic)) own += memory_words(constants, type);
  };
  const Function& f = m.functions.at(function);
  add(f.return_type, false);
  for (const BasicBlock& b : f.blocks) {
    for (uint32_t k = b.first; k < b.end; ++k) {
      const Instruction& i = m.instructions[k];
      if (i.op == spv::OpVariable) add(m.type(i.type).element, d.dynamic[i.id]);
      if (i.id && i.op == spv::OpPhi) add(i.type, false);
      if (i.id && d.escape[i.id]) add(i.type, false);
      if (i.op == spv::OpFunctionCall) calls = std::max(calls, memory_of(m, constants, d, m.operand(i, 0), known));
    }
  }
  return known[function] = own + calls;
}

/// Bytes that an invocation's variables take at most, of all that are kept in memory, the deepest calls included, or an error.
Expected<uint32_t> private_memory_B(const Module& m, const Constants& constants, const Divergence& divergence) {
  std::map<uint32_t, uint64_t> known;
  uint64_t words = memory_of(m, constants, divergence, m.entry.function, known);
  for (spv::StorageClass storage : {spv::StorageClassInput, spv::StorageClassOutput, spv::StorageClassPrivate}) {
    for (uint32_t id : used_variables(m, storage)) {
      if (is_per_vertex(m, id) || is_of_patch(m, id)) continue;  // in memory of the stage
      const uint64_t own = scalar_count(constants, m.pointee(id));
      if (kept_in_memory(own, divergence.dynamic[id] != 0)) words += memory_words(constants, m.pointee(id));
    }
  }
  if (words > kMaxPrivateMemory_B / 4 / kMaxLanes)
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY, "private arrays take " + std::to_string(words * 4) + " bytes an invocation; the limit is " +
                                                    std::to_string(kMaxPrivateMemory_B / kMaxLanes)};
  return static_cast<uint32_t>(words * 4 * kMaxLanes);
}

// Where values that come from the tile go, until nothing new is found: through results, variables and calls. An operation that looks at
// neighbours is reached by its operand (of a sample: the coordinate), or by a condition anywhere, which decides whether it runs.
void tile_traits(const Module& m, StageTraits& t) {
  std::set<uint32_t> from_tile;
  bool decides = false, changed = true, addressed = false;  // addressed: memory that any address may be of
  const auto reached = [&](uint32_t id) { return from_tile.count(id) != 0; };
  const auto reach = [&](uint32_t id) { changed |= id && from_tile.insert(id).second; };
  while (changed) {
    changed = false;
    each_instruction(m, [&](const Instruction& i) {
      const bool any = any_id(m, i, reached);
      if (const uint32_t pointer = stored_pointer(m, i); any && pointer) {
        for (uint32_t root : resource_roots(m, pointer)) reach(root);
        if (m.holds_address(pointer) && !addressed) addressed = changed = true;
      }
      switch (i.op) {
        case spv::OpImageRead:
          if (reads_attachment(m, i) || any) reach(i.id);
          break;
        case spv::OpBranchConditional:
        case spv::OpSwitch:
          decides |= reached(m.operand(i, 0));
          break;
        case spv::OpFunctionCall: {
          const Function& f = m.functions.at(m.operand(i, 0));
          for (uint32_t p = 0; p < f.parameters.size(); ++p)
            if (reached(m.operand(i, p + 1))) reach(f.parameters[p]);
          for (const BasicBlock& b : f.blocks)
            for (uint32_t k = b.first; k < b.end; ++k)
              if (m.instructions[k].op == spv::OpReturnValue && reached(m.operand(m.instructions[k], 0))) reach(i.id);
          break;
        }
        default:
          if (i.op == spv::OpLoad && addressed && m.holds_address(m.operand(i, 0))) reach(i.id);
          // A load through a parameter is of what the caller passed.
          if (i.op == spv::OpLoad)
            for (uint32_t root : resource_roots(m, m.operand(i, 0)))
              if (reached(root)) reach(i.id);
          if (any) reach(i.id);
      }
    });
  }
  each_instruction(m, [&](const Instruction& i) {
    if (t.tile_crosses_lanes || !crosses_lanes(i.op)) return;
    const bool samples = i.op >= spv::OpImageSampleImplicitLod && i.op <= spv::OpImageQueryLod;
    const bool any = samples ? reached(m.operand(i, 1)) : any_id(m, i, reached);
    if (!any && !decides) return;
    t.tile_crosses_lanes = true;
    t.tile_cross_line = m.source_of(i);
  });
}

void fragment_builtins(StageTraits& t, uint32_t builtin, bool output) {
  switch (static_cast<spv::BuiltIn>(builtin)) {
    case spv::BuiltInFragDepth:
      t.writes_depth = true;
      break;
    case spv::BuiltInSampleMask:
      (output ? t.writes_sample_mask : t.reads_sample_mask) = true;
      break;
    case spv::BuiltInFragStencilRefEXT:
      t.writes_stencil = true;
      break;
    case spv::BuiltInSampleId:
    case spv::BuiltInSamplePosition:
      t.per_sample = true;
      break;
    case spv::BuiltInHelperInvocation:
      t.reads_helper = true;
      break;
    case spv::BuiltInPrimitiveId:
      t.reads_primitive_id = true;
      break;
    case spv::BuiltInFrontFacing:
      t.reads_front_facing = true;
      break;
    case spv::BuiltInFragCoord:
      t.reads_frag_coord = true;
      break;
    case spv::BuiltInSubgroupLocalInvocationId:
    case spv::BuiltInSubgroupEqMask:
    case spv::BuiltInSubgroupGeMask:
    case spv::BuiltInSubgroupGtMask:
    case spv::BuiltInSubgroupLeMask:
    case spv::BuiltInSubgroupLtMask:
      t.lanes_alone = false;  // the place in a quad: lanes of pixel packets have none
      break;
    default:
      break;
  }
}

void memory_traits(const Module& m, StageTraits& t) {
  std::set<uint32_t> written, read;
  // The storage buffers, storage images and texel buffers that a pointer or an image may be of; none: it is of other memory.
  const auto storage_roots = [&](uint32_t id) {
    const TypeInfo& type = m.type(m.type_of(id));
    if (type.kind == Kind::image) return type.dim == spv::DimSubpassData ? std::vector<uint32_t>() : resource_roots(m, id);
    if (type.storage == spv::StorageClassImage) return resource_roots(m, id);
    if (type.storage != spv::StorageClassStorageBuffer && type.storage != spv::StorageClassUniform) return std::vector<uint32_t>();
    std::vector<uint32_t> roots = resource_roots(m, id);
    if (roots.empty() || type.storage == spv::StorageClassStorageBuffer) return roots;
    const uint32_t block = descriptor_type(m, roots[0]);
    return m.decoration(block).buffer_block ? roots : std::vector<uint32_t>();
  };
  std::vector<uint32_t> atomic_ids;
  const auto writes = [&](uint32_t id, const Instruction& i) {
    t.writes_addresses |= m.holds_address(id);
    const auto roots = storage_roots(id);
    if (roots.empty() && !m.holds_address(id)) return;
    written.insert(roots.begin(), roots.end());
    if (!t.writes_memory) t.side_effect_line = m.source_of(i);
    t.writes_memory = true;
  };
  const auto reads = [&](uint32_t id) {
    t.reads_addresses |= m.holds_address(id);
    const auto roots = storage_roots(id);
    read.insert(roots.begin(), roots.end());
  };
  each_instruction(m, [&](const Instruction& i) {
    if (const uint32_t pointer = stored_pointer(m, i)) writes(pointer, i);
    if (i.op == spv::OpImageWrite) writes(m.operand(i, 0), i);
    if ((is_load(i.op) && !holds_images(m, i.type)) || i.op == spv::OpImageRead) reads(m.operand(i, 0));
    if (i.op == spv::OpCopyMemory) reads(m.operand(i, 1));
    if (is_atomic(i.op)) {
      t.reads_addresses |= m.holds_address(m.operand(i, 0));
      if (i.op != spv::OpAtomicLoad) writes(m.operand(i, 0), i);
      if (i.id) atomic_ids.push_back(i.id);
    }
  });
  each_instruction(m, [&](const Instruction& i) {
    t.atomic_results_used |=
        any_id(m, i, [&](uint32_t id) { return std::find(atomic_ids.begin(), atomic_ids.end(), id) != atomic_ids.end(); });
  });
  for (uint32_t root : written)
    t.written_bindings.emplace_back(m.decoration(root).set == kNone ? 0 : m.decoration(root).set, m.decoration(root).binding);
  // Two variables may have one binding. An address may be of any buffer.
  const auto is_written = [&](uint32_t id) {
    const std::pair<uint32_t, uint32_t> binding{m.decoration(id).set == kNone ? 0 : m.decoration(id).set, m.decoration(id).binding};
    return std::find(t.written_bindings.begin(), t.written_bindings.end(), binding) != t.written_bindings.end();
  };
  t.reads_written_memory = std::any_of(read.begin(), read.end(), is_written) ||
                           (t.writes_addresses && (t.reads_addresses || !read.empty())) || (t.reads_addresses && t.writes_memory);
}

/// Of what runs as workgroups.
void compute_traits(const Module& m, const Constants& constants, StageTraits& t) {
  const WorkgroupFacts facts = workgroup_of(m, constants);
  t.workgroup_size = facts.size, t.shared_memory_B = static_cast<uint32_t>(facts.shared_B);
  if (const SharedVariable* payload = facts.payload ? facts.find(facts.payload) : nullptr) {
    t.payload_offset_B = static_cast<uint32_t>(payload->offset_B);
    t.payload_B = static_cast<uint32_t>(scalar_count(constants, m.pointee(payload->id)) * payload->scalar_B);
  }
  std::set<uint32_t> results;
  struct Atomics {
    bool writes = false, loads = false, exchanges = false, results_used = false;
  } shared, buffers;
  const auto of = [&](const Instruction& i) -> Atomics& {
    const spv::StorageClass storage = m.type(m.type_of(m.operand(i, 0))).storage;
    const bool of_workgroup = storage == spv::StorageClassWorkgroup || storage == spv::StorageClassTaskPayloadWorkgroupEXT;
    return of_workgroup ? shared : buffers;
  };
  each_instruction(m, [&](const Instruction& i) {
    if (i.op == spv::OpControlBarrier) t.waits |= waits_for_workgroup(m, constants, i);
    if (!is_atomic(i.op)) return;
    Atomics& a = of(i);
    a.loads |= i.op == spv::OpAtomicLoad;
    a.writes |= i.op != spv::OpAtomicLoad;
    // A sum of floats is rounded at each step.
    a.exchanges |= i.op == spv::OpAtomicExchange || i.op == spv::OpAtomicCompareExchange || i.op == spv::OpAtomicFAddEXT;
    if (i.id && i.op != spv::OpAtomicLoad) results.insert(i.id);
  });
  each_instruction(m, [&](const Instruction& i) {
    each_id(m, i, [&](uint32_t id) {
      if (results.count(id)) of(*m.find(id)).results_used = true;
    });
  });
  const auto ordered = [](const Atomics& a) { return a.exchanges || a.results_used || (a.loads && a.writes); };
  t.orders_groups = ordered(buffers);
  t.orders_lanes = t.orders_groups || ordered(shared);
}

}  // namespace

/// Kills, loops, loads and what else single instructions tell.
static void instruction_traits(const Module& m, const Divergence& d, bool fragment, StageTraits& t) {
  each_instruction(m, [&](const Instruction& i) {
    ++t.instructions;
    if (i.op == spv::OpKill || i.op == spv::OpTerminateInvocation || i.op == spv::OpDemoteToHelperInvocation) {
      if (!t.discards) t.discard_line = m.source_of(i);
      t.discards = fragment;
    }
    if (crosses_lanes(i.op)) t.crosses_lanes = true;
    if (asks_who_runs(i.op)) t.asks_who_runs = true;
    if (i.op == spv::OpLoopMerge) t.loops = true;
    if (is_load(i.op)) {
      const spv::StorageClass from = m.type(m.type_of(m.operand(i, 0))).storage;
      if (from == spv::StorageClassStorageBuffer || from == spv::StorageClassWorkgroup || from == spv::StorageClassUniform ||
          from == spv::StorageClassPhysicalStorageBuffer)
        t.loads_words = t.loads_words || d.is_varying(i.id);
    }
    if (i.op == spv::OpIsHelperInvocationEXT) t.reads_helper = true;
    if (i.op == spv::OpExtInst && m.operand(i, 0) == m.glsl450 && m.operand(i, 1) == 76) t.uses_centroid = true;
  });
}

static void vertex_output_traits(const Module& m, const Constants& constants, StageTraits& t) {
  const DistanceCounts distances = count_distances(m, constants);
  t.clip_distances = distances.clip, t.cull_distances = distances.cull;
  for (uint32_t id : used_variables(m, spv::StorageClassOutput)) {
    const auto scalars = interface_of(m, constants, id);
    const auto used = used_scalars(m, constants, id);
    for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) {
      t.writes_layer |= used[k] && scalars[k].builtin == spv::BuiltInLayer;
      t.writes_viewport_index |= used[k] && scalars[k].builtin == spv::BuiltInViewportIndex;
      t.writes_shading_rate |= used[k] && scalars[k].builtin == spv::BuiltInPrimitiveShadingRateKHR;
      t.writes_point_size |= used[k] && scalars[k].builtin == spv::BuiltInPointSize;
      t.writes_primitive_id |= used[k] && scalars[k].builtin == spv::BuiltInPrimitiveId;
    }
  }
}

/// Of stages before the rasterizer: what goes in and out beside single vertices.
static Status primitive_traits(const Module& m, const Constants& constants, StageTraits& t) {
  t.modes = primitive_modes(m);
  if (Status ok = check_modes(m, t.modes); !ok) return ok;
  if (Status ok = check_lengths(m, constants, t.modes); !ok) return ok;
  Expected<TransformFeedback> captured = transform_feedback_of(m, constants);
  if (!captured) return captured.error();
  t.transform_feedback = std::move(*captured);
  t.reads = input_memory(m, constants), t.leaves = output_memory(m, constants);
  return Ok{};
}

static void fragment_output_traits(const Module& m, const Constants& constants, StageTraits& t) {
  for (uint32_t id : used_variables(m, spv::StorageClassOutput)) {
    const auto scalars = interface_of(m, constants, id);
    const auto used = used_scalars(m, constants, id);
    for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) {
      if (!used[k]) continue;
      const InterfaceScalar& s = scalars[k];
      if (s.builtin != kNone) {
        fragment_builtins(t, s.builtin, true);
      } else if (s.location < kMaxTargets) {
        if (s.index == 1) {
          t.dual_source = true;
        } else {
          t.outputs_written |= 1u << s.location;
          t.output_base[s.location] = s.base == Base::f32 ? ReflectedType::Base::f32
                                      : s.is_signed       ? ReflectedType::Base::i32
                                                          : ReflectedType::Base::u32;
        }
      }
    }
  }
}

static void fragment_input_traits(const Module& m, const Constants& constants, StageTraits& t) {
  for (uint32_t id : used_variables(m, spv::StorageClassInput)) {
    const auto scalars = interface_of(m, constants, id);
    const auto used = used_scalars(m, constants, id);
    for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) {
      if (!used[k]) continue;
      if (scalars[k].builtin != kNone) fragment_builtins(t, scalars[k].builtin, false);
      t.per_sample = t.per_sample || scalars[k].sample;
      t.uses_centroid = t.uses_centroid || scalars[k].centroid;
    }
  }
  // Of these two the interface decides, whether anything reads them or not (Vulkan specification, "Sample Shading").
  for (uint32_t id : m.entry.interface) {
    const uint32_t builtin = m.decoration(id).builtin;
    if (builtin == spv::BuiltInSampleId || builtin == spv::BuiltInSamplePosition) t.per_sample = true;
  }
}

static void input_attachment_traits(const Module& m, const Constants& constants, StageTraits& t) {
  for (uint32_t id : used_variables(m, spv::StorageClassUniformConstant)) {
    const TypeInfo& image = m.type(descriptor_type(m, id));
    if (image.kind != Kind::image || image.dim != spv::DimSubpassData) continue;
    t.reads_tile = true;
    InputAttachment input;
    input.variable = id;
    const Decorations& of = m.decoration(id);
    input.set = of.set == kNone ? 0 : of.set, input.binding = of.binding == kNone ? 0 : of.binding;
    input.index = of.input_attachment;
    if (m.type(m.pointee(id)).kind == Kind::array) input.count = array_length(constants, m.pointee(id));
    const TypeInfo& texel = m.type(image.element);
    input.base = texel.kind == Kind::floating ? ReflectedType::Base::f32
                 : texel.is_signed            ? ReflectedType::Base::i32
                                              : ReflectedType::Base::u32;
    input.multisampled = image.multisampled;
    input.tile_image = is_tile_image(m, id);
    input.name = m.name(id);
    t.input_attachments.push_back(std::move(input));
  }
}

static void mode_traits(const Module& m, StageTraits& t) {
  t.post_depth_coverage = m.entry.has_mode(spv::ExecutionModePostDepthCoverage);
  t.early_fragment_tests = m.entry.has_mode(spv::ExecutionModeEarlyFragmentTests) || t.post_depth_coverage;
  // Which samples pass is what those before it left: it is shaded then, and not when it is known what is seen in the end.
  t.asks_who_runs = t.asks_who_runs || (t.post_depth_coverage && t.reads_sample_mask);
  for (spv::ExecutionMode mode : {spv::ExecutionModePixelInterlockOrderedEXT, spv::ExecutionModePixelInterlockUnorderedEXT,
                                  spv::ExecutionModeSampleInterlockOrderedEXT, spv::ExecutionModeSampleInterlockUnorderedEXT})
    t.interlocked = t.interlocked || m.entry.has_mode(mode);
  // One that only reads has its turn all the same: it runs where one that writes would.
  t.writes_memory = t.writes_memory || t.interlocked;
  if (m.entry.has_mode(spv::ExecutionModeDepthGreater)) t.depth_layout = DepthLayout::greater;
  if (m.entry.has_mode(spv::ExecutionModeDepthLess)) t.depth_layout = DepthLayout::less;
  if (m.entry.has_mode(spv::ExecutionModeDepthUnchanged)) t.depth_layout = DepthLayout::unchanged;
}

static Expected<StageTraits> find_traits(const ShaderModule& shader_module, const Specialization& specialization) {
  Expected<Constants> constants = specialise(shader_module, specialization);
  if (!constants) return constants.error();
  const Module& m = shader_module.module();
  Expected<Divergence> divergence = analyze_divergence(m, *constants, [](uint32_t, uint32_t) { return false; });
  if (!divergence) return divergence.error();
  StageTraits t;
  const bool fragment = m.entry.model == spv::ExecutionModelFragment;
  Expected<uint32_t> memory_B = private_memory_B(m, *constants, *divergence);
  if (!memory_B) return Error{memory_B.error().code, "shader '" + shader_module.label() + "': " + memory_B.error().message};
  t.private_memory_B = *memory_B;
  instruction_traits(m, *divergence, fragment, t);
  if (t.loops) t.open_loop_instructions = largest_open_loop(m, *constants, *divergence);
  t.open_loops = t.open_loop_instructions != 0;
  memory_traits(m, t);
  t.uses_images = !used_variables(m, spv::StorageClassUniformConstant).empty();

  if (const std::string wrong = check_derivative_group(workgroup_of(m, *constants)); !wrong.empty())
    return Error{VK_ERROR_INVALID_SHADER_NV, "shader '" + shader_module.label() + "': " + wrong};
  if (m.entry.model == spv::ExecutionModelGLCompute) {
    compute_traits(m, *constants, t);
    return t;
  }
  if (!fragment) {
    if (Status ok = primitive_traits(m, *constants, t); !ok)
      return Error{ok.error().code, "shader '" + shader_module.label() + "': " + ok.error().message};
    if (m.entry.model == spv::ExecutionModelTessellationControl || is_task_or_mesh(m.entry.model)) compute_traits(m, *constants, t);
    if (m.entry.model != spv::ExecutionModelTessellationControl && m.entry.model != spv::ExecutionModelTaskEXT)
      vertex_output_traits(m, *constants, t);
    return t;
  }
  fragment_output_traits(m, *constants, t);
  fragment_input_traits(m, *constants, t);
  input_attachment_traits(m, *constants, t);
  if (t.reads_tile && t.crosses_lanes) tile_traits(m, t);
  if (t.crosses_lanes && t.lanes_alone) t.lanes_alone = find_pixel_slices(m, *constants, *divergence).has_value();
  mode_traits(m, t);
  return t;
}

Expected<StageTraits> analyze(const ShaderModule& module, const Specialization& specialization) {
  return known_or(module.facts(), &ModuleFacts::traits, specialization, [&] { return find_traits(module, specialization); });
}

}  // namespace tilegpu::shader
