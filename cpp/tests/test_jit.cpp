// tests/test_jit.cpp -- the code generator: compile, share, cache on disk, refuse what it must refuse.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/intrinsics.hpp"
#include "check.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/jit/background_crew.hpp"
#include "shader/jit/build_identity.hpp"
#include "shader/jit/checked_code.hpp"
#include "shader/jit/code_memory.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/compiler_pool.hpp"
#include "shader/jit/jit.hpp"
#include "shader/jit/jit_emit.hpp"
#include "shader/jit/object_cache.hpp"
#include "tilegpu/compiler.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

/// void f(float* p): p[0..lanes-1] = p * p + k
Jit::Build square_plus(uint32_t lanes, float k) {
  return [=](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, lanes);
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
    ir.at(ir.block(f, "entry"));
    Value p = LLVMGetParam(f, 0), x = ir.load(ir.vf32, p, 4);
    ir.store(ir.fadd(ir.fmul(x, x), ir.fk(k)), p, 4);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
}

CodeKey key_of(uint32_t n) {
  CodeKey key("test");
  key.add(n);
  return key;
}

void run_and_check(void* address, float k, uint32_t lanes) {
  float data[16];
  for (int i = 0; i < 16; ++i) data[i] = static_cast<float>(i);
  reinterpret_cast<void (*)(float*)>(address)(data);
  for (uint32_t i = 0; i < lanes; ++i) CHECK(data[i] == static_cast<float>(i) * static_cast<float>(i) + k);
}

std::string temporary_directory() {
  char path[] = "/tmp/tilegpu_test_jit_XXXXXX";
  return mkdtemp(path);
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> names;
  if (DIR* dir = opendir(directory.c_str())) {
    while (const dirent* e = readdir(dir)) {
      if (e->d_name[0] != '.') names.push_back(directory + "/" + e->d_name);
    }
    closedir(dir);
  }
  return names;
}

/// Where the environment does not forbid it, a shader's independent chains go by turns: other code than LLVM's own order gives, with the
/// same results.
void test_schedule() {
  const Jit::Build chains = [](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, 16);
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
    ir.at(ir.block(f, "entry"));
    Value p = LLVMGetParam(f, 0), x = ir.load(ir.vf32, p, 4), total = nullptr;
    for (int chain = 0; chain < 6; ++chain) {
      Value sum = ir.fmul(x, ir.fk(static_cast<float>(chain)));
      for (int k = 0; k < 12; ++k) sum = ir.fma(sum, x, ir.fk(static_cast<float>(k * chain)));
      total = total ? ir.fadd(total, sum) : sum;
    }
    ir.store(total, p, 4);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
  std::string code[2];
  float results[2][16];
  for (int own = 0; own < 2; ++own) {
    const std::string directory = temporary_directory();
    setenv("TILEGPU_DUMP", directory.c_str(), 1);
    if (own) setenv("TILEGPU_SCHEDULE", "default", 1);
    auto jit = Jit::create({16, "", "off"});
    unsetenv("TILEGPU_SCHEDULE"), unsetenv("TILEGPU_DUMP");
    if (!CHECK(jit)) return;
    auto f = (*jit)->function(CodeKey("fragment"), chains);
    if (!CHECK(f)) return;
    for (int i = 0; i < 16; ++i) results[own][i] = 0.1f * static_cast<float>(i);
    reinterpret_cast<void (*)(float*)>((*f)->address.load())(results[own]);
    for (const std::string& file : files_in(directory)) {
      if (file.ends_with(".s")) {
        std::ifstream in(file);
        code[own].assign(std::istreambuf_iterator<char>(in), {});
      }
      unlink(file.c_str());
    }
    rmdir(directory.c_str());
  }
  CHECK(std::memcmp(results[0], results[1], sizeof results[0]) == 0);
  CHECK(!code[0].empty() && !code[1].empty());
  const auto body = [](const std::string& s) { return s.substr(s.find("@function")); };
  if (has_wide_vectors()) CHECK(body(code[0]) != body(code[1]));
}

void test_lanes_and_targets() {
  for (uint32_t lanes : {4u, 8u, 16u}) {
    auto jit = Jit::create({lanes, "baseline", "off"});
    CHECK(jit);
    auto f = (*jit)->function(key_of(1), square_plus(lanes, 3));
    CHECK(f);
    if (f) run_and_check((*f)->address, 3, lanes);
  }
  CHECK(!Jit::create({5, "", "off"}));
  CHECK(!Jit::create({0, "z80", "off"}));
  auto native = Jit::create({0, "", "off"});
  CHECK(native);
  DeviceInfo info;
  (*native)->describe(info);
  CHECK(!info.cpu.empty() && !info.llvm_version.empty() && info.lanes == (*native)->lanes());
}

void test_cache() {
  const std::string directory = temporary_directory();
  auto request = [&](CompileStats& stats) {
    auto jit = Jit::create({8, "", directory});
    auto f = (*jit)->function(key_of(7), square_plus(8, 2));
    CHECK(f);
    if (f) run_and_check((*f)->address, 2, 8);
    stats = (*jit)->stats();
  };
  CompileStats stats;
  request(stats);
  CHECK(stats.functions_compiled == 1 && stats.functions_from_disk == 0);
  request(stats);
  CHECK(stats.functions_compiled == 0 && stats.functions_from_disk == 1);
  auto files = files_in(directory + "/objects");
  CHECK(files.size() == 1);
  struct stat s;
  CHECK(stat((directory + "/objects").c_str(), &s) == 0 && (s.st_mode & 0777) == 0700);
  // Truncated, then rotten in every part: ignored and rewritten.
  CHECK(truncate(files[0].c_str(), 100) == 0);
  request(stats);
  CHECK(stats.functions_compiled == 1);
  request(stats);
  CHECK(stats.functions_from_disk == 1);
  CHECK(stat(files[0].c_str(), &s) == 0);
  for (off_t at : {off_t{3}, off_t{12}, off_t{30}, off_t{60}, s.st_size - 400, s.st_size - 1}) {
    {
      std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(at);
      const char c = static_cast<char>(file.get() ^ 0x55);
      file.seekp(at);
      file.put(c);
    }
    request(stats);
    CHECK(stats.functions_compiled == 1);
  }
  // A directory that others may write is not used.
  CHECK(chmod((directory + "/objects").c_str(), 0777) == 0);
  request(stats);
  CHECK(stats.functions_compiled == 1 && stats.functions_from_disk == 0);
  for (const auto& f : files_in(directory + "/objects")) unlink(f.c_str());
  rmdir((directory + "/objects").c_str());
  rmdir(directory.c_str());
}

// Quick code first, the same function optimised later; only that is on disk. What was not done is done at the end.
void test_tiers() {
  const std::string directory = temporary_directory();
  const auto build = square_plus(8, 5);
  {
    auto jit = Jit::create({8, "", directory, true, 4});
    std::vector<const CodeSlot*> slots;
    for (uint32_t k = 0; k < 20; k++) {
      auto f = (*jit)->function(key_of(300 + k), build);
      if (!CHECK(f)) return;
      run_and_check((*f)->address, 5, 8);
      slots.push_back(*f);
    }
    CHECK((*jit)->stats().functions_compiled == 20);
    (*jit)->wait();
    CHECK((*jit)->stats().functions_waiting == 0 && (*jit)->stats().functions_compiled == 20);
    for (const CodeSlot* slot : slots) {
      CHECK(slot->last);
      run_and_check(slot->address, 5, 8);
    }
    auto again = (*jit)->function(key_of(300), build);
    CHECK(again && *again == slots[0]);
    for (uint32_t k = 20; k < 40; k++) CHECK((*jit)->function(key_of(300 + k), build));
  }
  CHECK(files_in(directory + "/objects").size() == 40);
  {
    auto jit = Jit::create({8, "", directory, true, 4});
    for (uint32_t k = 0; k < 40; k++) {
      auto f = (*jit)->function(key_of(300 + k), build);
      if (!CHECK(f)) return;
      CHECK((*f)->last);
      run_and_check((*f)->address, 5, 8);
    }
    CHECK((*jit)->stats().functions_from_disk == 40 && (*jit)->stats().functions_compiled == 0);
  }
  for (const auto& f : files_in(directory + "/objects")) unlink(f.c_str());
  rmdir((directory + "/objects").c_str());
  rmdir(directory.c_str());
  // Without a place for it, what has not begun is dropped.
  auto jit = Jit::create({8, "", "off", true, 2});
  for (uint32_t k = 0; k < 40; k++) CHECK((*jit)->function(key_of(400 + k), build));
}

/// A process that ends before its optimised code is made leaves quick code, so that none makes a function that an earlier one has used.
/// Each Jit here is as a process: the first ends while its crew's only thread is about one function, and another waits.
void test_three_processes() {
  const std::string directory = temporary_directory();
  std::atomic<bool> goes_on{false};
  std::atomic<int> made{0};
  const Jit::Build build = [&](LLVMModuleRef module, const char* name) -> Status {
    made++;
    const bool is_optimised = std::string(name).starts_with("tg_");
    for (int k = 0; k < 20000 && is_optimised && !goes_on; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return square_plus(8, 3)(module, name);
  };
  const auto use_both = [&](Jit& jit) {
    for (uint32_t k = 0; k < 2; ++k) {
      auto f = jit.function(key_of(900 + k), build, k ? When::later : When::now);
      if (CHECK(f && jit.finish(*f))) run_and_check((*f)->address, 3, 8);
    }
  };
  const auto files = [&] { return files_in(directory + "/objects").size(); };
  {
    auto jit = Jit::create({8, "", directory, true, 1});
    use_both(**jit);
    CHECK((*jit)->stats().functions_compiled == 2 && files() == 0);
    std::thread later([&] {
      std::this_thread::sleep_for(BackgroundCrew::kAtEnd + std::chrono::milliseconds(500));
      goes_on = true;
    });
    jit->reset();
    later.join();
  }
  CHECK(made == 3 && files() == 2, "%d made, %zu files", made.load(), files());  // two quickly, one optimised
  {
    auto jit = Jit::create({8, "", directory, true, 1});
    use_both(**jit);
    CHECK((*jit)->stats().functions_compiled == 0 && (*jit)->stats().functions_from_disk == 2);
    (*jit)->wait();
    CHECK(made == 4 && files() == 2);  // its optimised code is in the place of the other
  }
  auto jit = Jit::create({8, "", directory, true, 1});
  use_both(**jit);
  CHECK((*jit)->stats().functions_from_disk == 2 && (*jit)->stats().functions_waiting == 0 && made == 4);
  for (const auto& f : files_in(directory + "/objects")) unlink(f.c_str());
  rmdir((directory + "/objects").c_str());
  rmdir(directory.c_str());
}

/// Functions that are begun: the callback has run, LLVM's work is the crew's, or that of who needs the code first.
void test_coming() {
  const auto refuse = [](LLVMModuleRef, const char*) -> Status { return Error{VK_ERROR_INVALID_SHADER_NV, "not today"}; };
  auto jit = Jit::create({8, "", "off", true, 2});
  std::vector<const CodeSlot*> slots;
  for (uint32_t k = 0; k < 20; k++) {
    auto f = (*jit)->function(key_of(500 + k), square_plus(8, static_cast<float>(k)), When::later);
    if (!CHECK(f)) return;
    slots.push_back(*f);
  }
  CHECK((*jit)->stats().functions_compiled == 20);
  auto same = (*jit)->function(key_of(500), refuse, When::later);
  CHECK(same && *same == slots[0]);
  auto at_once = (*jit)->function(key_of(519), refuse);
  CHECK(at_once && *at_once == slots[19] && slots[19]->address);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&] {
      (*jit)->help(slots);
      for (const CodeSlot* slot : slots) CHECK((*jit)->finish(slot) && slot->address);
    });
  for (std::thread& thread : threads) thread.join();
  for (uint32_t k = 0; k < 20; k++) run_and_check(slots[k]->address, static_cast<float>(k), 8);
  CHECK((*jit)->stats().functions_compiled == 20);
  (*jit)->wait();
  for (uint32_t k = 0; k < 20; k++) {
    CHECK(slots[k]->last);
    run_and_check(slots[k]->address, static_cast<float>(k), 8);
  }
  // What the callback refuses is refused at once, and may be asked for again.
  const auto refused = (*jit)->function(key_of(600), refuse, When::later);
  CHECK(!refused && refused.error().message.find("not today") != std::string::npos);
  auto taken = (*jit)->function(key_of(600), square_plus(8, 1), When::later);
  CHECK(taken && (*jit)->finish(*taken));
  // Those that nobody asks for again end with the Jit.
  for (uint32_t k = 0; k < 20; k++) CHECK((*jit)->function(key_of(700 + k), square_plus(8, 1), When::later));
  // Without a crew there is nobody to do it later.
  auto alone = Jit::create({8, "", "off"});
  auto made = (*alone)->function(key_of(1), square_plus(8, 1), When::later);
  CHECK(made && (*made)->address);
}

void test_sharing() {
  auto jit = Jit::create({8, "", "off"});
  std::vector<std::thread> threads;
  void* found[8][4] = {};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t k = 0; k < 4; ++k) {
        auto f = (*jit)->function(key_of(k), square_plus(8, static_cast<float>(k)));
        if (f) found[t][k] = (*f)->address;
      }
    });
  }
  for (auto& t : threads) t.join();
  for (uint32_t k = 0; k < 4; ++k) {
    for (int t = 0; t < 8; ++t) CHECK(found[t][k] && found[t][k] == found[0][k]);
    if (found[0][k]) run_and_check(found[0][k], static_cast<float>(k), 8);
  }
  CHECK((*jit)->stats().functions_compiled == 4);
  CHECK((*jit)->stats().functions_from_memory == 28);
}

/// Tasks that have to be compiled overlap: each waits in its build until both have begun.
void test_reserved() {
  auto jit = Jit::create({8, "", "off"});
  const CodeSlot* slot = (*jit)->reserve(key_of(1));
  CHECK(slot && !slot->address && slot == (*jit)->reserve(key_of(1)));
  CHECK((*jit)->stats().functions_compiled == 0);
  const auto refused =
      (*jit)->function(key_of(1), [](LLVMModuleRef, const char*) -> Status { return Error{VK_ERROR_INVALID_SHADER_NV, "not today"}; });
  CHECK(!refused && refused.error().message.find("not today") != std::string::npos);
  CHECK(!slot->address && slot == (*jit)->reserve(key_of(1)));  // who has it can go on looking at it
  std::vector<std::thread> threads;
  const CodeSlot* found[4] = {};
  for (int t = 0; t < 4; t++) threads.emplace_back([&, t] { found[t] = *(*jit)->function(key_of(1), square_plus(8, 1)); });
  for (std::thread& thread : threads) thread.join();
  for (const CodeSlot* each : found) CHECK(each == slot);
  CHECK((*jit)->stats().functions_compiled == 1);
  run_and_check(slot->address, 1, 8);
  auto made = (*jit)->function(key_of(2), square_plus(8, 2));
  CHECK(made && (*jit)->reserve(key_of(2)) == *made && (*made)->address);
}

void test_crew() {
  auto jit = Jit::create({8, "", "off"});
  std::mutex mutex;
  std::condition_variable both;
  int begun = 0;
  bool met[2] = {};
  void* found[4] = {};
  const auto task = [&](uint32_t k, bool waits) {
    return [&, k, waits]() -> Status {
      auto f = (*jit)->function(key_of(k), [&, k, waits](LLVMModuleRef module, const char* name) {
        if (waits) {
          std::unique_lock lock(mutex);
          begun++;
          both.notify_all();
          met[k] = both.wait_for(lock, std::chrono::seconds(20), [&] { return begun == 2; });
        }
        return square_plus(8, static_cast<float>(k))(module, name);
      });
      if (!f) return f.error();
      found[k] = (*f)->address;
      return Ok{};
    };
  };
  CHECK(run_compiles(2, {task(0, true), task(1, true)}));
  CHECK(met[0] && met[1]);
  for (uint32_t k = 0; k < 2; ++k) {
    CHECK(found[k]);
    if (found[k]) run_and_check(found[k], static_cast<float>(k), 8);
  }
  // What is there already needs no other thread; the first error in the tasks' order is the one that is told.
  const auto here = std::this_thread::get_id();
  int elsewhere = 0;
  const auto known = [&]() -> Status {
    elsewhere += std::this_thread::get_id() != here;
    return task(0, false)();
  };
  CHECK(run_compiles(8, {known, known, known}));
  CHECK(elsewhere == 0);
  const auto fails = [](const char* text) { return [text]() -> Status { return Error{VK_ERROR_UNKNOWN, text}; }; };
  Status failed = run_compiles(2, {task(2, false), fails("first"), fails("second"), task(3, false)});
  CHECK(!failed && failed.error().message == "first" && found[2] && found[3]);
}

thread_local bool interrupted = false;
std::atomic<int> asked{0};

/// Ctrl-C is one thread's own affair: who waits for the same function makes it.
void test_interrupted_for_another() {
  for (const bool reserved : {false, true}) {
    auto jit = Jit::create({8, "", "off"});
    if (reserved) (*jit)->reserve(key_of(1));
    asked = 0;
    set_compile_goes_on([] {
      if (!interrupted) return true;
      asked = 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the other comes meanwhile
      return false;
    });
    std::string said;
    std::thread first([&] {
      interrupted = true;
      auto f = (*jit)->function(key_of(1), square_plus(8, 1));
      if (!f) said = f.error().message;
    });
    while (!asked) std::this_thread::yield();
    auto f = (*jit)->function(key_of(1), square_plus(8, 1));
    first.join();
    CHECK(said.find("compiling was interrupted") != std::string::npos);
    if (CHECK(f)) run_and_check((*f)->address, 1, 8);
    // And who is interrupted need not wait for another's compile to end.
    std::atomic<bool> in_build{false}, left{false};
    std::thread slow([&] {
      CHECK((*jit)->function(key_of(2), [&](LLVMModuleRef module, const char* name) {
        in_build = true;
        for (int k = 0; k < 10000 && !left; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return square_plus(8, 2)(module, name);
      }));
    });
    while (!in_build) std::this_thread::yield();
    interrupted = true;
    CHECK(!(*jit)->function(key_of(2), square_plus(8, 2)) && !left);
    interrupted = false;
    left = true;
    slow.join();
    set_compile_goes_on(nullptr);
  }
}

/// Functions of very many blocks are not optimised, whose time would be as the square of these: of those that are, a chain is one block.
void test_many_blocks() {
  const auto chain = [](uint32_t blocks) -> Jit::Build {
    return [blocks](LLVMModuleRef module, const char* name) -> Status {
      Ir ir(module, 8);
      Value f = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
      ir.at(ir.block(f, "entry"));
      Value p = LLVMGetParam(f, 0), x = ir.load(ir.vf32, p, 4);
      ir.store(ir.fadd(ir.fmul(x, x), ir.fk(4)), p, 4);
      for (uint32_t k = 1; k < blocks; ++k) {
        Block next = ir.block(f, "next");
        ir.br(next);
        ir.at(next);
      }
      LLVMBuildRetVoid(ir.builder);
      CHECK(has_too_many_blocks(module) == (blocks > kMostOptimisedBlocks));
      return Ok{};
    };
  };
  for (const uint32_t blocks : {kMostOptimisedBlocks, kMostOptimisedBlocks + 1}) {
    const std::string directory = temporary_directory();
    setenv("TILEGPU_DUMP", directory.c_str(), 1);
    auto jit = Jit::create({8, "", "off"});
    unsetenv("TILEGPU_DUMP");
    auto f = (*jit)->function(key_of(blocks), chain(blocks));
    if (CHECK(f)) run_and_check((*f)->address, 4, 8);
    size_t labels = 0;
    for (const std::string& file : files_in(directory)) {
      std::ifstream in(file);
      for (std::string line; file.ends_with(".after.ll") && std::getline(in, line);) labels += line.find("preds =") != std::string::npos;
      unlink(file.c_str());
    }
    rmdir(directory.c_str());
    CHECK(blocks > kMostOptimisedBlocks ? labels > 8000 : labels < 10, "%zu labels", labels);
  }
}

/// Who waits for LLVM is asked meanwhile, and leaves at once; the function is made by who wants it next.
void test_interrupted_in_llvm() {
  const Jit::Build chain = [](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, 8);
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
    ir.at(ir.block(f, "entry"));
    Value p = LLVMGetParam(f, 0), x = ir.load(ir.vf32, p, 4), sum = x;
    for (int k = 0; k < 9000; ++k) sum = ir.fma(sum, x, ir.fk(static_cast<float>(k)));
    ir.store(sum, p, 4);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
  for (const bool tiered : {false, true}) {
    auto jit = Jit::create({8, "", "off", tiered});
    asked = 0;
    set_compile_goes_on([] { return ++asked < 3; });  // before it, and then while LLVM is at it
    auto left = (*jit)->function(key_of(1), chain);
    CHECK(!left && left.error().message.find("compiling was interrupted") != std::string::npos);
    set_compile_goes_on(nullptr);
    auto made = (*jit)->function(key_of(1), chain);
    CHECK(made && (*made)->address);
  }
}

/// What nobody has to have is made by the next who wants it.
void test_interrupted_offer() {
  auto jit = Jit::create({8, "", "off"});
  interrupted = true;
  set_compile_goes_on([] { return !interrupted; });
  const CodeSlot* slot = (*jit)->offer(key_of(1), square_plus(8, 1));
  CHECK(slot && !slot->address);
  slot->wanted.store(true);
  (*jit)->make_wanted();
  CHECK(!slot->address);
  interrupted = false;
  (*jit)->make_wanted();
  CHECK(slot->address);
  set_compile_goes_on(nullptr);
}

void test_identity() {
  const std::string noted = identity_of_image(true);
  CHECK(noted.starts_with("note ") && noted.size() == 5 + 32 && build_identity() == noted);
  if (checker_address("__asan_load1")) return;  // the image has red zones, which nobody may read
  const std::string bytes = identity_of_image(false);
  // A hash of each segment that nobody writes: linkers for x86-64 make several, for aarch64 one.
  CHECK(bytes.starts_with("bytes ") && bytes.size() >= 6 + 32 && bytes.size() % 32 == 6 && bytes == identity_of_image(false));
}

/// What can't be sent is refused before anything is started.
void test_requests_have_a_size() {
  auto pool = CompilerPool::create({1, 1 << 30});
  if (!CHECK(pool)) return;
  const Expected<std::string> answer = (*pool)->ask("shader 'x'", std::string(kMaxMessage_B + 1, 'x'));
  CHECK(!answer && answer.error().message.find("shader 'x': it has 268435457 bytes") != std::string::npos);
}

void test_background() {
  std::atomic<int> done{0};
  const auto task = [&] { done++; };
  const auto wait_until_done = [&](int n) {
    for (int k = 0; k < 20000 && done < n; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(done == n);
  };
  BackgroundCrew crew(2, std::chrono::milliseconds(0));
  crew.add(task);
  wait_until_done(1);
  // While somebody compiles for himself nothing begins; holds nest.
  crew.hold(), crew.hold();
  crew.add(task), crew.add(task);
  crew.release();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(done == 1 && crew.waiting() == 2);
  crew.release();
  wait_until_done(3);
  // Who waits does not wait for that, and it is held again afterwards.
  crew.hold();
  crew.add(task);
  crew.wait();
  CHECK(done == 4 && crew.waiting() == 0);
  crew.add(task);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(done == 4);
  crew.release();
  crew.wait();
  CHECK(done == 5);
  // Nor does the end: a crew that finishes does what waits.
  {
    BackgroundCrew finishes(1, BackgroundCrew::kAtEnd), drops(1, std::chrono::milliseconds(0));
    finishes.hold(), drops.hold();
    finishes.add(task), drops.add(task);
  }
  CHECK(done == 6);
}

/// A program that ends does not wait for all that would be better for the next one: some of it is done, the rest dropped.
void test_an_end_in_bounded_time() {
  constexpr int kTasks = 500;
  std::atomic<int> done = 0;
  {
    BackgroundCrew crew(1, std::chrono::milliseconds(200));
    for (int n = 0; n < kTasks; n++)
      crew.add([&done] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        done++;
      });
  }
  CHECK(done > 0 && done < kTasks, "%d of %d tasks", done.load(), kTasks);
}

/// What a crew drops, or leaves running at the end of the process, has something short done in its place; what was done has not.
void test_instead() {
  std::atomic<int> instead{0};
  const auto count = [&] { instead++; };
  {
    BackgroundCrew crew(1, std::chrono::milliseconds(0));
    crew.add([] {}, count);
    crew.wait();
    CHECK(instead == 0);
    crew.hold();
    crew.add([] {}, count), crew.add([] {}, count);
  }
  CHECK(instead == 2);
  std::atomic<bool> begun{false}, ends{false}, ended{false};
  auto* crew = new BackgroundCrew(1, BackgroundCrew::kAtEnd);  // its thread is left behind
  crew->add(
      [&] {
        begun = true;
        while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ended = true;
      },
      count);
  while (!begun) std::this_thread::yield();
  BackgroundCrew::end_all();
  CHECK(instead == 3 && !ended);
  ends = true;
  while (!ended) std::this_thread::yield();
  delete crew;
  CHECK(instead == 3);
}

/// Somebody waits for what a crew does while the process ends it: the list of its threads is looked at by both.
void test_wait_while_it_ends() {
  for (int k = 0; k < 50; k++) {
    std::atomic<int> done = 0;
    {
      BackgroundCrew crew(2, BackgroundCrew::kAtEnd);
      for (int n = 0; n < 4; n++) crew.add([&done] { done++; });
      std::thread waits([&crew] { crew.wait(); });
      BackgroundCrew::end_all();
      waits.join();
    }
    CHECK(done == 4, "%d of 4 tasks", done.load());
  }
}

/// A device's last owner may be a thread of its own, and the process end meanwhile.
void test_two_ends() {
  for (uint32_t k = 0; k < 20; ++k) {
    std::atomic<uint32_t> done{0};
    auto crew = std::make_unique<BackgroundCrew>(2, BackgroundCrew::kAtEnd);
    for (uint32_t i = 0; i < 4; ++i) {
      crew->add([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++done;
      });
    }
    std::thread other([&] { crew.reset(); });
    BackgroundCrew::end_all();
    other.join();
    CHECK(done == 4);
  }
}

/// void f(char* to, const char* from, uint64_t size_B): calls of memcpy, a switch over many cases, constants.
Jit::Build copies_and_chooses() {
  return [](LLVMModuleRef module, const char* name) -> Status {
    Ir ir(module, 8);
    Type types[3] = {ir.ptr, ir.ptr, ir.i64};
    Value f = ir.function(name, LLVMFunctionType(ir.void_type, types, 3, 0));
    ir.at(ir.block(f, "entry"));
    Value to = LLVMGetParam(f, 0), size_B = LLVMGetParam(f, 2);
    LLVMBuildMemCpy(ir.builder, to, 1, LLVMGetParam(f, 1), 1, size_B);
    LLVMBuildMemSet(ir.builder, ir.offset(to, size_B), ir.c8(7), size_B, 1);
    Block done = ir.block("done");
    Value jump = LLVMBuildSwitch(ir.builder, size_B, done, 8);
    for (uint32_t k = 0; k < 8; ++k) {
      Block b = ir.block("case");
      LLVMAddCase(jump, ir.c64(8 + k), b);
      ir.at(b);
      ir.store(LLVMBuildXor(ir.builder, ir.load(ir.i32, to, 1), ir.c32(k * k * 1000003 + 1), ""), ir.offset(to, uint64_t{64} + k), 1);
      ir.br(done);
    }
    ir.at(done);
    LLVMBuildRetVoid(ir.builder);
    return Ok{};
  };
}

void test_placing() {
  for (bool tiered : {true, false}) {
    auto jit = Jit::create({8, "", "off", tiered, 1});
    auto f = (*jit)->function(key_of(1), copies_and_chooses());
    CHECK(f);
    if (!f) return;
    for (uint32_t size_B : {5u, 8u, 11u, 15u, 30u}) {
      uint8_t from[32], to[128] = {};
      for (uint32_t k = 0; k < 32; ++k) from[k] = static_cast<uint8_t>(k * 5 + 1);
      reinterpret_cast<void (*)(uint8_t*, const uint8_t*, uint64_t)>((*f)->address.load())(to, from, size_B);
      CHECK(!std::memcmp(to, from, size_B));
      CHECK(std::all_of(to + size_B, to + size_t{2} * size_B, [](uint8_t b) { return b == 7; }));
      uint32_t word, wanted;
      std::memcpy(&wanted, from, 4);
      if (size_B >= 8 && size_B < 16) {
        const uint32_t k = size_B - 8;
        std::memcpy(&word, to + 64 + k, 4);
        CHECK(word == (wanted ^ (k * k * 1000003 + 1)));
      }
    }
  }
  // Objects from a disk that nobody can trust: refused, or placed, but never a write elsewhere. One that is whole is placed.
  const std::string directory = temporary_directory();
  std::string object;
  {
    auto jit = Jit::create({8, "", directory, false, 1});
    CHECK((*jit)->function(key_of(2), copies_and_chooses()));
  }
  for (const std::string& path : files_in(directory + "/objects")) {
    std::ifstream file(path, std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    object = all.substr(all.find("\177ELF"));
  }
  const size_t name_at = object.find("tg_");
  CHECK(name_at != std::string::npos);
  if (name_at == std::string::npos) return;
  const std::string name = object.c_str() + name_at;
  CodeMemory memory;
  CHECK(memory.place(object, name) && !memory.place(object, "another") && !memory.place("", name));
  for (size_t size_B = 0; size_B + 1 < object.size(); size_B += 7) CHECK(!memory.place(object.substr(0, size_B), name));
  uint32_t refused = 0, random = 1;
  for (uint32_t k = 0; k < 3000; ++k) {
    std::string changed = object;
    for (int n = 0; n < 3; ++n) {
      random = random * 1664525 + 1013904223;
      const size_t at = (random >> 8) % changed.size();
      changed[at] = static_cast<char>(random >> 5 & 1 ? 0xff : random >> 24);
    }
    refused += !memory.place(changed, name);
  }
  CHECK(refused > 300 && refused < 3000);
}

void test_refusals() {
  auto jit = Jit::create({8, "", "off"});
  auto fails = [&](uint32_t n, const Jit::Build& build, const char* text) {
    auto f = (*jit)->function(key_of(n), build);
    CHECK(!f);
    if (!f) CHECK_MESSAGE(f.error().message.find(text) != std::string::npos, f.error().message);
  };
  fails(100, [](LLVMModuleRef, const char*) -> Status { return Error{VK_ERROR_UNKNOWN, "the shader says no"}; }, "says no");
  fails(101, [](LLVMModuleRef, const char*) -> Status { return Ok{}; }, "does not define");
  const Jit::Build foreign = [](LLVMModuleRef module, const char* name) -> Status {  // libm
    Ir ir(module, 8);
    Value f = ir.function(name, LLVMFunctionType(ir.f32, &ir.f32, 1, 0));
    ir.at(ir.block(f, "entry"));
    LLVMBuildRet(ir.builder, ir.unary("llvm.sin", LLVMGetParam(f, 0)));
    return Ok{};
  };
  fails(102, foreign, "sinf");
  {  // What is found out later is the error of who waits, each time; who asks again hears it at once, or has code.
    auto tiered = Jit::create({8, "", "off", true, 2});
    auto begun = (*tiered)->function(key_of(102), foreign, When::later);
    for (int i = 0; i < 2 && CHECK(begun); i++) {
      const Status failed = (*tiered)->finish(*begun);
      CHECK(!failed && failed.error().message.find("sinf") != std::string::npos && !(*begun)->address);
    }
    CHECK(!(*tiered)->function(key_of(102), foreign));
    CHECK((*tiered)->function(key_of(102), square_plus(8, 1)));
    CHECK(!begun || ((*tiered)->finish(*begun) && (*begun)->address));
  }
  fails(
      103,
      [](LLVMModuleRef module, const char* name) -> Status {  // no terminator
        Ir ir(module, 8);
        Value f = ir.function(name, LLVMFunctionType(ir.f32, &ir.f32, 1, 0));
        ir.at(ir.block(f, "entry"));
        ir.fadd(LLVMGetParam(f, 0), ir.cf(1));
        return Ok{};
      },
      "not valid IR");
  // A frame beyond the limit, in either tier; the largest that is allowed runs.
  const auto with_frame = [](uint32_t size_B) {
    return [size_B](LLVMModuleRef module, const char* name) -> Status {
      Ir ir(module, 8);
      Value f = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
      ir.at(ir.block(f, "entry"));
      Value frame = LLVMBuildAlloca(ir.builder, LLVMArrayType2(ir.i8, size_B), "");
      // Where the array lies is told to the caller, so that it stays; its first byte is the deepest.
      LLVMSetVolatile(LLVMBuildStore(ir.builder, ir.c8(1), frame), 1);
      ir.store(LLVMBuildPtrToInt(ir.builder, frame, ir.i64, ""), LLVMGetParam(f, 0), 8);
      LLVMBuildRetVoid(ir.builder);
      return Ok{};
    };
  };
  fails(104, with_frame(kMaxStackFrame_B + 4096), "bytes of stack");
  auto large = (*jit)->function(key_of(105), with_frame(kMaxStackFrame_B - 4096));
  if (CHECK_MESSAGE(large, large ? "" : large.error().message)) {
    uint64_t address = 0;
    reinterpret_cast<void (*)(uint64_t*)>((*large)->address.load())(&address);
    const auto here = reinterpret_cast<uint64_t>(&address);
    CHECK(address < here && here - address >= kMaxStackFrame_B - 4096);
  }
  auto f = (*jit)->function(key_of(100), square_plus(8, 1));  // a failed key may be tried again
  CHECK(f);
}

}  // namespace

int main() {
  test_lanes_and_targets();
  test_schedule();
  test_cache();
  test_tiers();
  test_three_processes();
  test_coming();
  test_sharing();
  test_reserved();
  test_crew();
  test_interrupted_for_another();
  test_many_blocks();
  test_interrupted_in_llvm();
  test_interrupted_offer();
  test_identity();
  test_requests_have_a_size();
  test_background();
  test_placing();
  test_refusals();
  test_instead();
  test_two_ends();
  test_wait_while_it_ends();
  test_an_end_in_bounded_time();
  return test::finish("test_jit");
}
