// shader/jit/jit.hpp -- LLVM behind one class: target machines, and the object cache (memory, then disk).
//
// In: a key (bytes that determine the code) and a callback that fills an LLVM module. Out: the function, in a slot.
// Threads may compile at once; requests for the same key share one compile. Source: docs/decisions.md, 41.
//
// With `tiered` a function that is neither in memory nor on disk is ready with code of LLVM's quickest level, in half of the time, and runs
// up to 1.5 times longer; the same IR, optimised, follows from the background and goes to disk. TILEGPU_CODE=quick or optimised: one of
// the two only (quick code is neither kept on disk nor are functions read from there). A process that ends before optimised code is there
// leaves the next its quick code.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "shader_abi/code.hpp"
#include "tilegpu/device_info.hpp"
#include "tilegpu/types.hpp"

// As llvm-c/Types.h has it: who only asks for code needs no LLVM headers.
typedef struct LLVMOpaqueModule* LLVMModuleRef;

namespace tilegpu::shader {

class CompilerPool;

/// Bytes that determine a function; hashed strongly. Every field that reaches code generation must be added.
class CodeKey {
 public:
  explicit CodeKey(const char* kind);
  void add_bytes(const void* data, size_t size_B);
  template <class T>
  void add(const T& plain) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    add_bytes(&plain, sizeof plain);
  }
  const std::string& bytes() const { return bytes_; }
  const char* kind() const { return bytes_.c_str(); }  // with its zero it is what the bytes begin with

 private:
  std::string bytes_;
};

/// A function with this attribute is a slice: what it does not store is removed with the control flow and the loops around it. Loops
/// end (they have a budget), which is what the attribute tells LLVM.
inline constexpr const char* kSliceAttribute = "mustprogress";
/// Marks a function in whose loops much is the same each time, as the blend of a constant colour: licm takes it out. Means nothing to LLVM.
inline constexpr const char* kHoistMark = "tilegpu-hoist";
/// Of a function for several packets: it is taken apart into vectors of the Jit's lanes (ir/split_packets.hpp).
inline constexpr const char* kPacketsMark = "tilegpu-packets";

struct JitCreateInfo {
  uint32_t lanes = 0;
  std::string target;     // "", "baseline", "x86-64-v3", "x86-64-v4", "armv8-a"
  std::string cache_dir;  // "": user's cache directory; "off"
  bool tiered = false;    // functions are ready with quick code, threads in the background optimise it
  uint32_t threads = 1;   // of the device
};

class Jit {
 public:
  static Expected<std::unique_ptr<Jit>> create(const JitCreateInfo& info);
  ~Jit();
  uint32_t lanes() const { return lanes_; }
  /// Whether code for this target may use AVX-512.
  bool wide() const { return wide_; }
  /// Whether code for this target loads lanes by gather instructions. The same bits either way.
  bool gathers() const { return gathers_; }
  /// The callback builds exactly one external function called `name` in the module, and returns a Status. It is kept and called again for
  /// optimised code: what it refers to is its own.
  using Build = std::function<Status(LLVMModuleRef module, const char* name)>;
  /// `later`: where quick code has to be made, only the callback has run at the return, which finds what is not supported; LLVM's work
  /// follows on the crew's threads. The address is null until then, or until finish(). Large functions, whose frames may be too large, are
  /// made at once, and so is all without a crew or with compilers in processes of their own.
  Expected<const CodeSlot*> function(const CodeKey& key, const Build& build, When when = When::now);
  /// Does what of these nobody has begun to make. Before finish(), so that who waits for several helps with all.
  void help(std::span<const CodeSlot* const> slots);
  /// Until the address is there, or the error that there is in its place.
  Status finish(const CodeSlot* slot);
  /// The slot in which function() will put what it makes of this key; until then its address is null.
  const CodeSlot* reserve(const CodeKey& key);
  /// A function that can be done without: nothing is made, and its address stays null, until somebody has set `wanted` and make_wanted() is
  /// called; then the background crew makes its optimised code. Without a crew it is made at once.
  const CodeSlot* offer(const CodeKey& key, const Build& build);
  /// Called between passes.
  void make_wanted();
  /// Until all functions have their last code.
  void wait();
  /// Bytes of any kind in the disk cache. False when there are none.
  bool load_bytes(const CodeKey& key, std::string& bytes) const;
  void store_bytes(const CodeKey& key, const std::string& bytes) const;
  /// LLVM's passes and code generation run elsewhere from now on. Before anything is compiled.
  void set_compilers(std::shared_ptr<CompilerPool> compilers);
  /// Null: this process compiles.
  CompilerPool* compilers() const;
  CompileStats stats() const;
  std::vector<std::string> cache_files() const;
  /// As ObjectCache has them.
  std::string export_cache_entry(const std::string& name) const;
  bool import_cache_entry(const std::string& name, const std::string& entry) const;
  std::string cache_off_because() const;
  void describe(DeviceInfo& info) const;

 private:
  Jit() = default;
  struct State;
  std::unique_ptr<State> state_;
  uint32_t lanes_ = 0;
  bool wide_ = false, gathers_ = false;
};

}  // namespace tilegpu::shader
