// tests/test_late_passes.cpp -- passes over finished IR: sums that nobody sees, values that no lane keeps, packets split from each other.
// Each against the same code without what the pass looks for, bit by bit, and for what it must leave alone. Loops over whole blocks of
// pixels, with all that shaders make of them: test_blocks.cpp.
#include <llvm-c/Analysis.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "base/intrinsics.hpp"
#include "check.hpp"
#include "shader/ir/math.hpp"
#include "shader/ir/split_packets.hpp"
#include "shader/ir/unkept_values.hpp"
#include "shader/ir/unseen_sums.hpp"
#include "shader/jit/jit.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;
using namespace tilegpu::test;

namespace {

using Emit = std::function<Value(const Ir&, Value x, Value y)>;
using Function = void (*)(const uint32_t* x, const uint32_t* y, uint32_t* out);

/// One call, `lanes` at once: out = emit(x, y), by bits.
void build(LLVMModuleRef module, const char* name, uint32_t lanes, const Emit& emit) {
  Ir ir(module, lanes);
  Type parameters[3] = {ir.ptr, ir.ptr, ir.ptr};
  Value fn = ir.function(name, LLVMFunctionType(ir.void_type, parameters, 3, 0));
  Block entry = ir.block(fn, "entry"), start = ir.block(fn, "start");
  ir.at(entry);
  ir.br(start);
  ir.at(start);
  Value r = emit(ir, ir.load(ir.vf32, LLVMGetParam(fn, 0), 4), ir.load(ir.vf32, LLVMGetParam(fn, 1), 4));
  ir.store(Ir::is_float(r) ? ir.bits(r) : r, LLVMGetParam(fn, 2), 4);
  LLVMBuildRetVoid(ir.builder);
}

Function compile(Jit& jit, const std::string& what, uint32_t lanes, const Emit& emit, const char* kind = "test_late_passes") {
  CodeKey key(kind);
  key.add_bytes(what.data(), what.size());
  key.add(lanes);
  auto slot = jit.function(key, [&](LLVMModuleRef module, const char* name) -> Status {
    build(module, name, lanes, emit);
    return Ok{};
  });
  if (!CHECK_MESSAGE(slot, what + (slot ? "" : ": " + slot.error().message))) return nullptr;
  return reinterpret_cast<Function>((*slot)->address.load());
}

std::vector<uint32_t> patterns() {
  std::vector<uint32_t> v;
  for (float x : {0.0f,           -0.0f,          1.0f,      -1.0f,          0.5f,      -0.5f,  0x1p31f,  -0x1p31f,  0x1.fffffep30f,
                  0x1.fffffcp30f, 0x1.000002p31f, 0x1p32f,   0x1.fffffep31f, 1e20f,     -1e20f, INFINITY, -INFINITY, NAN,
                  -NAN,           0x1p24f,        0x1p-149f, -0x1p-149f,     0x1p-126f, 3.999f})
    v.push_back(std::bit_cast<uint32_t>(x));
  std::mt19937 rng(20);
  while (v.size() < 4096) v.push_back(static_cast<uint32_t>(rng()));
  for (uint32_t k = 0; k < 256; ++k) v.push_back(std::bit_cast<uint32_t>(0x1p31f) - 128 + k);  // around the end of the range
  return v;
}

/// x + c with a c that the code knows, and with one that it reads.
void test_unseen_sums(Jit& jit) {
  const std::pair<const char*, Emit> users[] = {
      {"int", [](const Ir& ir, Value x, Value) { return emit_float_to_int(ir, x); }},
      {"uint", [](const Ir& ir, Value x, Value) { return emit_float_to_uint(ir, x); }},
      {"corner",
       [](const Ir& ir, Value x, Value c) {  // with x itself beside it, so that they may share
         return ir.xor_(ir.mul(emit_float_to_int(ir, x), ir.ik(x, 1597334677u)),
                        emit_float_to_int(ir, ir.fsub(x, ir.fmul(c, ir.fk(x, 0)))));
       }},
      {"is a number", [](const Ir& ir, Value x, Value) { return ir.sext(ir.is_nan(x), ir.i32); }},
      {"its sign, which is seen", [](const Ir& ir, Value x, Value) { return ir.bits(ir.fdiv(ir.fk(x, 1), x)); }},
      {"a product, which sees all", [](const Ir& ir, Value x, Value) { return ir.bits(ir.fmul(x, ir.fk(x, 3))); }},
      {"a clamp", [](const Ir& ir, Value x, Value) { return emit_float_to_int(ir, ir.fmax_second(x, ir.fk(x, -3))); }},
  };
  const std::vector<uint32_t> x = patterns();
  for (const auto& [name, user] : users) {
    for (float c : {0.0f, -0.0f, 1.0f, -1.0f, 31.0f, 63.0f, -63.0f, 64.0f, 200.0f}) {
      for (uint32_t lanes : {4u, 8u, 16u, 32u}) {
        const std::string what = std::string(name) + " of x + " + std::to_string(c);
        const Function known =
            compile(jit, what, lanes, [&](const Ir& ir, Value v, Value y) { return user(ir, ir.fadd(v, ir.fk(v, c)), y); });
        const Function read =
            compile(jit, what + ", read", lanes, [&](const Ir& ir, Value v, Value y) { return user(ir, ir.fadd(v, y), y); });
        if (!known || !read) return;
        std::vector<uint32_t> y(lanes, std::bit_cast<uint32_t>(c)), a(lanes), b(lanes);
        bool same = true;
        for (size_t k = 0; k + lanes <= x.size(); k += lanes) {
          known(&x[k], y.data(), a.data()), read(&x[k], y.data(), b.data());
          for (uint32_t n = 0; n < lanes; ++n) {
            const auto is_nan = [](uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; };
            const bool floats = std::strstr(name, "seen") || std::strstr(name, "product");
            same &= a[n] == b[n] || (floats && is_nan(a[n]) && is_nan(b[n]));
          }
        }
        CHECK_MESSAGE(same, what + ", lanes " + std::to_string(lanes));
      }
    }
  }
}

/// Passes over IR that nothing else has touched.
struct Scratch {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("scratch", context);
  ~Scratch() {
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
  }
  bool valid() const {
    char* text = nullptr;
    const bool bad = LLVMVerifyModule(module, LLVMReturnStatusAction, &text);
    if (bad) std::fprintf(stderr, "%s\n", text);
    LLVMDisposeMessage(text);
    return !bad;
  }
  Value function() const { return LLVMGetNamedFunction(module, "f"); }
};

void test_what_is_left_alone() {
  const auto sums = [](float c, auto&& user) {
    Scratch s;
    build(s.module, "f", 8, [&](const Ir& ir, Value x, Value) { return user(ir, ir.fadd(x, ir.fk(c))); });
    const bool changed = skip_unseen_sums(s.module);
    return CHECK(s.valid()) && changed;
  };
  const auto is_nan = [](const Ir& ir, Value x) { return ir.sext(ir.is_nan(x), ir.i32); };
  const auto beyond = [](const Ir& ir, Value x) { return ir.sext(ir.fge(x, ir.fk(0x1p31f)), ir.i32); };
  CHECK(sums(0, [](const Ir& ir, Value x) { return ir.fptosi(x); }));
  CHECK(!sums(1, [](const Ir& ir, Value x) { return ir.fptosi(x); }));
  CHECK(!sums(0, [](const Ir& ir, Value x) { return ir.fmul(x, x); }));
  CHECK(sums(63, is_nan) && sums(-63, beyond) && !sums(64, beyond));
  CHECK(!sums(1, [](const Ir& ir, Value x) { return ir.sext(ir.fge(x, ir.fk(0x1p30f)), ir.i32); }));
  const auto split = [](uint32_t lanes, auto&& emit) {
    Scratch s;
    build(s.module, "f", lanes, emit);
    const bool changed = split_packets(s.function(), 16);
    return CHECK(s.valid()) && changed;
  };
  const Emit product = [](const Ir& ir, Value x, Value y) { return ir.fmul(x, y); };
  CHECK(split(32, product) && split(64, product) && !split(16, product));
  CHECK(!split(64, [](const Ir& ir, Value x, Value y) {  // each lane from somewhere else in memory
    Value at = LLVMBuildExtractElement(ir.builder, ir.bits(y),
                                       ir.trunc(LLVMBuildExtractElement(ir.builder, ir.bits(x), ir.c32(0), ""), ir.i32), "");
    return ir.fadd(x, ir.as_float(ir.splat(at)));
  }));
}

/// Packets together: masks as integers, shuffles across packets, phis.
void test_split_packets(Jit& jit) {
  const auto rotated = [](const Ir& ir, Value v) {
    std::vector<int> order;
    for (uint32_t k = 0; k < ir.lanes; ++k) order.push_back(static_cast<int>((k * 5 + 3) % ir.lanes));
    return ir.shuffle(v, order);
  };
  for (uint32_t lanes : {32u, 64u}) {
    const Emit emit = [&](const Ir& ir, Value x, Value y) {
      Value mask = ir.flt(x, y), turned = rotated(ir, x);
      const std::vector<Value> some = ir.if_else(
          ir.any(mask), [&] { return std::vector<Value>{ir.select(mask, ir.fma(x, y, turned), x)}; },
          [&] { return std::vector<Value>{turned}; });
      Value all = ir.select(ir.all(mask), ir.fk(2), ir.fk(3));
      return ir.fadd(ir.fmul(some[0], all), ir.sitofp(ir.fptosi(ir.fclamp(y, ir.fk(-9), ir.fk(9)))));
    };
    Scratch s;
    build(s.module, "f", lanes, emit);
    CHECK(split_packets(s.function(), 16) && s.valid());
    const Function f = compile(jit, "packets", lanes, emit, "blocks");  // which are split, where the CPU has mask registers
    if (!f) return;
    std::mt19937 rng(7);
    std::uniform_real_distribution<float> random(-12, 12);
    for (int round = 0; round < 60; ++round) {
      std::vector<float> x(lanes), y(lanes), out(lanes);
      for (float& v : x) v = round % 3 == 1 ? 20.0f : random(rng);
      for (float& v : y) v = round % 3 == 2 ? 30.0f : random(rng);
      f(reinterpret_cast<uint32_t*>(x.data()), reinterpret_cast<uint32_t*>(y.data()), reinterpret_cast<uint32_t*>(out.data()));
      bool any = false, all = true, same = true;
      for (uint32_t k = 0; k < lanes; ++k) any |= x[k] < y[k], all &= x[k] < y[k];
      for (uint32_t k = 0; k < lanes; ++k) {
        const float turned = x[(k * 5 + 3) % lanes];
        const float some = !any ? turned : x[k] < y[k] ? std::fma(x[k], y[k], turned) : x[k];
        const float product = some * (all ? 2.0f : 3.0f), whole = std::trunc(std::fmin(std::fmax(y[k], -9.0f), 9.0f));
        same &= out[k] == product + whole;
      }
      CHECK_MESSAGE(same, "packets of " + std::to_string(lanes) + ", round " + std::to_string(round));
    }
  }
}

void test_unkept_values(Jit& jit) {
  for (uint32_t length : {20u, 90u}) {
    const Emit emit = [&](const Ir& ir, Value x, Value y) {
      Value old = x;
      for (uint32_t k = 0; k < length; ++k) old = ir.fma(old, y, ir.fk(0.25f));
      Value mask = ir.fgt(x, y);
      Block here = ir.current_block(), then = ir.block("then"), after = ir.block("after");
      ir.br(ir.any(mask), then, after);
      ir.at(then);
      Value chosen = ir.select(mask, ir.fmul(y, ir.fk(3)), old);
      ir.br(after);
      ir.at(after);
      return ir.phi(Ir::type_of(old), {{chosen, then}, {old, here}});
    };
    for (uint32_t lanes : {4u, 8u, 16u}) {
      Scratch s;
      build(s.module, "f", lanes, emit);
      CHECK(skip_unkept_values(s.module) == (length >= 64) && s.valid());
      const Function f = compile(jit, "kept " + std::to_string(length), lanes, emit);
      if (!f) return;
      std::mt19937 rng(3);
      std::uniform_real_distribution<float> random(0, 1);
      for (int round = 0; round < 40; ++round) {
        std::vector<float> x(lanes), y(lanes), out(lanes);
        for (float& v : x) v = round % 4 == 1 ? 2.0f : random(rng);
        for (float& v : y) v = round % 4 == 2 ? 1.5f : random(rng);
        f(reinterpret_cast<uint32_t*>(x.data()), reinterpret_cast<uint32_t*>(y.data()), reinterpret_cast<uint32_t*>(out.data()));
        bool same = true;
        for (uint32_t k = 0; k < lanes; ++k) {
          float old = x[k];
          for (uint32_t n = 0; n < length; ++n) old = std::fma(old, y[k], 0.25f);
          same &= out[k] == (x[k] > y[k] ? y[k] * 3 : old);
        }
        CHECK_MESSAGE(same, "kept values, lanes " + std::to_string(lanes) + ", round " + std::to_string(round));
      }
    }
  }
  // It stays where it is if somebody else uses it, or if lanes that take the branch may keep it.
  enum Use : uint32_t { after_both, by_other_mask, from_branch, as_first, none, uses };
  for (uint32_t use = 0; use < uses; ++use) {
    Scratch s;
    build(s.module, "f", 8, [use](const Ir& ir, Value x, Value y) {
      Value old = x;
      for (uint32_t k = 0; k < 90; ++k) old = ir.fma(old, y, ir.fk(0.25f));
      Value mask = ir.fgt(x, y), other = ir.fgt(y, ir.fk(0.5f));
      Block here = ir.current_block(), then = ir.block("then"), after = ir.block("after");
      ir.br(ir.any(mask), then, after);
      ir.at(then);
      Value three = ir.fmul(y, ir.fk(3)), chosen = use == as_first ? ir.select(mask, old, three) : ir.select(mask, three, old);
      if (use == by_other_mask) chosen = ir.select(other, three, old);
      if (use == from_branch) chosen = old;
      ir.br(after);
      ir.at(after);
      Value kept = ir.phi(Ir::type_of(old), {{chosen, then}, {old, here}});
      return use == after_both ? ir.fadd(old, kept) : kept;
    });
    CHECK_MESSAGE(skip_unkept_values(s.module) == (use == none) && s.valid(), "use " + std::to_string(use));
  }
}

}  // namespace

int main() {
  const bool wide = kX86 && has_wide_vectors();
  for (const JitCreateInfo& info : {JitCreateInfo{8, "baseline", "off"}, JitCreateInfo{16, wide ? "x86-64-v4" : "baseline", "off"}}) {
    auto jit = Jit::create(info);
    if (!CHECK(jit)) return 1;
    test_unseen_sums(**jit);
    test_split_packets(**jit);
    test_unkept_values(**jit);
  }
  test_what_is_left_alone();
  return finish("test_late_passes");
}
