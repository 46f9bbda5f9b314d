// shader/lower/cooperative_matrix.cpp -- matrices whose components lie in the invocations of a subgroup: memory and products.
//
// In: OpCooperativeMatrix*KHR. Out: values. Of a matrix of any use the invocation i of its subgroup has the columns i, i + 4, i + 8, ...:
// component k is in row k / (columns / 4), and in column k % (columns / 4) * 4 + i. So the lanes of a product have their columns of B and
// of the sum, and take each component of A from the lane that has it. Everything that works on components alone is that of any composite.
// Loads are robust component by component; what lanes don't run take part in a product with what their registers hold.
// Source: SPV_KHR_cooperative_matrix; Vulkan specification, "Cooperative Matrices".
#include <algorithm>
#include <cassert>

#include "shader/ir/math.hpp"
#include "shader/lower/context.hpp"
#include "shader/spirv/cooperative_matrix.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint32_t kMostComponents = 64;  // of an invocation: 16 x 16 / 4
constexpr uint32_t kWord_B = 4;           // no component is larger

/// body(k) for k = 0 to n - 1 (i64), as a loop.
template <class Body>
void each_index(const Ir& ir, uint32_t n, Body&& body) {
  Block before = ir.current_block(), loop = ir.block("components"), end = ir.block("components_end");
  ir.br(loop);
  ir.at(loop);
  Value k = LLVMBuildPhi(ir.builder, ir.i64, ""), first = ir.c64(0);
  body(k);
  Value next = ir.add(k, ir.c64(1));
  Block last = ir.current_block();
  ir.br(ir.icmp(LLVMIntULT, next, ir.c64(n)), loop, end);
  LLVMAddIncoming(k, &first, &before, 1);
  LLVMAddIncoming(k, &next, &last, 1);
  ir.at(end);
}

/// One instruction's matrices.
struct Cooperative {
  Lowering& l;
  Value* memory;  // three, made where they are needed
  const Ir& ir = l.ir;

  /// Vectors of lanes, one behind the other, on the stack.
  Value block_of(uint32_t number) const {
    if (!memory[number]) memory[number] = l.alloca_of(LLVMArrayType2(ir.i8, uint64_t{kMostComponents} * step_B()), "matrix", step_B());
    return memory[number];
  }
  uint32_t step_B() const { return ir.lanes * kWord_B; }
  Value slot(Value block, Value k) const { return ir.offset(block, ir.mul(k, ir.c64(step_B()))); }
  void write(Value block, const std::vector<Value>& components) const {
    for (size_t k = 0; k < components.size(); ++k) ir.store(l.vary(components[k]), ir.offset(block, k * step_B()), step_B());
  }
  std::vector<Value> read(Value block, Type type, size_t count) const {
    std::vector<Value> components;
    for (size_t k = 0; k < count; ++k) components.push_back(ir.load(ir.vec(type), ir.offset(block, k * step_B()), step_B()));
    return components;
  }
  Value place() const { return ir.and_(ir.lane_index(), ir.ik(kSubgroupSize - 1)); }

  struct Memory {
    Pointer p;
    Lowering::BufferAddress buffer;
    Value base = nullptr, row_B = nullptr, column_B = nullptr;  // i64: an address, or an offset; from each row and column to the next
    uint64_t end_B = 0;                                         // of a shared variable
    uint32_t own_B = 0, groups = 0;                             // of a component; columns / 4
  };
  Memory memory_of(const Instruction& i, uint32_t matrix, uint32_t layout);
  Value offsets(const Memory& at, Value k) const;
  std::pair<Value, Value> place_of(const Memory& at, Value offsets, uint32_t lane) const;
  Val load(const Instruction& i);
  void store(const Instruction& i);
  Val product(const Instruction& i);
};

Cooperative::Memory Cooperative::memory_of(const Instruction& i, uint32_t matrix, uint32_t layout) {
  const uint32_t pointer = l.m.operand(i, 0), pointee = l.m.type(l.m.type_of(pointer)).element;
  const TypeSize& size = l.constants.size(pointee);
  Memory at;
  at.p = l.pointer(pointer);
  at.own_B = size_B(l.bases(matrix).front());
  at.groups = shape_of(l.m, l.constants, matrix).columns / kSubgroupSize;
  uint32_t scalar_B = size.widest_B, step_B = at.own_B;
  if (at.p.space == Pointer::Space::workgroup && l.lies_as_decorated(at.p)) {
    at.end_B = l.workgroup->shared_B;
  } else if (at.p.space == Pointer::Space::workgroup) {
    scalar_B = l.workgroup->scalar_B(at.p.resource);
    if (at.own_B == size.widest_B)
      step_B = scalar_B;
    else if (scalar_B != size.widest_B)
      l.unsupported("a cooperative matrix of other components than the shared variable's, whose scalars are not packed, is not supported");
    const SharedVariable* variable = l.workgroup->find(at.p.resource);
    at.end_B = variable ? variable->offset_B + scalar_count(l.constants, l.m.pointee(variable->id)) * scalar_B : l.workgroup->shared_B;
  }
  if (at.p.space == Pointer::Space::address) {
    at.base = l.exact_address(at.p);
  } else {
    at.buffer = l.buffer_address(at.p);
    at.base = ir.c64(at.p.offset_B);
    if (Value dynamic = at.p.offset_dynamic) {
      dynamic = ir.zext(dynamic, ir.i64);
      at.base = ir.add(dynamic, Ir::same(dynamic, at.p.offset_B));
    }
  }
  Value stride = ir.zext(l.index_of(l.m.operand(i, layout + 1)), ir.i64);  // below 2^32: no sum of these wraps round
  Value far = ir.mul(stride, Ir::same(stride, size.scalars * scalar_B)), near = ir.c64(step_B);
  const bool rows = l.constants.word(l.m.operand(i, layout)) == kRowMajor;
  at.row_B = l.vary(rows ? far : near), at.column_B = l.vary(rows ? near : far), at.base = l.vary(at.base);
  return at;
}

/// Of the lanes' component k: i64, each.
Value Cooperative::offsets(const Memory& at, Value k) const {
  const Value groups = ir.c64(at.groups);
  Value row = LLVMBuildUDiv(ir.builder, k, groups, ""), group = LLVMBuildURem(ir.builder, k, groups, "");
  Value column = ir.add(ir.splat(ir.mul(group, ir.c64(kSubgroupSize))), ir.zext(place(), ir.i64));
  return ir.add(at.base, ir.add(ir.mul(ir.splat(row), at.row_B), ir.mul(column, at.column_B)));
}

/// Where a lane's component is, and whether it is there.
std::pair<Value, Value> Cooperative::place_of(const Memory& at, Value offsets, uint32_t lane) const {
  Value offset = ir.extract(offsets, lane);
  if (at.p.space == Pointer::Space::address) return l.place_of(offset, at.own_B);
  Value data = at.buffer.data;
  if (Lowering::is_varying(data)) data = LLVMBuildIntToPtr(ir.builder, ir.extract(data, lane), ir.ptr, "");
  Value room_B = at.end_B ? ir.c64(at.end_B) : ir.extract(at.buffer.size_B, lane);
  return {ir.offset(data, offset), ir.ule(ir.add(offset, ir.c64(at.own_B)), room_B)};
}

Val Cooperative::load(const Instruction& i) {
  const Memory at = memory_of(i, i.type, 1);
  const Base kind = l.bases(i.type).front();
  const Type type = l.memory_type(kind);
  Value block = block_of(0), zeros = l.zero_page(64);
  each_index(ir, l.width(i.type), [&](Value k) {
    Value all = offsets(at, k), words = Ir::zero(ir.vec(type));
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      const auto [data, there] = place_of(at, all, lane);
      words = ir.insert(words, ir.load(type, ir.select(there, data, zeros), 1), lane);
    }
    ir.store(words, slot(block, k), step_B());
  });
  Val v{i.type, read(block, type, l.width(i.type))};
  for (Value& x : v.c) x = l.from_memory(kind, x);
  return v;
}

void Cooperative::store(const Instruction& i) {
  const uint32_t matrix = l.m.type_of(l.m.operand(i, 1));
  const Memory at = memory_of(i, matrix, 2);
  const Base kind = l.bases(matrix).front();
  std::vector<Value> words = l.value(l.m.operand(i, 1)).c;
  for (Value& x : words) x = l.to_memory(kind, kind == Base::f32 ? emit_canonical_nan(ir, x) : x);
  Value block = block_of(0), nowhere = l.sink(), mask = l.write_mask();
  write(block, words);
  each_index(ir, static_cast<uint32_t>(words.size()), [&](Value k) {
    Value all = offsets(at, k), own = ir.load(ir.vec(l.memory_type(kind)), slot(block, k), step_B());
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      const auto [data, there] = place_of(at, all, lane);
      Value runs = mask ? ir.and_(there, ir.extract(mask, lane)) : there;
      ir.store(ir.extract(own, lane), ir.select(runs, data, nowhere), 1);
    }
  });
}

/// Row by row: each component of A's goes to all lanes of its subgroup, and is multiplied by their columns of B.
Val Cooperative::product(const Instruction& i) {
  const uint32_t flags = l.m.operand(i, 3), rows = shape_of(l.m, l.constants, i.type).rows;
  const uint32_t groups = shape_of(l.m, l.constants, i.type).columns / kSubgroupSize;
  const uint32_t inner = shape_of(l.m, l.constants, l.m.type_of(l.m.operand(i, 0))).columns;
  const Type type = l.scalar_type(l.bases(i.type).front());
  const bool integer = type == ir.i32;
  const auto factors = [&](uint32_t operand, bool is_signed) {
    std::vector<Value> components = l.value(l.m.operand(i, operand)).c;
    for (Value& x : components)
      if (integer && Ir::bits_of(x) < 32) x = is_signed ? ir.sext(x, ir.i32) : ir.zext(x, ir.i32);
    return components;
  };
  l.lowered += uint64_t{inner} * (groups + 1);
  Value a = block_of(0), b = block_of(1), sums = block_of(2);
  write(a, factors(0, flags & kSignedA));
  write(b, factors(1, flags & kSignedB));
  write(sums, l.value(l.m.operand(i, 2)).c);
  each_index(ir, rows, [&](Value row) {
    const auto of_row = [&](Value block, uint32_t count) { return slot(block, ir.mul(row, ir.c64(count))); };
    const std::vector<Value> left = read(of_row(a, inner / kSubgroupSize), type, inner / kSubgroupSize);
    const std::vector<Value> start = read(of_row(sums, groups), type, groups);
    std::vector<Value> sum = start;
    for (uint32_t k = 0; k < inner; ++k) {
      std::vector<int> from;
      for (uint32_t lane = 0; lane < ir.lanes; ++lane)
        from.push_back(static_cast<int>(lane / kSubgroupSize * kSubgroupSize + k % kSubgroupSize));
      Value x = ir.shuffle(left[k / kSubgroupSize], from);
      for (uint32_t group = 0; group < groups; ++group) {
        Value y = ir.load(ir.vec(type), ir.offset(b, (k * groups + group) * step_B()), step_B());
        if (!integer)
          sum[group] = ir.fma(x, y, sum[group]);
        else
          sum[group] = k ? ir.add(sum[group], ir.mul(x, y)) : ir.mul(x, y);
      }
    }
    if (integer)
      for (uint32_t group = 0; group < groups; ++group) {
        const char* saturating = flags & kSignedResult ? "llvm.sadd.sat" : "llvm.uadd.sat";
        sum[group] =
            flags & kSaturates ? ir.call_intrinsic(saturating, {ir.vi32}, {sum[group], start[group]}) : ir.add(sum[group], start[group]);
      }
    write(of_row(sums, groups), sum);
  });
  return {i.type, read(sums, type, size_t{rows} * groups)};
}

}  // namespace

bool Lowering::cooperative_matrix(const Instruction& i) {
  if (!is_cooperative(i.op)) return false;
  assert(compute);  // check_cooperative
  Cooperative matrices{*this, matrix_memory_};
  switch (static_cast<uint32_t>(i.op)) {
    case kOpCooperativeMatrixLoad:
      define(i.id, matrices.load(i));
      return true;
    case kOpCooperativeMatrixStore:
      matrices.store(i);
      return true;
    case kOpCooperativeMatrixMulAdd:
      define_rounded(i.id, matrices.product(i));
      return true;
    case kOpCooperativeMatrixLength:
      define(i.id, {i.type, {ir.c32(constants.size(m.operand(i, 0)).length)}});
      return true;
    default:
      return false;
  }
}

}  // namespace tilegpu::shader
