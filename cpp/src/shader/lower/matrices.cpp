// shader/lower/matrices.cpp -- products of vectors and matrices, determinant, inverse: chains of fused multiply-adds.
//
// In: OpDot, OpVectorTimes..., OpMatrixTimes..., OpOuterProduct; Determinant and MatrixInverse of GLSL.std.450. Out: values. Matrices are
// lists of scalars, column by column; a sum begins with its first term, so that every width and slice of a shader rounds alike.
// Source: SPIR-V specification 1.6, section 3.32.13 "Arithmetic Instructions"; SPIR-V Extended Instructions for GLSL, 1.00.
#include <cassert>
#include <functional>

#include "shader/lower/context.hpp"

namespace tilegpu::shader {

Val Lowering::dot(const Val& a, const Val& b, uint32_t type) const {
  assert(!a.c.empty() && a.c.size() == b.c.size());
  Value sum = nullptr;
  for (size_t k = 0; k < a.c.size() && k < b.c.size(); ++k) {
    Value x = a.c[k], y = b.c[k];
    unify(x, y);
    if (!sum) {
      sum = ir.fmul(x, y);
      continue;
    }
    if (is_varying(sum) != is_varying(x)) sum = vary(sum), x = vary(x), y = vary(y);
    sum = ir.fma(x, y, sum);
  }
  return {type, {sum}};
}

Val Lowering::scaled(const Val& v, Value factor, uint32_t type) const {
  return map(type, v, [&](const Ir&, Value x) {
    Value y = factor;
    unify(x, y);
    return Ir::is_integer(x) ? ir.mul(x, y) : ir.fmul(x, y);  // integers: of cooperative matrices
  });
}

/// Columns of `rows` scalars times a vector: sums over columns, first column first.
Val Lowering::matrix_times_vector(const Val& matrix, const Val& vector, uint32_t rows, uint32_t columns, uint32_t type) const {
  assert(matrix.c.size() == size_t{rows} * columns && vector.c.size() == columns);
  Val result{type, {}};
  for (uint32_t r = 0; r < rows; ++r) {
    Val row;
    for (uint32_t c = 0; c < columns; ++c) row.c.push_back(matrix.c[c * rows + r]);
    result.c.push_back(dot(row, vector, 0).c[0]);
  }
  return result;
}

/// Matrices times what stands right of them, vectors times matrices. Operands are (`left`, `right`).
Val Lowering::matrix_product(const Instruction& i) {
  const uint32_t left_id = m.operand(i, 0), right_id = m.operand(i, 1);
  const TypeInfo &left = m.type(m.type_of(left_id)), &right = m.type(m.type_of(right_id));
  const Val a = value(left_id), b = value(right_id);
  Val r{i.type, {}};
  if (i.op == spv::OpMatrixTimesVector) return matrix_times_vector(a, b, width(left.element), left.count, i.type);
  if (i.op == spv::OpVectorTimesMatrix) {
    const uint32_t rows = width(right.element);
    for (uint32_t c = 0; c < right.count; ++c) r.c.push_back(dot(a, {0, {b.c.begin() + c * rows, b.c.begin() + (c + 1) * rows}}, 0).c[0]);
    return r;
  }
  assert(i.op == spv::OpMatrixTimesMatrix);
  const uint32_t rows = width(left.element), inner = left.count;
  for (uint32_t c = 0; c < right.count; ++c) {
    const Val column = matrix_times_vector(a, {0, {b.c.begin() + c * inner, b.c.begin() + (c + 1) * inner}}, rows, inner, 0);
    r.c.insert(r.c.end(), column.c.begin(), column.c.end());
  }
  return r;
}

bool Lowering::products(const Instruction& i) {
  const auto o = [&](uint32_t k) { return value(m.operand(i, k)); };
  switch (i.op) {
    case spv::OpDot: {
      const Val a = o(0);
      define_rounded(i.id, dot(a, o(1), i.type));
      return true;
    }
    case spv::OpVectorTimesScalar:
    case spv::OpMatrixTimesScalar: {
      const Val a = o(0);
      define_rounded(i.id, scaled(a, scalar(m.operand(i, 1)), i.type));
      return true;
    }
    case spv::OpMatrixTimesVector:
    case spv::OpVectorTimesMatrix:
    case spv::OpMatrixTimesMatrix:
      define_rounded(i.id, matrix_product(i));
      return true;
    case spv::OpOuterProduct: {
      const Val a = o(0), b = o(1);
      Val r{i.type, {}};
      for (Value y : b.c) {
        const Val column = scaled(a, y, 0);
        r.c.insert(r.c.end(), column.c.begin(), column.c.end());
      }
      define_rounded(i.id, r);
      return true;
    }
    default:
      return false;
  }
}

/// By cofactors; column-major, n = 2, 3, 4.
Val Lowering::determinant_or_inverse(const Instruction& i, bool inverse) {
  Val a = value(m.operand(i, 2));
  const uint32_t n = m.type(m.type_of(m.operand(i, 2))).count;
  assert(n >= 2 && n <= 4 && a.c.size() == size_t{n} * n);
  bool varying = false;
  for (Value x : a.c) varying = varying || is_varying(x);
  for (Value& x : a.c) x = varying ? vary(x) : x;
  // Determinant of the submatrix of the given rows and columns.
  std::function<Value(std::vector<uint32_t>, std::vector<uint32_t>)> minor = [&](std::vector<uint32_t> rows,
                                                                                 std::vector<uint32_t> columns) -> Value {
    if (rows.size() == 1) return a.c[columns[0] * n + rows[0]];
    Value sum = nullptr;
    for (size_t k = 0; k < columns.size(); ++k) {
      std::vector<uint32_t> rest = columns;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      Value factor = a.c[columns[k] * n + rows[0]];
      Value part = minor({rows.begin() + 1, rows.end()}, rest);
      if (!sum)
        sum = ir.fmul(factor, part);
      else
        sum = ir.fma(k & 1 ? ir.fneg(factor) : factor, part, sum);
    }
    return sum;
  };
  std::vector<uint32_t> all;
  for (uint32_t k = 0; k < n; ++k) all.push_back(k);
  Value determinant = minor(all, all);
  if (!inverse) return {i.type, {determinant}};
  Value scale = ir.fdiv(ir.number(determinant, 1), determinant);
  Val r{i.type, {}};
  for (uint32_t column = 0; column < n; ++column) {
    for (uint32_t row = 0; row < n; ++row) {
      std::vector<uint32_t> rows = all, columns = all;  // the transposed cofactor
      rows.erase(rows.begin() + column);
      columns.erase(columns.begin() + row);
      Value x = ir.fmul(minor(rows, columns), scale);
      r.c.push_back((row + column) & 1 ? ir.fneg(x) : x);
    }
  }
  return r;
}

}  // namespace tilegpu::shader
