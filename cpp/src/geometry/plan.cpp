// geometry/plan.cpp -- stage: before geometry. In: the pass's draws and clears. Out: chunks of about kChunkPrimitives primitives:
// many small draws share one, a big draw is cut in many, a clear is one of its own. Only counts decide, never threads. A stippled strip is
// not cut, however long it is: where its lines' stipples begin is known once those before are clipped.
#include <algorithm>
#include <bit>
#include <cassert>

#include "geometry/geometry.hpp"
#include "geometry/index_fetch.hpp"

namespace tilegpu::geometry {

struct Planner {
  ChunkPlans& out;
  uint32_t limit;
  uint32_t room = 0;       // primitives that the last plan still takes
  uint32_t weight = 1;     // of a primitive of the draw at hand: as many may come of it
  bool ends_part = false;  // the next plan is of another part
  bool whole = false;      // pieces of an instance stay together: a stipple runs on from one to the next

  Planner(ChunkPlans& plans, uint32_t most) : out(plans), limit(most) {
    out.plans_.clear();
    out.pieces_.clear();
    out.first_piece_.clear();
    out.read_indices_ = false;
  }
  void begin_plan(const command::ClearCall* clear) {
    out.plans_.push_back({{}, clear, ends_part});
    ends_part = false;
    out.first_piece_.push_back(out.pieces_.size());
    room = clear ? 0 : limit;
  }
  void end_part() { ends_part = true, room = 0; }
  // Pieces stay where they are now.
  void finish() {
    const std::span<const ChunkPiece> pieces = out.pieces_;
    for (size_t i = 0; i < out.plans_.size(); i++) {
      const size_t end = i + 1 < out.plans_.size() ? out.first_piece_[i + 1] : pieces.size();
      out.plans_[i].pieces = pieces.subspan(out.first_piece_[i], end - out.first_piece_[i]);
    }
  }

  void add(const ChunkPiece& piece) {
    assert(piece.primitive_count > 0 && piece.instance_count > 0);
    const uint32_t primitives = piece.primitive_count * piece.instance_count * weight;
    const bool joins = whole && piece.first_primitive > 0;
    if (primitives > room && !joins) begin_plan(nullptr);
    out.pieces_.push_back(piece);
    assert(primitives <= room || joins || piece.primitive_count == 1);  // a piece is cut to the limit before
    room -= std::min(room, primitives);
  }

  // Primitives that still go into the last plan; of an empty one.
  uint32_t room_for() const { return room / weight; }
  uint32_t most() const { return std::max(1u, limit / weight); }

  void add_plain(uint32_t draw, uint32_t instances, uint32_t primitives) {
    ChunkPiece piece;
    piece.draw = draw;
    if (instances == 1 && primitives <= room_for()) {
      piece.primitive_count = primitives;
      add(piece);
      return;
    }
    for (uint32_t instance = 0; instance < instances;) {
      if (room_for() == 0) begin_plan(nullptr);
      piece.instance = instance;
      if (primitives <= room_for()) {
        piece.instance_count = std::min(instances - instance, room_for() / primitives);
        piece.first_primitive = 0;
        piece.primitive_count = primitives;
        add(piece);
        instance += piece.instance_count;
        continue;
      }
      piece.instance_count = 1;
      for (uint32_t first = 0; first < primitives; first += piece.primitive_count) {
        piece.first_primitive = first;
        piece.primitive_count = std::min(primitives - first, room_for() ? room_for() : most());
        add(piece);
      }
      instance++;
    }
  }

  void add_restarted(uint32_t draw, uint32_t instances, std::vector<ChunkPiece> pieces) {
    out.read_indices_ = true;
    if (pieces.empty()) return;
    for (uint32_t instance = 0; instance < instances;) {
      if (pieces.size() == 1) {
        const uint32_t primitives = pieces[0].primitive_count;
        pieces[0].instance_count =
            std::min(instances - instance, std::max(1u, (primitives <= room_for() ? room_for() : most()) / primitives));
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

namespace {

// What may come of a primitive, roughly: so that threads share the work of few patches, or of few workgroups of task and mesh shaders. A
// patch of level 8 has a hundred triangles.
uint32_t weight_of(const pipeline::Resolved& resolved) {
  constexpr uint32_t kOfPatch = 64, kOfTask = 16, kMost = 1024;
  const pipeline::PrimitiveStages& stages = resolved.primitives;
  uint32_t weight = stages.tessellates ? kOfPatch : 1;
  if (stages.meshes) weight = stages.mesh.output_primitives * (resolved.stages.find(VK_SHADER_STAGE_TASK_BIT_EXT) ? kOfTask : 1);
  if (stages.makes_primitives) weight *= std::max(1u, stages.geometry.output_vertices * stages.geometry.invocations / 3);
  return std::min(weight, kMost);
}

// What draws with the same state have in common.
struct Topology {
  const command::DrawState* state = nullptr;
  PrimitiveShape shape;
  bool restart = false, whole = false;
  uint32_t weight = 1;
  const PrimitiveShape& of(const command::DrawCall& draw) {
    if (draw.state != state) {
      state = draw.state;
      shape = shape_of(*draw.state);
      restart = draw.state->primitive_restart;
      weight = weight_of(*draw.state->resolved);
      whole = runs_stipple(*draw.state);
    }
    return shape;
  }
};

}  // namespace

uint32_t chunk_primitives_of(std::span<const command::DrawCall> draws, std::span<const PassCommand> commands) {
  uint64_t sum = 0;
  Topology topology;
  for (const PassCommand& command : commands) {
    if (command.clear) continue;
    const command::DrawCall& draw = draws[command.draw];
    sum += uint64_t{primitives_of(topology.of(draw), draw.count)} * draw.instance_count * topology.weight;
  }
  if (sum < 16 * kChunkPrimitives) return static_cast<uint32_t>(std::max<uint64_t>(std::bit_floor(sum / 16), kSmallestChunk));
  return static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_floor(sum / 32), kChunkPrimitives, kLargestChunk));
}

void plan_chunks(const GeometryPass& pass, ChunkPlans& out) {
  assert(pass.chunk_primitives >= 1);
  assert(pass.chunk_primitives >= 1 && pass.chunk_primitives <= kLargestChunk);
  Planner planner(out, pass.chunk_primitives);
  Topology topology;
  uint32_t draws = 0;  // of the part
  for (const PassCommand& command : pass.commands) {
    if (command.clear) {
      planner.begin_plan(command.clear);
      continue;
    }
    assert(command.draw < pass.draws.size());
    const command::DrawCall& draw = pass.draws[command.draw];
    if (draw.count == 0 || draw.instance_count == 0) continue;
    if (pass.draws_a_part && draws == pass.draws_a_part) planner.end_part(), draws = 0;
    ++draws;
    const uint32_t primitives = primitives_of(topology.of(draw), draw.count);
    planner.weight = topology.weight;
    planner.whole = topology.whole;
    if (topology.restart && draw.indexed) {
      planner.add_restarted(command.draw, draw.instance_count, scan_restart(draw, planner.most()));
    } else if (primitives) {
      planner.add_plain(command.draw, draw.instance_count, primitives);
    }
  }
  planner.finish();
}

}  // namespace tilegpu::geometry
