// device/binding_tables.hpp -- descriptor sets to the flat tables that generated code indexes.
#pragma once

#include "device/device_state.hpp"
#include "exec/pass_record.hpp"

namespace tilegpu::exec {

/// Adds the tables for `pipeline` with `sets` to the pass and sets state.buffers and state.textures. A binding that the shaders use and
/// that was not written is an error that names it.
Status build_tables(DeviceState& device, PassRecord& pass, const Pipeline& pipeline,
                    const std::array<Ptr<DescriptorSet>, kMaxDescriptorSets>& sets, DrawState& state);

}  // namespace tilegpu::exec
