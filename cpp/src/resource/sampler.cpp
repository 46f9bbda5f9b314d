// resource/sampler.cpp -- samplers and their checks.
//
// In: SamplerCreateInfo. Out: Sampler. Source: Vulkan specification, "Samplers" (valid usage of VkSamplerCreateInfo).
#include <cmath>

#include "base/field_error.hpp"
#include "base/float_text.hpp"
#include "base/replaying.hpp"
#include "tilegpu/resource.hpp"

namespace tilegpu {
namespace {

constexpr float kMaxLodBias = 15.0f, kMaxAnisotropy = 16.0f;

using Tolerate = std::function<void(const std::string&)>;

bool valid_address(VkSamplerAddressMode mode) {
  return mode >= VK_SAMPLER_ADDRESS_MODE_REPEAT && mode <= VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE;
}

std::string number(uint32_t value) { return std::to_string(value); }

bool is_cubic(const SamplerCreateInfo& info) { return info.mag_filter == VK_FILTER_CUBIC_EXT || info.min_filter == VK_FILTER_CUBIC_EXT; }

Status check_unnormalized(const SamplerCreateInfo& info) {
  const auto clamps = [](VkSamplerAddressMode mode) {
    return mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE || mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
  };
  if (info.min_filter != info.mag_filter || info.mipmap_mode != VK_SAMPLER_MIPMAP_MODE_NEAREST || info.min_lod != 0 || info.max_lod != 0 ||
      !clamps(info.address_u) || !clamps(info.address_v) || info.compare_enable || info.max_anisotropy > 1) {
    return field_error("sampler", "unnormalized_coordinates", "true",
                       "true only with equal filters, mipmap_mode nearest, lod 0 to 0, clamping "
                       "addresses, no comparison and no anisotropy",
                       "set these, or normalise the coordinates");
  }
  return Ok{};
}

Status refuse_with_conversion(const char* field, const std::string& value, const char* allowed) {
  return field_error("sampler", field, value, std::string(allowed) + " where the sampler has a Y'CbCr conversion", "");
}

/// Where the sampler has a Y'CbCr conversion. Addresses that repeat have one outcome, of luma as of chroma, and the one level of such an
/// image is no less by one sample than by several: programs ask for both (SDL 3), so that is done where it is tolerated.
Status check_conversion(SamplerCreateInfo& info, const Tolerate& tolerate) {
  for (VkSamplerAddressMode mode : {info.address_u, info.address_v, info.address_w}) {
    if (mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE) continue;
    const Status rule = refuse_with_conversion("address mode", "number " + number(static_cast<uint32_t>(mode)), "clamp_to_edge");
    if (mode == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER) return rule;  // of what space its colour is, nobody says
    if (Status status = forbid(tolerate, rule); !status) return status;
  }
  if (info.max_anisotropy > 1) {
    if (Status status = forbid(tolerate, refuse_with_conversion("max_anisotropy", float_text(info.max_anisotropy), "1")); !status)
      return status;
    info.max_anisotropy = 1;
  }
  if (is_cubic(info)) return refuse_with_conversion("filter", "cubic", "nearest or linear");
  if (info.unnormalized_coordinates) return refuse_with_conversion("unnormalized_coordinates", "true", "false");
  if (info.reduction_mode != VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE)
    return refuse_with_conversion("reduction_mode", "min or max", "weighted_average");
  if (info.compare_enable) return refuse_with_conversion("compare_enable", "true", "false");
  return Ok{};
}

}  // namespace

Expected<Ptr<Sampler>> Sampler::create(const SamplerCreateInfo& asked, const std::function<void(const std::string&)>& tolerate) {
  SamplerCreateInfo info = asked;
  for (VkFilter filter : {info.mag_filter, info.min_filter}) {
    if (filter != VK_FILTER_NEAREST && filter != VK_FILTER_LINEAR && filter != VK_FILTER_CUBIC_EXT)
      return field_error("sampler", "filter", number(static_cast<uint32_t>(filter)), "nearest, linear or cubic", "");
  }
  if (info.mipmap_mode != VK_SAMPLER_MIPMAP_MODE_NEAREST && info.mipmap_mode != VK_SAMPLER_MIPMAP_MODE_LINEAR) {
    return field_error("sampler", "mipmap_mode", number(static_cast<uint32_t>(info.mipmap_mode)), "nearest or linear", "");
  }
  for (VkSamplerAddressMode mode : {info.address_u, info.address_v, info.address_w}) {
    if (!valid_address(mode)) {
      return field_error("sampler", "address mode", number(static_cast<uint32_t>(mode)),
                         "repeat, mirrored_repeat, clamp_to_edge, clamp_to_border or mirror_clamp_to_edge", "");
    }
  }
  if (!(std::fabs(info.mip_lod_bias) <= kMaxLodBias)) {
    return field_error("sampler", "mip_lod_bias", float_text(info.mip_lod_bias), "-15 to 15", "");
  }
  if (!(info.min_lod <= info.max_lod)) {
    return field_error("sampler", "min_lod", float_text(info.min_lod), "at most max_lod, " + float_text(info.max_lod),
                       "NaN is not a level");
  }
  if (info.compare_enable && (info.compare_op < VK_COMPARE_OP_NEVER || info.compare_op > VK_COMPARE_OP_ALWAYS)) {
    return field_error("sampler", "compare_op", number(static_cast<uint32_t>(info.compare_op)), "a VkCompareOp", "");
  }
  const bool custom = info.border_color == VK_BORDER_COLOR_FLOAT_CUSTOM_EXT || info.border_color == VK_BORDER_COLOR_INT_CUSTOM_EXT;
  if (!custom && (info.border_color < VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK || info.border_color > VK_BORDER_COLOR_INT_OPAQUE_WHITE)) {
    return field_error("sampler", "border_color", number(static_cast<uint32_t>(info.border_color)),
                       "one of Vulkan's six, or a custom one of floats or integers", "");
  }
  if (!(info.max_anisotropy >= 1 && info.max_anisotropy <= kMaxAnisotropy))
    return field_error("sampler", "max_anisotropy", float_text(info.max_anisotropy), "1 to 16", "1 is none");
  if (is_cubic(info) && info.max_anisotropy > 1)
    return field_error("sampler", "max_anisotropy", float_text(info.max_anisotropy), "1 with a cubic filter",
                       "leave it out, or filter linearly");
  if (info.reduction_mode < VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE || info.reduction_mode > VK_SAMPLER_REDUCTION_MODE_MAX)
    return field_error("sampler", "reduction_mode", number(static_cast<uint32_t>(info.reduction_mode)), "weighted_average, min or max", "");
  if (info.reduction_mode != VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE && info.compare_enable)
    return field_error("sampler", "reduction_mode", "min or max with comparison", "weighted_average", "compare, or take the least");
  if (info.unnormalized_coordinates) {
    if (Status status = check_unnormalized(info); !status) return status.error();
  }
  if (info.ycbcr) {
    if (Status status = check_conversion(info, tolerate); !status) return status.error();
  }
  auto sampler = std::make_shared<Sampler>();
  sampler->info_ = info;
  return sampler;
}

}  // namespace tilegpu
