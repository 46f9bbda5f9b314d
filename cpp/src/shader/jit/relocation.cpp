// shader/jit/relocation.cpp -- see relocation.hpp.
#include "shader/jit/relocation.hpp"

#include <elf.h>

#include <cassert>
#include <cstring>

namespace tilegpu::shader {

#if defined(__x86_64__)

const uint16_t kElfMachine = EM_X86_64;
const char* const kElfMachineName = "x86-64";

RelocationKind relocation_kind(uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC64:
      return {RelocationTo::place, 8};
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      return {RelocationTo::jump, 4};
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return {RelocationTo::slot, 4};
    default:
      return {};
  }
}

bool relocate(uint32_t type, uint8_t* at, uint64_t value) {
  assert(at);
  const RelocationKind kind = relocation_kind(type);
  if (type != R_X86_64_64) value -= reinterpret_cast<uintptr_t>(at);
  if (kind.to == RelocationTo::unknown || (kind.width_B == 4 && static_cast<int64_t>(value) != static_cast<int32_t>(value))) return false;
  std::memcpy(at, &value, kind.width_B);
  return true;
}

void write_jump(uint8_t* to) {
  assert(to);
  constexpr uint8_t kJump[kJump_B] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc};  // jmp *2(%rip)
  std::memcpy(to, kJump, sizeof kJump);
}

#else

const uint16_t kElfMachine = EM_AARCH64;
const char* const kElfMachineName = "aarch64";

RelocationKind relocation_kind(uint32_t type) {
  switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
      return {RelocationTo::place, 8};
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_LO21:
    case R_AARCH64_LD_PREL_LO19:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return {RelocationTo::place, 4};
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return {RelocationTo::jump, 4};
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return {RelocationTo::slot, 4};
    default:
      return {};
  }
}

namespace {

/// `bits` of `value` from `from` on into the instruction at `at`, from bit `to` on. Those that were there are zero.
void put_bits(uint8_t* at, uint64_t value, uint32_t from, uint32_t bits, uint32_t to) {
  assert(at && bits && to + bits <= 32);
  uint32_t instruction;
  std::memcpy(&instruction, at, sizeof instruction);
  const uint32_t mask = (1u << bits) - 1;
  instruction = (instruction & ~(mask << to)) | (static_cast<uint32_t>(value >> from) & mask) << to;
  std::memcpy(at, &instruction, sizeof instruction);
}

/// The two parts of ADR's and ADRP's operand.
bool put_adr(uint8_t* at, uint64_t value) {
  put_bits(at, value, 0, 2, 29), put_bits(at, value, 2, 19, 5);
  const auto distance = static_cast<int64_t>(value);
  return distance >= -(int64_t{1} << 20) && distance < int64_t{1} << 20;
}

/// The low bits of an address, in units of a load's or store's size.
bool put_low(uint8_t* at, uint64_t value, uint32_t log2_B) {
  assert(log2_B < 12);
  put_bits(at, value, log2_B, 12 - log2_B, 10);
  return (value & ((1u << log2_B) - 1)) == 0;
}

}  // namespace

bool relocate(uint32_t type, uint8_t* at, uint64_t value) {
  assert(at);
  const auto here = reinterpret_cast<uintptr_t>(at);
  const auto away = static_cast<int64_t>(value - here);
  const auto page_of = [](uint64_t address) { return address >> 12; };
  switch (type) {
    case R_AARCH64_ABS64:
      std::memcpy(at, &value, 8);
      return true;
    case R_AARCH64_PREL64:
      std::memcpy(at, &away, 8);
      return true;
    case R_AARCH64_PREL32:
      std::memcpy(at, &away, 4);
      return away == static_cast<int32_t>(away);
    case R_AARCH64_ADR_PREL_LO21:
      return put_adr(at, static_cast<uint64_t>(away));
    case R_AARCH64_LD_PREL_LO19:
      put_bits(at, static_cast<uint64_t>(away), 2, 19, 5);
      return away % 4 == 0 && away >= -(int64_t{1} << 20) && away < int64_t{1} << 20;
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
      return put_adr(at, page_of(value) - page_of(here));
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return put_low(at, value, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return put_low(at, value, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return put_low(at, value, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return put_low(at, value, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return put_low(at, value, 4);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      put_bits(at, static_cast<uint64_t>(away), 2, 26, 0);
      return away % 4 == 0 && away >= -(int64_t{1} << 27) && away < int64_t{1} << 27;
    default:
      return false;
  }
}

void write_jump(uint8_t* to) {
  assert(to);
  constexpr uint32_t kJump[kJump_B / 4] = {0x58000050, 0xd61f0200};  // ldr x16, .+8; br x16
  std::memcpy(to, kJump, sizeof kJump);
}

#endif

}  // namespace tilegpu::shader
