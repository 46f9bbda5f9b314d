// fuzz/common/bench.cpp -- see bench.hpp.
#include "common/bench.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kCasesOfADevice = 200;  // its code memory is given back after so many

std::string name_of(const DeviceCreateInfo& info, Code code) {
  std::ostringstream text;
  text << info.profile << ' ' << info.threads << ' ' << info.lanes << ' ' << info.bin_px << ' ' << info.vertex_batch << ' '
       << info.tiler_heap_B << ' ' << info.loop_budget << ' ' << info.indirect_budget << ' ' << info.compress_samples << ' '
       << static_cast<int>(code);
  if (info.hsr) {
    const HiddenSurfaceRemoval& h = *info.hsr;
    text << ' ' << h.visibility_buffer << h.hierarchical_z << h.pre_pass << h.forward_pixel_kill << h.deferred_vertex_shading
         << h.low_resolution_z;
  }
  return text.str();
}

void fill(uint8_t* bytes, uint64_t size_B) {
  for (uint64_t i = 0; i + 4 <= size_B; i += 4) {
    const float value = 0.25f + static_cast<float>((i / 4 * 7) % 61) * 0.125f;
    std::memcpy(bytes + i, &value, 4);
  }
}

VkFormat format_of(const ReflectedType& type) {
  if (type.format != VK_FORMAT_UNDEFINED) return type.format;
  if (type.depth_compare) return VK_FORMAT_D32_SFLOAT;
  switch (type.base) {
    case ReflectedType::Base::i32:
      return VK_FORMAT_R32G32B32A32_SINT;
    case ReflectedType::Base::u32:
      return VK_FORMAT_R32G32B32A32_UINT;
    default:
      return VK_FORMAT_R8G8B8A8_UNORM;
  }
}

}  // namespace

Ptr<Device> device(DeviceCreateInfo info, Code code) {
  struct Known {
    Ptr<Device> device;
    uint32_t cases = 0;
  };
  static auto* const devices = new std::map<std::string, Known>;  // never destroyed: the core's threads outlive main
  Known& known = (*devices)[name_of(info, code)];
  if (!known.device || ++known.cases > kCasesOfADevice) {
    known = {};
    info.cache_dir = "off";
    info.tolerate = [](const std::string&) {};
    setenv("TILEGPU_CODE", code == Code::quick ? "quick" : "optimised", 1);
    known.device = take(Device::create(info), "a device");
  }
  return known.device;
}

Ptr<Buffer> patterned_buffer(uint64_t size_B, VkBufferUsageFlags usage) {
  Ptr<Buffer> buffer = take(Buffer::create({size_B, usage, "buffer"}), "a buffer");
  take(buffer->bind(take(DeviceMemory::allocate(size_B), "memory"), 0), "memory of a buffer");
  fill(buffer->data(), size_B);
  return buffer;
}

Ptr<ImageView> patterned_view(const ReflectedType& type) {
  ImageCreateInfo info;
  info.format = format_of(type), info.width_px = info.height_px = 8, info.label = "image";
  info.samples = type.multisampled ? VK_SAMPLE_COUNT_4_BIT : VK_SAMPLE_COUNT_1_BIT;
  switch (type.dim) {
    case VK_IMAGE_VIEW_TYPE_1D:
    case VK_IMAGE_VIEW_TYPE_1D_ARRAY:
      info.type = VK_IMAGE_TYPE_1D, info.height_px = 1;
      break;
    case VK_IMAGE_VIEW_TYPE_3D:
      info.type = VK_IMAGE_TYPE_3D, info.depth_px = 4;
      break;
    case VK_IMAGE_VIEW_TYPE_CUBE:
      info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT, info.array_layers = 6;
      break;
    case VK_IMAGE_VIEW_TYPE_CUBE_ARRAY:
      info.flags = VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT, info.array_layers = 12;
      break;
    default:
      break;
  }
  if (type.dim == VK_IMAGE_VIEW_TYPE_1D_ARRAY || type.dim == VK_IMAGE_VIEW_TYPE_2D_ARRAY) info.array_layers = 3;
  if (!type.multisampled && info.type == VK_IMAGE_TYPE_2D && type.kind != ReflectedType::Kind::image) info.mip_levels = 3;
  Expected<Ptr<Image>> image = Image::create(info);
  if (!image || !(*image)->ensure_memory()) return nullptr;
  uint8_t* const bytes = (*image)->data() ? (*image)->data() : nullptr;
  if (!bytes) return nullptr;
  for (uint64_t i = 0; i < (*image)->required_B(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + (i >> 5));
  if (info.format == VK_FORMAT_D32_SFLOAT) fill(bytes, (*image)->required_B());
  Expected<Ptr<ImageView>> view = ImageView::create({.image = *image, .type = type.dim});
  return view ? *view : nullptr;
}

Ptr<Sampler> sampler(bool compares) {
  SamplerCreateInfo info;
  info.compare_enable = compares;
  info.compare_op = VK_COMPARE_OP_LESS_OR_EQUAL;
  if (compares) info.mag_filter = info.min_filter = VK_FILTER_NEAREST;
  return take(Sampler::create(info), "a sampler");
}

Ptr<ImageView> target(VkFormat format, VkSampleCountFlagBits samples, uint32_t width_px, uint32_t height_px, VkImageUsageFlags usage,
                      uint32_t layers) {
  ImageCreateInfo info;
  info.array_layers = layers;
  info.format = format, info.samples = samples, info.width_px = width_px, info.height_px = height_px, info.usage = usage;
  info.label = "target";
  Ptr<Image> image = take(Image::create(info), "a target");
  take(image->ensure_memory(), "memory of a target");
  return take(ImageView::create({.image = image, .type = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D}),
              "a view of a target");
}

void append(std::vector<uint8_t>& to, const Image& image) {
  if (image.data()) to.insert(to.end(), image.data(), image.data() + image.required_B());
}

void append(std::vector<uint8_t>& to, const Buffer& buffer) {
  if (buffer.data()) to.insert(to.end(), buffer.data(), buffer.data() + buffer.size_B());
}

Ptr<ShaderModule> own_shader(const std::string& text, VkShaderStageFlagBits stage) {
  constexpr size_t kMostKept = 500;
  static auto* const known = new std::map<std::string, Ptr<ShaderModule>>;
  const auto found = known->find(text);
  if (found != known->end()) return found->second;
  if (known->size() >= kMostKept) known->clear();
  Ptr<ShaderModule> module;
  if (auto words = compile_glsl({text, "fuzzer", stage, {}, {}})) {
    if (auto made = ShaderModule::create(*words, "fuzzer")) module = *made;
  }
  return (*known)[text] = module;
}

std::string difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  if (a.size() != b.size()) return std::to_string(a.size()) + " bytes, " + std::to_string(b.size()) + " there";
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const size_t at = i & ~size_t{3}, count = std::min<size_t>(4, a.size() - at);
    uint32_t one = 0, other = 0;
    std::memcpy(&one, a.data() + at, count), std::memcpy(&other, b.data() + at, count);
    char text[96];
    std::snprintf(text, sizeof text, "word %zu of %zu: %08x, %08x there", at / 4, a.size() / 4, one, other);
    return text;
  }
  return "";
}

}  // namespace tilegpu::fuzz
