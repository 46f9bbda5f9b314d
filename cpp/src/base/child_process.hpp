// base/child_process.hpp -- a program that is asked and answers, and may crash, hang or eat memory without harm to who asks.
//
// In: a program, requests. Out: its answers, or what became of it. The two share a socket and nothing else: no other descriptor (0, 1 and 2
// are /dev/null), no signal of the terminal (a process group of its own). The child ends when the socket's other end is gone, however this
// process ended. Requests are numbered, and answers have their request's number: what a child sends beside an answer is never taken for
// the next one. Source: posix_spawn(3), pidfd_open(2), clock_getcpuclockid(3).
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
/// Of a request, and of an answer.
inline constexpr uint64_t kMaxMessage_B = 256ull << 20;
/// What a child may take by the clock: so many times its limit of processor time.
inline constexpr double kClockOverProcessor = 4;

class ChildProcess {
 public:
  static Expected<std::unique_ptr<ChildProcess>> start(const std::string& program, const std::vector<std::string>& arguments);
  /// Ends it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  enum class Outcome : uint8_t {
    answered,
    ended,              // without an answer; ended() says how. All that follow: the child was ended
    garbled,            // what it sent is no answer to this request
    too_long,           // it has had its processor time
    too_long_by_clock,  // it has not, but kClockOverProcessor times as much has gone by
    stopped             // `goes_on` said so
  };
  /// One at a time; no request after an outcome other than `answered`. `limit_s`: of its processor time. `goes_on` (or null) and the limits
  /// are looked at every few milliseconds, whatever the child does. The request has at most kMaxMessage_B.
  Outcome call(std::string_view request, std::string& answer, double limit_s, bool (*goes_on)());
  struct Ending {
    std::string text;  // "signal 11 (Segmentation fault)", "exit code 1"
    int code = -1, signal = -1;
  };
  /// Once call() has said Outcome::ended.
  Ending ended();
  /// The process that started it is this one, not a child of it by fork, and nobody has closed the socket, so that its number may be
  /// another file's.
  bool is_ours() const;

 private:
  ChildProcess() = default;
  void kill_and_wait(int& status);
  double processor_s() const;
  int pid_ = -1, pidfd_ = -1, socket_ = -1, owner_ = -1;
  uint64_t pidfd_inode_ = 0, socket_inode_ = 0;  // numbers of descriptors may be other files' by now
  uint64_t requests_ = 0;
};

/// For the child: the other end. SIGPIPE is its own affair.
class ParentSocket {
 public:
  explicit ParentSocket(int socket) : socket_(socket) {}
  /// False: the other end is gone.
  bool read(std::string& request);
  /// To the last request, once. False: the other end is gone.
  bool write(std::string_view answer);

 private:
  int socket_;
  uint64_t number_ = 0;
};

}  // namespace tilegpu
