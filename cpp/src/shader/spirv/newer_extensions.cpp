// shader/spirv/newer_extensions.cpp -- see newer_extensions.hpp.
#include "shader/spirv/newer_extensions.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <string_view>

#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/words.hpp"

namespace tilegpu::shader {
namespace {

struct Newer {
  std::string_view extension;
  spv::Capability capability;  // Max: it has none
};
constexpr Newer kNewer[] = {{"SPV_KHR_maximal_reconvergence", spv::CapabilityMax},
                            {"SPV_KHR_quad_control", kCapabilityQuadControl},
                            {"SPV_EXT_replicated_composites", kCapabilityReplicatedComposites},
                            {"SPV_KHR_relaxed_extended_instruction", spv::CapabilityMax},
                            {"SPV_KHR_float_controls2", kCapabilityFloatControls2}};

bool is_newer_mode(uint32_t mode) {
  return mode == kExecutionModeQuadDerivatives || mode == kExecutionModeRequireFullQuads || mode == kExecutionModeMaximallyReconverges ||
         mode == kExecutionModeFPFastMathDefault;
}

/// One module's words, instruction by instruction.
struct Rewriting {
  const std::vector<uint32_t>& words;
  std::set<std::string_view> declared{};
  std::set<uint32_t> debug_sets{}, dropped{};  // extended instruction sets; results that are not there
  std::map<uint32_t, uint32_t> part_types{};   // by composite type; of a structure its first member's
  std::vector<uint32_t> out{};
  uint32_t next = words[3];  // a new id

  bool has(std::string_view extension) const { return declared.count(extension); }
  bool drops(const uint32_t* i, uint32_t length);
  void instruction(const uint32_t* i, uint32_t length);
};

bool Rewriting::drops(const uint32_t* i, uint32_t length) {
  assert(length > 0 && i[0] >> spv::WordCountShift == length);
  const auto op = op_of({i, length});
  switch (static_cast<uint32_t>(op)) {  // some are of no enumeration that the headers have
    case spv::OpExtension:
    case spv::OpCapability:
      return std::any_of(std::begin(kNewer), std::end(kNewer), [&](const Newer& newer) {
        return has(newer.extension) && length > 1 &&
               (op == spv::OpExtension ? text_of({i + 1, length - 1}) == newer.extension : i[1] == static_cast<uint32_t>(newer.capability));
      });
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId:
      return length > 2 && is_newer_mode(i[2]);
    case spv::OpDecorate:
      return (length > 2 && has("SPV_KHR_float_controls2") && i[2] == spv::DecorationFPFastMathMode) || (length > 1 && dropped.count(i[1]));
    case spv::OpName:
      return length > 1 && dropped.count(i[1]);
    // Whoever may name what comes later names what is for debuggers: all of that goes, as it names each other.
    case spv::OpExtInstImport:
      if (length > 2 && has("SPV_KHR_relaxed_extended_instruction") && text_of({i + 2, length - 2}).starts_with("NonSemantic."))
        debug_sets.insert(i[1]);
      return false;
    case spv::OpExtInst:
    case kOpExtInstWithForwardRefs:
      return length > 4 && debug_sets.count(i[3]);
    default:
      return false;
  }
}

void Rewriting::instruction(const uint32_t* i, uint32_t length) {
  assert(out.size() >= kHeader_words);
  const auto op = op_of({i, length});
  if (drops(i, length)) return;
  const bool parts = op == spv::OpTypeVector || op == spv::OpTypeMatrix || op == spv::OpTypeArray || op == spv::OpTypeStruct ||
                     op == kOpTypeCooperativeMatrix;
  if (parts && length > 2) part_types[i[1]] = i[2];
  if (is_quad_vote(op) && length == 4) {
    out.insert(out.end(), {head(spv::OpLogicalNot, 4), i[1], i[2], i[3]});
  } else if (is_replicated_constant(op) && length == 4) {
    out.insert(out.end(), {head(spv::OpConstantNull, 3), i[1], i[2]});
  } else if (op == kOpCompositeConstructReplicate && length == 4) {
    const auto part = part_types.find(i[1]);
    if (part != part_types.end()) out.insert(out.end(), {head(spv::OpCopyObject, 4), part->second, next++, i[3]});
    out.insert(out.end(), {head(spv::OpUndef, 3), i[1], i[2]});
  } else {
    out.insert(out.end(), i, i + length);
  }
}

/// Results of instructions that go, which OpName and OpDecorate before them name.
void find_dropped(Rewriting& r) {
  each_instruction(r.words, [&](std::span<const uint32_t> i) {
    const spv::Op op = op_of(i);
    if (r.drops(i.data(), static_cast<uint32_t>(i.size())) && (op == spv::OpExtInst || op == kOpExtInstWithForwardRefs))
      r.dropped.insert(i[2]);
    return true;
  });
}

std::string at_instruction(const Module& m, const Instruction& i, const std::string& what) {
  return op_name(i.op) + " " + std::to_string(i.id) + ": " + what + (i.line ? " (" + m.place_of(i.line) + ")" : "");
}

std::string check_replicated(const Module& m, const Instruction& i) {
  if (i.count != 1) return at_instruction(m, i, "it takes one operand");
  const TypeInfo& t = m.type(i.type);
  const Instruction* const operand = m.find(m.operand(i, 0));
  const uint32_t part = operand ? operand->type : 0;
  if (!part) return at_instruction(m, i, "its operand is no value");
  bool same = false;
  if (t.kind == Kind::structure)
    same = !t.members.empty() && std::all_of(t.members.begin(), t.members.end(), [&](uint32_t member) { return member == part; });
  else if (t.kind == Kind::vector || t.kind == Kind::matrix || t.kind == Kind::array || t.kind == Kind::cooperative_matrix)
    same = t.element == part;
  return same ? "" : at_instruction(m, i, "its operand has the type of no part, or not of every part, of the result");
}

}  // namespace

void result_and_type(spv::Op op, bool& has_result, bool& has_type) {
  if (!newer_name(op)) return known_result_and_type(op, has_result, has_type);
  has_result = has_type = true;
}

const char* newer_name(spv::Op op) {
  switch (static_cast<uint32_t>(op)) {
    case kOpExtInstWithForwardRefs:
      return "ExtInstWithForwardRefsKHR";
    case kOpConstantCompositeReplicate:
      return "ConstantCompositeReplicateEXT";
    case kOpSpecConstantCompositeReplicate:
      return "SpecConstantCompositeReplicateEXT";
    case kOpCompositeConstructReplicate:
      return "CompositeConstructReplicateEXT";
    case kOpGroupNonUniformQuadAll:
      return "GroupNonUniformQuadAllKHR";
    case kOpGroupNonUniformQuadAny:
      return "GroupNonUniformQuadAnyKHR";
    default:
      return nullptr;
  }
}

bool may_contract(const Module& m, const Instruction& i) {
  constexpr uint32_t kFast = 0x10, kAllowContract = 0x10000;  // of FPFastMathMode
  assert(i.id && i.type);
  const Decorations& own = m.decoration(i.id);
  if (own.no_contraction) return false;
  if (own.fast_math != kNone) return own.fast_math & (kFast | kAllowContract);
  uint32_t type = i.type;
  while (m.type(type).kind == Kind::vector || m.type(type).kind == Kind::matrix) type = m.type(type).element;
  for (const auto& [mode, values] : m.entry.modes) {
    if (mode != kExecutionModeFPFastMathDefault || values.size() != 2 || values[0] != type) continue;
    const Instruction* const flags = m.find(values[1]);
    return flags && flags->op == spv::OpConstant && m.operand(*flags, 0) & (kFast | kAllowContract);
  }
  return true;
}

std::vector<uint32_t> without_newer(const std::vector<uint32_t>& words) {
  Rewriting r{words};
  each_instruction(words, [&](std::span<const uint32_t> i) {
    if (op_of(i) == spv::OpExtension) r.declared.insert(text_of(i.subspan(1)));
    return op_of(i) != spv::OpMemoryModel;
  });
  if (std::none_of(std::begin(kNewer), std::end(kNewer), [&](const Newer& newer) { return r.has(newer.extension); })) return words;
  find_dropped(r);
  r.out.assign(words.begin(), words.begin() + kHeader_words);
  const bool whole = each_instruction(words, [&](std::span<const uint32_t> i) {
    r.instruction(i.data(), static_cast<uint32_t>(i.size()));
    return true;
  });
  if (!whole) return words;  // the validator says what is wrong
  assert(r.next >= words[3]);
  r.out[3] = r.next;
  return std::move(r.out);
}

std::string check_newer(const Module& m) {
  assert(m.entry.function != 0);
  const auto declares = [&](spv::Capability which) {
    return std::find(m.capabilities.begin(), m.capabilities.end(), which) != m.capabilities.end();
  };
  for (const Instruction& i : m.instructions) {
    if (!newer_name(i.op)) continue;
    if (i.op == kOpExtInstWithForwardRefs) return at_instruction(m, i, "its set must be one without semantics (NonSemantic.*)");
    if (!declares(is_quad_vote(i.op) ? kCapabilityQuadControl : kCapabilityReplicatedComposites))
      return at_instruction(
          m, i, std::string("the capability ") + (is_quad_vote(i.op) ? "QuadControlKHR" : "ReplicatedCompositesEXT") + " is not declared");
    if (is_quad_vote(i.op)) {
      if (m.type(i.type).kind != Kind::boolean || i.count != 1)
        return at_instruction(m, i, "its result and its operand must be one boolean");
      continue;
    }
    if (is_replicated_constant(i.op)) {
      const Instruction* part = i.count == 1 ? m.find(m.operand(i, 0)) : nullptr;
      if (!part || part > &i || !is_constant(part->op)) return at_instruction(m, i, "its operand must be a constant before it");
    }
    if (std::string wrong = check_replicated(m, i); !wrong.empty()) return wrong;
  }
  const bool fragment = m.entry.model == spv::ExecutionModelFragment;
  for (const auto& [mode, values] : m.entry.modes) {
    const bool quads = mode == kExecutionModeQuadDerivatives || mode == kExecutionModeRequireFullQuads;
    if (quads && !declares(kCapabilityQuadControl)) return "execution modes of quads want the capability QuadControlKHR";
    if (mode == kExecutionModeRequireFullQuads && !fragment) return "the execution mode RequireFullQuadsKHR is of fragment shaders";
    if (mode == kExecutionModeFPFastMathDefault && !declares(kCapabilityFloatControls2))
      return "the execution mode FPFastMathDefault wants the capability FloatControls2";
  }
  return {};
}

}  // namespace tilegpu::shader
