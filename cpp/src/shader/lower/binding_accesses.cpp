// shader/lower/binding_accesses.cpp -- what a stage does with the memory of each binding. In: a ShaderModule, its specialisation.
// Out: BindingAccess. Source: SPIR-V specification 1.6, "Memory Instructions", "Image Instructions", "Atomic Instructions".
#include "tilegpu/binding_accesses.hpp"

#include <cassert>

#include "shader/lower/reach.hpp"
#include "shader/module/module_facts.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/interface.hpp"

namespace tilegpu::shader {
namespace {

struct Accesses {
  const Module& m;
  std::map<std::pair<uint32_t, uint32_t>, BindingAccess> found = {};

  /// Of a pointer, an image or a sampled image: what it may be of, as far as that has a binding.
  void note(uint32_t id, bool BindingAccess::* what) {
    for (const uint32_t root : resource_roots(m, id)) {
      const Decorations& d = m.decoration(root);
      if (d.binding == kNone) continue;
      found[{d.set == kNone ? 0 : d.set, d.binding}].*what = true;
    }
  }

  void look_at(const Instruction& i) {
    if (is_atomic(i.op)) {
      note(m.operand(i, 0), &BindingAccess::atomics);
      return;
    }
    if (const uint32_t pointer = stored_pointer(m, i)) note(pointer, &BindingAccess::writes);
    if (i.op == spv::OpImageWrite) note(m.operand(i, 0), &BindingAccess::writes);
    if (i.op == spv::OpCopyMemory) note(m.operand(i, 1), &BindingAccess::reads);
    if (i.op == spv::OpImageRead || i.op == spv::OpImageFetch || (i.op >= spv::OpImageSampleImplicitLod && i.op <= spv::OpImageDrefGather))
      note(m.operand(i, 0), &BindingAccess::reads);
    if (is_load(i.op)) {
      // A load of an image or a sampler is of its descriptor, and reads no texel.
      const Kind kind = m.type(i.type).kind;
      if (kind != Kind::image && kind != Kind::sampler && kind != Kind::sampled_image) note(m.operand(i, 0), &BindingAccess::reads);
    }
  }
};

}  // namespace
}  // namespace tilegpu::shader

namespace tilegpu {

std::map<std::pair<uint32_t, uint32_t>, BindingAccess> binding_accesses(const ShaderModule& module,
                                                                        const std::vector<std::pair<uint32_t, uint64_t>>& specialization) {
  Expected<shader::Constants> constants = shader::specialise(module, specialization);
  if (!constants) return {};  // no pipeline is made of it
  const shader::Module& m = module.module();
  assert(!m.reachable.empty());
  const shader::Reach reach = shader::find_reach(m, *constants);
  shader::Accesses accesses{m};
  for (const uint32_t id : m.reachable)
    for (const shader::BasicBlock& block : m.functions.at(id).blocks)
      for (uint32_t k = block.first; k < block.end; k++)
        if (reach[k] != shader::Runs::never) accesses.look_at(m.instructions[k]);
  return accesses.found;
}

}  // namespace tilegpu
