// shader/lower/context.hpp -- the state of lowering one entry point to LLVM IR, shared by the files of shader/lower.
//
// In: a Module, its constants, Divergence. Out: instructions in an LLVM function. A SPIR-V value is a list of scalars (composites
// flattened); each is uniform (an LLVM scalar) or varying (a vector of N lanes). Booleans are i1. The execution mask is null where all
// lanes run.
//   structure, divergence   analyses
//   control_flow            masks, selections, switches, loops, calls, OpPhi
//   instructions            dispatch; alu, composites, matrices, derivatives, glsl450: arithmetic
//   pointers                access chains; variables, buffers, addresses, atomics: memory
//   image                   images and textures; inputs: interpolation
//   vertex, fragment, blocks   entry points
#pragma once

#include <cassert>
#include <optional>

#include "shader/compiler.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/lower/counted_loops.hpp"
#include "shader/lower/divergence.hpp"
#include "shader/lower/nan_bits.hpp"
#include "shader/lower/pixel_slices.hpp"
#include "shader/spirv/interface.hpp"
#include "shader/spirv/workgroup.hpp"

namespace tilegpu::shader {

/// More SPIR-V instructions after inlining (each counted by its components) are refused before LLVM sees them.
inline constexpr uint32_t kMaxLoweredInstructions = 100000;
/// Variables above this size, and those that are indexed dynamically, are kept in memory: up to kMaxStackWords on the stack as long as
/// kMaxStackArrays_B suffices, others in the thread's scratch memory.
inline constexpr uint32_t kMaxRegisterWords = 256;
inline constexpr uint32_t kMaxStackWords = 64;
inline constexpr uint32_t kMaxStackArrays_B = 64u << 10;
/// What an index adds at most, in either direction: beyond every buffer. Sums of it in 32 bits do not come round to the buffer's start.
inline constexpr uint32_t kFarthest_B = kMaxBufferRange_B;
/// Regions within regions, those of called functions included.
inline constexpr uint32_t kMaxNesting = 400;
inline constexpr uint32_t kMaxPrivateMemory_B = 1u << 20;  // of kMaxLanes; see private_memory_B
inline bool kept_in_memory(uint64_t words, bool dynamic) { return dynamic || words > kMaxRegisterWords; }

struct Val {
  uint32_t type = 0;
  std::vector<Value> c;
};

/// Memory that belongs to lanes: Function, Private and Output variables, and inputs.
struct Variable {
  enum class Form : uint8_t { registers, memory, values };
  Form form = Form::registers;
  uint32_t type = 0;  // of the content
  bool varying = false;
  std::vector<Value> slots;  // registers: allocas; values: read-only SSA values
  Value memory = nullptr;    // memory: scalar k at k * word_B * (varying ? lanes : 1); those of fewer than 32 bits as i32
  uint32_t word_B = 4;       // memory: 8 where one of its scalars has 64 bits
};

/// A part of an address: an index, an integer of any width taken as signed, times a stride.
struct AddressTerm {
  Value index = nullptr;
  uint64_t stride_B = 0;
};

struct Pointer {
  enum class Space : uint8_t { none, variable, buffer, push_constants, workgroup, resource, address };
  Space space = Space::none;
  uint32_t type = 0;  // pointee
  // variable
  Variable* variable = nullptr;
  uint32_t word = 0;             // constant part of the flat index
  Value word_dynamic = nullptr;  // i32, in range
  // buffer, push_constants, workgroup, resource
  uint32_t resource = 0;           // module variable
  Value element = nullptr;         // index in the descriptor array; null: 0
  uint32_t offset_B = 0;           // constant part
  Value offset_dynamic = nullptr;  // i32
  uint32_t dynamic_terms = 0;      // of that sum, each below 1.25 kFarthest_B
  uint32_t step_B = 0;             // of the last index that varies between lanes; of addresses too
  bool row_major = false;
  uint32_t matrix_stride_B = 0;     // of the matrix that the pointer is (in)
  uint32_t component_stride_B = 0;  // of a vector: matrix_stride_B for a column of a row-major matrix; 0: its scalar's size
  // buffer, where a variable pointer holds it: what its descriptor said (i64)
  Value held_data = nullptr, held_size_B = nullptr;
  // address: the sum of these, modulo 2^64
  Value address = nullptr;  // i64
  uint64_t address_B = 0;
  std::vector<AddressTerm> terms;
};

/// OpTypeImage, OpTypeSampler and OpTypeSampledImage values.
struct ImageValue {
  uint32_t image = 0, sampler = 0;                           // module variables; the same for combined ones; 0: none
  Value image_element = nullptr, sampler_element = nullptr;  // null: 0
};

struct ConstructState {
  Value entry_exec = nullptr;                     // mask on entry, and after the construct but for outer jumps
  Value gone = nullptr, gone_continue = nullptr;  // allocas: lanes that wait at the merge block, the continue target
  Value loop_mask = nullptr;                      // alloca: lanes in the loop
  Block merge = nullptr, continue_ = nullptr, latch = nullptr;
  std::vector<Block> arm_end;  // divergent selections and switches
  std::vector<Block> cases;    // uniform switch
  std::vector<Value> fall;     // divergent switch: allocas of lanes that fall into a case
  uint32_t taken_arm = kNone;  // of a selection that is decided in this round of a loop
};

/// One inlined call.
struct Frame {
  const FunctionFacts* facts = nullptr;
  std::unordered_map<uint32_t, Val> values;
  std::unordered_map<uint32_t, std::vector<bool>> given_bits;  // see Lowering::note_given_bits; of values of which no scalar has them, none
  std::unordered_map<uint32_t, Pointer> pointers;
  std::unordered_map<uint32_t, ImageValue> images;
  std::unordered_map<uint32_t, std::unique_ptr<Variable>> variables;
  std::unordered_map<uint32_t, std::unique_ptr<Variable>> slots;  // of OpPhi; ~id: of escaping ids
  std::unordered_map<uint32_t, std::vector<Value>> kept;          // of escaping pointers and images: allocas of their indices
  std::unordered_map<uint32_t, const Instruction*> delayed;       // products that their only sum fuses
  std::vector<ConstructState> constructs;
  std::unique_ptr<Variable> result;
  Block end = nullptr;
};

struct Lowering {
  Lowering(LLVMModuleRef module, uint32_t lanes, const Module& spirv, const Constants& spirv_constants, const Divergence& divergence,
           const ResourceTable& table)
      : ir(module, lanes),
        m(spirv),
        constants(spirv_constants),
        d(divergence),
        resources(table),
        seen_nans(find_seen_nans(spirv)),
        alloca_builder(LLVMCreateBuilderInContext(ir.context)) {}
  ~Lowering() { LLVMDisposeBuilder(alloca_builder); }

  Ir ir;
  const Module& m;
  const Constants& constants;
  const Divergence& d;
  const ResourceTable& resources;
  const std::vector<uint8_t> seen_nans;  // of nan_bits.hpp
  LLVMBuilderRef alloca_builder;
  bool fragment = false;
  bool compute = false;
  bool slice = false;  // memory is written when the whole shader runs, and what nobody uses of a texture is not read
  Status status = Ok{};
  uint64_t lowered = 0;    // counted against kMaxLoweredInstructions
  uint32_t looked_at = 0;  // instructions, calls included: whether to go on is asked every so many
  uint32_t nesting = 0;

  // -- set by the entry points --------------------------------------------------------------------------------------------------
  Value args = nullptr, scratch = nullptr;
  Block entry = nullptr;  // allocas and what is loaded once
  Value push_constants = nullptr;
  std::array<Value, kSetTables> set_memory{};  // of the sets that `resources` names
  Value budget = nullptr;                      // alloca i64: iterations that are left
  size_t loops_B = 0;                          // of the argument LoopBudget*
  Value alive = nullptr;                       // alloca: lanes that may write, i32 masks
  Value killed = nullptr;                      // alloca: lanes that discarded; null where no loop contains a discard
  std::unordered_map<uint32_t, std::unique_ptr<Variable>> globals;
  std::function<Val(const Instruction&)> interpolate_at;                   // fragment
  std::function<Val(const Instruction&)> read_attachment;                  // fragment
  std::unordered_map<uint32_t, std::pair<Value, uint64_t>> whole_buffers;  // uniform buffers checked once: base, bytes
  bool has_quads() const { return fragment || (workgroup && workgroup->derivatives != DerivativeGroup::none); }
  /// Does what it points into lie as decorations say? Shared memory mostly lies scalar after scalar.
  bool lies_as_decorated(const Pointer& p) const {
    return p.space != Pointer::Space::workgroup || (workgroup && workgroup->has_layout && !is_of_interface(p));
  }
  const WorkgroupFacts* workgroup = nullptr;                        // compute
  Value shared = nullptr;                                           // compute: memory of the workgroup
  std::function<void(uint32_t stream)> emit_vertex, end_primitive;  // geometry
  std::function<void(const Instruction&)> make;                     // task, mesh: OpEmitMeshTasksEXT, OpSetMeshOutputsEXT
  std::function<void()> wait;  // compute: the lanes wait for the rest of their workgroup; null: they are all of it
  uint64_t scratch_used_B = 0, stack_used_B = 0;
  // Pixel packets: lanes have no neighbours. What derivatives are taken of, and its inputs at the pixels 0, 1 and 2 of each lane's quad.
  const PixelSlices* pixel_slices = nullptr;
  std::unordered_map<uint32_t, std::vector<Value>> corner_inputs[3];

  // -- current point ------------------------------------------------------------------------------------------------------------
  Value exec = nullptr;  // null: all lanes
  std::vector<Frame*> frames;
  Frame& frame() { return *frames.back(); }
  const Instruction* current = nullptr;

  // -- values.cpp: types, constants, values --------------------------------------------------------------------------------
  void fail(const std::string& message, VkResult code = VK_ERROR_INVALID_SHADER_NV);
  /// What Vulkan has and we have not.
  void unsupported(const std::string& message) { fail(message, VK_ERROR_FEATURE_NOT_PRESENT); }
  bool failed() const { return !status; }
  const std::vector<Base>& bases(uint32_t type);
  Type scalar_type(Base base) const;  // in registers
  uint32_t width(uint32_t type) { return static_cast<uint32_t>(bases(type).size()); }
  /// First scalar of member or element `index` of a composite.
  uint32_t part_offset(uint32_t type, uint32_t index);
  uint32_t part_type(uint32_t type, uint32_t index) const;
  Val constant(uint32_t id);
  Val zero(uint32_t type);
  Val value(uint32_t id);
  Val known_value(uint32_t id);  // not of a pointer that is a place
  Value scalar(uint32_t id);     // first component
  bool is_nan_seen(uint32_t id) const { return id < seen_nans.size() && seen_nans[id]; }
  Val with_one_nan(Val v);
  void define(uint32_t id, Val v);
  /// Of what was computed: halves are rounded.
  void define_rounded(uint32_t id, Val v);
  /// Each scalar is of its base's type, and uniform unless it may vary.
  bool holds(const Val& v, bool varying);
  static bool is_varying(Value v) { return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind; }
  Value vary(Value v) const;  // splats uniform values
  /// All of one shape: varying where one is.
  template <class... Values>
  void unify(Values&... v) const {
    if ((is_varying(v) || ...)) ((v = vary(v)), ...);
  }
  /// f of each scalar, of pairs and of triples of scalars brought to one shape.
  template <class F>
  Val map(uint32_t type, const Val& a, F&& f) const {
    Val r{type, {}};
    for (Value x : a.c) r.c.push_back(f(ir, x));
    return r;
  }
  template <class F>
  Val map(uint32_t type, const Val& a, const Val& b, F&& f) const {
    assert(a.c.size() == b.c.size());
    Val r{type, {}};
    for (size_t k = 0; k < a.c.size(); ++k) {
      Value x = a.c[k], y = b.c[k];
      unify(x, y);
      r.c.push_back(f(ir, x, y));
    }
    return r;
  }
  template <class F>
  Val map(uint32_t type, const Val& a, const Val& b, const Val& c, F&& f) const {
    assert(a.c.size() == b.c.size() && a.c.size() == c.c.size());
    Val r{type, {}};
    for (size_t k = 0; k < a.c.size(); ++k) {
      Value x = a.c[k], y = b.c[k], z = c.c[k];
      unify(x, y, z);
      r.c.push_back(f(ir, x, y, z));
    }
    return r;
  }
  Value bool_to_int(Value v) const { return ir.zext(v, ir.i32); }
  /// Between what registers hold and what memory holds, an integer or a float of the scalar's own size.
  Type memory_type(Base base) const;
  Value to_memory(Base base, Value v) const;
  Value from_memory(Base base, Value v) const;
  /// An index of any width as i32: what is beyond is as large as can be.
  Value index_of(uint32_t id);
  Value select(Value condition, Value a, Value b) const;  // any mixture of shapes
  Value uniform(Value v);                                 // fails where the value is varying

  // -- control_flow.cpp -----------------------------------------------------------------------------------------------------
  Value mask_alloca(const char* name);  // all false
  /// Of each lane whether it is a helper invocation by now.
  Value is_helper() const { return alive ? ir.not_(load_mask(alive)) : ir.c1(false); }
  Value load_mask(Value slot) const { return ir.int_to_mask(ir.load(ir.vi32, slot, 4)); }
  void store_mask(Value slot, Value mask) const;  // null: all
  void add_to_mask(Value slot, Value mask) const;
  Value exec_mask() const { return exec ? exec : ir.true_mask(); }
  Value and_masks(Value a, Value b) const;  // null: all
  Value write_mask();                       // exec and alive, null: all
  Value quad_mask();                        // exec and what has not ended, helper invocations too, null: all
  void call(Frame& callee, const FunctionFacts& facts);
  void region(uint32_t r);
  void jump(uint32_t r, const Item& item);
  void leave(uint32_t r, const Item& item);  // return, kill, unreachable
  void block_construct(uint32_t c);
  void selection(uint32_t r, uint32_t c);
  void forget_phis(uint32_t label);
  void switch_(uint32_t r, uint32_t c);
  void loop(uint32_t r, const Item& item);
  Value loop_budget() const;   // LoopBudget*
  Value whole_budget() const;  // iterations that a vector of lanes begins with
  void name_loop(uint32_t header);
  void unrolled_loop(uint32_t c, const CountedLoop& counted);
  void after_construct(uint32_t r, uint32_t c, size_t position);
  Value remaining(Value mask, const std::set<Join>& joins);
  Block region_end(uint32_t r);
  Block node_end(uint32_t r);  // where control goes when no lane is left
  uint32_t cost(uint32_t r, size_t first = 0) const;
  void edge(uint32_t from, uint32_t to, uint32_t region, bool into_sibling = false);
  void kill(bool demote);
  Variable& slot_of(uint32_t id, uint32_t type, bool escaping);
  bool same_node(uint32_t inner, uint32_t outer_region) const;

  // -- instructions.cpp -----------------------------------------------------------------------------------------------------
  void block(const BasicBlock& b, uint32_t region);
  void instruction(const Instruction& i, uint32_t index);
  void lower(const Instruction& i, uint32_t index);
  void function_call(const Instruction& i);
  bool delay(const Instruction& i, const BasicBlock& b);

  // -- alu.cpp, composites.cpp ------------------------------------------------------------------------------------------
  bool alu(const Instruction& i);
  bool conversion(const Instruction& i);
  Val alu_of_whole(const Instruction& i);
  bool fused_sum(const Instruction& i);
  Value bit_field(spv::Op op, Value base, Value insert, Value offset, Value count) const;
  Val reinterpreted(const Val& v, uint32_t type, bool has_one_nan = false);
  bool composite(const Instruction& i);

  // -- dot_products.cpp -------------------------------------------------------------------------------------------------------
  bool integer_dot(const Instruction& i);

  // -- matrices.cpp -----------------------------------------------------------------------------------------------------------
  bool products(const Instruction& i);
  Val dot(const Val& a, const Val& b, uint32_t type) const;
  Val scaled(const Val& v, Value factor, uint32_t type) const;
  Val matrix_times_vector(const Val& matrix, const Val& vector, uint32_t rows, uint32_t columns, uint32_t type) const;
  Val matrix_product(const Instruction& i);
  Val determinant_or_inverse(const Instruction& i, bool inverse);

  // -- derivatives.cpp --------------------------------------------------------------------------------------------------------
  bool derivatives(const Instruction& i);
  Value derivative(spv::Op op, Value v) const;
  /// Of each lane of a quad the value of its pixel `p`.
  Value pick_pixel(Value v, int p) const;
  struct Gradient {
    std::vector<Value> x, y;  // coarse, by component
  };
  Gradient gradient(uint32_t id);
  Val at_corner(uint32_t id, uint32_t corner);

  // -- glsl450.cpp ------------------------------------------------------------------------------------------------------------
  Val glsl450(const Instruction& i);
  Val constant_power(const Instruction& i);
  Val pack(uint32_t op, const Val& v, uint32_t type);
  Val by_length(uint32_t op, const Val& v, uint32_t type);
  Val by_normal(const Instruction& i);
  Val refract(const Val& incident, const Val& normal, Value eta, uint32_t type);
  Val cross(Val a, Val b, uint32_t type);
  Val in_two_parts(const Instruction& i);
  uint32_t exponent_bits(const Instruction& i);

  // -- pointers.cpp, variables.cpp -----------------------------------------------------------------------------------------
  Pointer pointer(uint32_t id);
  /// Of a pointer or image that is used where its block does not dominate by structure: its indices (null: none) go through memory.
  void keep_indices(uint32_t id, std::initializer_list<Value> indices);
  void kept_indices(uint32_t id, std::initializer_list<Value*> indices);
  Pointer access_chain(const Instruction& i);
  void access_step(Pointer& p, uint32_t index_id);
  void add_dynamic(Pointer& p, Value index, uint32_t stride_B);
  void add_constant(Pointer& p, uint64_t offset_B) const;
  Value add_index(Value sum, Value term) const;  // null: nothing
  Value clamp_index(Value index, uint32_t length) const;
  /// The element of an array of descriptors.
  Value clamp_descriptor(Value index, uint32_t set, const DescriptorAddress& at, uint32_t count) const;
  std::unique_ptr<Variable> new_variable(uint32_t type, bool varying, bool memory, const char* name);
  void zero_variable(Variable& v);
  Value alloca_of(Type type, const char* name, uint32_t align_B = 0);
  Val load(const Pointer& p);
  /// `given`: scalars whose NaN keep their bits in memory; empty: none.
  void store(const Pointer& p, const Val& v, bool masked, const std::vector<bool>& given = {});
  Val load_variable(const Variable& v, uint32_t type, uint32_t word, Value dynamic);
  void store_variable(Variable& v, const Val& x, uint32_t word, Value dynamic, Value mask);

  // -- buffers.cpp, atomics.cpp ----------------------------------------------------------------------------------------------
  struct BufferAddress {
    Value data = nullptr, size_B = nullptr;  // scalars, or vectors where the element varies
    bool whole = false;                      // constant offsets need no check
    bool inside = false;                     // every offset was clamped before
    bool checked = false;                    // every offset was found to be inside, aligned or not: `safe`, where lanes do not run too
    Value safe = nullptr;
    uint64_t static_size_B = 0;
  };
  BufferAddress buffer_address(const Pointer& p);
  Value load_word(const BufferAddress& a, Base base, uint32_t offset_B, Value dynamic);
  void store_word(const BufferAddress& a, Value v, uint32_t offset_B, Value dynamic, Value mask);
  void walk_layout(const Pointer& p, uint32_t type, const std::function<void(uint32_t offset_B, Base base)>& visit);
  /// What a value is made of in memory, in order.
  struct Scalars {
    std::vector<uint32_t> offsets;
    std::vector<Base> kinds;
  };
  Scalars layout_of(const Pointer& p);
  std::vector<Value> load_scalars(const BufferAddress& a, const Pointer& p, const Scalars& scalars);
  /// As memory has them.
  std::vector<Value> stored_words(const Val& v, const Scalars& scalars, const std::vector<bool>& given) const;
  /// Of a result that has just been defined: which of its scalars are bits of a bitcast or of memory, moved and nothing else. A store keeps
  /// these as they are; of any other NaN it makes the one NaN (docs/undefined.md).
  void note_given_bits(const Instruction& i);
  const std::vector<bool>& given_bits(uint32_t id);
  /// Of what is loaded from there: all are bits of memory's.
  std::vector<bool> bits_of_memory(const Pointer& p);
  /// All scalars of the type; none where no float is among them.
  std::vector<bool> all_given(uint32_t type);
  void store_scalars(const BufferAddress& a, const Pointer& p, const Scalars& scalars, const std::vector<Value>& words, Value mask);
  bool is_of_interface(const Pointer& p) const;
  Val load_buffer(const Pointer& p);
  void store_buffer(const Pointer& p, const Val& v, const std::vector<bool>& given);

  // -- lane_memory.cpp -------------------------------------------------------------------------------------------------------------
  /// Scalars at the same place of neighbouring elements, which the lanes reach in order: their bytes from each lane to the next.
  uint32_t lane_step_B(const Pointer& p, const BufferAddress& a, const std::vector<uint32_t>& offsets,
                       const std::vector<Base>& kinds) const;
  Value reaches_in_order(const BufferAddress& a, Value dynamic, Value mask, uint32_t step_B, uint32_t offset_B);
  std::vector<Value> load_same(const BufferAddress& a, Value dynamic, const std::vector<uint32_t>& offsets, const std::vector<Base>& kinds,
                               const std::function<std::vector<Value>()>& otherwise);
  std::vector<Value> load_in_order(const BufferAddress& a, Value dynamic, uint32_t step_B, const std::vector<uint32_t>& offsets,
                                   uint32_t own_B);
  void store_in_order(const BufferAddress& a, Value dynamic, uint32_t offset_B, const std::vector<Value>& words, Value mask);
  Val atomic(const Instruction& i);
  std::pair<Value, Value> atomic_word(const Pointer& p, const BufferAddress& a, uint32_t word_B, uint32_t lane) const;
  Val array_length_of(const Instruction& i);
  const BufferSlot* buffer_slot(uint32_t variable) const;
  Value zero_page(uint32_t size_B);

  // -- addresses.cpp ---------------------------------------------------------------------------------------------------------------
  bool address(const Instruction& i);
  Value address_of(uint32_t id);
  Pointer address_pointer(uint32_t id);
  void address_step(Pointer& p, uint32_t index_id, uint64_t stride_B);
  void define_address(const Instruction& i, const Pointer& p);
  Value exact_address(const Pointer& p) const;
  BufferAddress window_of(Value address) const;
  /// Where so many bytes at an address are, and whether they are there (i1).
  std::pair<Value, Value> place_of(Value address, uint32_t own_B) const;
  /// The lanes' offsets in one window, and whether all in `mask` are in it with `span_B` bytes.
  struct Near {
    BufferAddress window;
    Value offset = nullptr, all = nullptr;
  };
  Near near_address(const Pointer& p, uint64_t span_B, Value mask);
  bool has_layout(const Pointer& p);
  void each_lane(Value mask, const std::function<void(Value lane)>& body);
  Val load_address(const Pointer& p);
  Value apart_memory();
  Value sink();
  std::vector<Value> load_apart(Value exact, const Scalars& scalars);
  void store_address(const Pointer& p, const Val& v, const std::vector<bool>& given);
  void store_apart(Value exact, const Scalars& scalars, const std::vector<Value>& words, Value mask);

  // -- variable_pointers.cpp -------------------------------------------------------------------------------------------------------
  bool variable_pointer(const Instruction& i);
  bool value_has_layout(const Pointer& p);
  Val held_value(const Pointer& p, uint32_t type);
  Val pointer_value(uint32_t id);
  bool is_followed(uint32_t id) const;
  Pointer followed_pointer(uint32_t id);
  void define_followed(const Instruction& i, Pointer p);
  bool follows(const Instruction& i);
  Val compared_pointer(uint32_t id);
  uint64_t stride_between(uint32_t a, uint32_t b);
  Value shared_offset(Value offset, uint32_t type);
  Pointer held_pointer(uint32_t id, Pointer place);
  void define_held(const Instruction& i, const Pointer& p);
  void pointer_chain(const Instruction& i);

  // -- subgroups.cpp ---------------------------------------------------------------------------------------------------------------
  bool subgroup(const Instruction& i);

  // -- cooperative_matrix.cpp ------------------------------------------------------------------------------------------------------
  bool cooperative_matrix(const Instruction& i);

  // -- image.cpp --------------------------------------------------------------------------------------------------------------------
  bool image(const Instruction& i);
  /// Of an OpImageTexelPointer, for the lanes in `mask` (null: all): <N x i64>, 0 where no texel is.
  Value texel_addresses(const Instruction& i, Value mask);
  ImageValue image_value(uint32_t id);
  /// Of the view of an input attachment's descriptor (`element`: of an array; null: the first). Four vectors of bits as floats.
  struct TexelPlace {
    Value x, y, layer, sample;  // i32 by lane
  };
  std::vector<Value> fetch_attachment(const Instruction& i, const ImageValue& image, Value element, const TexelPlace& at);

 private:
  struct Use {
    uint32_t count = 0, user = 0;  // operands that name an id, and the last instruction that does
  };
  std::vector<Use> uses_;
  Value apart_ = nullptr, sink_ = nullptr;  // on the stack, for all accesses
  Value matrix_memory_[3] = {};             // the same, for all instructions of cooperative matrices
  std::unordered_map<uint32_t, std::vector<Base>> bases_;
};

/// Built-ins that depend on an invocation's place in its subgroup alone; null: it is none (subgroups.cpp). `alone`: the first place.
Value subgroup_builtin(const Ir& ir, const InterfaceScalar& s, bool alone = false);

/// `float`s and friends of a type, in order; false where it has none.
bool flatten(const Module& m, const Constants& constants, uint32_t type, std::vector<Base>& out);

}  // namespace tilegpu::shader
