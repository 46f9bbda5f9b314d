// shader/jit/code_memory.cpp -- see code_memory.hpp.
#include "shader/jit/code_memory.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/host_memory.hpp"
#include "base/memory_budget.hpp"
#include "shader/jit/core_functions.hpp"
#include "shader/jit/relocation.hpp"

namespace tilegpu::shader {
namespace {

constexpr size_t kChunk_B = size_t{256} << 10;
constexpr size_t kMostSections = 256;
constexpr uint64_t kMostAlign_B = 4096;

/// What the system protects at once: 4096 bytes on x86-64; on aarch64 up to 65536.
size_t page_B() {
  static const auto size_B = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size_B;
}

Error broken(const std::string& what) { return {VK_ERROR_UNKNOWN, "the object file " + what}; }

uint64_t round_up(uint64_t x, uint64_t to) {
  assert(to != 0);
  return (x + to - 1) / to * to;
}

/// Bounds-checked views of the file's tables.
struct Object {
  const uint8_t* bytes;
  size_t size_B;
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  const char* names = nullptr;
  size_t names_B = 0;

  bool inside(uint64_t at, uint64_t count_B) const { return at <= size_B && count_B <= size_B - at; }
  template <class T>
  bool copy_table(const Elf64_Shdr& s, std::vector<T>& table) const {
    if (!inside(s.sh_offset, s.sh_size)) return false;
    table.resize(s.sh_size / sizeof(T));
    if (!table.empty()) std::memcpy(table.data(), bytes + s.sh_offset, table.size() * sizeof(T));
    return true;
  }
  const char* name_of(const Elf64_Sym& s) const { return s.st_name < names_B ? names + s.st_name : ""; }
};

Status read_tables(Object& o) {
  Elf64_Ehdr header;
  if (o.size_B < sizeof header) return broken("is too short");
  std::memcpy(&header, o.bytes, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kElfMachine || header.e_type != ET_REL ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum > kMostSections)
    return broken(std::string("is no relocatable ELF for ") + kElfMachineName);
  Elf64_Shdr all{};
  all.sh_offset = header.e_shoff, all.sh_size = header.e_shnum * sizeof(Elf64_Shdr);
  if (!o.copy_table(all, o.sections)) return broken("has sections outside");
  for (const Elf64_Shdr& s : o.sections) {
    if (s.sh_type != SHT_SYMTAB) continue;
    if (s.sh_link >= o.sections.size() || !o.copy_table(s, o.symbols)) return broken("has a broken symbol table");
    const Elf64_Shdr& strings = o.sections[s.sh_link];
    if (!o.inside(strings.sh_offset, strings.sh_size) || strings.sh_size == 0 || o.bytes[strings.sh_offset + strings.sh_size - 1] != 0)
      return broken("has a broken string table");
    o.names = reinterpret_cast<const char*>(o.bytes) + strings.sh_offset, o.names_B = strings.sh_size;
    return Ok{};
  }
  return broken("has no symbols");
}

bool is_loaded(const Elf64_Shdr& s) { return s.sh_type == SHT_PROGBITS && (s.sh_flags & SHF_ALLOC); }

bool wants_slot(const Elf64_Sym& symbol, RelocationTo to) {
  return to == RelocationTo::slot || (to == RelocationTo::jump && symbol.st_shndx == SHN_UNDEF);
}

}  // namespace

CodeMemory::~CodeMemory() {
  for (const Chunk& chunk : chunks_) {
    munmap(chunk.start, chunk.size_B);
    give_working_memory_back(chunk.size_B);
  }
}

/// Writable pages of nobody else's: what is executed already stays as it is.
Expected<uint8_t*> CodeMemory::take_pages(size_t size_B) {
  assert(size_B != 0 && size_B % page_B() == 0);
  std::lock_guard lock(mutex_);
  if (size_B > left_B_) {
    const size_t chunk_B = std::max(size_B, kChunk_B);
    const auto refuse = [&](OutOfMemory::By who) {
      return Error{VK_ERROR_OUT_OF_HOST_MEMORY, refused_text(OutOfMemory("machine code", chunk_B, who, memory_left_B()), "machine code")};
    };
    if (!take_working_memory(chunk_B)) return refuse(OutOfMemory::By::process);
    void* memory = mmap(nullptr, chunk_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      give_working_memory_back(chunk_B);
      return refuse(OutOfMemory::By::system);
    }
    chunks_.push_back({static_cast<uint8_t*>(memory), chunk_B});
    next_ = chunks_.back().start, left_B_ = chunk_B;
  }
  assert(next_ && size_B <= left_B_);
  uint8_t* pages = next_;
  next_ += size_B, left_B_ -= size_B;
  return pages;
}

Expected<void*> CodeMemory::place(const std::string& object, const std::string& function) {
  Object o{reinterpret_cast<const uint8_t*>(object.data()), object.size(), {}, {}, nullptr, 0};
  if (Status read = read_tables(o); !read) return read.error();

  // Where each section goes; then the slots, at most one for each relocation that wants one: beside the object's own bytes, the address of
  // what is outside, and a jump to it, which instructions don't reach.
  std::vector<uint64_t> offset(o.sections.size(), 0);
  uint64_t size_B = 0;
  size_t slots = 0;
  for (size_t k = 0; k < o.sections.size(); ++k) {
    const Elf64_Shdr& s = o.sections[k];
    if (s.sh_type == SHT_RELA) {
      std::vector<Elf64_Rela> relocations;
      if (!o.copy_table(s, relocations)) return broken("has relocations outside");
      for (const Elf64_Rela& r : relocations) {
        const uint64_t symbol = ELF64_R_SYM(r.r_info);
        slots +=
            symbol < o.symbols.size() && wants_slot(o.symbols[symbol], relocation_kind(static_cast<uint32_t>(ELF64_R_TYPE(r.r_info))).to);
      }
      continue;
    }
    if ((s.sh_flags & SHF_ALLOC) && (s.sh_type == SHT_NOBITS || (s.sh_type == SHT_PROGBITS && (s.sh_flags & SHF_WRITE))) && s.sh_size)
      return broken("has memory to write to; generated code has none");
    if (!is_loaded(s)) continue;
    const uint64_t align_B = std::max<uint64_t>(s.sh_addralign, 1);
    if (!o.inside(s.sh_offset, s.sh_size) || align_B > kMostAlign_B || (align_B & (align_B - 1)))
      return broken("has a section that is broken");
    offset[k] = round_up(size_B, align_B);
    size_B = offset[k] + s.sh_size;
  }
  uint64_t slot = round_up(size_B, kSlot_B);
  const size_t pages_B = round_up(std::max<uint64_t>(slot + slots * kSlot_B, 1), page_B());
  Expected<uint8_t*> pages = take_pages(pages_B);
  if (!pages) return pages.error();
  uint8_t* const base = *pages;
  for (size_t k = 0; k < o.sections.size(); ++k) {
    const Elf64_Shdr& s = o.sections[k];
    if (!is_loaded(s)) continue;
    assert(offset[k] + s.sh_size <= pages_B && o.inside(s.sh_offset, s.sh_size));
    std::memcpy(base + offset[k], o.bytes + s.sh_offset, s.sh_size);
  }

  std::vector<uint64_t> slot_of(o.symbols.size(), 0);
  const auto defined = [&](const Elf64_Sym& s) {
    return s.st_shndx != SHN_UNDEF && s.st_shndx < o.sections.size() && is_loaded(o.sections[s.st_shndx]) &&
           s.st_value <= o.sections[s.st_shndx].sh_size;
  };
  const auto place_of = [&](const Elf64_Sym& s) { return reinterpret_cast<uintptr_t>(base) + offset[s.st_shndx] + s.st_value; };
  for (const Elf64_Shdr& s : o.sections) {
    if (s.sh_type != SHT_RELA || s.sh_info >= o.sections.size() || !is_loaded(o.sections[s.sh_info])) continue;
    const Elf64_Shdr& target = o.sections[s.sh_info];
    std::vector<Elf64_Rela> relocations;
    if (!o.copy_table(s, relocations)) return broken("has relocations outside");
    for (const Elf64_Rela& r : relocations) {
      const auto type = static_cast<uint32_t>(ELF64_R_TYPE(r.r_info));
      const uint64_t index = ELF64_R_SYM(r.r_info);
      const RelocationKind kind = relocation_kind(type);
      if (index >= o.symbols.size() || r.r_offset > target.sh_size || target.sh_size - r.r_offset < kind.width_B)
        return broken("has a relocation outside its section");
      const Elf64_Sym& symbol = o.symbols[index];
      uint64_t value = 0;
      if (defined(symbol)) {
        value = place_of(symbol);
      } else {
        value = symbol.st_shndx == SHN_UNDEF ? core_function(o.name_of(symbol)) : 0;
      }
      if (value == 0) {
        return broken(std::string("refers to '") + o.name_of(symbol) + "', which it may not");
      }
      if (wants_slot(symbol, kind.to)) {
        uint64_t& own = slot_of[index];  // one for both halves of an address
        if (!own) {
          write_jump(base + slot);
          std::memcpy(base + slot + kJump_B, &value, sizeof value);
          own = slot;
          slot += kSlot_B;
        }
        value = reinterpret_cast<uintptr_t>(base) + own + (kind.to == RelocationTo::slot ? kJump_B : 0);
      }
      assert(slot <= pages_B);  // no more slots were taken than counted
      uint8_t* at = base + offset[s.sh_info] + r.r_offset;
      if (!relocate(type, at, value + static_cast<uint64_t>(r.r_addend)))
        return broken("has a relocation of type " + std::to_string(type) + " that is not known, or too far");
    }
  }
  void* found = nullptr;
  for (const Elf64_Sym& s : o.symbols)
    if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && defined(s) && function == o.name_of(s)) found = reinterpret_cast<void*>(place_of(s));
  if (!found) return broken("does not define '" + function + "'");
  // What the processor fetches may be older than what was written: not on x86-64, where this is nothing.
  __builtin___clear_cache(reinterpret_cast<char*>(base), reinterpret_cast<char*>(base + pages_B));
  if (mprotect(base, pages_B, PROT_READ | PROT_EXEC) != 0) return broken("cannot be made executable here");
  return found;
}

}  // namespace tilegpu::shader
