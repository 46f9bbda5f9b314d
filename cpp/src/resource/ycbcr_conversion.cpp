// resource/ycbcr_conversion.cpp -- sampler Y'CbCr conversions and their checks.
//
// In: SamplerYcbcrConversionCreateInfo. Out: SamplerYcbcrConversion. Source: Vulkan specification, "Sampler Y'CbCr Conversion" (valid usage
// of VkSamplerYcbcrConversionCreateInfo; "identically defined" objects).
#include <array>

#include "base/field_error.hpp"
#include "tilegpu/resource.hpp"
#include "vk/ycbcr.hpp"

namespace tilegpu {
namespace {

constexpr const char* kName = "sampler Y'CbCr conversion";
using Swizzle = std::array<VkComponentSwizzle, 4>;

std::string number(int64_t value) { return std::to_string(value); }

const char* letter(VkComponentSwizzle swizzle) {
  constexpr const char* kLetters[] = {"identity", "zero", "one", "r", "g", "b", "a"};
  return kLetters[swizzle];
}

/// Without IDENTITY.
Swizzle resolved(const VkComponentMapping& m) {
  Swizzle s = {m.r, m.g, m.b, m.a};
  for (int k = 0; k < 4; ++k)
    if (s[k] == VK_COMPONENT_SWIZZLE_IDENTITY) s[k] = static_cast<VkComponentSwizzle>(VK_COMPONENT_SWIZZLE_R + k);
  return s;
}

Status check_enumerators(const SamplerYcbcrConversionCreateInfo& i) {
  if (i.model < VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY || i.model > VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020)
    return field_error(kName, "model", number(i.model), "rgb_identity, ycbcr_identity, ycbcr_709, ycbcr_601 or ycbcr_2020", "");
  if (i.range < VK_SAMPLER_YCBCR_RANGE_ITU_FULL || i.range > VK_SAMPLER_YCBCR_RANGE_ITU_NARROW)
    return field_error(kName, "range", number(i.range), "itu_full or itu_narrow", "");
  for (VkChromaLocation at : {i.x_chroma_offset, i.y_chroma_offset})
    if (at < VK_CHROMA_LOCATION_COSITED_EVEN || at > VK_CHROMA_LOCATION_MIDPOINT)
      return field_error(kName, "chroma offset", number(at), "cosited_even or midpoint", "");
  if (i.chroma_filter != VK_FILTER_NEAREST && i.chroma_filter != VK_FILTER_LINEAR)
    return field_error(kName, "chroma_filter", number(i.chroma_filter), "nearest or linear", "");
  for (VkComponentSwizzle s : {i.components.r, i.components.g, i.components.b, i.components.a})
    if (s < VK_COMPONENT_SWIZZLE_IDENTITY || s > VK_COMPONENT_SWIZZLE_A)
      return field_error(kName, "components", number(s), "identity, zero, one, r, g, b or a", "");
  return Ok{};
}

/// What components may be: luma is G, chroma R and B, which may change places.
Status check_components(const SamplerYcbcrConversionCreateInfo& i, const vk::FormatInfo& format, const Swizzle& s) {
  const auto refuse = [&](int component, const std::string& allowed, const char* fix) {
    return field_error(kName, std::string("components.") + "rgba"[component], letter(s[component]), allowed, fix);
  };
  if (format.chroma_x_log2) {
    const bool plain = s[0] == VK_COMPONENT_SWIZZLE_R && s[2] == VK_COMPONENT_SWIZZLE_B;
    const bool exchanged = s[0] == VK_COMPONENT_SWIZZLE_B && s[2] == VK_COMPONENT_SWIZZLE_R;
    if (s[1] != VK_COMPONENT_SWIZZLE_G) return refuse(1, std::string("g with format ") + format.name, "only r and b can change places");
    if (!plain && !exchanged) return refuse(0, "r with b for b, or b with r for b", "chroma is r and b");
    if (s[3] != VK_COMPONENT_SWIZZLE_A && s[3] != VK_COMPONENT_SWIZZLE_ZERO && s[3] != VK_COMPONENT_SWIZZLE_ONE)
      return refuse(3, "identity, zero or one", "");
  }
  if (i.model == VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY) return Ok{};
  for (int k = 0; k < 3; ++k) {
    const bool there = s[k] >= VK_COMPONENT_SWIZZLE_R && format.rgba[s[k] - VK_COMPONENT_SWIZZLE_R].bits;
    if (!there) return refuse(k, std::string("a component of ") + format.name, "only rgb_identity can do without one");
    const uint32_t bits = format.rgba[s[k] - VK_COMPONENT_SWIZZLE_R].bits;
    if (bits < 8 && i.range == VK_SAMPLER_YCBCR_RANGE_ITU_NARROW)
      return field_error(kName, "range", "itu_narrow", "itu_full where components have less than 8 bits",
                         std::string(format.name) + " has " + number(bits));
  }
  return Ok{};
}

}  // namespace

Expected<Ptr<SamplerYcbcrConversion>> SamplerYcbcrConversion::create(const SamplerYcbcrConversionCreateInfo& info) {
  if (Status ok = check_enumerators(info); !ok) return ok.error();
  const vk::FormatInfo* format = vk::find_format(info.format);
  if (!format || !vk::can_be_converted(*format))
    return field_error(kName, "format", format ? format->name : number(info.format),
                       "a UNORM format of colours that can be sampled, not compressed", "g8_b8r8_2plane_420_unorm is one",
                       VK_ERROR_FORMAT_NOT_SUPPORTED);
  const Swizzle s = resolved(info.components);
  if (Status ok = check_components(info, *format, s); !ok) return ok.error();
  auto made = std::make_shared<SamplerYcbcrConversion>();
  made->info_ = info;
  made->info_.components = {s[0], s[1], s[2], s[3]};
  return made;
}

bool is_same(const Ptr<SamplerYcbcrConversion>& a, const Ptr<SamplerYcbcrConversion>& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const SamplerYcbcrConversionCreateInfo &x = a->info(), &y = b->info();
  return x.format == y.format && x.model == y.model && x.range == y.range && resolved(x.components) == resolved(y.components) &&
         x.x_chroma_offset == y.x_chroma_offset && x.y_chroma_offset == y.y_chroma_offset && x.chroma_filter == y.chroma_filter &&
         x.force_explicit_reconstruction == y.force_explicit_reconstruction;
}

}  // namespace tilegpu
