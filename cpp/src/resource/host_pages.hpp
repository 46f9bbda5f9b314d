// resource/host_pages.hpp -- what the process may do with a range of its addresses. In: the range. Out: of all its pages, and of the one
// behind. Source: proc(5), /proc/self/maps.
#pragma once

#include <cstdint>

namespace tilegpu::resource {

struct HostPages {
  bool writable = false;  // all of them can be read and written
  enum class Behind : uint8_t { nothing, readable, unreadable } behind = Behind::unreadable;
};

/// Of [begin, end). Where the system does not say, nothing is writable.
HostPages find_pages(uintptr_t begin, uintptr_t end);

}  // namespace tilegpu::resource
