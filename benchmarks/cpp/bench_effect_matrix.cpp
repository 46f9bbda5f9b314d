// benchmarks/cpp/bench_effect_matrix.cpp -- kernel by hand of a product of two square matrices, as `tilegpu bench compute` has it:
// workgroups of 16x16 results, sums in the order of the inner dimension by fused multiply-adds.
//
// In: two matrices of floats, n x n, n a multiple of 16. Out: their product, in the place of a picture. The kernel keeps a workgroup's sums
// in sixteen registers, so that no sum waits for its last addition; nothing is copied to shared memory first.
#include "bench_effect_math.hpp"

namespace effect {
namespace {

class MatrixProduct : public Effect {
 public:
  explicit MatrixProduct(const Given& given)
      : Effect(given), a(static_cast<const float*>(given.arrays[0])), b(static_cast<const float*>(given.arrays[1])) {
    steps.push_back({height / 16, 1, [this](uint32_t first, uint32_t last) { groups(first, last); }});
  }

 private:
  const float *a, *b;  // the caller's

  void groups(uint32_t first, uint32_t last) const {
    const size_t n = width;
    for (uint32_t group_y = first; group_y < last; group_y++) {
      for (size_t x = 0; x < n; x += 16) {
        const float* rows = a + size_t{16} * group_y * n;
        F sums[16];
        for (F& sum : sums) sum = _mm512_setzero_ps();
        for (size_t k = 0; k < n; k++) {
          const F row = _mm512_loadu_ps(b + k * n + x);
#pragma GCC unroll 16
          for (size_t y = 0; y < 16; y++) sums[y] = fma(all(rows[y * n + k]), row, sums[y]);
        }
        for (size_t y = 0; y < 16; y++) _mm512_store_si512(image.get() + (size_t{16} * group_y + y) * n + x, bits(sums[y]));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Effect> make_matrix_product(const Given& given) { return std::make_unique<MatrixProduct>(given); }

}  // namespace effect
