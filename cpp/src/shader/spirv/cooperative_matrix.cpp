// shader/spirv/cooperative_matrix.cpp -- see cooperative_matrix.hpp.
#define SPV_ENABLE_UTILITY_CODE
#include "shader/spirv/cooperative_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <set>

#include "shader/spirv/words.hpp"
#include "shader/spirv/workgroup.hpp"
#include "vk/cooperative_matrices.hpp"

namespace tilegpu::shader {
namespace {

constexpr const char *kExtension = "SPV_KHR_cooperative_matrix", *kKnownExtension = "SPV_NV_cooperative_matrix";

/// One module's words, instruction by instruction.
struct Translation {
  const std::vector<uint32_t>& words;
  std::vector<uint32_t> out{};
  std::map<uint32_t, std::vector<uint32_t>> constants{};       // by id, whole instructions
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> scopes{};  // of types of one use, as the scopes' copies
  std::set<uint32_t> matrices{};                               // types
  uint32_t boolean = 0, is_true = 0, next = 0;

  std::vector<uint32_t> run();
  void emit(std::initializer_list<uint32_t> instruction) { out.insert(out.end(), instruction); }
  void type(const uint32_t* i);
  void instruction(const uint32_t* i, uint32_t length);
};

/// Types that differ in their use alone are one type there, and may be declared once: each use has a scope of its own, of one value.
void Translation::type(const uint32_t* i) {
  assert((i[0] & 0xffff) == kOpTypeCooperativeMatrix);
  const uint32_t scope = i[3], use = i[6];
  uint32_t& copy = scopes[{scope, use}];
  const auto constant = constants.find(scope);
  if (!copy && constant != constants.end()) {
    copy = next++;
    const size_t at = out.size() + 2;
    out.insert(out.end(), constant->second.begin(), constant->second.end());
    out[at] = copy;
  }
  matrices.insert(i[1]);
  emit({head(spv::OpTypeCooperativeMatrixNV, 6), i[1], i[2], copy ? copy : scope, i[4], i[5]});
}

void Translation::instruction(const uint32_t* i, uint32_t length) {
  const auto op = static_cast<spv::Op>(i[0] & 0xffff);
  const auto copy = [&](spv::Op as, uint32_t count) {
    emit({head(as, count)});
    out.insert(out.end(), i + 1, i + count);
  };
  if (op == spv::OpCapability && length == 2 && i[1] == kCapabilityCooperativeMatrix)
    return emit({i[0], spv::CapabilityCooperativeMatrixNV});
  if (op == spv::OpExtension && length == 1 + std::strlen(kExtension) / 4 + 1 && !std::memcmp(i + 1, kExtension, std::strlen(kExtension))) {
    std::vector<uint32_t> name(std::strlen(kKnownExtension) / 4 + 1, 0);
    std::memcpy(name.data(), kKnownExtension, std::strlen(kKnownExtension));
    emit({head(op, 1 + name.size())});
    out.insert(out.end(), name.begin(), name.end());
    return;
  }
  if ((op == spv::OpConstant || op == spv::OpSpecConstant) && length >= 4) constants[i[2]].assign(i, i + length);
  if (op == spv::OpTypeBool && length == 2) boolean = i[1];
  if (op == spv::OpFunction && !is_true) {  // OpTypeBool is declared once
    if (!boolean) emit({head(spv::OpTypeBool, 2), boolean = next++});
    emit({head(spv::OpConstantTrue, 3), boolean, is_true = next++});
  }
  if (op == kOpTypeCooperativeMatrix && length == 7) return type(i);
  const bool loads = op == kOpCooperativeMatrixLoad, stores = op == kOpCooperativeMatrixStore;
  if (const uint32_t layout = loads ? 4 : 3; (loads || stores) && length > layout) {
    const bool has_stride = length > layout + 1;  // or Check::memory refuses it
    emit({head(loads ? spv::OpCooperativeMatrixLoadNV : spv::OpCooperativeMatrixStoreNV, length + !has_stride)});
    out.insert(out.end(), i + 1, i + layout);
    emit({i[layout + has_stride], is_true});
    out.insert(out.end(), i + std::min(length, layout + 2), i + length);
  } else if (op == kOpCooperativeMatrixMulAdd && length >= 6) {
    copy(spv::OpCooperativeMatrixMulAddNV, 6);
  } else if (op == kOpCooperativeMatrixLength && length == 4) {
    copy(spv::OpCooperativeMatrixLengthNV, length);
  } else if (op == spv::OpSpecConstantOp && length == 5 && i[3] == kOpCooperativeMatrixLength) {
    emit({i[0], i[1], i[2], spv::OpCooperativeMatrixLengthNV, i[4]});
  } else if ((op == spv::OpFMul || op == spv::OpIMul) && length == 5 && matrices.count(i[1])) {
    copy(op == spv::OpFMul ? spv::OpFDiv : spv::OpISub, length);  // which that extension has, of the same types
  } else if ((op == spv::OpBitcast || op == spv::OpSelect) && length >= 4 && matrices.count(i[1])) {
    emit({head(spv::OpUndef, 3), i[1], i[2]});  // not of that extension: Check::moved
  } else {
    out.insert(out.end(), i, i + length);
  }
}

std::vector<uint32_t> Translation::run() {
  assert(words.size() >= kHeader_words && out.empty());
  out.assign(words.begin(), words.begin() + kHeader_words);
  next = words[3];
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) return words;  // the validator says what is wrong
    instruction(words.data() + at, length);
    at += length;
  }
  out[3] = next;
  return std::move(out);
}

}  // namespace

void known_result_and_type(spv::Op op, bool& has_result, bool& has_type) {
  if (!is_cooperative(op)) return spv::HasResultAndType(op, &has_result, &has_type);
  has_result = op != kOpCooperativeMatrixStore;
  has_type = has_result && op != kOpTypeCooperativeMatrix;
}

const char* cooperative_name(spv::Op op) {
  constexpr const char* kNames[] = {"TypeCooperativeMatrixKHR", "CooperativeMatrixLoadKHR", "CooperativeMatrixStoreKHR",
                                    "CooperativeMatrixMulAddKHR", "CooperativeMatrixLengthKHR"};
  return is_cooperative(op) ? kNames[op - kOpTypeCooperativeMatrix] : nullptr;
}

std::vector<uint32_t> for_validation(const std::vector<uint32_t>& words) {
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t op = words[at] & 0xffff, length = words[at] >> spv::WordCountShift;
    if (length != 2 || op != spv::OpCapability || length > words.size() - at) break;  // capabilities come first
    if (words[at + 1] == kCapabilityCooperativeMatrix) return Translation{words}.run();
    at += length;
  }
  return words;
}

MatrixShape shape_of(const Module& m, const Constants& constants, uint32_t type) {
  const TypeInfo& t = m.type(type);
  assert(t.kind == Kind::cooperative_matrix);
  const auto side = [&](uint32_t id) {
    const uint32_t value = constants.word(id);
    const auto& sizes = vk::kCooperativeMatrixSizes;
    return std::find(sizes.begin(), sizes.end(), value) == sizes.end() ? 0 : value;
  };
  return {side(t.rows_id), side(t.columns_id)};
}

namespace {

std::string type_name(const TypeInfo& t, bool is_signed) {
  return (t.kind == Kind::floating ? "float" : is_signed ? "int" : "uint") + std::to_string(t.width_bits);
}

/// The number of Vulkan's list; of no component that there is: VK_COMPONENT_TYPE_MAX_ENUM_KHR.
VkComponentTypeKHR component_type(const TypeInfo& t, bool is_signed) {
  if (t.kind == Kind::floating)
    return t.width_bits == 16   ? VK_COMPONENT_TYPE_FLOAT16_KHR
           : t.width_bits == 32 ? VK_COMPONENT_TYPE_FLOAT32_KHR
                                : VK_COMPONENT_TYPE_MAX_ENUM_KHR;
  if (t.kind != Kind::integer) return VK_COMPONENT_TYPE_MAX_ENUM_KHR;
  switch (t.width_bits) {
    case 8:
      return is_signed ? VK_COMPONENT_TYPE_SINT8_KHR : VK_COMPONENT_TYPE_UINT8_KHR;
    case 16:
      return is_signed ? VK_COMPONENT_TYPE_SINT16_KHR : VK_COMPONENT_TYPE_UINT16_KHR;
    case 32:
      return is_signed ? VK_COMPONENT_TYPE_SINT32_KHR : VK_COMPONENT_TYPE_UINT32_KHR;
    default:
      return VK_COMPONENT_TYPE_MAX_ENUM_KHR;
  }
}

struct Check {
  const Module& m;
  const Constants& constants;
  std::set<uint32_t> seen{};           // types
  std::map<uint32_t, bool> holding{};  // types with matrices in them

  static Error error(const std::string& text) { return {VK_ERROR_FEATURE_NOT_PRESENT, "cooperative matrices: " + text}; }
  Status type(uint32_t id);
  Status product(const Instruction& i) const;
  Status memory(const Instruction& i) const;
  Status moved(const Instruction& i) const;
  bool holds_matrices(uint32_t type);
};

/// Does a value of the type, or what a pointer of the type leads to, have matrices in it?
bool Check::holds_matrices(uint32_t type) {
  const auto [found, is_new] = holding.try_emplace(type, false);
  if (!is_new) return found->second;
  std::set<uint32_t> known;
  std::vector<uint32_t> work = {type};
  while (!work.empty()) {
    const uint32_t id = work.back();
    work.pop_back();
    const TypeInfo& t = m.type(id);
    if (t.kind == Kind::cooperative_matrix) return found->second = true;
    if (!known.insert(id).second) continue;
    if (is_array(t.kind) || t.kind == Kind::pointer) work.push_back(t.element);
    if (t.kind == Kind::structure) work.insert(work.end(), t.members.begin(), t.members.end());
  }
  return false;
}

Status Check::type(uint32_t id) {
  const TypeInfo& t = m.type(id);
  if (t.kind == Kind::none || !seen.insert(id).second) return Ok{};
  if (is_array(t.kind) || t.kind == Kind::pointer) return type(t.element);
  if (t.kind == Kind::structure) {
    for (uint32_t member : t.members)
      if (Status s = type(member); !s) return s;
    return Ok{};
  }
  if (t.kind != Kind::cooperative_matrix) return Ok{};
  const auto number = [&](uint32_t constant) {
    return constants.find(constant) ? std::to_string(constants.word(constant)) : "no constant";
  };
  const std::string name = "type " + std::to_string(id);
  if (!constants.find(t.scope_id) || constants.word(t.scope_id) != spv::ScopeSubgroup)
    return error(name + ": its scope is " + number(t.scope_id) + "; a subgroup's (gl_ScopeSubgroup, 3) is offered");
  if (const MatrixShape shape = shape_of(m, constants, id); !shape.rows || !shape.columns)
    return error(name + ": it has " + number(t.rows_id) + " x " + number(t.columns_id) + " components; sides of 8 and 16 are offered");
  if (!constants.find(t.use_id) || constants.word(t.use_id) > 2)
    return error(name + ": its use is " + number(t.use_id) + "; there are MatrixA (0), MatrixB (1) and MatrixAccumulator (2)");
  const TypeInfo& component = m.type(t.element);
  if (component_type(component, component.is_signed) == VK_COMPONENT_TYPE_MAX_ENUM_KHR)
    return error(name + ": its components are " + type_name(component, component.is_signed) +
                 "; float16, float32 and integers of 8, 16 and 32 bits are offered");
  return Ok{};
}

Status Check::product(const Instruction& i) const {
  assert(i.op == kOpCooperativeMatrixMulAdd);
  if (i.count < 3) return error("OpCooperativeMatrixMulAddKHR has " + std::to_string(i.count) + " operands; it takes 3 or 4");
  const uint32_t flags = m.operand(i, 3);
  const uint32_t types[4] = {m.type_of(m.operand(i, 0)), m.type_of(m.operand(i, 1)), m.type_of(m.operand(i, 2)), i.type};
  constexpr uint32_t kSigned[4] = {kSignedA, kSignedB, kSignedC, kSignedResult};
  constexpr uint32_t kUses[4] = {0, 1, 2, 2};
  constexpr const char* kNames[4] = {"A", "B", "C", "the result"};
  VkComponentTypeKHR kinds[4];
  MatrixShape shapes[4];
  std::string text;
  for (uint32_t k = 0; k < 4; ++k) {
    const TypeInfo& t = m.type(types[k]);
    if (t.kind != Kind::cooperative_matrix)
      return error("OpCooperativeMatrixMulAddKHR: " + std::string(kNames[k]) + " is no cooperative matrix");
    if (constants.word(t.use_id) != kUses[k])
      return error("OpCooperativeMatrixMulAddKHR: " + std::string(kNames[k]) + " has use " + std::to_string(constants.word(t.use_id)) +
                   "; it must be " + std::to_string(kUses[k]));
    const bool is_signed = flags & kSigned[k];
    kinds[k] = component_type(m.type(t.element), is_signed), shapes[k] = shape_of(m, constants, types[k]);
    text += (k ? ", " : "") + std::string(kNames[k]) + " " + std::to_string(shapes[k].rows) + " x " + std::to_string(shapes[k].columns) +
            " of " + type_name(m.type(t.element), is_signed);
  }
  const bool saturates = flags & kSaturates;
  for (const vk::CooperativeMatrixRow& row : vk::cooperative_matrices()) {
    const bool sizes = std::all_of(shapes, shapes + 4, [&](MatrixShape s) { return s.rows == row.size && s.columns == row.size; });
    if (sizes && kinds[0] == row.a && kinds[1] == row.b && kinds[2] == row.c && kinds[3] == row.c && saturates == row.saturates)
      return Ok{};
  }
  return error("OpCooperativeMatrixMulAddKHR of " + text + (saturates ? ", saturating" : "") +
               " is not in the table; see vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
}

Status Check::memory(const Instruction& i) const {
  const bool loads = i.op == kOpCooperativeMatrixLoad;
  const uint32_t first = loads ? 1 : 2;  // of the layout
  const std::string name = std::string("Op") + cooperative_name(i.op);
  const uint32_t matrix = loads ? i.type : m.type_of(m.operand(i, 1));
  if (m.type(matrix).kind != Kind::cooperative_matrix) return error(name + " is of no cooperative matrix");
  if (i.count <= first + 1) return error(name + " has no stride, which row-major and column-major layouts have");
  const uint32_t layout = m.operand(i, first);
  if (!constants.find(layout) || constants.word(layout) > kColumnMajor)
    return error(name + ": its layout is " + (constants.find(layout) ? std::to_string(constants.word(layout)) : "no constant") +
                 "; RowMajorKHR (0) and ColumnMajorKHR (1) are offered");
  const TypeInfo& pointer = m.type(m.type_of(m.operand(i, 0)));
  const bool known = pointer.storage == spv::StorageClassStorageBuffer || pointer.storage == spv::StorageClassWorkgroup ||
                     pointer.storage == spv::StorageClassPhysicalStorageBuffer;
  const Kind pointee =
      m.type(pointer.element).kind == Kind::vector ? m.type(m.type(pointer.element).element).kind : m.type(pointer.element).kind;
  if (pointer.kind != Kind::pointer || !known || (pointee != Kind::integer && pointee != Kind::floating))
    return error(name + ": its pointer must be to a number or a vector in a storage buffer, shared memory or a PhysicalStorageBuffer");
  if (m.type(m.type_of(m.operand(i, first + 1))).kind != Kind::integer) return error(name + ": its stride is no integer");
  return Ok{};
}

/// Bitcasts and selections, which the validator does not see. Each component becomes one: other widths would change their number.
Status Check::moved(const Instruction& i) const {
  if (i.op == spv::OpSelect) {
    if (m.type(i.type).kind != Kind::cooperative_matrix) return Ok{};
    const bool same = i.count == 3 && m.type(m.type_of(m.operand(i, 0))).kind == Kind::boolean && m.type_of(m.operand(i, 1)) == i.type &&
                      m.type_of(m.operand(i, 2)) == i.type;
    return same ? Status(Ok{}) : error("OpSelect has a condition that is no boolean, or matrices of other types than its result");
  }
  const TypeInfo &to = m.type(i.type), &from = m.type(m.type_of(m.operand(i, 0)));
  if (to.kind != Kind::cooperative_matrix && from.kind != Kind::cooperative_matrix) return Ok{};
  const bool same = to.kind == from.kind && m.type(to.element).width_bits == m.type(from.element).width_bits &&
                    constants.size(i.type).length == constants.size(m.type_of(m.operand(i, 0))).length;
  return same ? Status(Ok{}) : error("OpBitcast between matrices whose components differ in size or number");
}

}  // namespace

Status check_cooperative(const Module& m, const Constants& constants) {
  if (std::find(m.capabilities.begin(), m.capabilities.end(), kCapabilityCooperativeMatrix) == m.capabilities.end()) return Ok{};
  Check check{m, constants};
  bool any = false;
  for (uint32_t id : m.global_variables) {
    const uint32_t type = m.type_of(id);
    if (!m.used[id] || !check.holds_matrices(type)) continue;
    if (m.storage_of(id) != spv::StorageClassPrivate)
      return Check::error("variable '" + m.name(id) + "' holds some; only those of functions and private ones may: load and store them");
    any = true;
    if (Status s = check.type(type); !s) return s;
  }
  for (uint32_t function : m.reachable) {
    for (const BasicBlock& b : m.functions.at(function).blocks) {
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        Status s = check.type(i.type);
        if (s && i.op == kOpCooperativeMatrixLength)
          s = m.type(m.operand(i, 0)).kind == Kind::cooperative_matrix
                  ? check.type(m.operand(i, 0))
                  : Status(Check::error("OpCooperativeMatrixLengthKHR is of another type"));
        if (s && (i.op == kOpCooperativeMatrixLoad || i.op == kOpCooperativeMatrixStore)) s = check.memory(i);
        if (s && i.op == kOpCooperativeMatrixMulAdd) s = check.product(i);
        if (s && (i.op == spv::OpBitcast || i.op == spv::OpSelect)) s = check.moved(i);
        if (!s) return s;
        any = any || is_cooperative(i.op) || (i.type && check.holds_matrices(i.type));
      }
    }
  }
  if (!any) return Ok{};
  if (m.entry.model != spv::ExecutionModelGLCompute) return Check::error("they are offered in compute shaders, and in no other stage");
  if (const WorkgroupFacts facts = workgroup_of(m, constants); facts.size[0] % kSubgroupSize)
    return Check::error("the workgroup's size in x is " + std::to_string(facts.size[0]) + "; it must be a multiple of " +
                        std::to_string(kSubgroupSize) + ", so that subgroups are whole");
  return Ok{};
}

}  // namespace tilegpu::shader
