// tests/check.hpp -- the whole test framework: CHECK counts failures, finish() makes them the exit code.
#pragma once

#include <cstdio>
#include <string>

namespace tilegpu::test {

inline int failures = 0, checks = 0;

inline bool check(bool ok, const char* expression, const char* file, int line, const std::string& detail = "") {
  checks++;
  if (!ok && failures++ < 50) std::fprintf(stderr, "%s:%d: CHECK(%s) failed %s\n", file, line, expression, detail.c_str());
  return ok;
}

inline int finish(const char* name) {
  std::printf("%s: %d checks, %d failed\n", name, checks, failures);
  return failures ? 1 : 0;
}

}  // namespace tilegpu::test

#define CHECK(x) ::tilegpu::test::check(static_cast<bool>(x), #x, __FILE__, __LINE__)
#define CHECK_MESSAGE(x, detail) ::tilegpu::test::check(static_cast<bool>(x), #x, __FILE__, __LINE__, detail)
