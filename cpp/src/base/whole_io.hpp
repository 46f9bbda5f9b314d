// base/whole_io.hpp -- calls of the system that a signal may cut short: done again, or to their end.
//
// In: a descriptor, bytes. Out: all of them, or none of what was asked for. Source: read(2), write(2), getrandom(2), signal(7)
// ("Interruption of system calls").
#pragma once

#include <cerrno>
#include <cstddef>

namespace tilegpu {

/// What `call` gives, which is -1 and an errno other than EINTR, or something else.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Of files, pipes and sockets that wait. False: errno says why, 0 that there is no more.
bool read_whole(int fd, void* data, size_t size_B);
bool write_whole(int fd, const void* data, size_t size_B);
/// False: the kernel gives none (older than 3.17, or forbidden).
bool random_bytes(void* data, size_t size_B);

}  // namespace tilegpu
