// geometry/census.cpp -- see census.hpp. In: a pass and the batches that its chunks shade. Out: PassStats::vertices_unique_requested.
#include "geometry/census.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

#include "geometry/index_fetch.hpp"

namespace tilegpu::geometry {

namespace {

constexpr uint64_t kMostBytes = 64u << 20;  // of a pass; draws beyond count as if each index named another vertex

// Vertices that a draw can name: as many as its largest vertex buffer has, or as its index type can.
uint64_t vertices_of(const command::DrawCall& draw) {
  const command::DrawState& state = *draw.state;
  uint64_t most = state.index_type == VK_INDEX_TYPE_UINT8_EXT ? 1u << 8
                  : state.index_type == VK_INDEX_TYPE_UINT16  ? 1u << 16
                                                              : uint64_t{1} << 32;
  uint64_t bound = 0;
  for (const VertexInputBinding& binding : state.resolved->vertex_input)
    if (binding.inputRate == VK_VERTEX_INPUT_RATE_VERTEX && binding.stride && binding.binding < kMaxVertexBindings)
      bound = std::max(bound, state.vertex_bindings[binding.binding].size_B / binding.stride + 1);
  return std::min(most, bound ? bound : most);
}

// Vertices of an instance, if each index names another one.
uint64_t named_by(const command::DrawCall& draw) {
  const PrimitiveShape shape = shape_of(*draw.state);
  const uint64_t primitives = primitives_of(shape, draw.count);
  return primitives == 0 ? 0 : (primitives - 1) * shape.step + shape.vertices;
}

// What a thread clears or adds up at once: in some 10 microseconds, for which it is worth waking it.
constexpr uint64_t kPiece_B = uint64_t{1} << 18;

uint32_t pieces_of(uint64_t bytes) { return static_cast<uint32_t>((bytes + kPiece_B - 1) / kPiece_B); }

uint64_t sum_bytes(const uint8_t* bytes, uint64_t count) {
  __m256i sums = _mm256_setzero_si256();
  uint64_t i = 0;
  for (; i + 32 <= count; i += 32)
    sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i)), _mm256_setzero_si256()));
  alignas(32) uint64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), sums);
  uint64_t sum = parts[0] + parts[1] + parts[2] + parts[3];
  for (; i < count; i++) sum += bytes[i];
  return sum;
}

}  // namespace

void lay_out_census(const GeometryPass& pass, CensusLayout& out) {
  out.ranges.assign(pass.draws.size(), {});
  out.runs.clear();
  out.uncounted = 0;
  uint64_t total = 0, size = 0;
  const command::DrawState* state = nullptr;  // that `size` is of
  for (const PassCommand& command : pass.commands) {
    if (command.clear) continue;
    const command::DrawCall& draw = pass.draws[command.draw];
    CensusLayout::Range& range = out.ranges[command.draw];
    if (!range.size && draw.indexed && draw.count && draw.instance_count) {
      if (draw.state != state) {
        state = draw.state;
        size = vertices_of(draw) + 1;
      }
      if (total + size <= kMostBytes) {
        range = {total, static_cast<uint32_t>(size)};
        total += size;
      }
    }
    if (!range.size) {
      out.uncounted += named_by(draw) * draw.instance_count;
    } else if (!out.runs.empty() && out.runs.back().end == range.first && out.runs.back().instances == draw.instance_count) {
      out.runs.back().end += range.size;
    } else {
      out.runs.push_back({range.first, range.first + range.size, draw.instance_count});
    }
  }
  out.bytes = total;
}

void VertexCensus::begin(const CensusLayout& layout, const Share& share) {
  layout_ = &layout;
  seen_.resize(layout.bytes);
  share(pieces_of(layout.bytes), [&](uint32_t piece) {
    const uint64_t first = piece * kPiece_B;
    std::memset(seen_.data() + first, 0, std::min(kPiece_B, layout.bytes - first));
  });
}

uint64_t VertexCensus::count(const Share& share) const {
  assert(layout_);  // begin() comes first
  std::vector<uint64_t> sums(pieces_of(layout_->bytes));
  share(static_cast<uint32_t>(sums.size()), [&](uint32_t piece) {
    const uint64_t begin = piece * kPiece_B, end = std::min(begin + kPiece_B, layout_->bytes);
    const auto& runs = layout_->runs;  // one behind the other
    auto run = std::upper_bound(runs.begin(), runs.end(), begin, [](uint64_t at, const CensusLayout::Run& r) { return at < r.end; });
    uint64_t sum = 0;
    for (; run != runs.end() && run->first < end; ++run) {
      const uint64_t from = std::max(run->first, begin), to = std::min(run->end, end);
      sum += sum_bytes(seen_.data() + from, to - from) * run->instances;
    }
    sums[piece] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), layout_->uncounted);
}

}  // namespace tilegpu::geometry
