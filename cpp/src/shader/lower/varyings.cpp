// shader/lower/varyings.cpp -- what a stage reads of the one before: the rows of memory between the two.
//
// In: the second stage's module and specialisation. Out: VaryingLayout. Source: Vulkan specification, "Shader Interfaces", "Interface
// Matching".
#include <algorithm>
#include <cassert>
#include <tuple>

#include "shader/module/module_facts.hpp"
#include "shader/spirv/limits.hpp"

namespace tilegpu::shader {

int VaryingLayout::find(uint32_t location, uint32_t component, bool patch, uint32_t corner) const {
  assert(corner <= 3);
  for (size_t k = 0; k < components.size(); ++k) {
    if (components[k].location == location && components[k].component == component && components[k].patch == patch &&
        components[k].corner == corner)
      return static_cast<int>(k);
  }
  return -1;
}

bool VaryingLayout::of_primitive() const {
  return std::any_of(components.begin(), components.end(), [](const VaryingComponent& c) { return c.of_primitive(); });
}

/// Built-ins that a stage has from the one before.
static bool travels(const Module& m, uint32_t variable, uint32_t builtin) {
  if (is_interpolated(builtin) || builtin == spv::BuiltInTessLevelOuter || builtin == spv::BuiltInTessLevelInner) return true;
  return is_per_vertex(m, variable) && builtin_location(builtin) != kNone;
}

static Expected<VaryingLayout> find_varyings(const ShaderModule& fragment, const Specialization& specialization) {
  Expected<Constants> constants = specialise(fragment, specialization);
  if (!constants) return constants.error();
  const Module& m = fragment.module();
  VaryingLayout layout;
  for (uint32_t id : used_variables(m, spv::StorageClassInput)) {
    const auto scalars = interface_of(m, *constants, id);
    const auto used = used_scalars(m, *constants, id);
    for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) {
      const InterfaceScalar& s = scalars[k];
      if (!used[k]) continue;
      const bool patch = is_of_patch(m, id);
      if (s.builtin != kNone) {
        if (!travels(m, id, s.builtin)) continue;
        layout.components.push_back({static_cast<uint8_t>(builtin_location(s.builtin)), static_cast<uint8_t>(s.element), s.interpolation,
                                     s.centroid, s.sample, patch});
        continue;
      }
      assert(s.location < kMaxLocations && s.component < 4);  // check_limits
      VaryingComponent c{static_cast<uint8_t>(s.location), static_cast<uint8_t>(s.component), s.interpolation, s.centroid, s.sample, patch};
      layout.components.push_back(c);
      if (s.corner == 0) continue;
      c.corner = static_cast<uint8_t>(s.corner);  // beside what the vertex has, which it is taken from
      layout.components.push_back(c);
    }
  }
  std::sort(layout.components.begin(), layout.components.end(), [](const VaryingComponent& a, const VaryingComponent& b) {
    // Of inputs that share a component the one that is interpolated most decides how clipping makes it.
    return std::tuple(a.patch, a.location, a.component, a.corner, a.interpolation) <
           std::tuple(b.patch, b.location, b.component, b.corner, b.interpolation);
  });
  layout.components.erase(std::unique(layout.components.begin(), layout.components.end(),
                                      [](const VaryingComponent& a, const VaryingComponent& b) {
                                        return a.location == b.location && a.component == b.component && a.patch == b.patch &&
                                               a.corner == b.corner;
                                      }),
                          layout.components.end());
  const auto read = std::count_if(layout.components.begin(), layout.components.end(), [](const auto& c) { return !c.of_primitive(); });
  if (read > kMaxVaryingComponents) {
    return Error{VK_ERROR_INVALID_SHADER_NV, "shader '" + fragment.label() + "': it reads " + std::to_string(read) +
                                                 " varying components; the limit is " + std::to_string(kMaxVaryingComponents)};
  }
  return layout;
}

Expected<VaryingLayout> varying_layout(const ShaderModule& fragment, const Specialization& specialization) {
  return known_or(fragment.facts(), &ModuleFacts::varyings, specialization, [&] { return find_varyings(fragment, specialization); });
}

}  // namespace tilegpu::shader
