// shader/sampler/cube.cpp -- cube maps: direction to face and coordinates, their derivatives, texels across edges.
//
// In: directions, lane by lane. Out: faces and coordinates; for filters that reach over an edge, the neighbouring face's texel.
// Source: Vulkan specification, "Cube Map Face Selection and Transformations", "Cube Map Edge Handling" (a missing corner texel is
// the average of the three others).
#include "shader/sampler/internal.hpp"

#include <cassert>

namespace tilegpu::shader {
namespace {

struct Selected {
  Value sc, tc, rc;  // rc: the major axis' own component, with sign
};

/// sc, tc of a vector on given faces; `negate` for floats or integers.
template <class Negate>
Selected project(const Ir& ir, Value face, const Value v[3], Negate negate) {
  auto is = [&](uint32_t f) { return ir.eq(face, ir.ik(f)); };
  Value on_x = ir.ult(face, ir.ik(2)), on_y = ir.eq(ir.lshr(face, 1), ir.ik(1));
  Selected r;
  r.rc = ir.select(on_x, v[0], ir.select(on_y, v[1], v[2]));
  // +X: -z, -y; -X: +z, -y; +Y: +x, +z; -Y: +x, -z; +Z: +x, -y; -Z: -x, -y
  r.sc = ir.select(on_x, v[2], v[0]);
  r.sc = ir.select(ir.or_(is(0), is(5)), negate(r.sc), r.sc);
  r.tc = ir.select(on_y, v[2], v[1]);
  r.tc = ir.select(is(2), r.tc, negate(r.tc));
  return r;
}

}  // namespace

CubeCoordinates cube_face(const Ir& ir, const Value r[3], const Value* drdx, const Value* drdy) {
  assert(!drdx == !drdy);
  Value ax = ir.fabs(r[0]), ay = ir.fabs(r[1]), az = ir.fabs(r[2]);
  // Ties: z before y before x. NaN ends on x.
  Value on_z = ir.and_(ir.fge(az, ax), ir.fge(az, ay)), on_y = ir.fge(ay, ax);
  // By comparison, not by the sign bit: a NaN's sign differs between instruction sequences.
  auto sign_bit = [&](Value v) { return ir.zext(ir.flt(v, ir.fk(0)), ir.i32); };
  CubeCoordinates result;
  result.face = ir.select(on_z, ir.add(sign_bit(r[2]), ir.ik(4)), ir.select(on_y, ir.add(sign_bit(r[1]), ir.ik(2)), sign_bit(r[0])));
  const Selected p = project(ir, result.face, r, [&](Value v) { return ir.fneg(v); });
  Value major = ir.fabs(p.rc);
  Value scale = ir.fdiv(ir.fk(0.5f), major);
  result.s = ir.fma(p.sc, scale, ir.fk(0.5f));
  result.t = ir.fma(p.tc, scale, ir.fk(0.5f));
  result.dsdx = result.dtdx = result.dsdy = result.dtdy = nullptr;
  if (drdx) {
    Value inverse = ir.fdiv(ir.fk(1), major);
    auto derive = [&](const Value* d, Value& ds, Value& dt) {
      // The transformation is linear: the derivatives take the face's signs too. d|rc| = sign(rc) * drc.
      const Selected q = project(ir, result.face, d, [&](Value v) { return ir.fneg(v); });
      Value dmajor = ir.as_float(ir.xor_(ir.bits(q.rc), ir.and_(ir.bits(p.rc), ir.ik(0x80000000u))));
      auto quotient = [&](Value c, Value dc) { return ir.fmul(scale, ir.fsub(dc, ir.fmul(ir.fmul(c, inverse), dmajor))); };
      ds = quotient(p.sc, q.sc), dt = quotient(p.tc, q.tc);
    };
    derive(drdx, result.dsdx, result.dtdx);
    derive(drdy, result.dsdy, result.dtdy);
  }
  return result;
}

CubeTexel cube_neighbour(const Ir& ir, Value face, Value x, Value y, Value size) {
  assert(Ir::type_of(face) == ir.vi32 && Ir::type_of(x) == ir.vi32 && Ir::type_of(y) == ir.vi32 && Ir::type_of(size) == ir.i32);
  // Texel centres as integer vectors: twice the distance from the face's centre; the face itself is at +-size, and texels inside are at
  // most size - 1. One step outside is size + 1 there and size here: it becomes the neighbour's plane, and the old plane its outermost
  // texel.
  Value n = ir.splat(size), one = ir.ik(1), last = ir.sub(n, one);
  Value outside_x = ir.ugt(x, last), outside_y = ir.ugt(y, last);
  CubeTexel result;
  result.corner = ir.and_(outside_x, outside_y);
  // A corner has no texel; any in range will do.
  outside_y = ir.and_(outside_y, ir.not_(outside_x));
  Value inside_y = ir.sclamp(y, ir.ik(0), last);
  auto centred = [&](Value i) { return ir.sub(ir.add(i, i), last); };
  auto sign_of = [&](Value v, Value magnitude) { return ir.select(ir.slt(v, ir.ik(0)), ir.neg(magnitude), magnitude); };
  Value sc = centred(x), tc = centred(ir.select(outside_x, inside_y, y));
  sc = ir.select(outside_x, sign_of(sc, n), sc);
  tc = ir.select(outside_y, sign_of(tc, n), tc);
  Value plane = ir.select(ir.or_(outside_x, outside_y), last, n);
  // Back to x, y, z.
  auto is = [&](uint32_t f) { return ir.eq(face, ir.ik(f)); };
  Value on_x = ir.ult(face, ir.ik(2)), on_y = ir.eq(ir.lshr(face, 1), one);
  Value negative = ir.ne(ir.and_(face, one), ir.ik(0));
  Value major = ir.select(negative, ir.neg(plane), plane);
  Value signed_sc = ir.select(ir.or_(is(0), is(5)), ir.neg(sc), sc);
  Value signed_tc = ir.select(is(2), tc, ir.neg(tc));
  const Value v[3] = {ir.select(on_x, major, signed_sc), ir.select(on_y, major, signed_tc),
                      ir.select(on_x, signed_sc, ir.select(on_y, signed_tc, major))};
  // The new face is where a component reaches the plane.
  auto reaches = [&](Value c) { return ir.or_(ir.eq(c, n), ir.eq(c, ir.neg(n))); };
  auto sign_bit = [&](Value c) { return ir.lshr(c, 31); };
  result.face = ir.select(reaches(v[0]), sign_bit(v[0]),
                          ir.select(reaches(v[1]), ir.add(sign_bit(v[1]), ir.ik(2)), ir.add(sign_bit(v[2]), ir.ik(4))));
  const Selected p = project(ir, result.face, v, [&](Value c) { return ir.neg(c); });
  auto index = [&](Value c) { return ir.sclamp(ir.ashr(ir.add(c, last), 1), ir.ik(0), last); };
  result.x = index(p.sc), result.y = index(p.tc);
  return result;
}

}  // namespace tilegpu::shader
