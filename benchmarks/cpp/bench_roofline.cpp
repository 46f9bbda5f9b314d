// benchmarks/cpp/bench_roofline.cpp -- what the machine can do at most: clock, fused multiply-adds, and bytes a second by cache level.
//
// Prints one JSON object: GHz (a chain of dependent additions, one a cycle), vector instructions a cycle (of a mix: two multiply-adds, an
// addition, an operation on integers), and for one thread and for all of them GFLOP/s of 16
// independent chains of vector FMAs, and GB/s of reading, writing and streaming (stores past the caches) buffers of 16 KiB, 512 KiB and
// 256 MiB for each thread. The best of several rounds counts. Compile with -O3 -march=native -pthread.
//
//     bench_roofline [threads]
#include <immintrin.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

#ifdef __AVX512F__
using Vector = __m512;
Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
Vector all(float x) { return _mm512_set1_ps(x); }
Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
Vector exclusive_or(Vector a, Vector b) { return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_castps_si512(b))); }
void stream(float* to, Vector v) { _mm512_stream_ps(to, v); }
void store(float* to, Vector v) { _mm512_store_ps(to, v); }
Vector load(const float* from) { return _mm512_load_ps(from); }
float first(Vector v) { return _mm512_cvtss_f32(v); }
#else
using Vector = __m256;
Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
Vector all(float x) { return _mm256_set1_ps(x); }
Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
Vector exclusive_or(Vector a, Vector b) { return _mm256_xor_ps(a, b); }
void stream(float* to, Vector v) { _mm256_stream_ps(to, v); }
void store(float* to, Vector v) { _mm256_store_ps(to, v); }
Vector load(const float* from) { return _mm256_load_ps(from); }
float first(Vector v) { return _mm256_cvtss_f32(v); }
#endif
constexpr size_t kWidth = sizeof(Vector) / 4;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
volatile float sink;
volatile uint64_t integer_sink;

double clock_GHz() {
  constexpr int kSteps = 20'000'000;
  double best = 0;
  for (int round = 0; round < 5; round++) {
    uint64_t x = integer_sink;
    const double start = now_s();
    for (int i = 0; i < kSteps; i++) asm volatile("add $1, %0" : "+r"(x));
    best = std::max(best, kSteps / (now_s() - start) * 1e-9);
    integer_sink = x;
  }
  return best;
}

void multiply_add(size_t steps) {
  Vector chain[16];
  for (int k = 0; k < 16; k++) chain[k] = all(static_cast<float>(k));
  const Vector a = all(0.999f), b = all(0.001f);
  for (size_t i = 0; i < steps; i++)
    for (Vector& c : chain) c = fma(c, a, b);
  for (int k = 1; k < 16; k++) chain[0] = add(chain[0], chain[k]);
  sink = first(chain[0]);
}

/// Of four instructions two multiply-adds, an addition and an exclusive or: what shaders are made of.
void mix(size_t steps) {
  Vector chain[16];
  for (int k = 0; k < 16; k++) chain[k] = all(static_cast<float>(k));
  const Vector a = all(0.999f), b = all(0.001f);
  for (size_t i = 0; i < steps; i++)
    for (int k = 0; k < 16; k++) chain[k] = k % 4 < 2 ? fma(chain[k], a, b) : k % 4 == 2 ? add(chain[k], b) : exclusive_or(chain[k], a);
  for (int k = 1; k < 16; k++) chain[0] = add(chain[0], chain[k]);
  sink = first(chain[0]);
}

enum class Kind { read, write, stream };

void touch(Kind kind, float* data, size_t count) {
  if (kind == Kind::read) {
    Vector sum[8];
    for (Vector& s : sum) s = all(0);
    for (size_t i = 0; i < count; i += 8 * kWidth)
      for (size_t k = 0; k < 8; k++) sum[k] = add(sum[k], load(data + i + k * kWidth));
    for (int k = 1; k < 8; k++) sum[0] = add(sum[0], sum[k]);
    sink = first(sum[0]);
  } else {
    const Vector v = all(1);
    for (size_t i = 0; i < count; i += kWidth) kind == Kind::write ? store(data + i, v) : stream(data + i, v);
    if (kind == Kind::stream) _mm_sfence();
    asm volatile("" ::"r"(data) : "memory");
  }
}

/// Seconds of the slowest thread, least of the rounds.
template <class Work>
double by_threads(uint32_t threads, int rounds, Work&& work) {
  std::barrier sync(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> best(threads, 1e9);
  std::vector<std::vector<double>> times(threads, std::vector<double>(static_cast<size_t>(rounds)));
  std::vector<std::thread> crew;
  for (uint32_t t = 0; t < threads; t++)
    crew.emplace_back([&, t] {
      for (int r = 0; r < rounds; r++) {
        sync.arrive_and_wait();
        const double start = now_s();
        work(t);
        times[t][static_cast<size_t>(r)] = now_s() - start;
      }
    });
  for (std::thread& one : crew) one.join();
  double least = 1e9;
  for (int r = 0; r < rounds; r++) {
    double slowest = 0;
    for (const auto& of : times) slowest = std::max(slowest, of[static_cast<size_t>(r)]);
    least = std::min(least, slowest);
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t all_threads = argc > 1 ? static_cast<uint32_t>(std::max(1, std::atoi(argv[1]))) : std::thread::hardware_concurrency();
  constexpr size_t kMixSteps = 2'000'000;
  const double GHz = clock_GHz(), mix_s = by_threads(1, 5, [](uint32_t) { mix(kMixSteps); });
  std::printf("{\"GHz\": %.3f, \"lanes\": %zu, \"vector_per_cycle\": %.2f, \"threads\": [", GHz, kWidth,
              16.0 * kMixSteps / mix_s / (GHz * 1e9));
  std::vector<uint32_t> counts{1};
  if (all_threads > 1) counts.push_back(all_threads);
  for (size_t c = 0; c < counts.size(); c++) {
    const uint32_t threads = counts[c];
    constexpr size_t kSteps = 4'000'000;
    const double seconds = by_threads(threads, 5, [](uint32_t) { multiply_add(kSteps); });
    std::printf("%s{\"threads\": %u, \"fma_GFLOPS\": %.1f", c ? ", " : "", threads, threads * kSteps * 16.0 * kWidth * 2 / seconds * 1e-9);
    for (const auto& [name, size_B] : {std::pair<const char*, size_t>{"L1", 16u << 10}, {"L2", 512u << 10}, {"memory", 256u << 20}}) {
      const size_t count = size_B / 4, repeats = std::max<size_t>(1, (64u << 20) / size_B);
      std::vector<float*> data(threads);
      for (float*& d : data) {
        d = static_cast<float*>(std::aligned_alloc(64, size_B));
        if (!d) return 1;
        touch(Kind::write, d, count);
      }
      for (const auto& [what, kind] :
           {std::pair<const char*, Kind>{"read", Kind::read}, {"write", Kind::write}, {"stream", Kind::stream}}) {
        const double s = by_threads(threads, 7, [&, kind = kind](uint32_t t) {
          for (size_t r = 0; r < repeats; r++) touch(kind, data[t], count);
        });
        std::printf(", \"%s_%s_GBps\": %.1f", name, what, static_cast<double>(threads * repeats * size_B) / s * 1e-9);
      }
      for (float* d : data) std::free(d);
    }
    std::printf("}");
  }
  std::printf("]}\n");
  return 0;
}
