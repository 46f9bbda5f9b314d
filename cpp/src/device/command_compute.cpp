// device/command_compute.cpp -- stage: recording, dispatches. In: what is bound for compute. Out: command::Dispatch, checked.
//
// Compute has sets of its own beside those of draws; push constants are one for both. Source: Vulkan specification, "Dispatching Commands".
#include <cstring>

#include "device/binding_tables.hpp"
#include "device/recorder.hpp"
#include "pipeline/program.hpp"
#include "resource/usage.hpp"

namespace tilegpu {

using device::invalid;
using device::Recorder;
using device::recorder_for;

namespace {

// The sets as the pipeline uses them: as at the last dispatch, where nothing changed since.
Status take_sets(Recorder& r, const pipeline::Program& program) {
  device::ComputeState& c = r.compute;
  for (uint32_t i = 0; i < kMaxDescriptorSets; i++)
    if (c.sets.set[i] && c.sets.set[i]->version() != c.sets.version[i]) c.sets.dirty = true;
  if (!c.sets.dirty) return Ok{};
  c.bound = nullptr;
  for (uint32_t i = 0; i < kMaxDescriptorSets; i++) c.sets.version[i] = c.sets.set[i] ? c.sets.set[i]->version() : 0;
  if (program.reads_sets()) {
    auto sets = std::make_shared<command::ComputeSets>();
    if (Status ok = device::bind_sets(r.device->state(), c.sets, program, sets->bound); !ok) return ok;
    if (Status ok = device::check_compute_sets(r.device->state(), r.use, program, *sets, false); !ok) return ok;
    c.bound = std::move(sets);
  }
  c.sets.dirty = false;
  return Ok{};
}

Status record_dispatch(Recorder& r, const char* call, command::Dispatch dispatch) {
  if (Status ok = device::require_recording(r, call); !ok) return ok;
  if (!r.compute.pipeline) return invalid(std::string(call) + " without a compute pipeline; call bind_pipeline with one first");
  if (r.compute.pipeline->made_by.is_another(r.device))
    return invalid(std::string(call) + ": pipeline '" + r.compute.pipeline->info().label +
                   "' was made by another device; make one with this device");
  dispatch.pipeline = r.compute.pipeline;
  if (Status ok = take_sets(r, dispatch.pipeline->program()); !ok) return ok;
  dispatch.sets = r.compute.bound;
  if (!r.compute.push || std::memcmp(r.compute.push->bytes, r.push.bytes, sizeof r.push.bytes) != 0)
    r.compute.push = std::make_shared<const command::PushBlock>(r.push);
  dispatch.push = r.compute.push;
  dispatch.condition = r.condition;
  return device::add(r, Ptr<const command::Dispatch>(std::make_shared<const command::Dispatch>(std::move(dispatch))), call);
}

}  // namespace

void CommandBuffer::bind_pipeline(Ptr<ComputePipeline> pipeline) {
  Recorder& r = recorder_for(*recorder_, "bind_pipeline");
  if (r.compute.pipeline != pipeline) r.compute.sets.dirty = true;
  r.compute.pipeline = std::move(pipeline);
}

Status CommandBuffer::dispatch(uint32_t x, uint32_t y, uint32_t z) { return dispatch_base(0, 0, 0, x, y, z); }

Status CommandBuffer::dispatch_base(uint32_t base_x, uint32_t base_y, uint32_t base_z, uint32_t x, uint32_t y, uint32_t z) {
  return device::record(*recorder_, "dispatch", [&]() -> Status {
    command::Dispatch dispatch;
    dispatch.base = {base_x, base_y, base_z}, dispatch.groups = {x, y, z};
    for (size_t k = 0; k < 3; k++) {
      const uint64_t end = uint64_t{dispatch.base[k]} + dispatch.groups[k];
      if (end > kMaxWorkgroups)
        return invalid("dispatch: the workgroups in " + std::string(1, "xyz"[k]) + " end at " + std::to_string(end) + "; at most " +
                       std::to_string(kMaxWorkgroups) + " are allowed, use another direction or several dispatches");
    }
    return record_dispatch(*recorder_, "dispatch", std::move(dispatch));
  });
}

Status CommandBuffer::dispatch_indirect(Ptr<Buffer> buffer, uint64_t offset_B) {
  return device::record(*recorder_, "dispatch_indirect", [&]() -> Status {
    if (!buffer || !buffer->data()) return invalid("dispatch_indirect: the buffer is null or has no memory bound");
    if (offset_B % 4) return invalid("dispatch_indirect: offset_B is " + std::to_string(offset_B) + "; it must be a multiple of 4");
    constexpr uint64_t kCommand_B = sizeof(VkDispatchIndirectCommand);
    if (!buffer->holds(offset_B, kCommand_B))
      return invalid("dispatch_indirect: the command at byte " + std::to_string(offset_B) + " ends behind buffer '" + buffer->info().label +
                     "', which has " + std::to_string(buffer->size_B()) + " bytes; it takes 12");
    if (Status ok = device::forbid(*recorder_, resource::check_usage("dispatch_indirect", *buffer, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT));
        !ok)
      return ok;
    command::Dispatch dispatch;
    dispatch.indirect = std::move(buffer), dispatch.indirect_offset_B = offset_B;
    return record_dispatch(*recorder_, "dispatch_indirect", std::move(dispatch));
  });
}

}  // namespace tilegpu
