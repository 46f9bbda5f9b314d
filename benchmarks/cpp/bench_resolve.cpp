// benchmarks/cpp/bench_resolve.cpp -- the least that storing all samples and averaging them in another pass can cost on this machine.
//
// Two loops over 1920x1080 RGBA8 with N samples, nothing else: every sample is written (in the order of 64x64 tiles, as a pass does; once
// past the caches and once through them, the faster counts), then all are read and averaged to one image (rows, as vkCmdResolveImage
// does). By as many threads as given (default 2). The figure is what `separate` costs beyond `in_tile`: `tilegpu bench msaa --kernel`.
//
//     bench_resolve [threads]
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

constexpr uint32_t kWidth_px = 1920, kHeight_px = 1080, kTile_px = 64;
constexpr size_t kPitch_B = kWidth_px * 4, kImage_B = kPitch_B * kHeight_px;

template <bool kStream>
void store_tile(uint8_t* image, uint32_t samples, uint32_t tile) {
  const uint32_t columns = kWidth_px / kTile_px, x = tile % columns * kTile_px, y0 = tile / columns * kTile_px;
  const __m256i value = _mm256_set1_epi32(static_cast<int>(tile * 0x01010101u));
  for (uint32_t s = 0; s < samples; s++)
    for (uint32_t y = y0; y < std::min(y0 + kTile_px, kHeight_px); y++) {
      auto* row = reinterpret_cast<__m256i*>(image + s * kImage_B + y * kPitch_B + x * 4);
      for (uint32_t i = 0; i < kTile_px * 4 / 32; i++)
        if constexpr (kStream)
          _mm256_stream_si256(row + i, value);
        else
          _mm256_store_si256(row + i, value);
    }
}

void average_row(const uint8_t* image, uint32_t samples, int log2, uint32_t y, uint8_t* out) {
  const __m256i zero = _mm256_setzero_si256(), bias = _mm256_set1_epi16(static_cast<int16_t>(samples / 2));
  const __m128i shift = _mm_cvtsi32_si128(log2);
  for (size_t at = 0; at < kPitch_B; at += 32) {
    __m256i low = bias, high = bias;
    for (uint32_t s = 0; s < samples; s++) {
      const __m256i v = _mm256_load_si256(reinterpret_cast<const __m256i*>(image + s * kImage_B + y * kPitch_B + at));
      low = _mm256_add_epi16(low, _mm256_unpacklo_epi8(v, zero));
      high = _mm256_add_epi16(high, _mm256_unpackhi_epi8(v, zero));
    }
    _mm256_store_si256(reinterpret_cast<__m256i*>(out + y * kPitch_B + at),
                       _mm256_packus_epi16(_mm256_srl_epi16(low, shift), _mm256_srl_epi16(high, shift)));
  }
}

// Milliseconds of one round.
template <bool kStream>
double round_ms(uint8_t* image, uint8_t* out, uint32_t samples, int log2, int threads) {
  constexpr uint32_t kTiles = kWidth_px / kTile_px * ((kHeight_px + kTile_px - 1) / kTile_px);
  std::barrier sync(threads);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; t++)
    pool.emplace_back([&, t] {
      for (uint32_t tile = static_cast<uint32_t>(t); tile < kTiles; tile += static_cast<uint32_t>(threads))
        store_tile<kStream>(image, samples, tile);
      _mm_sfence();
      sync.arrive_and_wait();
      const uint32_t first = kHeight_px * static_cast<uint32_t>(t) / static_cast<uint32_t>(threads),
                     end = kHeight_px * static_cast<uint32_t>(t + 1) / static_cast<uint32_t>(threads);
      for (uint32_t y = first; y < end; y++) average_row(image, samples, log2, y, out);
    });
  for (std::thread& t : pool) t.join();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2;
  for (uint32_t samples = 2, log2 = 1; samples <= 16; samples *= 2, log2++) {
    auto* image = static_cast<uint8_t*>(std::aligned_alloc(64, kImage_B * samples));
    auto* out = static_cast<uint8_t*>(std::aligned_alloc(64, kImage_B));
    if (!image || !out) return 1;
    std::vector<double> streamed_ms, plain_ms;
    for (int round = 0; round < 15; round++) {
      streamed_ms.push_back(round_ms<true>(image, out, samples, static_cast<int>(log2), threads));
      plain_ms.push_back(round_ms<false>(image, out, samples, static_cast<int>(log2), threads));
    }
    std::printf("%2u samples: %7.2f ms past the caches, %7.2f through them (%.0f MB stored, as many read)\n", samples, median(streamed_ms),
                median(plain_ms), static_cast<double>(kImage_B) * samples / 1e6);
    std::free(image);
    std::free(out);
  }
  return 0;
}
