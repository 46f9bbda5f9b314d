// shader/jit/deep_frame.hpp -- quick code of large functions: a frame that a thread's stack may not hold.
//
// In: a module, the object that became of it. Out: its function behind one that asks first how much stack is left. Code that is made
// without optimising gives each value a place of its own: 40,000 vectors of 16 lanes are 2.6 MB, which a usual thread's 8 MB hold. A thread
// that has less waits for one that was made for the call. Source: docs/decisions.md, 500.
#pragma once

#include <llvm-c/Core.h>

#include <cstdint>
#include <string>

namespace tilegpu::shader {

/// Of quick code, all its functions together.
inline constexpr uint64_t kMaxDeepFrame_B = uint64_t{16} << 20;

inline constexpr const char* kRunDeep = "tilegpu_run_deep";
/// What the function in front calls: `call(arguments)` where `frame_B` are left.
void run_deep(void (*call)(void*), void* arguments, uint64_t frame_B);

/// After all passes: the function becomes another's, which has its name and calls it by kRunDeep.
void put_behind_deep_entry(LLVMModuleRef module, LLVMValueRef function);
/// Writes into the object what its functions need. False: it has no place for that, or more than one.
bool set_deep_frame(std::string& object, uint64_t frame_B);

}  // namespace tilegpu::shader
