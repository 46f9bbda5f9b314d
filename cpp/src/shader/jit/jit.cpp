// shader/jit/jit.cpp -- sharing and caching of compiles, in two tiers.
//
// In: keys and callbacks that fill modules. Out: slots; what is in them, jit_make.cpp makes. Source: docs/decisions.md, 41 and 362.
#include "shader/jit/jit.hpp"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/long_work.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/jit/build_identity.hpp"
#include "shader/jit/checked_code.hpp"
#include "shader/jit/jit_state.hpp"
#include "shader_abi/abi.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kCodeVersion = 3;
constexpr uint64_t kEntry_B = 1024;  // a function beside its key and its code

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

}  // namespace

CodeKey::CodeKey(const char* kind) : bytes_(kind, std::strlen(kind) + 1) {}

void CodeKey::add_bytes(const void* data, size_t size_B) {
  const uint64_t length = size_B;  // lengths make the concatenation unambiguous
  bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes_.append(static_cast<const char*>(data), size_B);
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
  Expected<bool> checked = wants_checked_code();
  if (!checked) return checked.error();
  s.emit_options.checked = *checked;
  s.requested_target = target.name, s.target.cpu = target.cpu, s.target.features = target.features;

  s.byte_tables = target.byte_tables;
  jit->wide_ = s.wide = target.wide, jit->gathers_ = target.gathers;
  // Chains by turns want 32 vector registers.
  const char* schedule = std::getenv("TILEGPU_SCHEDULE");
  s.emit_options.wide_schedule = target.wide && !(schedule && !std::strcmp(schedule, "default"));
  s.emit_options.sve_bits = target.sve_bits, s.vectors = target.vectors;
  jit->lanes_ = s.emit_options.lanes = info.lanes ? info.lanes : target.lanes;
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
  const bool leaves = !s.cache->directory().empty();
  if (tiered)
    s.background =
        std::make_unique<BackgroundCrew>((info.threads + 1) / 2, leaves ? BackgroundCrew::kAtEnd : std::chrono::milliseconds::zero());

  s.apart = std::make_unique<BackgroundCrew>(std::max(info.threads, 1u), std::chrono::milliseconds::zero(), 0);

  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  CodeKey environment("tilegpu");
  auto add = [&](const std::string& text) { environment.add_bytes(text.data(), text.size()); };
  environment.add(kCodeVersion);
  environment.add(s.emit_options.lanes);
  environment.add(uint32_t{jit->gathers_});
  environment.add(uint32_t{s.emit_options.wide_schedule});
  environment.add(uint32_t{s.emit_options.checked});
  environment.add(s.emit_options.sve_bits);
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
  bool ended = true;
  if (state_)
    for (BackgroundCrew* crew : {state_->apart.get(), state_->background.get()}) ended = (!crew || crew->end()) && ended;
  if (!ended) static_cast<void>(state_.release());  // the process ends
}

Expected<const CodeSlot*> Jit::function(const CodeKey& key, const Build& build, When when) {
  State& s = *state_;
  const CacheKeyPtr full_key = std::make_shared<const CacheKey>(s.prefix + key.bytes());
  std::shared_ptr<Entry> entry;
  LongWork long_work;
  bool began = false;
  const auto begin_long_work = [&] {
    if (!std::exchange(began, true)) long_work.begin();
  };
  for (bool waited = false;; waited = true) {
    std::unique_lock<std::mutex> lock(s.mutex);
    auto [found, inserted] = s.entries.try_emplace(full_key);
    if (inserted) {
      auto fresh = std::make_shared<Entry>();
      fresh->memory = MemoryShare(kEntry_B + key.bytes().size());
      if (!fresh->memory) {
        s.entries.erase(found);
        return MemoryShare::refused(std::string("the code for ") + key.kind(), kEntry_B + key.bytes().size());
      }
      found->second = std::move(fresh);
    }
    entry = found->second;
    const bool left_behind = !entry->done && !entry->begun && entry->made_in_fork != fork_number();  // its thread is the parent's
    if (inserted || left_behind || (entry->reserved && entry->done && !entry->slot.address)) {
      entry->done = false;
      entry->made_in_fork = fork_number();
      lock.unlock();
      begin_long_work();
      break;
    }
    s.stats.functions_from_memory += !waited;
    if (when == When::later && s.coming.count(&entry->slot) && !entry->done) return &entry->slot;
    if (entry->begun) {
      lock.unlock();
      begin_long_work();
      s.background->run_here([&] { s.make_begun(entry); });
      continue;
    }
    if (!entry->done) {
      begin_long_work();
      if (!s.await(lock, *entry)) return compile_interrupted(std::string("the code for ") + key.kind());
    }
    if (entry->slot.address) return &entry->slot;
    if (!is_interrupted(entry->error)) return entry->error;  // else that was the other thread's: it is for this one to make
  }
  Status made = Ok{};
  if (when == When::later) {
    Expected<std::unique_ptr<Begun>> begun = s.begin(full_key, key, build, entry);
    if (begun && *begun) {
      {
        std::lock_guard lock(s.mutex);
        entry->begun = std::move(*begun);
        entry->reserved = true;
        s.coming.emplace(&entry->slot, entry);
      }
      s.background->hold();  // until it is made
      s.background->add_urgent([&s, entry] { s.make_begun(entry); });
      return &entry->slot;
    }
    if (!begun) made = begun.error();
  }
  if (made && !entry->slot.address.load()) made = s.make(full_key, key, build, entry);
  {
    std::lock_guard lock(s.mutex);
    entry->done = true;
    if (made) s.coming.erase(&entry->slot);
    if (!made) {
      entry->error = made.error();
      if (!entry->reserved) s.entries.erase(full_key);  // a later request may try again
    }
  }
  s.finished.notify_all();
  if (!made) return made.error();
  return &entry->slot;
}

void Jit::help(std::span<const CodeSlot* const> slots) {
  State& s = *state_;
  LongWork long_work;
  bool began = false;
  for (const CodeSlot* slot : slots) {
    if (slot->address.load()) continue;
    std::shared_ptr<Entry> entry;
    {
      std::lock_guard lock(s.mutex);
      if (const auto found = s.coming.find(slot); found != s.coming.end()) entry = found->second;
    }
    if (!entry) continue;
    if (!std::exchange(began, true)) long_work.begin();
    s.background->run_here([&] { s.make_begun(entry); });
  }
}

Status Jit::finish(const CodeSlot* slot) {
  assert(slot);
  State& s = *state_;
  if (slot->address.load()) return Ok{};
  help({&slot, 1});
  LongWork long_work;
  long_work.begin();
  std::unique_lock<std::mutex> lock(s.mutex);
  const auto found = s.coming.find(slot);
  if (found == s.coming.end()) return Ok{};
  const std::shared_ptr<Entry> entry = found->second;
  if (!s.await(lock, *entry)) return compile_interrupted("code");
  if (slot->address.load()) return Ok{};
  return entry->error;
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
  info.vectors = s.vectors;
  info.cache_dir = s.cache->directory();
  info.lanes = s.emit_options.lanes;
}

}  // namespace tilegpu::shader
