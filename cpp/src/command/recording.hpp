// command/recording.hpp -- what a command buffer recorded: a stream of typed commands. Plain data, const once the command buffer ended.
// In: recorded commands. Out: for executions.
// It keeps alive what it names. No execution writes to it: what an execution needs and finds is its own (exec/execution.hpp), so that a
// recording may run any number of times at once, and be part of other recordings.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "command/dispatch.hpp"
#include "command/pass.hpp"
#include "command/transfer.hpp"

namespace tilegpu::command {

struct Recording;

/// vkCmdExecuteCommands outside of passes. (Inside of a pass: ExecutedPart.)
struct ExecuteCommands {
  Ptr<const Recording> recording;
  std::optional<Condition> condition;  // active around it
};

using Command =
    std::variant<Ptr<const Pass>, CopyBuffer, FillBuffer, UpdateBuffer, CopyBufferToImage, CopyImageToBuffer, CopyImage, BlitImage,
                 ResolveImage, ClearColorImage, ClearDepthStencilImage, GenerateMipmaps, ResetQueryPool, WriteTimestamp,
                 CopyQueryPoolResults, BeginQuery, EndQuery, ExecuteCommands, Ptr<const Dispatch>, SetEvent, WaitEvents>;

/// Of secondaries that execute others (maxCommandBufferNestingLevel): what submits them goes down as deep.
inline constexpr uint32_t kMaxNesting = 32;
/// Commands that a recording executes of secondaries, each time counted: levels multiply them.
inline constexpr uint64_t kMaxExecuted = 1 << 24;

struct Recording {
  Ptr<Device> device;
  VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  HostVector<Command> commands;
  /// Of a secondary with inheritance info, whose commands are these alone: what becomes part of the pass that executes it. It has no
  /// framebuffer; its areas are the largest there are.
  Ptr<const Pass> part;
  /// The secondary goes on with this one's part, behind a barrier that may divide the pass: who executes it executes both.
  Ptr<const Recording> behind;
  InheritedActivity active;       // that may be where it is executed
  bool begins_condition = false;  // it, or one that it executes
  bool begins_occlusion = false;  // the same of occlusion queries
  uint32_t nesting = 0;           // levels of secondaries that it executes: of one that executes none, 0
  uint64_t executed = 0;          // commands of secondaries outside of passes, all levels together
};

}  // namespace tilegpu::command
