// shader/lower/nan_bits.cpp -- see nan_bits.hpp.
#include "shader/lower/nan_bits.hpp"

#include <spirv/unified1/GLSL.std.450.h>
#include <algorithm>
#include <cassert>
#include <numeric>
#include <unordered_map>

#include "shader/lower/divergence.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {
namespace {

/// [bound] which types hold floats of 32 or 64 bits: a half's NaN is one anyway. Each type stands behind those that it is made of, and is
/// looked at once, however often others name it.
std::vector<uint8_t> types_with_floats(const Module& m) {
  std::vector<uint8_t> floats(m.bound, 0);
  for (const Instruction& i : m.instructions) {
    const TypeInfo& t = m.type(i.id);
    if (t.kind == Kind::floating) floats[i.id] = t.width_bits >= 32;
    if (t.kind == Kind::vector || t.kind == Kind::matrix || t.kind == Kind::cooperative_matrix || is_array(t.kind))
      floats[i.id] = floats[t.element];
    if (t.kind == Kind::structure) floats[i.id] = std::any_of(t.members.begin(), t.members.end(), [&](uint32_t k) { return floats[k]; });
  }
  return floats;
}

const TypeInfo& scalar_of(const Module& m, uint32_t type) {
  const TypeInfo& t = m.type(type);
  return t.kind == Kind::vector || t.kind == Kind::cooperative_matrix ? m.type(t.element) : t;
}

/// A bitcast that shows the bits of its operand.
bool shows_bits(const Module& m, const Instruction& i) {
  if (i.op == spv::OpExtInst && m.operand(i, 0) == m.glsl450) return m.operand(i, 1) == GLSLstd450UnpackDouble2x32;
  if (i.op != spv::OpBitcast) return false;
  const TypeInfo& from = scalar_of(m, m.type_of(m.operand(i, 0)));
  const TypeInfo& to = scalar_of(m, i.type);
  return from.kind == Kind::floating && (to.kind != Kind::floating || to.width_bits != from.width_bits);
}

uint32_t looked_at(const Instruction& i, const Module& m) { return m.operand(i, i.op == spv::OpExtInst ? 2 : 0); }

enum class Role : uint8_t {
  arithmetic,  // makes a NaN of its own
  given,       // its bits are somebody else's: memory's, an integer's, a constant's
  moves,       // all of its operands are values of the kind of its result, or ids that are looked past
};

Role role_of(const Module& m, const Instruction& i) {
  if (is_atomic(i.op)) return Role::given;
  switch (static_cast<uint32_t>(i.op)) {
    case spv::OpPhi:
    case spv::OpSelect:
    case spv::OpCopyObject:
    case spv::OpCopyLogical:
    case spv::OpCompositeConstruct:
    case kOpCompositeConstructReplicate:
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
    case spv::OpVectorExtractDynamic:
    case spv::OpVectorInsertDynamic:
    case spv::OpTranspose:
    case spv::OpGroupNonUniformBroadcast:
    case spv::OpGroupNonUniformBroadcastFirst:
    case spv::OpGroupNonUniformShuffle:
    case spv::OpGroupNonUniformShuffleXor:
    case spv::OpGroupNonUniformShuffleUp:
    case spv::OpGroupNonUniformShuffleDown:
    case spv::OpGroupNonUniformQuadBroadcast:
    case spv::OpGroupNonUniformQuadSwap:
    case spv::OpGroupNonUniformRotateKHR:
    case spv::OpSubgroupReadInvocationKHR:
    case spv::OpSubgroupFirstInvocationKHR:
      return Role::moves;
    case spv::OpExtInst:
      return m.operand(i, 0) == m.glsl450 && m.operand(i, 1) == GLSLstd450PackDouble2x32 ? Role::given : Role::arithmetic;
    case spv::OpBitcast:
    case spv::OpUndef:
    case kOpCooperativeMatrixLoad:
      return Role::given;
    default:
      break;
  }
  // Constants; images, whose texels may hold integers: filtering is theirs.
  const bool constant = is_constant(i.op);
  const bool image = i.op >= spv::OpSampledImage && i.op <= spv::OpImageRead;
  return constant || image ? Role::given : Role::arithmetic;
}

class Search {
 public:
  explicit Search(const Module& m)
      : m_(m), floats_(types_with_floats(m)), seen_(m.bound, 0), seen_root_(m.bound, 0), result_(m.bound, 0), same_(m.bound) {
    std::iota(same_.begin(), same_.end(), 0u);
  }
  std::vector<uint8_t> run() {
    bool any = false;
    each([&](uint32_t, const Instruction& i) { any |= ends(i); });
    if (!any) return {};
    each([&](uint32_t function, const Instruction& i) { note(function, i); });
    for (const auto& [to, value] : stores_) stored_[group(to)].push_back(value);
    each([&](uint32_t, const Instruction& i) {
      if (shows_bits(m_, i)) see(looked_at(i, m_));
      if (const uint32_t stored = stored_for_others(i)) see(stored);
    });
    while (!values_.empty()) {
      const uint32_t id = values_.back();
      values_.pop_back();
      look(id);
    }
    return std::move(result_);
  }

 private:
  template <class F>
  void each(F f) {
    for (const uint32_t function : m_.reachable)
      for (const BasicBlock& block : m_.functions.at(function).blocks)
        for (uint32_t k = block.first; k < block.end; k++) f(function, m_.instructions[k]);
  }

  bool holds_floats(uint32_t value) const { return floats_[m_.type_of(value)]; }

  bool ends(const Instruction& i) const { return shows_bits(m_, i) || stored_for_others(i); }

  /// What is stored where others may read it as integers; 0: nothing is.
  uint32_t stored_for_others(const Instruction& i) const {
    if (i.op == spv::OpAtomicStore || i.op == spv::OpAtomicExchange) {
      const uint32_t value = m_.operand(i, 3);
      return holds_floats(value) ? value : 0;
    }
    if (i.op != spv::OpStore || !holds_floats(m_.operand(i, 1))) return 0;
    const uint32_t root = pointer_root(m_, m_.operand(i, 0));
    const Instruction* const variable = m_.find(root);
    if (!variable || variable->op != spv::OpVariable) return 0;
    const uint32_t type = m_.pointee(root);
    const spv::StorageClass storage = m_.storage_of(root);
    if (storage == spv::StorageClassTaskPayloadWorkgroupEXT) return m_.operand(i, 1);  // another stage reads it
    if (storage == spv::StorageClassWorkgroup) return m_.decoration(type).block ? m_.operand(i, 1) : 0;
    if (storage != spv::StorageClassOutput || m_.entry.model == spv::ExecutionModelFragment) return 0;
    const auto is_flat = [](const Decorations& d) { return d.flat || d.of_primitive; };
    bool flat = is_flat(m_.decoration(root));
    uint32_t of_one = type;  // blocks of several vertices or primitives are arrays
    while (is_array(m_.type(of_one).kind)) of_one = m_.type(of_one).element;
    for (uint32_t k = 0; k < m_.type(of_one).members.size(); k++) flat |= is_flat(m_.member(of_one, k));
    return flat ? m_.operand(i, 1) : 0;
  }

  uint32_t group(uint32_t root) {
    while (same_[root] != root) root = same_[root] = same_[same_[root]];
    return root;
  }
  void join(uint32_t a, uint32_t b) {
    if (a && b) same_[group(a)] = group(b);
  }

  /// Who writes which variables; a parameter is the variables that calls give for it. Unknown ones (0) are all the same.
  void note(uint32_t function, const Instruction& i) {
    if (i.op == spv::OpStore) {
      stores_.emplace_back(pointer_root(m_, m_.operand(i, 0)), m_.operand(i, 1));
    } else if (i.op == spv::OpCopyMemory) {
      join(pointer_root(m_, m_.operand(i, 0)), pointer_root(m_, m_.operand(i, 1)));
    } else if (i.op == spv::OpReturnValue) {
      returned_[function].push_back(m_.operand(i, 0));
    } else if (i.op == spv::OpExtInst && m_.operand(i, 0) == m_.glsl450 && m_.operand(i, 1) == GLSLstd450Modf) {
      stores_.emplace_back(pointer_root(m_, m_.operand(i, 3)), i.id);  // as much as the result
    } else if (i.op == spv::OpFunctionCall) {
      const std::vector<uint32_t>& parameters = m_.functions.at(m_.operand(i, 0)).parameters;
      for (uint32_t n = 0; n < parameters.size() && n + 1 < i.count; n++) {
        given_[parameters[n]].push_back(m_.operand(i, n + 1));
        if (m_.type(m_.type_of(parameters[n])).kind == Kind::pointer) join(parameters[n], pointer_root(m_, m_.operand(i, n + 1)));
      }
    }
  }

  void see(uint32_t id) {
    if (id >= m_.bound || seen_[id]) return;
    seen_[id] = 1;
    values_.push_back(id);
  }

  /// What may be stored to it: to its group, and to pointers that nothing is known of (0); of such a pointer, anything.
  void see_variable(uint32_t root) {
    if (!root) {
      for (const auto& [to, values] : stored_) see_stored(to);
      return;
    }
    see_stored(group(root));
    see_stored(0);
  }
  void see_stored(uint32_t to) {
    if (seen_root_[to]) return;
    seen_root_[to] = 1;
    if (const auto found = stored_.find(to); found != stored_.end())
      for (const uint32_t value : found->second) see(value);
  }

  void look(uint32_t id) {
    const Instruction* const i = m_.find(id);
    if (!i || !holds_floats(id)) return;
    if (i->op == spv::OpFunctionParameter) {
      for (const uint32_t value : given_[id]) see(value);
    } else if (i->op == spv::OpFunctionCall) {
      for (const uint32_t value : returned_[m_.operand(*i, 0)]) see(value);
    } else if (i->op == spv::OpLoad) {
      look_at_load(*i);
    } else if (const Role role = role_of(m_, *i); role == Role::moves) {
      for (const uint32_t operand : m_.operands(*i)) see(operand);  // literals among them are ids of others: too many, never too few
    } else if (role == Role::arithmetic) {
      result_[id] = 1;
    }
  }

  void look_at_load(const Instruction& i) {
    const uint32_t root = pointer_root(m_, m_.operand(i, 0));
    const Instruction* const variable = m_.find(root);
    const TypeInfo& pointer = m_.type(m_.type_of(m_.operand(i, 0)));
    switch (pointer.storage) {
      case spv::StorageClassInput:  // what is interpolated is made here
        if (m_.entry.model == spv::ExecutionModelFragment && variable && variable->op == spv::OpVariable && !m_.decoration(root).flat)
          result_[i.id] = 1;
        return;
      case spv::StorageClassWorkgroup:
        if (variable && variable->op == spv::OpVariable && m_.decoration(m_.pointee(root)).block) return;
        [[fallthrough]];
      case spv::StorageClassFunction:
      case spv::StorageClassPrivate:
      case spv::StorageClassOutput:
        see_variable(root);
        return;
      default:
        return;  // memory, where a float was stored with the one NaN
    }
  }

  const Module& m_;
  const std::vector<uint8_t> floats_;
  std::vector<uint8_t> seen_, seen_root_, result_;
  std::vector<uint32_t> same_;  // variables that are one, by one of them
  std::vector<uint32_t> values_;
  std::vector<std::pair<uint32_t, uint32_t>> stores_;                              // variable, value
  std::unordered_map<uint32_t, std::vector<uint32_t>> stored_, given_, returned_;  // by group, parameter, function
};

}  // namespace

std::vector<uint8_t> find_seen_nans(const Module& module) {
  assert(module.definition.size() == module.bound);
  return Search(module).run();
}

}  // namespace tilegpu::shader
