// device/binding_tables.hpp -- the bound descriptor sets of a draw: what its pipeline asks of them, and their addresses.
#pragma once

#include "device/recorder.hpp"

namespace tilegpu::device {

/// Adds the bound sets as the bound pipeline uses them to the open pass, and sets the address in the state of the next draw. What the
/// shaders use and nobody wrote (but for bindings that are partially bound) is an error that names it.
Status bind_sets(Recorder& recorder);

/// The same for sets that may be updated after they were bound, as they are now: when the pass, a copy that is not shared, is submitted.
Status bind_late_sets(exec::DeviceState& device, command::Pass& pass);

/// Vertices, indices or indirect commands at `data` in the buffer are read while the pass writes its targets: an error if it writes them.
Status note_buffer(command::Pass& pass, const Pipeline& pipeline, const char* what, const Buffer& buffer, const uint8_t* data,
                   uint64_t size_B);

/// What a secondary's part reads and writes of the pass's targets; an error where both meet in one target.
Status note_part(command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
