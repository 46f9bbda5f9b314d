// capture/file.cpp -- see file.hpp. Header: "TILEGPU\n", version of the format, of the tilegpu that writes; profile, bytes of the payload,
// their checksum (FNV-1a over 64-bit words: against accidents, not against strangers; whose files every reader checks all the same). The
// first three stay where they are in every version, so that what can't be read can say who reads it.
#include "capture/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/whole_file.hpp"
#include "base/whole_io.hpp"
#include "capture/bytes.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::capture {

thread_local std::vector<Taken>* noted = nullptr;

namespace {

constexpr char kMagic[8] = {'T', 'I', 'L', 'E', 'G', 'P', 'U', '\n'};

Error failed(const std::string& path, const std::string& why) { return {VK_ERROR_INITIALIZATION_FAILED, "capture '" + path + "': " + why}; }

uint64_t checksum(const std::vector<uint8_t>& bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    sum = (sum ^ word) * 0x100000001b3;
  }
  return sum;
}

constexpr uint32_t kFirstWithWriter = 13;  // format versions before it don't say who wrote them

/// A version as people write them; whatever else a file says there is not repeated.
bool is_version(const std::string& text) {
  const auto part_of_one = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '+'; };
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), part_of_one);
}

// Of a file whose format has another version: who reads it.
Error refused(const std::string& path, uint32_t format, Reader& reader) {
  assert(format != kVersion);
  const std::string own = version(), writer = format >= kFirstWithWriter ? reader.get_text("the writer's version") : "";
  const bool known = reader.ok() && is_version(writer);
  std::string why = "its format is version " + std::to_string(format) + ", written by ";
  why += known ? "tilegpu " + writer : "a tilegpu that did not say its own version";
  why += "; this is tilegpu " + own + ", which reads format version " + std::to_string(kVersion) + "; ";
  if (known && writer != own)
    return failed(path, why + "replay it with that one (pip install tilegpu==" + writer + "), or capture it anew");
  return failed(path, why + "capture it anew, or replay it with the " + (known ? "state of tilegpu " + own : "tilegpu") + " that wrote it");
}

using Handle = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Whole and under its own name, or not at all, so that a disk that is full leaves the file that was there. A link's file is replaced, not
/// the link.
bool write_beside(const std::string& path, std::initializer_list<std::string_view> parts) {
  assert(!path.empty() && parts.size());
  std::error_code none;
  const bool there = std::filesystem::exists(path, none);
  const std::string named = there ? std::filesystem::canonical(path, none).string() : path;
  WholeFile how;
  how.mode = 0666;
  struct stat before{};
  if (there && stat(named.c_str(), &before) == 0) how.mode = before.st_mode & 07777, how.masked = false;
  return !named.empty() && tilegpu::write_file(named, parts, how);
}

/// Into what has no name to take (devices, pipes), or stands in a folder that takes no new file. A pipe that nobody reads is refused
/// (ENXIO): opening it would wait as long as that lasts.
bool write_into(const std::string& path, std::initializer_list<std::string_view> parts, bool is_file) {
  assert(!path.empty() && parts.size());
  const int created = is_file ? 0 : O_CREAT;
  const int number = uninterrupted([&] { return open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | created, 0666); });
  if (number < 0) return false;
  fcntl(number, F_SETFL, 0);
  bool good = !is_file || ftruncate(number, 0) == 0;
  for (const std::string_view part : parts) good = good && write_whole(number, part.data(), part.size());
  const int because = errno;
  if (close(number) != 0 && good) return false;
  errno = because;
  return good;
}

std::string why_not_written(const std::string& path, int because) {
  std::error_code none;
  switch (because) {
    case ENOENT:
    case ENOTDIR:
      if (std::filesystem::is_symlink(path, none)) return "it is a link to a file that is not there; remove the link";
      return "there is no such folder; make it first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "you may not write there; choose another folder";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "the disk took only a part of it; free some space";
    case EISDIR:
      return "it is a folder; name a file in it";
    case ENXIO:
      if (std::filesystem::is_fifo(path, none)) return "it is a named pipe that nobody reads; start its reader first";
      [[fallthrough]];
    default:
      return std::string("it can't be written: ") + std::strerror(because);
  }
}

/// "" for a regular file. A pipe would wait for ever, a device never ends.
std::string not_regular(const std::string& path) {
  std::error_code none;
  const std::filesystem::file_status status = std::filesystem::status(path, none);
  if (!std::filesystem::exists(status)) return "there is no such file, or you may not read it";
  if (std::filesystem::is_regular_file(status)) return "";
  const bool folder = std::filesystem::is_directory(status), pipe = std::filesystem::is_fifo(status);
  return std::string("it is a ") + (folder ? "folder" : pipe ? "named pipe" : "device") + "; only regular files are read";
}

}  // namespace

Status write_file(const std::string& path, const std::string& profile, const std::vector<uint8_t>& payload) {
  assert(!payload.empty() && is_version(version()));
  Writer header;
  header.put_bytes(kMagic, sizeof kMagic);
  header.put(kVersion);
  header.put_text(version());
  header.put_text(profile);
  header.put<uint64_t>(payload.size());
  header.put(checksum(payload));
  const auto text = [](const std::vector<uint8_t>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const std::initializer_list<std::string_view> parts = {text(header.bytes()), text(payload)};
  std::error_code none;
  const std::filesystem::file_type type = std::filesystem::status(path, none).type();
  const bool is_file = type == std::filesystem::file_type::regular;
  bool written = false;
  if (is_file || type == std::filesystem::file_type::not_found) {
    written = !std::filesystem::is_symlink(path, none) || is_file ? write_beside(path, parts) : (errno = ENOENT, false);
    if (!written && is_file && (errno == EACCES || errno == EPERM || errno == ENAMETOOLONG)) written = write_into(path, parts, true);
  } else {
    written = write_into(path, parts, false);
  }
  if (!written) return failed(path, why_not_written(path, errno));
  return Ok{};
}

Expected<File> read_file(const std::string& path) {
  if (const std::string why = not_regular(path); !why.empty()) return failed(path, why);
  Handle handle(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!handle) return failed(path, "there is no such file, or you may not read it");
  // What comes is kept, whatever the file system says of the size.
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> piece(1 << 20);
  while (const size_t got = std::fread(piece.data(), 1, piece.size(), handle.get())) {
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    if (bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) break;  // a device never ends
  }
  if (std::ferror(handle.get())) return failed(path, "it can't be read to its end");
  Reader reader(bytes);
  const uint8_t* magic = reader.take(sizeof kMagic);
  if (!magic || std::memcmp(magic, kMagic, sizeof kMagic) != 0) return failed(path, "this is no capture of tilegpu");
  const uint32_t format = reader.get<uint32_t>();
  if (format != kVersion) return refused(path, format, reader);
  reader.get_text("the writer's version");
  File file;
  file.profile = reader.get_text("the profile");
  const uint64_t size_B = reader.get<uint64_t>(), sum = reader.get<uint64_t>();
  if (!reader.ok() || size_B != reader.left_B())
    return failed(
        path, reader.ok() ? "it has " + std::to_string(reader.left_B()) + " bytes where it says " + std::to_string(size_B) : reader.why());
  assert(size_B <= bytes.size());
  bytes.erase(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(size_B));
  file.payload = std::move(bytes);
  if (checksum(file.payload) != sum) return failed(path, "its checksum is wrong: the file was damaged");
  return file;
}

}  // namespace tilegpu::capture
