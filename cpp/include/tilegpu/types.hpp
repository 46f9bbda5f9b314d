// tilegpu/types.hpp -- what every public header needs: errors as values, owning pointers, Vulkan's own enumerations.
//
// No exception crosses this API but std::bad_alloc, where a small object (a create info's copy, a list) finds no memory left; what takes
// much (memory, recordings, compiles, executions) says so in its result. A function that can fail returns Expected<T>; its Error names the
// object (label), the field, the value, what is allowed and the fix, as one sentence for people, and carries the VkResult that an ICD would
// return.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tilegpu/api.hpp"

namespace tilegpu {

/// Objects are shared: a command buffer, a set or a view keeps alive what it names.
template <class T>
using Ptr = std::shared_ptr<T>;

struct Error {
  VkResult code = VK_ERROR_UNKNOWN;
  std::string message;
};

struct Ok {};

/// Either a value or an Error. `if (!r) return r.error();` is the idiom.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}
  Expected(Error error) : state_(std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() {
    assert(state_.index() == 0);
    return std::get<0>(state_);
  }
  T* operator->() { return &**this; }
  const Error& error() const {
    assert(state_.index() == 1);
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

using Status = Expected<Ok>;

}  // namespace tilegpu
