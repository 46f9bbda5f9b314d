// shader/jit/compile_request.cpp -- see compile_request.hpp. In: values, errors. Out: answers.
#include "shader/jit/compile_request.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cassert>

namespace tilegpu::shader {
namespace {

constexpr uint32_t kProtocol = 1;

}  // namespace

std::string build_of_compiler(const std::string& library) {
  Dl_info info{};
  struct stat s{};
  const char* path = library.c_str();
  if (library.empty() && dladdr(reinterpret_cast<const void*>(&build_of_compiler), &info) && info.dli_fname) path = info.dli_fname;
  if (stat(path, &s) != 0) return "";
  return std::to_string(kProtocol) + "." + std::to_string(s.st_size) + "." + std::to_string(s.st_mtim.tv_sec) + "." +
         std::to_string(s.st_mtim.tv_nsec);
}

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
