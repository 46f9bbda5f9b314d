// shader_abi/code.hpp -- the address of a generated function, which may be replaced by that of better code for the same key.
// In: code as it is made. Out: the best address that there is.
// A function is ready with code that was generated quickly; the same function optimised takes its place when the background crew has made
// it (background_crew.hpp). Both give the same bits, so that it doesn't matter who reads which address, nor when.
#pragma once

#include <atomic>
#include <cstddef>

namespace tilegpu::shader {

/// Whether a function has code when it is given out, or where its slot will have it (Jit::finish).
enum class When : bool { now, later };

/// Owned by the Jit, at the same place for its life.
struct CodeSlot {
  std::atomic<void*> address{nullptr};
  std::atomic<bool> last{false};  // the address will not change again; set after it
  /// Of functions that can be done without (Jit::offer): somebody could have used it.
  mutable std::atomic<bool> wanted{false};
};

/// A function whose type its owner knows.
using AnyFunction = void (*)();

/// A function of type F (a pointer): what its slot holds now, or a fixed one.
template <class F>
class Code {
 public:
  using Function = F;
  Code() = default;
  Code(std::nullptr_t) {}
  Code(F fixed) : fixed_(fixed) {}
  explicit Code(const CodeSlot* slot) : slot_(slot) {}
  operator F() const { return slot_ ? reinterpret_cast<F>(slot_->address.load(std::memory_order_acquire)) : fixed_; }
  /// The same for the same function, whichever code it has.
  const void* identity() const { return slot_ ? static_cast<const void*>(slot_) : reinterpret_cast<const void*>(fixed_); }
  const CodeSlot* slot() const { return slot_; }
  /// The same with another type; it is called as what it was made as.
  template <class G>
  Code<G> as() const {
    return slot_ ? Code<G>(slot_) : Code<G>(reinterpret_cast<G>(fixed_));
  }

 private:
  const CodeSlot* slot_ = nullptr;
  F fixed_ = nullptr;
};

}  // namespace tilegpu::shader
