// shader/lower/resources.cpp -- which descriptors a specialised stage uses: the resource table.
//
// In: ShaderModules and specialisation. Out: ResourceTable of compiler.hpp: slots, and of each which elements code names, and whether it
// always uses them. Source: Vulkan specification, "Shader Resource Interface".
#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <map>
#include <set>

#include "shader/lower/context.hpp"
#include "shader/lower/reach.hpp"
#include "shader/module/module_facts.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

void merge(NamedElements& known, const NamedElements& more) {
  const auto both = [](const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
    std::vector<uint32_t> all;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  };
  known = {both(known.constant, more.constant), both(known.always, more.always), known.any || more.any,
           known.any_always || more.any_always};
}

/// Dead code too: it is compiled, and names slots.
template <class F>
void each_instruction(const Module& m, const Reach& reach, F&& visit) {
  for (uint32_t id : m.reachable)
    for (const BasicBlock& b : m.functions.at(id).blocks)
      for (uint32_t k = b.first; k < b.end; ++k) visit(m.instructions[k], reach[k]);
}

/// The variables of a look-up's image.
std::vector<uint32_t> images_of(const Module& m, uint32_t sampled_image) {
  const Instruction* i = m.find(sampled_image);
  return resource_roots(m, i && i->op == spv::OpSampledImage ? m.operand(*i, 0) : sampled_image);
}

/// Variables of which look-ups by computed derivatives may stand side by side in one block, once functions are inlined and loops written
/// out.
std::set<uint32_t> sampled_side_by_side(const Module& m) {
  std::map<uint32_t, uint32_t> count;
  for (uint32_t id : m.reachable) {
    bool repeated = id != m.entry.function;
    std::vector<uint32_t> images;
    for (const BasicBlock& b : m.functions.at(id).blocks)
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        repeated = repeated || i.op == spv::OpLoopMerge;
        if (i.op == spv::OpImageSampleImplicitLod)
          for (uint32_t image : images_of(m, m.operand(i, 0))) images.push_back(image);
      }
    for (uint32_t image : images) count[image] += repeated ? kFewestJoinedSamples : 1;
  }
  std::set<uint32_t> many;
  for (const auto& [image, n] : count)
    if (n >= kFewestJoinedSamples) many.insert(image);
  return many;
}

template <class F>
void each_live_instruction(const Module& m, const Reach& reach, F&& visit) {
  each_instruction(m, reach, [&](const Instruction& i, Runs runs) {
    if (runs != Runs::never) visit(i, runs);
  });
}

/// Of the arrays of descriptors among global variables, by variable.
std::map<uint32_t, NamedElements> named_elements(const Module& m, const Constants& constants, const Reach& reach) {
  std::map<uint32_t, NamedElements> named;
  for (uint32_t id : m.global_variables)
    if (is_array(m.type(m.pointee(id)).kind)) named[id];
  if (named.empty()) return named;
  each_live_instruction(m, reach, [&](const Instruction& i, Runs runs) {
    const bool always = runs == Runs::always;
    const bool chain = i.op == spv::OpAccessChain || i.op == spv::OpInBoundsAccessChain;
    if (chain) {
      const auto found = named.find(m.operand(i, 0));
      if (found == named.end()) return;
      const uint32_t index = m.operand(i, 1);
      if (constants.find(index)) {
        const std::vector<uint32_t> one = {constants.word(index)};
        merge(found->second, {one, always ? one : std::vector<uint32_t>{}, false, false});
      } else {
        merge(found->second, {{}, {}, true, always});
      }
    } else if (i.op == spv::OpLoad || i.op == spv::OpCopyObject || i.op == spv::OpSelect || i.op == spv::OpFunctionCall) {
      // Handed on as a whole; the name of a function is no variable's.
      each_id(m, i, [&](uint32_t id) {
        if (const auto found = named.find(id); found != named.end()) merge(found->second, {{}, {}, true, always});
      });
    }
  });
  return named;
}

/// Pointers through which an instruction reads or writes memory; zeros where there are fewer.
std::array<uint32_t, 3> accessed(const Module& m, const Instruction& i) {
  const bool first = is_load(i.op) || is_atomic(i.op);
  return {stored_pointer(m, i), first ? m.operand(i, 0) : 0, i.op == spv::OpCopyMemory ? m.operand(i, 1) : 0};
}

/// How buffers are used, by variable: `maybe` where live code names them, `always` where code that always runs reads or writes them.
std::map<uint32_t, Runs> buffer_uses(const Module& m, const Reach& reach) {
  std::map<uint32_t, Runs> uses;
  for (uint32_t id : m.global_variables) {
    const spv::StorageClass storage = m.storage_of(id);
    if (storage == spv::StorageClassUniform || storage == spv::StorageClassStorageBuffer) uses[id] = Runs::never;
  }
  if (uses.empty()) return uses;
  each_live_instruction(m, reach, [&](const Instruction& i, Runs runs) {
    each_id(m, i, [&](uint32_t id) {
      if (const auto found = uses.find(id); found != uses.end()) found->second = std::max(found->second, Runs::maybe);
    });
    if (runs != Runs::always || m.variable_pointers) return;  // which of its buffers a variable pointer is to, nobody knows
    for (uint32_t pointer : accessed(m, i))
      for (uint32_t root : pointer ? resource_roots(m, pointer) : std::vector<uint32_t>{})
        if (const auto found = uses.find(root); found != uses.end()) found->second = runs;
  });
  return uses;
}

void merge(ResourceTable& table, const BufferSlot& s) {
  for (BufferSlot& known : table.buffers) {
    if (known.set != s.set || known.binding != s.binding || known.type != s.type) continue;
    known.count = std::max(known.count, s.count), known.writable = known.writable || s.writable;
    merge(known.named, s.named);
    return;
  }
  table.buffers.push_back(s);
}

void merge(ResourceTable& table, const TextureSlot& s) {
  for (TextureSlot& known : table.textures) {
    if (known.image_set != s.image_set || known.image_binding != s.image_binding || known.sampler_set != s.sampler_set ||
        known.sampler_binding != s.sampler_binding || known.combined != s.combined || known.type != s.type)
      continue;
    known.uses |= s.uses, known.offsets = known.offsets || s.offsets, known.normalized = known.normalized || s.normalized;
    merge(known.named, s.named);
    known.image_count = std::max(known.image_count, s.image_count), known.sampler_count = std::max(known.sampler_count, s.sampler_count);
    return;
  }
  table.textures.push_back(s);
}

/// What an instruction asks of a sampler beside the functions that it uses.
struct Sampling {
  bool offsets = false, normalized = false;
};

/// The slot of an image and a sampler; combined: both the same.
struct TextureBuilder {
  ResourceTable& table;
  const Module& m;
  const Constants& constants;
  const Reach& reach;
  std::map<uint32_t, NamedElements> named = named_elements(m, constants, reach);

  uint32_t count_of(uint32_t variable) const { return descriptor_count(m, constants, variable); }
  /// Of a use: none where it never runs, none that are always used where it may not.
  NamedElements named_of(uint32_t variable, Runs runs) const {
    if (runs == Runs::never) return {};
    const auto found = named.find(variable);
    NamedElements of = found == named.end() ? NamedElements{{0}, {0}, false, false} : found->second;
    if (runs == Runs::maybe) of.always.clear(), of.any_always = false;
    return of;
  }
  void add(uint32_t image, uint32_t sampler, uint16_t uses, Sampling sampling, Runs runs) {
    const Decorations &di = m.decoration(image), &ds = m.decoration(sampler);
    TextureSlot s;
    s.image_set = di.set == kNone ? 0 : di.set, s.image_binding = di.binding, s.image_count = count_of(image),
    s.uses = runs == Runs::never ? uint16_t{0} : uses, s.type = descriptor_type_of(m, image);
    s.offsets = sampling.offsets, s.normalized = sampling.normalized;
    s.sampler_set = s.sampler_binding = ~0u;
    if (sampler) s.sampler_set = ds.set == kNone ? 0 : ds.set, s.sampler_binding = ds.binding;
    s.combined = sampler == image, s.named = named_of(image, runs);
    if (sampler && !s.combined) s.sampler_count = count_of(sampler);
    merge(table, s);
  }
  /// `id`: a sampled image, or an image.
  void use(uint32_t id, Runs runs, uint16_t uses, Sampling sampling = {}) {
    const Instruction* i = m.find(id);
    while (i && (i->op == spv::OpCopyObject || i->op == spv::OpImage)) i = m.find(m.operand(*i, 0));
    if (!i) return;
    if (i->op == spv::OpSampledImage) {
      for (uint32_t image : resource_roots(m, m.operand(*i, 0))) {
        for (uint32_t sampler : resource_roots(m, m.operand(*i, 1))) add(image, sampler, uses, sampling, runs);
      }
      return;
    }
    for (uint32_t root : resource_roots(m, id)) {
      const uint32_t type = descriptor_type(m, root);
      const TypeInfo& info = m.type(type).kind == Kind::sampled_image ? m.type(m.type(type).element) : m.type(type);
      if (info.kind == Kind::image && info.dim == spv::DimSubpassData) continue;
      // A texel buffer has no sampler, however the shader declares it.
      add(root, m.type(type).kind == Kind::sampled_image && info.dim != spv::DimBuffer ? root : 0, uses, sampling, runs);
    }
  }
};

constexpr uint32_t kMinLod = spv::ImageOperandsMinLodMask;

/// The mask of the image operands of an instruction that samples.
uint32_t sampling_operands(const Module& m, const Instruction& i) {
  const bool dref = i.op == spv::OpImageSampleDrefImplicitLod || i.op == spv::OpImageSampleProjDrefImplicitLod ||
                    i.op == spv::OpImageSampleDrefExplicitLod || i.op == spv::OpImageSampleProjDrefExplicitLod;
  const uint32_t at = dref ? 3 : 2;
  return m.operands(i).size() > at ? m.operand(i, at) : 0;
}

Sampling sampling_of(const Module& m, const Instruction& i) {
  const uint32_t operands = sampling_operands(m, i);
  return {(operands & (spv::ImageOperandsConstOffsetMask | spv::ImageOperandsOffsetMask)) != 0, i.op != spv::OpImageSampleExplicitLod};
}

Expected<ResourceTable> find_resources(const ShaderModule& module, const Specialization& specialization) {
  Expected<Constants> constants = specialise(module, specialization);
  if (!constants) return constants.error();
  const Module& m = module.module();
  ResourceTable table;
  const Reach reach = find_reach(m, *constants);
  TextureBuilder builder{table, m, *constants, reach};
  const std::map<uint32_t, Runs> buffers = buffer_uses(m, reach);
  const bool quads = m.entry.model == spv::ExecutionModelFragment || derivative_group(m) != DerivativeGroup::none;
  for (uint32_t id : m.global_variables) {
    const spv::StorageClass storage = m.storage_of(id);
    if (!m.used[id] || (storage != spv::StorageClassUniform && storage != spv::StorageClassStorageBuffer)) continue;
    const Decorations& deco = m.decoration(id);
    const uint32_t block = descriptor_type(m, id);
    BufferSlot s;
    s.set = deco.set == kNone ? 0 : deco.set, s.binding = deco.binding, s.count = builder.count_of(id),
    s.named = builder.named_of(id, buffers.at(id)), s.type = descriptor_type_of(m, id);
    s.writable = (storage == spv::StorageClassStorageBuffer || m.decoration(block).buffer_block) && !deco.nonwritable;
    merge(table, s);
  }
  const std::set<uint32_t> many = quads ? sampled_side_by_side(m) : std::set<uint32_t>{};
  each_instruction(m, reach, [&](const Instruction& i, Runs runs) {
    const uint32_t first = m.operand(i, 0);
    switch (i.op) {
      case spv::OpImageSampleImplicitLod:
        if (takes_rho_squared(m, i) && std::ranges::any_of(images_of(m, first), [&](uint32_t image) { return many.contains(image); }))
          builder.use(first, runs, kUseMany, sampling_of(m, i));
        [[fallthrough]];
      case spv::OpImageSampleDrefImplicitLod:
      case spv::OpImageSampleProjImplicitLod:
      case spv::OpImageSampleProjDrefImplicitLod:
        builder.use(first, runs,
                    !quads                              ? kUseLod
                    : takes_rho_squared(m, i)           ? kUseImplicit
                    : sampling_operands(m, i) & kMinLod ? kUseMinLod
                                                        : kUseGradient,
                    sampling_of(m, i));
        break;
      case spv::OpImageSampleExplicitLod:
      case spv::OpImageSampleDrefExplicitLod:
      case spv::OpImageSampleProjExplicitLod:
      case spv::OpImageSampleProjDrefExplicitLod: {
        const uint32_t operands = sampling_operands(m, i);
        const TextureUse use = !(operands & spv::ImageOperandsGradMask) ? kUseLod : operands & kMinLod ? kUseMinLod : kUseGradient;
        builder.use(first, runs, use, sampling_of(m, i));
        break;
      }
      case spv::OpImageFetch:
      case spv::OpImageRead:
        builder.use(first, runs, kUseFetch);
        break;
      case spv::OpImageWrite:
        builder.use(first, runs, kUseStore);
        break;
      case spv::OpImageTexelPointer:
        builder.use(first, runs, kUseAddress);
        break;
      case spv::OpImageGather:
      case spv::OpImageDrefGather:
        builder.use(first, runs, kUseGather);
        break;
      case spv::OpImageQuerySize:
      case spv::OpImageQuerySizeLod:
      case spv::OpImageQueryLevels:
      case spv::OpImageQuerySamples:
        builder.use(first, runs, 0);
        break;
      case spv::OpImageQueryLod:
        builder.use(first, runs, kUseQueryLod);
        break;
      default:
        break;
    }
  });
  return table;
}

/// Adds what the stage uses; what several use is one entry.
Status add_resources(const ShaderModule& module, const Specialization& specialization, ResourceTable& table) {
  Expected<ResourceTable> found =
      known_or(module.facts(), &ModuleFacts::resources, specialization, [&] { return find_resources(module, specialization); });
  if (!found) return found.error();
  for (const BufferSlot& slot : found->buffers) merge(table, slot);
  for (const TextureSlot& slot : found->textures) merge(table, slot);
  return Ok{};
}

}  // namespace

Expected<ResourceTable> resource_table(std::span<const StageModule> stages) {
  assert(!stages.empty());
  ResourceTable table;
  for (const StageModule& stage : stages)
    if (Status s = add_resources(*stage.module, *stage.specialization, table); !s) return s.error();
  std::sort(table.buffers.begin(), table.buffers.end(),
            [](const BufferSlot& a, const BufferSlot& b) { return std::pair(a.set, a.binding) < std::pair(b.set, b.binding); });
  return table;
}

Expected<ResourceTable> resource_table(const ShaderModule& module, const Specialization& specialization) {
  const StageModule stage{&module, &specialization};
  return resource_table(std::span(&stage, 1));
}

}  // namespace tilegpu::shader
