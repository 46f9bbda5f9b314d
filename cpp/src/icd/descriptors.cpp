// icd/descriptors.cpp -- descriptor set layouts, pools, sets, updates, templates.
//
// In: Vulkan's structures. Out: the core's sets; a pool holds no memory of its own, and never runs out.
// Source: Vulkan specification, "Resource Descriptors".
#include <algorithm>

#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {
namespace {

bool has_samplers(VkDescriptorType type) { return type == VK_DESCRIPTOR_TYPE_SAMPLER || type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER; }

Expected<Ptr<const DescriptorSetLayout>> layout_of(const VkDescriptorSetLayoutCreateInfo& in) {
  const auto* flags =
      find_next<VkDescriptorSetLayoutBindingFlagsCreateInfo>(in.pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
  const auto* mutables =
      find_next<VkMutableDescriptorTypeCreateInfoEXT>(in.pNext, VK_STRUCTURE_TYPE_MUTABLE_DESCRIPTOR_TYPE_CREATE_INFO_EXT);
  std::vector<DescriptorBinding> bindings;
  for (uint32_t i = 0; i < in.bindingCount; ++i) {
    const VkDescriptorSetLayoutBinding& b = in.pBindings[i];
    if (b.descriptorCount == 0) continue;  // a number that is reserved
    DescriptorBinding binding{b.binding, given(b.descriptorType), b.descriptorCount, b.stageFlags, 0, {}, {}};
    if (flags && i < flags->bindingCount) binding.flags = flags->pBindingFlags[i];
    if (mutables && given(b.descriptorType) == VK_DESCRIPTOR_TYPE_MUTABLE_EXT && i < mutables->mutableDescriptorTypeListCount) {
      const VkMutableDescriptorTypeListEXT& types = mutables->pMutableDescriptorTypeLists[i];
      binding.mutable_types = given(types.pDescriptorTypes, types.descriptorTypeCount);
    }
    if (b.pImmutableSamplers && has_samplers(given(b.descriptorType)))
      for (uint32_t k = 0; k < b.descriptorCount; ++k) binding.immutable_samplers.push_back(b.pImmutableSamplers[k]->core);
    bindings.push_back(std::move(binding));
  }
  return DescriptorSetLayout::create(std::move(bindings), in.flags);
}

/// How many descriptors the binding with a variable count may have beside all others, however many are asked for; 0: there is no such
/// binding. Samplers that the layout has are as many as are given.
uint32_t most_variable(const VkDescriptorSetLayoutCreateInfo& in) {
  const auto* flags =
      find_next<VkDescriptorSetLayoutBindingFlagsCreateInfo>(in.pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO);
  std::vector<VkDescriptorSetLayoutBinding> bindings(in.pBindings, in.pBindings + in.bindingCount);
  uint32_t i = 0;
  const auto is_variable = [&](uint32_t k) { return flags->pBindingFlags[k] & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT; };
  while (flags && i < flags->bindingCount && i < in.bindingCount && !is_variable(i)) ++i;
  if (!flags || i >= flags->bindingCount || i >= in.bindingCount) return 0;
  if (bindings[i].pImmutableSamplers && has_samplers(given(bindings[i].descriptorType))) return bindings[i].descriptorCount;
  VkDescriptorSetLayoutCreateInfo with = in;
  with.pBindings = bindings.data();
  const bool bytes = given(bindings[i].descriptorType) == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
  const uint32_t unit = bytes ? 4 : 1;
  uint32_t can = 0, cannot = (bytes ? kMaxInlineUniformBlock_B : kMaxDescriptorsOfSet) / unit + 1;
  while (cannot - can > 1) {
    const uint32_t middle = can + (cannot - can) / 2;
    bindings[i].descriptorCount = middle * unit;
    (layout_of(with) ? can : cannot) = middle;
  }
  return can * unit;
}

bool is_buffer(VkDescriptorType type) {
  return type >= VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER && type <= VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}
bool is_image(VkDescriptorType type) { return type <= VK_DESCRIPTOR_TYPE_STORAGE_IMAGE || type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT; }

bool is_texels(VkDescriptorType type) {
  return type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER || type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
}

Descriptor of_buffer(const VkDescriptorBufferInfo& in) {
  Descriptor out;
  if (!in.buffer) return out;
  out.buffer = in.buffer->core, out.offset_B = in.offset, out.range_B = in.range;
  return out;
}

/// `immutable`: the layout has the samplers, and what is given as one may be anything.
Descriptor of_image(const VkDescriptorImageInfo& in, VkDescriptorType type, bool immutable) {
  assert(is_image(type));
  Descriptor out;
  if (type != VK_DESCRIPTOR_TYPE_SAMPLER && in.imageView) {
    const bool sliced = type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE && in.imageView->sliced;
    out.view = sliced ? in.imageView->sliced : in.imageView->core;
  }
  if (has_samplers(type) && !immutable && in.sampler) out.sampler = in.sampler->core;
  return out;
}

Descriptor of_texels(VkBufferView in) {
  Descriptor out;
  if (in) out.texels = in->core;
  return out;
}

/// The binding and element `n` behind (binding, element): a write goes on in the bindings that follow.
std::pair<uint32_t, uint32_t> place(const DescriptorSetLayout& layout, uint32_t binding, uint32_t element, uint32_t n) {
  element += n;
  for (const DescriptorBinding* at = layout.find(binding);
       at && element >= at->count && at->type != VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;) {
    const DescriptorBinding* next = at + 1;
    assert(at->binding == binding);
    if (next == layout.bindings().data() + layout.bindings().size()) break;
    assert(next->binding > binding);  // a layout keeps them in order
    element -= at->count;
    at = next;
    binding = at->binding;
  }
  return {binding, element};
}

bool has_immutable(const DescriptorSetLayout& layout, uint32_t binding) {
  const DescriptorBinding* at = layout.find(binding);
  return at && !at->immutable_samplers.empty();
}

/// `immutable`: the binding has samplers of its own.
Descriptor descriptor_of(const VkWriteDescriptorSet& write, uint32_t i, bool immutable) {
  assert(i < std::max(1U, write.descriptorCount));
  Descriptor out;
  const VkDescriptorType type = given(write.descriptorType);
  if (is_buffer(type)) out = of_buffer(write.pBufferInfo[i]);
  if (is_image(type)) out = of_image(write.pImageInfo[i], type, immutable);
  if (is_texels(type)) out = of_texels(write.pTexelBufferView[i]);
  out.type = type;
  return out;
}

/// Element `i` of an entry whose data begin at `data`.
Descriptor descriptor_of(const VkDescriptorUpdateTemplateEntry& entry, const uint8_t* data, uint32_t i, bool immutable) {
  assert(i < entry.descriptorCount && data);
  const void* const at = data + i * entry.stride;
  VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.descriptorType = given(entry.descriptorType);
  write.pBufferInfo = static_cast<const VkDescriptorBufferInfo*>(at);
  write.pImageInfo = static_cast<const VkDescriptorImageInfo*>(at);
  write.pTexelBufferView = static_cast<const VkBufferView*>(at);
  return descriptor_of(write, 0, immutable);
}

/// The core lets any sampler meet a view with the same conversion; Vulkan wants an immutable one.
Status check_immutable(const Descriptor& d, uint32_t binding, bool immutable) {
  if (immutable || !((d.view && d.view->info().ycbcr) || (d.sampler && d.sampler->info().ycbcr))) return Ok{};
  return Error{VK_ERROR_VALIDATION_FAILED_EXT,
               "descriptor: binding " + std::to_string(binding) +
                   " is written with a sampler Y'CbCr conversion, but its layout has no immutable samplers; "
                   "give the layout the sampler"};
}

/// Element `i` of a write that begins at (`binding`, `element`): `read` is told whether the layout has the samplers, `take` gets what was
/// read, with its place.
template <class Read, class Take>
Status update(const DescriptorSetLayout& layout, uint32_t binding, uint32_t element, uint32_t i, Read read, Take take) {
  const auto [at, k] = place(layout, binding, element, i);
  const bool immutable = has_immutable(layout, at);
  const Descriptor d = read(immutable);
  if (Status ok = check_immutable(d, at, immutable); !ok) return ok;
  return take(at, k, d);
}

void report(VkDevice device, const Status& status) {
  if (!status) (void)fail(device, status.error());
}

}  // namespace

VkResult VKAPI_CALL CreateDescriptorSetLayout(VkDevice device, const VkDescriptorSetLayoutCreateInfo* pCreateInfo,
                                              const VkAllocationCallbacks*, VkDescriptorSetLayout* pSetLayout) {
  auto core = layout_of(*pCreateInfo);
  if (!core) return fail(device, core.error(), VK_ERROR_INITIALIZATION_FAILED);
  *pSetLayout = new VkDescriptorSetLayout_T{*core};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDescriptorSetLayout(VkDevice device, VkDescriptorSetLayout layout, const VkAllocationCallbacks*) {
  discard(device, layout);
}

void VKAPI_CALL GetDescriptorSetLayoutSupport(VkDevice, const VkDescriptorSetLayoutCreateInfo* pCreateInfo,
                                              VkDescriptorSetLayoutSupport* pSupport) {
  auto layout = layout_of(*pCreateInfo);
  pSupport->supported = static_cast<bool>(layout);
  using Count = VkDescriptorSetVariableDescriptorCountLayoutSupport;
  if (auto* count = find_next<Count>(pSupport->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_LAYOUT_SUPPORT))
    count->maxVariableDescriptorCount = layout ? most_variable(*pCreateInfo) : 0;
}

// --- pools

VkResult VKAPI_CALL CreateDescriptorPool(VkDevice, const VkDescriptorPoolCreateInfo*, const VkAllocationCallbacks*, VkDescriptorPool* out) {
  *out = new VkDescriptorPool_T;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL ResetDescriptorPool(VkDevice device, VkDescriptorPool descriptorPool, VkDescriptorPoolResetFlags) {
  for (const VkDescriptorSet set : descriptorPool->sets) discard(device, set);
  descriptorPool->sets.clear();
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDescriptorPool(VkDevice device, VkDescriptorPool descriptorPool, const VkAllocationCallbacks*) {
  if (!descriptorPool) return;
  ResetDescriptorPool(device, descriptorPool, 0);
  discard(device, descriptorPool);
}

VkResult VKAPI_CALL AllocateDescriptorSets(VkDevice device, const VkDescriptorSetAllocateInfo* pAllocateInfo,
                                           VkDescriptorSet* pDescriptorSets) {
  using Counts = VkDescriptorSetVariableDescriptorCountAllocateInfo;
  const auto* counts = find_next<Counts>(pAllocateInfo->pNext, VK_STRUCTURE_TYPE_DESCRIPTOR_SET_VARIABLE_DESCRIPTOR_COUNT_ALLOCATE_INFO);
  for (uint32_t i = 0; i < pAllocateInfo->descriptorSetCount; ++i) {
    const uint32_t variable = counts && i < counts->descriptorSetCount ? counts->pDescriptorCounts[i] : 0;
    auto core = device->core->create_descriptor_set(pAllocateInfo->pSetLayouts[i]->core, variable);
    if (!core) {
      FreeDescriptorSets(device, pAllocateInfo->descriptorPool, i, pDescriptorSets);
      std::fill(pDescriptorSets, pDescriptorSets + pAllocateInfo->descriptorSetCount, nullptr);
      return fail(device, core.error(), VK_ERROR_OUT_OF_POOL_MEMORY);
    }
    pDescriptorSets[i] = new VkDescriptorSet_T{*core};
    pAllocateInfo->descriptorPool->sets.insert(pDescriptorSets[i]);
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL FreeDescriptorSets(VkDevice device, VkDescriptorPool descriptorPool, uint32_t descriptorSetCount,
                                       const VkDescriptorSet* pDescriptorSets) {
  for (uint32_t i = 0; i < descriptorSetCount; ++i) {
    if (!pDescriptorSets[i]) continue;
    descriptorPool->sets.erase(pDescriptorSets[i]);
    discard(device, pDescriptorSets[i]);
  }
  return VK_SUCCESS;
}

// --- updates

void VKAPI_CALL UpdateDescriptorSets(VkDevice device, uint32_t descriptorWriteCount, const VkWriteDescriptorSet* pDescriptorWrites,
                                     uint32_t descriptorCopyCount, const VkCopyDescriptorSet* pDescriptorCopies) {
  for (uint32_t w = 0; w < descriptorWriteCount; ++w) {
    const VkWriteDescriptorSet& write = pDescriptorWrites[w];
    tilegpu::DescriptorSet& set = *write.dstSet->core;
    if (given(write.descriptorType) == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
      const auto* block =
          find_next<VkWriteDescriptorSetInlineUniformBlock>(write.pNext, VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_INLINE_UNIFORM_BLOCK);
      if (block) report(device, set.write_inline(write.dstBinding, write.dstArrayElement, block->pData, block->dataSize));
      continue;
    }
    const auto put = [&](uint32_t binding, uint32_t element, const Descriptor& d) { return set.write(binding, element, d); };
    for (uint32_t i = 0; i < write.descriptorCount; ++i) {
      const auto read = [&](bool immutable) { return descriptor_of(write, i, immutable); };
      report(device, update(set.layout(), write.dstBinding, write.dstArrayElement, i, read, put));
    }
  }
  for (uint32_t c = 0; c < descriptorCopyCount; ++c) {
    const VkCopyDescriptorSet& copy = pDescriptorCopies[c];
    report(device, copy.dstSet->core->copy(*copy.srcSet->core, copy.srcBinding, copy.srcArrayElement, copy.dstBinding, copy.dstArrayElement,
                                           copy.descriptorCount));
  }
}

// --- templates

VkResult VKAPI_CALL CreateDescriptorUpdateTemplate(VkDevice, const VkDescriptorUpdateTemplateCreateInfo* pCreateInfo,
                                                   const VkAllocationCallbacks*, VkDescriptorUpdateTemplate* out) {
  auto* made = new VkDescriptorUpdateTemplate_T{};
  made->type = given(pCreateInfo->templateType);
  made->bind_point = given(pCreateInfo->pipelineBindPoint);
  made->entries.assign(pCreateInfo->pDescriptorUpdateEntries,
                       pCreateInfo->pDescriptorUpdateEntries + pCreateInfo->descriptorUpdateEntryCount);
  *out = made;
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyDescriptorUpdateTemplate(VkDevice device, VkDescriptorUpdateTemplate descriptorUpdateTemplate,
                                                const VkAllocationCallbacks*) {
  discard(device, descriptorUpdateTemplate);
}

void VKAPI_CALL UpdateDescriptorSetWithTemplate(VkDevice device, VkDescriptorSet descriptorSet,
                                                VkDescriptorUpdateTemplate descriptorUpdateTemplate, const void* pData) {
  tilegpu::DescriptorSet& set = *descriptorSet->core;
  for (const VkDescriptorUpdateTemplateEntry& entry : descriptorUpdateTemplate->entries) {
    const auto* data = static_cast<const uint8_t*>(pData) + entry.offset;
    if (given(entry.descriptorType) == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK) {
      report(device, set.write_inline(entry.dstBinding, entry.dstArrayElement, data, entry.descriptorCount));
      continue;
    }
    const auto put = [&](uint32_t binding, uint32_t element, const Descriptor& d) { return set.write(binding, element, d); };
    for (uint32_t i = 0; i < entry.descriptorCount; ++i) {
      const auto read = [&](bool immutable) { return descriptor_of(entry, data, i, immutable); };
      report(device, update(set.layout(), entry.dstBinding, entry.dstArrayElement, i, read, put));
    }
  }
}

// --- VK_KHR_push_descriptor

namespace {

const DescriptorSetLayout* pushed_layout(VkCommandBuffer commands, VkPipelineLayout layout, uint32_t set) {
  const auto& sets = layout->core->sets;
  if (set < sets.size() && sets[set]) return sets[set].get();
  record(commands, Error{VK_ERROR_VALIDATION_FAILED_EXT,
                         "vkCmdPushDescriptorSet: set is " + std::to_string(set) + "; the layout has " + std::to_string(sets.size())});
  return nullptr;
}

}  // namespace

void VKAPI_CALL CmdPushDescriptorSet(VkCommandBuffer commandBuffer, VkPipelineBindPoint pipelineBindPoint, VkPipelineLayout layout,
                                     uint32_t set, uint32_t descriptorWriteCount, const VkWriteDescriptorSet* pDescriptorWrites) {
  const DescriptorSetLayout* const of = pushed_layout(commandBuffer, layout, set);
  const auto push = [&](uint32_t binding, uint32_t element, const Descriptor& d) {
    return commandBuffer->core->push_descriptor(layout->core, set, binding, element, d, pipelineBindPoint);
  };
  for (uint32_t w = 0; of && w < descriptorWriteCount; ++w) {
    const VkWriteDescriptorSet& write = pDescriptorWrites[w];
    for (uint32_t i = 0; i < write.descriptorCount; ++i) {
      const auto read = [&](bool immutable) { return descriptor_of(write, i, immutable); };
      record(commandBuffer, update(*of, write.dstBinding, write.dstArrayElement, i, read, push));
    }
  }
}

void VKAPI_CALL CmdPushDescriptorSet2(VkCommandBuffer commandBuffer, const VkPushDescriptorSetInfo* info) {
  for_each_bind_point(info->stageFlags, [&](VkPipelineBindPoint point) {
    CmdPushDescriptorSet(commandBuffer, point, info->layout, info->set, info->descriptorWriteCount, info->pDescriptorWrites);
  });
}

void VKAPI_CALL CmdPushDescriptorSetWithTemplate(VkCommandBuffer commandBuffer, VkDescriptorUpdateTemplate descriptorUpdateTemplate,
                                                 VkPipelineLayout layout, uint32_t set, const void* pData) {
  const DescriptorSetLayout* const of = pushed_layout(commandBuffer, layout, set);
  if (!of) return;
  const auto push = [&](uint32_t binding, uint32_t element, const Descriptor& d) {
    return commandBuffer->core->push_descriptor(layout->core, set, binding, element, d, descriptorUpdateTemplate->bind_point);
  };
  for (const VkDescriptorUpdateTemplateEntry& entry : descriptorUpdateTemplate->entries) {
    const auto* data = static_cast<const uint8_t*>(pData) + entry.offset;
    for (uint32_t i = 0; i < entry.descriptorCount; ++i) {
      const auto read = [&](bool immutable) { return descriptor_of(entry, data, i, immutable); };
      record(commandBuffer, update(*of, entry.dstBinding, entry.dstArrayElement, i, read, push));
    }
  }
}

void VKAPI_CALL CmdPushDescriptorSetWithTemplate2(VkCommandBuffer commandBuffer, const VkPushDescriptorSetWithTemplateInfo* info) {
  CmdPushDescriptorSetWithTemplate(commandBuffer, info->descriptorUpdateTemplate, info->layout, info->set, info->pData);
}

}  // namespace tilegpu::icd
