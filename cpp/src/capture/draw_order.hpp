// capture/draw_order.hpp -- which draws of a pass may be recorded in another order than they stand in a file. In: what a pass holds, the
// orders that somebody wants. Out: runs of draws that may change places, or why the order can't be followed.
// A draw has its own state, push constants and parameters in a file, so that nothing but its place depends on the draws before it. What
// stands between two runs (clears) stays. Where more than the attachments says in which order draws came, all of them stay.
#pragma once

#include "capture/commands.hpp"
#include "pipeline/program.hpp"
#include "tilegpu/capture.hpp"

namespace tilegpu::capture {

/// That are noted: a few secondaries in a file may execute each other's passes any number of times.
inline constexpr size_t kMostPasses = 1u << 16;

inline void note_draw(const pipeline::Program& program, const DepthStencilState& state, CapturedPass& found) {
  if (!program.written_buffers.empty() || !program.written_images.empty() || program.writes_addresses)
    found.fixed = "its shaders write memory";
  const VkCompareOp compare = state.depth_compare;
  const bool has_order = compare == VK_COMPARE_OP_LESS || compare == VK_COMPARE_OP_LESS_OR_EQUAL || compare == VK_COMPARE_OP_GREATER ||
                         compare == VK_COMPARE_OP_GREATER_OR_EQUAL;
  found.ordered.push_back(program.depth_format != VK_FORMAT_UNDEFINED && state.depth_test && has_order);
  if (found.runs.empty()) found.runs.push_back(0);
  found.runs.back()++;
}

/// A command that is no plain draw.
inline void note_between(PassTag tag, CapturedPass& found) {
  switch (tag) {
    case PassTag::clear:
      return found.runs.push_back(0);
    case PassTag::indirect:
    case PassTag::byte_count:
      found.fixed = "it has indirect draws";
      return;
    case PassTag::execute_commands:
      found.fixed = "it executes secondary command buffers";
      return;
    case PassTag::begin_query:
    case PassTag::end_query:
      found.fixed = "it has queries";
      return;
    case PassTag::begin_transform_feedback:
    case PassTag::end_transform_feedback:
      found.fixed = "it has transform feedback";
      return;
    case PassTag::begin_condition:
    case PassTag::end_condition:
      found.fixed = "it has conditional draws";
      return;
    case PassTag::draw:
    case PassTag::count:
      assert(!"no other command");
  }
}

inline Error refused_order(const DrawOrder& order, const std::string& why) {
  return {VK_ERROR_INITIALIZATION_FAILED, "orders: pass " + std::to_string(order.pass) + ": " + why};
}

/// Of a run of `count` draws, the first of which is number `first`.
inline Error out_of_run(const DrawOrder& order, uint32_t first, uint32_t count) {
  return refused_order(order, "places " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                                  " must have the draws of these numbers, each once: they stand one behind the other");
}

inline Status is_possible(const DrawOrder& order, const std::vector<CapturedPass>& passes, const std::vector<DrawOrder>& all) {
  for (const DrawOrder& other : all)
    if (&other != &order && other.pass == order.pass) return refused_order(order, "there are two orders of it; one is allowed");
  if (order.pass >= passes.size() || passes.size() == kMostPasses)
    return refused_order(order, "there are " + std::to_string(passes.size()) + " passes; their numbers begin with 0, and fewer than " +
                                    std::to_string(kMostPasses) + " can be told apart");
  const CapturedPass& found = passes[order.pass];
  if (!found.fixed.empty()) return refused_order(order, found.fixed + "; its draws stay in their order");
  if (order.draws.size() == found.ordered.size()) return Ok{};
  return refused_order(order, "the order has " + std::to_string(order.draws.size()) + " draws; it must have each of the pass's " +
                                  std::to_string(found.ordered.size()) + " once");
}

}  // namespace tilegpu::capture
