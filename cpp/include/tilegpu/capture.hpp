// tilegpu/capture.hpp -- recordings in a file, with everything that they name: for bug reports, tests and fuzzers.
//
// In: executable command buffers. Out: a file that another process reads back, on any device, with the same bits as a result. A file from
// strangers is an error or is drawn; all that it says is checked as by the functions that applications call.
#pragma once

#include "tilegpu/device.hpp"

namespace tilegpu {

/// What of a pass's draws can be recorded in another order.
struct CapturedPass {
  std::vector<uint32_t> runs;  ///< how many draws stand one behind the other: what stands between two runs stays there
  std::vector<bool> ordered;   ///< of each draw: its depth test is LESS, LESS_OR_EQUAL, GREATER or GREATER_OR_EQUAL
  std::string fixed;           ///< why all of them stay where they are; "": they may change places inside a run
};

/// A pass, by its number among those that a submission of the capture executes, and its draws in the order to be recorded in, by the
/// numbers that they have in the file: each once, none outside of its run.
struct DrawOrder {
  uint32_t pass = 0;
  std::vector<uint32_t> draws;
};

struct Capture {
  std::vector<Ptr<CommandBuffer>> command_buffers;  ///< executable, to be submitted together
  /// What the last pass stores in colour, or resolves it to, or what the last dispatch that writes images writes, whichever comes later;
  /// their first layers are the pictures.
  std::vector<Ptr<ImageView>> pictures;
  std::vector<Ptr<ImageView>> stored;  ///< what passes store or resolve to, each once
  std::vector<CapturedPass> passes;    ///< in order of execution
  std::vector<Ptr<Buffer>> buffers;    ///< that dispatches may write, in order
  std::vector<Ptr<Buffer>> addressed;  ///< that shaders reach by the addresses that they had: they must live while it is executed
};

/// Memory and results of queries are written as an execution of these would read them, in its turn of the queue: what was submitted before
/// has ended, what others submit meanwhile waits. What was recorded is kept: pipelines with their dynamic states, what each draw found set,
/// secondary command buffers, which come with those that execute them. Events are left out: a replay waits for none.
TILEGPU_API Status save_capture(const Ptr<Device>& device, const std::vector<Ptr<CommandBuffer>>& command_buffers, const std::string& path);
/// `orders`: of passes whose draws are to be in another order, to find out what it would cost; an error where it can't be.
TILEGPU_API Expected<Capture> load_capture(const Ptr<Device>& device, const std::string& path, const std::vector<DrawOrder>& orders = {});
/// DeviceCreateInfo::profile of the device that wrote the file.
TILEGPU_API Expected<std::string> capture_profile(const std::string& path);

}  // namespace tilegpu
