// shader/jit.cpp -- the code generator's back end: target machine, pass pipeline, ORC LLJIT, sharing and caching of compiles.
//
// In: keys and callbacks that fill modules. Out: addresses. A compile runs in its own LLVM context with a target machine of its
// own, so that threads compile at once; one LLJIT serves the device. Untrusted shaders reach this file as IR: the module is verified
// before the optimiser sees it (LLVM aborts on broken IR), and the object may refer to nothing but memset and memcpy.
// Source: reference feasibility, sections 1 and 2 ("codegen level 2, slim pass pipeline", "code model small").
#include "shader/jit.hpp"

#include "shader/jit_schedule.hpp"
#include "shader/sampler_types.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "shader/abi.hpp"
#include "shader/compile_crew.hpp"
#include "shader/object_cache.hpp"
#include "stats/host_memory.hpp"

namespace tilegpu::shader {
namespace {

// SPIR-V-shaped IR is variables and redundant scalar code; vectorisers, loop and inter-procedural passes find nothing in it.
// instcombine's fixpoint check is a fatal error in LLVM 19 unless it is turned off.
constexpr const char* kPasses =
    "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,simplifycfg,early-cse,dce)";
constexpr const char* kSlicePasses =
    "function(adce,simplifycfg,loop(loop-deletion),instcombine<no-verify-fixpoint;max-iterations=1>,adce,simplifycfg<no-keep-loops>)";
constexpr uint32_t kCodeVersion = 2;

double now_ms() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

std::string take_message(char* message) {
  std::string text = message ? message : "";
  if (message) LLVMDisposeMessage(message);
  return text;
}

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

bool has_feature(const std::string& list, const char* feature) {
  return ("," + list + ",").find("," + std::string(feature) + ",") != std::string::npos;
}

bool host_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

/// Gathers of 64-bit pairs take 0.6 times the time of scalar loads where they are not slowed by microcode: on Intel's CPUs from
/// Sapphire Rapids on, which the half-precision instructions tell (hypervisors hide the model).
bool host_gathers_fast() { return __builtin_cpu_is("intel") && has_feature(take_message(LLVMGetHostCPUFeatures()), "+avx512fp16"); }

struct Entry {
  bool done = false;
  void* address = nullptr;
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
  std::string requested_target, cpu, features, prefix, dump_directory;
  uint32_t lanes = 0;
  bool wide_schedule = false;  // see jit_schedule.hpp
  LLVMTargetRef target = nullptr;
  std::string triple;
  LLVMOrcLLJITRef lljit = nullptr;
  std::unique_ptr<ObjectCache> cache;

  std::mutex mutex;  // of everything below
  std::condition_variable finished;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries;
  std::vector<LLVMTargetMachineRef> idle_machines;
  CompileStats stats;

  ~State() {
    for (LLVMTargetMachineRef m : idle_machines) LLVMDisposeTargetMachine(m);
    if (lljit) {
      if (LLVMErrorRef e = LLVMOrcDisposeLLJIT(lljit)) LLVMConsumeError(e);
    }
  }
  LLVMTargetMachineRef make_machine() const {
    return LLVMCreateTargetMachine(target, triple.c_str(), cpu.c_str(), features.c_str(), LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                   LLVMCodeModelSmall);
  }
  LLVMTargetMachineRef take_machine() {
    {
      std::lock_guard lock(mutex);
      if (!idle_machines.empty()) {
        LLVMTargetMachineRef m = idle_machines.back();
        idle_machines.pop_back();
        return m;
      }
    }
    return make_machine();
  }
  void give_machine(LLVMTargetMachineRef m) {
    std::lock_guard lock(mutex);
    idle_machines.push_back(m);
  }
  Expected<std::string> compile(const Build& build, const std::string& name, const char* kind);
  Expected<std::string> emit(LLVMModuleRef module, LLVMTargetMachineRef machine, ContextHolder& holder, const std::string& name,
                             const char* kind);
  Expected<void*> link(const std::string& object, const std::string& name);
  Expected<void*> make(const std::string& full_key, const CodeKey& key, const Build& build);
};

Expected<std::string> Jit::State::compile(const Build& build, const std::string& name, const char* kind) {
  ContextHolder holder;
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name.c_str(), holder.context);
  LLVMTargetMachineRef machine = take_machine();
  LLVMSetTarget(module, triple.c_str());
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);

  Expected<std::string> object = std::string();
  if (Status built = build(module, name.c_str()); !built) {
    object = built.error();
  } else {
    object = emit(module, machine, holder, name, kind);
  }
  LLVMDisposeModule(module);
  give_machine(machine);
  return object;
}

Expected<std::string> Jit::State::emit(LLVMModuleRef module, LLVMTargetMachineRef machine, ContextHolder& holder, const std::string& name,
                                       const char* kind) {
  char* message = nullptr;
  const std::string dump =
      dump_directory.empty() ? "" : dump_directory + "/" + kind + "_" + name.substr(3, 12) + "_" + std::to_string(lanes);
  auto write_ir = [&](const char* suffix) {
    char* problem = nullptr;
    if (LLVMPrintModuleToFile(module, (dump + suffix).c_str(), &problem) && problem) take_message(problem);
  };
  if (!dump.empty()) write_ir(".before.ll");
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
    return error(std::string("generated code for ") + kind + " is not valid IR: " + take_message(message));
  take_message(message);
  message = nullptr;
  if (LLVMValueRef f = LLVMGetNamedFunction(module, name.c_str()); !f || LLVMIsDeclaration(f)) {
    return error(std::string("generated module for ") + kind + " does not define its function");
  }
  const unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    // No exception passes through generated code: no unwind tables to register.
    LLVMAddAttributeAtIndex(f, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                            LLVMCreateEnumAttribute(holder.context, nounwind, 0));
  }
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, kPasses, machine, options);
  const unsigned slice = LLVMGetEnumAttributeKindForName(kSliceAttribute, std::strlen(kSliceAttribute));
  if (!failed && LLVMGetEnumAttributeAtIndex(LLVMGetNamedFunction(module, name.c_str()),
                                             static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex), slice))
    failed = LLVMRunPasses(module, kSlicePasses, machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (wide_schedule && (!std::strcmp(kind, "fragment") || !std::strcmp(kind, "sampler"))) {
    LLVMAddAttributeAtIndex(
        LLVMGetNamedFunction(module, name.c_str()), static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
        LLVMCreateStringAttribute(holder.context, kWideSchedule, static_cast<unsigned>(std::strlen(kWideSchedule)), "", 0));
  }
  if (!failed) leave_out_alpha(module);
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
  if (!holder.messages.empty()) return error("LLVM code generation: " + holder.messages);
  Expected<std::string> foreign = foreign_symbol(object);
  if (!foreign) return foreign.error();
  if (!foreign->empty())
    return error(std::string("generated code for ") + kind + " calls '" + *foreign + "', which no library of tilegpu provides");
  return object;
}

Expected<void*> Jit::State::link(const std::string& object, const std::string& name) {
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data(), object.size(), name.c_str());
  if (LLVMErrorRef e = LLVMOrcLLJITAddObjectFile(lljit, LLVMOrcLLJITGetMainJITDylib(lljit), buffer))
    return error("linking: " + take_error(e));
  LLVMOrcExecutorAddress address = 0;
  if (LLVMErrorRef e = LLVMOrcLLJITLookup(lljit, &address, name.c_str())) return error("linking: " + take_error(e));
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

Expected<void*> Jit::State::make(const std::string& full_key, const CodeKey& key, const Build& build) {
  const std::string name = "tg_" + hash128(full_key.data(), full_key.size()).hex();
  const double start = now_ms();
  std::string object;
  if (dump_directory.empty() && cache->load(full_key, object)) {
    if (Expected<std::string> foreign = foreign_symbol(object); foreign && foreign->empty()) {
      Expected<void*> address = link(object, name);
      if (address) {
        add_to_perf_map(object, reinterpret_cast<uintptr_t>(*address), name, key.bytes().c_str());
        std::lock_guard lock(mutex);
        stats.functions_from_disk++;
        stats.load_ms += now_ms() - start;
        return address;
      }
    }
  }
  if (Status room = stats::check_compile_memory("the code generator"); !room) return room.error();
  before_compile();
  Expected<std::string> compiled = compile(build, name, key.bytes().c_str());
  if (!compiled) return compiled.error();
  Expected<void*> address = link(*compiled, name);
  if (!address) return address;
  add_to_perf_map(*compiled, reinterpret_cast<uintptr_t>(*address), name, key.bytes().c_str());
  cache->store(full_key, *compiled);
  std::lock_guard lock(mutex);
  stats.functions_compiled++;
  stats.compile_ms += now_ms() - start;
  return address;
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
  bool wide = host_has_avx512();
  if (info.target.empty()) {
    s.cpu = take_message(LLVMGetHostCPUName());
    s.features = take_message(LLVMGetHostCPUFeatures());
    s.requested_target = "native";
  } else if (info.target == "x86-64-v3" || info.target == "x86-64-v4") {
    if (info.target == "x86-64-v4" && !wide)
      return error("device: jit_target is 'x86-64-v4', but this CPU has no AVX-512; use '' or 'x86-64-v3'");
    wide = info.target == "x86-64-v4";
    s.cpu = s.requested_target = info.target;
  } else {
    return error("device: jit_target is '" + info.target + "'; allowed are '' (this CPU), 'x86-64-v3' and 'x86-64-v4'");
  }
  jit->gathers_ = wide && info.target.empty() && host_gathers_fast();
  if (const char* gathers = std::getenv("TILEGPU_GATHERS"); gathers && *gathers) jit->gathers_ = wide && *gathers == '1';
  // Chains by turns want 32 vector registers.
  const char* schedule = std::getenv("TILEGPU_SCHEDULE");
  s.wide_schedule = wide && !(schedule && !std::strcmp(schedule, "default"));
  jit->lanes_ = s.lanes = info.lanes ? info.lanes : wide ? 16 : 8;
  if (const char* dump = std::getenv("TILEGPU_DUMP"); dump && *dump) {
    s.dump_directory = dump;
    mkdir(dump, 0777);
  }
  s.triple = take_message(LLVMGetDefaultTargetTriple());
  char* message = nullptr;
  if (LLVMGetTargetFromTriple(s.triple.c_str(), &s.target, &message))
    return error("LLVM has no target '" + s.triple + "': " + take_message(message));
  LLVMTargetMachineRef machine = s.make_machine();
  if (!machine) return error("LLVM cannot generate code for '" + s.cpu + "'");
  s.idle_machines.push_back(machine);
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(s.make_machine()));
  if (LLVMErrorRef e = LLVMOrcCreateLLJIT(&s.lljit, builder)) return error("LLVM ORC: " + take_error(e));
  // Errors come back from lookups; nothing is printed.
  LLVMOrcExecutionSessionSetErrorReporter(
      LLVMOrcLLJITGetExecutionSession(s.lljit), [](void*, LLVMErrorRef e) { LLVMConsumeError(e); }, nullptr);
  s.cache = std::make_unique<ObjectCache>(info.cache_dir);

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
  add(s.cpu), add(s.features), add(kPasses), add(kSlicePasses), add(s.triple), add("O2 pic small");
  s.prefix = environment.bytes();
  return jit;
}

Jit::~Jit() = default;

Expected<void*> Jit::function(const CodeKey& key, const Build& build) {
  State& s = *state_;
  const std::string full_key = s.prefix + key.bytes();
  std::shared_ptr<Entry> entry;
  {
    std::unique_lock lock(s.mutex);
    auto [found, inserted] = s.entries.try_emplace(full_key);
    if (!inserted) {
      entry = found->second;
      s.stats.functions_from_memory++;
      s.finished.wait(lock, [&] { return entry->done; });
      if (!entry->address) return entry->error;
      return entry->address;
    }
    entry = found->second = std::make_shared<Entry>();
  }
  Expected<void*> made = s.make(full_key, key, build);
  {
    std::lock_guard lock(s.mutex);
    entry->done = true;
    if (made) {
      entry->address = *made;
    } else {
      entry->error = made.error();
      s.entries.erase(full_key);  // a later request may try again
    }
  }
  s.finished.notify_all();
  return made;
}

bool Jit::load_bytes(const CodeKey& key, std::string& bytes) const { return state_->cache->load(state_->prefix + key.bytes(), bytes); }

void Jit::store_bytes(const CodeKey& key, const std::string& bytes) const { state_->cache->store(state_->prefix + key.bytes(), bytes); }

CompileStats Jit::stats() const {
  std::lock_guard lock(state_->mutex);
  return state_->stats;
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
