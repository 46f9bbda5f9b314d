// capture/objects.hpp -- the objects that recordings name, numbered: in a file a reference is the number plus one, 0 is null.
// In: objects. Out: their numbers, and back.
// Written in the order of the members: each names only objects before it.
#pragma once

#include <unordered_map>

#include "capture/bytes.hpp"
#include "command/recording.hpp"
#include "descriptor/set_memory.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::capture {

template <class T>
struct Table {
  std::vector<Ptr<T>> items;
  std::unordered_map<const void*, uint32_t> numbers;

  /// True: it is new here.
  bool add(const Ptr<T>& item) {
    if (!item || !numbers.emplace(item.get(), static_cast<uint32_t>(items.size())).second) return false;
    items.push_back(item);
    return true;
  }
  void write(Writer& w, const Ptr<T>& item) const {
    assert(!item || numbers.count(item.get()));
    w.put<uint32_t>(item ? numbers.at(item.get()) + 1 : 0);
  }
  Ptr<T> read(Reader& r, const char* what) const {
    const uint32_t number = r.get<uint32_t>();
    if (number > items.size()) r.fail(std::string(what) + " " + std::to_string(number) + " is not in the file");
    return r.ok() && number ? items[number - 1] : nullptr;
  }
};

struct Objects {
  bool addressed = false;  // shaders reach buffers by address: all that have one are here
  Table<DeviceMemory> memories;
  Table<Buffer> buffers;
  Table<Image> images;
  Table<ImageView> views;
  Table<BufferView> buffer_views;
  Table<Sampler> samplers;
  Table<const DescriptorSetLayout> set_layouts;
  Table<const PipelineLayout> layouts;
  Table<ShaderModule> modules;
  Table<Pipeline> pipelines;
  Table<ComputePipeline> compute_pipelines;
  Table<const descriptor::SetMemory> set_memories;  // of a file that is written
  Table<DescriptorSet> sets;                        // made of them, when it is read
  Table<QueryPool> pools;
  Table<const command::Recording> secondaries;  // of a file that is written
  Table<CommandBuffer> secondary_buffers;       // recorded again, when it is read
};

}  // namespace tilegpu::capture
