// shader/jit/object_file.cpp -- see object_file.hpp. Source: System V ABI, "Object Files" (ELF-64).
#include "shader/jit/object_file.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "shader/jit/core_functions.hpp"
#include "shader/jit/relocation.hpp"

namespace tilegpu::shader {
namespace {

Error error(const std::string& message) { return {VK_ERROR_UNKNOWN, message}; }

}  // namespace

Expected<std::string> foreign_symbol(const std::string& object) {
  const auto* base = reinterpret_cast<const uint8_t*>(object.data());
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return error("the object file is too short");
  std::memcpy(&header, base, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != kElfMachine || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shoff > object.size() || (object.size() - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum) {
    return error(std::string("the object file is not ELF for ") + kElfMachineName);
  }
  const auto lies_in = [&](uint64_t offset, uint64_t size) { return offset <= object.size() && size <= object.size() - offset; };
  auto section = [&](uint32_t k) {
    Elf64_Shdr s;
    std::memcpy(&s, base + header.e_shoff + k * sizeof s, sizeof s);
    return s;
  };
  for (uint32_t k = 0; k < header.e_shnum; ++k) {
    const Elf64_Shdr symbols = section(k);
    if (symbols.sh_type != SHT_SYMTAB || symbols.sh_link >= header.e_shnum) continue;
    const Elf64_Shdr strings = section(symbols.sh_link);
    if (!lies_in(symbols.sh_offset, symbols.sh_size) || !lies_in(strings.sh_offset, strings.sh_size) || !strings.sh_size) {
      return error("the object file's symbol table is broken");
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, base + symbols.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= strings.sh_size) continue;
      const std::string name(object.data() + strings.sh_offset + symbol.st_name);
      if (!is_core_function(name.c_str())) return name;
    }
  }
  return std::string();
}

void add_to_perf_map(const std::string& object, uint64_t address, const std::string& name, const char* kind) {
  static const bool wanted = [] {
    const char* v = std::getenv("TILEGPU_PERF_MAP");
    return v && *v == '1';
  }();
  if (!wanted) return;
  uint64_t size_B = 0;  // the function's symbol; foreign_symbol has checked the file
  const auto* base = reinterpret_cast<const uint8_t*>(object.data());
  Elf64_Ehdr header;
  assert(object.size() >= sizeof header && name.size() > 3);
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

}  // namespace tilegpu::shader
