// base/child_process.cpp -- see child_process.hpp. In: a program, requests. Out: answers.
#include "base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <utility>

#include "base/orphan.hpp"
#include "base/whole_io.hpp"

namespace tilegpu {
namespace {

constexpr std::chrono::milliseconds kPoll{20};
constexpr int kKillWait_ms = 2000;  // for a keeper's word that its worker is gone; one that has not said it was stopped itself

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
  /// No fork comes between. False: errno says why.
  bool add_pair(int type, int (&ends)[2]) {
    std::lock_guard lock(mutex);
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return false;
    for (const int one : ends) open[one] = inode_of(one);
    return true;
  }
  /// `inode`: what it led to as it was added. Another process may have got the number since.
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

/// Both ends of a pair, until somebody takes them.
struct Pair {
  int ends[2] = {-1, -1};
  uint64_t inodes[2] = {};
  bool make(int type) {
    if (!descriptors().add_pair(type, ends)) return false;
    inodes[0] = inode_of(ends[0]), inodes[1] = inode_of(ends[1]);
    return true;
  }
  void end(int side) { descriptors().end(std::exchange(ends[side], -1), inodes[side]); }
  ~Pair() {
    for (const int side : {0, 1})
      if (ends[side] >= 0) end(side);
  }
};

}  // namespace

/// The process that all workers are children of: one for each program file, with the library that it was started beside. A child by fork
/// starts its own.
struct KeeperProcess {
  Pair socket;
  int owner = -1;
  std::atomic<bool> had_worker = false;
};

namespace {

struct Keepers {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<KeeperProcess>> by_program;
};
Keepers& keepers() {
  static Keepers* k = new Keepers;
  return *k;
}

/// As the library is loaded, before any other handler of forks is asked for: the last one is the first that is called, and those of
/// background crews wait for tasks, which start processes. With these locks taken before, each would wait for the other.
[[gnu::constructor]] void prepare_forks() {
  pthread_atfork([] { keepers().mutex.lock(), descriptors().mutex.lock(); }, [] { descriptors().mutex.unlock(), keepers().mutex.unlock(); },
                 [] {
                   for (const auto& [descriptor, inode] : descriptors().open)
                     if (inode == inode_of(descriptor)) close(descriptor);
                   descriptors().open.clear();
                   descriptors().mutex.unlock();
                   keepers().by_program.clear();
                   keepers().mutex.unlock();
                 });
}

/// 0, or errno; EPIPE: the keeper is gone.
int send_place(const KeeperProcess& keeper, const std::string& arguments, int requests, int orders) {
  const int sockets[2] = {requests, orders};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof sockets)] = {};
  iovec bytes{const_cast<char*>(arguments.data()), arguments.size()};
  msghdr message{};
  message.msg_iov = &bytes, message.msg_iovlen = 1;
  message.msg_control = control, message.msg_controllen = sizeof control;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof sockets);
  std::memcpy(CMSG_DATA(head), sockets, sizeof sockets);
  const ssize_t count = uninterrupted([&] { return sendmsg(keeper.socket.ends[0], &message, MSG_NOSIGNAL | MSG_DONTWAIT); });
  return count >= 0 ? 0 : errno;
}

/// A place at a keeper that is there, or at a new one. 0, or errno.
int take_place(const std::string& program, const std::string& arguments, int requests, int orders, std::shared_ptr<KeeperProcess>& keeper) {
  std::lock_guard lock(keepers().mutex);
  std::shared_ptr<KeeperProcess>& known = keepers().by_program[program];
  const auto is_ours = [&] {
    return known && known->owner == getpid() && descriptors().is_still(known->socket.ends[0], known->socket.inodes[0]);
  };
  if (is_ours() && send_place(*known, arguments, requests, orders) == 0) return keeper = known, 0;
  auto made = std::make_shared<KeeperProcess>();
  made->owner = getpid();
  if (!made->socket.make(SOCK_SEQPACKET)) return errno;
  if (const int failed = start_orphan(program, {std::to_string(getpid())}, made->socket.ends[1])) return failed;
  made->socket.end(1);
  known = keeper = std::move(made);
  return send_place(*known, arguments, requests, orders);
}

/// One that has no word for us: the next worker is another's.
void forget(const std::shared_ptr<KeeperProcess>& keeper) {
  std::lock_guard lock(keepers().mutex);
  std::erase_if(keepers().by_program, [&](const auto& one) { return one.second == keeper; });
}

}  // namespace

Error ChildProcess::no_process(const std::string& program, int because) {
  const std::string text = program + " can't be started: " + std::strerror(because);
  if (because == EMFILE || because == ENFILE) return {VK_ERROR_TOO_MANY_OBJECTS, text + "; close files or raise the limit (ulimit -n)"};
  if (because == EAGAIN) return {VK_ERROR_OUT_OF_HOST_MEMORY, text + "; end other processes or raise the limit (ulimit -u)"};
  if (because == ENOMEM) return {VK_ERROR_OUT_OF_HOST_MEMORY, text + "; end other processes"};
  if (because == EPIPE)  // it ended before it took its place
    return {VK_ERROR_INITIALIZATION_FAILED, program + " can't be loaded; run it by hand, and it says which library is missing"};
  return {VK_ERROR_INITIALIZATION_FAILED, text};
}

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::string& program, const std::vector<std::string>& arguments) {
  std::string texts;
  for (const std::string& argument : arguments) texts.append(argument).push_back('\0');
  assert(!texts.empty() && texts.size() <= kMaxArguments_B);
  Pair requests, orders;
  if (!requests.make(SOCK_STREAM) || !orders.make(SOCK_SEQPACKET)) return no_process(program, errno);
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  if (const int failed = take_place(program, texts, requests.ends[1], orders.ends[1], child->keeper_)) return no_process(program, failed);
  for (const Pair* pair : {&requests, &orders}) fcntl(pair->ends[0], F_SETFL, O_NONBLOCK);
  child->owner_ = getpid();
  child->requests_ = {std::exchange(requests.ends[0], -1), requests.inodes[0]};
  child->orders_ = {std::exchange(orders.ends[0], -1), orders.inodes[0]};
  requests.end(1), orders.end(1);
  child->renew();
  return child;
}

bool ChildProcess::is_ours() const {
  return owner_ == getpid() && descriptors().is_still(requests_.descriptor, requests_.inode) &&
         descriptors().is_still(orders_.descriptor, orders_.inode);
}

bool ChildProcess::serves() const {
  if (is_lost_ || !is_ours()) return false;
  pollfd end{orders_.descriptor, 0, 0};
  return poll(&end, 1, 0) == 0;  // it has hung up, or not
}

ChildProcess::~ChildProcess() {
  if (owner_ != getpid()) return;  // of whoever forked
  // Not by close alone: who was forked without the handler above has these sockets open too.
  for (const Socket& socket : {orders_, requests_}) {
    if (descriptors().is_still(socket.descriptor, socket.inode)) shutdown(socket.descriptor, SHUT_RDWR);
    descriptors().end(socket.descriptor, socket.inode);
  }
}

bool ChildProcess::order(Order order) const {
  return uninterrupted([&] { return send(orders_.descriptor, &order, sizeof order, MSG_NOSIGNAL); }) == sizeof order;
}

void ChildProcess::renew() {
  worker_ = -1;
  is_coming_ = order(Order::start);
  for (Report report; !is_coming_ && read_report(report);) note(report);  // the last one is that the keeper is gone
}

/// False: there is none now.
bool ChildProcess::read_report(Report& report) {
  const ssize_t size_B = uninterrupted([&] { return recv(orders_.descriptor, &report, sizeof report, 0); });
  if (size_B == sizeof report) return true;
  if (size_B >= 0 || errno != EAGAIN) {
    is_lost_ = true;
    worker_ = -1, is_coming_ = false;
    ending_ = {keeper_->had_worker ? "an end that nobody has seen" : "an end before it was ready", -1, -1, 0, !keeper_->had_worker};
  }
  return false;
}

void ChildProcess::note(const Report& report) {
  switch (report.kind) {
    case Report::started: {
      worker_ = report.value, is_coming_ = false, keeper_->had_worker = true;
      char rest[1 << 16];  // of the last worker's answer
      while (uninterrupted([&] { return recv(requests_.descriptor, rest, sizeof rest, 0); }) > 0) {
      }
      return;
    }
    case Report::not_started:
      is_coming_ = false, keeper_->had_worker = true;
      ending_ = {std::strerror(report.value), -1, -1, report.value};
      return;
    case Report::ended:
      break;
  }
  if (worker_ < 0) return;  // the one before this one, which was killed
  worker_ = -1;
  const int status = report.value;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = strsignal(signal);
    ending_ = {"signal " + std::to_string(signal) + " (" + (name ? name : "?") + ")", -1, signal};
  } else {
    const int code = WEXITSTATUS(status);
    ending_ = {"exit code " + std::to_string(code), code};
  }
}

/// It is killed, and has given back its memory.
void ChildProcess::take_worker_back() {
  is_lost_ |= !order(Order::kill);  // also one that is only coming: orders go in order
  pollfd told{orders_.descriptor, POLLIN, 0};
  for (Report report; !is_lost_ && (worker_ >= 0 || is_coming_);) {
    if (uninterrupted([&] { return poll(&told, 1, kKillWait_ms); }) <= 0) is_lost_ = true;
    while (read_report(report)) note(report);
  }
  if (is_lost_) forget(keeper_);
}

double ChildProcess::processor_s() const {
  clockid_t clock;
  timespec time{};
  if (worker_ < 0 || clock_getcpuclockid(worker_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// One request on its way.
class ChildProcess::Call {
 public:
  Call(ChildProcess& process, std::string_view request, std::string& answer)
      : process_(process), request_(request), answer_(answer), asked_{request.size(), ++process.requests_sent_} {}
  bool sends() const { return sent_B_ < sizeof asked_ + request_.size(); }
  void send_more() {
    const bool in_header = sent_B_ < sizeof asked_;
    const char* from = in_header ? reinterpret_cast<const char*>(&asked_) + sent_B_ : request_.data() + (sent_B_ - sizeof asked_);
    const ssize_t count = send(process_.requests_.descriptor, from, (in_header ? sizeof asked_ : sizeof asked_ + request_.size()) - sent_B_,
                               MSG_NOSIGNAL | (in_header ? MSG_MORE : 0));
    if (count > 0) sent_B_ += static_cast<size_t>(count);
  }
  enum class Got : uint8_t { nothing, part, all, garbled };
  Got receive_more() {
    const bool in_header = got_B_ < sizeof answered_;
    char* to = in_header ? reinterpret_cast<char*>(&answered_) + got_B_ : answer_.data() + (got_B_ - sizeof answered_);
    const ssize_t count =
        recv(process_.requests_.descriptor, to, (in_header ? sizeof answered_ : sizeof answered_ + answer_.size()) - got_B_, 0);
    if (count <= 0) return Got::nothing;  // how it ended is what the keeper says
    got_B_ += static_cast<size_t>(count);
    if (got_B_ == sizeof answered_) {
      if (answered_.number != asked_.number || answered_.size_B == 0 || answered_.size_B > kMaxMessage_B) return Got::garbled;
      answer_.assign(answered_.size_B, '\0');
    } else if (got_B_ == sizeof answered_ + answer_.size()) {
      // Who answers what was not asked to its end has lost its mind as well.
      return sends() ? Got::garbled : Got::all;
    }
    return Got::part;
  }
  /// An answer was made in time, if this process was stopped meanwhile (SIGSTOP).
  bool answer_waits() const {
    pollfd waits{process_.requests_.descriptor, POLLIN, 0};
    return got_B_ == 0 && process_.worker_ >= 0 && poll(&waits, 1, 0) > 0 && waits.revents & POLLIN;
  }

 private:
  ChildProcess& process_;
  const std::string_view request_;
  std::string& answer_;
  const Header asked_;
  Header answered_;
  size_t sent_B_ = 0, got_B_ = 0;  // headers included
};

ChildProcess::Outcome ChildProcess::call(std::string_view request, std::string& answer, double limit_s, bool (*goes_on)()) {
  assert(is_ours() && limit_s > 0 && !request.empty() && request.size() <= kMaxMessage_B);
  using Clock = std::chrono::steady_clock;
  if (worker_ < 0 && !is_coming_) renew();
  const double processor_before_s = processor_s();
  const Clock::time_point start = Clock::now();
  Clock::time_point looked = start;
  const auto give_up = [&](Outcome outcome) {
    take_worker_back();
    return outcome;
  };
  Call call(*this, request, answer);
  for (;;) {
    const bool is_served = worker_ >= 0;
    pollfd ready[2] = {{orders_.descriptor, POLLIN, 0}, {requests_.descriptor, 0, 0}};
    ready[1].events = static_cast<short>(call.sends() ? POLLIN | POLLOUT : POLLIN);
    const int n = is_lost_ ? 0 : poll(ready, is_served ? 2 : 1, static_cast<int>(kPoll.count()));
    // By the clock, not because nothing came: a worker may send a byte now and then for as long as it likes.
    if (const Clock::time_point now = Clock::now(); n == 0 || now - looked >= kPoll) {
      looked = now;
      if (goes_on && !goes_on()) return give_up(Outcome::stopped);
      if (processor_s() - processor_before_s > limit_s) return give_up(Outcome::too_long);
      const bool is_late = std::chrono::duration<double>(now - start).count() > kClockOverProcessor * limit_s;
      if (is_late && !call.answer_waits()) return give_up(Outcome::too_long_by_clock);
    }
    if (n > 0 && ready[0].revents)
      for (Report report; read_report(report);) note(report);
    if (worker_ < 0 && !is_coming_) {  // what it did last may have been to answer
      Call::Got got = Call::Got::part;
      while (is_served && got == Call::Got::part) got = call.receive_more();
      return got == Call::Got::all ? Outcome::answered : Outcome::ended;
    }
    if (n <= 0 || !is_served) continue;
    if (ready[1].revents & POLLOUT) call.send_more();
    if (!(ready[1].revents & (POLLIN | POLLHUP | POLLERR))) continue;
    const Call::Got got = call.receive_more();
    if (got == Call::Got::garbled) return give_up(Outcome::garbled);
    if (got == Call::Got::all) return Outcome::answered;
  }
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
