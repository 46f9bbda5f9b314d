// shader/spirv/module.cpp -- the SPIR-V reader: words to struct Module.
//
// In: words and an entry point's name. Out: a Module, or an error that names what is broken or unsupported.
// Source: SPIR-V specification 1.6, section 2.3 "Physical Layout of a SPIR-V Module", 2.4 "Logical Layout".
#include "shader/spirv/module.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <set>

#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/normalize.hpp"
#include "shader/spirv/operands.hpp"
#include "shader/spirv/tile_images.hpp"

namespace tilegpu::shader {
namespace {

Error error(const std::string& message) { return {VK_ERROR_INVALID_SHADER_NV, "SPIR-V: " + message}; }
/// Valid, but not ours.
Error unsupported(const std::string& message) { return {VK_ERROR_FEATURE_NOT_PRESENT, "SPIR-V: " + message + " not supported"}; }

/// A string literal; ends at the first zero byte or at the end of the operands.
std::string literal(const Module& m, const Instruction& i, uint32_t operand, uint32_t* words_used = nullptr) {
  std::string text;
  assert(i.first + size_t{i.count} <= m.words.size());
  for (uint32_t k = operand; k < i.count; ++k) {
    const uint32_t word = m.operand(i, k);
    for (int byte = 0; byte < 4; ++byte) {
      const char c = static_cast<char>(word >> (8 * byte));
      if (!c) {
        if (words_used) *words_used = k + 1 - operand;
        return text;
      }
      text += c;
    }
  }
  if (words_used) *words_used = i.count - std::min(operand, i.count);
  return text;
}

/// Members of a structure with a name or decoration of their own; more would only ask for memory.
constexpr uint32_t kMaxMember = 65535;
constexpr size_t kMaxGroup = 64;

bool is_type(spv::Op op) { return (op >= spv::OpTypeVoid && op <= spv::OpTypeForwardPointer) || op == kOpTypeCooperativeMatrix; }

/// Decorations with a number, and those without; others say nothing that is needed here.
constexpr std::pair<spv::Decoration, uint32_t Decorations::*> kNumbers[] = {
    {spv::DecorationLocation, &Decorations::location},
    {spv::DecorationComponent, &Decorations::component},
    {spv::DecorationIndex, &Decorations::index},
    {spv::DecorationDescriptorSet, &Decorations::set},
    {spv::DecorationBinding, &Decorations::binding},
    {spv::DecorationInputAttachmentIndex, &Decorations::input_attachment},
    {spv::DecorationSpecId, &Decorations::spec_id},
    {spv::DecorationBuiltIn, &Decorations::builtin},
    {spv::DecorationOffset, &Decorations::offset_B},
    {spv::DecorationArrayStride, &Decorations::array_stride_B},
    {spv::DecorationMatrixStride, &Decorations::matrix_stride_B},
    {spv::DecorationFPRoundingMode, &Decorations::fp_rounding_mode},
    {spv::DecorationFPFastMathMode, &Decorations::fast_math},
    {spv::DecorationStream, &Decorations::stream},
    {spv::DecorationXfbBuffer, &Decorations::xfb_buffer},
    {spv::DecorationXfbStride, &Decorations::xfb_stride_B},
};
constexpr std::pair<spv::Decoration, bool Decorations::*> kFlags[] = {
    {spv::DecorationRowMajor, &Decorations::row_major},
    {spv::DecorationBlock, &Decorations::block},
    {spv::DecorationBufferBlock, &Decorations::buffer_block},
    {spv::DecorationFlat, &Decorations::flat},
    {spv::DecorationNoPerspective, &Decorations::noperspective},
    {spv::DecorationCentroid, &Decorations::centroid},
    {spv::DecorationSample, &Decorations::sample},
    {spv::DecorationNonWritable, &Decorations::nonwritable},
    {spv::DecorationNonReadable, &Decorations::nonreadable},
    {spv::DecorationCoherent, &Decorations::coherent},
    {spv::DecorationVolatile, &Decorations::volatile_},
    {spv::DecorationNoContraction, &Decorations::no_contraction},
    {spv::DecorationInvariant, &Decorations::invariant},
    {spv::DecorationRelaxedPrecision, &Decorations::relaxed_precision},
    {spv::DecorationPatch, &Decorations::patch},
    {spv::DecorationPerVertexKHR, &Decorations::of_corners},
    {spv::DecorationPerPrimitiveEXT, &Decorations::of_primitive},
};

struct Reader {
  Module& m;
  std::string entry_name;
  bool found_entry = false;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<spv::ExecutionMode, std::vector<uint32_t>>>> modes;
  std::vector<uint32_t> forward_pointers;
  std::unordered_map<uint32_t, std::vector<const Instruction*>> groups;  // decorations of decoration groups

  Status split();
  Status read_declarations();
  void read_entry_point(const Instruction& i);
  Status read_mode_setting(const Instruction& i);
  Status read_annotation(const Instruction& i);
  Status read_functions();
  Status read_type(const Instruction& i);
  Status read_forward_pointer(const Instruction& i);
  Status read_calls();
  void decorate(Decorations& d, const Instruction& i, uint32_t operand);
  Decorations& member_decorations(uint32_t type, uint32_t member);
  Status decorate_group(const Instruction& i);
  bool is_debug_information(const Instruction& i);
  bool is_second_import(const Instruction& i);
  std::set<uint32_t> non_semantic_sets, glsl450_sets;  // ids of imports
  std::vector<bool> holds_pointers;                    // [bound] types that are one, or a part of which is; addresses are numbers
  bool valid(uint32_t id) const { return id != 0 && id < m.bound; }
};

/// What says nothing about what the shader does is no instruction of the module: whether it is there, and which numbers are in it,
/// decides nothing.
bool Reader::is_debug_information(const Instruction& i) {
  if (i.op == spv::OpExtInstImport && literal(m, i, 0).starts_with("NonSemantic.")) non_semantic_sets.insert(i.id);
  return i.op == spv::OpLine || i.op == spv::OpNoLine ||
         ((i.op == spv::OpExtInst || i.op == kOpExtInstWithForwardRefs) && non_semantic_sets.count(m.operand(i, 0)));
}

/// A set that is imported under several names (layers that add code to a module do) is one: the first name stands for all.
bool Reader::is_second_import(const Instruction& i) {
  if (i.op == spv::OpExtInst && i.count > 0 && glsl450_sets.count(m.operand(i, 0))) m.words[i.first] = m.glsl450;
  if (i.op != spv::OpExtInstImport || literal(m, i, 0) != "GLSL.std.450") return false;
  glsl450_sets.insert(i.id);
  if (!m.glsl450) m.glsl450 = i.id;
  return m.glsl450 != i.id;
}

/// Words into instructions.
Status Reader::split() {
  const std::vector<uint32_t>& w = m.words;
  if (w.size() < 5 || w[0] != spv::MagicNumber)
    return error("this is no SPIR-V module (the first word is not 0x07230203, or the module has fewer than 5 words)");
  m.version = w[1];
  m.bound = w[3];
  if (m.bound == 0 || m.bound > 4u * 1024 * 1024) return error("the id bound is " + std::to_string(m.bound) + "; allowed are 1 to 4194304");
  m.definition.assign(m.bound, kNone);
  m.origin.assign(m.bound, 0);
  m.types.resize(m.bound);
  holds_pointers.resize(m.bound);
  m.decorations.resize(m.bound);
  m.used.assign(m.bound, false);
  m.lines.push_back({});
  uint32_t line = 0;
  size_t at = 5, seen = 0;
  while (at < w.size()) {
    const uint32_t length = w[at] >> 16;
    const auto op = static_cast<spv::Op>(w[at] & 0xffff);
    if (length == 0 || length > w.size() - at)
      return error("the instruction at word " + std::to_string(at) + " has length " + std::to_string(length));
    if (seen++ >= kMaxSpirvInstructions)
      return error("the module has more than " + std::to_string(kMaxSpirvInstructions) + " instructions, the limit");
    Instruction i;
    i.op = op;
    bool has_result = false, has_type = false;
    result_and_type(op, has_result, has_type);
    uint32_t next = static_cast<uint32_t>(at) + 1;
    const auto end = static_cast<uint32_t>(at + length);
    if (has_type) {
      if (next >= end || !valid(w[next])) return error(op_name(op) + " at word " + std::to_string(at) + " has no valid result type");
      i.type = w[next++];
    }
    if (has_result) {
      if (next >= end || !valid(w[next])) return error(op_name(op) + " at word " + std::to_string(at) + " has no valid result id");
      i.id = w[next++];
    }
    i.first = next;
    i.count = end - next;
    at += length;
    if (op == spv::OpLine) {
      line = static_cast<uint32_t>(m.lines.size());
      m.lines.push_back({m.operand(i, 0), m.operand(i, 1)});
    } else if (op == spv::OpNoLine || op == spv::OpFunctionEnd) {
      line = 0;
    }
    if (is_debug_information(i) || is_second_import(i)) continue;
    i.line = line;
    if (i.id) {
      if (m.definition[i.id] != kNone) return error("id " + std::to_string(i.id) + " is defined twice");
      m.definition[i.id] = static_cast<uint32_t>(m.instructions.size());
      // What an instruction uses comes before it, but for phis and blocks that nothing reaches: known once, whoever asks how often.
      const bool follows = op == spv::OpAccessChain || op == spv::OpInBoundsAccessChain || op == spv::OpCopyObject;
      m.origin[i.id] = follows ? m.origin_of(m.operand(i, 0)) : i.id;
    }
    assert(i.first + size_t{i.count} <= w.size());
    m.instructions.push_back(i);
  }
  return Ok{};
}

void Reader::decorate(Decorations& d, const Instruction& i, uint32_t operand) {
  assert(i.op == spv::OpDecorate || i.op == spv::OpMemberDecorate);
  const auto decoration = static_cast<spv::Decoration>(m.operand(i, operand));
  for (const auto& [known, number] : kNumbers)
    if (known == decoration) d.*number = m.operand(i, operand + 1);
  for (const auto& [known, flag] : kFlags)
    if (known == decoration) d.*flag = true;
}

Decorations& Reader::member_decorations(uint32_t type, uint32_t member) {
  assert(valid(type) && member <= kMaxMember);
  auto& members = m.member_decorations[type];
  if (members.size() <= member) members.resize(member + 1);
  return members[member];
}

/// The decorations of a group for each target, or each member of one.
Status Reader::decorate_group(const Instruction& i) {
  const auto found = groups.find(m.operand(i, 0));
  if (found == groups.end()) return Ok{};
  // A module's size bounds the targets and the decorations, and this their product.
  if (found->second.size() > kMaxGroup)
    return error("decoration group " + std::to_string(found->first) + " has " + std::to_string(found->second.size()) +
                 " decorations; at most " + std::to_string(kMaxGroup) + " are allowed");
  const bool members = i.op == spv::OpGroupMemberDecorate;
  for (uint32_t k = 1; k + members < i.count; k += 1 + members) {
    const uint32_t target = m.operand(i, k), member = members ? m.operand(i, k + 1) : 0;
    if (!valid(target) || member > kMaxMember) return error(op_name(i.op) + " has an invalid target");
    for (const Instruction* decoration : found->second)
      decorate(members ? member_decorations(target, member) : m.decorations[target], *decoration, 1);
  }
  return Ok{};
}

/// A pointer that structures name before its own declaration, which says to what.
Status Reader::read_forward_pointer(const Instruction& i) {
  const uint32_t id = m.operand(i, 0);
  if (!valid(id) || m.types[id].kind != Kind::none)
    return error("OpTypeForwardPointer names " + std::to_string(id) + ", which is no new id");
  if (m.operand(i, 1) != spv::StorageClassPhysicalStorageBuffer)
    return unsupported("OpTypeForwardPointer of another storage class than PhysicalStorageBuffer is");
  m.types[id].kind = Kind::pointer, m.types[id].id = id, m.types[id].storage = spv::StorageClassPhysicalStorageBuffer;
  forward_pointers.push_back(id);
  return Ok{};
}

Status Reader::read_type(const Instruction& i) {
  if (i.op == spv::OpTypeForwardPointer) return read_forward_pointer(i);
  assert(is_type(i.op) && i.id != 0 && i.id < m.bound);
  TypeInfo& t = m.types[i.id];
  if (is_address(t) && (i.op != spv::OpTypePointer || m.operand(i, 0) != spv::StorageClassPhysicalStorageBuffer))
    return error("type " + std::to_string(i.id) + " is not the pointer that OpTypeForwardPointer announced");
  t.id = i.id;
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  // A type's parts come before it, but for what addresses point to: types are finite, and a walk ends at an address.
  const auto part = [&](uint32_t id) { return valid(id) && m.types[id].kind != Kind::none && id != i.id; };
  bool parts_ok = true;
  switch (static_cast<uint32_t>(i.op)) {
    case spv::OpTypeVoid:
      t.kind = Kind::void_;
      break;
    case spv::OpTypeBool:
      t.kind = Kind::boolean;
      break;
    case spv::OpTypeInt:
      t.kind = Kind::integer, t.width_bits = o(0), t.is_signed = o(1) != 0;
      if (t.width_bits != 8 && t.width_bits != 16 && t.width_bits != 32 && t.width_bits != 64)
        return unsupported("integers of " + std::to_string(t.width_bits) + " bits (use 8, 16, 32 or 64) are");
      break;
    case spv::OpTypeFloat:
      t.kind = Kind::floating, t.width_bits = o(0);
      if (i.count > 1 || (t.width_bits != 16 && t.width_bits != 32 && t.width_bits != 64))
        return unsupported("floats of " + std::to_string(t.width_bits) + " bits (use 16, 32 or 64 of IEEE 754) are");
      break;
    case spv::OpTypeVector:
    case spv::OpTypeMatrix:
      t.kind = i.op == spv::OpTypeVector ? Kind::vector : Kind::matrix, t.element = o(0), t.count = o(1), parts_ok = part(t.element);
      if (t.count < 2 || t.count > 4) return error("vectors and matrices have 2 to 4 components, not " + std::to_string(t.count));
      break;
    case spv::OpTypeArray:
      t.kind = Kind::array, t.element = o(0), t.length_id = o(1), parts_ok = part(t.element) && valid(t.length_id);
      holds_pointers[i.id] = parts_ok && holds_pointers[t.element];
      break;
    case spv::OpTypeRuntimeArray:
      t.kind = Kind::runtime_array, t.element = o(0), parts_ok = part(t.element);
      holds_pointers[i.id] = parts_ok && holds_pointers[t.element];
      break;
    case spv::OpTypeStruct:
      t.kind = Kind::structure, t.members.assign(m.words.begin() + i.first, m.words.begin() + i.first + i.count);
      for (uint32_t member : t.members) {
        parts_ok = parts_ok && part(member);
        holds_pointers[i.id] = holds_pointers[i.id] || (parts_ok && holds_pointers[member]);
      }
      break;
    case spv::OpTypePointer:
      t.kind = Kind::pointer, t.storage = static_cast<spv::StorageClass>(o(0)), t.element = o(1), parts_ok = part(t.element);
      t.variable_pointer = m.variable_pointers && (t.storage == spv::StorageClassStorageBuffer || t.storage == spv::StorageClassWorkgroup);
      holds_pointers[i.id] = !is_address(t);
      // SPIRV-Tools looks for them in variables, not in members of their types.
      if (parts_ok && holds_pointers[t.element] && t.storage != spv::StorageClassFunction && t.storage != spv::StorageClassPrivate)
        return error("what pointer type " + std::to_string(i.id) +
                     " points to holds pointers, which only variables of the classes Function " +
                     "and Private may; elsewhere use addresses (PhysicalStorageBuffer)");
      break;
    case spv::OpTypeFunction:
      t.kind = Kind::function, t.element = o(0), parts_ok = part(t.element) && i.count >= 1;
      if (parts_ok) t.members.assign(m.words.begin() + i.first + 1, m.words.begin() + i.first + i.count);
      for (uint32_t parameter : t.members) parts_ok = parts_ok && part(parameter);
      break;
    case spv::OpTypeImage:
      t.kind = Kind::image, t.element = o(0), t.dim = static_cast<spv::Dim>(o(1)), t.depth = o(2) == 1, t.arrayed = o(3) != 0;
      t.multisampled = o(4) != 0, t.sampled = o(5), t.format = static_cast<spv::ImageFormat>(o(6)), parts_ok = part(t.element);
      break;
    case spv::OpTypeSampler:
      t.kind = Kind::sampler;
      break;
    case spv::OpTypeSampledImage:
      t.kind = Kind::sampled_image, t.element = o(0), parts_ok = part(t.element);
      break;
    case kOpTypeCooperativeMatrix:
      t.kind = Kind::cooperative_matrix, t.element = o(0), t.scope_id = o(1), t.rows_id = o(2), t.columns_id = o(3), t.use_id = o(4);
      parts_ok = part(t.element) && (m.types[t.element].kind == Kind::integer || m.types[t.element].kind == Kind::floating) && i.count == 5;
      break;
    default:
      return unsupported(op_name(i.op) + " is");
  }
  if (!parts_ok) return error("type " + std::to_string(i.id) + " is made of ids that are no types");
  return Ok{};
}

void Reader::read_entry_point(const Instruction& i) {
  uint32_t used = 0;
  const std::string name = literal(m, i, 2, &used);
  const auto model = static_cast<spv::ExecutionModel>(m.operand(i, 0));
  const bool known = model <= spv::ExecutionModelGLCompute || is_task_or_mesh(model);  // vertex to compute, and these two
  if (found_entry || name != entry_name || !known) return;
  found_entry = true;
  m.entry.model = model;
  m.entry.name = name;
  m.entry.function = m.operand(i, 1);
  for (uint32_t k = 2 + used; k < i.count; ++k) {
    if (valid(m.operand(i, k))) m.entry.interface.push_back(m.operand(i, k));
  }
}

/// What the module needs and where it begins.
Status Reader::read_mode_setting(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  switch (i.op) {
    case spv::OpCapability:
      m.capabilities.push_back(static_cast<spv::Capability>(o(0)));
      m.variable_pointers = m.variable_pointers || m.capabilities.back() == spv::CapabilityVariablePointers ||
                            m.capabilities.back() == spv::CapabilityVariablePointersStorageBuffer;
      if (const char* name = unsupported_capability(m.capabilities.back())) return unsupported(std::string("capability ") + name + " is");
      break;
    case spv::OpExtInstImport: {
      const std::string name = literal(m, i, 0);
      if (i.id != m.glsl450 && !name.starts_with("NonSemantic.")) return unsupported("the extended instruction set '" + name + "' is");
      break;
    }
    case spv::OpEntryPoint:
      read_entry_point(i);
      break;
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId: {
      std::vector<uint32_t> values;
      for (uint32_t k = 2; k < i.count; ++k) values.push_back(o(k));
      modes[{o(0), 0}].emplace_back(static_cast<spv::ExecutionMode>(o(1)), std::move(values));
      break;
    }
    default:
      break;
  }
  return Ok{};
}

/// Names and decorations.
Status Reader::read_annotation(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  switch (i.op) {
    case spv::OpString:
      m.strings[i.id] = literal(m, i, 0);
      break;
    case spv::OpName:
      m.names[o(0)] = literal(m, i, 1);
      break;
    case spv::OpMemberName: {
      auto& names = m.member_names[o(0)];
      if (o(1) > kMaxMember) break;
      if (names.size() <= o(1)) names.resize(o(1) + 1);
      names[o(1)] = literal(m, i, 2);
      break;
    }
    case spv::OpDecorate:
      if (!valid(o(0))) break;
      decorate(m.decorations[o(0)], i, 1);
      if (const Instruction* target = m.find(o(0)); target && target->op == spv::OpDecorationGroup) groups[o(0)].push_back(&i);
      break;
    case spv::OpMemberDecorate:
      if (!valid(o(0)) || o(1) > kMaxMember) return error("OpMemberDecorate has an invalid target");
      decorate(member_decorations(o(0), o(1)), i, 2);
      break;
    case spv::OpGroupDecorate:
    case spv::OpGroupMemberDecorate:
      return decorate_group(i);
    default:
      break;
  }
  return Ok{};
}

/// Everything before and beside functions: capabilities, names, decorations, types, global variables.
Status Reader::read_declarations() {
  bool in_function = false;
  for (const Instruction& i : m.instructions) {
    if (Status s = read_mode_setting(i); !s) return s;
    if (Status s = read_annotation(i); !s) return s;
    if (is_type(i.op)) {
      if (Status s = read_type(i); !s) return s;
    } else if (i.op == spv::OpVariable) {
      if (!in_function) m.global_variables.push_back(i.id);
      if (m.type(i.type).kind != Kind::pointer) return error("variable " + std::to_string(i.id) + " has no pointer type");
    } else if (is_constant(i.op) || (i.op == spv::OpUndef && !in_function)) {
      m.constants.push_back(i.id);
    } else if (i.op == spv::OpFunction || i.op == spv::OpFunctionEnd) {
      in_function = i.op == spv::OpFunction;
    }
  }
  for (uint32_t id : forward_pointers)
    if (!m.types[id].element) return error("OpTypeForwardPointer announced " + std::to_string(id) + ", which is declared nowhere");
  if (!found_entry) return error("there is no vertex, fragment, compute, task or mesh entry point '" + entry_name + "'");
  m.entry.modes = modes[{m.entry.function, 0}];
  return Ok{};
}

Status Reader::read_functions() {
  Function* f = nullptr;
  BasicBlock* b = nullptr;
  for (uint32_t k = 0; k < m.instructions.size(); ++k) {
    const Instruction& i = m.instructions[k];
    const auto o = [&](uint32_t n) { return m.operand(i, n); };
    switch (i.op) {
      case spv::OpFunction:
        f = &m.functions[i.id];
        f->id = i.id, f->type = o(1), f->return_type = i.type;
        break;
      case spv::OpFunctionParameter:
        if (!f) return error("OpFunctionParameter outside of a function");
        f->parameters.push_back(i.id);
        break;
      case spv::OpFunctionEnd:
        if (b) return error("a function ends within a block");
        f = nullptr;
        break;
      case spv::OpLabel:
        if (!f || b) return error("OpLabel " + std::to_string(i.id) + " is out of place");
        f->block_of_label[i.id] = static_cast<uint32_t>(f->blocks.size());
        b = &f->blocks.emplace_back();
        b->label = i.id, b->first = k + 1;
        break;
      case spv::OpSelectionMerge:
      case spv::OpLoopMerge:
        if (!b) return error(op_name(i.op) + " outside of a block");
        b->merge = i.op, b->merge_block = o(0), b->continue_block = i.op == spv::OpLoopMerge ? o(1) : 0;
        break;
      case spv::OpBranch:
      case spv::OpBranchConditional:
      case spv::OpSwitch:
      case spv::OpReturn:
      case spv::OpReturnValue:
      case spv::OpKill:
      case spv::OpUnreachable:
      case spv::OpTerminateInvocation:
      case spv::OpEmitMeshTasksEXT:
        if (!b) return error(op_name(i.op) + " outside of a block");
        b->terminator = k, b->end = k + 1;
        b = nullptr;
        break;
      default:
        break;
    }
  }
  if (f || b) return error("the last function does not end");
  for (auto& [id, function] : m.functions) {
    for (const BasicBlock& block : function.blocks) {
      assert(block.end == block.terminator + 1 && block.first <= block.terminator);
      const Instruction& t = m.instructions[block.terminator];
      std::vector<uint32_t> targets;
      if (t.op == spv::OpBranch) targets = {m.operand(t, 0)};
      if (t.op == spv::OpBranchConditional) targets = {m.operand(t, 1), m.operand(t, 2)};
      if (t.op == spv::OpSwitch)
        for (const Module::Case& one : m.cases(t)) targets.push_back(one.label);
      if (block.merge != spv::OpNop) targets.push_back(block.merge_block);
      if (block.merge == spv::OpLoopMerge) targets.push_back(block.continue_block);
      for (uint32_t label : targets) {
        if (!function.block_of_label.count(label))
          return error("a branch in function " + std::to_string(id) + " leads to " + std::to_string(label) + ", which is no block of it");
      }
    }
  }
  return Ok{};
}

constexpr int kMaxCallDepth = 200;

/// Functions that the entry point reaches; no recursion; the ids that they name.
Status Reader::read_calls() {
  std::set<uint32_t> open, done;
  Status result = Ok{};
  std::function<bool(uint32_t, int)> visit = [&](uint32_t id, int depth) -> bool {
    auto found = m.functions.find(id);
    if (found == m.functions.end() || found->second.blocks.empty()) {
      result = error("function " + std::to_string(id) + " is called but has no body");
      return false;
    }
    if (open.count(id)) {
      result = error("function '" + m.name(id) + "' is recursive; recursion is not supported");
      return false;
    }
    if (depth > kMaxCallDepth) {
      result = error("function '" + m.name(id) + "' is called through more than " + std::to_string(kMaxCallDepth) + " others, the limit");
      return false;
    }
    if (done.count(id)) return true;
    open.insert(id);
    m.reachable.push_back(id);
    for (const BasicBlock& b : found->second.blocks) {
      for (uint32_t k = b.first; k < b.end; ++k) {
        const Instruction& i = m.instructions[k];
        each_id(m, i, [&](uint32_t named) {
          if (named < m.bound) m.used[named] = true;
        });
        if (i.op != spv::OpFunctionCall) continue;
        if (!visit(m.operand(i, 0), depth + 1)) return false;
        const std::vector<uint32_t>& parameters = m.functions.at(m.operand(i, 0)).parameters;
        for (uint32_t p = 0; p < parameters.size() && p + 1 < i.count; ++p) m.arguments[parameters[p]].push_back(m.operand(i, p + 1));
      }
    }
    open.erase(id);
    done.insert(id);
    return true;
  };
  visit(m.entry.function, 0);
  // An output with an initializer is written by that alone.
  for (uint32_t id : m.entry.interface) {
    const Instruction* i = m.find(id);
    if (i && i->op == spv::OpVariable && i->count > 1 && m.storage_of(id) == spv::StorageClassOutput) m.used[id] = true;
  }
  return result;
}

}  // namespace

bool EntryPoint::has_mode(spv::ExecutionMode mode) const {
  return std::any_of(modes.begin(), modes.end(), [&](const auto& m) { return m.first == mode; });
}

uint32_t Module::type_of(uint32_t id) const {
  const Instruction* i = find(id);
  return i ? i->type : 0;
}

std::vector<Module::Case> Module::cases(const Instruction& branch) const {
  assert(branch.op == spv::OpSwitch && branch.count >= 2);
  const uint32_t literal_words = type(type_of(operand(branch, 0))).width_bits == 64 ? 2 : 1;
  std::vector<Case> all = {{0, operand(branch, 1)}};
  for (uint32_t k = 2; k + literal_words < branch.count; k += literal_words + 1) {
    const uint64_t high = literal_words == 2 ? uint64_t{operand(branch, k + 1)} << 32 : 0;
    all.push_back({high | operand(branch, k), operand(branch, k + literal_words)});
  }
  return all;
}

const Decorations& Module::member(uint32_t structure, uint32_t k) const {
  static const Decorations kDefault;
  auto found = member_decorations.find(structure);
  return found != member_decorations.end() && k < found->second.size() ? found->second[k] : kDefault;
}

std::string Module::name(uint32_t id) const {
  auto found = names.find(id);
  return found == names.end() ? "" : found->second;
}

std::string Module::member_name(uint32_t structure, uint32_t k) const {
  auto found = member_names.find(structure);
  return found != member_names.end() && k < found->second.size() ? found->second[k] : "";
}

spv::StorageClass Module::storage_of(uint32_t variable) const { return type(type_of(variable)).storage; }

uint32_t Module::pointee(uint32_t variable) const { return type(type_of(variable)).element; }

std::string Module::source_of(const Instruction& i) const { return place_of(i.line); }

std::string Module::place_of(uint32_t line) const {
  if (line == 0 || line >= lines.size()) return "";
  auto file = strings.find(lines[line].file);
  return (file == strings.end() ? "" : file->second) + ":" + std::to_string(lines[line].line);
}

bool takes_rho_squared(const Module& m, const Instruction& i) {
  const bool compares = i.op == spv::OpImageSampleDrefImplicitLod || i.op == spv::OpImageSampleProjDrefImplicitLod;
  if (m.operand(i, compares ? 3 : 2) & (spv::ImageOperandsBiasMask | spv::ImageOperandsMinLodMask)) return false;
  uint32_t t = m.type_of(m.operand(i, 0));
  if (m.type(t).kind == Kind::sampled_image) t = m.type(t).element;
  return m.type(t).kind == Kind::image && (m.type(t).dim == spv::Dim1D || m.type(t).dim == spv::Dim2D);
}

void to_native_order(std::vector<uint32_t>& words) {
  if (words.empty() || words[0] != __builtin_bswap32(spv::MagicNumber)) return;
  for (uint32_t& word : words) word = __builtin_bswap32(word);
}

Expected<std::unique_ptr<Module>> parse(std::vector<uint32_t> words, const std::string& entry_point) {
  auto module = std::make_unique<Module>();
  module->words = normalized(tile_images_as_inputs(std::move(words), false));
  Reader reader{.m = *module, .entry_name = entry_point};
  if (Status s = reader.split(); !s) return s.error();
  if (Status s = reader.read_declarations(); !s) return s.error();
  if (Status s = reader.read_functions(); !s) return s.error();
  if (Status s = reader.read_calls(); !s) return s.error();
  return module;
}

}  // namespace tilegpu::shader
