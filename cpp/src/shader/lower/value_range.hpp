// shader/lower/value_range.hpp -- between which numbers a value lies, whatever rounding does.
//
// In: ranges of operands. Out: the range of the result; of one that may be no number, or infinite, nothing is known. What rounds is
// widened by more than Vulkan's precision allows; what does not (minima, clamps, signs) is exact, and so is 0 times a number. Source: IEEE
// 754; Vulkan specification, "Precision and Operation of SPIR-V Instructions"; R. E. Moore, Interval Analysis (1966), chapter 2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tilegpu::shader {

struct Range {
  double lo = 0, hi = 0;
  bool known = false;  // a number between both
  bool operator==(const Range&) const = default;
};

inline constexpr double kLargestKnown = 1e30;

/// Exact.
inline Range between(double lo, double hi) {
  const bool known = lo <= hi && lo >= -kLargestKnown && hi <= kLargestKnown;
  return known ? Range{lo, hi, true} : Range{};
}
/// Of what was rounded to a float; what is below the least normal one may be 0.
inline Range rounded(double lo, double hi) {
  if (lo == 0 && hi == 0) return between(0, 0);
  const auto slack = [](double v) { return std::fabs(v) * 0x1p-20 + 0x1p-100; };
  return between(lo - slack(lo), hi + slack(hi));
}
/// False, true.
inline Range truth(bool is) { return between(is, is); }
inline bool is_true(const Range& r) { return r.known && r.lo == 1; }
inline bool is_false(const Range& r) { return r.known && r.hi == 0; }

inline Range negated(const Range& a) { return a.known ? between(-a.hi, -a.lo) : Range{}; }
inline Range sum(const Range& a, const Range& b) { return a.known && b.known ? rounded(a.lo + b.lo, a.hi + b.hi) : Range{}; }
inline Range difference(const Range& a, const Range& b) { return sum(a, negated(b)); }
inline Range product(const Range& a, const Range& b) {
  if (!a.known || !b.known) return {};
  const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return rounded(lo, hi);
}
/// Of what divides by something that may be 0 nothing is known.
inline Range quotient(const Range& a, const Range& b) {
  if (!a.known || !b.known || (b.lo <= 0 && b.hi >= 0)) return {};
  const auto [lo, hi] = std::minmax({a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi});
  return rounded(lo, hi);
}
inline Range least(const Range& a, const Range& b) {
  return a.known && b.known ? between(std::min(a.lo, b.lo), std::min(a.hi, b.hi)) : Range{};
}
inline Range greatest(const Range& a, const Range& b) {
  return a.known && b.known ? between(std::max(a.lo, b.lo), std::max(a.hi, b.hi)) : Range{};
}
inline Range magnitude(const Range& a) {
  if (!a.known) return {};
  const double most = std::max(std::fabs(a.lo), std::fabs(a.hi));
  return between(a.lo <= 0 && a.hi >= 0 ? 0 : std::min(std::fabs(a.lo), std::fabs(a.hi)), most);
}
/// Of two values in it the one less the other: of neighbours in a quad.
inline Range slope(const Range& a) { return a.known ? rounded(a.lo - a.hi, a.hi - a.lo) : Range{}; }
/// Hermite's cubic between two edges that are constants, the lower one first.
inline Range smooth_step(const Range& edge0, const Range& edge1, const Range& x) {
  if (!edge0.known || !edge1.known || !(edge0.hi < edge1.lo)) return {};
  const Range t = least(greatest(quotient(difference(x, edge0), difference(edge1, edge0)), between(0, 0)), between(1, 1));
  if (!t.known) return {};
  const auto cubic = [](double v) { return v * v * (3 - 2 * v); };
  return least(greatest(rounded(cubic(t.lo), cubic(t.hi)), between(0, 0)), between(1, 1));
}

inline Range less(const Range& a, const Range& b) {
  if (!a.known || !b.known || (a.hi >= b.lo && a.lo < b.hi)) return {};
  return truth(a.hi < b.lo);
}
inline Range negation(const Range& a) { return a.known && a.lo == a.hi ? truth(a.lo == 0) : Range{}; }
inline Range conjunction(const Range& a, const Range& b) {
  if (is_false(a) || is_false(b)) return truth(false);
  return is_true(a) && is_true(b) ? truth(true) : Range{};
}
inline Range disjunction(const Range& a, const Range& b) { return negation(conjunction(negation(a), negation(b))); }

}  // namespace tilegpu::shader
