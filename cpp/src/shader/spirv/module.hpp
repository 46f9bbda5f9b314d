// shader/spirv/module.hpp -- SPIR-V after parsing: instructions, types, decorations, functions with blocks, one entry point.
//
// In: the words of a module (validated by SPIRV-Tools before, but every access here is bounds-checked all the same).
// Out: struct Module, which reflection and lowering read; constants with a specialisation applied (evaluate_constants).
// Source: SPIR-V specification 1.6, sections 2.3 "Physical Layout", 2.4 "Logical Layout", 2.11 "Structured Control Flow",
// 3.32 "Instructions"; Vulkan specification, appendix "Vulkan Environment for SPIR-V".
#pragma once

#include <cassert>
#include <map>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

using Specialization = std::vector<std::pair<uint32_t, uint64_t>>;  // (constant_id, bit pattern)

struct Instruction {
  spv::Op op = spv::OpNop;
  uint32_t type = 0;   // result type's id, 0: none
  uint32_t id = 0;     // result id, 0: none
  uint32_t first = 0;  // index of the first operand (after type and result) in Module::words
  uint32_t count = 0;  // operands
  uint32_t line = 0;   // index in Module::lines; 0: unknown
};

struct SourceLine {
  uint32_t file = 0;  // id of an OpString
  uint32_t line = 0;
};

enum class Kind : uint8_t {
  none,
  void_,
  boolean,
  integer,
  floating,
  vector,
  matrix,
  array,
  runtime_array,
  structure,
  pointer,
  function,
  image,
  sampler,
  sampled_image,
  cooperative_matrix  // its components lie in the invocations of a subgroup
};
inline bool is_array(Kind kind) { return kind == Kind::array || kind == Kind::runtime_array; }

struct TypeInfo {
  Kind kind = Kind::none;
  uint32_t id = 0;
  uint32_t width_bits = 0;  // integer, floating
  bool is_signed = false;
  uint32_t element = 0;  // vector, matrix (its column type), array, runtime_array, pointer (pointee), sampled_image (image), image (sampled
                         // type), function (return type), cooperative_matrix (component)
  uint32_t count = 0;    // vector: components; matrix: columns
  uint32_t length_id = 0;                                          // array: the constant
  uint32_t scope_id = 0, rows_id = 0, columns_id = 0, use_id = 0;  // cooperative_matrix: constants
  std::vector<uint32_t> members;                                   // structure; function: parameters
  spv::StorageClass storage = spv::StorageClassMax;                // pointer
  bool variable_pointer = false;                                   // pointer: its values may be chosen while the shader runs
  // image
  spv::Dim dim = spv::Dim2D;
  bool depth = false, arrayed = false, multisampled = false;
  uint32_t sampled = 0;  // 1: with a sampler, 2: storage or input attachment
  spv::ImageFormat format = spv::ImageFormatUnknown;
};

/// A pointer of the PhysicalStorageBuffer class: a number of 64 bits, in memory and in registers.
inline bool is_address(const TypeInfo& t) { return t.kind == Kind::pointer && t.storage == spv::StorageClassPhysicalStorageBuffer; }

/// Task and mesh shaders run as workgroups do.
inline bool is_task_or_mesh(spv::ExecutionModel model) {
  return model == spv::ExecutionModelTaskEXT || model == spv::ExecutionModelMeshEXT;
}

/// Memory is changed, or read, in one step.
inline bool is_atomic(spv::Op op) {
  return (op >= spv::OpAtomicLoad && op <= spv::OpAtomicXor) || op == spv::OpAtomicFAddEXT || op == spv::OpAtomicFMinEXT ||
         op == spv::OpAtomicFMaxEXT;
}

inline constexpr uint32_t kNone = ~0u;

/// Decorations of an id or of a structure's member.
struct Decorations {
  uint32_t location = kNone, component = kNone, index = 0;
  uint32_t set = kNone, binding = kNone, input_attachment = kNone;
  uint32_t spec_id = kNone;
  uint32_t builtin = kNone;  // spv::BuiltIn
  uint32_t offset_B = kNone, array_stride_B = 0, matrix_stride_B = 0;
  bool row_major = false, block = false, buffer_block = false;
  bool flat = false, noperspective = false, centroid = false, sample = false;
  bool nonwritable = false, nonreadable = false, coherent = false, volatile_ = false;
  bool no_contraction = false, invariant = false, relaxed_precision = false;
  uint32_t fp_rounding_mode = kNone;                              // spv::FPRoundingMode
  uint32_t fast_math = kNone;                                     // FPFastMathMode's bits
  bool patch = false;                                             // of tessellation: one for all vertices
  bool of_corners = false;                                        // PerVertexKHR
  bool of_primitive = false;                                      // PerPrimitiveEXT
  uint32_t stream = 0, xfb_buffer = kNone, xfb_stride_B = kNone;  // transform feedback; its offset is offset_B
};

struct BasicBlock {
  uint32_t label = 0;
  uint32_t first = 0, end = 0;                   // in Module::instructions; the label excluded, merge and terminator included
  uint32_t terminator = 0;                       // index of the terminator (== end - 1)
  spv::Op merge = spv::OpNop;                    // OpSelectionMerge, OpLoopMerge or OpNop
  uint32_t merge_block = 0, continue_block = 0;  // labels
};

struct Function {
  uint32_t id = 0, type = 0, return_type = 0;
  std::vector<uint32_t> parameters;  // ids
  std::vector<BasicBlock> blocks;    // in the module's order (dominance order)
  std::unordered_map<uint32_t, uint32_t> block_of_label;
};

struct EntryPoint {
  spv::ExecutionModel model = spv::ExecutionModelMax;
  std::string name;
  uint32_t function = 0;            // id
  std::vector<uint32_t> interface;  // variables
  std::vector<std::pair<spv::ExecutionMode, std::vector<uint32_t>>> modes;
  bool has_mode(spv::ExecutionMode mode) const;
};

struct Module {
  std::vector<uint32_t> words;
  uint32_t version = 0, bound = 0;
  std::vector<Instruction> instructions;                                      // in order; without debug information
  std::vector<uint32_t> definition;                                           // [bound] index in instructions; kNone: undefined
  std::vector<uint32_t> origin;                                               // [bound] see origin_of
  std::vector<TypeInfo> types;                                                // [bound]; kind none where the id is no type
  std::vector<Decorations> decorations;                                       // [bound]
  std::unordered_map<uint32_t, std::vector<Decorations>> member_decorations;  // of structure types
  std::unordered_map<uint32_t, std::string> names;
  std::unordered_map<uint32_t, std::vector<std::string>> member_names;
  std::unordered_map<uint32_t, std::string> strings;  // OpString
  std::vector<SourceLine> lines;
  std::vector<uint32_t> global_variables;  // ids of module-scope OpVariable
  std::vector<uint32_t> constants;         // ids of OpConstant*, OpSpecConstant*, OpUndef at module scope, in order
  std::vector<spv::Capability> capabilities;
  bool variable_pointers = false;  // declared: to storage buffers at least
  uint32_t glsl450 = 0;            // id of the extended instruction set, 0: not imported
  EntryPoint entry;
  std::map<uint32_t, Function> functions;                         // by id
  std::vector<uint32_t> reachable;                                // functions that the entry point calls, itself first
  std::unordered_map<uint32_t, std::vector<uint32_t>> arguments;  // of parameters: what reachable calls pass for them
  std::vector<bool> used;                                         // [bound] variables and constants that reachable functions name

  uint32_t operand(const Instruction& i, uint32_t k) const {
    assert(i.first + size_t{i.count} <= words.size());
    return k < i.count ? words[i.first + k] : 0;
  }
  std::span<const uint32_t> operands(const Instruction& i) const {
    assert(i.first + size_t{i.count} <= words.size());
    return {words.data() + i.first, i.count};
  }
  /// Null for ids that are not defined.
  const Instruction* find(uint32_t id) const { return id < bound && definition[id] != kNone ? &instructions[definition[id]] : nullptr; }
  /// Where access chains and copies lead from `id`, which itself may be neither; 0 for what is not defined, or is made of what comes later.
  uint32_t origin_of(uint32_t id) const { return id < bound ? origin[id] : 0; }
  const TypeInfo& type(uint32_t id) const { return types[id < bound ? id : 0]; }
  /// Of a value: its type is that of an address.
  bool holds_address(uint32_t id) const { return is_address(type(type_of(id))); }
  /// Type of the value `id`; of a variable: its pointer type.
  uint32_t type_of(uint32_t id) const;
  const Decorations& decoration(uint32_t id) const { return decorations[id < bound ? id : 0]; }
  /// Of a member; the default where nothing was decorated.
  const Decorations& member(uint32_t structure, uint32_t k) const;
  std::string name(uint32_t id) const;  // "" when stripped
  std::string member_name(uint32_t structure, uint32_t k) const;
  spv::StorageClass storage_of(uint32_t variable) const;
  /// Pointee type of a variable.
  uint32_t pointee(uint32_t variable) const;
  /// "file:line" where the module says so, else "".
  std::string source_of(const Instruction& i) const;
  /// The same of one of `lines`.
  std::string place_of(uint32_t line) const;
  /// Label of each case of an OpSwitch, the default first; and what the cases after it compare with, as wide as the selector.
  struct Case {
    uint64_t literal = 0;
    uint32_t label = 0;
  };
  std::vector<Case> cases(const Instruction& branch) const;
  uint32_t decorations_array_stride(uint32_t array_type) const { return decoration(array_type).array_stride_B; }
};

/// Turns words of the other byte order round.
void to_native_order(std::vector<uint32_t>& words);

/// Parses, picks the entry point (vertex, tessellation, geometry, task, mesh, fragment or compute; by name, the first of that name), checks
/// capabilities and instructions.
Expected<std::unique_ptr<Module>> parse(std::vector<uint32_t> words, const std::string& entry_point);

/// A constant, flattened: the bits of each scalar (bool: 0 or 1), composites in order; above its width zeros.
struct Constant {
  uint32_t type = 0;
  std::vector<uint64_t> words;
};

/// What a type holds with a specialisation applied. Counts stop at 2^40, so that nothing that is made of them overflows.
struct TypeSize {
  uint64_t scalars = 0;   // of a value, arrays by their specialised length; 0 for what has no value (run-time arrays, images, ...)
  uint64_t parts = 1;     // the same, but parts without scalars (images, empty structures) count as one: the work of walking through
  uint32_t length = 0;    // array; of a cooperative matrix the components of each invocation
  uint32_t widest_B = 0;  // of its scalars; Booleans have 4
};

/// All constants with a specialisation applied; ids that are no constants are absent. All that is allocated, and all that an index is
/// clamped to, comes from here; whether it is within limits is said once, by check_limits (limits.hpp).
struct Constants {
  std::unordered_map<uint32_t, Constant> by_id;
  std::vector<TypeSize> sizes;  // [up to the last type's id]
  const Module* module = nullptr;
  const Constant* find(uint32_t id) const;
  /// The scalar as 32 bits: signed ones of fewer keep their sign, larger ones stop at ~0; 0 for what is no scalar constant.
  uint32_t word(uint32_t id) const;
  const TypeSize& size(uint32_t type) const;
};
/// Evaluates every constant, OpSpecConstantOp included, and measures every type. Defaults hold where `specialization` names no value;
/// unknown ids are ignored.
Expected<Constants> evaluate_constants(const Module& module, const Specialization& specialization);

/// Scalars in a value of the type.
inline uint64_t scalar_count(const Constants& constants, uint32_t type) { return constants.size(type).scalars; }
inline uint32_t array_length(const Constants& constants, uint32_t array_type) { return constants.size(array_type).length; }

/// Of a sample with implicit level, where there are quads: whether the sampler function takes the square of the longer derivative alone
/// (sample_implicit): of 1D and 2D images, without a bias.
bool takes_rho_squared(const Module& module, const Instruction& sample);

/// Null: supported. Else the name, for messages.
const char* unsupported_capability(spv::Capability capability);
/// "OpFoo" for messages; "Op123" for unknown ones.
std::string op_name(spv::Op op);
/// "ClipDistance (gl_ClipDistance)", for messages.
std::string builtin_name(uint32_t builtin);

/// The largest module that is compiled; more is an error that names the limit.
inline constexpr uint32_t kMaxSpirvInstructions = 200000;

}  // namespace tilegpu::shader
