// fuzz/common/finding.cpp -- see finding.hpp.
#include "common/finding.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tilegpu::fuzz {

void finding(const std::string& what) {
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::fflush(stderr);
  std::abort();
}

uint64_t hash_of(const uint8_t* data, size_t size_B) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < size_B; ++i) sum = (sum ^ data[i]) * 0x100000001b3;
  sum ^= sum >> 32;
  return sum * 0x9e3779b97f4a7c15 >> 8;
}

const std::string& scratch_folder() {
  static const struct Folder {
    std::string path;
    Folder() {
      path = (std::filesystem::temp_directory_path() / "tilegpu_fuzz_XXXXXX").string();
      if (!mkdtemp(path.data())) finding("no folder can be made: " + path);
    }
    ~Folder() {
      std::error_code none;
      std::filesystem::remove_all(path, none);
    }
  } folder;
  return folder.path;
}

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) finding("can't write " + path);
}

}  // namespace tilegpu::fuzz
