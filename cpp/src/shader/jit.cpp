// shader/jit.cpp -- the code generator's back end: target machine, pass pipeline, sharing and caching of compiles.
//
// In: keys and callbacks that fill modules. Out: addresses. A compile runs in its own LLVM context with a target machine of its
// own, so that threads compile at once. Untrusted shaders reach this file as IR: the module is verified
// before the optimiser sees it (LLVM aborts on broken IR), and the object may refer to nothing but memset and memcpy.
// Source: reference feasibility, sections 1 and 2 ("codegen level 2, slim pass pipeline", "code model small").
#include "shader/jit.hpp"

#include "shader/jit_schedule.hpp"
#include "shader/jit_target.hpp"
#include "shader/sampler_types.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shader/abi.hpp"
#include "shader/background_crew.hpp"
#include "shader/code_memory.hpp"
#include "shader/compile_crew.hpp"
#include "shader/ir_builder.hpp"
#include "shader/object_cache.hpp"
#include "shader/quick_constants.hpp"
#include "stats/host_memory.hpp"

namespace tilegpu::shader {
namespace {

// SPIR-V-shaped IR is variables and redundant scalar code; vectorisers, loop and inter-procedural passes find nothing in it.
// instcombine's fixpoint check is a fatal error in LLVM 19 unless it is turned off.
constexpr const char* kPasses =
    "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,simplifycfg,early-cse,dce)";
constexpr const char* kSlicePasses =
    "function(adce,simplifycfg,loop(loop-deletion),instcombine<no-verify-fixpoint;max-iterations=1>,adce,simplifycfg<no-keep-loops>)";
constexpr const char* kHoistPasses = "function(loop-mssa(licm))";
// With code generation that optimises nothing these pay for themselves. What a shader's variables are made of is scalars and vectors: sroa
// finds no more than mem2reg, in three times the time.
constexpr const char* kQuickPasses = "function(mem2reg,early-cse,dce)";
constexpr uint32_t kCodeVersion = 2;

enum class Tier : uint8_t { quick, optimised };

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

std::string take_error(LLVMErrorRef e) {
  char* message = LLVMGetErrorMessage(e);
  std::string text = message;
  LLVMDisposeErrorMessage(message);
  return text;
}

/// Identifies the binary that this code is linked into, so that a rebuilt generator never loads its predecessor's objects.
std::string build_identity() {
  Dl_info info;
  struct stat s;
  if (dladdr(reinterpret_cast<const void*>(&build_identity), &info) && info.dli_fname &&
      (stat(info.dli_fname, &s) == 0 || stat("/proc/self/exe", &s) == 0)) {
    return std::to_string(s.st_size) + "." + std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec);
  }
  return __DATE__ " " __TIME__;
}

/// Name of the first undefined symbol that is not allowed; "" when there is none. Also checks that the file is what we made.
Expected<std::string> foreign_symbol(const std::string& object) {
  const auto* base = reinterpret_cast<const uint8_t*>(object.data());
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return error("the object file is too short");
  std::memcpy(&header, base, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_X86_64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff > object.size() || (object.size() - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum) {
    return error("the object file is not x86-64 ELF");
  }
  auto section = [&](uint32_t k) {
    Elf64_Shdr s;
    std::memcpy(&s, base + header.e_shoff + k * sizeof s, sizeof s);
    return s;
  };
  for (uint32_t k = 0; k < header.e_shnum; ++k) {
    const Elf64_Shdr symbols = section(k);
    if (symbols.sh_type != SHT_SYMTAB || symbols.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr strings = section(symbols.sh_link);
    if (symbols.sh_offset + symbols.sh_size > object.size() || strings.sh_offset + strings.sh_size > object.size() || !strings.sh_size) {
      return error("the object file's symbol table is broken");
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, base + symbols.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= strings.sh_size) continue;
      const std::string name(object.data() + strings.sh_offset + symbol.st_name);
      if (name != "memcpy" && name != "memset" && name != "memmove") return name;
    }
  }
  return std::string();
}

/// TILEGPU_PERF_MAP=1: names and places of generated functions where `perf report` looks for them, /tmp/perf-PID.map.
void add_to_perf_map(const std::string& object, uint64_t address, const std::string& name, const char* kind) {
  static const bool wanted = [] {
    const char* v = std::getenv("TILEGPU_PERF_MAP");
    return v && *v == '1';
  }();
  if (!wanted) return;
  uint64_t size_B = 0;  // the function's symbol; foreign_symbol has checked the file
  const auto* base = reinterpret_cast<const uint8_t*>(object.data());
  Elf64_Ehdr header;
  std::memcpy(&header, base, sizeof header);
  for (uint32_t k = 0; k < header.e_shnum; ++k) {
    Elf64_Shdr section;
    std::memcpy(&section, base + header.e_shoff + k * sizeof section, sizeof section);
    if (section.sh_type != SHT_SYMTAB) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, base + section.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF) size_B = std::max<uint64_t>(size_B, symbol.st_size);
    }
  }
  if (FILE* file = std::fopen(("/tmp/perf-" + std::to_string(getpid()) + ".map").c_str(), "a")) {
    std::fprintf(file, "%llx %llx %s %s\n", static_cast<unsigned long long>(address), static_cast<unsigned long long>(size_B), kind,
                 name.substr(3, 12).c_str());
    std::fclose(file);
  }
}

struct ContextHolder {
  LLVMContextRef context = LLVMContextCreate();
  std::string messages;
  ContextHolder() {
    // Without a handler LLVM ends the process at the first error.
    LLVMContextSetDiagnosticHandler(
        context,
        [](LLVMDiagnosticInfoRef info, void* self) {
          if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
          static_cast<ContextHolder*>(self)->messages += take_message(LLVMGetDiagInfoDescription(info)) + "; ";
        },
        this);
  }
  ~ContextHolder() { LLVMContextDispose(context); }
};

struct Entry {
  bool done = false;
  CodeSlot slot;
  Error error;
};

/// A module in a context of its own.
struct Work {
  ContextHolder holder;
  LLVMModuleRef module = nullptr;
  Work() = default;
  Work(const Work&) = delete;
  ~Work() {
    if (module) LLVMDisposeModule(module);
  }
};

}  // namespace

CodeKey::CodeKey(const char* kind) : bytes_(kind, std::strlen(kind) + 1) {}

void CodeKey::add_bytes(const void* data, size_t size_B) {
  const uint64_t length = size_B;  // lengths make the concatenation unambiguous
  bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes_.append(static_cast<const char*>(data), size_B);
}

struct Jit::State {
  std::string requested_target, cpu, features, prefix, dump_directory;
  uint32_t lanes = 0;
  bool wide_schedule = false;  // see jit_schedule.hpp
  LLVMTargetRef target = nullptr;
  std::string triple, data_layout;
  CodeMemory code;
  std::unique_ptr<ObjectCache> cache;

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
  LLVMTargetMachineRef make_machine(Tier of) const {
    const LLVMCodeGenOptLevel level = of == Tier::quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
    return LLVMCreateTargetMachine(target, triple.c_str(), cpu.c_str(), features.c_str(), level, LLVMRelocPIC, LLVMCodeModelSmall);
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
    return make_machine(of);
  }
  void give_machine(Tier of, LLVMTargetMachineRef m) {
    std::lock_guard lock(mutex);
    idle_machines[static_cast<size_t>(of)].push_back(m);
  }
  Expected<std::unique_ptr<Work>> build_ir(const Build& build, const std::string& name, const char* kind) const;
  Expected<std::string> generate(Work& work, Tier of, const std::string& name, const char* kind);
  Expected<std::string> emit(Work& work, Tier of, LLVMTargetMachineRef machine, const std::string& name, const char* kind);
  Expected<void*> link(const std::string& object, const std::string& name, const char* kind);
  Expected<void*> make_quick(const Build& build, const std::string& name, const char* kind);
  Expected<void*> make_optimised(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key);
  void optimise_later(const Build& build, const std::string& name, const char* kind, const CacheKeyPtr& full_key,
                      const std::shared_ptr<Entry>& entry);
  Expected<void*> load(const CacheKeyPtr& full_key, const std::string& name, const char* kind);
  Status make(const CacheKeyPtr& full_key, const CodeKey& key, const Build& build, const std::shared_ptr<Entry>& entry);
  void make_offer(Offer offer);
};

Expected<std::unique_ptr<Work>> Jit::State::build_ir(const Build& build, const std::string& name, const char* kind) const {
  auto work = std::make_unique<Work>();
  LLVMModuleRef module = work->module = LLVMModuleCreateWithNameInContext(name.c_str(), work->holder.context);
  LLVMSetTarget(module, triple.c_str());
  LLVMSetDataLayout(module, data_layout.c_str());
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
  LLVMTargetMachineRef machine = take_machine(of);
  Expected<std::string> object = emit(work, of, machine, name, kind);
  give_machine(of, machine);
  return object;
}

Expected<std::string> Jit::State::emit(Work& work, Tier of, LLVMTargetMachineRef machine, const std::string& name, const char* kind) {
  LLVMModuleRef module = work.module;
  char* message = nullptr;
  const std::string dump =
      dump_directory.empty() ? "" : dump_directory + "/" + kind + "_" + name.substr(3, 12) + "_" + std::to_string(lanes);
  auto write_ir = [&](const char* suffix) {
    char* problem = nullptr;
    if (LLVMPrintModuleToFile(module, (dump + suffix).c_str(), &problem) && problem) take_message(problem);
  };
  if (!dump.empty()) write_ir(".before.ll");
  const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    // No exception passes through generated code: no unwind tables to register.
    LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                            LLVMCreateEnumAttribute(work.holder.context, nounwind, 0));
  }
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, of == Tier::quick ? kQuickPasses : kPasses, machine, options);
  LLVMValueRef function = LLVMGetNamedFunction(module, name.c_str());
  constexpr auto kOfFunction = static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex);
  const unsigned slice = LLVMGetEnumAttributeKindForName(kSliceAttribute, std::strlen(kSliceAttribute));
  if (!failed && LLVMGetEnumAttributeAtIndex(function, kOfFunction, slice)) failed = LLVMRunPasses(module, kSlicePasses, machine, options);
  if (!failed && of == Tier::optimised &&
      LLVMGetStringAttributeAtIndex(function, kOfFunction, kHoistMark, static_cast<unsigned>(std::strlen(kHoistMark))))
    failed = LLVMRunPasses(module, kHoistPasses, machine, options);
  LLVMDisposePassBuilderOptions(options);
  const auto is = [kind](const char* one) { return !std::strcmp(kind, one); };
  const auto mark = [&](const char* attribute) {
    LLVMAddAttributeAtIndex(
        function, kOfFunction,
        LLVMCreateStringAttribute(work.holder.context, attribute, static_cast<unsigned>(std::strlen(attribute)), "", 0));
  };
  if (wide_schedule && of == Tier::optimised && (is("fragment") || is("pixels") || is("sampler"))) mark(kWideSchedule);
  // LLVM aligns the stack for vectors that it knows of before it gives out registers. Those that it spills then, as what the loop over
  // blocks keeps around the calls of samplers, would lie across two cache lines each.
  if (of == Tier::optimised && is("blocks")) mark("stackrealign");
  if (!failed) leave_out_alpha(module);
  if (!failed && of == Tier::quick) load_constants(module);
  if (failed) return error("LLVM passes: " + take_error(failed));
  if (!dump.empty()) {
    write_ir(".after.ll");
    LLVMModuleRef copy = LLVMCloneModule(module);  // code generation changes the module
    if (LLVMTargetMachineEmitToFile(machine, copy, const_cast<char*>((dump + ".s").c_str()), LLVMAssemblyFile, &message))
      take_message(message);
    message = nullptr;
    LLVMDisposeModule(copy);
  }
  LLVMMemoryBufferRef buffer = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &buffer))
    return error("LLVM code generation: " + take_message(message));
  std::string object(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  if (!work.holder.messages.empty()) return error("LLVM code generation: " + work.holder.messages);
  Expected<std::string> foreign = foreign_symbol(object);
  if (!foreign) return foreign.error();
  if (!foreign->empty())
    return error(std::string("generated code for ") + kind + " calls '" + *foreign + "', which no library of tilegpu provides");
  return object;
}

Expected<void*> Jit::State::link(const std::string& object, const std::string& name, const char* kind) {
  Expected<void*> address = code.place(object, name);
  if (!address) return error("linking: " + address.error().message);
  add_to_perf_map(object, reinterpret_cast<uintptr_t>(*address), name, kind);
  return address;
}

Expected<void*> Jit::State::make_quick(const Build& build, const std::string& name, const char* kind) {
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
  background->add([this, build, name, kind = std::string(kind), full_key, entry] {
    const double start = now_ms();
    // Without memory for it the quick code stays.
    if (stats::check_compile_memory("the code generator")) {
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
  if (!dump_directory.empty() || (!background && tier != Tier::optimised) || !cache->load(*full_key, object)) return error("not on disk");
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
    const double start = now_ms();
    // Without memory for it, it is done without.
    if (stats::check_compile_memory("the code generator")) {
      try {
        Expected<void*> made = tier == Tier::quick && !background ? make_quick(offer.build, name, kind)
                                                                  : make_optimised(offer.build, name, kind, offer.full_key);
        if (made) slot.address.store(*made);
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
  const std::string name = "tg_" + full_key->hash.hex();
  const char* kind = key.bytes().c_str();
  const double start = now_ms();
  if (Expected<void*> address = load(full_key, name, kind)) {
    entry->slot.address.store(*address);
    entry->slot.last.store(true);
    return Ok{};
  }
  if (Status room = stats::check_compile_memory("the code generator"); !room) return room.error();
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
  if (!address) return address.error();
  entry->slot.address.store(*address);
  if (background)
    optimise_later(build, name, kind, full_key, entry);
  else
    entry->slot.last.store(true);
  std::lock_guard lock(mutex);
  stats.functions_compiled++;
  stats.compile_ms += now_ms() - start;
  return Ok{};
}

Expected<std::unique_ptr<Jit>> Jit::create(const JitCreateInfo& info) {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    install_schedulers();
    __builtin_cpu_init();
  });
  if (info.lanes != 0 && info.lanes != 4 && info.lanes != 8 && info.lanes != 16) {
    return error("device: lanes is " + std::to_string(info.lanes) + "; allowed are 4, 8, 16 and 0 (chosen from the CPU)");
  }
  std::unique_ptr<Jit> jit(new Jit());
  jit->state_ = std::make_unique<State>();
  State& s = *jit->state_;
  Expected<JitTarget> chosen = choose_target(info.target);
  if (!chosen) return chosen.error();
  const JitTarget& target = *chosen;
  s.requested_target = target.name, s.cpu = target.cpu, s.features = target.features;
  jit->wide_ = target.wide, jit->gathers_ = target.gathers;
  // Chains by turns want 32 vector registers.
  const char* schedule = std::getenv("TILEGPU_SCHEDULE");
  s.wide_schedule = target.wide && !(schedule && !std::strcmp(schedule, "default"));
  jit->lanes_ = s.lanes = info.lanes ? info.lanes : target.wide ? 16 : 8;
  if (const char* dump = std::getenv("TILEGPU_DUMP"); dump && *dump) {
    s.dump_directory = dump;
    mkdir(dump, 0777);
  }
  s.triple = take_message(LLVMGetDefaultTargetTriple());
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(s.triple.c_str(), &s.target, &message))
    return error("LLVM has no target '" + s.triple + "': " + take_message(message));
  bool tiered = info.tiered && s.dump_directory.empty();
  if (const char* code = std::getenv("TILEGPU_CODE"); code && *code) {
    const std::string wanted = code;
    if (wanted != "quick" && wanted != "optimised" && wanted != "tiered")
      return error("device: TILEGPU_CODE is '" + wanted + "'; allowed are 'tiered', 'quick' and 'optimised'");
    tiered = wanted == "tiered";
    if (wanted == "quick") s.tier = Tier::quick;
  }
  if (tiered) s.tier = Tier::quick;
  LLVMTargetMachineRef machine = s.make_machine(s.tier);
  if (!machine) return error("LLVM cannot generate code for '" + s.cpu + "'");
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
  environment.add(s.lanes);
  environment.add(uint32_t{jit->gathers_});
  environment.add(uint32_t{s.wide_schedule});
  for (size_t size_B : {sizeof(FragmentArgs), sizeof(VertexArgs), sizeof(PrimitiveSetup), sizeof(TextureDescriptor), sizeof(ImageViewAbi),
                        sizeof(SamplerAbi)}) {
    environment.add(static_cast<uint64_t>(size_B));
  }
  add(build_identity());
  add(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch));
  add(s.cpu), add(s.features), add(kPasses), add(kSlicePasses), add(kHoistPasses), add(s.triple), add("O2 pic small");
  s.prefix = environment.bytes();
  return jit;
}

Jit::~Jit() = default;

Expected<const CodeSlot*> Jit::function(const CodeKey& key, const Build& build) {
  State& s = *state_;
  const CacheKeyPtr full_key = std::make_shared<const CacheKey>(s.prefix + key.bytes());
  std::shared_ptr<Entry> entry;
  {
    std::unique_lock lock(s.mutex);
    auto [found, inserted] = s.entries.try_emplace(full_key);
    if (!inserted) {
      entry = found->second;
      s.stats.functions_from_memory++;
      s.finished.wait(lock, [&] { return entry->done; });
      if (!entry->slot.address) return entry->error;
      return &entry->slot;
    }
    entry = found->second = std::make_shared<Entry>();
  }
  const Status made = s.make(full_key, key, build, entry);
  {
    std::lock_guard lock(s.mutex);
    entry->done = true;
    if (!made) {
      entry->error = made.error();
      s.entries.erase(full_key);  // a later request may try again
    }
  }
  s.finished.notify_all();
  if (!made) return made.error();
  return &entry->slot;
}

const CodeSlot* Jit::offer(const CodeKey& key, const Build& build) {
  State& s = *state_;
  State::Offer offer{nullptr, build, std::make_shared<const CacheKey>(s.prefix + key.bytes()), key.bytes().c_str()};
  const CodeSlot* slot = nullptr;
  {
    std::lock_guard lock(s.mutex);
    auto [found, inserted] = s.entries.try_emplace(offer.full_key);
    if (!inserted) return &found->second->slot;
    offer.entry = found->second = std::make_shared<Entry>();
    offer.entry->done = true;
    slot = &offer.entry->slot;
    if (s.background) s.offers.push_back(std::move(offer));
  }
  if (!s.background) s.make_offer(std::move(offer));
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
  info.cpu_features = s.features;
  info.llvm_version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  info.jit_target = s.requested_target;
  info.cache_dir = s.cache->directory();
  info.lanes = s.lanes;
}

}  // namespace tilegpu::shader
