// geometry/vertex_fetch.cpp -- see vertex_fetch.hpp. In: vertices. Out: bytes.
#include "geometry/vertex_fetch.hpp"

#include <algorithm>
#include <cassert>

#include "vk/format.hpp"

namespace tilegpu::geometry {

void VertexFetch::begin_chunk() {
  ways_.fill({});
  clock_ = missed_ = 0;
}

void VertexFetch::begin_draw(const command::DrawCall& draw) {
  streams_.clear();
  const command::DrawState& state = *draw.state;
  const shader::VertexKey& key = state.resolved->position.key;
  for (const VertexInputBinding& binding : state.resolved->vertex_input) {
    const shader::VertexBinding& bound = state.vertex_bindings[binding.binding];
    Stream stream{reinterpret_cast<uintptr_t>(bound.data),           bound.size_B, binding.stride, ~0u, 0, binding.divisor,
                  binding.inputRate == VK_VERTEX_INPUT_RATE_INSTANCE};
    for (const VkVertexInputAttributeDescription& attribute : key.attributes) {
      const vk::FormatInfo* format = vk::find_format(attribute.format);
      if (attribute.binding != binding.binding || !format) continue;
      stream.low_B = std::min(stream.low_B, attribute.offset);
      stream.high_B = std::max(stream.high_B, attribute.offset + format->texel_B);
    }
    if (stream.high_B > stream.low_B) streams_.push_back(stream);
  }
}

void VertexFetch::read(const Stream& stream, uint64_t element) {
  const uint64_t at_B = element * stream.stride_B;
  if (at_B + stream.high_B > stream.size_B) return;  // out of bounds: nothing is read
  for (uint64_t line = (at_B + stream.low_B) / kLine_B; line <= (at_B + stream.high_B - 1) / kLine_B; line++) {
    Way* const set = &ways_[line % kSets * kWays];
    const auto held = std::find_if(set, set + kWays, [&](const Way& w) { return w.used && w.buffer == stream.buffer && w.line == line; });
    if (held != set + kWays) {
      held->used = ++clock_;
      continue;
    }
    missed_++;
    *std::min_element(set, set + kWays, [](const Way& a, const Way& b) { return a.used < b.used; }) = {stream.buffer, line, ++clock_};
  }
}

void VertexFetch::fetch(const uint32_t* vertices, uint32_t count, uint32_t vertex_offset) {
  for (const Stream& stream : streams_)
    for (uint32_t i = 0; i < count && !stream.by_instance; i++) read(stream, vertices[i] + vertex_offset);  // wraps, as Vulkan's does
}

void VertexFetch::fetch_instance(uint32_t first_instance, uint32_t instance) {
  for (const Stream& stream : streams_)
    if (stream.by_instance) read(stream, uint64_t{first_instance} + (stream.divisor ? instance / stream.divisor : 0));
}

}  // namespace tilegpu::geometry
