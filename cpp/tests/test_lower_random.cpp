// tests/test_lower_random.cpp -- random programs: 32 different invocations at once must compute what each computes when all lanes
// are alike (no divergence), at 4, 8 and 16 lanes, as glslang leaves them and after spirv-opt.
#include <random>

#include "lower_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

/// Writes statements over int variables v0..v5, an array t[8], the inputs i.xyzw and loop counters.
struct Generator {
  std::mt19937 rng;
  int loops = 0, counters = 0, depth = 0, budget = 60;
  bool in_switch = false;
  std::vector<std::string> names;

  int pick(int n) { return static_cast<int>(rng() % static_cast<uint32_t>(n)); }
  std::string variable() { return "v" + std::to_string(pick(6)); }
  std::string value() {
    switch (pick(8)) {
      case 0:
        return std::to_string(pick(9) - 2);
      case 1:
        return std::string("i.") + "xyzw"[pick(4)];
      case 2:
        return "t[" + variable() + " & 7]";
      case 3:
        return names.empty() ? variable() : names[static_cast<size_t>(pick(static_cast<int>(names.size())))];
      case 4:
        return "u";  // uniform
      default:
        return variable();
    }
  }
  std::string expression() {
    switch (pick(7)) {
      case 0:
        return value() + " * " + value();
      case 1:
        return value() + " - " + value();
      case 2:
        return "(" + value() + " ^ " + value() + ")";
      case 3:
        return "(" + condition() + " ? " + value() + " : " + value() + ")";
      case 4:
        return !*returns && pick(3) == 0 ? "f(" + value() + ", " + value() + ")" : value() + " + 1";
      default:
        return value() + " + " + value();
    }
  }
  std::string condition() {
    static const char* kCompare[] = {"<", ">", "==", "!=", "<=", ">="};
    std::string c = "(" + value() + " & 7) " + kCompare[pick(6)] + " " + std::to_string(pick(8));
    if (pick(5) == 0) c = "(" + c + (pick(2) ? " && " : " || ") + "(" + value() + " & 3) == " + std::to_string(pick(4)) + ")";
    return c;
  }
  std::string block(int length) {
    depth++;
    std::string text;
    for (int k = 0; k < length && budget > 0; ++k) text += statement();
    depth--;
    return text;
  }
  std::string statement() {
    budget--;
    const int kind = depth > 5 ? pick(3) : pick(14);
    switch (kind) {
      case 3:
      case 4:
        return "if (" + condition() + ") {\n" + block(1 + pick(3)) + "}\n";
      case 5:
        return "if (" + condition() + ") {\n" + block(1 + pick(3)) + "} else {\n" + block(1 + pick(3)) + "}\n";
      case 6:
      case 7: {
        const std::string k = "k" + std::to_string(counters++);
        const std::string limit = pick(2) ? std::to_string(1 + pick(4)) : "(" + value() + " & 3)";
        loops++;
        const bool outer = in_switch;
        in_switch = false;
        names.push_back(k);
        std::string body = block(1 + pick(4));
        names.pop_back();
        in_switch = outer;
        loops--;
        if (pick(3) == 0) return "{ int " + k + " = 0; do {\n" + k + "++;\n" + body + "} while (" + k + " < " + limit + "); }\n";
        return "for (int " + k + " = 0; " + k + " < " + limit + "; ++" + k + ") {\n" + body + "}\n";
      }
      case 8: {
        std::string text = "switch (" + value() + " & 3) {\n";
        const bool outer = in_switch;
        in_switch = true;
        for (int k = 0; k < 3; ++k) text += "case " + std::to_string(k) + ":\n" + block(1 + pick(2)) + (pick(3) ? "break;\n" : "");
        text += "default:\n" + block(1) + "}\n";
        in_switch = outer;
        return text;
      }
      case 9:
        if (loops && !in_switch) return "if (" + condition() + ") break;\n";
        return in_switch ? "if (" + condition() + ") break;\n" : variable() + " += 3;\n";
      case 10:
        return loops ? "if (" + condition() + ") continue;\n" : variable() + " ^= 5;\n";
      case 11:
        return pick(4) == 0 ? "if (" + condition() + ") return" + std::string(returns) + ";\n"
                            : "t[" + value() + " & 7] = " + expression() + ";\n";
      case 12:
        return "t[" + value() + " & 7] += " + value() + ";\n";
      default:
        return variable() + " = " + expression() + ";\n";
    }
  }
  const char* returns = "";

  std::string program() {
    std::string text =
        "#version 450\nlayout(location=0) in vec4 a; layout(location=1) in ivec4 i; layout(location=0) flat out ivec4 s0; "
        "layout(location=1) flat out ivec4 s1;\n"
        "layout(push_constant) uniform P { int u; };\nint t[8];\nint v0, v1, v2, v3, v4, v5;\n";
    returns = " v2";
    text += "int f(int x, int y) {\nint v6 = x;\n";
    depth = 4;
    budget = 12;
    std::string body = block(5);
    text += body + "return v6 + y + v1;\n}\n";
    returns = "";
    depth = 0;
    budget = 60;
    text += "void body() {\n" + block(12) + "}\n";
    text +=
        "void main() { gl_Position = vec4(0); s0 = s1 = ivec4(0); for (int k = 0; k < 8; ++k) t[k] = k * i.x; v0 = i.x; v1 = i.y; v2 = "
        "i.z; v3 = i.w; v4 = u; v5 = 1;\n"
        "body(); s0 = ivec4(v0, v1, v2, v3); s1 = ivec4(v4, v5, t[0] + t[1] * 3 + t[2] * 5 + t[3] * 7, t[4] + t[5] * 3 + t[6] * 5 + t[7] * "
        "7); }\n";
    return text;
  }
};

std::vector<float> inputs(uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<float> v(4 * kBatchStride);
  for (float& x : v) x = std::bit_cast<float>(static_cast<int32_t>(rng() % 16));
  return v;
}

void test_program(uint32_t seed) {
  Generator generator;
  generator.rng.seed(seed);
  const std::string text = generator.program();
  const std::vector<float> i = inputs(seed + 1000);
  std::vector<uint32_t> want;
  for (bool optimized : {false, true}) {
    Ptr<ShaderModule> module = shader_of(text, VK_SHADER_STAGE_VERTEX_BIT, optimized);
    if (!module) return;
    const auto run = [&](uint32_t lanes, const std::vector<float>& attribute, VertexRun& r) {
      r.attributes[0] = r.attributes[1] = attribute;
      r.push[0] = 2;
      const bool ok = r.run(*module, lanes, 2);
      CHECK_MESSAGE(ok, "seed " + std::to_string(seed) + (optimized ? " optimised: " : ": ") + r.error);
      return ok;
    };
    if (want.empty()) {
      // Alone: every lane is the same invocation.
      for (uint32_t v = 0; v < kBatchStride; ++v) {
        std::vector<float> same(4 * kBatchStride);
        for (uint32_t k = 0; k < kBatchStride; ++k) {
          for (uint32_t c = 0; c < 4; ++c) same[4 * k + c] = i[4 * v + c];
        }
        VertexRun r;
        if (!run(8, same, r)) return;
        for (uint32_t c = 0; c < 8; ++c) want.push_back(r.bits(c / 4, c % 4, 5));
      }
    }
    for (uint32_t lanes : {4u, 8u, 16u}) {
      VertexRun r;
      if (!run(lanes, i, r)) return;
      bool same = true;
      for (uint32_t v = 0; v < kBatchStride; ++v) {
        for (uint32_t c = 0; c < 8; ++c) same = same && r.bits(c / 4, c % 4, v) == want[v * 8 + c];
      }
      if (!CHECK_MESSAGE(same, "seed " + std::to_string(seed) + " lanes " + std::to_string(lanes) + (optimized ? " optimised" : "")) &&
          test::failures == 1)
        std::fputs(text.c_str(), stderr);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const uint32_t first = count > 1 ? static_cast<uint32_t>(std::atoi(arguments[1])) : 1,
                 programs = count > 2 ? static_cast<uint32_t>(std::atoi(arguments[2])) : 6;
  for (uint32_t seed = first; seed < first + programs; ++seed) test_program(seed);
  return finish("test_lower_random");
}
