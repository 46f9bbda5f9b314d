// base/random_words.cpp -- arc4random for LLVM's archive, which asks for it where the build machine's C library has it (glibc 2.36): the
// one thing that would keep the library from systems with an older one. LLVM names temporary files with it. In: nothing. Out: a word.
//
// Only the library itself sees it; other users in the process have the system's. Source: getrandom(2).
#include <cstdint>
#include <cstdlib>

#include "base/whole_io.hpp"

extern "C" [[gnu::visibility("hidden")]] uint32_t arc4random() noexcept;

extern "C" uint32_t arc4random() noexcept {
  uint32_t word = 0;
  if (!tilegpu::random_bytes(&word, sizeof word)) std::abort();  // a kernel without it does not run this library
  return word;
}
