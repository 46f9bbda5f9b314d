// shader/ir/polynomial.hpp -- polynomials as fused multiply-adds, the highest power first. In: x, coefficients. Out: the sum.
// Source: Knuth, "The Art of Computer Programming" 2, section 4.6.4 (Horner's rule).
#pragma once

#include <cassert>
#include <initializer_list>
#include <iterator>

#include "shader/ir/ir_builder.hpp"

namespace tilegpu::shader {

/// `coefficients`: that of the lowest power first.
inline Value horner(const Ir& ir, Value x, std::initializer_list<float> coefficients) {
  assert(coefficients.size() > 1);
  Value sum = nullptr;
  for (auto c = std::rbegin(coefficients); c != std::rend(coefficients); ++c) sum = sum ? ir.fma(sum, x, ir.fk(x, *c)) : ir.fk(x, *c);
  return sum;
}

}  // namespace tilegpu::shader
