// geometry/census.cpp -- see census.hpp. In: a pass and the batches that its chunks shade. Out: PassStats::vertices_unique_requested.
#include "geometry/census.hpp"

#include <algorithm>

#include "geometry/index_fetch.hpp"

namespace tilegpu::geometry {

namespace {

constexpr uint64_t kMostBytes = 64u << 20;  // of a pass; draws beyond count as if each index named another vertex

// Vertices that a draw can name: as many as its largest vertex buffer has, or as its index type can.
uint64_t vertices_of(const exec::DrawCall& draw) {
  const exec::DrawState& state = *draw.state;
  uint64_t most = state.index_type == VK_INDEX_TYPE_UINT8_EXT ? 1u << 8
                  : state.index_type == VK_INDEX_TYPE_UINT16  ? 1u << 16
                                                              : uint64_t{1} << 32;
  uint64_t bound = 0;
  for (const VkVertexInputBindingDescription& binding : state.pipeline->info().vertex_bindings)
    if (binding.inputRate == VK_VERTEX_INPUT_RATE_VERTEX && binding.stride && binding.binding < kMaxVertexBindings)
      bound = std::max(bound, state.vertex_bindings[binding.binding].size_B / binding.stride + 1);
  return std::min(most, bound ? bound : most);
}

}  // namespace

void VertexCensus::begin(const GeometryPass& pass) {
  ranges_.assign(pass.draws.size(), {});
  uint64_t total = 0;
  for (const PassCommand& command : pass.commands) {
    if (command.clear || ranges_[command.draw].size) continue;
    const exec::DrawCall& draw = pass.draws[command.draw];
    if (!draw.indexed || draw.count == 0 || draw.instance_count == 0) continue;
    const uint64_t size = vertices_of(draw) + 1;
    if (total + size > kMostBytes) continue;
    ranges_[command.draw] = {total, static_cast<uint32_t>(size)};
    total += size;
  }
  seen_.resize(total);
  if (total) std::memset(seen_.data(), 0, total);
}

uint64_t VertexCensus::count(const GeometryPass& pass) const {
  uint64_t sum = 0;
  for (const PassCommand& command : pass.commands) {
    if (command.clear) continue;
    const exec::DrawCall& draw = pass.draws[command.draw];
    const Range range = ranges_[command.draw];
    uint64_t vertices = 0;
    if (range.size) {
      const uint8_t* seen = seen_.data() + range.first;
      for (uint32_t i = 0; i < range.size; i++) vertices += seen[i];
    } else {
      const VkPrimitiveTopology topology = draw.state->pipeline->info().topology;
      const uint64_t primitives = primitives_of(topology, draw.count), per_primitive = vertices_per_primitive(topology);
      vertices = primitives == 0 ? 0 : is_list(topology) ? primitives * per_primitive : primitives + per_primitive - 1;
    }
    sum += vertices * draw.instance_count;
  }
  return sum;
}

}  // namespace tilegpu::geometry
