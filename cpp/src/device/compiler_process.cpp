// device/compiler_process.cpp -- the program tilegpu-compiler: a compiler that may crash, hang and run out of memory.
//
// In: requests over sockets. Out: answers. A keeper (base/keeper.hpp), and its workers, which do all that there is to do, and end when the
// other end of the socket is gone, whatever they do just then. A worker has no memory beyond its limit, leaves no core file, and says by
// its exit code when it found no memory. Its time is watched by who asks. Source: docs/decisions.md, 181 and 505.
#include "tilegpu/compiler_process.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "base/host_memory.hpp"
#include "base/keeper.hpp"
#include "base/large_stack.hpp"
#include "device/compiler_requests.hpp"
#include "shader/jit/build_identity.hpp"
#include "shader/jit/compile_request.hpp"
#include "shader/jit/llvm_memory.hpp"
#include "shader/jit/object_answer.hpp"

namespace tilegpu {
namespace {

constexpr size_t kStack_B = size_t{256} << 20;  // of what compiles: glslang and LLVM call themselves as deep as a shader nests
constexpr uint64_t kGrownPart = 4;              // of its memory that a process may keep between requests

uint64_t address_space_B() {
  uint64_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    unsigned long long first = 0;
    if (std::fscanf(file, "%llu", &first) == 1) pages = first;
    std::fclose(file);
  }
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void cannot_start(const char* why) {
  std::fprintf(stderr, "tilegpu-compiler: %s\n", why);
  _exit(shader::kExitCannotStart);
}

/// Of the process, for good, and never more than it was started with: then what it ends with where there is no memory.
int exit_without_memory = shader::kExitNoMemory;

bool limit_memory(uint64_t limit_B) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
  rlimit space{};
  const uint64_t now_B = address_space_B();
  if (now_B == 0 || getrlimit(RLIMIT_AS, &space) != 0) return false;
  if (space.rlim_cur < now_B + limit_B)
    exit_without_memory = shader::kExitLowLimit;
  else
    space.rlim_cur = now_B + limit_B;
  space.rlim_max = space.rlim_cur;
  return setrlimit(RLIMIT_AS, &space) == 0;
#else
  (void)limit_B;
  return true;
#endif
}

[[noreturn]] void no_memory() { _exit(exit_without_memory); }

ParentSocket parent(kChildSocket);

/// LLVM's last words, in place of abort().
void fatal(const char* reason) {
  const Expected<std::string> answer = Error{VK_ERROR_INVALID_SHADER_NV, std::string("LLVM gave up: ") + reason};
  parent.write(shader::kHasGrown + shader::write_answer(answer));
  _exit(1);
}

std::string answer_to(const std::string& message) {
  MessageReader request(message);
  switch (static_cast<shader::CompileRequest>(request.number<uint32_t>())) {
    case shader::CompileRequest::object:
      return shader::write_answer(shader::answer_object_request(request));
    case shader::CompileRequest::glsl:
      return device::answer_glsl_request(request);
    case shader::CompileRequest::module:
      return device::answer_module_request(request);
  }
  return shader::write_answer(Error{VK_ERROR_UNKNOWN, "the compiler's process got a request that it does not know"});
}

void answer_requests(uint64_t limit_B) {
  const uint64_t before_B = address_space_B();
  if (!limit_memory(limit_B)) cannot_start("its memory can't be limited: /proc/self/statm or RLIMIT_AS");
  for (std::string message; parent.read(message);) {
    std::string answer = answer_to(message);
    answer.insert(answer.begin(), address_space_B() > before_B + limit_B / kGrownPart ? shader::kHasGrown : shader::kStaysFresh);
    if (!parent.write(answer)) break;
  }
}

}  // namespace

int run_compiler_process(int count, const char* const*) {
  const auto is_not_asked = [] {
    std::fprintf(stderr, "tilegpu-compiler is started by devices that compile in a process of their own (isolate_compiler)\n");
    return 2;
  };
  if (count != 2) return is_not_asked();
  if (chdir("/") != 0) cannot_start("the root folder can't be entered");  // no folder is kept busy, and relative names mean nothing here
  const auto work = [](const std::vector<std::string>& asked) {
    if (asked.size() != 2) return shader::kExitOtherBuild;
    if (shader::build_identity() != asked[1]) return shader::kExitOtherBuild;
    const uint64_t limit_B = std::strtoull(asked[0].c_str(), nullptr, 10);
    signal(SIGPIPE, SIG_IGN);
    std::set_new_handler(no_memory);
    shader::install_memory_handler(no_memory);
    shader::install_fatal_handler(fatal);
    expect_memory_limit();
    // Once the address space is limited, none of this size could be had.
    on_large_stack(kStack_B, [limit_B] { answer_requests(limit_B); });
    return 0;
  };
  keep_workers(work);
  return is_not_asked();
}

}  // namespace tilegpu
