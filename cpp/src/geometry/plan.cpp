// geometry/plan.cpp -- stage: before geometry. In: the pass's draws and clears. Out: chunks of about kChunkPrimitives primitives:
// many small draws share one, a big draw is cut in many, a clear is one of its own. Only counts decide, never threads.
#include <algorithm>
#include <bit>

#include "geometry/geometry.hpp"
#include "geometry/index_fetch.hpp"

namespace tilegpu::geometry {

namespace {

struct Planner {
  std::vector<ChunkPlan> plans;
  uint32_t room = 0;  // primitives that the last plan still takes
  uint32_t limit = kChunkPrimitives;

  void add(const ChunkPiece& piece) {
    const uint32_t primitives = piece.primitive_count * piece.instance_count;
    if (primitives > room) {
      plans.emplace_back();
      room = limit;
    }
    plans.back().pieces.push_back(piece);
    room -= primitives;
  }

  void add_plain(uint32_t draw, uint32_t instances, uint32_t primitives) {
    ChunkPiece piece;
    piece.draw = draw;
    for (uint32_t instance = 0; instance < instances;) {
      if (room == 0) {
        plans.emplace_back();
        room = limit;
      }
      piece.instance = instance;
      if (primitives <= room) {
        piece.instance_count = std::min(instances - instance, room / primitives);
        piece.first_primitive = 0;
        piece.primitive_count = primitives;
        add(piece);
        instance += piece.instance_count;
        continue;
      }
      piece.instance_count = 1;
      for (uint32_t first = 0; first < primitives; first += piece.primitive_count) {
        piece.first_primitive = first;
        piece.primitive_count = std::min(primitives - first, room ? room : limit);
        add(piece);
      }
      instance++;
    }
  }

  void add_restarted(uint32_t draw, uint32_t instances, std::vector<ChunkPiece> pieces) {
    if (pieces.empty()) return;
    for (uint32_t instance = 0; instance < instances;) {
      if (pieces.size() == 1) {
        const uint32_t primitives = pieces[0].primitive_count;
        pieces[0].instance_count = std::min(instances - instance, std::max(1u, (primitives <= room ? room : limit) / primitives));
      }
      for (ChunkPiece& piece : pieces) {
        piece.draw = draw;
        piece.instance = instance;
        add(piece);
      }
      instance += pieces[0].instance_count;
    }
  }
};

}  // namespace

uint32_t chunk_primitives_of(std::span<const exec::DrawCall> draws, std::span<const PassCommand> commands) {
  uint64_t sum = 0;
  for (const PassCommand& command : commands) {
    if (command.clear) continue;
    const exec::DrawCall& draw = draws[command.draw];
    sum += uint64_t{primitives_of(draw.state->pipeline->info().topology, draw.count)} * draw.instance_count;
  }
  return static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_floor(sum / 32), kChunkPrimitives, kLargestChunk));
}

std::vector<ChunkPlan> plan_chunks(const GeometryPass& pass) {
  assert(pass.chunk_primitives >= 1 && pass.chunk_primitives <= kLargestChunk);
  Planner planner;
  planner.limit = pass.chunk_primitives;
  for (const PassCommand& command : pass.commands) {
    if (command.clear) {
      planner.plans.emplace_back();
      planner.plans.back().clear = command.clear;
      planner.room = 0;
      continue;
    }
    assert(command.draw < pass.draws.size());
    const exec::DrawCall& draw = pass.draws[command.draw];
    if (draw.count == 0 || draw.instance_count == 0) continue;
    if (uses_restart(draw)) {
      planner.add_restarted(command.draw, draw.instance_count, scan_restart(draw, pass.chunk_primitives));
    } else if (const uint32_t primitives = primitives_of(draw.state->pipeline->info().topology, draw.count)) {
      planner.add_plain(command.draw, draw.instance_count, primitives);
    }
  }
  return planner.plans;
}

}  // namespace tilegpu::geometry
