// tests/test_promote.cpp -- variables become values: random programs beside an interpreter, what they cost, frames that a stack doesn't
// hold.
#include <llvm-c/Analysis.h>
#include <pthread.h>
#include <time.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>

#include "base/large_stack.hpp"
#include "check.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/ir/promote.hpp"
#include "shader/jit/deep_frame.hpp"
#include "shader/jit/jit.hpp"
#include "shader/jit/jit_emit.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

constexpr uint32_t kVariables = 6, kNone = ~0u;

/// variable[to] = variable[a] * factor + variable[b]; then to `taken` where that is odd and there is fuel, else to `next`, which is later.
struct Step {
  uint32_t to = 0, a = 0, b = 0, factor = 1;
};
struct Node {
  std::vector<Step> steps;
  uint32_t asked = 0, taken = 0, next = 0;
};
using Program = std::vector<Node>;  // the last one ends

Program random_program(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Program program(3 + below(25));
  const auto count = static_cast<uint32_t>(program.size());
  for (uint32_t k = 0; k < count; ++k) {
    Node& node = program[k];
    for (uint32_t n = below(4); n; --n) node.steps.push_back({below(kVariables), below(kVariables), below(kVariables), 1 + below(7)});
    node.asked = below(kVariables);
    node.next = k + 1 + below(std::min(3u, count - k));
    node.taken = below(4) ? std::min(count - 1, k + below(6)) : 1 + below(k + 1);  // the entry has no way in
    node.next = std::min(node.next, count - 1), node.taken = std::max(node.taken, 1u);
  }
  return program;
}

using Values = std::array<uint32_t, kVariables>;

Values interpret(const Program& program, Values values, uint32_t fuel) {
  for (uint32_t at = 0;;) {
    for (const Step& s : program[at].steps) values[s.to] = values[s.a] * s.factor + values[s.b];
    if (at + 1 == program.size()) return values;
    const bool goes = values[program[at].asked] & 1 && fuel;
    fuel -= goes;
    at = goes ? program[at].taken : program[at].next;
  }
}

/// void f(uint32_t* values, uint32_t fuel), every value in a variable. Some blocks are never reached.
Jit::Build build_of(const Program& program) {
  return [program](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, 8);
    Type given[] = {ir.ptr, ir.i32};
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, given, 2, 0));
    ir.at(ir.block(f, "entry"));
    std::vector<Value> variables;
    for (uint32_t k = 0; k <= kVariables; ++k) variables.push_back(LLVMBuildAlloca(ir.builder, ir.i32, ""));
    const auto get = [&](uint32_t k) { return ir.load(ir.i32, variables[k], 4); };
    for (uint32_t k = 0; k < kVariables; ++k) ir.store(ir.load(ir.i32, ir.offset(LLVMGetParam(f, 0), k * 4), 4), variables[k], 4);
    ir.store(LLVMGetParam(f, 1), variables[kVariables], 4);
    std::vector<Block> blocks;
    for (size_t k = 0; k < program.size(); ++k) blocks.push_back(ir.block(f, "node"));
    ir.br(blocks[0]);
    for (size_t k = 0; k < program.size(); ++k) {
      ir.at(blocks[k]);
      for (const Step& s : program[k].steps) ir.store(ir.add(ir.mul(get(s.a), ir.c32(s.factor)), get(s.b)), variables[s.to], 4);
      if (k + 1 == program.size()) break;
      Value odd = ir.icmp(LLVMIntEQ, ir.and_(get(program[k].asked), ir.c32(1)), ir.c32(1));
      Value goes = ir.and_(odd, ir.icmp(LLVMIntNE, get(kVariables), ir.c32(0)));
      ir.store(ir.sub(get(kVariables), LLVMBuildZExt(ir.builder, goes, ir.i32, "")), variables[kVariables], 4);
      ir.br(goes, blocks[program[k].taken], blocks[program[k].next]);
    }
    for (uint32_t k = 0; k < kVariables; ++k) ir.store(get(k), ir.offset(LLVMGetParam(f, 0), k * 4), 4);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
}

CodeKey key_of(uint32_t n) {
  CodeKey key("test");
  key.add(n);
  return key;
}

void test_random() {
  setenv("TILEGPU_CODE", "quick", 1);
  auto quick = Jit::create({8, "", "off"});
  setenv("TILEGPU_CODE", "optimised", 1);
  auto optimised = Jit::create({8, "", "off"});
  unsetenv("TILEGPU_CODE");
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Program program = random_program(seed);
    for (auto* jit : {&quick, &optimised}) {
      auto f = (**jit)->function(key_of(seed), build_of(program));
      if (!CHECK_MESSAGE(f, f ? "" : f.error().message)) return;
      for (uint32_t fuel : {0u, 1u, 7u, 1000u}) {
        Values values{1, 2, 3, 5, 8, 13 + seed}, wanted = interpret(program, values, fuel);
        reinterpret_cast<void (*)(uint32_t*, uint32_t)>((*f)->address.load())(values.data(), fuel);
        CHECK(values == wanted, "program %u, fuel %u", seed, fuel);
      }
    }
  }
}

double processor_s() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// As a shader is lowered: `count` variables, zero where the function begins, each stored in two arms of a branch and loaded behind them.
void fill_with_branches(LLVMModuleRef module, uint32_t count) {
  Ir ir(module, 8);
  Value f = ir.function("f", LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
  ir.at(ir.block(f, "entry"));
  std::vector<Value> variables;
  for (uint32_t k = 0; k < count; ++k) variables.push_back(LLVMBuildAlloca(ir.builder, ir.i32, ""));
  for (Value v : variables) ir.store(ir.c32(0), v, 4);
  Value sum = ir.load(ir.i32, LLVMGetParam(f, 0), 4);
  for (Value v : variables) {
    Block arms[] = {ir.block(f, "then"), ir.block(f, "else")}, end = ir.block(f, "merge");
    ir.br(ir.icmp(LLVMIntEQ, sum, ir.c32(3)), arms[0], arms[1]);
    for (Block arm : arms) {
      ir.at(arm);
      ir.store(ir.add(sum, ir.c32(arm == arms[0])), v, 4);
      ir.br(end);
    }
    ir.at(end);
    sum = ir.add(ir.load(ir.i32, v, 4), sum);
  }
  ir.store(sum, LLVMGetParam(f, 0), 4);
  LLVMBuildRetVoid(ir.builder);
}

/// A variable costs what it is alive for: twice the function, twice the time.
void test_proportion() {
  const auto time_s = [](uint32_t count) {
    double least = 1e9;
    for (int round = 0; round < 3; ++round) {
      Work work;
      work.module = LLVMModuleCreateWithNameInContext("test", work.holder.context);
      fill_with_branches(work.module, count);
      const double start = processor_s();
      promote_variables(work.module);
      least = std::min(least, processor_s() - start);
      CHECK(!LLVMVerifyModule(work.module, LLVMReturnStatusAction, nullptr));
      LLVMValueRef f = LLVMGetNamedFunction(work.module, "f");
      for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) CHECK(!LLVMIsAAllocaInst(i));
    }
    return least;
  };
  const double small = time_s(1000), large = time_s(8000);
  CHECK(large < small * 24, "%.1f and %.1f ms", small * 1e3, large * 1e3);  // 8, were all else equal; of LLVM's own 64
}

/// Values that are alive at once, each in use by two blocks: quick code has places for all of them.
Jit::Build many_values(uint32_t count) {
  return [count](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, 16);
    Type given[] = {ir.ptr, ir.ptr};
    Value f = ir.function(name, LLVMFunctionType(ir.i64, given, 2, 0));
    ir.at(ir.block(f, "entry"));
    std::vector<Value> values;
    Value x = ir.load(ir.vf32, LLVMGetParam(f, 0), 4);
    for (uint32_t k = 0; k < count; ++k) values.push_back(x = ir.fadd(ir.fmul(x, ir.fk(0.75f)), ir.fk(static_cast<float>(k % 7))));
    Block next = ir.block(f, "next");
    ir.br(next);
    ir.at(next);
    for (Value v : values) x = ir.fsub(v, x);
    ir.store(x, LLVMGetParam(f, 0), 4);
    Value place = LLVMBuildAlloca(ir.builder, ir.i64, "");
    ir.store(LLVMBuildPtrToInt(ir.builder, place, ir.i64, ""), LLVMGetParam(f, 1), 8);
    LLVMBuildRet(ir.builder, ir.c64(count));
    return Ok{};
  };
}

struct Result {
  float data[16];
  uint64_t frame = 0, returned = 0;
};

Result run(void* address) {
  Result r;
  for (int k = 0; k < 16; ++k) r.data[k] = static_cast<float>(k);
  r.returned = reinterpret_cast<uint64_t (*)(float*, uint64_t*)>(address)(r.data, &r.frame);
  return r;
}

/// On a thread with `stack_B`, which `call` is told the end of.
void on_thread(size_t stack_B, const std::function<void()>& call) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_B);
  pthread_t thread;
  const auto begin = [](void* self) -> void* {
    (*static_cast<const std::function<void()>*>(self))();
    return nullptr;
  };
  CHECK(!pthread_create(&thread, &attributes, begin, const_cast<std::function<void()>*>(&call)));
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

void test_deep_frames() {
  constexpr uint32_t kCount = 20'000;  // 1.3 MB
  setenv("TILEGPU_CODE", "quick", 1);
  auto quick = Jit::create({16, "baseline", "off"});
  setenv("TILEGPU_CODE", "optimised", 1);
  auto optimised = Jit::create({16, "baseline", "off"});
  unsetenv("TILEGPU_CODE");
  auto deep = (*quick)->function(key_of(1), many_values(kCount)), few = (*optimised)->function(key_of(1), many_values(100));
  auto same = (*quick)->function(key_of(2), many_values(100));
  if (!CHECK_MESSAGE(deep, deep ? "" : deep.error().message) || !CHECK(few) || !CHECK(same)) return;
  CHECK(!std::memcmp(run((*few)->address).data, run((*same)->address).data, 64));
  Result usual, tight, wide;
  uint64_t tight_here = 0, wide_here = 0;
  usual = run((*deep)->address);
  CHECK(usual.returned == kCount);
  on_thread(64u << 20, [&] { wide_here = reinterpret_cast<uint64_t>(__builtin_frame_address(0)), wide = run((*deep)->address); });
  on_thread(256u << 10, [&] { tight_here = reinterpret_cast<uint64_t>(__builtin_frame_address(0)), tight = run((*deep)->address); });
  CHECK(!std::memcmp(usual.data, wide.data, 64) && !std::memcmp(usual.data, tight.data, 64) && tight.returned == kCount);
  CHECK(wide.frame < wide_here && wide_here - wide.frame > kMaxStackFrame_B && wide_here - wide.frame < 4u << 20);
  CHECK(tight.frame > tight_here || tight_here - tight.frame > 256u << 10);  // on another thread's
}

void test_stacks() {
  size_t left_B = 0;
  on_thread(1u << 20, [&] { left_B = stack_left_B(); });
  CHECK(left_B > 900u << 10 && left_B < 1u << 30, "%zu bytes", left_B);  // a stack that was another thread's may be larger
  bool called = false;
  CHECK(on_stack_of(32u << 20, [&] { called = true, left_B = stack_left_B(); }) && called && left_B > 31u << 20);
  called = false;
  CHECK(!on_stack_of(size_t{1} << 60, [&] { called = true; }) && !called);
}

}  // namespace

int main() {
  test_random();
  test_proportion();
  test_deep_frames();
  test_stacks();
  return test::finish("test_promote");
}
