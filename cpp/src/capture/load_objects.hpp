// capture/load_objects.hpp -- stage: reading a capture, its objects. In: bytes, of which nothing is believed. Out: objects, made by the
// functions that applications call, and what the memory and the queries of them held.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>

#include "capture/fields.hpp"
#include "capture/objects.hpp"
#include "device/device_state.hpp"
#include "tilegpu/capture.hpp"

namespace tilegpu::capture {

inline constexpr auto kDescriptorTypes = {VK_DESCRIPTOR_TYPE_SAMPLER,
                                          VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                          VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                          VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                          VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
                                          VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER,
                                          VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
                                          VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                          VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                          VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                                          VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT,
                                          VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK,
                                          VK_DESCRIPTOR_TYPE_MUTABLE_EXT};
inline constexpr uint32_t kMostQueries = 1u << 20;            // of a pool
inline constexpr uint64_t kMostResults = 1u << 24;            // of all pools
inline constexpr uint64_t kMostDescriptorsOfSets = 1u << 22;  // of all sets
// What all memories may have together: zeros are not in the file, so kilobytes of it can stand for the images of a large pass.
inline constexpr uint64_t kLeastMemory_B = uint64_t{4} << 30, kMemoryTimes = 1000;

struct ObjectLoader {
  Reader& r;
  const Ptr<Device>& device;
  Objects o;
  Capture out;
  uint64_t descriptors = 0, results = 0;  // of all sets, of all query pools so far
  uint64_t file_B = 0, memory_B = 0;      // the file's bytes; those of all memories so far
  Status wrong = Ok{};                    // what the API said; the reader's own failures are in the reader

  bool ok() const { return r.ok() && static_cast<bool>(wrong); }
  /// The value, or null after its error was kept.
  template <class T>
  Ptr<T> made(Expected<Ptr<T>> result) {
    if (result) return std::move(*result);
    if (wrong) wrong = result.error();
    return nullptr;
  }
  bool check(Status status) {
    if (!status && wrong) wrong = std::move(status);
    return ok();
  }

  // -- objects

  template <class T, class Make>
  void table(Table<T>& table, size_t least_B, const char* what, Make make) {
    const uint32_t count = r.get_count(least_B, kMostItems, what);
    for (uint32_t i = 0; i < count && ok(); i++) {
      Ptr<T> item = make();
      if (!ok()) return;
      if (!item) return r.fail(std::string(what) + ": one could not be made");
      table.items.push_back(std::move(item));
    }
  }

  Ptr<DeviceMemory> memory() {
    const uint64_t size_B = r.get<uint64_t>();
    if (!ok()) return nullptr;
    const uint64_t most_B = kLeastMemory_B + kMemoryTimes * file_B;
    if (size_B > most_B || memory_B > most_B - size_B) {
      r.fail("its memories have more than " + std::to_string(most_B) + " bytes, which a file of " + std::to_string(file_B) +
             " may have (4 GiB and 1000 times its bytes); capture a smaller pass");
      return nullptr;
    }
    memory_B += size_B;
    Ptr<DeviceMemory> memory = made(DeviceMemory::allocate(size_B));
    if (!memory) return nullptr;
    auto mapped = memory->map();
    if (!mapped) check(mapped.error());
    while (ok()) {
      const uint64_t run_B = r.get<uint64_t>();
      if (run_B == 0) break;
      const uint64_t at = r.get<uint64_t>();
      if (at > size_B || run_B > size_B - at) r.fail("contents of memory lie outside of it");
      if (!r.ok()) break;
      if (const uint8_t* from = r.take(run_B)) std::memcpy(*mapped + at, from, run_B);
    }
    memory->unmap();
    return memory;
  }

  template <class T>
  void bind(const Ptr<T>& object) {
    const Ptr<DeviceMemory> memory = o.memories.read(r, "memory");
    const uint64_t offset_B = r.get<uint64_t>();
    if (ok() && memory) check(object->bind(memory, offset_B));
  }

  Ptr<Buffer> buffer() {
    BufferCreateInfo info;
    fields(r, info);
    if (!ok()) return nullptr;
    Ptr<Buffer> buffer = made(Buffer::create(info));
    if (buffer) bind(buffer);
    const uint64_t address = r.get<uint64_t>();
    if (!ok() || !buffer || !address) return buffer;
    const auto given = device->buffer_address(buffer, address);
    if (!given) check(given.error());
    out.addressed.push_back(buffer);
    return buffer;
  }

  Ptr<Image> image() {
    ImageCreateInfo info;
    fields(r, info);
    if (!ok()) return nullptr;
    Ptr<Image> image = made(Image::create(info));
    if (!image) return nullptr;
    if (!image->is_disjoint()) {
      bind(image);
      return image;
    }
    for (uint32_t k = 0; k < image->planes().size(); ++k) {
      const Ptr<DeviceMemory> memory = o.memories.read(r, "memory");
      const uint64_t offset_B = r.get<uint64_t>();
      if (ok() && memory) check(image->bind_plane(k, memory, offset_B));
    }
    return image;
  }

  Ptr<ImageView> view() {
    ImageViewCreateInfo info;
    info.image = o.images.read(r, "image");
    fields(r, info);
    if (!ok()) return nullptr;
    return made(ImageView::create(info));
  }

  Ptr<BufferView> buffer_view() {
    BufferViewCreateInfo info;
    info.buffer = o.buffers.read(r, "buffer");
    fields(r, info);
    return ok() ? made(BufferView::create(info)) : nullptr;
  }

  Ptr<Sampler> sampler() {
    SamplerCreateInfo info;
    fields(r, info);
    return ok() ? made(Sampler::create(info)) : nullptr;
  }

  Ptr<const DescriptorSetLayout> set_layout() {
    VkDescriptorSetLayoutCreateFlags flags = 0;
    std::vector<DescriptorBinding> bindings;
    r.number(flags, "set layout flags");
    r.list(bindings, 28, kMaxDescriptorsOfSet, "bindings", [&](DescriptorBinding& b) {
      r.number(b.binding, "binding"), r.among(b.type, kDescriptorTypes, "descriptor type"), r.number(b.count, "count");
      r.number(b.stages, "stages"), r.number(b.flags, "binding flags");
      r.list(b.immutable_samplers, 4, kMaxDescriptorsOfSet, "immutable samplers",
             [&](Ptr<Sampler>& sampler) { sampler = o.samplers.read(r, "sampler"); });
      r.list(b.mutable_types, 4, 16, "types of a mutable descriptor",
             [&](VkDescriptorType& type) { r.among(type, kDescriptorTypes, "type of a mutable descriptor"); });
    });
    return ok() ? made(DescriptorSetLayout::create(std::move(bindings), flags)) : nullptr;
  }

  Ptr<const PipelineLayout> layout() {
    auto layout = std::make_shared<PipelineLayout>();
    r.list(layout->sets, 4, kMaxDescriptorSets, "sets",
           [&](Ptr<const DescriptorSetLayout>& set) { set = o.set_layouts.read(r, "set layout"); });
    r.number(layout->push_constants_B, "push constants");
    return layout;
  }

  Ptr<ShaderModule> module() {
    std::string label = r.get_text("label"), entry_point = r.get_text("entry point");
    std::vector<uint32_t> words(r.get_count(4, kMostItems, "SPIR-V words"));
    if (const uint8_t* from = r.take(words.size() * 4); from && !words.empty()) std::memcpy(words.data(), from, words.size() * 4);
    if (!ok()) return nullptr;
    return made(device->create_shader_module(std::move(words), std::move(label), entry_point));
  }

  void stage(ShaderStage& stage) {
    stage.module = o.modules.read(r, "module");
    r.list(stage.specialization, 12, 1u << 16, "specialization constants",
           [&](std::pair<uint32_t, uint64_t>& constant) { r.number(constant.first, "constant"), r.number(constant.second, "value"); });
  }

  Ptr<Pipeline> pipeline() {
    GraphicsPipelineCreateInfo info;
    fields(r, info);
    r.list(info.stages, 8, 8, "stages", [&](ShaderStage& s) { stage(s); });
    info.layout = o.layouts.read(r, "layout");
    for (const ShaderStage& s : info.stages)
      if (r.ok() && !s.module) r.fail("a stage of a pipeline has no module");
    return ok() ? made(device->create_pipeline(std::move(info))) : nullptr;
  }

  Ptr<ComputePipeline> compute_pipeline() {
    ComputePipelineCreateInfo info;
    info.label = r.get_text("label");
    stage(info.stage);
    info.layout = o.layouts.read(r, "layout");
    if (r.ok() && !info.stage.module) r.fail("a compute pipeline has no module");
    return ok() ? made(device->create_pipeline(std::move(info))) : nullptr;
  }

  Ptr<DescriptorSet> set() {
    const Ptr<const DescriptorSetLayout> layout = o.set_layouts.read(r, "set layout");
    if (r.ok() && !layout) r.fail("a set has no layout");
    if (!ok()) return nullptr;
    const uint32_t variable_count = r.get<uint32_t>();
    if (layout->has_variable_count() && variable_count > layout->bindings().back().count)
      r.fail("a set's variable count is more than its layout allows");
    else
      descriptors += layout->elements(variable_count);
    if (descriptors > kMostDescriptorsOfSets) r.fail("the sets have more than 2^22 descriptors");
    Ptr<DescriptorSet> set = ok() ? new_set(layout, variable_count) : nullptr;
    if (!set) return nullptr;
    const uint32_t count = r.get_count(44, kMaxDescriptorsOfSet, "descriptors");
    const uint32_t blocks = r.get_count(8, kMaxDescriptorsOfSet, "inline uniform blocks");
    for (uint32_t i = 0; i < count && ok(); i++) {
      const uint32_t binding = r.get<uint32_t>(), element = r.get<uint32_t>();
      Descriptor d;
      r.among(d.type, kDescriptorTypes, "type of a descriptor");
      d.buffer = o.buffers.read(r, "buffer");
      r.number(d.offset_B, "offset"), r.number(d.range_B, "range");
      d.view = o.views.read(r, "view"), d.texels = o.buffer_views.read(r, "buffer view");
      d.sampler = o.samplers.read(r, "sampler");
      if (ok()) check(set->write(binding, element, d));
    }
    for (uint32_t i = 0; i < blocks && ok(); i++) {
      const uint32_t binding = r.get<uint32_t>(), size_B = r.get_count(1, kMaxInlineUniformBlock_B, "bytes of an inline uniform block");
      if (const uint8_t* bytes = r.take(size_B); bytes && ok()) check(set->write_inline(binding, 0, bytes, size_B));
    }
    return set;
  }
  // Push descriptors too are a set, which only its recording could name.
  Ptr<DescriptorSet> new_set(const Ptr<const DescriptorSetLayout>& layout, uint32_t variable_count) {
    if (!layout->is_push()) return made(device->create_descriptor_set(layout, variable_count));
    auto memory = made(descriptor::SetMemory::create(layout, device->state().textures, 0));
    return memory ? std::make_shared<DescriptorSet>(memory) : nullptr;
  }

  Ptr<QueryPool> pool() {
    uint32_t type = 0, statistics = 0;
    r.below(type, 6, "query type"), r.below(statistics, 1u << 13, "pipeline statistics");
    const uint32_t count = r.get<uint32_t>();
    if (count > kMostQueries) r.fail("a query pool has more than 2^20 queries");
    results += uint64_t{count} * std::max(2, std::popcount(statistics));
    if (results > kMostResults) r.fail("the query pools have more than 2^24 results");
    if (!ok()) return nullptr;
    auto pool = std::make_shared<QueryPool>(static_cast<QueryType>(type), count, statistics);
    std::vector<QueryInFile> queries;
    query_list(r, queries, pool->results);
    for (const QueryInFile& q : queries) {
      if (q.query >= count) r.fail("a query pool of " + std::to_string(count) + " has results of query " + std::to_string(q.query));
      if (!r.ok()) return nullptr;
      pool->available[q.query] = q.available;
      for (uint32_t k = 0; k < pool->results; k++) pool->values[size_t{q.query} * pool->results + k] = q.values[k];
    }
    return pool;
  }

  void objects() {
    table(o.memories, 16, "memories", [&] { return memory(); });
    table(o.buffers, 36, "buffers", [&] { return buffer(); });
    table(o.images, 40, "images", [&] { return image(); });
    table(o.views, 40, "views", [&] { return view(); });
    table(o.buffer_views, 24, "buffer views", [&] { return buffer_view(); });
    table(o.samplers, 64, "samplers", [&] { return sampler(); });
    table(o.set_layouts, 8, "set layouts", [&] { return set_layout(); });
    table(o.layouts, 8, "layouts", [&] { return layout(); });
    table(o.modules, 12, "modules", [&] { return module(); });
    table(o.pipelines, 64, "pipelines", [&] { return pipeline(); });
    table(o.compute_pipelines, 16, "compute pipelines", [&] { return compute_pipeline(); });
    table(o.sets, 16, "sets", [&] { return set(); });
    table(o.pools, 16, "query pools", [&] { return pool(); });
  }
};

}  // namespace tilegpu::capture
