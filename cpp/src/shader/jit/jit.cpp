// shader/jit/jit.cpp -- sharing and caching of compiles, in two tiers.
//
// In: keys and callbacks that fill modules. Out: addresses. A compile runs in its own LLVM context with a target machine of its
// own, so that threads compile at once (jit_emit.hpp). Untrusted shaders reach this file as IR: the module is verified
// before the optimiser sees it (LLVM aborts on broken IR).
#include "shader/jit/jit.hpp"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/host_memory.hpp"
#include "base/long_work.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/jit/background_crew.hpp"
#include "shader/jit/build_identity.hpp"
#include "shader/jit/code_memory.hpp"
#include "shader/jit/compile_crew.hpp"
#include "shader/jit/compile_request.hpp"
#include "shader/jit/compiler_pool.hpp"
#include "shader/jit/jit_emit.hpp"
#include "shader/jit/jit_target.hpp"
#include "shader/jit/object_cache.hpp"
#include "shader/jit/object_file.hpp"
#include "shader/jit/object_request.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kCodeVersion = 2;

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

struct Entry {
  bool done = false;
  bool reserved = false;  // somebody has the slot, whatever becomes of it
  CodeSlot slot;
  Error error;
};

}  // namespace

CodeKey::CodeKey(const char* kind) : bytes_(kind, std::strlen(kind) + 1) {}

void CodeKey::add_bytes(const void* data, size_t size_B) {
  const uint64_t length = size_B;  // lengths make the concatenation unambiguous
  bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes_.append(static_cast<const char*>(data), size_B);
}

struct Jit::State {
  std::string requested_target, prefix;
  EmitOptions emit_options;
  TargetOfCode target;
  bool wide = false;
  std::string data_layout;
  CodeMemory code;
  std::unique_ptr<ObjectCache> cache;
  std::shared_ptr<CompilerPool> compilers;

  std::mutex mutex;  // of everything below
  std::condition_variable finished;
  std::unordered_map<CacheKeyPtr, std::shared_ptr<Entry>, HashOfKey, SameKey> entries;
  struct Offer {
    std::shared_ptr<Entry> entry;
    Build build;
    CacheKeyPtr full_key;
    std::string kind;
  };
  std::vector<Offer> offers;                           // that nobody wanted yet
  std::vector<LLVMTargetMachineRef> idle_machines[2];  // by tier
  CompileStats stats;

  std::unique_ptr<BackgroundCrew> background;  // null: one tier only
  Tier tier = Tier::optimised;                 // that one, or the first

  ~State() {
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
  Expected<void*> link(const std::string& object, const std::string& name, const char* kind);
  Expected<void*> make_quick(const Build& build, const std::string& name, const char* kind);
  Expected<void*> make_optimised(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key);
  void optimise_later(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key,
                      const std::shared_ptr<Entry>& entry);
  Expected<void*> load(const CacheKeyPtr& full_key, const std::string& name, const char* kind);
  Status make(const CacheKeyPtr& full_key, const CodeKey& key, const Build& build, const std::shared_ptr<Entry>& entry);
  void make_offer(Offer offer);
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

Expected<std::unique_ptr<Work>> Jit::State::build_ir(const Build& build, const std::string& name, const char* kind) const {
  auto work = std::make_unique<Work>();
  LLVMModuleRef module = work->module = LLVMModuleCreateWithNameInContext(name.c_str(), work->holder.context);
  LLVMSetTarget(module, target.triple.c_str());
  LLVMSetDataLayout(module, data_layout.c_str());
  if (wide)
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, kWideFlag.data(), kWideFlag.size(),
                      LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(work->holder.context), 1, 0)));
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

Expected<void*> Jit::State::link(const std::string& object, const std::string& name, const char* kind) {
  Expected<void*> address = code.place(object, name);
  if (!address) return error("linking: " + address.error().message);
  add_to_perf_map(object, reinterpret_cast<uintptr_t>(*address), name, kind);
  return address;
}

Expected<void*> Jit::State::make_quick(const Build& build, const std::string& name, const char* kind) {
  assert(name.starts_with("tg_"));
  const std::string quick_name = kQuickPrefix + name.substr(3);  // two functions of one program may not have the same name
  Expected<std::unique_ptr<Work>> work = build_ir(build, quick_name, kind);
  if (!work) return work.error();
  Expected<std::string> object = generate(**work, Tier::quick, quick_name, kind);
  if (!object) return object.error();
  return link(*object, quick_name, kind);
}

Expected<void*> Jit::State::make_optimised(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key) {
  Expected<std::unique_ptr<Work>> work = build_ir(build, name, kind);
  if (!work) return work.error();
  Expected<std::string> object = generate(**work, Tier::optimised, name, kind);
  if (!object) return object.error();
  Expected<void*> address = link(*object, name, kind);
  if (address) cache->store(*full_key, *object);
  return address;
}

void Jit::State::optimise_later(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key,
                                const std::shared_ptr<Entry>& entry) {
  assert(background && entry->slot.address.load());
  background->add([this, build, name, kind = std::string(kind), full_key, entry] {
    const double start = now_ms();
    // Without memory for it the quick code stays.
    if (check_compile_memory("the code generator")) {
      try {
        if (Expected<void*> better = make_optimised(build, name, kind.c_str(), full_key)) entry->slot.address.store(*better);
      } catch (const std::bad_alloc&) {
      }
    }
    entry->slot.last.store(true);
    std::lock_guard lock(mutex);
    stats.compile_ms += now_ms() - start;
  });
}

/// From disk; an error where it is not there, or not to be used.
Expected<void*> Jit::State::load(const CacheKeyPtr& full_key, const std::string& name, const char* kind) {
  const double start = now_ms();
  std::string object;
  if (!emit_options.dump_directory.empty() || (!background && tier != Tier::optimised) || !cache->load(*full_key, object))
    return error("not on disk");
  if (Expected<std::string> foreign = foreign_symbol(object); !foreign || !foreign->empty()) return error("not ours");
  Expected<void*> address = link(object, name, kind);
  if (!address) return address;
  std::lock_guard lock(mutex);
  stats.functions_from_disk++;
  stats.load_ms += now_ms() - start;
  return address;
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
        Expected<void*> made = tier == Tier::quick && !background ? make_quick(offer.build, name, kind)
                                                                  : make_optimised(offer.build, name, kind, offer.full_key);
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
  if (Expected<void*> address = load(full_key, name, kind)) {
    entry->slot.address.store(*address);
    entry->slot.last.store(true);
    return Ok{};
  }
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
  Expected<void*> address = tier == Tier::quick ? make_quick(build, name, kind) : make_optimised(build, name, kind, full_key);
  // Quick code keeps every value on the stack; where that is too much, optimised code may do.
  const bool too_large = !address && tier == Tier::quick && address.error().code == VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (too_large) address = make_optimised(build, name, kind, full_key);
  if (!address) return address.error();
  entry->slot.address.store(*address);
  if (background && !too_large)
    optimise_later(build, name, kind, full_key, entry);
  else
    entry->slot.last.store(true);
  std::lock_guard lock(mutex);
  stats.functions_compiled++;
  stats.compile_ms += now_ms() - start;
  return Ok{};
}

Expected<std::unique_ptr<Jit>> Jit::create(const JitCreateInfo& info) {
  initialise_code_generator();
  if (info.lanes != 0 && info.lanes != 4 && info.lanes != 8 && info.lanes != 16) {
    return error("device: lanes is " + std::to_string(info.lanes) + "; allowed are 4, 8, 16 and 0 (chosen from the CPU)");
  }
  std::unique_ptr<Jit> jit(new Jit());
  jit->state_ = std::make_unique<State>();
  State& s = *jit->state_;
  Expected<JitTarget> chosen = choose_target(info.target);
  if (!chosen) return chosen.error();
  const JitTarget& target = *chosen;
  s.requested_target = target.name, s.target.cpu = target.cpu, s.target.features = target.features;

  jit->wide_ = s.wide = target.wide, jit->gathers_ = target.gathers;
  // Chains by turns want 32 vector registers.
  const char* schedule = std::getenv("TILEGPU_SCHEDULE");
  s.emit_options.wide_schedule = target.wide && !(schedule && !std::strcmp(schedule, "default"));
  jit->lanes_ = s.emit_options.lanes = info.lanes ? info.lanes : target.wide ? 16 : 8;
  if (const char* dump = std::getenv("TILEGPU_DUMP"); dump && *dump) {
    std::error_code none;
    const std::filesystem::path folder = std::filesystem::absolute(dump, none);  // the compiler's process is in another
    s.emit_options.dump_directory = none ? dump : folder.string();
    mkdir(dump, 0777);
  }
  s.target.triple = take_message(LLVMGetDefaultTargetTriple());
  bool tiered = info.tiered && s.emit_options.dump_directory.empty();
  if (const char* code = std::getenv("TILEGPU_CODE"); code && *code) {
    const std::string wanted = code;
    if (wanted != "quick" && wanted != "optimised" && wanted != "tiered")
      return error("device: TILEGPU_CODE is '" + wanted + "'; allowed are 'tiered', 'quick' and 'optimised'");
    tiered = wanted == "tiered";
    if (wanted == "quick") s.tier = Tier::quick;
  }
  if (tiered) s.tier = Tier::quick;
  LLVMTargetMachineRef machine = make_target_machine(s.tier, s.target);
  if (!machine) return error("LLVM cannot generate code for '" + s.target.cpu + "' of '" + s.target.triple + "'");
  s.idle_machines[static_cast<size_t>(s.tier)].push_back(machine);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  s.data_layout = take_message(LLVMCopyStringRepOfTargetData(layout));
  LLVMDisposeTargetData(layout);
  s.cache = std::make_unique<ObjectCache>(info.cache_dir);
  // A short program leaves its optimised code on disk for the next.
  if (tiered) s.background = std::make_unique<BackgroundCrew>((info.threads + 1) / 2, !s.cache->directory().empty());

  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  CodeKey environment("tilegpu");
  auto add = [&](const std::string& text) { environment.add_bytes(text.data(), text.size()); };
  environment.add(kCodeVersion);
  environment.add(s.emit_options.lanes);
  environment.add(uint32_t{jit->gathers_});
  environment.add(uint32_t{s.emit_options.wide_schedule});
  for (size_t size_B : {sizeof(FragmentArgs), sizeof(VertexArgs), sizeof(PrimitiveSetup), sizeof(TextureDescriptor), sizeof(ImageViewAbi),
                        sizeof(SamplerAbi), sizeof(SampledImage), sizeof(CombinedDescriptor)}) {
    environment.add(static_cast<uint64_t>(size_B));
  }
  add(build_identity());
  add(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch));
  add(s.target.cpu), add(s.target.features), add(pass_pipelines()), add(s.target.triple), add("O2 pic small");
  s.prefix = environment.bytes();
  return jit;
}

Jit::~Jit() {
  if (state_ && state_->background && !state_->background->end()) static_cast<void>(state_.release());  // the process ends
}

Expected<const CodeSlot*> Jit::function(const CodeKey& key, const Build& build) {
  State& s = *state_;
  const CacheKeyPtr full_key = std::make_shared<const CacheKey>(s.prefix + key.bytes());
  std::shared_ptr<Entry> entry;
  LongWork long_work;
  bool began = false;
  const auto begin_long_work = [&] {
    if (!std::exchange(began, true)) long_work.begin();
  };
  for (bool waited = false;; waited = true) {
    std::unique_lock lock(s.mutex);
    auto [found, inserted] = s.entries.try_emplace(full_key);
    if (inserted) found->second = std::make_shared<Entry>();
    entry = found->second;
    if (inserted || (entry->reserved && entry->done && !entry->slot.address)) {
      entry->done = false;
      lock.unlock();
      begin_long_work();
      break;
    }
    s.stats.functions_from_memory += !waited;
    if (!entry->done) {
      begin_long_work();
      if (!s.await(lock, *entry)) return compile_interrupted(std::string("the code for ") + key.kind());
    }
    if (entry->slot.address) return &entry->slot;
    if (!is_interrupted(entry->error)) return entry->error;  // else that was the other thread's: it is for this one to make
  }
  const Status made = s.make(full_key, key, build, entry);
  {
    std::lock_guard lock(s.mutex);
    entry->done = true;
    if (!made) {
      entry->error = made.error();
      if (!entry->reserved) s.entries.erase(full_key);  // a later request may try again
    }
  }
  s.finished.notify_all();
  if (!made) return made.error();
  return &entry->slot;
}

const CodeSlot* Jit::reserve(const CodeKey& key) {
  State& s = *state_;
  std::lock_guard lock(s.mutex);
  const auto [found, inserted] = s.entries.try_emplace(std::make_shared<const CacheKey>(s.prefix + key.bytes()));
  if (inserted) {
    found->second = std::make_shared<Entry>();
    found->second->done = true;
  }
  found->second->reserved = true;
  return &found->second->slot;
}

const CodeSlot* Jit::offer(const CodeKey& key, const Build& build) {
  State& s = *state_;
  State::Offer offer{nullptr, build, std::make_shared<const CacheKey>(s.prefix + key.bytes()), key.kind()};
  const CodeSlot* slot = nullptr;
  {
    std::lock_guard lock(s.mutex);
    auto [found, inserted] = s.entries.try_emplace(offer.full_key);
    if (!inserted) return &found->second->slot;
    offer.entry = found->second = std::make_shared<Entry>();
    offer.entry->done = true;
    slot = &offer.entry->slot;
    if (s.background) {
      s.offers.push_back(std::move(offer));
      return slot;
    }
  }
  s.make_offer(std::move(offer));
  return slot;
}

void Jit::make_wanted() {
  State& s = *state_;
  std::vector<State::Offer> taken;
  {
    std::lock_guard lock(s.mutex);
    const auto wanted = [](const State::Offer& offer) { return offer.entry->slot.wanted.load(std::memory_order_relaxed); };
    if (std::none_of(s.offers.begin(), s.offers.end(), wanted)) return;
    const auto first = std::stable_partition(s.offers.begin(), s.offers.end(), [&](const State::Offer& offer) { return !wanted(offer); });
    taken.assign(std::make_move_iterator(first), std::make_move_iterator(s.offers.end()));
    s.offers.erase(first, s.offers.end());
  }
  for (State::Offer& offer : taken) s.make_offer(std::move(offer));
}

void Jit::wait() {
  if (state_->background) state_->background->wait();
}

bool Jit::load_bytes(const CodeKey& key, std::string& bytes) const {
  return state_->cache->load(CacheKey(state_->prefix + key.bytes()), bytes);
}

void Jit::store_bytes(const CodeKey& key, const std::string& bytes) const {
  state_->cache->store(CacheKey(state_->prefix + key.bytes()), bytes);
}

void Jit::set_compilers(std::shared_ptr<CompilerPool> compilers) { state_->compilers = std::move(compilers); }
CompilerPool* Jit::compilers() const { return state_->compilers.get(); }

std::vector<std::string> Jit::cache_files() const { return state_->cache->used(); }
std::string Jit::export_cache_entry(const std::string& name) const { return state_->cache->export_entry(name); }
std::string Jit::cache_off_because() const { return state_->cache->why_off(); }
bool Jit::import_cache_entry(const std::string& name, const std::string& entry) const { return state_->cache->import_entry(name, entry); }

CompileStats Jit::stats() const {
  const uint32_t waiting = state_->background ? state_->background->waiting() : 0;
  std::lock_guard lock(state_->mutex);
  CompileStats stats = state_->stats;
  stats.functions_waiting = waiting;
  return stats;
}

void Jit::describe(DeviceInfo& info) const {
  const State& s = *state_;
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  info.cpu = take_message(LLVMGetHostCPUName());
  info.cpu_features = s.target.features;
  info.llvm_version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  info.jit_target = s.requested_target;
  info.cache_dir = s.cache->directory();
  info.lanes = s.emit_options.lanes;
}

}  // namespace tilegpu::shader
