// shader/jit/code_memory.hpp -- where generated functions live: objects of LLVM's are placed, relocated and made executable.
//
// In: an ELF object as LLVM makes it for this processor for one function (position-independent, small code model). Out: the function's
// address, valid for the life of the CodeMemory. LLVM's own linkers cost 70 microseconds a function, a general one's graph of symbols and
// blocks; these objects have one function, its constants, and nothing that anybody else refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilegpu/fork_mutex.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::shader {

class CodeMemory {
 public:
  CodeMemory() = default;
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  /// Any thread. What the object may call: core_functions.hpp.
  Expected<void*> place(const std::string& object, const std::string& function);

 private:
  Expected<uint8_t*> take_pages(size_t size_B);

  struct Chunk {
    uint8_t* start;
    size_t size_B;
  };
  ForkMutex mutex_;
  std::vector<Chunk> chunks_;
  uint8_t* next_ = nullptr;  // in the last chunk
  size_t left_B_ = 0;
};

}  // namespace tilegpu::shader
