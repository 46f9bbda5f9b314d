// tests/test_math.cpp -- the math emitters against double precision over all exponents; equal bits for 1, 4, 8, 16 and 32 lanes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "base/intrinsics.hpp"
#include "check.hpp"
#include "shader/ir/format_pack.hpp"
#include "shader/ir/math.hpp"
#include "shader/jit/jit.hpp"
#include "vk/format.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

using Emit = std::function<Value(const Ir&, Value, Value)>;
constexpr uint32_t kChunk = 64;

/// out[i] = f(a[i], b[i]) for kChunk values, `width` at a time. Everything travels as 32-bit patterns.
using Function = void (*)(const uint32_t* a, const uint32_t* b, uint32_t* out);

Function compile(Jit& jit, const char* name, uint32_t width, bool integer_a, bool integer_b, bool integer_out, const Emit& emit) {
  CodeKey key("test_math");
  key.add_bytes(name, std::strlen(name));
  key.add(width);
  auto f = jit.function(key, [&](LLVMModuleRef module, const char* symbol) -> Status {
    Ir ir(module, width);
    Type parameters[3] = {ir.ptr, ir.ptr, ir.ptr};
    Value fn = ir.function(symbol, LLVMFunctionType(ir.void_type, parameters, 3, 0));
    Block entry = ir.block(fn, "entry"), loop = ir.block(fn, "loop"), done = ir.block(fn, "done");
    ir.at(entry);
    ir.br(loop);
    ir.at(loop);
    Value k = LLVMBuildPhi(ir.builder, ir.i64, "");
    Value at = ir.shl(k, 2);
    Value a = ir.load(ir.vi32, ir.offset(LLVMGetParam(fn, 0), at), 4), b = ir.load(ir.vi32, ir.offset(LLVMGetParam(fn, 1), at), 4);
    Value r = emit(ir, integer_a ? a : ir.as_float(a), integer_b ? b : ir.as_float(b));
    ir.store(integer_out ? r : ir.bits(r), ir.offset(LLVMGetParam(fn, 2), at), 4);
    Value next = ir.add(k, ir.c64(width));
    Value zero = ir.c64(0);
    Block last = ir.current_block();
    LLVMAddIncoming(k, &zero, &entry, 1);
    LLVMAddIncoming(k, &next, &last, 1);
    ir.br(ir.ult(next, ir.c64(kChunk)), loop, done);
    ir.at(done);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  });
  if (!CHECK_MESSAGE(f, std::string(name) + (f ? "" : f.error().message))) return nullptr;
  return reinterpret_cast<Function>((*f)->address.load());
}

struct Widths {
  Function f[5];
};

Widths compile_all(Jit& jit, const char* name, bool integer_a, bool integer_b, bool integer_out, const Emit& emit) {
  Widths w{};
  const uint32_t widths[5] = {1, 4, 8, 16, 32};
  for (int k = 0; k < 5; ++k) w.f[k] = compile(jit, name, widths[k], integer_a, integer_b, integer_out, emit);
  return w;
}

uint32_t canonical(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits; }

/// Runs all widths, checks that they agree (NaN apart from payload), returns the 8-lane results.
void run(const Widths& w, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, std::vector<uint32_t>& out, const char* name) {
  out.resize(a.size());
  bool agree = true;
  uint32_t other[kChunk];
  for (size_t k = 0; k < a.size(); k += kChunk) {
    w.f[2](&a[k], &b[k], &out[k]);
    if (k / kChunk % 7) continue;  // the widths on a seventh of the values
    for (int v : {0, 1, 3, 4}) {
      w.f[v](&a[k], &b[k], other);
      for (uint32_t l = 0; l < kChunk; ++l) agree &= canonical(other[l]) == canonical(out[k + l]);
    }
  }
  CHECK_MESSAGE(agree, std::string(name) + " differs between lane counts");
}

double ulp_error(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(want) || std::fabs(want) > 3.4028235677973366e38)
    return std::isinf(got) && std::signbit(got) == std::signbit(want)                     ? 0
           : std::fabs(got) >= 0x1.fffffep127f && std::signbit(got) == std::signbit(want) ? 1
                                                                                          : 1e30;
  if (std::isnan(got) || std::isinf(got)) return std::fabs(want) >= 0x1.fffffep127 ? 1 : 1e30;
  const int exponent = std::max(std::ilogb(std::max(std::fabs(want), 1e-300)), -126);
  return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - 23);
}

std::vector<uint32_t> all_patterns(uint32_t stride) {
  std::vector<uint32_t> v = {0,           0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u,
                             1,           0x80000001u, 0x007fffffu, 0x00800000u, 0x3f800000u, 0xbf800000u,
                             0x7f7fffffu, 0xff7fffffu, 0x3f7fffffu, 0x3f800001u, 0x3f3504f3u, 0x3f3504f4u};
  for (uint64_t bits = 0; bits < (1ull << 32); bits += stride) v.push_back(static_cast<uint32_t>(bits));
  while (v.size() % kChunk) v.push_back(0);
  return v;
}

std::vector<uint32_t> uniform(float low, float high, size_t count, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<float> d(low, high);
  std::vector<uint32_t> v(count / kChunk * kChunk);
  for (auto& x : v) x = std::bit_cast<uint32_t>(d(rng));
  return v;
}

void check_function(Jit& jit, const char* name, Value (*emit)(const Ir&, Value), double (*reference)(double), double limit_ulp, float low,
                    float high, float domain) {
  const Widths w = compile_all(jit, name, false, false, false, [&](const Ir& ir, Value a, Value) { return emit(ir, a); });
  if (!w.f[0]) return;
  double worst = 0;
  float where = 0;
  std::vector<uint32_t> out;
  for (const auto& values : {all_patterns(10007), uniform(low, high, 300000, 1)}) {
    run(w, values, values, out, name);
    for (size_t k = 0; k < values.size(); ++k) {
      const float x = std::bit_cast<float>(values[k]);
      if (std::fabs(x) > domain && std::isfinite(x)) continue;
      const double e = ulp_error(std::bit_cast<float>(out[k]), reference(static_cast<double>(x)));
      if (e > worst) worst = e, where = x;
    }
  }
  std::printf("  %-8s %.3f ulp at %.9g\n", name, worst, static_cast<double>(where));
  CHECK_MESSAGE(worst <= limit_ulp, std::string(name) + " " + std::to_string(worst) + " ulp at " + std::to_string(where));
}

/// Exact at multiples of a quarter turn near 0, the sign of zero kept, never beyond 1, on both sides of where reduction goes over to
/// double.
void test_bounds_of_sine(Jit& jit) {
  std::vector<uint32_t> x = all_patterns(4099), out;
  for (uint32_t k = 0; k < 1 << 16; ++k) x.push_back(std::bit_cast<uint32_t>(0x1p18f) - (1 << 15) + k);
  for (Value (*emit)(const Ir&, Value) : {emit_sin, emit_cos}) {
    const char* name = emit == emit_sin ? "sin" : "cos";
    run(compile_all(jit, name, false, false, false, [&](const Ir& ir, Value a, Value) { return emit(ir, a); }), x, x, out, name);
    uint32_t beyond = 0, far = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      const float at = std::bit_cast<float>(x[k]), got = std::bit_cast<float>(out[k]);
      beyond += std::isfinite(at) ? !(std::fabs(got) <= 1) : !std::isnan(got);
      if (std::fabs(at) < 0x1p20f) far += std::fabs(static_cast<double>(got) - (emit == emit_sin ? std::sin(at) : std::cos(at))) > 1.3e-7;
    }
    CHECK(beyond == 0 && far == 0, "%s: %u beyond 1, %u far", name, beyond, far);
    const float exact[] = {0.0f, -0.0f, 1.57079637f, -1.57079637f, 3.14159274f};
    std::vector<uint32_t> in(kChunk);
    for (size_t k = 0; k < std::size(exact); ++k) in[k] = std::bit_cast<uint32_t>(exact[k]);
    run(compile_all(jit, name, false, false, false, [&](const Ir& ir, Value a, Value) { return emit(ir, a); }), in, in, out, name);
    const auto at = [&](size_t k) { return std::bit_cast<float>(out[k]); };
    if (emit == emit_sin)
      CHECK(out[0] == 0 && out[1] == 0x80000000u && at(2) == 1 && at(3) == -1, "%g %g %g %g", at(0), at(1), at(2), at(3));
    else
      CHECK(at(0) == 1 && at(1) == 1 && at(4) == -1, "%g %g %g", at(0), at(1), at(4));
  }
}

// Vulkan's table has hyperbolic functions inherit from their exponentials: infinite where those are.
double by_exponentials(double value, double x) { return std::fabs(x) > 0x1.62e42ep+6 ? std::copysign(INFINITY, value) : value; }

void test_functions(Jit& jit) {
  const float all = INFINITY;
  check_function(jit, "exp2", emit_exp2, [](double x) { return std::exp2(x); }, 0.9, -130, 130, all);
  check_function(jit, "exp", emit_exp, [](double x) { return std::exp(x); }, 1.1, -90, 90, all);
  check_function(jit, "log2", emit_log2, [](double x) { return std::log2(x); }, 1.3, 0, 3, all);
  check_function(jit, "log", emit_log, [](double x) { return std::log(x); }, 1.0, 0, 3, all);
  check_function(jit, "sinh", emit_sinh, [](double x) { return by_exponentials(std::sinh(x), x); }, 1.7, -5, 5, all);
  check_function(jit, "cosh", emit_cosh, [](double x) { return by_exponentials(std::cosh(x), x); }, 1.6, -5, 5, all);
  check_function(jit, "tanh", emit_tanh, [](double x) { return std::tanh(x); }, 1.4, -3, 3, all);
  check_function(jit, "asinh", emit_asinh, [](double x) { return std::asinh(x); }, 1.9, -5, 5, all);
  check_function(jit, "acosh", emit_acosh, [](double x) { return std::acosh(x); }, 2.2, 1, 3, all);
  check_function(jit, "atanh", emit_atanh, [](double x) { return std::atanh(x); }, 2.0, -1, 1, all);
  check_function(jit, "sin", emit_sin, [](double x) { return std::sin(x); }, 2.1, -7, 7, 0x1p20f);
  check_function(jit, "cos", emit_cos, [](double x) { return std::cos(x); }, 2.1, -7, 7, 0x1p20f);
  check_function(jit, "tan", emit_tan, [](double x) { return std::tan(x); }, 2.9, -7, 7, 0x1p20f);
  check_function(jit, "asin", emit_asin, [](double x) { return std::asin(x); }, 1.9, -1, 1, all);
  check_function(jit, "acos", emit_acos, [](double x) { return std::acos(x); }, 1.4, -1, 1, all);
  check_function(jit, "atan", emit_atan, [](double x) { return std::atan(x); }, 1.5, -4, 4, all);
}

double pow_reference(double x, double y) {
  if (x > 0 && x < 0x1p-126) x = 0;  // denormals count as 0
  if (y == 0 || x == 1) return 1;
  if (std::isnan(x) || std::isnan(y) || x < 0) return NAN;
  const double result = std::pow(std::fabs(x), y);  // -0 as 0
  return result < 0x1p-126 ? 0 : result;            // denormal results are 0
}

/// What Vulkan allows: pow inherits from exp2(y * log2(x)), log2 has 2^-21 in [0.5, 2] and 3 ulp elsewhere, the product half an ulp, exp2
/// 3 + 2 |t| ulp.
double pow_limit_ulp(double x, double y) {
  const double l = std::log2(std::fabs(x)), t = y * l;
  if (!std::isfinite(t)) return 0;
  const double ulp = [](double v) { return std::ldexp(1.0, std::max(std::ilogb(std::max(std::fabs(v), 1e-300)), -126) - 23); }(l);
  const double error = std::fabs(y) * (x >= 0.5 && x <= 2 ? 0x1p-21 : 3 * ulp) + std::fabs(t) * 0x1p-24;
  return 3 + 2 * std::fabs(t) + error * 0.693 * 0x1p23;
}

/// The largest error over the pairs, in units of what Vulkan allows; at the ends of the range a result may fall to either side.
void check_power(Jit& jit, const char* name, const Emit& emit, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  const Widths w = compile_all(jit, name, false, false, false, emit);
  if (!w.f[0]) return;
  std::vector<uint32_t> out;
  run(w, a, b, out, name);
  double worst = 0, worst_ulp = 0, wx = 0, wy = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const double x = std::bit_cast<float>(a[k]), y = std::bit_cast<float>(b[k]), want = pow_reference(x, y);
    const float got = std::bit_cast<float>(out[k]);
    const double limit = pow_limit_ulp(x, y);
    double e = std::min(ulp_error(got, want), x > 0 ? ulp_error(got, std::pow(x, y)) : 1e30);  // or denormals as they are
    if (limit > 0 && std::fabs(std::log2(want) + 126) < 0.001 && got == 0) e = 0;              // rounds to a denormal
    if (limit > 0 && std::fabs(std::log2(want) - 128) < 0.001 && std::isinf(got)) e = 0;
    if (e < 1e20) worst_ulp = std::max(worst_ulp, e);
    e /= std::max(limit, 1e-9);
    if (e > worst) worst = e, wx = x, wy = y;
  }
  std::printf("  %-8s %.2f of Vulkan's limit at %.9g, %.9g; %.1f ulp\n", name, worst, wx, wy, worst_ulp);
  CHECK_MESSAGE(worst <= 1, std::string(name) + " at " + std::to_string(wx) + ", " + std::to_string(wy));
}

/// Constant exponents take shorter ways: inside of the range, beyond it, general.
void test_constant_exponents(Jit& jit) {
  for (float y :
       {2.2f, 1 / 2.2f, 0.5f, 0.989f, 0.991f, 0.9999f, 1.0001f, 1.5f, 8.5f, 32.0f, 1000.0f, 20000.0f, 0.001f, -0.5f, -2.2f, -40.0f}) {
    const std::string name = "pow" + std::to_string(y);
    const Emit emit = [&](const Ir& ir, Value x, Value) { return emit_pow(ir, x, ir.fk(x, y)); };
    for (const auto& values : {all_patterns(10007), uniform(0, 1, 300000, 1), uniform(0.9f, 1.1f, 100000, 2)}) {
      check_power(jit, name.c_str(), emit, values, std::vector<uint32_t>(values.size(), std::bit_cast<uint32_t>(y)));
    }
  }
  check_function(
      jit, "pow5", [](const Ir& ir, Value x) { return emit_pow(ir, x, ir.fk(x, 5)); }, [](double x) { return std::pow(x, 5.0); }, 3, -1, 1,
      1e7f);
  check_function(
      jit, "pow0", [](const Ir& ir, Value x) { return emit_pow(ir, x, ir.fk(x, 0)); }, [](double) { return 1.0; }, 0, -1, 1, INFINITY);
}

void check_pairs(Jit& jit, const char* name, Value (*emit)(const Ir&, Value, Value), const std::function<double(double, double)>& reference,
                 double limit, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  const Widths w = compile_all(jit, name, false, false, false, [&](const Ir& ir, Value x, Value y) { return emit(ir, x, y); });
  if (!w.f[0]) return;
  std::vector<uint32_t> out;
  run(w, a, b, out, name);
  double worst = 0, wx = 0, wy = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    const double x = std::bit_cast<float>(a[k]), y = std::bit_cast<float>(b[k]);
    const double e = ulp_error(std::bit_cast<float>(out[k]), reference(x, y));
    if (e > worst) worst = e, wx = x, wy = y;
  }
  std::printf("  %-8s %.3f ulp at %.9g, %.9g\n", name, worst, wx, wy);
  CHECK_MESSAGE(worst <= limit,
                std::string(name) + " " + std::to_string(worst) + " ulp at " + std::to_string(wx) + ", " + std::to_string(wy));
}

std::vector<uint32_t> shuffled(std::vector<uint32_t> v, uint32_t seed) {
  std::mt19937 rng(seed);
  std::shuffle(v.begin(), v.end(), rng);
  return v;
}

void test_pairs(Jit& jit) {
  const size_t n = 400000;
  check_power(jit, "pow", emit_pow, uniform(0, 1.2f, n, 3), uniform(-40, 40, n, 4));
  check_power(jit, "pow", emit_pow, uniform(0, 1, n, 5), uniform(-2, 2, n, 6));
  check_power(jit, "pow", emit_pow, uniform(0, 1, n, 7), uniform(0, 1e4f, n, 8));
  const auto all = all_patterns(20011);
  check_power(jit, "pow", emit_pow, all, shuffled(all, 1));
  check_pairs(
      jit, "atan2", emit_atan2, [](double y, double x) { return std::atan2(y, x); }, 1.5, uniform(-2, 2, n, 7), uniform(-2, 2, n, 8));
  check_pairs(jit, "atan2", emit_atan2, [](double y, double x) { return std::atan2(y, x); }, 1.5, all, shuffled(all, 2));
  // Special cases in all combinations.
  std::vector<uint32_t> a, b;
  const float s[] = {0.0f, -0.0f, 1, -1, 2, -2, 0.5f, -0.5f, INFINITY, -INFINITY, NAN, 1e-42f, -1e-42f, 3e38f, -3e38f, 5};
  for (float x : s) {
    for (float y : s) a.push_back(std::bit_cast<uint32_t>(x)), b.push_back(std::bit_cast<uint32_t>(y));
  }
  check_pairs(jit, "atan2", emit_atan2, [](double y, double x) { return std::atan2(y, x); }, 1.5, a, b);
  check_power(jit, "pow", emit_pow, a, b);
  check_pairs(
      jit, "fdiv", [](const Ir& ir, Value x, Value y) { return emit_fdiv(ir, x, y, false); }, [](double x, double y) { return x / y; },
      0.501, uniform(-2, 2, n, 9), uniform(-2, 2, n, 10));
  check_pairs(
      jit, "fdiv shared", [](const Ir& ir, Value x, Value y) { return emit_fdiv(ir, x, y, true); },
      [](double x, double y) { return x / y; }, 1.6, uniform(-2, 2, n, 9), uniform(-2, 2, n, 10));
  for (float divisor : {3.14159265f, 255.0f, 0.125f, -7.0f, 1e-30f, 65535.0f}) {
    const std::string name = "fdiv" + std::to_string(divisor);
    const Widths w = compile_all(jit, name.c_str(), false, false, false,
                                 [&](const Ir& ir, Value x, Value) { return emit_fdiv(ir, x, ir.fk(x, divisor), false); });
    std::vector<uint32_t> out;
    run(w, all, all, out, name.c_str());
    double worst = 0;
    for (size_t k = 0; k < all.size(); ++k)
      worst = std::max(
          worst, ulp_error(std::bit_cast<float>(out[k]), static_cast<double>(std::bit_cast<float>(all[k])) / static_cast<double>(divisor)));
    CHECK_MESSAGE(worst <= 1, name + " " + std::to_string(worst));
  }
  check_pairs(jit, "fmin", emit_fmin, [](double x, double y) { return x < y || std::isnan(y) ? x : y; }, 0, a, b);
  check_pairs(jit, "fmax", emit_fmax, [](double x, double y) { return x > y || std::isnan(y) ? x : y; }, 0, a, b);
  check_pairs(jit, "nmin", emit_nmin, [](double x, double y) { return std::fmin(x, y); }, 0, a, b);
  check_pairs(jit, "nmax", emit_nmax, [](double x, double y) { return std::fmax(x, y); }, 0, a, b);
}

void check_exact(Jit& jit, const char* name, bool integer_in, bool integer_b, bool integer_out, const Emit& emit,
                 const std::function<uint32_t(uint32_t, uint32_t)>& reference, const std::vector<uint32_t>& a,
                 const std::vector<uint32_t>& b) {
  const Widths w = compile_all(jit, name, integer_in, integer_b, integer_out, emit);
  if (!w.f[0]) return;
  std::vector<uint32_t> out;
  run(w, a, b, out, name);
  uint32_t bad = 0, first = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    if (out[k] != reference(a[k], b[k])) {
      if (!bad++) first = static_cast<uint32_t>(k);
    }
  }
  char text[160];
  std::snprintf(text, sizeof text, "%s: %u wrong, first at %08x %08x: %08x, expected %08x", name, bad, a[first], b[first], out[first],
                reference(a[first], b[first]));
  CHECK_MESSAGE(bad == 0, text);
}

/// Beside a constant, where compilers know that one of the two is no NaN: a choice all the same, with the bits of what is chosen. Zeros of
/// both signs, signalling NaN.
void test_choices_beside_constants(Jit& jit) {
  const auto f = [](uint32_t bits) { return std::bit_cast<float>(bits); };
  std::vector<uint32_t> all = all_patterns(400009);
  for (uint32_t k = 0; k < 8; ++k) all[all.size() - 1 - k] = 0x7f800001u + k * 0x10001u + (k % 2 ? 0x80000000u : 0);
  for (float c : {0.0f, -0.0f, 0.5f, -1.0f, 255.0f, INFINITY}) {
    const uint32_t bits = std::bit_cast<uint32_t>(c);
    const std::string with = " beside " + std::to_string(c);
    const auto check = [&](const char* what, Value (*emit)(const Ir&, Value, Value), bool constant_first, const auto& chosen) {
      check_exact(
          jit, (what + with + (constant_first ? ", last" : "")).c_str(), false, false, false,
          [&](const Ir& ir, Value x, Value) { return constant_first ? emit(ir, ir.fk(x, c), x) : emit(ir, x, ir.fk(x, c)); },
          [&](uint32_t x, uint32_t) { return constant_first ? chosen(bits, x) : chosen(x, bits); }, all, all);
    };
    const auto less = [&](uint32_t a, uint32_t b) { return f(a) < f(b) || std::isnan(f(b)) ? a : b; };
    const auto more = [&](uint32_t a, uint32_t b) { return f(a) > f(b) || std::isnan(f(b)) ? a : b; };
    const auto not_nan = [&](const auto& chosen) {  // and of zeros the lesser or the greater one by their signs
      return [&, chosen](uint32_t a, uint32_t b) {
        if (f(a) == 0 && f(b) == 0) return chosen(0x3f800000, 0xbf800000) == 0x3f800000 ? a & b : a | b;
        return chosen(a, b);
      };
    };
    for (bool first : {false, true}) {
      check("fmin", emit_fmin, first, less);
      check("fmax", emit_fmax, first, more);
      check("nmin", emit_nmin, first, not_nan(less));
      check("nmax", emit_nmax, first, not_nan(more));
    }
  }
}

void test_srgb(Jit& jit) {
  std::vector<uint32_t> codes(256);
  for (uint32_t k = 0; k < 256; ++k) codes[k] = k;
  check_exact(
      jit, "srgb to linear", true, true, false, [](const Ir& ir, Value code, Value) { return emit_srgb_to_linear(ir, code); },
      [](uint32_t code, uint32_t) { return std::bit_cast<uint32_t>(vk::kSrgbToLinear[code]); }, codes, codes);
}

void test_conversions(Jit& jit) {
  auto f = [](uint32_t bits) { return std::bit_cast<float>(bits); };
  auto u = [](float x) { return std::bit_cast<uint32_t>(x); };
  const auto all = all_patterns(9973);
  auto unary = [](Value (*emit)(const Ir&, Value)) { return Emit([emit](const Ir& ir, Value a, Value) { return emit(ir, a); }); };
  check_exact(
      jit, "float_to_int", false, false, true, unary(emit_float_to_int),
      [&](uint32_t a, uint32_t) {
        const float x = f(a);
        return x != x                ? 0u
               : x >= 2147483648.0f  ? 0x7fffffffu
               : x <= -2147483648.0f ? 0x80000000u
                                     : static_cast<uint32_t>(static_cast<int32_t>(x));
      },
      all, all);
  check_exact(
      jit, "float_to_uint", false, false, true, unary(emit_float_to_uint),
      [&](uint32_t a, uint32_t) {
        const float x = f(a);
        return !(x > 0) ? 0u : x >= 4294967296.0f ? ~0u : static_cast<uint32_t>(x);
      },
      all, all);
  check_exact(
      jit, "uint_to_float", true, false, false, unary(emit_uint_to_float), [&](uint32_t a, uint32_t) { return u(static_cast<float>(a)); },
      all, all);
  check_exact(
      jit, "int_to_float", true, false, false, unary(emit_int_to_float),
      [&](uint32_t a, uint32_t) { return u(static_cast<float>(static_cast<int32_t>(a))); }, all, all);
  check_exact(
      jit, "float_to_half", false, false, true, unary(emit_float_to_half), [&](uint32_t a, uint32_t) { return vk::float_to_half(f(a)); },
      all, all);
  std::vector<uint32_t> halves(65536);
  for (uint32_t k = 0; k < 65536; ++k) halves[k] = k;
  check_exact(
      jit, "half_to_float", true, false, false, unary(emit_half_to_float),
      [&](uint32_t a, uint32_t) { return u(vk::half_to_float(static_cast<uint16_t>(a))); }, halves, halves);
  std::vector<uint32_t> exponents = all;
  std::mt19937 rng(3);
  for (auto& e : exponents) e = rng() % 4 ? rng() % 600 - 300 : static_cast<uint32_t>(rng());
  check_exact(
      jit, "ldexp", false, true, false, [](const Ir& ir, Value a, Value b) { return emit_canonical_nan(ir, emit_ldexp(ir, a, b)); },
      [&](uint32_t a, uint32_t b) { return canonical(u(std::ldexp(f(a), static_cast<int>(b)))); }, all, exponents);
  check_exact(
      jit, "frexp_significand", false, false, false,
      [](const Ir& ir, Value a, Value) { return emit_canonical_nan(ir, emit_frexp(ir, a).significand); },
      [&](uint32_t a, uint32_t) {
        int e;
        return canonical(u(std::frexp(f(a), &e)));
      },
      all, all);
  check_exact(
      jit, "frexp_exponent", false, false, true, [](const Ir& ir, Value a, Value) { return emit_frexp(ir, a).exponent; },
      [&](uint32_t a, uint32_t) {
        int e = 0;
        std::frexp(f(a), &e);
        return static_cast<uint32_t>(std::isfinite(f(a)) ? e : 0);
      },
      all, all);
  check_exact(
      jit, "fsign", false, false, false, unary(emit_fsign),
      [&](uint32_t a, uint32_t) { return f(a) != f(a) ? 0u
                                         : f(a) == 0  ? a
                                                      : u(std::copysign(1.0f, f(a))); }, all, all);
  check_exact(
      jit, "fract", false, false, false, [](const Ir& ir, Value a, Value) { return emit_canonical_nan(ir, emit_fract(ir, a)); },
      [&](uint32_t a, uint32_t) {
        const float x = f(a), r = x - std::floor(x);
        return canonical(u(r >= 1 ? 0x1.fffffep-1f : r));
      },
      all, all);
}

}  // namespace

int main() {
  auto jit = Jit::create({8, "baseline", "off"});
  if (!CHECK(jit)) return 1;
  test_functions(**jit);
  test_constant_exponents(**jit);
  test_pairs(**jit);
  test_conversions(**jit);
  test_choices_beside_constants(**jit);
  test_srgb(**jit);
  test_bounds_of_sine(**jit);
  if (has_wide_vectors()) {
    auto wide = Jit::create({16, "x86-64-v4", "off"});
    if (!CHECK(wide)) return 1;
    test_conversions(**wide);
    test_choices_beside_constants(**wide);
  }
  return test::finish("test_math");
}
