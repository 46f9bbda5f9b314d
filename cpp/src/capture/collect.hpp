// capture/collect.hpp -- stage: a capture begins with what there is to write. In: recordings. Out: the objects that they name, numbered,
// and where their memory is.
#pragma once

#include "capture/objects.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::capture {

// Memory of the sets that a recording has bound: what was bound, or, of sets that are updated after that, what they hold now. Each of these
// is asked once, so that the file is of one moment.
class BoundMemories {
 public:
  Ptr<const descriptor::SetMemory> take(const command::BoundSets& bound, uint32_t number) {
    if (!bound.late[number]) return bound.memory[number];
    Ptr<const descriptor::SetMemory>& memory = late_[bound.late[number].get()];
    if (!memory) memory = bound.late[number]->memory();
    return memory;
  }
  Ptr<const descriptor::SetMemory> of(const command::BoundSets& bound, uint32_t number) const {
    return bound.late[number] ? late_.at(bound.late[number].get()) : bound.memory[number];
  }

 private:
  std::unordered_map<const DescriptorSet*, Ptr<const descriptor::SetMemory>> late_;
};

struct Collected {
  Objects objects;
  std::unordered_map<const DeviceMemory*, const uint8_t*> contents;
  BoundMemories bound_memories;
};

Collected collect(Device& device, const std::vector<Ptr<const command::Recording>>& recordings);

}  // namespace tilegpu::capture
