// shader/lower/instructions.cpp -- the instructions of a block, in order: memory, calls, and dispatch to arithmetic and textures.
//
// In: a BasicBlock. Out: LLVM instructions at the current point, values in the frame.
// Source: SPIR-V specification 1.6, section 3.32.
#include <algorithm>
#include <cassert>

#include "shader/jit/compile_crew.hpp"
#include "shader/lower/context.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/operands.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kAskEvery = 1024;  // instructions: a few milliseconds

bool is_product(spv::Op op) { return op == spv::OpFMul || op == spv::OpVectorTimesScalar; }

}  // namespace

/// A product whose only use is a sum of the same block, both free to contract, waits for it. Decided on the SPIR-V alone, so that
/// every slice and every width of the shader rounds alike.
bool Lowering::delay(const Instruction& i, const BasicBlock& b) {
  if (!is_product(i.op) || !may_contract(m, i)) return false;
  if (uses_.empty()) {
    uses_.resize(m.bound);
    for (const auto& [id, f] : m.functions) {
      for (const BasicBlock& one : f.blocks) {
        for (uint32_t k = one.first; k < one.end; ++k) {
          each_id(m, m.instructions[k], [&](uint32_t used) {
            if (used < m.bound) uses_[used].count++, uses_[used].user = k;
          });
        }
      }
    }
  }
  const Use use = uses_[i.id];
  const auto index = static_cast<uint32_t>(&i - m.instructions.data());
  if (use.count != 1 || use.user <= index || use.user >= b.end) return false;
  const Instruction& user = m.instructions[use.user];
  if ((user.op != spv::OpFAdd && user.op != spv::OpFSub) || !may_contract(m, user)) return false;
  frame().delayed[i.id] = &i;
  return true;
}

void Lowering::block(const BasicBlock& b, uint32_t) {
  assert(b.first <= b.end && b.end <= m.instructions.size());
  for (uint32_t k = b.first; k < b.end && !failed(); ++k) {
    const Instruction& i = m.instructions[k];
    current = &i;
    if (++looked_at % kAskEvery == 0 && !compile_goes_on()) {
      if (status) status = compile_interrupted("shader '" + m.entry.name + "'");
      return;
    }
    if (i.type) {
      // A variable is as many as it has scalars in registers.
      const bool pointer = m.type(i.type).kind == Kind::pointer;
      const uint64_t scalars = !pointer                                      ? scalar_count(constants, i.type)
                               : i.op == spv::OpVariable && !d.dynamic[i.id] ? scalar_count(constants, m.type(i.type).element)
                                                                             : 1;
      lowered += std::clamp<uint64_t>(scalars, 1, pointer ? kMaxRegisterWords : kMaxValueParts);
    }
    if (lowered > kMaxLoweredInstructions) {
      fail("the shader has more than " + std::to_string(kMaxLoweredInstructions) + " scalar instructions after inlining, the limit");
      return;
    }
    if (delay(i, b)) continue;
    instruction(i, k);
  }
}

void Lowering::function_call(const Instruction& i) {
  const uint32_t id = m.operand(i, 0);
  const FunctionFacts& facts = d.functions.at(id);
  const Function& f = *facts.tree.function;
  if (i.count != f.parameters.size() + 1) return fail("a call has the wrong number of arguments");
  if (frames.size() > 100) return fail("calls are nested deeper than 100");
  Frame callee;
  for (size_t k = 0; k < f.parameters.size(); ++k) {
    const uint32_t parameter = f.parameters[k], argument = m.operand(i, static_cast<uint32_t>(k) + 1);
    const Kind kind = m.type(m.type_of(parameter)).kind;
    if (m.holds_address(parameter) || (m.type(m.type_of(parameter)).variable_pointer && is_followed(argument)))
      callee.values[parameter] = known_value(argument);
    if (kind == Kind::pointer) {
      callee.pointers[parameter] = pointer(argument);
    } else if (holds_images(m, m.type_of(parameter))) {
      callee.images[parameter] = image_value(argument);
    } else {
      callee.values[parameter] = value(argument);
      if (const std::vector<bool>& given = given_bits(argument); !given.empty()) callee.given_bits[parameter] = given;
    }
  }
  call(callee, facts);
  if (callee.result) define(i.id, load_variable(*callee.result, callee.result->type, 0, nullptr));
}

namespace {

// HelperInvocation, read as Volatile: its value where the load stands, behind a demotion too. Other inputs are found once, at the entry.
bool loads_helper_anew(const Module& m, const Instruction& i) {
  assert(i.op == spv::OpLoad);
  const uint32_t from = m.operand(i, 0);
  const Decorations& decorations = m.decoration(from);
  if (decorations.builtin != spv::BuiltInHelperInvocation) return false;
  const bool is_volatile = i.count > 1 && m.operand(i, 1) & spv::MemoryAccessVolatileMask;
  return is_volatile || decorations.volatile_;
}

/// The instruction's pointer: a place that is known but for indices, or an address, which is a number.
void define_pointer(Lowering& l, const Instruction& i, const Pointer& p) {
  if (p.space == Pointer::Space::address) return l.define_address(i, p);
  const bool is_held = l.m.type(i.type).variable_pointer && !p.resource;
  if (is_held) return l.define_held(i, p);
  l.frame().pointers[i.id] = p;
  l.keep_indices(i.id, {p.word_dynamic, p.element, p.offset_dynamic});
}

void define_image(Lowering& l, uint32_t id, const ImageValue& v) {
  l.frame().images[id] = v;
  l.keep_indices(id, {v.image_element, v.sampler_element});
}

/// Images and samplers are no values: the variable, and the element of an array of them.
void load_image(Lowering& l, const Instruction& i) {
  assert(i.op == spv::OpLoad && holds_images(l.m, i.type));
  const Kind kind = innermost_kind(l.m, i.type);
  const Pointer p = l.pointer(l.m.operand(i, 0));
  ImageValue v;
  if (kind != Kind::sampler) v.image = p.resource, v.image_element = p.element;
  if (kind != Kind::image) v.sampler = p.resource, v.sampler_element = p.element;
  define_image(l, i.id, v);
}

void copy_object(Lowering& l, const Instruction& i) {
  assert(i.op == spv::OpCopyObject);
  const uint32_t of = l.m.operand(i, 0);
  if (l.m.type(i.type).kind == Kind::pointer) return l.follows(i) ? void() : define_pointer(l, i, l.pointer(of));
  if (l.frame().images.count(of)) return define_image(l, i.id, l.image_value(of));
  l.define(i.id, l.value(of));
}

}  // namespace

void Lowering::instruction(const Instruction& i, uint32_t index) {
  lower(i, index);
  if (i.id && !failed()) note_given_bits(i);
}

void Lowering::lower(const Instruction& i, uint32_t index) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  switch (i.op) {
    case spv::OpNop:
    case spv::OpSelectionMerge:
    case spv::OpLoopMerge:
    case spv::OpBranch:
    case spv::OpBranchConditional:
    case spv::OpSwitch:
    case spv::OpReturn:
    case spv::OpReturnValue:
    case spv::OpKill:
    case spv::OpUnreachable:
    case spv::OpTerminateInvocation:
    // A packet holds a place once, and the packer keeps the order of quads at a place (tile/shading/shade.hpp): they have their turns.
    case spv::OpBeginInvocationInterlockEXT:
    case spv::OpEndInvocationInterlockEXT:
    case spv::OpMemoryBarrier:  // lanes of a vector run in step, and those of a workgroup on one thread
      return;
    case spv::OpControlBarrier:
      if (wait && waits_for_workgroup(m, constants, i)) wait();
      return;
    case spv::OpEmitVertex:
    case spv::OpEmitStreamVertex:
    case spv::OpEndPrimitive:
    case spv::OpEndStreamPrimitive: {
      const bool emits = i.op == spv::OpEmitVertex || i.op == spv::OpEmitStreamVertex;
      const uint32_t stream = i.count > 0 ? constants.word(o(0)) : 0;
      if (!emit_vertex) return fail(op_name(i.op) + " stands outside of a geometry shader");
      if (stream >= kMaxStreams) return fail("a vertex goes to stream " + std::to_string(stream) + "; there are 0 to 3");
      return (emits ? emit_vertex : end_primitive)(stream);
    }
    case spv::OpEmitMeshTasksEXT:
    case spv::OpSetMeshOutputsEXT:
      if (!make) return fail(op_name(i.op) + " stands outside of a task or mesh shader");
      return make(i);
    case spv::OpUndef:
      return define(i.id, zero(i.type));
    case spv::OpPhi:
      return define(i.id, load_variable(slot_of(i.id, i.type, false), i.type, 0, nullptr));
    case spv::OpVariable: {
      const uint32_t type = m.type(i.type).element;
      auto& v = frame().variables[i.id];
      v = new_variable(type, d.is_varying(i.id), d.dynamic[i.id] != 0, m.name(i.id).c_str());
      if (i.count > 1) {
        store_variable(*v, value(o(1)), 0, nullptr, nullptr);
      } else {
        zero_variable(*v);
      }
      return;
    }
    case spv::OpLoad:
      if (loads_helper_anew(m, i)) return define(i.id, {i.type, {is_helper()}});
      return holds_images(m, i.type) ? load_image(*this, i) : define(i.id, load(pointer(o(0))));
    case spv::OpStore:
      return store(pointer(o(0)), value(o(1)), !d.unmasked_store[index], given_bits(o(1)));
    case spv::OpCopyMemory: {
      const Pointer to = pointer(o(0)), from = pointer(o(1));
      return store(to, load(from), true, bits_of_memory(from));
    }
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
      return follows(i) ? void() : define_pointer(*this, i, access_chain(i));
    case spv::OpFunctionCall:
      return function_call(i);
    case spv::OpArrayLength:
      return define(i.id, array_length_of(i));
    case spv::OpExtInst:
      if (o(0) == m.glsl450) return define_rounded(i.id, glsl450(i));
      return;  // non-semantic
    case spv::OpDemoteToHelperInvocation:
      return kill(true);
    case spv::OpIsHelperInvocationEXT:
      return define(i.id, {i.type, {is_helper()}});
    case spv::OpCopyObject:
      return copy_object(*this, i);
    case spv::OpCopyLogical:
      return define(i.id, value(o(0)));
    default:
      break;
  }
  if (is_atomic(i.op)) {
    Val v = atomic(i);
    if (i.id) define(i.id, v);
    return;
  }
  if (cooperative_matrix(i) || address(i) || variable_pointer(i) || subgroup(i) || image(i) || composite(i) || alu(i) || products(i) ||
      integer_dot(i) || derivatives(i))
    return;
  unsupported(op_name(i.op) + " is not supported");
}

}  // namespace tilegpu::shader
