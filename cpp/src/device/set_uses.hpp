// device/set_uses.hpp -- what a program reads and writes through the descriptors of its sets: checked, and its sampler functions made.
//
// In: a program, memory of sets. Out: a SetUse for each group of its descriptors. It depends on contents alone, not on a pass, and is kept
// with the memory where there are many: a set costs once, however often it is bound. Source: Vulkan specification, "Descriptor Set
// Binding"; VK_EXT_descriptor_indexing.
#pragma once

#include <functional>
#include <optional>

#include "command/pass.hpp"
#include "device/device_state.hpp"
#include "pipeline/program.hpp"
#include "resource/memory_contents.hpp"

namespace tilegpu::device {

struct DescriptorName {
  uint32_t set = 0, binding = 0, element = 0;
};
/// "pipeline 'p': 'albedo' (set 0, binding 1, element 2)".
std::string describe(const pipeline::Program& program, const DescriptorName& name);

/// What of a sampler decides which levels are read.
struct LevelLimits {
  float min_lod = 0, max_lod = 0;
  bool linear = false;     // between two levels
  float view_min_lod = 0;  // of the view, from its first level on
};

struct SetUse {
  struct Read {
    const resource::MemoryContents* memory;
    const descriptor::Element* element;  // of the set's memory, which whoever asks keeps
    DescriptorName name;
    bool written;
    framebuffer::Certainty certainty;
    framebuffer::LevelRange levels;  // of a view: those that it can read
    /// Of the only sampler, if it has no bias; else a constant level is another one after the limits of each.
    std::optional<LevelLimits> sampler = std::nullopt;
  };
  std::vector<Read> reads;   // views and buffers
  bool anisotropic = false;  // a pair with such a sampler is sampled with computed derivatives
  bool kept = false;         // for all who ask; else until the next question
};

/// Asks for uses; answers about few descriptors are made in `scratch`, and hold until the next question.
struct SetUses {
  device::DeviceState& device;
  SetUse& scratch;

  /// What shaders use and nobody wrote (but for bindings that are partially bound) is an error that names it, and so is a view of another
  /// kind than the shader's variable.
  Expected<Ptr<const SetUse>> find(const pipeline::Program& program, size_t group, const command::BoundSets& bound) const;
};

/// Levels of a view of `count` levels that are read for levels of detail from `least` to `greatest` (shader/sampler/lod.cpp).
framebuffer::LevelRange levels_sampled(const LevelLimits& sampler, uint32_t count, float least, float greatest);

/// Elements that a shader names, of `count` that there are and `of_slot` that its code clamps indices to.
Status each_element(const shader::NamedElements& named, uint32_t of_slot, uint32_t count,
                    const std::function<Status(uint32_t element, framebuffer::Certainty certainty)>& visit);

/// The element of a bound set, which the shader has as `type`; null where nothing is there and nothing has to be.
Expected<const descriptor::Element*> find_element(const pipeline::Program& program, const command::BoundSets& bound,
                                                  const DescriptorName& name, VkDescriptorType type);

}  // namespace tilegpu::device
