// base/orphan.cpp -- see orphan.hpp. In: a program. Out: a process.
#include "base/orphan.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

#include "base/whole_io.hpp"

extern char** environ;

namespace tilegpu {
namespace {

constexpr size_t kStack_B = 64 << 10;  // of the process in between; posix_spawn has one of its own for what it starts
constexpr int kFirstFree = 4;          // above all numbers that the started program's descriptors get

struct Start {
  const char* program;
  const posix_spawn_file_actions_t* actions;
  const posix_spawnattr_t* attributes;
  char* const* words;
  int result;  // a socket, as emulators make this a fork, which shares no memory
};

/// The process in between. The thread that called is stopped until it ends, so that locks and thread-local data are as of that thread.
int start_and_leave(void* data) {
  const Start& start = *static_cast<const Start*>(data);
  pid_t made;
  const int failed = posix_spawn(&made, start.program, start.actions, start.attributes, start.words, environ);
  send(start.result, &failed, sizeof failed, MSG_NOSIGNAL);
  return 0;  // which ends it, without what belongs to the calling program (exit(3), or what a sanitizer does before _exit(2))
}

int in_between(Start& start) {
  void* stack = mmap(nullptr, kStack_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return ENOMEM;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // no handler of the program's runs twice
#if defined(__SANITIZE_THREAD__)
  // Its clone() notes a fork in memory that a process in between would share: by a copy of memory, past it.
  const int pid = static_cast<int>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
  if (pid == 0) syscall(SYS_exit_group, start_and_leave(&start));
#else
  char* top = static_cast<char*>(stack) + kStack_B;
  int pid = clone(start_and_leave, top, CLONE_VM | CLONE_VFORK, &start);
  if (pid < 0 && errno == EINVAL) pid = clone(start_and_leave, top, CLONE_VM | CLONE_VFORK | SIGCHLD, &start);  // of emulators
#endif
  const int failed = pid < 0 ? errno : 0;
  if (pid > 0) uninterrupted([&] { return waitpid(pid, nullptr, __WALL); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  munmap(stack, kStack_B);
  return failed;
}

/// After unshare(CLONE_NEWPID): the first child is that namespace's init, with which all in it ends, and no other can be made then.
bool children_are_elsewhere() {
  struct stat own, of_children;
  if (lstat("/proc/self/ns/pid_for_children", &of_children) != 0 || stat("/proc/self/ns/pid", &own) != 0) return false;  // gVisor, no /proc
  if (stat("/proc/self/ns/pid_for_children", &of_children) != 0) return true;  // it has no init yet
  return own.st_ino != of_children.st_ino;
}

}  // namespace

int start_orphan(const std::string& program, const std::vector<std::string>& arguments, int third) {
  assert(third >= 0);
  if (children_are_elsewhere()) return EPERM;
  const int copy = fcntl(third, F_DUPFD_CLOEXEC, kFirstFree);  // its number may be one that /dev/null gets
  int ends[2] = {-1, -1};
  int failed = 0;
  if (copy < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    failed = errno == EINVAL ? EMFILE : errno;  // kFirstFree is beyond the limit
  } else {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, copy, 3);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose reports are wanted
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
#endif
    posix_spawn_file_actions_addclosefrom_np(&actions, kFirstFree);
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
    Start start{program.c_str(), &actions, &attributes, words.data(), ends[1]};
    failed = in_between(start);
    int said = 0;
    if (!failed) failed = recv(ends[0], &said, sizeof said, MSG_DONTWAIT) == sizeof said ? said : ECHILD;  // it was killed
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  for (const int one : {copy, ends[0], ends[1]})
    if (one >= 0) close(one);
  return failed;
}

}  // namespace tilegpu
