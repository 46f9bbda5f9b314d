// shader/jit/compile_request.cpp -- see compile_request.hpp. In: values, errors. Out: answers.
#include "shader/jit/compile_request.hpp"

#include <cassert>

namespace tilegpu::shader {

std::string write_answer(Expected<std::string> answer) {
  assert(answer || answer.error().code < 0);  // what the other side takes for an answer
  MessageWriter out;
  if (answer) {
    out.number(uint32_t{0}).text(*answer);
  } else {
    out.number(uint32_t{1}).number(static_cast<int32_t>(answer.error().code)).text(answer.error().message);
  }
  return std::move(out.bytes);
}

Expected<std::string> read_answer(const std::string& bytes) {
  MessageReader in(bytes);
  if (in.number<uint32_t>() == 0) {
    std::string value(in.text());
    if (in.at_end()) return value;
  } else {
    const auto code = static_cast<VkResult>(in.number<int32_t>());
    std::string message(in.text());
    if (in.at_end() && code < 0) return Error{code, message};
  }
  return Error{VK_ERROR_UNKNOWN, "the compiler's process gave an answer that is none"};
}

}  // namespace tilegpu::shader
