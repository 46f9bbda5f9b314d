// shader/lower/composites.cpp -- composites taken apart and put together: scalars change places, nothing is computed.
//
// In: OpCompositeConstruct, -ConstructReplicateEXT, -Extract, -Insert, OpVectorShuffle, -ExtractDynamic, -InsertDynamic, OpTranspose. Out:
// values. Source: SPIR-V specification 1.6, section 3.32.12 "Composite Instructions".
#include "shader/lower/context.hpp"

#include <cassert>

#include "shader/spirv/newer_extensions.hpp"

namespace tilegpu::shader {

bool Lowering::composite(const Instruction& i) {
  const auto o = [&](uint32_t k) { return m.operand(i, k); };
  switch (static_cast<uint32_t>(i.op)) {  // some are of no enumeration that the headers have
    case spv::OpCompositeConstruct: {
      Val v{i.type, {}};
      for (uint32_t part : m.operands(i)) {
        const Val p = value(part);
        v.c.insert(v.c.end(), p.c.begin(), p.c.end());
      }
      if (m.type(i.type).kind == Kind::cooperative_matrix && v.c.size() == 1) v.c.assign(width(i.type), v.c[0]);
      define(i.id, v);
      return true;
    }
    case kOpCompositeConstructReplicate: {
      const Val part = value(o(0));
      Val v{i.type, {}};
      assert(!part.c.empty());
      while (v.c.size() < width(i.type)) v.c.insert(v.c.end(), part.c.begin(), part.c.end());
      define(i.id, v);
      return true;
    }
    case spv::OpCompositeExtract:
    case spv::OpCompositeInsert: {
      const bool insert = i.op == spv::OpCompositeInsert;
      Val whole = value(o(insert ? 1 : 0));
      uint32_t type = m.type_of(o(insert ? 1 : 0)), offset = 0;
      for (uint32_t k = insert ? 2 : 1; k < i.count; ++k) {
        offset += part_offset(type, o(k));
        type = part_type(type, o(k));
      }
      const uint32_t count = width(type);
      if (offset + count > whole.c.size()) {
        fail("a composite is indexed out of range");
        define(i.id, zero(i.type));
        return true;
      }
      if (insert) {
        const Val part = value(o(0));
        for (uint32_t k = 0; k < count && k < part.c.size(); ++k) whole.c[offset + k] = part.c[k];
        define(i.id, whole);
      } else {
        define(i.id, {i.type, {whole.c.begin() + offset, whole.c.begin() + offset + count}});
      }
      return true;
    }
    case spv::OpVectorShuffle: {
      const Val a = value(o(0)), b = value(o(1));
      Val v{i.type, {}};
      const auto& kinds = bases(i.type);
      for (uint32_t k = 2; k < i.count; ++k) {
        const size_t from = o(k);
        if (from < a.c.size())
          v.c.push_back(a.c[from]);
        else if (from - a.c.size() < b.c.size())
          v.c.push_back(b.c[from - a.c.size()]);
        else
          v.c.push_back(Ir::zero(scalar_type(kinds[0])));
      }
      define(i.id, v);
      return true;
    }
    case spv::OpVectorExtractDynamic: {
      const Val v = value(o(0));
      assert(v.c.size() >= 2);
      Value index = scalar(o(1)), result = v.c.back();
      for (size_t k = v.c.size() - 1; k-- > 0;) result = select(ir.eq(index, Ir::same(index, k)), v.c[k], result);
      define(i.id, {i.type, {result}});
      return true;
    }
    case spv::OpVectorInsertDynamic: {
      Val v = value(o(0));
      Value x = scalar(o(1)), index = scalar(o(2));
      for (size_t k = 0; k < v.c.size(); ++k) v.c[k] = select(ir.eq(index, Ir::same(index, k)), x, v.c[k]);
      define(i.id, v);
      return true;
    }
    case spv::OpTranspose: {
      const Val v = value(o(0));
      const TypeInfo& matrix = m.type(m.type_of(o(0)));
      const uint32_t columns = matrix.count, rows = width(matrix.element);
      assert(v.c.size() == size_t{columns} * rows);
      Val r{i.type, {}};
      for (uint32_t row = 0; row < rows; ++row) {
        for (uint32_t c = 0; c < columns; ++c) r.c.push_back(v.c[c * rows + row]);
      }
      define(i.id, r);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace tilegpu::shader
