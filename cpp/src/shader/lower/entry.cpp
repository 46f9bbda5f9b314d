// shader/lower/entry.cpp -- see entry.hpp: set-up that the vertex and fragment entry points share.
#include "shader/lower/entry.hpp"

#include <algorithm>
#include <cassert>

#include "shader/ir/math.hpp"
#include "shader/lower/quick_inputs.hpp"
#include "shader/spirv/module.hpp"

namespace tilegpu::shader {
namespace {

// Uniform buffers up to this size are checked once a call; larger ones at each access.
constexpr uint32_t kMaxWholeBuffer_B = 4096;

/// Uniform buffers that are read without checks: where the bound range is too small, a zero-filled copy takes its place.
void check_whole_buffers(Lowering& l) {
  const Ir& ir = l.ir;
  for (uint32_t id : used_variables(l.m, spv::StorageClassUniform)) {
    const uint32_t block = l.m.pointee(id);
    if (l.m.type(block).kind != Kind::structure || l.m.decoration(block).buffer_block) continue;
    const uint64_t size_B = block_size_B(l.m, l.constants, block);
    const BufferSlot* slot = l.buffer_slot(id);
    if (!slot || size_B == 0 || size_B > kMaxWholeBuffer_B) continue;
    Value descriptor = ir.offset(l.set_memory[slot->table], slot->at.offset_B);
    Value data = ir.constant_field(ir.ptr, descriptor, offsetof(BufferDescriptor, data), 8),
          bound_B = ir.constant_field(ir.i64, descriptor, offsetof(BufferDescriptor, size_B), 8);
    Value copy = l.alloca_of(LLVMArrayType2(ir.i8, size_B), "uniforms", 16);
    const auto base = ir.if_else(
        ir.uge(bound_B, ir.c64(size_B)), [&] { return std::vector<Value>{data}; },
        [&] {
          LLVMBuildMemSet(ir.builder, copy, ir.c8(0), ir.c64(size_B), 16);
          LLVMBuildMemCpy(ir.builder, copy, 16, data, 1, bound_B);
          return std::vector<Value>{copy};
        });
    l.whole_buffers[id] = {base[0], size_B};
  }
}

}  // namespace

void begin_body(Lowering& l, size_t sets_B, size_t push_constants_B, size_t scratch_B, size_t loops_B) {
  const Ir& ir = l.ir;
  assert(l.args && l.entry && !l.budget);
  Value sets = nullptr;
  const auto use_set = [&](uint32_t table) {
    assert(table < kSetTables);
    if (l.set_memory[table]) return;
    if (!sets) sets = ir.constant_field(ir.ptr, l.args, sets_B, 8);
    l.set_memory[table] = ir.constant_field(ir.ptr, sets, table * sizeof(void*), 8);
  };
  for (const BufferSlot& s : l.resources.buffers) use_set(s.table);
  if (uses_addresses(l.m)) use_set(kAddressSet);
  for (const TextureSlot& s : l.resources.textures) {
    use_set(s.image_set);
    if (!s.is_alone()) use_set(s.sampler_set);
  }
  l.push_constants = ir.field(ir.ptr, l.args, push_constants_B, 8);
  l.scratch = ir.field(ir.ptr, l.args, scratch_B, 8);
  l.budget = l.alloca_of(ir.i64, "budget", 8);
  l.loops_B = loops_B;
  ir.store(l.whole_budget(), l.budget, 8);
  // Copies would be kept while lanes wait.
  if (!l.wait) check_whole_buffers(l);
}

void share_beginning(Lowering& l, const Lowering& first) {
  assert(first.budget && !l.budget && l.ir.module == first.ir.module);
  l.args = first.args, l.entry = first.entry;
  l.set_memory = first.set_memory, l.push_constants = first.push_constants, l.scratch = first.scratch;
  l.budget = first.budget, l.loops_B = first.loops_B, l.whole_buffers = first.whole_buffers;
  LLVMPositionBuilderAtEnd(l.alloca_builder, l.entry);
}

void make_globals(Lowering& l) {
  for (spv::StorageClass storage : {spv::StorageClassPrivate, spv::StorageClassOutput}) {
    for (uint32_t id : used_variables(l.m, storage)) {
      if (l.workgroup && l.workgroup->find(id)) continue;  // in memory that invocations share
      const uint32_t type = l.m.pointee(id);
      if (!l.globals.count(id)) l.globals[id] = l.new_variable(type, l.d.is_varying(id), l.d.dynamic[id] != 0, l.m.name(id).c_str());
      const Instruction& i = *l.m.find(id);
      if (i.count > 1 && l.constants.find(l.m.operand(i, 1))) {
        l.store_variable(*l.globals[id], l.constant(l.m.operand(i, 1)), 0, nullptr, nullptr);
      } else {
        l.zero_variable(*l.globals[id]);
      }
    }
  }
}

void set_input(Lowering& l, uint32_t variable, std::vector<Value> scalars) {
  const uint32_t type = l.m.pointee(variable);
  assert(l.m.storage_of(variable) == spv::StorageClassInput && scalars.size() == l.width(type));
  if (!l.d.dynamic[variable]) {
    auto v = std::make_unique<Variable>();
    v->form = Variable::Form::values, v->type = type, v->varying = true, v->slots = std::move(scalars);
    l.globals[variable] = std::move(v);
    return;
  }
  auto v = l.new_variable(type, true, true, l.m.name(variable).c_str());
  l.store_variable(*v, {type, std::move(scalars)}, 0, nullptr, nullptr);
  l.globals[variable] = std::move(v);
}

void place_inputs(Lowering& l, Value memory, bool varying) {
  const PlacedInputs placed = placed_inputs(l.m, l.constants);
  for (const SharedVariable& input : placed.variables) {
    auto v = std::make_unique<Variable>();
    v->form = Variable::Form::memory, v->type = l.m.pointee(input.id), v->varying = varying;
    v->word_B = input.scalar_B > 4 ? 8 : 4;
    v->memory = l.ir.offset(memory, input.offset_B * (varying ? l.ir.lanes : 1));
    l.globals[input.id] = std::move(v);
  }
}

std::vector<Value> words_of(Lowering& l, const Val& v) {
  const auto& kinds = l.bases(v.type);
  std::vector<Value> words;
  for (size_t k = 0; k < v.c.size() && k < kinds.size(); ++k) {
    if (kinds[k] == Base::i16) {
      words.push_back(l.ir.zext(v.c[k], l.ir.i32));
      continue;
    }
    if (size_B(kinds[k]) < 8) {
      words.push_back(v.c[k]);
      continue;
    }
    Value bits = l.ir.bitcast(v.c[k], Ir::like(v.c[k], l.ir.i64));
    words.push_back(l.ir.trunc(bits, l.ir.i32)), words.push_back(l.ir.trunc(l.ir.lshr(bits, 32), l.ir.i32));
  }
  return words;
}

std::vector<Value> from_words(Lowering& l, uint32_t type, const std::vector<Value>& words) {
  std::vector<Value> scalars;
  size_t next = 0;
  for (Base base : l.bases(type)) {
    if (size_B(base) < 8) {
      Value word = words[next++];
      // Halves that were interpolated, or fetched from a format with more bits, are none yet.
      scalars.push_back(base == Base::f16 ? emit_round_to_half(l.ir, word) : base == Base::i16 ? l.ir.trunc(word, l.ir.i16) : word);
      continue;
    }
    Value low = words[next++], high = words[next++];
    l.unify(low, high);
    Value bits = l.ir.or_(l.ir.zext(low, l.ir.i64), l.ir.shl(l.ir.zext(high, l.ir.i64), 32));
    scalars.push_back(l.ir.bitcast(bits, Ir::like(bits, l.scalar_type(base))));
  }
  assert(next == words.size());
  return scalars;
}

void run_entry_point(Lowering& l) {
  assert(l.frames.empty());
  Frame frame;
  l.call(frame, l.d.functions.at(l.m.entry.function));
}

void add_stage(CodeKey& key, const ShaderModule& module, const Specialization& specialization, const VaryingLayout& varyings,
               const ResourceTable& resources) {
  set_quick_functions({quick_fragment_inputs, quick_attribute});  // code from disk may call them too
  // The same shader under another label, or of another file, is the same code.
  const std::vector<uint32_t> words = module.words_without_names();
  key.add_bytes(words.data(), words.size() * 4);
  key.add_bytes(module.reflection().entry_point.data(), module.reflection().entry_point.size());
  const auto word = [&](uint32_t w) { key.add(w); };
  word(static_cast<uint32_t>(module.reflection().stage));
  word(static_cast<uint32_t>(specialization.size()));
  for (auto [id, bits] : specialization) word(id), key.add(bits);
  word(static_cast<uint32_t>(varyings.components.size()));
  for (const VaryingComponent& c : varyings.components)
    word(c.location), word(c.component), word(static_cast<uint32_t>(c.interpolation)), word(c.centroid), word(c.sample), word(c.patch),
        word(c.corner);
  word(static_cast<uint32_t>(resources.buffers.size()));
  for (const BufferSlot& s : resources.buffers) {
    word(s.set), word(s.binding), word(s.count), word(s.writable);
    word(s.table), word(s.at.offset_B), word(s.at.stride_B), word(s.at.counted);
  }
  word(static_cast<uint32_t>(resources.textures.size()));
  for (const TextureSlot& s : resources.textures) {
    word(s.image_set), word(s.image_binding), word(s.sampler_set), word(s.sampler_binding), word(s.image_count), word(s.sampler_count),
        word(s.uses), word(s.combined);
    word(s.image.offset_B), word(s.image.stride_B), word(s.image.counted);
    word(s.sampler.offset_B), word(s.sampler.stride_B), word(s.sampler.counted);
  }
}

}  // namespace tilegpu::shader
