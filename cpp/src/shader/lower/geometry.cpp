// shader/lower/geometry.cpp -- the geometry entry point: void f(GeometryArgs*) runs one invocation for each of up to N primitives.
//
// In: GeometryKey. Out: machine code. A lane is a primitive; its vertices' inputs lie in rows of lanes. Each emission writes all words that
// are kept of a vertex behind those that the lane has emitted; what exceeds the shader's own maximum vanishes.
// Source: Vulkan specification, "Geometry Shading"; SPIR-V specification, OpEmitVertex, OpEndPrimitive.
#include <cassert>

#include "shader/lower/entry.hpp"
#include "shader/lower/stage_modes.hpp"

namespace tilegpu::shader {
namespace {

struct GeometryBuilder {
  Lowering& l;
  const GeometryKey& key;
  const PrimitiveModes& modes;
  Value emitted = nullptr;  // alloca <N x i32>
  Value running = nullptr;  // lanes that have a primitive

  Value builtin(const InterfaceScalar& s);
  void make_inputs();
  std::vector<Value> words();
  Value mask() { return l.exec ? l.ir.and_(l.exec, running) : running; }
  Value row_offset(Value vertex, uint32_t words_of_vertex, uint32_t word);
  void emit_vertex(uint32_t stream);
  void end_primitive(uint32_t stream);
};

Value GeometryBuilder::builtin(const InterfaceScalar& s) {
  const Ir& ir = l.ir;
  switch (static_cast<spv::BuiltIn>(s.builtin)) {
    case spv::BuiltInPrimitiveId:
      return ir.load(ir.vi32, ir.field(ir.ptr, l.args, offsetof(GeometryArgs, primitive_id), 8), 4);
    case spv::BuiltInInvocationId:
      return ir.field(ir.i32, l.args, offsetof(GeometryArgs, invocation));
    case spv::BuiltInViewIndex:
      return ir.field(ir.i32, l.args, offsetof(GeometryArgs, view_index));
    default:
      if (Value of_subgroup = subgroup_builtin(ir, s, true)) return of_subgroup;
      break;
  }
  l.unsupported("the built-in input " + builtin_name(s.builtin) + " is not supported in geometry shaders");
  return ir.c32(0);
}

void GeometryBuilder::make_inputs() {
  place_inputs(l, l.ir.field(l.ir.ptr, l.args, offsetof(GeometryArgs, inputs), 8), true);
  for (uint32_t id : used_variables(l.m, spv::StorageClassInput)) {
    if (l.globals.count(id)) continue;
    std::vector<Value> values;
    for (const InterfaceScalar& s : interface_of(l.m, l.constants, id)) values.push_back(builtin(s));
    set_input(l, id, std::move(values));
  }
}

/// What the outputs hold now, by word of the key; zero where nothing is written.
std::vector<Value> GeometryBuilder::words() {
  std::vector<Value> result(key.emits.components.size(), l.ir.splat(l.ir.c32(0)));
  for (uint32_t id : used_variables(l.m, spv::StorageClassOutput)) {
    const auto scalars = interface_of(l.m, l.constants, id);
    const std::vector<Value> values = words_of(l, l.load_variable(*l.globals.at(id), l.m.pointee(id), 0, nullptr));
    for (size_t k = 0; k < scalars.size() && k < values.size(); ++k) {
      const InterfaceScalar& s = scalars[k];
      const uint32_t location = s.builtin == kNone ? s.location : builtin_location(s.builtin);
      const int row = location == kNone ? -1 : key.emits.find(location, s.builtin == kNone ? s.component : s.element);
      if (row >= 0) result[static_cast<size_t>(row)] = l.ir.bits(l.vary(values[k]));
    }
  }
  return result;
}

/// Bytes, by lane.
Value GeometryBuilder::row_offset(Value vertex, uint32_t words_of_vertex, uint32_t word) {
  const Ir& ir = l.ir;
  Value row = ir.add(ir.mul(vertex, ir.ik(words_of_vertex)), ir.ik(word));
  return ir.zext(ir.mul(ir.add(ir.mul(row, ir.ik(kMaxLanes)), ir.lane_index()), ir.ik(4)), ir.i64);
}

void GeometryBuilder::emit_vertex(uint32_t stream) {
  const Ir& ir = l.ir;
  Value count = ir.load(ir.vi32, emitted, 4);
  Value fits = ir.and_(mask(), ir.ult(count, ir.ik(modes.output_vertices)));
  const std::vector<Value> all = words();
  const auto n = static_cast<uint32_t>(all.size());
  Value vertices = ir.field(ir.ptr, l.args, offsetof(GeometryArgs, vertices), 8),
        ends = ir.field(ir.ptr, l.args, offsetof(GeometryArgs, ends), 8);
  for (uint32_t k = 0; k < n; ++k) ir.scatter(all[k], vertices, row_offset(count, n, k), 4, fits);
  ir.scatter(ir.ik(stream), ends, row_offset(count, 1, 0), 4, fits);
  ir.store(ir.select(fits, ir.add(count, ir.ik(1)), count), emitted, 4);
}

/// Noted with the vertex that was emitted last, of whichever stream. Points end by themselves.
void GeometryBuilder::end_primitive(uint32_t stream) {
  assert(stream < kMaxStreams);
  if (modes.made_vertices == 1) return;
  const Ir& ir = l.ir;
  Value count = ir.load(ir.vi32, emitted, 4);
  Value any = ir.and_(mask(), ir.ne(count, ir.ik(0)));
  Value ends = ir.field(ir.ptr, l.args, offsetof(GeometryArgs, ends), 8);
  Value at = row_offset(ir.select(any, ir.sub(count, ir.ik(1)), ir.ik(0)), 1, 0);
  ir.scatter(ir.or_(ir.load_lanes(ir.i32, ends, at, 4), ir.ik(kEndsStrip << stream)), ends, at, 4, any);
}

Status build_geometry(const GeometryKey& key, const Constants& constants, const Divergence& divergence, LLVMModuleRef module,
                      const char* name, uint32_t lanes) {
  Lowering l(module, lanes, key.module->module(), constants, divergence, key.resources);
  const Ir& ir = l.ir;
  const PrimitiveModes modes = primitive_modes(l.m);
  Value f = ir.function(name, LLVMFunctionType(ir.void_type, const_cast<Type*>(&ir.ptr), 1, 0));
  l.args = LLVMGetParam(f, 0);
  l.entry = ir.block(f, "entry");
  LLVMPositionBuilderAtEnd(l.alloca_builder, l.entry);
  Block start = ir.block(f, "start");
  ir.at(start);
  begin_body(l, offsetof(GeometryArgs, sets), offsetof(GeometryArgs, push_constants), offsetof(GeometryArgs, scratch),
             offsetof(GeometryArgs, loops));
  GeometryBuilder builder{l, key, modes};
  builder.emitted = l.alloca_of(ir.vi32, "emitted", 4 * lanes);
  ir.store(ir.ik(0), builder.emitted, 4);
  Value count = ir.umin(ir.field(ir.i32, l.args, offsetof(GeometryArgs, count)), ir.c32(lanes));
  builder.running = ir.ult(ir.lane_index(), ir.splat(count));
  l.alive = l.mask_alloca("alive");
  l.store_mask(l.alive, builder.running);
  l.emit_vertex = [&](uint32_t stream) { builder.emit_vertex(stream); };
  l.end_primitive = [&](uint32_t stream) { builder.end_primitive(stream); };
  builder.make_inputs();
  make_globals(l);
  run_entry_point(l);
  ir.store(ir.load(ir.vi32, builder.emitted, 4), ir.offset(l.args, offsetof(GeometryArgs, emitted)), 4);
  LLVMBuildRetVoid(ir.builder);
  LLVMBuildBr(l.alloca_builder, start);
  return l.status;
}

}  // namespace

Expected<Code<GeometryFunction>> compile_geometry(Jit& jit, const GeometryKey& key, When when) {
  assert(key.module && key.module->reflection().stage == VK_SHADER_STAGE_GEOMETRY_BIT);
  CodeKey code("geometry");
  add_stage(code, *key.module, key.specialization, key.emits, key.resources);
  Expected<const CodeSlot*> slot = jit.function(
      code,
      [key, lanes = jit.lanes()](LLVMModuleRef module, const char* name) -> Status {
        return analyse_and_build(key, [&](const Constants& constants, const Divergence& divergence) {
          return build_geometry(key, constants, divergence, module, name, lanes);
        });
      },
      when);
  if (!slot) return Error{slot.error().code, "shader '" + key.module->label() + "': " + slot.error().message};
  return Code<GeometryFunction>(*slot);
}

}  // namespace tilegpu::shader
