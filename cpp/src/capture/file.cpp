// capture/file.cpp -- see file.hpp. Header: "TILEGPU\n", version of the format, of the tilegpu that writes; profile, bytes of the payload,
// their checksum (FNV-1a over 64-bit words: against accidents, not against strangers; whose files every reader checks all the same). The
// first three stay where they are in every version, so that what can't be read can say who reads it.
#include "capture/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "capture/bytes.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::capture {

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

/// Where a file is written, and the name that it takes when it is whole.
struct Place {
  std::string target, named;
  bool beside = false;
};

/// Beside it, so that a disk that is full leaves the file that was there; devices and pipes have no name to take.
Place place_of(const std::string& path) {
  assert(!path.empty());
  std::error_code none;
  const bool there = std::filesystem::exists(path, none), link = std::filesystem::is_symlink(path, none);
  if (there ? !std::filesystem::is_regular_file(path, none) : link) return {path, path, false};
  const std::string named = there ? std::filesystem::canonical(path, none).string() : path;
  return {named + ".part" + std::to_string(::getpid()), named, true};
}

/// A pipe that nobody reads is null: opening it would wait as long as that lasts.
Handle open_to_write(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_fifo(path, none)) return {std::fopen(path.c_str(), "wbe"), &std::fclose};
  const int number = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (number < 0) return {nullptr, &std::fclose};
  ::fcntl(number, F_SETFL, 0);
  return {::fdopen(number, "wb"), &std::fclose};
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
  std::error_code none;
  Place place = place_of(path);
  Handle file = open_to_write(place.target);
  if (!file && place.beside) {  // its folder takes no new file, or the name is too long for it
    place = {path, path, false};
    file = open_to_write(path);
  }
  if (!file && std::filesystem::is_fifo(path, none)) return failed(path, "it is a named pipe that nobody reads; start its reader first");
  if (!file) return failed(path, "the file can't be written; is there such a folder, and may you write there?");
  const bool written = std::fwrite(header.bytes().data(), 1, header.bytes().size(), file.get()) == header.bytes().size() &&
                       std::fwrite(payload.data(), 1, payload.size(), file.get()) == payload.size();
  if (std::fclose(file.release()) != 0 || !written) {
    if (place.beside) std::filesystem::remove(place.target, none);
    return failed(path, "the disk took only a part of it; free some space");
  }
  if (!place.beside) return Ok{};
  const std::filesystem::file_status before = std::filesystem::status(place.named, none);
  if (std::filesystem::exists(before)) std::filesystem::permissions(place.target, before.permissions(), none);
  if (std::rename(place.target.c_str(), place.named.c_str()) != 0) {
    std::filesystem::remove(place.target, none);
    return failed(path, "the file can't be written; may you write there?");
  }
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
