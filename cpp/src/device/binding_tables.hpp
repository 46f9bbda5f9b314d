// device/binding_tables.hpp -- the bound descriptor sets of a draw: what its pipeline asks of them, and their addresses.
// Stage, In and Out: binding_tables.cpp.
#pragma once

#include "device/recorder.hpp"

namespace tilegpu::device {

/// The bound sets as a program uses them; no pass need be open.
Status bind_sets(const device::DeviceState& device, const SetBindings& sets, const pipeline::Program& program, command::BoundSets& bound);

/// What a compute program uses of its sets, of which `late` ones may be updated after they were bound: checked, textures made ready,
/// written buffers noted. Asked again for the late ones when the dispatch is submitted, of a copy that is not shared.
Status check_compute_sets(device::DeviceState& device, SetUse& scratch, const pipeline::Program& program, command::ComputeSets& sets,
                          bool late);
Status bind_late_sets(device::DeviceState& device, const pipeline::Program& program, command::ComputeSets& sets);

/// Adds them to the open pass for the bound pipeline, and sets the address in the state of the next draw.
Status bind_sets_of_draw(Recorder& recorder);

/// The same for sets that may be updated after they were bound, as they are now: when the pass, a copy that is not shared, is submitted.
Status bind_late_sets(device::DeviceState& device, command::Pass& pass);

/// Vertices, indices or indirect commands at `data` in the buffer are read while the pass writes its targets: an error if it writes them,
/// a warning if it writes some of the bytes.
Status note_buffer(command::Pass& pass, const Pipeline& pipeline, const char* what, const Buffer& buffer, const uint8_t* data,
                   uint64_t size_B);

/// What a secondary's part reads and writes of the pass's targets; an error where both meet in one target.
Status note_part(device::DeviceState& device, command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
