// fuzz/common/spirv_mutator.cpp -- see spirv_mutator.hpp.
#define SPV_ENABLE_UTILITY_CODE
#include "common/spirv_mutator.hpp"

#include <algorithm>
#include <map>

#include "shader/spirv/operands.hpp"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size_B, size_t most_B);

namespace tilegpu::fuzz {
namespace {

constexpr size_t kHeader = 5, kBound = 3;
constexpr uint32_t kMostIds = 1u << 16;

struct Place {
  size_t at = 0;
  uint32_t count = 0;  // words, the first among them
  spv::Op op = spv::OpNop;
  uint32_t type = 0, id = 0;
  size_t first = 0;  // operand 0
  bool in_body = false;
  uint32_t operands() const { return static_cast<uint32_t>(at + count - first); }
};

/// Operations of one shape: each may stand for another.
const std::vector<std::vector<spv::Op>> kFamilies = {
    {spv::OpIAdd, spv::OpISub, spv::OpIMul, spv::OpUDiv, spv::OpSDiv, spv::OpUMod, spv::OpSRem, spv::OpSMod, spv::OpBitwiseOr,
     spv::OpBitwiseXor, spv::OpBitwiseAnd, spv::OpShiftLeftLogical, spv::OpShiftRightLogical, spv::OpShiftRightArithmetic},
    {spv::OpFAdd, spv::OpFSub, spv::OpFMul, spv::OpFDiv, spv::OpFRem, spv::OpFMod},
    {spv::OpSNegate, spv::OpNot, spv::OpBitReverse, spv::OpBitCount, spv::OpCopyObject},
    {spv::OpFNegate, spv::OpCopyObject, spv::OpDPdx, spv::OpDPdy, spv::OpFwidth, spv::OpQuantizeToF16, spv::OpDPdxFine, spv::OpDPdyCoarse},
    {spv::OpIEqual, spv::OpINotEqual, spv::OpUGreaterThan, spv::OpSGreaterThan, spv::OpUGreaterThanEqual, spv::OpSGreaterThanEqual,
     spv::OpULessThan, spv::OpSLessThan, spv::OpULessThanEqual, spv::OpSLessThanEqual},
    {spv::OpFOrdEqual, spv::OpFUnordEqual, spv::OpFOrdNotEqual, spv::OpFUnordNotEqual, spv::OpFOrdLessThan, spv::OpFUnordLessThan,
     spv::OpFOrdGreaterThan, spv::OpFUnordGreaterThan, spv::OpFOrdLessThanEqual, spv::OpFUnordGreaterThanEqual},
    {spv::OpLogicalEqual, spv::OpLogicalNotEqual, spv::OpLogicalOr, spv::OpLogicalAnd},
    {spv::OpConvertFToU, spv::OpConvertFToS, spv::OpBitcast},
    {spv::OpConvertSToF, spv::OpConvertUToF, spv::OpBitcast},
    {spv::OpSConvert, spv::OpUConvert},
    {spv::OpIsNan, spv::OpIsInf},
    {spv::OpAny, spv::OpAll},
    {spv::OpBitFieldSExtract, spv::OpBitFieldUExtract},
    {spv::OpKill, spv::OpUnreachable, spv::OpReturn, spv::OpTerminateInvocation, spv::OpDemoteToHelperInvocationEXT},
    {spv::OpAtomicIAdd, spv::OpAtomicISub, spv::OpAtomicSMin, spv::OpAtomicUMax, spv::OpAtomicAnd, spv::OpAtomicXor, spv::OpAtomicExchange},
    {spv::OpGroupNonUniformIAdd, spv::OpGroupNonUniformIMul, spv::OpGroupNonUniformSMin, spv::OpGroupNonUniformUMax,
     spv::OpGroupNonUniformBitwiseXor},
    {spv::OpSpecConstant, spv::OpConstant},
    {spv::OpConstantTrue, spv::OpConstantFalse},
    {spv::OpConstantNull, spv::OpUndef},
};
constexpr uint32_t kNumbers[] = {0,          1,          2,          3,          4,          7,          8,          31,
                                 32,         33,         63,         64,         127,        255,        256,        65535,
                                 65536,      0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000, 0x7f800000,
                                 0xff800000, 0x7fc00000, 0x00000001, 0x4f000000, 0x5f000000, 0x007fffff};

bool is_structure(spv::Op op) {
  switch (op) {
    case spv::OpLabel:
    case spv::OpBranch:
    case spv::OpBranchConditional:
    case spv::OpSwitch:
    case spv::OpSelectionMerge:
    case spv::OpLoopMerge:
    case spv::OpReturn:
    case spv::OpReturnValue:
    case spv::OpKill:
    case spv::OpUnreachable:
    case spv::OpTerminateInvocation:
    case spv::OpFunction:
    case spv::OpFunctionParameter:
    case spv::OpFunctionEnd:
    case spv::OpPhi:
    case spv::OpVariable:
      return true;
    default:
      return false;
  }
}

struct Mutation {
  std::vector<uint32_t>& words;
  Random& random;
  std::vector<Place> places{};
  std::map<uint32_t, std::vector<uint32_t>> of_type{};  // values, in order
  std::vector<uint32_t> labels{}, types{};
  std::vector<uint32_t> type_of{};  // by id; 0: none

  uint32_t below(size_t n) { return n <= 1 ? 0 : static_cast<uint32_t>(random() % n); }
  uint32_t number() { return below(3) ? kNumbers[below(std::size(kNumbers))] : static_cast<uint32_t>(random()); }

  bool read() {
    places.clear(), of_type.clear(), labels.clear(), types.clear();
    if (words.size() <= kHeader || words[0] != spv::MagicNumber || words[kBound] > kMostIds) return false;
    type_of.assign(words[kBound] + size_t{1}, 0);
    bool in_body = false;
    for (size_t at = kHeader; at < words.size();) {
      Place p{at, words[at] >> 16, static_cast<spv::Op>(words[at] & 0xffff), 0, 0, at + 1, false};
      if (p.count == 0 || p.count > words.size() - at) return false;
      bool result = false, type = false;
      spv::HasResultAndType(p.op, &result, &type);
      if (p.count < 1u + result + type) return false;
      if (type) p.type = words[p.first++];
      if (result) p.id = words[p.first++];
      in_body = in_body || p.op == spv::OpFunction;
      p.in_body = in_body;
      if (p.id && p.id < type_of.size()) note(p);
      places.push_back(p);
      at += p.count;
    }
    return !places.empty();
  }

  void note(const Place& p) {
    if (p.op == spv::OpLabel) labels.push_back(p.id);
    if (p.op >= spv::OpTypeVoid && p.op <= spv::OpTypeForwardPointer) types.push_back(p.id);
    if (!p.type || p.op == spv::OpFunction) return;
    type_of[p.id] = p.type;
    of_type[p.type].push_back(p.id);
  }

  /// A random place that `f` takes; null after some tries.
  template <class F>
  const Place* any(F&& f) {
    for (int tries = 0; tries < 40; ++tries) {
      const Place& p = places[below(places.size())];
      if (f(p)) return &p;
    }
    return nullptr;
  }
  static bool plain(const Place& p) { return p.in_body && !is_structure(p.op); }

  bool swap_neighbours() {
    const Place* p = any([&](const Place& q) { return plain(q) && &q != &places.back() && plain(*(&q + 1)); });
    if (!p) return false;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(p->at), middle = begin + p->count, end = middle + (p + 1)->count;
    std::rotate(begin, middle, end);
    return true;
  }

  bool duplicate() {
    const Place* p = any([](const Place& q) { return plain(q) || q.op == spv::OpConstant || q.op == spv::OpDecorate; });
    if (!p) return false;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(p->at);
    std::vector<uint32_t> copy(begin, begin + p->count);
    if (p->id) copy[p->first - p->at - 1] = words[kBound]++;
    words.insert(begin + p->count, copy.begin(), copy.end());
    return true;
  }

  bool remove() {
    const Place* p = any([](const Place& q) { return plain(q) || q.op == spv::OpDecorate || q.op == spv::OpExecutionMode; });
    if (!p) return false;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(p->at);
    words.erase(begin, begin + p->count);
    return true;
  }

  /// An operand that is an id becomes another one of the same type (of a label: another label).
  bool replace_id() {
    const Place* p = any([](const Place& q) { return q.in_body && q.operands() > 0 && q.op != spv::OpFunction; });
    if (!p) return false;
    const uint32_t k = below(p->operands());
    if (!shader::is_id(p->op, k)) return false;
    uint32_t& id = words[p->first + k];
    if (id >= type_of.size()) return false;
    if (const uint32_t type = type_of[id]) {
      const std::vector<uint32_t>& all = of_type[type];
      // Mostly one that is defined not far before: what is used must dominate.
      const auto here = std::find(all.begin(), all.end(), id);
      const size_t end = below(4) ? static_cast<size_t>(here - all.begin()) + 1 : all.size();
      id = all[below(end)];
    } else if (!labels.empty() && (p->op == spv::OpBranch || p->op == spv::OpBranchConditional || p->op == spv::OpSwitch)) {
      id = labels[below(labels.size())];
    } else {
      return false;
    }
    return true;
  }

  bool change_number() {
    const Place* p = any([](const Place& q) {
      return q.op == spv::OpConstant || q.op == spv::OpSpecConstant || q.op == spv::OpDecorate || q.op == spv::OpMemberDecorate ||
             q.op == spv::OpExecutionMode || q.op == spv::OpTypeVector || q.op == spv::OpTypeInt || q.op == spv::OpTypeImage ||
             (q.in_body && shader::literal_operands(q.op).first < q.operands() && q.op != spv::OpVariable);
    });
    if (!p || p->operands() == 0) return false;
    uint32_t first = 0;
    if (p->in_body)
      first = shader::literal_operands(p->op).first;
    else if (p->op == spv::OpDecorate)
      first = below(8) ? 2 : 1;
    else if (p->op == spv::OpMemberDecorate)
      first = 3;
    else if (p->op == spv::OpExecutionMode || p->op == spv::OpTypeVector || p->op == spv::OpTypeImage)
      first = 1;
    if (first >= p->operands()) return false;
    uint32_t& word = words[p->first + first + below(p->operands() - first)];
    word = below(2) ? number() : word + below(5) - 2;
    return true;
  }

  bool change_operation() {
    const Place* p = any([](const Place& q) {
      return q.op == spv::OpExtInst ||
             std::any_of(kFamilies.begin(), kFamilies.end(), [&](const auto& f) { return std::find(f.begin(), f.end(), q.op) != f.end(); });
    });
    if (!p) return false;
    if (p->op == spv::OpExtInst && p->operands() > 1) {
      words[p->first + 1] = 1 + below(81);
      return true;
    }
    for (const auto& family : kFamilies) {
      if (std::find(family.begin(), family.end(), p->op) == family.end() || !below(3)) continue;
      words[p->at] = (words[p->at] & 0xffff0000) | family[below(family.size())];
      return true;
    }
    return false;
  }

  /// New arithmetic on values that are there, and somebody who uses it.
  bool insert_operation() {
    const Place* p = any([&](const Place& q) { return plain(q) && q.type && of_type[q.type].size() > 1; });
    if (!p) return false;
    const auto known =
        std::find_if(kFamilies.begin(), kFamilies.end(), [&](const auto& f) { return std::find(f.begin(), f.end(), p->op) != f.end(); });
    const std::vector<uint32_t>& values = of_type[p->type];
    std::vector<uint32_t> made{0, p->type, words[kBound]++};
    spv::Op op = spv::OpCopyObject;
    if (known != kFamilies.end()) {
      op = (*known)[below(known->size())];
      for (uint32_t k = 0; k < p->operands(); ++k) {
        const uint32_t old = words[p->first + k], type = old < type_of.size() ? type_of[old] : 0;
        const auto& all = type ? of_type[type] : values;
        made.push_back(all[below(all.size())]);
      }
    } else if (below(2)) {
      op = spv::OpCopyObject, made.push_back(p->id);
    } else {
      const Place* condition =
          any([&](const Place& q) { return q.op >= spv::OpIEqual && q.op <= spv::OpFUnordGreaterThanEqual && q.at < p->at; });
      if (!condition) return false;
      op = spv::OpSelect, made.insert(made.end(), {condition->id, p->id, values[below(values.size())]});
    }
    made[0] = static_cast<uint32_t>(made.size()) << 16 | op;
    const size_t behind = p->at + p->count;
    // The next that use what stood there use the new one.
    const uint32_t old = p->id, fresh = made[2];
    for (const Place& user : places) {
      if (user.at < behind || !old || is_structure(user.op) || below(2)) continue;
      for (uint32_t k = 0; k < user.operands(); ++k)
        if (shader::is_id(user.op, k) && words[user.first + k] == old) words[user.first + k] = fresh;
      if (!below(3)) break;
    }
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(behind), made.begin(), made.end());
    return true;
  }

  /// A type's own operands, which change everything that has it.
  bool change_type() {
    const Place* p = any([](const Place& q) { return q.op >= spv::OpTypeVoid && q.op <= spv::OpTypePointer && q.operands() > 0; });
    if (!p || types.empty()) return false;
    uint32_t& word = words[p->first + below(p->operands())];
    word = below(2) ? types[below(types.size())] : word + below(3) - 1;
    return true;
  }

  bool change_bytes() {
    auto* bytes = reinterpret_cast<uint8_t*>(words.data() + kHeader);
    const size_t size_B = (words.size() - kHeader) * 4;
    LLVMFuzzerMutate(bytes, size_B, size_B);
    return true;
  }

  bool change() {
    switch (below(20)) {
      case 0:
        return swap_neighbours();
      case 1:
        return duplicate();
      case 2:
        return remove();
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
        return replace_id();
      case 8:
      case 9:
      case 10:
      case 11:
        return change_number();
      case 12:
      case 13:
      case 14:
        return change_operation();
      case 15:
      case 16:
      case 17:
        return insert_operation();
      case 18:
        return change_type();
      default:
        return below(4) ? replace_id() : change_bytes();
    }
  }
};

}  // namespace

bool mutate_spirv(std::vector<uint32_t>& words, Random& random) {
  Mutation m{words, random};
  if (!m.read()) return false;
  for (uint32_t changes = 1 + m.below(4), tries = 0; changes > 0 && tries < 30; ++tries) {
    if (!m.change()) continue;
    --changes;
    if (!m.read()) break;
  }
  return true;
}

}  // namespace tilegpu::fuzz
