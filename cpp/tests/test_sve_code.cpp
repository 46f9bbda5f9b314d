// tests/test_sve_code.cpp -- code for registers of any length: what LLVM is helped with gives the same on every processor, and what it
// spills is counted. Run with registers of SVE by `make test-aarch64` (qemu-aarch64 -cpu max,sve512=on).
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/ir/math.hpp"
#include "shader/jit/jit.hpp"
#include "shader/jit/sve_code.hpp"
#include "tilegpu/device_info.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

CodeKey key_of(uint32_t n) {
  CodeKey key("test");
  key.add(n);
  return key;
}

int32_t expected_int(float x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p31f) return INT32_MAX;
  return x < -0x1p31f ? INT32_MIN : static_cast<int32_t>(x);
}

/// void f(const float* in, uint32_t* out): integers of all lanes; then the lanes below 0, by bits; and 1 where there are any, or all.
Jit::Build convert_and_ask(uint32_t lanes) {
  return [=](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, lanes);
    Type parameters[] = {ir.ptr, ir.ptr};
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, parameters, 2, 0));
    ir.at(ir.block(f, "entry"));
    Value x = ir.load(ir.vf32, LLVMGetParam(f, 0), 4), out = LLVMGetParam(f, 1);
    ir.store(emit_float_to_int(ir, x), out, 4);
    Value below = ir.fcmp(LLVMRealOLT, x, ir.fk(x, 0));
    ir.store(ir.movemask(below), ir.offset(out, 4 * lanes), 4);
    ir.store(ir.zext(ir.any(below), ir.i32), ir.offset(out, 4 * lanes + 4), 4);
    ir.store(ir.zext(ir.all(below), ir.i32), ir.offset(out, 4 * lanes + 8), 4);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
}

void check_lanes(void* address, uint32_t lanes) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {0.0f,    -0.0f,    1.5f,        -1.5f,   0x1p31f, -0x1p31f,   0x1.fffffep30f, -0x1.000002p31f,
                                      inf,     -inf,     nan,         -1e-45f, 3e9f,    -3e9f,      1e30f,          -1e30f,
                                      2.9999f, -2.9999f, 16777217.0f, -7.0f,   -8.0f,   0.99999994f};
  for (size_t from = 0; from <= special.size() + 1; ++from) {
    float in[32];
    uint32_t out[35], bits = 0;
    const bool all = from > special.size();
    for (uint32_t k = 0; k < lanes; ++k) {
      in[k] = all ? -1.0f - static_cast<float>(k) : from == special.size() ? 1.0f : special[(from + k) % special.size()];
      bits |= uint32_t{in[k] < 0} << k;
    }
    reinterpret_cast<void (*)(const float*, uint32_t*)>(address)(in, out);
    for (uint32_t k = 0; k < lanes; ++k)
      CHECK_MESSAGE(static_cast<int32_t>(out[k]) == expected_int(in[k]), std::to_string(lanes) + " lanes, " + std::to_string(in[k]));
    CHECK_MESSAGE(out[lanes] == bits, std::to_string(lanes) + " lanes");
    CHECK(out[lanes + 1] == (bits != 0) && out[lanes + 2] == all);
  }
}

void test_conversions_and_masks() {
  for (const char* target : {"", "baseline"})
    for (const char* code : {"quick", "optimised"}) {
      setenv("TILEGPU_CODE", code, 1);
      for (uint32_t lanes : {4u, 8u, 16u}) {
        auto jit = Jit::create({lanes, target, "off"});
        if (!CHECK(jit)) continue;
        for (uint32_t of : {lanes, 2 * lanes})  // bodies of two packets have twice as many
          if (auto f = (*jit)->function(key_of(of), convert_and_ask(of)); CHECK_MESSAGE(f, f ? "" : f.error().message))
            check_lanes((*f)->address, of);
      }
    }
  unsetenv("TILEGPU_CODE");
}

/// `count` vectors that are all alive at once, in short blocks, whose instructions LLVM orders sooner.
Jit::Build many_alive(uint32_t count) {
  return [=](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, 16);
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
    ir.at(ir.block(f, "entry"));
    Value p = LLVMGetParam(f, 0);
    std::vector<Value> values;
    const auto next_block = [&](uint32_t k) {
      if (k % 32) return;
      Block next = ir.block(f, "next");
      LLVMBuildBr(ir.builder, next);
      ir.at(next);
    };
    for (uint32_t k = 0; k < count; ++k) {
      next_block(k);
      values.push_back(ir.load(ir.vf32, p, 4));
      LLVMSetVolatile(values.back(), 1);
    }
    for (; !values.empty(); values.pop_back()) {
      next_block(static_cast<uint32_t>(values.size()));
      LLVMSetVolatile(LLVMBuildStore(ir.builder, values.back(), p), 1);
    }
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
}

void test_spilled_registers_count() {
  setenv("TILEGPU_CODE", "quick", 1);
  auto jit = Jit::create({16, "", "off"});
  unsetenv("TILEGPU_CODE");
  if (CHECK(jit)) {
    DeviceInfo info;
    (*jit)->describe(info);
    // Of NEON's registers it is four times as many, over which LLVM takes minutes under qemu; their frames are of the fixed part, as on
    // x86.
    if (info.vectors == "NEON") return;
    CHECK((*jit)->function(key_of(1), many_alive(2000)));  // 128,000 bytes
    const auto refused = (*jit)->function(key_of(2), many_alive(8400));
    if (info.vectors.find("SVE") == std::string::npos) {  // quick code of others may have a deep frame
      CHECK(refused);
      return;
    }
    CHECK(!refused && refused.error().code == VK_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK_MESSAGE(!refused && refused.error().message.find("bytes of stack") != std::string::npos, refused ? "" : refused.error().message);
  }
}

void test_counted_steps() {
  const auto object = [](std::initializer_list<uint32_t> words) {
    return std::string(reinterpret_cast<const char*>(words.begin()), words.size() * 4);
  };
  // addvl sp, sp, #-3; x9, sp, #-32; x9, x9, #-1: 36 registers. Then x9, x9, #1; x8, x29, #-1, a place in the frame; x9, x9, #-1, after it.
  const std::string code = object({0x043f57bf, 0x043f5409, 0x042957e9, 0x04295029, 0x043d57e8, 0x042957e9});
  CHECK(spilled_registers_B(code, 512) == 36 * 64 && spilled_registers_B(code, 256) == 36 * 32);
  // sub x9, sp, #1, lsl #12; x9, x9, #16; addvl x9, x9, #-32: below variables.
  CHECK(spilled_registers_B(object({0xd14007e9, 0xd1004129, 0x04295409}), 512) == 32 * 64);
  CHECK(spilled_registers_B("", 512) == 0 && spilled_registers_B("abc", 512) == 0);
}

void test_told() {
  auto jit = Jit::create({0, "", "off"});
  if (!CHECK(jit)) return;
  DeviceInfo info;
  (*jit)->describe(info);
  const bool wide = info.vectors == "AVX-512" || info.vectors.starts_with("SVE, 512") || info.vectors.starts_with("SVE, 1024") ||
                    info.vectors.starts_with("SVE, 2048");
  CHECK_MESSAGE(info.lanes == (wide ? 16 : 8), info.vectors);
  auto least = Jit::create({0, "baseline", "off"});
  if (!CHECK(least)) return;
  (*least)->describe(info);
  CHECK(info.vectors == (kX86 ? "AVX2" : "NEON") && info.lanes == 8);
  if (kX86) return;
  setenv("TILEGPU_SVE", "0", 1);
  auto without = Jit::create({0, "", "off"});
  if (CHECK(without)) (*without)->describe(info);
  CHECK(info.vectors == "NEON" && info.lanes == 8);
  setenv("TILEGPU_SVE", "off", 1);
  const auto wrong = Jit::create({0, "", "off"});
  CHECK(!wrong && wrong.error().message == "device: TILEGPU_SVE is 'off'; allowed are '1' (where the CPU has it) and '0'");
  unsetenv("TILEGPU_SVE");
}

}  // namespace

int main() {
  test_conversions_and_masks();
  test_spilled_registers_count();
  test_counted_steps();
  test_told();
  return test::finish("test_sve_code");
}
