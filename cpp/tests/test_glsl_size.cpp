// tests/test_glsl_size.cpp -- how much a GLSL text is with its macros: known sizes, hostile macros in proportion to their text, limits.
#include <string>

#include "check.hpp"
#include "shader/module/glsl_size.hpp"
#include "tilegpu/pipeline.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;
using namespace tilegpu::test;

namespace {

uint64_t tokens(const std::string& text) { return measure_glsl(text, {}).tokens; }

void test_sizes() {
  CHECK(tokens("#version 450\n/* a * b */ float x = 1.5; // y + z\n") == 5);
  CHECK(tokens("#define A x + x\nA;") == 4);
  CHECK(tokens("#define B A * A\n#define A x + x\nB; A") == 11);
  CHECK(tokens("#define A x + x\n#define B A * A\n#undef A\nB;") == 4);
  CHECK(tokens("#define A a\nA A\n#define A a + a\nA") == 5);  // defined anew
  CHECK(tokens("#define A A + 1\nA;") == 4);                   // a macro within itself is no macro
  CHECK(tokens("#define A B B\n#define B A A\nA;") == 5);      // nor in a circle
  CHECK(tokens("#define F(x, y) x * x + y\nF(a, b + c);") == 3 + 1 + 3 + 1);
  CHECK(tokens("#define F(x) x x\nF(F(F(a)))") == 8);
  CHECK(tokens("#define F(x) x x\n#define G(x) F(F(x)) x\nG(a b)") == 10);
  CHECK(tokens("#define F (x) x\nF;") == 5);  // no arguments: there is a space
  CHECK(tokens("#define F(x) x x\nF + F;") == 4);
  CHECK(tokens("#define F(x) x x\n#define G F\nG(G(a))") == 7);  // takes what stands behind it; its own name is counted too
  CHECK(tokens("#define A a \\\n + b\nA") == 3);
  CHECK(measure_glsl("N", {{"N", "1 + 2"}}).tokens == 3);
  CHECK(measure_glsl("F(a)", {{"F(x)", "x x x"}}).tokens == 3);
  CHECK(tokens("F(") == 2 && tokens("#define F(x) x\nF(a, ((") <= 8 && tokens("#define\n#define F(\n#undef\n/*") == 0);
}

void test_cases() {
  const auto cases = [](const std::string& text) { return measure_glsl(text, {}).cases; };
  CHECK(cases("switch (a) { case 0: case 1: switch (b) { case 2: case 3: case 4: break; } case 5: }") == 3);
  CHECK(cases("switch (a) { case 0: } switch (b) { case 1: { case 2: } case 3: } case 4:") == 3);
  CHECK(cases("#define C(n) case n: case n + 1:\n#define D(n) C(n) C(n + 2)\nswitch (a) { D(0) D(4) }") == 8);
}

/// What doubles with each line, by any kind of macro, is seen by work in proportion to the lines.
void test_work_is_in_proportion() {
  const auto doubling = [](int kind, int lines) {
    std::string text = kind == 0 ? "#define M0 x\n" : "#define M0(x) x\n";
    for (int k = 1; k <= lines; ++k) {
      const std::string now = "M" + std::to_string(k), before = "M" + std::to_string(k - 1);
      text += "#define " + now + (kind == 0 ? " " + before + " + " + before : "(x) " + before + "(x) + " + before + "(x)") + "\n";
    }
    text += "void main() { float y = M" + std::to_string(lines) + (kind == 0 ? "" : "(a + b)") + "; }";
    return measure_glsl(text, {});
  };
  for (int kind = 0; kind < 2; ++kind) {
    const GlslSize small = doubling(kind, 40), large = doubling(kind, 160);
    CHECK(doubling(kind, 10).tokens > 2000 && small.tokens > kMaxGlslTokens && large.tokens == uint64_t{1} << 40);
    CHECK(large.visited < 5 * small.visited && large.visited < 10000);
  }
  // A long chain that each definition of an innermost macro changes.
  std::string text = "#define M0 x\n";
  for (int k = 1; k < 150; ++k) text += "#define M" + std::to_string(k) + " M" + std::to_string(k - 1) + " y\n";
  for (int k = 0; k < 20000; ++k) text += "#undef M0\n#define M0 x\nM149\n";
  CHECK(measure_glsl(text, {}).visited < uint64_t{1} << 27);
}

void test_errors() {
  const auto message = [](const std::string& text) {
    auto words = compile_glsl({text, "a.comp", VK_SHADER_STAGE_COMPUTE_BIT, {}, {}});
    return words ? std::string() : words.error().message;
  };
  const std::string head = "#version 450\nlayout(local_size_x = 1) in; layout(std430, binding = 0) buffer B { uint b[]; };\n";
  std::string doubles = "#define M0 b[0]\n";
  for (int k = 1; k <= 24; ++k)
    doubles += "#define M" + std::to_string(k) + " M" + std::to_string(k - 1) + "+M" + std::to_string(k - 1) + "\n";
  const std::string much = message(head + doubles + "void main() { b[1] = M24; }");
  CHECK_MESSAGE(much.find("tokens; at most 1048576 are compiled") != std::string::npos, much);
  CHECK_MESSAGE(message(head + doubles + "void main() { b[1] = M8; }").empty(), "a few");
  std::string cases;
  for (int k = 0; k < 20000; ++k) cases += "case " + std::to_string(k) + ": b[1] = 1; break;";
  const std::string many = message(head + "void main() { switch (b[0]) {" + cases + "} }");
  CHECK_MESSAGE(many.find("a switch has 20000 cases; at most 16383") != std::string::npos, many);
}

}  // namespace

int main() {
  test_sizes();
  test_cases();
  test_work_is_in_proportion();
  test_errors();
  return finish("test_glsl_size");
}
