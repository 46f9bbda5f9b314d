// base/child_process.cpp -- see child_process.hpp. In: a program, requests. Out: answers.
#include "base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>

extern char** environ;

namespace tilegpu {
namespace {

constexpr int kPoll_ms = 20;
constexpr uint64_t kMaxMessage_B = 256ull << 20;
constexpr double kClockOverProcessor = 4;

/// Sockets of this process, which a child by fork closes: as long as somebody has them open, the programs at their other ends live.
struct Sockets {
  std::mutex mutex;
  std::set<int> open;
};
Sockets& sockets() {
  static Sockets* s = [] {
    pthread_atfork([] { sockets().mutex.lock(); }, [] { sockets().mutex.unlock(); },
                   [] {
                     for (int socket : sockets().open) close(socket);
                     sockets().open.clear();
                     sockets().mutex.unlock();
                   });
    return new Sockets;  // never destroyed: threads may outlive static objects
  }();
  return *s;
}

Error no_process(const std::string& program, int because) {
  return {VK_ERROR_INITIALIZATION_FAILED, program + " can't be started: " + std::strerror(because)};
}

}  // namespace

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return no_process(program, errno);
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->socket_ = ends[0], child->owner_ = getpid();
  {
    std::lock_guard lock(sockets().mutex);
    sockets().open.insert(ends[0]);
  }
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
  return child;
}

bool ChildProcess::is_ours() const { return owner_ == getpid(); }

void ChildProcess::kill_and_wait(int& status) {
  status = -1;
  if (pid_ < 0) return;
  if (pidfd_ >= 0)
    syscall(SYS_pidfd_send_signal, pidfd_, SIGKILL, nullptr, 0);
  else
    kill(pid_, SIGKILL);
  int found = 0;
  pid_t who;
  do who = waitpid(pid_, &found, 0);
  while (who < 0 && errno == EINTR);
  if (who == pid_) status = found;  // else the program has waited for it, or wants no such news (SIGCHLD ignored)
  pid_ = -1;
}

ChildProcess::~ChildProcess() {
  int status;
  if (is_ours()) {
    {
      std::lock_guard lock(sockets().mutex);
      if (sockets().open.erase(socket_)) close(socket_);
    }
    kill_and_wait(status);
  }
  if (pidfd_ >= 0) close(pidfd_);
}

double ChildProcess::processor_s() const {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

ChildProcess::Outcome ChildProcess::call(std::string_view request, std::string& answer, double limit_s, bool (*goes_on)()) {
  assert(is_ours() && pid_ > 0 && limit_s > 0);
  using Clock = std::chrono::steady_clock;
  const double processor_before_s = processor_s();
  const Clock::time_point start = Clock::now();
  const auto give_up = [&](Outcome outcome) {
    int status;
    kill_and_wait(status);
    return outcome;
  };
  const uint64_t request_B = request.size();
  std::string out(reinterpret_cast<const char*>(&request_B), sizeof request_B);
  out += request;
  size_t sent_B = 0, got_B = 0;
  uint64_t answer_B = 0;
  answer.assign(sizeof answer_B, '\0');  // its size first
  for (;;) {
    pollfd ready{socket_, static_cast<short>(sent_B < out.size() ? POLLIN | POLLOUT : POLLIN), 0};
    const int n = poll(&ready, 1, kPoll_ms);
    if (n < 0 && errno != EINTR) return Outcome::ended;
    if (n <= 0) {
      if (goes_on && !goes_on()) return give_up(Outcome::stopped);
      const double clock_s = std::chrono::duration<double>(Clock::now() - start).count();
      if (processor_s() - processor_before_s > limit_s || clock_s > kClockOverProcessor * limit_s) return give_up(Outcome::too_long);
      continue;
    }
    if (ready.revents & POLLOUT) {
      const ssize_t count = send(socket_, out.data() + sent_B, out.size() - sent_B, MSG_NOSIGNAL);
      if (count < 0 && errno != EINTR && errno != EAGAIN) return Outcome::ended;
      if (count > 0) sent_B += static_cast<size_t>(count);
    }
    if (!(ready.revents & (POLLIN | POLLHUP | POLLERR))) continue;
    const ssize_t count = recv(socket_, answer.data() + got_B, answer.size() - got_B, 0);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return Outcome::ended;
    if (count > 0) got_B += static_cast<size_t>(count);
    if (got_B < answer.size()) continue;
    if (answer_B) return Outcome::answered;
    std::memcpy(&answer_B, answer.data(), sizeof answer_B);
    if (answer_B == 0 || answer_B > kMaxMessage_B) return Outcome::ended;
    answer.assign(answer_B, '\0');
    got_B = 0;
  }
}

std::string ChildProcess::ended(int& code) {
  // It may still be on its way: what it did last was to close the socket.
  code = -1;
  if (pid_ > 0) {
    siginfo_t info{};
    for (int k = 0; k < 500 && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && !info.si_pid; ++k)
      poll(nullptr, 0, 2);
  }
  int status;
  kill_and_wait(status);
  if (status == -1) return "an end that nobody has seen";
  if (WIFSIGNALED(status)) {
    const char* name = strsignal(WTERMSIG(status));
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + (name ? name : "?") + ")";
  }
  code = WEXITSTATUS(status);
  return "exit code " + std::to_string(code);
}

bool read_message(int socket, std::string& message) {
  const auto read_all = [socket](char* at, size_t size_B) {
    while (size_B) {
      const ssize_t n = recv(socket, at, size_B, 0);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n, size_B -= static_cast<size_t>(n);
    }
    return true;
  };
  uint64_t size_B = 0;
  if (!read_all(reinterpret_cast<char*>(&size_B), sizeof size_B) || size_B > kMaxMessage_B) return false;
  message.resize(size_B);
  return read_all(message.data(), size_B);
}

bool write_message(int socket, std::string_view message) {
  assert(!message.empty());
  const uint64_t size_B = message.size();
  std::string out(reinterpret_cast<const char*>(&size_B), sizeof size_B);
  out += message;
  for (size_t at = 0; at < out.size();) {
    const ssize_t n = send(socket, out.data() + at, out.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

}  // namespace tilegpu
