// shader/spirv/normalize.cpp -- see normalize.hpp. Source: SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote, SPV_KHR_expect_assume.
#include "shader/spirv/normalize.hpp"

#include <cassert>

namespace tilegpu::shader {
namespace {

struct Twin {
  spv::Op from, to;
  bool adds_scope;  // the core instruction names its scope first
};

constexpr Twin kTwins[] = {
    {spv::OpSubgroupBallotKHR, spv::OpGroupNonUniformBallot, true},
    {spv::OpSubgroupFirstInvocationKHR, spv::OpGroupNonUniformBroadcastFirst, true},
    {spv::OpSubgroupAllKHR, spv::OpGroupNonUniformAll, true},
    {spv::OpSubgroupAnyKHR, spv::OpGroupNonUniformAny, true},
    {spv::OpSubgroupAllEqualKHR, spv::OpGroupNonUniformAllEqual, true},
    {spv::OpSubgroupReadInvocationKHR, spv::OpGroupNonUniformShuffle, true},
    {spv::OpExpectKHR, spv::OpCopyObject, false},
    {spv::OpAssumeTrueKHR, spv::OpNop, false},
};

const Twin* twin_of(spv::Op op) {
  for (const Twin& twin : kTwins)
    if (twin.from == op) return &twin;
  return nullptr;
}

uint32_t head(spv::Op op, size_t words) { return static_cast<uint32_t>(words) << 16 | static_cast<uint32_t>(op); }

}  // namespace

std::vector<uint32_t> normalized(std::vector<uint32_t> words) {
  constexpr size_t kHeader = 5;
  std::vector<uint32_t> out;
  for (size_t at = kHeader; at < words.size();) {
    const size_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) return words;  // split() says what is wrong
    const Twin* const twin = twin_of(static_cast<spv::Op>(words[at] & 0xffff));
    if (twin && out.empty()) out.assign(words.begin(), words.begin() + static_cast<ptrdiff_t>(at));
    if (twin && twin->to == spv::OpCopyObject && length >= 4) {
      out.insert(out.end(), {head(twin->to, 4), words[at + 1], words[at + 2], words[at + 3]});
    } else if (twin && twin->adds_scope && length >= 3) {
      // Of the scope nothing is read: the subgroup's is the only one. An id must stand there, and the type's is one.
      out.insert(out.end(), {head(twin->to, length + 1), words[at + 1], words[at + 2], words[at + 1]});
      out.insert(out.end(), words.begin() + static_cast<ptrdiff_t>(at + 3), words.begin() + static_cast<ptrdiff_t>(at + length));
    } else if (!twin && !out.empty()) {
      out.insert(out.end(), words.begin() + static_cast<ptrdiff_t>(at), words.begin() + static_cast<ptrdiff_t>(at + length));
    }
    at += length;
  }
  assert(out.empty() || out.size() >= kHeader);
  return out.empty() ? words : out;
}

}  // namespace tilegpu::shader
