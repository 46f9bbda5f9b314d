// base/child_process.hpp -- a program that is asked and answers, and may crash, hang or eat memory without harm to who asks.
//
// In: a program, requests. Out: its answers, or what became of it. What works is no child of this process, but a worker of a keeper
// (keeper.hpp), which tells how it ended. It shares a socket with this process and nothing else: no other descriptor (0, 1 and 2
// are /dev/null), no signal of the terminal (a process group of its own). Both end when the socket's other end is gone, however this
// process ended. Requests are numbered, and answers have their request's number: what a worker sends beside an answer is never taken for
// the next one. Source: clock_getcpuclockid(3), pidfd_open(2); docs/decisions.md, 505.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/keeper.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu {

/// Of a request, and of an answer.
inline constexpr uint64_t kMaxMessage_B = 256ull << 20;
/// What a child may take by the clock: so many times its limit of processor time.
inline constexpr double kClockOverProcessor = 4;

struct KeeperProcess;

class ChildProcess {
 public:
  /// The program calls keep_workers(), whose worker gets the arguments.
  static Expected<std::unique_ptr<ChildProcess>> start(const std::string& program, const std::vector<std::string>& arguments);
  /// Ends it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;

  enum class Outcome : uint8_t {
    answered,
    ended,              // without an answer; ended() says how. All that follow: the worker was ended
    garbled,            // what it sent is no answer to this request
    too_long,           // it has had its processor time
    too_long_by_clock,  // it has not, but kClockOverProcessor times as much has gone by
    stopped             // `goes_on` said so
  };
  /// One at a time, while serves(). After an outcome other than `answered` the next one has another worker. `limit_s`: of its processor
  /// time. `goes_on` (or null) and the limits are looked at every few milliseconds, whatever the worker does. The request has at most
  /// kMaxMessage_B.
  Outcome call(std::string_view request, std::string& answer, double limit_s, bool (*goes_on)());
  struct Ending {
    std::string text;  // "signal 11 (Segmentation fault)", "exit code 1"
    int code = -1, signal = -1;
    int not_started = 0;       // errno: there is no worker to be had
    bool never_ready = false;  // the program had no worker yet: a library that it wants is missing, or it was killed at once
  };
  /// Once call() has said Outcome::ended.
  const Ending& ended() const { return ending_; }
  /// The next request is a new worker's.
  void renew();
  /// The process that started it is this one, not a child of it by fork, and nobody has closed the sockets, so that their numbers may be
  /// other files'; and the keeper is there.
  bool serves() const;
  /// Of `errno`: the program has no process.
  static Error no_process(const std::string& program, int because);

 private:
  ChildProcess() = default;
  class Call;
  struct Socket {
    int descriptor = -1;
    uint64_t inode = 0;  // the number may be another file's by now
  };
  bool is_ours() const;
  bool order(Order order) const;
  bool read_report(Report& report);
  void note(const Report& report);
  void take_worker_back();
  double processor_s() const;
  Socket requests_, orders_;
  std::shared_ptr<KeeperProcess> keeper_;
  int owner_ = -1, worker_ = -1;              // numbers of processes; of no worker -1
  bool is_coming_ = false, is_lost_ = false;  // a worker was ordered; the keeper is gone, or has no word for us
  Ending ending_;
  uint64_t requests_sent_ = 0;
};

/// For the worker: the other end. SIGPIPE is its own affair.
class ParentSocket {
 public:
  explicit ParentSocket(int socket) : socket_(socket) {}
  /// False: the other end is gone.
  bool read(std::string& request);
  /// To the last request, once. False: the other end is gone.
  bool write(std::string_view answer);
  /// The last request's.
  uint64_t number() const { return number_; }

 private:
  int socket_;
  uint64_t number_ = 0;
};

}  // namespace tilegpu
