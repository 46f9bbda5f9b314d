// icd/shader_binary.cpp -- binaries of shader objects. In: SPIR-V with its constants. Out: bytes, and back.
//
// A header, constants, words, the entry point's name. They hold SPIR-V: machine code is for a processor, lanes and a build of the library,
// and is kept on disk by what it is made of (decisions.md, 537). A sum over all of it finds what was damaged; what was made so on purpose
// is validated as any SPIR-V is. Source: Vulkan specification, "Binary Shader Code", VkPhysicalDeviceShaderObjectPropertiesEXT.
#include <cassert>
#include <cstddef>
#include <cstring>

#include "icd/shader_object.hpp"

namespace tilegpu::icd {
namespace {

constexpr char kMagic[16] = "tilegpu binary\n";

struct Header {
  char magic[16];
  char uuid[VK_UUID_SIZE];
  uint32_t version;
  uint32_t stage;
  uint32_t constants, words, entry_B;
  uint32_t none;
  uint64_t sum;  // over all bytes, this one 0
};
static_assert(sizeof(Header) == 64);

struct Constant {
  uint32_t id, none;
  uint64_t bits;
};
static_assert(sizeof(Constant) == 16);

/// Of the binary that it begins.
uint64_t size_of(const Header& h) { return sizeof h + uint64_t{h.constants} * sizeof(Constant) + uint64_t{h.words} * 4 + h.entry_B; }

constexpr size_t kSumAt = offsetof(Header, sum);

/// FNV-1a, which any changed bit changes.
uint64_t sum_of(const uint8_t* bytes, size_t size_B) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = 0; i < size_B; ++i) {
    const bool own = i >= kSumAt && i < kSumAt + sizeof(uint64_t);
    sum = (sum ^ (own ? 0 : bytes[i])) * 0x100000001b3;
  }
  return sum;
}

Error foreign(const std::string& why) { return {VK_ERROR_INITIALIZATION_FAILED, why}; }

}  // namespace

std::vector<uint8_t> write_binary(const ShaderBinary& binary) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  std::memcpy(header.uuid, kShaderBinaryUUID, sizeof header.uuid);
  header.version = kShaderBinaryVersion;
  header.stage = binary.stage;
  header.constants = static_cast<uint32_t>(binary.specialization.size());
  header.words = static_cast<uint32_t>(binary.words.size());
  header.entry_B = static_cast<uint32_t>(binary.entry_point.size());
  std::vector<uint8_t> out(size_of(header));
  uint8_t* to = out.data();
  const auto put = [&](const void* from, size_t size_B) {
    if (size_B) std::memcpy(to, from, size_B);
    to += size_B;
  };
  put(&header, sizeof header);
  for (const auto& [id, bits] : binary.specialization) {
    const Constant constant{id, 0, bits};
    put(&constant, sizeof constant);
  }
  put(binary.words.data(), binary.words.size() * 4);
  put(binary.entry_point.data(), binary.entry_point.size());
  assert(to == out.data() + out.size());
  const uint64_t sum = sum_of(out.data(), out.size());
  std::memcpy(out.data() + kSumAt, &sum, sizeof sum);
  return out;
}

Expected<ShaderBinary> read_binary(const void* from, size_t size_B) {
  Header header;
  const auto* bytes = static_cast<const uint8_t*>(from);
  if (!bytes || size_B < sizeof header) return foreign("it has " + std::to_string(size_B) + " bytes, less than a header");
  std::memcpy(&header, bytes, sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof header.magic) != 0 || std::memcmp(header.uuid, kShaderBinaryUUID, VK_UUID_SIZE) != 0)
    return foreign("it is none of this driver's");
  if (header.version == 0 || header.version > kShaderBinaryVersion)
    return foreign("its version is " + std::to_string(header.version) + ", shaderBinaryVersion is " + std::to_string(kShaderBinaryVersion));
  const uint64_t wanted_B = size_of(header);
  if (wanted_B != size_B) return foreign("it has " + std::to_string(size_B) + " bytes, and says that it has " + std::to_string(wanted_B));
  if (sum_of(bytes, size_B) != header.sum) return foreign("its bytes are damaged");
  ShaderBinary out;
  out.stage = static_cast<VkShaderStageFlagBits>(header.stage);
  const uint8_t* at = bytes + sizeof header;
  for (uint32_t i = 0; i < header.constants; ++i, at += sizeof(Constant)) {
    Constant constant;
    std::memcpy(&constant, at, sizeof constant);
    out.specialization.emplace_back(constant.id, constant.bits);
  }
  out.words.resize(header.words);
  if (header.words) std::memcpy(out.words.data(), at, out.words.size() * 4);
  out.entry_point.assign(reinterpret_cast<const char*>(at) + out.words.size() * 4, header.entry_B);
  return out;
}

}  // namespace tilegpu::icd
