// shader/jit/relocation.hpp -- what LLVM leaves open in an object file, on either processor.
//
// In: a relocation's type and place, the address that it means. Out: bytes of code or data. Only what generated code has: one function, its
// constants, calls of the C library's memory functions. Source: System V ABI, AMD64 supplement, "Relocation"; ELF for the Arm 64-bit
// Architecture, "Relocation" (S, A, P, GDAT and the formulas).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilegpu::shader {

/// Of an object file's header, and as a text.
extern const uint16_t kElfMachine;
extern const char* const kElfMachineName;

enum class RelocationTo : uint8_t {
  unknown,  // a type that generated code does not have
  place,    // an address, or how far it is
  jump,     // the same of a function, which may be beyond reach: a jump to it does as well
  slot,     // where the address is written
};
struct RelocationKind {
  RelocationTo to = RelocationTo::unknown;
  uint32_t width_B = 4;
};
RelocationKind relocation_kind(uint32_t type);

/// `value`: the address that is meant, with its addend. False: too far, or not aligned as the instruction wants it.
bool relocate(uint32_t type, uint8_t* at, uint64_t value);

/// A jump to the address that stands behind it.
inline constexpr size_t kJump_B = 8, kSlot_B = 16;
void write_jump(uint8_t* to);

}  // namespace tilegpu::shader
