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

/// Macros whose number of tokens nobody can say beforehand; ordinary ones can be.
void test_what_is_known() {
  const auto known = [](const std::string& text) { return measure_glsl(text, {}).known; };
  CHECK(known("#define F(x) x x\n#define G F\nG(G(a)) F(b)"));
  CHECK(known("#define PI 3.14\n#define SQ(x) ((x) * (x))\nfloat y = SQ(PI);"));
  CHECK(!known("#define F(x) x x\n#define A(m, x) m(x)\nA(F, a)"));
  CHECK(!known("#define C(a, b) a##b\nC(x, y)"));
  CHECK(!known("#define F(x) x x\n#define L (\n#define E(x) x\nE(F L a))"));
  CHECK(!known("#define F(x) x x\n#define G F\nG + (a)"));
  CHECK(!known("#define F(x) x x\n#define H(x) F\nH(a)\n#define OTHER\n(b)"));
  CHECK(known("#define F(x) x\n#define H(x) F\nH(a)(b)"));
  CHECK(!known("#define S struct\nS A { float a; };"));
  CHECK(!known("#define N a[1000000]\nfloat N;"));
  std::string deep = "#define M0 x\n";
  for (int k = 1; k < 300; ++k) deep += "#define M" + std::to_string(k) + " M" + std::to_string(k - 1) + "\n";
  CHECK(!known(deep + "M299") && known(deep + "M100"));
  // Both of two, and those that may not be: more than either, and not an error.
  const GlslSize either = measure_glsl("#ifdef X\n#define F(x) x x x\n#else\n#define F(y) y\n#endif\nF(a)", {});
  CHECK(either.known && !either.exact && either.tokens == 4);
  CHECK(measure_glsl("#if 0\n#define ERASE(x)\n#endif\nERASE(a b c d)", {}).tokens == 1 + 4);
  CHECK(measure_glsl("#define A b b b\n#if 0\n#undef A\n#endif\nA", {}).tokens == 1 + 3);
  CHECK(!known("#ifdef X\n#define F(x) x x x\n#else\n#define F(x, y) y\n#endif\nF(a)"));
}

void test_files() {
  const std::map<std::string, IncludedGlsl> files = {
      {"a", {"dir/a", "#define F(x) x x x\n#include \"b\"\n"}}, {"b", {"dir/b", "float q;"}}, {"c", {"c", "#include <c>\n#include <c>\n"}}};
  const FindInclude find = [&](const std::string& name, bool local, const std::string& from, size_t depth) -> std::optional<IncludedGlsl> {
    if (depth > 64) return {};
    if (name == "b") CHECK(local && from == "dir/a" && depth == 2);
    const auto found = files.find(name);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  CHECK(measure_glsl("#include \"a\"\nF(y)", {}, find, "top").tokens == 6);
  CHECK(measure_glsl("#include <none>\nF(y)", {}, find).known);
  const GlslSize endless = measure_glsl("#include <c>", {}, find);
  CHECK(!endless.known && endless.visited < 100000);
  CHECK(!measure_glsl("#include NAME\n", {}, find).known);
}

void test_elements() {
  const auto elements = [](const std::string& text) { return measure_glsl(text, {}).elements; };
  const auto known = [](const std::string& text) { return measure_glsl(text, {}).known; };
  CHECK(elements("float x; vec4 y = vec4(0);") == 1);
  CHECK(elements("float x[100];") == 100 && elements("float[7] x[3];") == 21 && elements("void f(int a, vec2 b[5][4]) {}") == 20);
  CHECK(elements("struct S { float a, b; vec3 c[4]; }; S s[10];") == 60);
  CHECK(elements("struct S { float a; } s[9];") == 9 && elements("uniform B { mat4 bones[64]; } b[3];") == 64 * 3);
  CHECK(elements("layout(set = 0, binding = 1) buffer B { vec4 a[]; };") == 1);
  CHECK(elements("const int N = 12; float x[N];") == 12 && elements("const uint N = 4u, M = 0x10; float x[N * M];") >= 64);
  CHECK(elements("#define N 30\nfloat x[N];") == 30);
  CHECK(elements("x = lut[100] * m[50] + n[i];") == 1 && elements("return a[500];") == 1 && known("return a[i * 4 + j];"));
  CHECK(elements("for (float a[40]; a[0] < 1; ) {}") == 40);
  CHECK(elements("x = float[300](y);") == 300);
  std::string doubles = "struct S0 { float a; };\n";
  for (int k = 1; k < 30; ++k) doubles += "struct S" + std::to_string(k) + " { S" + std::to_string(k - 1) + " a, b; };\n";
  CHECK(elements(doubles) == uint64_t{1} << 29);
  CHECK(!known("float x[f(3)];") && !known("float x[N];") && !known("float x[1 << 20];") && !known("#define N(x) x\nfloat y[N(9)];"));
  CHECK(!known("const int N = int(y); float x[N];") && known("const int i = int(y); z = x[i];"));
  CHECK(!known("#if X\n#define N 4\n#endif\nfloat x[N];"));
  CHECK(known("") && known("}{;)(][") && known("struct") && known("struct {") && known("a[") && known("const int"));
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
  test_what_is_known();
  test_files();
  test_elements();
  test_errors();
  return finish("test_glsl_size");
}
