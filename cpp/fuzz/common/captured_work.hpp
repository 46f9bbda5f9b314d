// fuzz/common/captured_work.hpp -- command buffers with a bit of everything that a capture holds: objects of each kind, states that
// pipelines fix and commands set, draws and dispatches of each kind, transfers, queries, secondary command buffers.
//
// In: choices, a device. Out: executable command buffers whose results depend on nothing but them. Small: some hundred numbers of a file
// stand for commands, so that a fuzzer that changes one of them soon has changed each.
#pragma once

#include "common/finding.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::fuzz {

struct CapturedWork {
  std::vector<Ptr<CommandBuffer>> command_buffers;
  std::string refused;  ///< the first error of a call, if one was an error: there is nothing to execute then
};

CapturedWork captured_work(Choices choices, const Ptr<Device>& device);

}  // namespace tilegpu::fuzz
