// tests/check.hpp -- the whole test framework: CHECK counts failures, finish() makes them the exit code.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tilegpu::test {

inline std::atomic<int> failures = 0, checks = 0;  // threads check, too
inline constexpr int kMostShown = 50;

inline bool passed() {
  checks.fetch_add(1, std::memory_order_relaxed);
  return true;
}
inline bool failed(const char* expression, const char* file, int line) {
  checks.fetch_add(1, std::memory_order_relaxed);
  if (failures++ < kMostShown) std::fprintf(stderr, "%s:%d: CHECK(%s) failed\n", file, line, expression);
  return false;
}
__attribute__((format(printf, 4, 5))) inline bool failed(const char* expression, const char* file, int line, const char* format, ...) {
  checks.fetch_add(1, std::memory_order_relaxed);
  if (failures++ >= kMostShown) return false;
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed ", file, line, expression);
  std::va_list values;
  va_start(values, format);
  std::vfprintf(stderr, format, values);
  va_end(values);
  std::fputc('\n', stderr);
  return false;
}

inline unsigned long number_of_environment(const char* text, unsigned long otherwise) {
  return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

/// Whether the next of the cases that compile code of their own is tried: every TILEGPU_TEST_EVERY-th is (1: all), from the
/// TILEGPU_TEST_FROM-th on. For processors that are emulated, where LLVM takes fifteen times as long.
inline bool tries_next() {
  static const unsigned long every = number_of_environment(std::getenv("TILEGPU_TEST_EVERY"), 1);
  static const unsigned long from = number_of_environment(std::getenv("TILEGPU_TEST_FROM"), 0);
  static std::atomic<unsigned long> cases = 0;
  return every <= 1 || (cases++ + from) % every == 0;
}

inline int finish(const char* name) {
  std::printf("%s: %d checks, %d failed\n", name, checks.load(), failures.load());
  return failures ? 1 : 0;
}

}  // namespace tilegpu::test

/// Gives whether it holds. What follows the condition is printf's, and is looked at only where it does not.
#define CHECK(x, ...) \
  (static_cast<bool>(x) ? ::tilegpu::test::passed() : ::tilegpu::test::failed(#x, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__))
#define CHECK_MESSAGE(x, detail) CHECK(x, "%s", std::string(detail).c_str())
