// benchmarks/cpp/bench_effect.cpp -- the kernels of whole pictures as one library for benchmarks/kernel_effects.py: scenes by name,
// threads.
//
// In: a scene's name, its push constants, or matrices. Out: its picture. Threads wait for each frame and take pieces of rows by turns,
// as tilegpu's workers do with bins.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <string_view>
#include <thread>

#include "bench_effect.hpp"

namespace effect {
namespace {

struct Runner {
  std::unique_ptr<Effect> effect;
  uint32_t threads = 1;
  std::vector<std::thread> pool;
  std::unique_ptr<std::barrier<>> barrier;
  std::unique_ptr<std::atomic<uint32_t>[]> next;  // piece, by step
  std::atomic<uint32_t> frame{0}, running{0};
  bool stop = false;
};

void draw(Runner& r) {
  for (size_t k = 0; k < r.effect->steps.size(); k++) {
    const Step& step = r.effect->steps[k];
    for (uint32_t first; (first = r.next[k].fetch_add(1) * step.rows_at_once) < step.rows;)
      step.run(first, std::min(step.rows, first + step.rows_at_once));
    if (r.effect->steps.size() > 1) r.barrier->arrive_and_wait();
  }
}

void work(Runner& r) {
  for (uint32_t seen = 0;;) {
    r.frame.wait(seen);
    seen = r.frame.load();
    if (r.stop) return;
    draw(r);
    if (r.running.fetch_sub(1) == 1) r.running.notify_one();
  }
}

void begin_frame(Runner& r) {
  r.frame++;
  r.frame.notify_all();
}

struct Known {
  std::string_view name;
  std::unique_ptr<Effect> (*make)(const Given&);
};
constexpr Known kKnown[] = {
    {"toy_noise", make_noise},
    {"toy_fractal", make_fractal},
    {"toy_ray_march", make_ray_march},
    {"matrix_product", make_matrix_product},
};

}  // namespace
}  // namespace effect

#define EFFECT_EXPORT extern "C" __attribute__((visibility("default")))
using effect::Runner;

/// Null where there is no kernel of that name.
EFFECT_EXPORT Runner* effect_make(const char* name, uint32_t width, uint32_t height, uint32_t threads, const float* numbers,
                                  const void* const* arrays) {
  for (const effect::Known& known : effect::kKnown) {
    if (known.name != name) continue;
    auto* r = new Runner;
    r->effect = known.make({width, height, numbers, arrays}), r->threads = threads;
    r->barrier = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(threads));
    r->next = std::make_unique<std::atomic<uint32_t>[]>(r->effect->steps.size());
    for (uint32_t k = 1; k < threads; k++) r->pool.emplace_back(effect::work, std::ref(*r));
    return r;
  }
  return nullptr;
}

/// One frame.
EFFECT_EXPORT void effect_draw(Runner* r) {
  for (size_t k = 0; k < r->effect->steps.size(); k++) r->next[k] = 0;
  r->running = r->threads - 1;
  if (r->threads > 1) effect::begin_frame(*r);
  effect::draw(*r);
  for (uint32_t left; (left = r->running.load());) r->running.wait(left);
}

EFFECT_EXPORT const uint32_t* effect_image(const Runner* r) { return r->effect->image.get(); }

EFFECT_EXPORT void effect_free(Runner* r) {
  r->stop = true;
  effect::begin_frame(*r);
  for (std::thread& t : r->pool) t.join();
  delete r;
}
