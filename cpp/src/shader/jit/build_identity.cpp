// shader/jit/build_identity.cpp -- see build_identity.hpp.
#include "shader/jit/build_identity.hpp"

#include <elf.h>
#include <link.h>

#include <cassert>
#include <cstdint>
#include <cstring>

#include "shader/jit/object_cache.hpp"

namespace tilegpu::shader {
namespace {

struct Search {
  bool noted;
  std::string found;
};

/// The linker's note in a segment of notes: a header, a name and a description, each of a multiple of four bytes.
std::string note_in(const char* at, size_t left_B) {
  const auto padded = [](size_t size_B) { return (size_B + 3) & ~size_t{3}; };
  while (left_B >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const size_t size_B = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (size_B > left_B) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(at + sizeof note, "GNU", 4)) {
      const Hash128 hash = hash128(at + sizeof note + 4, note.n_descsz);
      return "note " + hash.hex();
    }
    at += size_B, left_B -= size_B;
  }
  return "";
}

/// True: the image that this code is in.
bool is_ours(const dl_phdr_info& image) {
  const auto here = reinterpret_cast<uintptr_t>(&note_in);
  for (int k = 0; k < image.dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = image.dlpi_phdr[k];
    const uintptr_t begin = image.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && here >= begin && here - begin < part.p_memsz) return true;
  }
  return false;
}

int look_at(dl_phdr_info* image, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!is_ours(*image)) return 0;
  for (int k = 0; k < image->dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = image->dlpi_phdr[k];
    const auto* at = reinterpret_cast<const char*>(image->dlpi_addr + part.p_vaddr);
    if (search.noted && part.p_type == PT_NOTE && search.found.empty()) search.found = note_in(at, part.p_memsz);
    if (!search.noted && part.p_type == PT_LOAD && !(part.p_flags & PF_W))
      search.found += (search.found.empty() ? "bytes " : "") + hash128(at, part.p_filesz).hex();
  }
  return 1;
}

}  // namespace

std::string identity_of_image(bool noted) {
  Search search{noted, ""};
  const int found = dl_iterate_phdr(look_at, &search);
  assert(found == 1);
  (void)found;
  return search.found;
}

const std::string& build_identity() {
  // Some tools take notes out. Read once: tens of megabytes.
  static const std::string* identity = [] {
    std::string noted = identity_of_image(true);
    return new std::string(noted.empty() ? identity_of_image(false) : noted);
  }();
  return *identity;
}

}  // namespace tilegpu::shader
