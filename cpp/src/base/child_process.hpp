// base/child_process.hpp -- a program that is asked and answers, and may crash, hang or eat memory without harm to who asks.
//
// In: a program, requests. Out: its answers, or what became of it. The two share a socket and nothing else: no other descriptor, no signal
// of the terminal (a process group of its own). The child ends when the socket's other end is gone, however this process ended.
// Source: posix_spawn(3), pidfd_open(2), clock_getcpuclockid(3).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu {

/// Of the child: where its end of the socket is.
inline constexpr int kChildSocket = 3;

class ChildProcess {
 public:
  static Expected<std::unique_ptr<ChildProcess>> start(const std::string& program, const std::vector<std::string>& arguments);
  /// Ends it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  enum class Outcome : uint8_t {
    answered,
    ended,     // without an answer; ended() says how
    too_long,  // and was ended
    stopped    // `goes_on` said so; and was ended
  };
  /// One at a time. `limit_s`: of its processor time; where it waits for something, of four times as much by the clock. `goes_on` is asked
  /// every few milliseconds.
  Outcome call(std::string_view request, std::string& answer, double limit_s, bool (*goes_on)());
  /// Once call() has said Outcome::ended: "signal 11 (Segmentation fault)", or its exit code in `code`.
  std::string ended(int& code);
  /// The process that started it is this one: not a child of it by fork, which has a copy of the socket.
  bool is_ours() const;

 private:
  ChildProcess() = default;
  void kill_and_wait(int& status);
  double processor_s() const;
  int pid_ = -1, pidfd_ = -1, socket_ = -1, owner_ = -1;
};

/// For the child: messages as call() exchanges them. Empty requests: the other end is gone.
bool read_message(int socket, std::string& message);
bool write_message(int socket, std::string_view message);

}  // namespace tilegpu
