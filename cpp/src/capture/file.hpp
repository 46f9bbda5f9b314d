// capture/file.hpp -- the file around a capture: what it is, its version, who wrote it, its size and its checksum.
// In, out: the bytes of a capture, a file.
#pragma once

#include "tilegpu/capture.hpp"

namespace tilegpu::capture {

/// Grows with every change of what is written; other versions are not read, and who reads them is said.
inline constexpr uint32_t kVersion = 31;

struct File {
  std::string profile;
  std::vector<uint8_t> payload;
};

Status write_file(const std::string& path, const std::string& profile, const std::vector<uint8_t>& payload);
/// Nothing is believed: the size is that of the file, the checksum that of its bytes.
Expected<File> read_file(const std::string& path);

}  // namespace tilegpu::capture
