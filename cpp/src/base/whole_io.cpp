// base/whole_io.cpp -- see whole_io.hpp.
#include "base/whole_io.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cassert>

namespace tilegpu {
namespace {

/// `part` takes what is left and says how much of it it did.
template <class Byte, class Part>
bool in_parts(Byte* at, size_t size_B, Part part) {
  while (size_B) {
    errno = 0;
    const ssize_t n = uninterrupted([&] { return part(at, size_B); });
    if (n <= 0) return false;
    assert(static_cast<size_t>(n) <= size_B);
    at += n, size_B -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

bool read_whole(int fd, void* data, size_t size_B) {
  return in_parts(static_cast<char*>(data), size_B, [fd](char* at, size_t left_B) { return read(fd, at, left_B); });
}

bool write_whole(int fd, const void* data, size_t size_B) {
  return in_parts(static_cast<const char*>(data), size_B, [fd](const char* at, size_t left_B) { return write(fd, at, left_B); });
}

bool random_bytes(void* data, size_t size_B) {
  return in_parts(static_cast<char*>(data), size_B, [](char* at, size_t left_B) { return getrandom(at, left_B, 0); });
}

}  // namespace tilegpu
