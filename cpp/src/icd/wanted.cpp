// icd/wanted.cpp -- what the environment asks the driver to say of itself: version, type, extensions. See wanted.hpp.
//
// In: TILEGPU_VULKAN, TILEGPU_VULKAN_TYPE, TILEGPU_VULKAN_WITH, TILEGPU_VULKAN_WITHOUT. Out: Vulkan's words for them.
// Source: Vulkan specification, VkPhysicalDeviceProperties, "Extended Functionality".
#include "icd/wanted.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "icd/entry_points.hpp"

namespace tilegpu::icd {
namespace {

template <typename Value>
struct Word {
  const char* text;
  Value value;
};

constexpr Word<uint32_t> kVersions[] = {
    {"1.1", VK_API_VERSION_1_1},
    {"1.2", VK_API_VERSION_1_2},
    {"1.3", VK_API_VERSION_1_3},
    {"1.4", VK_API_VERSION_1_4},
};

constexpr Word<VkPhysicalDeviceType> kTypes[] = {
    {"cpu", VK_PHYSICAL_DEVICE_TYPE_CPU},
    {"virtual", VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU},
    {"integrated", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU},
    {"discrete", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU},
};

/// The value of the word `text`, which the variable has; the first one, if it has none or one that there is not.
template <typename Value, size_t N>
Value wanted(const char* variable, const char* text, const Word<Value> (&words)[N], const char* allowed) {
  assert(variable && allowed);
  if (!text || !*text) return words[0].value;
  for (const Word<Value>& word : words)
    if (std::strcmp(word.text, text) == 0) return word.value;
  std::fprintf(stderr, "tilegpu: %s is '%s'; it must be %s; taken as %s\n", variable, text, allowed, words[0].text);
  return words[0].value;
}

// Programs that find these draw by them, and another picture from run to run: ANGLE's passes end where Chromium's timers flush, and samples
// that are in the tile alone are one then.
constexpr Extension kNotListed[] = {Extension::EXT_multisampled_render_to_single_sampled};

/// f(extension, name) for each name that `text` has; a name that no extension has is said.
template <class F>
void each_named(const char* variable, const char* text, F&& f) {
  constexpr std::string_view kBetween = ", ";
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    const size_t first = rest.find_first_not_of(kBetween);
    if (first == rest.npos) break;
    const std::string name(rest.substr(first, rest.find_first_of(kBetween, first) - first));
    assert(!name.empty());
    rest.remove_prefix(first + name.size());
    if (const Extension e = find_extension(name.c_str()); e != Extension::count)
      f(e, name.c_str());
    else
      std::fprintf(stderr, "tilegpu: %s has '%s'; Vulkan has no such extension; write names such as %s\n", variable, name.c_str(),
                   VK_KHR_SWAPCHAIN_EXTENSION_NAME);
  }
}

}  // namespace

uint32_t wanted_version() { return wanted("TILEGPU_VULKAN", std::getenv("TILEGPU_VULKAN"), kVersions, "1.1, 1.2, 1.3 or 1.4"); }

VkPhysicalDeviceType wanted_type() {
  return wanted("TILEGPU_VULKAN_TYPE", std::getenv("TILEGPU_VULKAN_TYPE"), kTypes, "cpu, virtual, integrated or discrete");
}

ExtensionSet unwanted_extensions() {
  ExtensionSet with, without;
  each_named("TILEGPU_VULKAN_WITH", std::getenv("TILEGPU_VULKAN_WITH"), [&](Extension e, const char* name) {
    with.add(e);
    if (std::find(std::begin(kNotListed), std::end(kNotListed), e) == std::end(kNotListed))
      std::fprintf(stderr, "tilegpu: TILEGPU_VULKAN_WITH has '%s', which is listed without, or not there; vulkaninfo says\n", name);
  });
  for (const Extension e : kNotListed)
    if (!with.has(e)) without.add(e);
  each_named("TILEGPU_VULKAN_WITHOUT", std::getenv("TILEGPU_VULKAN_WITHOUT"), [&](Extension e, const char*) { without.add(e); });
  return without;
}

}  // namespace tilegpu::icd
