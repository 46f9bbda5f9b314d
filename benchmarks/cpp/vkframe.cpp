// Draws a frame of tilegpu's scenes on any Vulkan 1.3 driver, again and again: a peer of `tilegpu bench peers`.
// In: a file that python/tilegpu/bench/frame_file.py wrote, whose head says the form. Out: the median of the frames' milliseconds (submission of
// recorded commands until the fence), and the picture as PPM. Everything stays in the layout GENERAL; passes are dynamic rendering.
// usage: vkframe --frame FILE --time SECONDS --json LOG --out PICTURE.ppm
#include <vulkan/vulkan.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "vkframe: " << what << "\n";
  std::exit(1);
}
void check(VkResult result, const char* what) {
  if (result != VK_SUCCESS) fail(std::string(what) + " gave VkResult " + std::to_string(result));
}
#define CHECK(call) check((call), #call)

struct Range {
  size_t begin = 0, count = 0;
};
std::istream& operator>>(std::istream& in, Range& range) {
  char colon = 0;
  in >> range.begin >> colon >> range.count;
  if (colon != ':') fail("a place in the bytes is not begin:count");
  return in;
}

struct Image {
  VkImage image{};
  VkImageView view{};
  VkFormat format{};
  uint32_t width = 0, height = 0, levels = 0;
  bool depth = false;
};
struct Pipeline {
  VkPipeline pipeline{};
  VkPipelineLayout layout{};
  VkDescriptorSetLayout set{};
  std::vector<std::pair<uint32_t, VkDescriptorType>> bindings;
};
struct Attachment {
  int image = 0, resolve = 0, load = 0, store = 0;
  std::array<float, 4> clear{};
};

/// The device and everything of the file.
class Player {
 public:
  explicit Player(const std::string& path);
  double frame();  ///< milliseconds
  void save(const std::string& path);
  std::string device_name;

 private:
  uint32_t memory_type(uint32_t bits);
  VkDeviceMemory allocate(const VkMemoryRequirements& need);
  VkBuffer make_buffer(const void* data, size_t size, VkDeviceMemory* out = nullptr);
  void begin();
  void finish();
  void barrier();
  void add_sampler(std::istream& in);
  void add_image(std::istream& in);
  void add_buffer(std::istream& in);
  void add_pipeline(std::istream& in);
  void add_pass(std::istream& in, std::ifstream& file);
  void add_draw(std::istream& in);
  const std::byte* at(Range range) {
    if (range.begin + range.count > bytes_.size()) fail("a place lies outside of the bytes");
    return bytes_.data() + range.begin;
  }

  std::vector<std::byte> bytes_;
  VkPhysicalDevice physical_{};
  VkDevice device_{};
  VkQueue queue_{};
  VkCommandPool pool_{};
  VkCommandBuffer commands_{}, upload_{};
  VkDescriptorPool sets_{};
  VkFence fence_{};
  std::vector<VkSampler> samplers_;
  std::vector<Image> images_;
  std::vector<VkBuffer> buffers_;
  std::vector<Pipeline> pipelines_;
  uint32_t width_ = 0, height_ = 0;
  int picture_ = -1;
};

uint32_t Player::memory_type(uint32_t bits) {
  VkPhysicalDeviceMemoryProperties properties;
  vkGetPhysicalDeviceMemoryProperties(physical_, &properties);
  const VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  for (uint32_t k = 0; k < properties.memoryTypeCount; ++k)
    if ((bits >> k & 1) && (properties.memoryTypes[k].propertyFlags & want) == want) return k;
  fail("no memory that the host sees and that fits; this program is for drivers in software");
}

VkDeviceMemory Player::allocate(const VkMemoryRequirements& need) {
  const VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, need.size, memory_type(need.memoryTypeBits)};
  VkDeviceMemory memory{};
  CHECK(vkAllocateMemory(device_, &info, nullptr, &memory));
  return memory;
}

VkBuffer Player::make_buffer(const void* data, size_t size, VkDeviceMemory* out) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = std::max<size_t>(size, 16);
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
               VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  VkBuffer buffer{};
  CHECK(vkCreateBuffer(device_, &info, nullptr, &buffer));
  VkMemoryRequirements need;
  vkGetBufferMemoryRequirements(device_, buffer, &need);
  VkDeviceMemory memory = allocate(need);
  CHECK(vkBindBufferMemory(device_, buffer, memory, 0));
  if (data) {
    void* mapped = nullptr;
    CHECK(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    std::memcpy(mapped, data, size);
    vkUnmapMemory(device_, memory);
  }
  if (out) *out = memory;
  return buffer;
}

void Player::begin() {
  const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(upload_, &info));
}

void Player::finish() {
  CHECK(vkEndCommandBuffer(upload_));
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &upload_;
  CHECK(vkQueueSubmit(queue_, 1, &submit, fence_));
  CHECK(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX));
  CHECK(vkResetFences(device_, 1, &fence_));
}

/// What was drawn before is there for what comes.
void Player::barrier() {
  VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  all.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  all.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vkCmdPipelineBarrier(commands_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, nullptr, 0, nullptr);
}

void Player::add_sampler(std::istream& in) {
  int min = 0, mag = 0, mip = 0, u = 0, v = 0, w = 0, compares = 0, op = 0;
  VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
  in >> min >> mag >> mip >> u >> v >> w >> info.mipLodBias >> info.minLod >> info.maxLod >> compares >> op;
  info.minFilter = VkFilter(min);
  info.magFilter = VkFilter(mag);
  info.mipmapMode = VkSamplerMipmapMode(mip);
  info.addressModeU = VkSamplerAddressMode(u);
  info.addressModeV = VkSamplerAddressMode(v);
  info.addressModeW = VkSamplerAddressMode(w);
  info.compareEnable = VkBool32(compares);
  info.compareOp = VkCompareOp(op);
  CHECK(vkCreateSampler(device_, &info, nullptr, &samplers_.emplace_back()));
}

void Player::add_image(std::istream& in) {
  int format = 0, samples = 0, use = 0;
  Image& image = images_.emplace_back();
  in >> format >> image.width >> image.height >> image.levels >> samples >> use;
  image.format = VkFormat(format);
  image.depth = use == 2;
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = image.format;
  info.extent = {image.width, image.height, 1};
  info.mipLevels = image.levels;
  info.arrayLayers = 1;
  info.samples = VkSampleCountFlagBits(samples);
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
  if (use == 1) info.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
  if (use == 2) info.usage |= VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
  CHECK(vkCreateImage(device_, &info, nullptr, &image.image));
  VkMemoryRequirements need;
  vkGetImageMemoryRequirements(device_, image.image, &need);
  CHECK(vkBindImageMemory(device_, image.image, allocate(need), 0));
  const VkImageAspectFlags aspect = image.depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
  VkImageViewCreateInfo view{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  view.image = image.image;
  view.viewType = VK_IMAGE_VIEW_TYPE_2D;
  view.format = image.format;
  view.subresourceRange = {aspect, 0, image.levels, 0, 1};
  CHECK(vkCreateImageView(device_, &view, nullptr, &image.view));
  begin();
  VkImageMemoryBarrier general{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  general.newLayout = VK_IMAGE_LAYOUT_GENERAL;
  general.image = image.image;
  general.subresourceRange = view.subresourceRange;
  general.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  vkCmdPipelineBarrier(upload_, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1, &general);
  for (uint32_t level = 0; use == 0 && level < image.levels; ++level) {
    Range range;
    in >> range;
    VkBufferImageCopy copy{};
    copy.imageSubresource = {aspect, level, 0, 1};
    copy.imageExtent = {std::max(1u, image.width >> level), std::max(1u, image.height >> level), 1};
    vkCmdCopyBufferToImage(upload_, make_buffer(at(range), range.count), image.image, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
  }
  finish();
}

void Player::add_buffer(std::istream& in) {
  Range range;
  in >> range;
  buffers_.push_back(make_buffer(at(range), range.count));
}

void Player::add_pipeline(std::istream& in) {
  Range code[2];
  int samples = 0, topology = 0, restart = 0, lines = 0, cull = 0, clockwise = 0, test = 0, write = 0, compare = 0, coverage = 0, mask = 0;
  int biased = 0, blends = 0;
  float bias = 0, slope = 0;
  in >> code[0] >> code[1] >> samples >> topology >> restart >> lines >> cull >> clockwise >> test >> write >> compare >> coverage >> mask;
  in >> biased >> bias >> slope >> blends;
  VkPipelineColorBlendAttachmentState blend{};
  blend.colorWriteMask = VkColorComponentFlags(mask);
  blend.blendEnable = VkBool32(blends);
  if (blends) {
    int f[6];
    for (int& one : f) in >> one;
    blend.srcColorBlendFactor = VkBlendFactor(f[0]);
    blend.dstColorBlendFactor = VkBlendFactor(f[1]);
    blend.colorBlendOp = VkBlendOp(f[2]);
    blend.srcAlphaBlendFactor = VkBlendFactor(f[3]);
    blend.dstAlphaBlendFactor = VkBlendFactor(f[4]);
    blend.alphaBlendOp = VkBlendOp(f[5]);
  }
  size_t count = 0;
  int depth = 0, format = 0;
  in >> count;
  std::vector<VkFormat> formats;
  for (size_t k = 0; k < count; ++k) {
    in >> format;
    formats.push_back(VkFormat(format));
  }
  in >> depth;
  VkVertexInputBindingDescription binding{0, 0, VK_VERTEX_INPUT_RATE_VERTEX};
  in >> binding.stride >> count;
  std::vector<VkVertexInputAttributeDescription> attributes(count);
  for (auto& one : attributes) {
    in >> one.location >> format >> one.offset;
    one.format = VkFormat(format);
  }
  uint32_t push_B = 0;
  in >> push_B >> count;
  Pipeline& made = pipelines_.emplace_back();
  std::vector<VkDescriptorSetLayoutBinding> bindings(count);
  for (auto& one : bindings) {
    int type = 0;
    in >> one.binding >> type;
    one.descriptorType = VkDescriptorType(type);
    one.descriptorCount = 1;
    one.stageFlags = VK_SHADER_STAGE_ALL_GRAPHICS;
    made.bindings.emplace_back(one.binding, one.descriptorType);
  }
  if (!in) fail("the line of a pipeline ends too soon");
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = uint32_t(count);
  set.pBindings = bindings.data();
  CHECK(vkCreateDescriptorSetLayout(device_, &set, nullptr, &made.set));
  const VkPushConstantRange push{VK_SHADER_STAGE_ALL_GRAPHICS, 0, push_B};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &made.set;
  layout.pushConstantRangeCount = push_B ? 1 : 0;
  layout.pPushConstantRanges = &push;
  CHECK(vkCreatePipelineLayout(device_, &layout, nullptr, &made.layout));

  VkPipelineShaderStageCreateInfo stages[2]{};
  for (int k = 0; k < 2; ++k) {
    VkShaderModuleCreateInfo module{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    const std::byte* words = at(code[k]);
    module.pCode = reinterpret_cast<const uint32_t*>(words);
    module.codeSize = code[k].count;
    while (module.codeSize > 4 && std::memcmp(words + module.codeSize - 4, "\0\0\0\0", 4) == 0) module.codeSize -= 4;  // padding
    stages[k].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    stages[k].stage = k ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT;
    stages[k].pName = "main";
    CHECK(vkCreateShaderModule(device_, &module, nullptr, &stages[k].module));
  }
  VkPipelineVertexInputStateCreateInfo vertex{VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  vertex.vertexBindingDescriptionCount = attributes.empty() ? 0 : 1;
  vertex.pVertexBindingDescriptions = &binding;
  vertex.vertexAttributeDescriptionCount = uint32_t(attributes.size());
  vertex.pVertexAttributeDescriptions = attributes.data();
  VkPipelineInputAssemblyStateCreateInfo assembly{VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO};
  assembly.topology = VkPrimitiveTopology(topology);
  assembly.primitiveRestartEnable = VkBool32(restart);
  VkPipelineViewportStateCreateInfo viewport{VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO};
  viewport.viewportCount = viewport.scissorCount = 1;
  VkPipelineRasterizationStateCreateInfo raster{VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO};
  raster.polygonMode = lines ? VK_POLYGON_MODE_LINE : VK_POLYGON_MODE_FILL;
  raster.cullMode = VkCullModeFlags(cull);
  raster.frontFace = clockwise ? VK_FRONT_FACE_CLOCKWISE : VK_FRONT_FACE_COUNTER_CLOCKWISE;
  raster.depthBiasEnable = VkBool32(biased);
  raster.depthBiasConstantFactor = bias;
  raster.depthBiasSlopeFactor = slope;
  raster.lineWidth = 1;
  VkPipelineMultisampleStateCreateInfo multisample{VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO};
  multisample.rasterizationSamples = VkSampleCountFlagBits(samples);
  multisample.alphaToCoverageEnable = VkBool32(coverage);
  VkPipelineDepthStencilStateCreateInfo depth_state{VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
  depth_state.depthTestEnable = VkBool32(test);
  depth_state.depthWriteEnable = VkBool32(write);
  depth_state.depthCompareOp = VkCompareOp(compare);
  const std::vector<VkPipelineColorBlendAttachmentState> blend_of(formats.size(), blend);
  VkPipelineColorBlendStateCreateInfo color{VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
  color.attachmentCount = uint32_t(blend_of.size());
  color.pAttachments = blend_of.data();
  const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
  VkPipelineDynamicStateCreateInfo dynamic{VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
  dynamic.dynamicStateCount = 2;
  dynamic.pDynamicStates = states;
  VkPipelineRenderingCreateInfo rendering{VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO};
  rendering.colorAttachmentCount = uint32_t(formats.size());
  rendering.pColorAttachmentFormats = formats.data();
  rendering.depthAttachmentFormat = VkFormat(depth);
  VkGraphicsPipelineCreateInfo info{VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering};
  info.stageCount = 2;
  info.pStages = stages;
  info.pVertexInputState = &vertex;
  info.pInputAssemblyState = &assembly;
  info.pViewportState = &viewport;
  info.pRasterizationState = &raster;
  info.pMultisampleState = &multisample;
  info.pDepthStencilState = &depth_state;
  info.pColorBlendState = &color;
  info.pDynamicState = &dynamic;
  info.layout = made.layout;
  CHECK(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &made.pipeline));
}

void Player::add_draw(std::istream& in) {
  size_t number = 0, count = 0;
  int vertices = 0, indices = 0, index_B = 0, clipped = 0;
  uint32_t first = 0, elements = 0, instances = 0;
  Range push;
  VkRect2D scissor{};
  in >> number >> vertices >> indices >> index_B >> first >> elements >> instances >> push;
  in >> clipped >> scissor.offset.x >> scissor.offset.y >> scissor.extent.width >> scissor.extent.height >> count;
  const Pipeline& pipeline = pipelines_.at(number);
  vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline.pipeline);
  if (clipped) vkCmdSetScissor(commands_, 0, 1, &scissor);
  if (count) {
    VkDescriptorSet set{};
    VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, sets_, 1, &pipeline.set};
    CHECK(vkAllocateDescriptorSets(device_, &info, &set));
    for (size_t k = 0; k < count; ++k) {
      uint32_t binding = 0;
      int thing = 0, sampler = 0;
      in >> binding >> thing >> sampler;
      VkDescriptorImageInfo image{};
      VkDescriptorBufferInfo buffer{};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, binding, 0, 1};
      for (const auto& [place, type] : pipeline.bindings)
        if (place == binding) write.descriptorType = type;
      if (sampler >= 0) {
        image = {samplers_.at(size_t(sampler)), images_.at(size_t(thing)).view, VK_IMAGE_LAYOUT_GENERAL};
        write.pImageInfo = &image;
      } else {
        buffer = {buffers_.at(size_t(thing)), 0, VK_WHOLE_SIZE};
        write.pBufferInfo = &buffer;
      }
      vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
    }
    vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline.layout, 0, 1, &set, 0, nullptr);
  }
  if (!in) fail("the line of a draw ends too soon");
  if (push.count) vkCmdPushConstants(commands_, pipeline.layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, uint32_t(push.count), at(push));
  const VkDeviceSize zero = 0;
  if (vertices >= 0) vkCmdBindVertexBuffers(commands_, 0, 1, &buffers_.at(size_t(vertices)), &zero);
  if (indices >= 0) {
    vkCmdBindIndexBuffer(commands_, buffers_.at(size_t(indices)), 0, index_B == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands_, elements, instances, first, 0, 0);
  } else {
    vkCmdDraw(commands_, elements, instances, first, 0);
  }
}

void Player::add_pass(std::istream& in, std::ifstream& file) {
  uint32_t width = 0, height = 0;
  size_t colors = 0, depths = 0, draws = 0;
  int samples = 0;
  in >> width >> height >> samples >> colors >> depths >> draws;
  std::vector<VkRenderingAttachmentInfo> infos(colors + depths, {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO});
  std::string line, kind;
  for (size_t k = 0; k < infos.size(); ++k) {
    std::getline(file, line);
    std::istringstream words(line);
    Attachment a;
    words >> kind >> a.image >> a.resolve >> a.load >> a.store;
    for (float& value : a.clear) words >> value;
    if (!words || kind != "attachment") fail("an attachment's line is missing: " + line);
    VkRenderingAttachmentInfo& info = infos[k];
    info.imageView = images_.at(size_t(a.image)).view;
    info.imageLayout = VK_IMAGE_LAYOUT_GENERAL;
    if (a.resolve >= 0) {
      info.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
      info.resolveImageView = images_.at(size_t(a.resolve)).view;
      info.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    info.loadOp = VkAttachmentLoadOp(a.load);
    info.storeOp = a.store ? VK_ATTACHMENT_STORE_OP_STORE : VK_ATTACHMENT_STORE_OP_DONT_CARE;
    if (k < colors)
      std::copy(a.clear.begin(), a.clear.end(), info.clearValue.color.float32);
    else
      info.clearValue.depthStencil.depth = a.clear[0];
  }
  barrier();
  VkRenderingInfo rendering{VK_STRUCTURE_TYPE_RENDERING_INFO};
  rendering.renderArea.extent = {width, height};
  rendering.layerCount = 1;
  rendering.colorAttachmentCount = uint32_t(colors);
  rendering.pColorAttachments = infos.data();
  rendering.pDepthAttachment = depths ? &infos[colors] : nullptr;
  vkCmdBeginRendering(commands_, &rendering);
  const VkViewport viewport{0, 0, float(width), float(height), 0, 1};
  const VkRect2D whole{{0, 0}, {width, height}};
  vkCmdSetViewport(commands_, 0, 1, &viewport);
  for (size_t k = 0; k < draws; ++k) {
    std::getline(file, line);
    std::istringstream words(line);
    words >> kind;
    if (kind != "draw") fail("a draw's line is missing: " + line);
    vkCmdSetScissor(commands_, 0, 1, &whole);
    add_draw(words);
  }
  vkCmdEndRendering(commands_);
}

Player::Player(const std::string& path) {
  std::ifstream raw(path + ".bin", std::ios::binary | std::ios::ate);
  if (!raw) fail("no file " + path + ".bin");
  bytes_.resize(size_t(raw.tellg()));
  raw.seekg(0);
  raw.read(reinterpret_cast<char*>(bytes_.data()), std::streamsize(bytes_.size()));

  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  instance_info.pApplicationInfo = &application;
  VkInstance instance{};
  CHECK(vkCreateInstance(&instance_info, nullptr, &instance));
  uint32_t count = 1;
  const VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical_);
  if ((found != VK_SUCCESS && found != VK_INCOMPLETE) || !count) fail("no Vulkan device");
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical_, &properties);
  device_name = properties.deviceName;
  if (properties.apiVersion < VK_API_VERSION_1_3) fail(device_name + " has no Vulkan 1.3, which has dynamic rendering");
  VkPhysicalDeviceFeatures have{}, want{};
  vkGetPhysicalDeviceFeatures(physical_, &have);
  want.largePoints = have.largePoints;
  want.fillModeNonSolid = have.fillModeNonSolid;
  VkPhysicalDeviceVulkan13Features features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  features.dynamicRendering = VK_TRUE;
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo device{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
  device.queueCreateInfoCount = 1;
  device.pQueueCreateInfos = &queue;
  device.pEnabledFeatures = &want;
  CHECK(vkCreateDevice(physical_, &device, nullptr, &device_));
  vkGetDeviceQueue(device_, 0, 0, &queue_);
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  CHECK(vkCreateCommandPool(device_, &pool, nullptr, &pool_));
  VkCommandBuffer both[2];
  const VkCommandBufferAllocateInfo buffers{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 2};
  CHECK(vkAllocateCommandBuffers(device_, &buffers, both));
  commands_ = both[0];
  upload_ = both[1];
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  CHECK(vkCreateFence(device_, &fence, nullptr, &fence_));
  const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 65536}, {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 65536},
                                        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 65536}};
  VkDescriptorPoolCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  sets.maxSets = 32768;
  sets.poolSizeCount = 3;
  sets.pPoolSizes = sizes;
  CHECK(vkCreateDescriptorPool(device_, &sets, nullptr, &sets_));

  std::ifstream file(path);
  if (!file) fail("no file " + path);
  const VkCommandBufferBeginInfo recording{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(commands_, &recording));
  std::string line, kind;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words >> kind;
    if (kind == "frame") words >> width_ >> height_;
    else if (kind == "sampler") add_sampler(words);
    else if (kind == "image") add_image(words);
    else if (kind == "buffer") add_buffer(words);
    else if (kind == "pipeline") add_pipeline(words);
    else if (kind == "pass") add_pass(words, file);
    else if (kind == "picture") words >> picture_;
    else if (kind == "end") break;
    else fail("a line of an unknown kind: " + line);
    if (!words) fail("a line ends too soon: " + line);
  }
  if (kind != "end" || picture_ < 0) fail(path + " ends too soon");
  CHECK(vkEndCommandBuffer(commands_));
}

double Player::frame() {
  const auto start = std::chrono::steady_clock::now();
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands_;
  CHECK(vkQueueSubmit(queue_, 1, &submit, fence_));
  CHECK(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX));
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  CHECK(vkResetFences(device_, 1, &fence_));
  return time.count();
}

void Player::save(const std::string& path) {
  const Image& image = images_.at(size_t(picture_));
  if (image.format != VK_FORMAT_R8G8B8A8_UNORM && image.format != VK_FORMAT_R8G8B8A8_SRGB) return;  // no picture to compare
  const size_t size = size_t(4) * width_ * height_;
  VkDeviceMemory memory{};
  VkBuffer buffer = make_buffer(nullptr, size, &memory);
  begin();
  VkBufferImageCopy copy{};
  copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  copy.imageExtent = {width_, height_, 1};
  vkCmdCopyImageToBuffer(upload_, image.image, VK_IMAGE_LAYOUT_GENERAL, buffer, 1, &copy);
  finish();
  void* mapped = nullptr;
  CHECK(vkMapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
  const auto* pixels = static_cast<const unsigned char*>(mapped);
  std::vector<char> rgb;
  rgb.reserve(size / 4 * 3);
  for (size_t k = 0; k < size; ++k)
    if (k % 4 != 3) rgb.push_back(char(pixels[k]));
  std::ofstream out(path, std::ios::binary);
  out << "P6\n" << width_ << " " << height_ << "\n255\n";
  out.write(rgb.data(), std::streamsize(rgb.size()));
}

}  // namespace

int main(int argc, char** argv) {
  std::string frame, log, picture;
  double seconds = 1;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string name = argv[k];
    if (name == "--frame") frame = argv[k + 1];
    else if (name == "--time") seconds = std::atof(argv[k + 1]);
    else if (name == "--json") log = argv[k + 1];
    else if (name == "--out") picture = argv[k + 1];
    else fail("no option " + name);
  }
  if (frame.empty()) fail("usage: vkframe --frame FILE --time SECONDS --json LOG --out PICTURE.ppm");
  Player player(frame);
  player.frame();
  player.frame();
  std::vector<double> times;
  for (double spent = 0; spent < seconds * 1e3 || times.size() < 3; spent += times.back()) times.push_back(player.frame());
  std::sort(times.begin(), times.end());
  if (!picture.empty()) player.save(picture);
  if (!log.empty()) std::ofstream(log) << "{\"device\": \"" << player.device_name << "\", \"median_ms\": " << times[times.size() / 2] << "}\n";
  std::cout << player.device_name << ": " << times[times.size() / 2] << " ms\n";
}
