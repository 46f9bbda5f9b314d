// shader/jit/compile_request.hpp -- what both ends of the socket to a compiler in a process of its own have to know.
//
// In: a request's bytes. Out: an answer's. The requests for objects are object_request.hpp's, those for GLSL and modules
// device/compiler_requests.hpp's.
#pragma once

#include <string>

#include "base/message.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// The first number of a request.
enum class CompileRequest : uint32_t { object, glsl, module };

/// The first byte of an answer: whether the process takes another request.
inline constexpr char kStaysFresh = 1, kHasGrown = 2;
inline constexpr int kExitNoMemory = 82, kExitOtherBuild = 83;

/// Of the library that this code is in, or of another file: both ends of the socket must have the same, or they were not built together.
std::string build_of_compiler(const std::string& library = "");

/// In the other process: the object of an object request, behind its kind.
Expected<std::string> answer_object_request(MessageReader& request);

/// Answers: a value, or an error.
std::string write_answer(Expected<std::string> answer);
Expected<std::string> read_answer(const std::string& bytes);

}  // namespace tilegpu::shader
