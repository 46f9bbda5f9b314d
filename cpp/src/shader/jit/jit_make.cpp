// shader/jit/jit_make.cpp -- code for a key: from disk, quickly, begun for later, or optimised.
//
// In: keys and callbacks that fill modules. Out: addresses in slots; on disk optimised code, or quick code where the process ended before
// that was made. A compile runs in its own LLVM context with a target machine of its own, so that threads compile at once (jit_emit.hpp).
// Untrusted shaders reach this file as IR: the module is verified before the optimiser sees it (LLVM aborts on broken IR).
// Source: docs/decisions.md, 41, 362 and 490.
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/host_memory.hpp"
#include "base/large_stack.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/jit/jit_state.hpp"
#include "shader/jit/object_file.hpp"

namespace tilegpu::shader {
namespace {

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

// Two functions of one program may not have the same name.
std::string quick_name(const std::string& name) {
  assert(name.starts_with("tg_"));
  return kQuickPrefix + name.substr(3);
}

/// Code that took some 20 ms and more to make: beside it a file is cheap.
constexpr size_t kKeptAtOnce_B = 64u << 10;

CacheKey quick_key(const CacheKey& full_key) { return CacheKey(full_key.bytes + "quick"); }

}  // namespace

Expected<std::unique_ptr<Work>> Jit::State::build_ir(const Build& build, const std::string& name, const char* kind) const {
  // Functions are written where they are called, each within the one that calls it, 100 deep at most: a usual thread has room for that.
  constexpr size_t kDeepCalls_B = size_t{1} << 20;
  if (stack_left_B() < kDeepCalls_B) {
    std::optional<Expected<std::unique_ptr<Work>>> made;
    if (on_stack_of(4 * kDeepCalls_B, [&] { made = build_ir(build, name, kind); })) return std::move(*made);
  }
  auto work = std::make_unique<Work>();
  LLVMModuleRef module = work->module = LLVMModuleCreateWithNameInContext(name.c_str(), work->holder.context);
  LLVMSetTarget(module, target.triple.c_str());
  LLVMSetDataLayout(module, data_layout.c_str());
  const auto flag = [&](std::string_view name) {
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, name.data(), name.size(),
                      LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(work->holder.context), 1, 0)));
  };
  if (wide) flag(kWideFlag);
  if (byte_tables) flag(kByteTablesFlag);
  if (Status built = build(module, name.c_str()); !built) return built.error();
  if (LLVMValueRef f = LLVMGetNamedFunction(module, name.c_str()); !f || LLVMIsDeclaration(f))
    return error(std::string("generated module for ") + kind + " does not define its function");
  char* message = nullptr;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
    return error(std::string("generated code for ") + kind + " is not valid IR: " + take_message(message));
  take_message(message);
  return work;
}

Expected<std::string> Jit::State::generate(Work& work, Tier of, const std::string& name, const char* kind) {
  if (compilers) {
    Expected<std::string> answer =
        compilers->ask(std::string("the code for ") + kind, write_object_request(work, of, name, kind, emit_options, target));
    if (!answer) return answer;
    Expected<std::string> object = read_answer(*answer);
    if (!object) return object;
    Expected<std::string> foreign = foreign_symbol(*object);
    if (!foreign || !foreign->empty()) return error("the compiler's process gave code that is none");
    return object;
  }
  LLVMTargetMachineRef machine = take_machine(of);
  Expected<std::string> object = emit_object(work, of, machine, name, kind, emit_options);
  give_machine(of, machine);
  return object;
}

/// What may take seconds is LLVM's, which nothing interrupts: a thread of its own does it, and who waits may leave. Then it ends between
/// two of its stages, and is nobody's.
Expected<std::string> Jit::State::generate_apart(std::unique_ptr<Work> work, Tier of, const std::string& name, const char* kind) {
  if (compilers || has_small_frame(work->module, emit_options.sve_bits)) return generate(*work, of, name, kind);
  struct Job {
    std::unique_ptr<Work> work;
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<Expected<std::string>> object;
  };
  const auto job = std::make_shared<Job>();
  job->work = std::move(work);
  apart->add_urgent([this, job, of, name, kind = std::string(kind)] {
    const StopsCompiles scope(job->stop);
    const auto made = [&]() -> Expected<std::string> {
      try {
        return generate(*job->work, of, name, kind.c_str());
      } catch (const std::bad_alloc& refused) {  // must not leave a thread
        return Error{VK_ERROR_OUT_OF_HOST_MEMORY, refused_text(refused, "compiling")};
      }
    };
    Expected<std::string> object = made();
    job->work = nullptr;
    const std::lock_guard lock(job->mutex);
    job->object = std::move(object);
    job->ended.notify_all();
  });
  std::unique_lock lock(job->mutex);
  while (!job->ended.wait_for(lock, kAskMeanwhile, [&] { return job->object.has_value(); })) {
    lock.unlock();
    if (!compile_goes_on()) {
      job->stop = true;
      return compile_interrupted(std::string("the code for ") + kind);
    }
    lock.lock();
  }
  return std::move(*job->object);
}

Expected<void*> Jit::State::link(const std::string& object, const std::string& name, const char* kind) {
  Expected<void*> address = code.place(object, name);
  if (!address) return error("linking: " + address.error().message);
  add_to_perf_map(object, reinterpret_cast<uintptr_t>(*address), name, kind);
  return address;
}

Expected<void*> Jit::State::make_quick(const Build& build, const std::string& name, const char* kind, bool waits, std::string* object_out) {
  const std::string own_name = quick_name(name);
  Expected<std::unique_ptr<Work>> work = build_ir(build, own_name, kind);
  if (!work) return work.error();
  Expected<std::string> object =
      waits ? generate_apart(std::move(*work), Tier::quick, own_name, kind) : generate(**work, Tier::quick, own_name, kind);
  if (!object) return object.error();
  Expected<void*> address = link(*object, own_name, kind);
  if (address && object_out) *object_out = std::move(*object);
  return address;
}

Expected<void*> Jit::State::make_optimised(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key,
                                           bool waits) {
  const auto emit = [&](std::unique_ptr<Work> work, Tier of) {
    return waits ? generate_apart(std::move(work), of, name, kind) : generate(*work, of, name, kind);
  };
  Expected<std::unique_ptr<Work>> work = build_ir(build, name, kind);
  if (!work) return work.error();
  const bool quickly = has_too_many_blocks((*work)->module);
  Expected<std::string> object = emit(std::move(*work), quickly ? Tier::quick : Tier::optimised);
  if (quickly && !object && object.error().code == VK_ERROR_OUT_OF_DEVICE_MEMORY) {  // its frame is too large: as in make()
    work = build_ir(build, name, kind);
    if (!work) return work.error();
    object = emit(std::move(*work), Tier::optimised);
  }
  if (!object) return object.error();
  Expected<void*> address = link(*object, name, kind);
  if (address) cache->store(*full_key, *object);
  return address;
}

void Jit::State::optimise_later(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key,
                                const std::shared_ptr<Entry>& entry, std::string quick_object) {
  assert(background && entry->slot.address.load());
  // A process that ends before the optimised code is made leaves the next what it had itself. Large code it leaves at once, whatever its
  // end.
  bool is_kept = quick_object.empty();
  if (quick_object.size() >= kKeptAtOnce_B) cache->store(quick_key(*full_key), quick_object), is_kept = true;
  std::function<void()> keep;
  if (!is_kept && !cache->directory().empty())
    keep = [this, full_key, object = std::move(quick_object)] { cache->store(quick_key(*full_key), object); };
  const auto optimise = [this, build, name, kind = std::string(kind), full_key, entry, is_kept] {
    const double start = now_ms();
    // Without memory for it the quick code stays.
    if (check_compile_memory("the code generator")) {
      try {
        if (Expected<void*> better = make_optimised(build, name, kind.c_str(), full_key, false)) {
          entry->slot.address.store(*better);
          if (is_kept) cache->remove(quick_key(*full_key));
        }
      } catch (const std::bad_alloc&) {
      }
    }
    entry->slot.last.store(true);
    std::lock_guard lock(mutex);
    stats.compile_ms += now_ms() - start;
  };
  background->add(optimise, std::move(keep));
}

/// Optimised code from disk; an error where it is not there, or not to be used.
Expected<void*> Jit::State::load(const CacheKeyPtr& full_key, const std::string& name, const char* kind) {
  if (!emit_options.dump_directory.empty() || (!background && tier != Tier::optimised)) return error("not on disk");
  return load_object(*full_key, name, kind);
}

Expected<void*> Jit::State::load_object(const CacheKey& key, const std::string& name, const char* kind) {
  const double start = now_ms();
  std::string object;
  if (!cache->load(key, object)) return error("not on disk");
  if (Expected<std::string> foreign = foreign_symbol(object); !foreign || !foreign->empty()) return error("not ours");
  Expected<void*> address = link(object, name, kind);
  if (!address) return address;
  std::lock_guard lock(mutex);
  stats.functions_from_disk++;
  stats.load_ms += now_ms() - start;
  return address;
}

/// Optimised, or quick code that an earlier process left, with the optimised to follow.
bool Jit::State::take_from_disk(const CacheKeyPtr& full_key, const std::string& name, const char* kind, const Build& build,
                                const std::shared_ptr<Entry>& entry) {
  CodeSlot& slot = entry->slot;
  if (Expected<void*> address = load(full_key, name, kind)) {
    slot.address.store(*address);
    slot.last.store(true);
    return true;
  }
  if (!background || tier != Tier::quick || cache->directory().empty()) return false;
  Expected<void*> address = load_object(quick_key(*full_key), quick_name(name), kind);
  if (!address) return false;
  slot.address.store(*address);
  optimise_later(build, name, kind, full_key, entry, "");
  return true;
}

void Jit::State::make_offer(Offer offer) {
  const auto task = [this, offer = std::move(offer)] {
    const std::string name = "tg_" + offer.full_key->hash.hex();
    const char* kind = offer.kind.c_str();
    CodeSlot& slot = offer.entry->slot;
    if (Expected<void*> address = load(offer.full_key, name, kind)) {
      slot.address.store(*address);
      slot.last.store(true);
      return;
    }
    const auto put_back = [&] {  // the next who wants it gets it
      std::lock_guard lock(mutex);
      offers.push_back(offer);
    };
    if (!compile_goes_on()) return put_back();
    const double start = now_ms();
    // Without memory for it, it is done without.
    if (check_compile_memory("the code generator")) {
      try {
        const bool waits = !background;
        Expected<void*> made = tier == Tier::quick && waits ? make_quick(offer.build, name, kind, waits)
                                                            : make_optimised(offer.build, name, kind, offer.full_key, waits);
        if (made) slot.address.store(*made);
        if (!made && is_interrupted(made.error())) return put_back();
      } catch (const std::bad_alloc&) {
      }
    }
    slot.last.store(true);
    std::lock_guard lock(mutex);
    if (slot.address.load()) stats.functions_compiled++;
    stats.compile_ms += now_ms() - start;
  };
  if (background)
    background->add(task);
  else
    task();
}

Status Jit::State::make(const CacheKeyPtr& full_key, const CodeKey& key, const Build& build, const std::shared_ptr<Entry>& entry) {
  assert(!entry->slot.address.load() && build);
  const std::string name = "tg_" + full_key->hash.hex();
  const char* kind = key.kind();
  const double start = now_ms();
  if (take_from_disk(full_key, name, kind, build, entry)) return Ok{};
  if (!compile_goes_on()) return compile_interrupted(std::string("the code for ") + kind);
  if (Status room = check_compile_memory("the code generator"); !room) return room.error();
  before_compile();
  struct Hold {
    BackgroundCrew* crew;
    explicit Hold(BackgroundCrew* c) : crew(c) {
      if (crew) crew->hold();
    }
    ~Hold() {
      if (crew) crew->release();
    }
  } hold(background.get());
  std::string quick_object;
  Expected<void*> address =
      tier == Tier::quick ? make_quick(build, name, kind, true, &quick_object) : make_optimised(build, name, kind, full_key, true);
  // Quick code keeps every value on the stack; where that is too much, optimised code may do.
  const bool too_large = !address && tier == Tier::quick && address.error().code == VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (too_large) address = make_optimised(build, name, kind, full_key, true);
  if (!address) return address.error();
  entry->slot.address.store(*address);
  if (background && !too_large)
    optimise_later(build, name, kind, full_key, entry, std::move(quick_object));
  else
    entry->slot.last.store(true);
  std::lock_guard lock(mutex);
  stats.functions_compiled++;
  stats.compile_ms += now_ms() - start;
  return Ok{};
}

/// Null: it was on disk, or has to be made at once.
Expected<std::unique_ptr<Begun>> Jit::State::begin(const CacheKeyPtr& full_key, const CodeKey& key, const Build& build,
                                                   const std::shared_ptr<Entry>& entry) {
  if (!background || tier != Tier::quick || compilers) return std::unique_ptr<Begun>();
  if (!compile_goes_on()) return compile_interrupted(std::string("the code for ") + key.kind());
  if (Status room = check_compile_memory("the code generator"); !room) return room.error();
  auto begun = std::make_unique<Begun>(Begun{nullptr, "tg_" + full_key->hash.hex(), key.kind(), full_key, build});
  if (take_from_disk(full_key, begun->name, key.kind(), build, entry)) return std::unique_ptr<Begun>();
  const double start = now_ms();
  Expected<std::unique_ptr<Work>> work = build_ir(build, quick_name(begun->name), key.kind());
  if (!work) return work.error();
  if (!has_small_frame((*work)->module, emit_options.sve_bits)) return std::unique_ptr<Begun>();
  begun->work = std::move(*work);
  std::lock_guard lock(mutex);
  stats.functions_compiled++;
  stats.compile_ms += now_ms() - start;
  return begun;
}

/// False: another thread makes it, or has.
bool Jit::State::make_begun(const std::shared_ptr<Entry>& entry) {
  std::unique_ptr<Begun> begun;
  {
    std::lock_guard lock(mutex);
    begun = std::move(entry->begun);
  }
  if (!begun) return false;
  const double start = now_ms();
  const char* const kind = begun->kind.c_str();
  bool is_last = false;
  std::string quick_object;
  Expected<void*> made = [&]() -> Expected<void*> {
    try {
      const std::string name = quick_name(begun->name);
      Expected<std::string> object = generate(*begun->work, Tier::quick, name, kind);
      begun->work = nullptr;
      if (object) {
        Expected<void*> address = link(*object, name, kind);
        if (address) quick_object = std::move(*object);
        return address;
      }
      if (object.error().code != VK_ERROR_OUT_OF_DEVICE_MEMORY) return object.error();
      is_last = true;  // as in make()
      return make_optimised(begun->build, begun->name, kind, begun->full_key, false);
    } catch (const std::bad_alloc& refused) {  // must not leave a thread
      return Error{VK_ERROR_OUT_OF_HOST_MEMORY, refused_text(refused, "compiling")};
    }
  }();
  if (made) {
    entry->slot.address.store(*made);
    if (is_last)
      entry->slot.last.store(true);
    else
      optimise_later(begun->build, begun->name, kind, begun->full_key, entry, std::move(quick_object));
  }
  {
    std::lock_guard lock(mutex);
    entry->done = true;
    if (made)
      coming.erase(&entry->slot);
    else
      entry->error = made.error();
    stats.compile_ms += now_ms() - start;
  }
  finished.notify_all();
  background->release();
  return true;
}

}  // namespace tilegpu::shader
