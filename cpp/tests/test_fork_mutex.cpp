// tests/test_fork_mutex.cpp -- forks at any time beside threads that lock, wait, make and end locks: the child finds all of them free and
// what they guard whole; what the parent's threads execute ends there with an error.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "check.hpp"
#include "tilegpu/command.hpp"
#include "tilegpu/device.hpp"
#include "tilegpu/event.hpp"
#include "tilegpu/fork_mutex.hpp"

using namespace tilegpu;

namespace {

constexpr int kForks = 300;
constexpr unsigned kMost_s = 60;  // a child that waits for what will not come ends by its alarm

/// What the child answers; a signal: -1.
template <class Child>
int forked(Child child) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(kMost_s);
    _exit(child());
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void test_locks_are_free_and_data_whole() {
  struct Guarded {
    ForkMutex mutex;
    ForkCondition changed;
    uint64_t left = 0, right = 0;  // equal but while the mutex is held
  } outer, inner;
  auto waited_for = std::make_unique<Guarded>();
  bool ended = false;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      while (!stop) {
        const std::lock_guard first(outer.mutex);
        outer.left++;
        {
          const std::lock_guard second(inner.mutex);  // one in the other
          inner.left++;
          if (t == 0) std::this_thread::yield();
          inner.right++;
        }
        const Guarded made;  // and new ones while others are held
        outer.right++;
      }
    });
  threads.emplace_back([&] {
    while (!stop) {
      std::unique_lock<std::mutex> lock(inner.mutex);
      inner.changed.wait_for(lock, std::chrono::milliseconds(1));
    }
  });
  threads.emplace_back([&] {
    std::unique_lock<std::mutex> lock(waited_for->mutex);
    waited_for->changed.wait(lock, [&] { return ended; });
  });
  const uint32_t before = fork_number();
  int right = 0;
  for (int k = 0; k < kForks; ++k)
    right += forked([&] {
               if (fork_number() != before + 1) return 2;
               for (Guarded* g : {&outer, &inner}) {
                 std::unique_lock<std::mutex> lock(g->mutex, std::try_to_lock);
                 if (!lock || g->left != g->right) return 3;
                 g->changed.wait_for(lock, std::chrono::microseconds(10));
               }
               // A thread of the child's own waits and is told.
               bool ready = false;
               std::thread waits([&] {
                 std::unique_lock<std::mutex> lock(inner.mutex);
                 inner.changed.wait(lock, [&] { return ready; });
               });
               {
                 const std::lock_guard lock(inner.mutex);
                 ready = true;
               }
               inner.changed.notify_all();
               waits.join();
               return 0;
             }) == 0;
  CHECK_MESSAGE(right == kForks, std::to_string(right));
  CHECK(fork_number() == before);
  stop = true;
  {
    const std::lock_guard lock(waited_for->mutex);
    ended = true;
  }
  waited_for->changed.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void test_children_of_children() {
  const uint32_t here = fork_number();
  CHECK(forked([&] { return forked([&] { return fork_number() == here + 2 ? 0 : 2; }); }) == 0);
}

void test_submissions_of_the_process_before() {
  DeviceCreateInfo info;
  info.cache_dir = "off";
  const Ptr<Device> device = *Device::create(info);
  auto event = std::make_shared<Event>();
  auto commands = std::make_shared<CommandBuffer>(device);
  CHECK(commands->begin() && commands->wait_events({event}) && commands->end());
  auto submitted = device->submit({{commands}, {}});
  if (!CHECK(submitted)) return;
  const Ptr<Submission> submission = *submitted;
  CHECK(!submission->signaled());
  CHECK(forked([&] {
          if (!submission->wait(-1) || !submission->error()) return 2;
          if (submission->error()->message.find("before this process was forked") == std::string::npos) return 3;
          event->set();
          auto own = std::make_shared<CommandBuffer>(device);
          if (!own->begin() || !own->wait_events({event}) || !own->end()) return 4;
          auto again = device->submit_and_wait({{own}, {}}, {});
          return again && !(*again)->error() ? 0 : 5;
        }) == 0);
  CHECK(!submission->signaled());
  event->set();
  CHECK(submission->wait(-1) && !submission->error());
  CHECK(forked([&] { return submission->signaled() && !submission->error() ? 0 : 2; }) == 0);
}

}  // namespace

int main() {
  test_locks_are_free_and_data_whole();
  test_children_of_children();
  test_submissions_of_the_process_before();
  return test::finish("test_fork_mutex");
}
