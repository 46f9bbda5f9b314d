// shader/spirv/normalize.cpp -- see normalize.hpp. Source: SPV_KHR_shader_ballot, SPV_KHR_subgroup_vote, SPV_KHR_expect_assume.
#include "shader/spirv/normalize.hpp"

#include <cassert>
#include <unordered_set>

#include "shader/spirv/words.hpp"

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

/// Types of pointers that no OpPhi may choose: without VariablePointers none may, with them those into two storage classes.
class ChosenPointers {
 public:
  void note_type(const uint32_t* i, size_t length) {
    if (op_of({i, length}) != spv::OpTypePointer || length < 4) return;
    const auto storage = static_cast<spv::StorageClass>(i[2]);
    if (storage != spv::StorageClassStorageBuffer && storage != spv::StorageClassWorkgroup &&
        storage != spv::StorageClassPhysicalStorageBuffer)
      types_.insert(i[1]);
  }
  /// The one pointer that such an OpPhi has, by all of its edges; 0: it is another instruction, or chooses.
  uint32_t only_pointer(const uint32_t* i, size_t length) const {
    if (op_of({i, length}) != spv::OpPhi || length < 3 || !types_.count(i[1])) return 0;
    uint32_t only = 0;
    for (size_t k = 3; k + 1 < length; k += 2) {
      if (i[k] == i[2] || i[k] == only) continue;
      if (only) return 0;
      only = i[k];
    }
    return only;
  }

 private:
  std::unordered_set<uint32_t> types_;
};

}  // namespace

std::vector<uint32_t> normalized(std::vector<uint32_t> words) {
  std::vector<uint32_t> out, copies;  // copies: of pointers, behind the last OpPhi of their block
  ChosenPointers pointers;
  for (size_t at = kHeader_words; at < words.size();) {
    const size_t length = words[at] >> 16;
    if (length == 0 || length > words.size() - at) return words;  // split() says what is wrong
    const uint32_t* const i = &words[at];
    const spv::Op op = op_of({i, length});
    pointers.note_type(i, length);
    const Twin* const twin = twin_of(op);
    const uint32_t pointer = pointers.only_pointer(i, length);
    if ((twin || pointer) && out.empty()) out.assign(words.begin(), words.begin() + static_cast<ptrdiff_t>(at));
    if (!copies.empty() && op != spv::OpPhi && op != spv::OpLine && op != spv::OpNoLine) {
      out.insert(out.end(), copies.begin(), copies.end());
      copies.clear();
    }
    if (pointer) {
      copies.insert(copies.end(), {head(spv::OpCopyObject, 4), i[1], i[2], pointer});
    } else if (twin && twin->to == spv::OpCopyObject && length >= 4) {
      out.insert(out.end(), {head(twin->to, 4), i[1], i[2], i[3]});
    } else if (twin && twin->adds_scope && length >= 3) {
      // Of the scope nothing is read: the subgroup's is the only one. An id must stand there, and the type's is one.
      out.insert(out.end(), {head(twin->to, length + 1), i[1], i[2], i[1]});
      out.insert(out.end(), i + 3, i + length);
    } else if (!twin && !out.empty()) {
      out.insert(out.end(), i, i + length);
    }
    at += length;
  }
  assert(out.empty() || out.size() >= kHeader_words);
  return out.empty() ? words : out;
}

}  // namespace tilegpu::shader
