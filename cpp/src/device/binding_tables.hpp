// device/binding_tables.hpp -- descriptor sets to the flat tables that generated code indexes.
#pragma once

#include "command/pass.hpp"
#include "device/device_state.hpp"

namespace tilegpu::device {

/// Adds the tables for `pipeline` with `sets` to the pass and sets state.buffers and state.textures. A binding that the shaders use and
/// that was not written is an error that names it.
Status build_tables(exec::DeviceState& device, command::Pass& pass, const Pipeline& pipeline,
                    const std::array<Ptr<DescriptorSet>, kMaxDescriptorSets>& sets, command::DrawState& state);

/// What a secondary's part reads and writes of the pass's targets; an error where both meet in one target.
Status note_part(command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
