// tests/test_checked_code.cpp -- TILEGPU_CHECKED: what generated code touches outside of its objects ends the process, in each way of
// access; builds without AddressSanitizer say that they can't.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "check.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/jit/checked_code.hpp"
#include "shader/jit/jit.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

constexpr uint32_t kLanes = 8;

/// void f(float* p, float* other, uint64_t offset_B), whose access is by `emit`.
using Emit = void (*)(Ir& ir, Value p, Value other, Value offset_B);

Jit::Build access(Emit emit) {
  return [emit](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, kLanes);
    LLVMTypeRef types[] = {ir.ptr, ir.ptr, ir.i64};
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, types, 3, 0));
    ir.at(ir.block(f, "entry"));
    emit(ir, LLVMGetParam(f, 0), LLVMGetParam(f, 1), LLVMGetParam(f, 2));
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
}

Value but_the_last(Ir& ir) { return ir.insert(ir.true_mask(), ir.c1(false), kLanes - 1); }

Value places(Ir& ir, Value p, Value offset_B) {
  Value all = LLVMGetPoison(ir.vec(ir.ptr, kLanes));
  for (uint32_t k = 0; k < kLanes; ++k)
    all = LLVMBuildInsertElement(ir.builder, all, ir.offset(ir.offset(p, offset_B), 4 * k), ir.c32(k), "");
  return all;
}

Value masked_load(Ir& ir, Value p, Value mask) {
  return ir.call_intrinsic("llvm.masked.load", {ir.vf32, ir.ptr}, {p, ir.c32(4), mask, ir.fk(0)});
}

void masked_store(Ir& ir, Value v, Value p, Value mask) {
  ir.call_intrinsic("llvm.masked.store", {ir.vf32, ir.ptr}, {v, p, ir.c32(4), mask});
}

struct Case {
  const char* name;
  Emit emit;
  bool last = true;  // the last lane is one of those that are accessed
};

constexpr Case kCases[] = {
    {"load", [](Ir& ir, Value p, Value other, Value at) { ir.store(ir.load(ir.vf32, ir.offset(p, at), 4), other, 4); }},
    {"store", [](Ir& ir, Value p, Value other, Value at) { ir.store(ir.load(ir.vf32, other, 4), ir.offset(p, at), 4); }},
    {"load of one",
     [](Ir& ir, Value p, Value other, Value at) { ir.store(ir.load(ir.f32, ir.offset(ir.offset(p, at), 4 * (kLanes - 1)), 4), other, 4); }},
    {"store of one",
     [](Ir& ir, Value p, Value other, Value at) { ir.store(ir.load(ir.f32, other, 4), ir.offset(ir.offset(p, at), 4 * (kLanes - 1)), 4); }},
    {"masked load", [](Ir& ir, Value p, Value other, Value at) { ir.store(masked_load(ir, ir.offset(p, at), ir.true_mask()), other, 4); }},
    {"masked load of others",
     [](Ir& ir, Value p, Value other, Value at) { ir.store(masked_load(ir, ir.offset(p, at), but_the_last(ir)), other, 4); }, false},
    {"masked store",
     [](Ir& ir, Value p, Value other, Value at) { masked_store(ir, ir.load(ir.vf32, other, 4), ir.offset(p, at), ir.true_mask()); }},
    {"masked store of others",
     [](Ir& ir, Value p, Value other, Value at) { masked_store(ir, ir.load(ir.vf32, other, 4), ir.offset(p, at), but_the_last(ir)); },
     false},
    {"gather",
     [](Ir& ir, Value p, Value other, Value at) {
       Value from = places(ir, p, at);
       ir.store(ir.call_intrinsic("llvm.masked.gather", {ir.vf32, LLVMTypeOf(from)}, {from, ir.c32(4), ir.true_mask(), ir.fk(0)}), other,
                4);
     }},
    {"scatter of others",
     [](Ir& ir, Value p, Value other, Value at) {
       Value to = places(ir, p, at);
       ir.call_intrinsic("llvm.masked.scatter", {ir.vf32, LLVMTypeOf(to)}, {ir.load(ir.vf32, other, 4), to, ir.c32(4), but_the_last(ir)});
     },
     false},
    {"copy",
     [](Ir& ir, Value p, Value other, Value at) { LLVMBuildMemCpy(ir.builder, other, 4, ir.offset(p, at), 4, ir.c64(4 * kLanes)); }},
    {"variable",
     [](Ir& ir, Value, Value other, Value at) {
       Value array = LLVMBuildAlloca(ir.builder, LLVMArrayType(ir.f32, kLanes), "");
       LLVMSetVolatile(LLVMBuildStore(ir.builder, ir.cf(1), ir.offset(ir.offset(array, at), 4 * (kLanes - 1))), 1);
       ir.store(ir.load(ir.f32, array, 4), other, 4);
     }},
};

/// Whether a child that calls it comes back.
bool returns(void* address, float* p, float* other, uint64_t offset_B) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);  // the report
    dup2(nowhere, STDERR_FILENO), dup2(nowhere, STDOUT_FILENO);
    reinterpret_cast<void (*)(float*, float*, uint64_t)>(address)(p, other, offset_B);
    _exit(0);
  }
  int how = 0;
  CHECK(child > 0 && waitpid(child, &how, 0) == child);
  return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

void test_accesses(const char* code) {
  setenv("TILEGPU_CODE", code, 1);
  auto jit = Jit::create({kLanes, "", "off"});
  unsetenv("TILEGPU_CODE");
  if (!CHECK(jit)) return;
  for (const Case& one : kCases) {
    auto f = (*jit)->function(CodeKey(one.name), access(one.emit));
    if (!CHECK_MESSAGE(f, f ? "" : f.error().message)) continue;
    const auto p = std::make_unique<float[]>(kLanes), other = std::make_unique<float[]>(kLanes);
    void* address = (*f)->address.load();
    CHECK_MESSAGE(returns(address, p.get(), other.get(), 0), one.name);
    CHECK_MESSAGE(returns(address, p.get(), other.get(), 4) != one.last, one.name);
    CHECK_MESSAGE(!returns(address, p.get(), other.get(), 8), one.name);
  }
}

void test_without_a_runtime() {
  auto jit = Jit::create({kLanes, "", "off"});
  CHECK(!jit && jit.error().message.find("TILEGPU_CHECKED is 1, but this build has no AddressSanitizer") != std::string::npos);
}

void test_wrong_words() {
  setenv("TILEGPU_CHECKED", "yes", 1);
  auto jit = Jit::create({kLanes, "", "off"});
  CHECK(!jit && jit.error().message == "device: TILEGPU_CHECKED is 'yes'; allowed are '0' and '1'");
  for (const char* off : {"", "0"}) {
    setenv("TILEGPU_CHECKED", off, 1);
    CHECK(Jit::create({kLanes, "", "off"}));
  }
}

}  // namespace

int main() {
  test_wrong_words();
  setenv("TILEGPU_CHECKED", "1", 1);
  if (checker_address("__asan_load1")) {
    for (const char* code : {"quick", "optimised"}) test_accesses(code);
  } else {
    test_without_a_runtime();
  }
  CHECK(!checker_address("system") && !checker_address("__asan_there_is_none"));
  return test::finish("test_checked_code");
}
