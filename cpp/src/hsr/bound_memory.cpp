// hsr/bound_memory.cpp -- see bound_memory.hpp.
#include "hsr/bound_memory.hpp"

#include <vector>

namespace tilegpu::hsr {

bool reads_what_it_writes(const command::DrawState& state) {
  const pipeline::ResolvedStage* fragment = state.resolved->stages.find(VK_SHADER_STAGE_FRAGMENT_BIT);
  assert(fragment);
  const auto& written = fragment->traits.written_bindings;
  if (written.empty()) return false;
  const auto is_written = [&](uint32_t set, uint32_t binding) {
    return std::find(written.begin(), written.end(), std::pair(set, binding)) != written.end();
  };
  // What is used and not written is read; what is both was found without its memory (StageTraits::reads_written_memory).
  std::vector<Bytes> writes, reads;
  const auto add_to = [](std::vector<Bytes>& list) {
    return [&list](const uint8_t* data, uint64_t size_B) {
      if (data && size_B) list.push_back({data, size_B});
    };
  };
  for (const shader::BufferSlot& slot : fragment->resources.buffers)
    each_bytes(state, slot, add_to(is_written(slot.set, slot.binding) ? writes : reads));
  for (const shader::TextureSlot& slot : fragment->resources.textures)
    each_bytes(state, slot, add_to(is_written(slot.image_set, slot.image_binding) ? writes : reads));
  return std::any_of(reads.begin(), reads.end(), [&](const Bytes& r) {
    return std::any_of(writes.begin(), writes.end(), [&](const Bytes& w) { return w.overlaps(r); });
  });
}

}  // namespace tilegpu::hsr
