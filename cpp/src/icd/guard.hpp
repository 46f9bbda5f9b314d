// icd/guard.hpp -- the border of the driver: no exception goes to the program.
//
// In: a command. Out: the same, with VK_ERROR_OUT_OF_HOST_MEMORY where the system refuses memory: as its result, or, of a command that is
// recorded, as that of vkEndCommandBuffer. Source: Vulkan specification, "Return Codes".
#pragma once

#include <new>

#include "icd/objects.hpp"
#include "vk/given.hpp"

namespace tilegpu::icd {

template <class First, class... Rest>
void keep_refusal(First first, Rest...) {
  if constexpr (std::is_same_v<First, VkCommandBuffer>)
    if (first->result == VK_SUCCESS) first->result = VK_ERROR_OUT_OF_HOST_MEMORY;
}

/// Enumerations among the arguments, as those in memory (vk/given.hpp).
template <class T>
T settled(T argument) {
  if constexpr (std::is_enum_v<T>)
    return given(argument);
  else
    return argument;
}

template <auto command>
struct Guarded;

template <class Result, class... Arguments, Result(VKAPI_PTR* command)(Arguments...)>
struct Guarded<command> {
  static Result VKAPI_CALL call(Arguments... arguments) noexcept {
    try {
      return command(settled(arguments)...);
    } catch (const std::bad_alloc&) {
      if constexpr (std::is_same_v<Result, VkResult>)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
      else
        keep_refusal(arguments...);
      if constexpr (!std::is_same_v<Result, VkResult> && !std::is_void_v<Result>) return Result{};
    }
  }
};

}  // namespace tilegpu::icd
