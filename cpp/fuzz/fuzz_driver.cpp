// fuzz/fuzz_driver.cpp -- fuzzer: sequences of Vulkan calls on the driver, without the loader, by two devices that differ in threads, lanes
// and bins.
//
// In: bytes that choose calls that Vulkan allows, and such as it forbids and the driver checks. Out: nothing. Wrong is: a crash, a call
// that does not come back, a result that Vulkan does not list, an error for what it allows, memory that is not given back, and one bit of
// memory that differs between the two. What the right bits are, the suite's oracles ask.
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/memory_budget.hpp"
#include "common/bench.hpp"
#include "driver/world.hpp"

using namespace tilegpu;

namespace {

constexpr size_t kMost_B = 1024;
constexpr auto kMost = std::chrono::seconds(25);

/// Ends the process where a case does not end.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard guard(lock_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch() {
    std::unique_lock guard(lock_);
    if (!changed_.wait_for(guard, kMost, [this] { return over_; })) fuzz::finding("a case does not end");
  }
  std::mutex lock_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

/// Code is kept on disk between devices, in a folder of the process's own; quick code alone, as what is compiled twice takes twice as long.
void prepare() {
  static const bool once = [] {
    setenv("XDG_CACHE_HOME", fuzz::scratch_folder().c_str(), 1);
    setenv("XDG_STATE_HOME", fuzz::scratch_folder().c_str(), 1);
    setenv("TILEGPU_CODE", "quick", 1);
    return true;
  }();
  (void)once;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B || size_B < 8) return -1;
  prepare();
  const Watchdog watchdog;
  constexpr fuzz::DeviceShape kShapes[] = {{"1", "4", "64"}, {"2", "8", "32"}, {"2", "16", "128"}};
  const auto run = [&](const fuzz::DeviceShape& shape) {
    const uint64_t before_B = allocated_B();
    fuzz::World world(fuzz::Choices(data, size_B), shape);
    world.run();
    if (!world.abandoned && allocated_B() != before_B)
      fuzz::finding(std::to_string(allocated_B() - before_B) + " bytes of memory were not given back");
    if (!world.abandoned && !world.core.expired()) fuzz::finding("an object is left, which holds the device");
    return world.bytes();
  };
  const std::vector<uint8_t> one = run(kShapes[0]), two = run(kShapes[1 + fuzz::hash_of(data, size_B) % 2]);
  if (const std::string text = fuzz::difference(one, two); !text.empty()) fuzz::finding("another device gives other bytes: " + text);
  return 0;
}
