// shader/jit/jit_state.hpp -- what a Jit holds: functions by their keys, the disk cache, target machines, the crew in the background.
//
// In: for jit.cpp, which answers who asks, and jit_make.cpp, which makes code. Out: nothing else includes it.
#pragma once

#include <llvm-c/TargetMachine.h>

#include <cassert>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory_budget.hpp"
#include "shader/jit/background_crew.hpp"
#include "shader/jit/code_memory.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/compile_request.hpp"
#include "shader/jit/compiler_pool.hpp"
#include "shader/jit/jit.hpp"
#include "shader/jit/jit_emit.hpp"
#include "shader/jit/jit_target.hpp"
#include "shader/jit/object_cache.hpp"
#include "shader/jit/object_request.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::shader {

inline double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/// The IR of a function whose quick code is still to be made.
struct Begun {
  std::unique_ptr<Work> work;
  std::string name, kind;
  CacheKeyPtr full_key;
  Jit::Build build;
};

struct Entry {
  bool done = false;
  uint32_t made_in_fork = fork_number();  // whose thread makes it, until it is done
  bool reserved = false;                  // somebody has the slot, whatever becomes of it
  std::unique_ptr<Begun> begun;           // until somebody takes it to make it
  CodeSlot slot;
  Error error;
  MemoryShare memory;  // with its key, until the device ends
};

struct Jit::State {
  std::string requested_target, prefix, vectors;
  EmitOptions emit_options;
  TargetOfCode target;
  bool wide = false, byte_tables = false;
  std::string data_layout;
  CodeMemory code;
  std::unique_ptr<ObjectCache> cache;
  std::shared_ptr<CompilerPool> compilers;

  ForkMutex mutex;  // of everything below
  ForkCondition finished;
  std::unordered_map<CacheKeyPtr, std::shared_ptr<Entry>, HashOfKey, SameKey> entries;
  struct Offer {
    std::shared_ptr<Entry> entry;
    Build build;
    CacheKeyPtr full_key;
    std::string kind;
  };
  std::vector<Offer> offers;                                           // that nobody wanted yet
  std::unordered_map<const CodeSlot*, std::shared_ptr<Entry>> coming;  // begun, and not ready
  std::vector<LLVMTargetMachineRef> idle_machines[2];                  // by tier
  CompileStats stats;

  std::unique_ptr<BackgroundCrew> background;  // null: one tier only
  Tier tier = Tier::optimised;                 // that one, or the first
  std::unique_ptr<BackgroundCrew> apart;       // makes what takes long, for threads that wait and may be interrupted

  ~State() {
    apart.reset();
    background.reset();
    for (const auto& machines : idle_machines)
      for (LLVMTargetMachineRef m : machines) LLVMDisposeTargetMachine(m);
  }
  LLVMTargetMachineRef take_machine(Tier of) {
    {
      std::lock_guard lock(mutex);
      auto& idle = idle_machines[static_cast<size_t>(of)];
      if (!idle.empty()) {
        LLVMTargetMachineRef m = idle.back();
        idle.pop_back();
        return m;
      }
    }
    return make_target_machine(of, target);
  }
  void give_machine(Tier of, LLVMTargetMachineRef m) {
    assert(m);
    std::lock_guard lock(mutex);
    idle_machines[static_cast<size_t>(of)].push_back(m);
  }
  Expected<std::unique_ptr<Work>> build_ir(const Build& build, const std::string& name, const char* kind) const;
  Expected<std::string> generate(Work& work, Tier of, const std::string& name, const char* kind);
  Expected<std::string> generate_apart(std::unique_ptr<Work> work, Tier of, const std::string& name, const char* kind);
  Expected<void*> link(const std::string& object, const std::string& name, const char* kind);
  /// `object`: what was linked, where it is to be kept. `waits`: somebody does, who may be interrupted; not for a crew's tasks.
  Expected<void*> make_quick(const Build& build, const std::string& name, const char* kind, bool waits, std::string* object = nullptr);
  Expected<void*> make_optimised(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key, bool waits);
  /// `quick_object`: goes to disk where the optimised one does not come to it; empty: it is there.
  void optimise_later(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key,
                      const std::shared_ptr<Entry>& entry, std::string quick_object);
  Expected<void*> load(const CacheKeyPtr& full_key, const std::string& name, const char* kind);
  Expected<void*> load_object(const CacheKey& key, const std::string& name, const char* kind);
  bool take_from_disk(const CacheKeyPtr& full_key, const std::string& name, const char* kind, const Build& build,
                      const std::shared_ptr<Entry>& entry);
  Status make(const CacheKeyPtr& full_key, const CodeKey& key, const Build& build, const std::shared_ptr<Entry>& entry);
  void make_offer(Offer offer);
  Expected<std::unique_ptr<Begun>> begin(const CacheKeyPtr& full_key, const CodeKey& key, const Build& build,
                                         const std::shared_ptr<Entry>& entry);
  bool make_begun(const std::shared_ptr<Entry>& entry);
  /// Until another thread has done with it. False: this one was interrupted before.
  bool await(std::unique_lock<std::mutex>& lock, const Entry& entry) {
    while (!finished.wait_for(lock, kAskMeanwhile, [&] { return entry.done; })) {
      lock.unlock();
      const bool goes_on = compile_goes_on();
      lock.lock();
      if (!goes_on) return false;
    }
    return true;
  }
};

}  // namespace tilegpu::shader
