// base/keeper.cpp -- see keeper.hpp. In: places, orders. Out: workers, reports.
#include "base/keeper.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/whole_io.hpp"

namespace tilegpu {
namespace {

struct Place {
  int requests = -1, orders = -1;
  std::vector<std::string> arguments;
  pid_t worker = -1;
  bool wants_another = false, is_gone = false;  // once its worker has ended; nobody is at the other end
};

class Keeper {
 public:
  using Work = std::function<int(const std::vector<std::string>&)>;
  explicit Keeper(const Work& work) : work_(work) {}
  [[noreturn]] void run();

 private:
  void receive_place();
  void receive_order(Place& place);
  void start(Place& place);
  void see_ends();
  void report(Place& place, Report::Kind kind, int value);
  [[noreturn]] void be_worker(const Place& place, pid_t keeper);

  const Work& work_;
  std::vector<Place> places_;
  sigset_t before_{};  // its signal mask
};

void wake(int) {}

void kill_worker(const Place& place) {
  if (place.worker > 0) kill(place.worker, SIGKILL);  // its number is nobody else's before see_ends()
}

void Keeper::report(Place& place, Report::Kind kind, int value) {
  const Report said{kind, value};
  place.is_gone |= send(place.orders, &said, sizeof said, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof said;
}

void Keeper::be_worker(const Place& place, pid_t keeper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(0);  // it was killed before it could be said
  if (dup2(place.requests, kChildSocket) < 0 || close_range(kChildSocket + 1, ~0u, 0) != 0) _exit(1);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  const std::vector<std::string> arguments = place.arguments;
  std::exit(work_(arguments));
}

void Keeper::start(Place& place) {
  assert(place.worker < 0);
  place.wants_another = false;
  // What is left of a request that the last worker did not read to its end. The program sends no other before this one is reported.
  char rest[1 << 16];
  while (uninterrupted([&] { return recv(place.requests, rest, sizeof rest, MSG_DONTWAIT); }) > 0) {
  }
  const pid_t keeper = getpid();
  const pid_t worker = fork();
  if (worker == 0) be_worker(place, keeper);
  if (worker < 0) return report(place, Report::not_started, errno);
  place.worker = worker;
  report(place, Report::started, worker);
}

void Keeper::see_ends() {
  int status = 0;
  for (pid_t ended; (ended = uninterrupted([&] { return waitpid(-1, &status, WNOHANG); })) > 0;)
    for (Place& place : places_)
      if (place.worker == ended) {
        place.worker = -1;
        report(place, Report::ended, status);
        if (place.wants_another && !place.is_gone) start(place);
        break;
      }
  for (Place& place : places_) {
    if (!place.is_gone) continue;
    kill_worker(place);
    if (place.worker < 0) close(place.requests), close(place.orders);
  }
  std::erase_if(places_, [](const Place& place) { return place.is_gone && place.worker < 0; });
}

/// The program is gone: it says no other way.
[[noreturn]] void leave(const std::vector<Place>& places) {
  for (const Place& place : places) kill_worker(place);
  while (uninterrupted([] { return waitpid(-1, nullptr, 0); }) > 0) {
  }
  _exit(0);
}

void Keeper::receive_place() {
  char text[kMaxArguments_B];
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  iovec bytes{text, sizeof text};
  msghdr message{};
  message.msg_iov = &bytes, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  const ssize_t size_B = uninterrupted([&] { return recvmsg(kChildSocket, &message, MSG_CMSG_CLOEXEC); });
  if (size_B <= 0) leave(places_);
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  int sockets[2] = {-1, -1};
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
    std::memcpy(sockets, CMSG_DATA(head), std::min<size_t>(sizeof sockets, head->cmsg_len - CMSG_LEN(0)));
  if (sockets[0] < 0 || sockets[1] < 0) {  // no number was left for both; the other ends see that these are closed
    if (sockets[0] >= 0) close(sockets[0]);
    return;
  }
  Place place;
  place.requests = sockets[0], place.orders = sockets[1];
  for (const char* at = text; at < text + size_B; at += place.arguments.back().size() + 1)
    place.arguments.emplace_back(at, strnlen(at, static_cast<size_t>(text + size_B - at)));
  places_.push_back(std::move(place));
}

void Keeper::receive_order(Place& place) {
  Order order{};
  const ssize_t size_B = uninterrupted([&] { return recv(place.orders, &order, sizeof order, MSG_DONTWAIT); });
  if (size_B != sizeof order) {
    place.is_gone |= size_B >= 0 || errno != EAGAIN;
    return;
  }
  kill_worker(place);
  if (order == Order::start && place.worker > 0) place.wants_another = true;
  if (order == Order::start && place.worker < 0) start(place);
}

void Keeper::run() {
  // A worker's end is seen while this process waits, and at no other time.
  sigset_t children;
  sigemptyset(&children), sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, &before_);
  struct sigaction action{};
  action.sa_handler = wake;
  sigaction(SIGCHLD, &action, nullptr);
  std::vector<pollfd> waits;
  for (;;) {
    see_ends();
    waits.assign(1, {kChildSocket, POLLIN, 0});
    for (const Place& place : places_) waits.push_back({place.is_gone ? -1 : place.orders, POLLIN, 0});
    if (ppoll(waits.data(), waits.size(), nullptr, &before_) < 0) continue;  // a worker has ended
    for (size_t k = 1; k < waits.size(); ++k)
      if (waits[k].revents) receive_order(places_[k - 1]);
    if (waits[0].revents) receive_place();
  }
}

}  // namespace

void keep_workers(const std::function<int(const std::vector<std::string>&)>& work) {
  assert(work);
  int type = 0;
  socklen_t size_B = sizeof type;
  if (getsockopt(kChildSocket, SOL_SOCKET, SO_TYPE, &type, &size_B) == 0 && type == SOCK_SEQPACKET) Keeper(work).run();
}

}  // namespace tilegpu
