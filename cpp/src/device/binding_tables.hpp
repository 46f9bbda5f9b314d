// device/binding_tables.hpp -- descriptor sets to the flat tables that generated code indexes.
#pragma once

#include "device/device_state.hpp"
#include "command/pass.hpp"

namespace tilegpu::device {

/// Adds the tables for `pipeline` with `sets` to the pass and sets state.buffers and state.textures. A binding that the shaders use and
/// that was not written is an error that names it.
Status build_tables(exec::DeviceState& device, command::Pass& pass, const Pipeline& pipeline,
                    const std::array<Ptr<DescriptorSet>, kMaxDescriptorSets>& sets, command::DrawState& state);

/// A view that a part of a pass reads although the pass writes its image; null: there is none.
const ImageView* find_feedback(const command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
