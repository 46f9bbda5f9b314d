// tilegpu/capture.hpp -- recordings in a file, with everything that they name: for bug reports, tests and fuzzers.
//
// In: executable command buffers. Out: a file that another process reads back, on any device, with the same bits as a result. A file from
// strangers is an error or is drawn; all that it says is checked as by the functions that applications call.
#pragma once

#include "tilegpu/device.hpp"

namespace tilegpu {

struct Capture {
  std::vector<Ptr<CommandBuffer>> command_buffers;  ///< executable, to be submitted together
  /// What the last pass stores in colour, or resolves it to, or what the last dispatch that writes images writes, whichever comes later;
  /// their first layers are the pictures.
  std::vector<Ptr<ImageView>> pictures;
  std::vector<Ptr<Buffer>> buffers;    ///< that dispatches may write, in order
  std::vector<Ptr<Buffer>> addressed;  ///< that shaders reach by the addresses that they had: they must live while it is executed
};

/// Memory and results of queries are written as an execution of these would read them, in its turn of the queue: what was submitted before
/// has ended, what others submit meanwhile waits. What was recorded is kept: pipelines with their dynamic states, what each draw found set,
/// secondary command buffers, which come with those that execute them. Events are left out: a replay waits for none.
TILEGPU_API Status save_capture(const Ptr<Device>& device, const std::vector<Ptr<CommandBuffer>>& command_buffers, const std::string& path);
TILEGPU_API Expected<Capture> load_capture(const Ptr<Device>& device, const std::string& path);
/// DeviceCreateInfo::profile of the device that wrote the file.
TILEGPU_API Expected<std::string> capture_profile(const std::string& path);

}  // namespace tilegpu
