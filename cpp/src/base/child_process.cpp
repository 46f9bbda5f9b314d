// base/child_process.cpp -- see child_process.hpp. In: a program, requests. Out: answers.
#include "base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>

#include "base/whole_io.hpp"

extern char** environ;

namespace tilegpu {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

/// Before each request and each answer. The program is of the same build.
struct Header {
  uint64_t size_B = 0, number = 0;
};

/// What a descriptor leads to. Programs close descriptors that they do not know, as daemons do, and then the number is another file's.
ino_t inode_of(int descriptor) {
  struct stat status{};
  return descriptor >= 0 && fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

/// Descriptors of this process, with what they led to, which a child by fork closes: as long as somebody has a socket open, the program at
/// its other end lives.
struct Descriptors {
  std::mutex mutex;
  std::map<int, ino_t> open;
  uint64_t add(int descriptor) {
    std::lock_guard lock(mutex);
    return open[descriptor] = inode_of(descriptor);
  }
  /// `inode`: what add() gave. Another process may have got the number since.
  bool is_still(int descriptor, uint64_t inode) {
    std::lock_guard lock(mutex);
    const auto found = open.find(descriptor);
    return found != open.end() && found->second == inode && inode_of(descriptor) == inode;
  }
  void end(int descriptor, uint64_t inode) {
    std::lock_guard lock(mutex);
    const auto found = open.find(descriptor);
    if (found == open.end() || found->second != inode) return;  // a child by fork has closed it, or somebody else
    if (inode_of(descriptor) == inode) close(descriptor);
    open.erase(found);
  }
};
Descriptors& descriptors() {
  static Descriptors* d = new Descriptors;  // never destroyed: threads may outlive static objects
  return *d;
}

/// As the library is loaded, before any other handler of forks is asked for: the last one is the first that is called, and those of
/// background crews wait for tasks, which start processes. With this lock taken before, each would wait for the other.
[[gnu::constructor]] void prepare_forks() {
  pthread_atfork([] { descriptors().mutex.lock(); }, [] { descriptors().mutex.unlock(); },
                 [] {
                   for (const auto& [descriptor, inode] : descriptors().open)
                     if (inode == inode_of(descriptor)) close(descriptor);
                   descriptors().open.clear();
                   descriptors().mutex.unlock();
                 });
}

Error no_process(const std::string& program, int because) {
  const std::string text = program + " can't be started: " + std::strerror(because);
  if (because == EMFILE || because == ENFILE) return {VK_ERROR_TOO_MANY_OBJECTS, text + "; close files or raise the limit (ulimit -n)"};
  if (because == EAGAIN) return {VK_ERROR_OUT_OF_HOST_MEMORY, text + "; end other processes or raise the limit (ulimit -u)"};
  if (because == ENOMEM) return {VK_ERROR_OUT_OF_HOST_MEMORY, text + "; end other processes"};
  return {VK_ERROR_INITIALIZATION_FAILED, text};
}

}  // namespace

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_process(program, errno);
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->socket_ = ends[0], child->owner_ = getpid();
  child->socket_inode_ = descriptors().add(ends[0]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], kChildSocket);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose reports are wanted
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
#endif
  posix_spawn_file_actions_addclosefrom_np(&actions, kChildSocket + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none), sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const int failed = posix_spawn(&child->pid_, program.c_str(), &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed) {
    child->pid_ = -1;
    return no_process(program, failed);
  }
  child->pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, child->pid_, 0));  // its number may be another's once somebody has waited for it
  if (child->pidfd_ >= 0) child->pidfd_inode_ = descriptors().add(child->pidfd_);
  return child;
}

bool ChildProcess::is_ours() const { return owner_ == getpid() && descriptors().is_still(socket_, socket_inode_); }

void ChildProcess::kill_and_wait(int& status) {
  status = -1;
  if (pid_ < 0) return;
  if (pidfd_ >= 0 && descriptors().is_still(pidfd_, pidfd_inode_))
    syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
  else
    kill(pid_, SIGKILL);
  int found = 0;
  const pid_t who = uninterrupted([&] { return waitpid(pid_, &found, 0); });
  if (who == pid_) status = found;  // else the program has waited for it, or wants no such news (SIGCHLD ignored)
  pid_ = -1;
}

ChildProcess::~ChildProcess() {
  int status;
  if (owner_ != getpid()) return;  // of whoever forked
  descriptors().end(socket_, socket_inode_);
  kill_and_wait(status);
  if (pidfd_ >= 0) descriptors().end(pidfd_, pidfd_inode_);
}

double ChildProcess::processor_s() const {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

ChildProcess::Outcome ChildProcess::call(std::string_view request, std::string& answer, double limit_s, bool (*goes_on)()) {
  assert(is_ours() && pid_ > 0 && limit_s > 0 && !request.empty() && request.size() <= kMaxMessage_B);
  using Clock = std::chrono::steady_clock;
  const double processor_before_s = processor_s();
  const Clock::time_point start = Clock::now();
  Clock::time_point looked = start;
  const auto give_up = [&](Outcome outcome) {
    int status;
    kill_and_wait(status);
    return outcome;
  };
  const Header asked{request.size(), ++requests_};
  Header answered;
  size_t sent_B = 0, got_B = 0;  // headers included
  const auto sends = [&] { return sent_B < sizeof asked + request.size(); };
  const auto send_more = [&] {
    const bool in_header = sent_B < sizeof asked;
    const char* from = in_header ? reinterpret_cast<const char*>(&asked) + sent_B : request.data() + (sent_B - sizeof asked);
    return send(socket_, from, (in_header ? sizeof asked : sizeof asked + request.size()) - sent_B,
                MSG_NOSIGNAL | (in_header ? MSG_MORE : 0));
  };
  const auto receive_more = [&] {
    const bool in_header = got_B < sizeof answered;
    char* to = in_header ? reinterpret_cast<char*>(&answered) + got_B : answer.data() + (got_B - sizeof answered);
    return recv(socket_, to, (in_header ? sizeof answered : sizeof answered + answer.size()) - got_B, 0);
  };
  // It was made in time, if this process was stopped meanwhile (SIGSTOP).
  const auto answer_waits = [&] {
    pollfd waits{socket_, POLLIN, 0};
    return poll(&waits, 1, 0) > 0 && waits.revents & POLLIN;
  };
  const auto failed = [](ssize_t count) { return count < 0 && errno != EINTR && errno != EAGAIN; };
  for (;;) {
    pollfd ready{socket_, static_cast<short>(sends() ? POLLIN | POLLOUT : POLLIN), 0};
    const int n = poll(&ready, 1, static_cast<int>(kPoll.count()));
    // By the clock, not because nothing came: a child may send a byte now and then for as long as it likes.
    if (const Clock::time_point now = Clock::now(); n == 0 || now - looked >= kPoll) {
      looked = now;
      if (goes_on && !goes_on()) return give_up(Outcome::stopped);
      if (processor_s() - processor_before_s > limit_s) return give_up(Outcome::too_long);
      const bool is_late = std::chrono::duration<double>(now - start).count() > kClockOverProcessor * limit_s;
      if (is_late && !(got_B == 0 && answer_waits())) return give_up(Outcome::too_long_by_clock);
    }
    if (n <= 0) continue;
    if (ready.revents & POLLOUT) {
      const ssize_t count = send_more();
      if (failed(count)) return Outcome::ended;
      if (count > 0) sent_B += static_cast<size_t>(count);
    }
    if (!(ready.revents & (POLLIN | POLLHUP | POLLERR))) continue;
    const ssize_t count = receive_more();
    if (count == 0 || failed(count)) return Outcome::ended;
    if (count > 0) got_B += static_cast<size_t>(count);
    if (got_B == sizeof answered) {
      if (answered.number != requests_ || answered.size_B == 0 || answered.size_B > kMaxMessage_B) return give_up(Outcome::garbled);
      answer.assign(answered.size_B, '\0');
    } else if (got_B == sizeof answered + answer.size()) {
      // Who answers what was not asked to its end has lost its mind as well.
      return sends() ? give_up(Outcome::garbled) : Outcome::answered;
    }
  }
}

ChildProcess::Ending ChildProcess::ended() {
  // It may still be on its way: what it did last was to close the socket.
  if (pid_ > 0) {
    siginfo_t info{};
    for (int k = 0; k < 500 && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && !info.si_pid; ++k)
      poll(nullptr, 0, 2);
  }
  int status;
  kill_and_wait(status);
  if (status == -1) return {"an end that nobody has seen"};
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = strsignal(signal);
    return {"signal " + std::to_string(signal) + " (" + (name ? name : "?") + ")", -1, signal};
  }
  const int code = WEXITSTATUS(status);
  return {"exit code " + std::to_string(code), code};
}

bool ParentSocket::read(std::string& request) {
  Header header;
  if (!read_whole(socket_, &header, sizeof header) || header.size_B > kMaxMessage_B) return false;
  number_ = header.number;
  request.resize(header.size_B);
  return read_whole(socket_, request.data(), request.size());
}

bool ParentSocket::write(std::string_view answer) {
  assert(!answer.empty());
  const Header header{answer.size(), number_};
  return write_whole(socket_, &header, sizeof header) && write_whole(socket_, answer.data(), answer.size());
}

}  // namespace tilegpu
