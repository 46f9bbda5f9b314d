// benchmarks/cpp/bench_clear.cpp -- the least that writing a frame of the scene `clear` can cost on this machine.
//
// memset over the bytes of a 1920x1080 RGBA8 and a D32 image, cut into equal parts for as many threads as given (default 2). The other
// threads wait for each frame as the library's do: some microseconds in a loop, then asleep. Every frame writes all bytes of both images.
//
//     bench_clear [threads]
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr size_t kFrame_B = 1920 * 1080 * (4 + 4);
constexpr int kFrames = 1000, kSpins = 2000;

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2;
  auto* images = static_cast<uint8_t*>(std::aligned_alloc(4096, kFrame_B));
  if (!images) return 1;
  std::memset(images, 1, kFrame_B);
  const size_t part_B = kFrame_B / static_cast<size_t>(threads) / 64 * 64;
  std::atomic<int> frame{0}, busy{0};
  const auto fill = [&](int thread, int value) {
    uint8_t* first = images + static_cast<size_t>(thread) * part_B;
    std::memset(first, value, thread + 1 == threads ? static_cast<size_t>(images + kFrame_B - first) : part_B);
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; t++)
    others.emplace_back([&, t] {
      for (int seen = 0;;) {
        for (int spin = 0; frame.load() == seen; spin++)
          if (spin < kSpins)
            _mm_pause();
          else
            frame.wait(seen);
        if (++seen > kFrames) return;
        fill(t, seen);
        busy.fetch_sub(1);
      }
    });
  std::vector<double> ms;
  for (int f = 1; f <= kFrames; f++) {
    const auto start = std::chrono::steady_clock::now();
    busy.store(threads - 1);
    frame.store(f);
    frame.notify_all();
    fill(0, f);
    while (busy.load() != 0) _mm_pause();
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  frame.fetch_add(1);
  frame.notify_all();
  for (std::thread& t : others) t.join();
  std::sort(ms.begin(), ms.end());
  std::printf("%d threads, %zu bytes a frame: median %.3f ms, least %.3f ms\n", threads, kFrame_B, ms[ms.size() / 2], ms[0]);
  std::free(images);
  return 0;
}
