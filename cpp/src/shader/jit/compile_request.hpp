// shader/jit/compile_request.hpp -- what both ends of the socket to a compiler in a process of its own have to know.
//
// In: a request's bytes. Out: an answer's. The requests for objects are object_request.hpp's and object_answer.hpp's, those for GLSL and
// modules device/compiler_requests.hpp's.
#pragma once

#include <string>

#include "base/message.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// The first number of a request.
enum class CompileRequest : uint32_t { object, glsl, module };

/// The first byte of an answer: whether the process takes another request.
inline constexpr char kStaysFresh = 1, kHasGrown = 2;
/// How the process ends by itself. Without memory: beyond the device's limit, or beyond one that the process was started with (ulimit -v).
inline constexpr int kExitNoMemory = 82, kExitOtherBuild = 83, kExitLowLimit = 84, kExitCannotStart = 85;

/// Answers: a value, or an error.
std::string write_answer(Expected<std::string> answer);
Expected<std::string> read_answer(const std::string& bytes);

}  // namespace tilegpu::shader
