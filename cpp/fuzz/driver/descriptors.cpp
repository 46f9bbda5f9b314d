// fuzz/driver/descriptors.cpp -- set layouts, pools, sets, writes, templates, pushed descriptors; and what a world has from its beginning.
//
// In: choices. Out: sets in which every binding that shaders use is written. Source: Vulkan specification, "Resource Descriptors".
#include <algorithm>
#include <cstring>

#include "driver/formats.hpp"
#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kInputs = 4;
constexpr VkShaderStageFlags kAll = VK_SHADER_STAGE_ALL;

/// What a template reads.
struct Data {
  VkDescriptorBufferInfo uniform, counters;
  VkDescriptorImageInfo texture, storage;
  VkBufferView texels;
};

/// Vertices, indices of 8, 16 and 32 bits, indirect commands, a count, numbers.
void fill_arena(uint8_t* data) {
  for (uint32_t k = 0; k < 64; ++k) {
    const auto angle = static_cast<float>(k * 37 % 64) / 32.0f - 1.0f;
    const float vertex[8] = {angle * 1.2f,
                             static_cast<float>(k * 53 % 61) / 30.0f - 1.0f,
                             static_cast<float>(k % 7) / 7.0f,
                             1.0f,
                             static_cast<float>(k % 5) / 4.0f,
                             static_cast<float>(k % 3) / 2.0f,
                             static_cast<float>(k % 4) / 3.0f,
                             0.75f};
    std::memcpy(data + kVertices_B + k * 32, vertex, 32);
  }
  for (uint32_t k = 0; k < 128; ++k) {
    const uint32_t index = k * 7 % 61;
    const auto half = static_cast<uint16_t>(k % 11 == 10 ? 0xffff : index);
    data[kIndices_B + k] = static_cast<uint8_t>(index);
    std::memcpy(data + kIndices_B + 128 + k * 2, &half, 2), std::memcpy(data + kIndices_B + 512 + k * 4, &index, 4);
  }
  for (uint32_t k = 0; k < 4; ++k) {
    const uint32_t draw[4] = {3 + k * 3, 1 + k % 2, k, 0}, indexed[5] = {6 + k, 1, k, k, 0};
    std::memcpy(data + kIndirect_B + k * 16, draw, 16), std::memcpy(data + kIndirect_B + 128 + k * 20, indexed, 20);
  }
  const uint32_t groups[3] = {2, 1, 1}, count = 2;
  std::memcpy(data + kIndirect_B + 384, groups, 12), std::memcpy(data + kCount_B, &count, 4);
  for (uint32_t k = 0; k < 256; ++k) {
    const float number = k % 4 == 3 ? 1.0f : 1.0f - static_cast<float>(k % 16) / 64.0f;
    std::memcpy(data + kUniform_B + k * 4, &number, 4);
  }
}

VkWriteDescriptorSet write_of(VkDescriptorSet set, uint32_t binding, VkDescriptorType type) {
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set, write.dstBinding = binding, write.descriptorCount = 1, write.descriptorType = type;
  return write;
}

/// All bindings of a set, as writes of their own.
void writes_of(const Data& data, VkDescriptorSet set, bool dynamic, VkWriteDescriptorSet (&out)[5]) {
  out[0] = write_of(set, 0, dynamic ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER);
  out[1] = write_of(set, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER);
  out[2] = write_of(set, 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
  out[3] = write_of(set, 3, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE);
  out[4] = write_of(set, 4, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER);
  out[0].pBufferInfo = &data.uniform, out[1].pImageInfo = &data.texture, out[2].pBufferInfo = &data.counters;
  out[3].pImageInfo = &data.storage, out[4].pTexelBufferView = &data.texels;
}

VkDescriptorUpdateTemplate make_template(World& w, bool pushed) {
  const VkDescriptorUpdateTemplateEntry entries[] = {
      {0, 0, 1, pushed ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, offsetof(Data, uniform), 0},
      {1, 0, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, offsetof(Data, texture), 0},
      {2, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(Data, counters), 0},
      {3, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, offsetof(Data, storage), 0},
      {4, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, offsetof(Data, texels), 0}};
  VkDescriptorUpdateTemplateCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO};
  info.descriptorUpdateEntryCount = 5, info.pDescriptorUpdateEntries = entries;
  info.templateType = pushed ? VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS : VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET;
  info.descriptorSetLayout = w.set_layout, info.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
  info.pipelineLayout = w.pushed_layout, info.set = 0;
  VkDescriptorUpdateTemplate out = nullptr;
  TILEGPU_MUST(w, CreateDescriptorUpdateTemplate, w.device, &info, nullptr, &out);
  return out;
}

void make_set_layouts(World& w) {
  VkDescriptorSetLayoutBinding bindings[] = {
      {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, kAll, nullptr}, {1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, kAll, nullptr},
      {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, kAll, nullptr},         {3, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, kAll, nullptr},
      {4, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, kAll, nullptr},   {7, VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, 16, kAll, nullptr}};
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = 6, info.pBindings = bindings;
  TILEGPU_MUST(w, CreateDescriptorSetLayout, w.device, &info, nullptr, &w.set_layout);
  bindings[0].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  info.bindingCount = 5, info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT;
  TILEGPU_MUST(w, CreateDescriptorSetLayout, w.device, &info, nullptr, &w.push_layout);
  VkDescriptorSetLayoutBinding inputs[kInputs];
  for (uint32_t i = 0; i < kInputs; ++i) inputs[i] = {i, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
  info.bindingCount = kInputs, info.pBindings = inputs, info.flags = 0;
  TILEGPU_MUST(w, CreateDescriptorSetLayout, w.device, &info, nullptr, &w.input_layout);
  const VkPushConstantRange range{kAll, 0, 32};
  VkPipelineLayoutCreateInfo layouts{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  VkDescriptorSetLayout sets[] = {w.set_layout, w.input_layout};
  layouts.setLayoutCount = 2, layouts.pSetLayouts = sets, layouts.pushConstantRangeCount = 1, layouts.pPushConstantRanges = &range;
  TILEGPU_MUST(w, CreatePipelineLayout, w.device, &layouts, nullptr, &w.layout);
  sets[0] = w.push_layout;
  TILEGPU_MUST(w, CreatePipelineLayout, w.device, &layouts, nullptr, &w.pushed_layout);
}

VkDescriptorSet allocate_set(World& w, VkDescriptorSetLayout of) {
  const VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, w.set_pool, 1, &of};
  VkDescriptorSet out = nullptr;
  TILEGPU_MUST(w, AllocateDescriptorSets, w.device, &info, &out);
  w.sets.push_back(out);
  return out;
}

/// A view that a shader of this pass may sample.
VkImageView sampled_view(World& w) {
  if (w.c.seldom(3)) {
    const auto drawn = w.pick(w.targets, [&](const ViewModel& v) {
      return v.image->info.usage & VK_IMAGE_USAGE_SAMPLED_BIT && v.image->info.samples == VK_SAMPLE_COUNT_1_BIT &&
             !v.image->format->is_depth_stencil() && !v.image->format->is_integer() && v.info.viewType == VK_IMAGE_VIEW_TYPE_2D &&
             w.is_free(*v.image);
    });
    if (drawn) return drawn->handle;
  }
  return w.texture->handle;
}

}  // namespace

void World::make_layouts() {
  make_set_layouts(*this);
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 64};
  VkDescriptorPoolCreateInfo pools{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  pools.flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT, pools.maxSets = 64, pools.poolSizeCount = 1, pools.pPoolSizes = &size;
  TILEGPU_MUST(*this, CreateDescriptorPool, device, &pools, nullptr, &set_pool);
  update_template = make_template(*this, false), push_template = make_template(*this, true);
  arena = buffer(kArena_B, 0x1ff | VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT);
  counters = buffer(kCounters_B, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
  for (const auto& b : {arena, counters}) {
    void* data = nullptr;
    TILEGPU_MUST(*this, MapMemory, device, b->memory->handle, 0, VK_WHOLE_SIZE, 0, &data);
    b->memory->data = static_cast<uint8_t*>(data);
  }
  captured =
      buffer(kCounters_B, VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT | VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT);
  fill_arena(arena->data());
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D, info.format = VK_FORMAT_R8G8B8A8_UNORM, info.extent = {16, 16, 1};
  info.mipLevels = 3, info.arrayLayers = 1, info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  views.push_back(texture = view(image(info), VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_ASPECT_COLOR_BIT, 0, 3, 0, 1));
  info.format = VK_FORMAT_R32_UINT, info.mipLevels = 1, info.extent = {8, 8, 1}, info.usage |= VK_IMAGE_USAGE_STORAGE_BIT;
  views.push_back(storage = view(image(info), VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1));
  VkBufferViewCreateInfo of{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  of.buffer = arena->handle, of.format = VK_FORMAT_R32_UINT, of.range = 1024;
  TILEGPU_MUST(*this, CreateBufferView, device, &of, nullptr, &texels);
  const VkPipelineCacheCreateInfo empty{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  TILEGPU_MUST(*this, CreatePipelineCache, device, &empty, nullptr, &cache);
}

void World::bind_sets(Recording& r, VkPipelineBindPoint point, VkPipelineLayout with, bool inputs) {
  Data data{};
  data.uniform = {arena->handle, kUniform_B, 256}, data.counters = {counters->handle, 0, 1024};
  data.texture = {sampler()->handle, sampled_view(*this), VK_IMAGE_LAYOUT_GENERAL};
  data.storage = {nullptr, storage->handle, VK_IMAGE_LAYOUT_GENERAL};
  data.texels = texels;
  VkWriteDescriptorSet writes[5];
  const bool templated = c.coin();
  const bool newer = r.draws % 3 == 2;  // no choice of its own: what the corpus says stays what it is
  if (with == pushed_layout) {
    writes_of(data, nullptr, false, writes);
    const VkPushDescriptorSetInfo pushed{VK_STRUCTURE_TYPE_PUSH_DESCRIPTOR_SET_INFO, nullptr, VK_SHADER_STAGE_ALL, with, 0, 5, writes};
    const VkPushDescriptorSetWithTemplateInfo by_template{
        VK_STRUCTURE_TYPE_PUSH_DESCRIPTOR_SET_WITH_TEMPLATE_INFO, nullptr, push_template, with, 0, &data};
    if (templated && point == VK_PIPELINE_BIND_POINT_GRAPHICS && newer)
      vk.CmdPushDescriptorSetWithTemplate2(r.handle, &by_template);
    else if (newer)
      vk.CmdPushDescriptorSet2(r.handle, &pushed);
    else if (templated && point == VK_PIPELINE_BIND_POINT_GRAPHICS)
      vk.CmdPushDescriptorSetWithTemplate(r.handle, push_template, with, 0, &data);
    else
      vk.CmdPushDescriptorSet(r.handle, point, with, 0, 5, writes);
  } else {
    const VkDescriptorSet set = allocate_set(*this, set_layout);
    writes_of(data, set, true, writes);
    if (templated)
      vk.UpdateDescriptorSetWithTemplate(device, set, update_template, &data);
    else
      vk.UpdateDescriptorSets(device, 5, writes, 0, nullptr);
    const uint32_t offset_B = 256 * c.below(3);
    const VkBindDescriptorSetsInfo bound{
        VK_STRUCTURE_TYPE_BIND_DESCRIPTOR_SETS_INFO, nullptr, VK_SHADER_STAGE_ALL, with, 0, 1, &set, 1, &offset_B};
    if (newer)
      vk.CmdBindDescriptorSets2(r.handle, &bound);
    else
      vk.CmdBindDescriptorSets(r.handle, point, with, 0, 1, &set, 1, &offset_B);
  }
  if (!inputs || r.inputs.empty()) return;
  const VkDescriptorSet set = allocate_set(*this, input_layout);
  for (uint32_t i = 0; i < r.inputs.size(); ++i) {
    if (!r.inputs[i]) continue;
    const VkDescriptorImageInfo image{nullptr, r.inputs[i]->handle, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write = write_of(set, i, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT);
    write.pImageInfo = &image;
    vk.UpdateDescriptorSets(device, 1, &write, 0, nullptr);
  }
  vk.CmdBindDescriptorSets(r.handle, point, with, 1, 1, &set, 0, nullptr);
}

// Layouts of any bindings, which no pipeline uses; sets of them, copies between them; sets that are freed.
void World::step_descriptors() {
  const uint8_t what = c.byte();
  if (what % 4 == 0 && !sets.empty() && !recording.handle) {
    wait_idle();
    if (lost) return;
    if (what & 16)
      TILEGPU_MUST(*this, ResetDescriptorPool, device, set_pool, 0);
    else
      TILEGPU_MUST(*this, FreeDescriptorSets, device, set_pool, static_cast<uint32_t>(sets.size()), sets.data());
    sets.clear();
    return;
  }
  constexpr VkDescriptorType kTypes[] = {VK_DESCRIPTOR_TYPE_SAMPLER,
                                         VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                         VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                         VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
                                         VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
                                         VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                         VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC};
  VkDescriptorSetLayoutBinding bindings[4];
  VkDescriptorBindingFlags flags[4];
  const uint32_t count = c.below(5);
  for (uint32_t i = 0; i < count; ++i) {
    bindings[i] = {i * 3, c.of(kTypes), c.below(5), kAll, nullptr};
    flags[i] = c.coin() ? VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT : 0;
  }
  const bool variable = count && c.seldom(4) && bindings[count - 1].descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC &&
                        bindings[count - 1].descriptorCount;
  if (variable) flags[count - 1] |= VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT;
  const VkDescriptorSetLayoutBindingFlagsCreateInfo all{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO, nullptr, count,
                                                        flags};
  VkDescriptorSetLayoutCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, &all, 0, count, bindings};
  VkDescriptorSetLayoutSupport support{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_SUPPORT};
  vk.GetDescriptorSetLayoutSupport(device, &info, &support);
  if (!support.supported) fail("a set layout of a few descriptors is not supported");
  auto made = std::make_shared<SetLayoutModel>();
  TILEGPU_MUST(*this, CreateDescriptorSetLayout, device, &info, nullptr, &made->handle);
  loose_layouts.push_back(made);
  const uint32_t some = variable ? c.below(bindings[count - 1].descriptorCount + 1) : 0;
  const uint32_t each[] = {some, some};
  const VkDescriptorSetVariableDescriptorCountAllocateInfo counts{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO,
                                                                  nullptr, 2, each};
  const VkDescriptorSetLayout both[] = {made->handle, made->handle};
  const VkDescriptorSetAllocateInfo two{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, variable ? &counts : nullptr, set_pool, 2, both};
  VkDescriptorSet pair[2];
  TILEGPU_MUST(*this, AllocateDescriptorSets, device, &two, pair);
  sets.insert(sets.end(), pair, pair + 2);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t there = variable && i + 1 == count ? some : bindings[i].descriptorCount;
    if (!there) continue;
    const uint32_t at = c.below(there);
    VkWriteDescriptorSet write = write_of(pair[0], bindings[i].binding, bindings[i].descriptorType);
    write.dstArrayElement = at;
    const VkDescriptorImageInfo image{sampler()->handle,
                                      write.descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ? storage->handle : texture->handle,
                                      VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo bytes{write.descriptorType == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER ? arena->handle : counters->handle, 256,
                                       c.coin() ? VK_WHOLE_SIZE : 64};
    write.pImageInfo = &image, write.pBufferInfo = &bytes;
    vk.UpdateDescriptorSets(device, 1, &write, 0, nullptr);
    VkCopyDescriptorSet copy{VK_STRUCTURE_TYPE_COPY_DESCRIPTOR_SET};
    copy.srcSet = pair[0], copy.srcBinding = copy.dstBinding = bindings[i].binding, copy.srcArrayElement = copy.dstArrayElement = at;
    copy.dstSet = pair[1], copy.descriptorCount = 1;
    vk.UpdateDescriptorSets(device, 0, nullptr, 1, &copy);
  }
}

}  // namespace tilegpu::fuzz
