// icd/shader_pipelines.hpp -- the pipelines that draws with shader objects have: all of their state is the command buffer's.
// In: what is bound, what the pass draws to. Out: a pipeline of the core, bound before a draw.
// A pipeline is made when a draw asks for the first of its kind, and kept as long as all of its shaders: by them, by formats and places of
// attachments, and by which states it takes. What code depends on beside that is the core's to find, as of any pipeline with dynamic state.
// Source: Vulkan specification, "Shader Objects", and the valid usage of vkCmdDraw.
#pragma once

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "icd/dynamic_state.hpp"
#include "icd/shader_object.hpp"

namespace tilegpu::icd {

/// Of a device. Any thread.
class ShaderPipelines {
 public:
  using Shaders = decltype(BoundShaders::graphics);
  struct Key {
    std::array<uint64_t, kShaderStages.size()> shaders{};  ///< numbers; 0: none
    uint64_t dynamic = 0;                                  ///< states that the command buffer sets
    std::array<uint32_t, kMaxColorAttachments> color{}, locations{}, inputs{};
    uint32_t colors = 0, depth = 0, stencil = 0, depth_input = 0, stencil_input = 0, none = 0;
    bool operator==(const Key&) const = default;
  };

  /// Null: there is none yet.
  Ptr<Pipeline> find(const Key& key) const;
  /// Of two that were made at once, the first.
  Ptr<Pipeline> add(const Key& key, const Shaders& shaders, Ptr<Pipeline> pipeline);
  /// Of a shader that ends.
  void forget(uint64_t number);
  /// By VK_EXT_debug_utils.
  void name(ShaderObject& shader, const std::string& name);
  /// Of all devices' it is there to be tested.
  size_t size() const;

 private:
  struct Hash {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    Ptr<Pipeline> pipeline;
    Shaders shaders;
  };
  static constexpr size_t kMost = 4096;
  void drop(const Key& key);
  mutable std::mutex lock_;
  std::unordered_map<Key, Entry, Hash> entries_;
  std::unordered_map<uint64_t, std::unordered_set<const Key*>> of_shader_;  ///< keys of entries_
};

/// Binds the pipeline that what is bound makes; changes nothing where it can't.
Status take_shaders(VkCommandBuffer commands);

/// Before each draw; false: it can't be drawn, and that is said.
inline bool prepare_draw(VkCommandBuffer commands) {
  const BoundShaders& shaders = commands->shaders;
  if (shaders.in_use && (shaders.changed || (shaders.given.bits & shaders.optional.bits) != shaders.taken.bits)) {
    const Status ok = take_shaders(commands);
    record(commands, ok);
    if (!ok) return false;
  }
  set_colors(commands);
  return true;
}

}  // namespace tilegpu::icd
