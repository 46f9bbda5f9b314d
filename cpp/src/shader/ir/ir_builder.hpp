// shader/ir/ir_builder.hpp -- small helpers around LLVM-C, shared by lowering, sampling, math and epilogue.
//
// In: an LLVM module and the number of lanes. Out: instructions. A "value" is a scalar or a vector; helpers take the shape from
// their operands, so that every emitter works on one lane or on N with the same bits. No fast-math flags are ever set, and nothing
// here calls libm: the intrinsics used (sqrt, fma, floor, ceil, trunc, roundeven, fabs, ctpop, ctlz) are instructions of x86-64-v3 and of
// Armv8.
// The asserts are those that LLVM has itself and that the library of distributions leaves out: a wrong type is found where it is written.
#pragma once

#include <llvm-c/Core.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilegpu::shader {

using Value = LLVMValueRef;
using Type = LLVMTypeRef;
using Block = LLVMBasicBlockRef;

/// A function's attribute that is a text: one of LLVM's for its code generator, or one of ours.
inline void add_text_attribute(LLVMValueRef function, const char* name, const char* value = "") {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(
      function, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
      LLVMCreateStringAttribute(context, name, static_cast<unsigned>(std::strlen(name)), value, static_cast<unsigned>(std::strlen(value))));
}

/// The processor that code is made for is the one that makes it: LLVM's intrinsics of x86 may be named.
#if defined(__x86_64__)
inline constexpr bool kX86 = true;
#else
inline constexpr bool kX86 = false;
#endif

/// How modules of quick code (jit.hpp) are named. It stays in this process, so that it may hold addresses of functions of the core.
inline constexpr const char kQuickPrefix[] = "tq_";
/// A flag of modules whose code may use AVX-512 (Jit::wide).
inline constexpr std::string_view kWideFlag = "tilegpu-wide";
/// The same, also of the instructions that permute bytes (AVX-512 VBMI).
inline constexpr std::string_view kByteTablesFlag = "tilegpu-byte-tables";

class Ir {
 public:
  Ir(LLVMModuleRef module_, uint32_t lanes_)
      : module(module_), context(LLVMGetModuleContext(module_)), builder(LLVMCreateBuilderInContext(context)), lanes(lanes_) {
    i1 = LLVMInt1TypeInContext(context), i8 = LLVMInt8TypeInContext(context), i16 = LLVMInt16TypeInContext(context);
    i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
    f16 = LLVMHalfTypeInContext(context), f32 = LLVMFloatTypeInContext(context), f64 = LLVMDoubleTypeInContext(context);
    assert(lanes >= 1 && lanes <= 64 && (lanes & (lanes - 1)) == 0);
    ptr = LLVMPointerTypeInContext(context, 0), void_type = LLVMVoidTypeInContext(context);
    vf32 = vec(f32), vi32 = vec(i32), vi1 = vec(i1);
    size_t length = 0;
    quick = !std::strncmp(LLVMGetModuleIdentifier(module, &length), kQuickPrefix, sizeof kQuickPrefix - 1);
    wide = LLVMGetModuleFlag(module, kWideFlag.data(), kWideFlag.size()) != nullptr;
    byte_tables = LLVMGetModuleFlag(module, kByteTablesFlag.data(), kByteTablesFlag.size()) != nullptr;
  }
  ~Ir() { LLVMDisposeBuilder(builder); }
  Ir(const Ir&) = delete;
  Ir& operator=(const Ir&) = delete;

  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  uint32_t lanes;
  bool quick = false;        // code that must be made quickly
  bool wide = false;         // AVX-512 may be used
  bool byte_tables = false;  // tables of bytes lie in its registers (VBMI)
  bool gathers = false;      // the CPU's gather instructions are faster than a load for each lane (Jit::gathers)
  Type i1, i8, i16, i32, i64, f16, f32, f64, ptr, void_type;
  Type vf32, vi32, vi1;  // `lanes` lanes

  // -- types -------------------------------------------------------------------------------------------------------------------
  Type vec(Type element) const { return vec(element, lanes); }
  static Type vec(Type element, uint32_t n) {
    assert(n >= 1 && n <= 128 && LLVMGetTypeKind(element) != LLVMVectorTypeKind);  // 128: bytes of 16 pairs of words
    return n == 1 ? element : LLVMVectorType(element, n);
  }
  static Type type_of(Value v) { return LLVMTypeOf(v); }
  static uint32_t lanes_of(Type t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetVectorSize(t) : 1; }
  static uint32_t lanes_of(Value v) { return lanes_of(LLVMTypeOf(v)); }
  static Type element_of(Type t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t; }
  /// The shape of `shape` with another element type.
  static Type like(Value shape, Type element) { return vec(element, lanes_of(shape)); }
  // What asserts ask.
  static bool is_integer(Value v) { return LLVMGetTypeKind(element_of(type_of(v))) == LLVMIntegerTypeKind; }
  static bool is_pointer(Value v) { return LLVMGetTypeKind(element_of(type_of(v))) == LLVMPointerTypeKind; }
  static bool is_float(Value v) { return !is_integer(v) && !is_pointer(v) && bits_of(element_of(type_of(v))) != 0; }
  /// Of one element; 0 for what is no number.
  static uint32_t bits_of(Type element) {
    switch (LLVMGetTypeKind(element)) {
      case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(element);
      case LLVMHalfTypeKind:
        return 16;
      case LLVMFloatTypeKind:
        return 32;
      case LLVMDoubleTypeKind:
        return 64;
      default:
        return 0;
    }
  }
  static uint32_t bits_of(Value v) { return bits_of(element_of(type_of(v))); }
  bool is_mask(Value v) const { return element_of(type_of(v)) == i1; }
  static bool is_alignment(uint32_t align_B) { return align_B != 0 && (align_B & (align_B - 1)) == 0; }

  // -- constants ---------------------------------------------------------------------------------------------------------------
  static Value splat_constant(Value scalar, uint32_t n) {
    assert(n <= 64 && lanes_of(scalar) == 1 && LLVMIsConstant(scalar));
    if (n == 1) return scalar;
    Value elements[64];
    for (uint32_t k = 0; k < n; ++k) elements[k] = scalar;
    return LLVMConstVector(elements, n);
  }
  Value c1(bool x) const { return LLVMConstInt(i1, x, 0); }
  Value c8(uint32_t x) const { return LLVMConstInt(i8, x, 0); }
  Value c32(uint32_t x) const { return LLVMConstInt(i32, x, 0); }
  Value c64(uint64_t x) const { return LLVMConstInt(i64, x, 0); }
  Value cf(float x) const { return bits_to_float(x); }
  /// 32-bit constants of `lanes` lanes.
  Value ik(uint32_t x) const { return splat_constant(c32(x), lanes); }
  Value fk(float x) const { return splat_constant(cf(x), lanes); }
  /// Constants in the shape of a value.
  Value ik(Value shape, uint32_t x) const { return splat_constant(c32(x), lanes_of(shape)); }
  Value fk(Value shape, float x) const { return splat_constant(cf(x), lanes_of(shape)); }
  /// A constant of a float's own type; of 32 bits by the bits of `x` as a float.
  Value number(Value shape, double x) const { return bits_of(shape) == 64 ? dk(shape, x) : fk(shape, static_cast<float>(x)); }
  Value infinity(Value shape) const {
    return bits_of(shape) == 64 ? bitcast(splat_constant(c64(0x7ff0000000000000u), lanes_of(shape)), type_of(shape))
                                : as_float(ik(shape, 0x7f800000u));
  }
  Value dk(Value shape, double x) const { return splat_constant(LLVMConstReal(f64, x), lanes_of(shape)); }
  /// True where `v` is a finite f32 constant, the same on all lanes.
  static bool constant_float(Value v, float& value) {
    if (!LLVMIsConstant(v)) return false;
    Value first = v;
    for (uint32_t k = 0; k < lanes_of(v) && lanes_of(v) > 1; ++k) {
      Value element = LLVMGetAggregateElement(v, k);
      if (!element || (k > 0 && element != first)) return false;
      first = element;
    }
    if (!LLVMIsAConstantFP(first)) return false;
    LLVMBool inexact = 0;
    value = static_cast<float>(LLVMConstRealGetDouble(first, &inexact));
    return value - value == 0;
  }
  /// An integer constant of the value's own type, whatever its width.
  static Value same(Value shape, uint64_t x) {
    assert(is_integer(shape));
    return splat_constant(LLVMConstInt(element_of(LLVMTypeOf(shape)), x, 0), lanes_of(shape));
  }
  /// <0, 1, 2, ...> as i32.
  Value lane_index() const {
    Value elements[64];
    for (uint32_t k = 0; k < lanes; ++k) elements[k] = c32(k);
    return lanes == 1 ? elements[0] : LLVMConstVector(elements, lanes);
  }
  Value true_mask() const { return splat_constant(c1(true), lanes); }
  Value false_mask() const { return splat_constant(c1(false), lanes); }
  static Value zero(Type t) { return LLVMConstNull(t); }
  static Value poison(Type t) { return LLVMGetPoison(t); }

  // -- arithmetic --------------------------------------------------------------------------------------------------------------
  Value fadd(Value a, Value b) const { return of_floats(LLVMBuildFAdd, a, b); }
  Value fsub(Value a, Value b) const { return of_floats(LLVMBuildFSub, a, b); }
  Value fmul(Value a, Value b) const { return of_floats(LLVMBuildFMul, a, b); }
  Value fdiv(Value a, Value b) const { return of_floats(LLVMBuildFDiv, a, b); }
  Value fneg(Value a) const {
    assert(is_float(a));
    return LLVMBuildFNeg(builder, a, "");
  }
  /// One rounding: a * b + c.
  Value fma(Value a, Value b, Value c) const {
    assert(is_float(a) && type_of(a) == type_of(b) && type_of(a) == type_of(c));
    return call_intrinsic("llvm.fma", {type_of(a)}, {a, b, c});
  }
  Value sqrt(Value a) const { return of_float("llvm.sqrt", a); }
  Value fabs(Value a) const { return of_float("llvm.fabs", a); }
  Value floor(Value a) const { return of_float("llvm.floor", a); }
  Value ceil(Value a) const { return of_float("llvm.ceil", a); }
  Value ftrunc(Value a) const { return of_float("llvm.trunc", a); }
  Value round_even(Value a) const { return of_float("llvm.roundeven", a); }
  Value copysign(Value magnitude, Value sign) const {
    assert(is_float(magnitude) && type_of(magnitude) == type_of(sign));
    return call_intrinsic("llvm.copysign", {type_of(magnitude)}, {magnitude, sign});
  }
  Value add(Value a, Value b) const { return of_integers(LLVMBuildAdd, a, b); }
  Value sub(Value a, Value b) const { return of_integers(LLVMBuildSub, a, b); }
  Value mul(Value a, Value b) const { return of_integers(LLVMBuildMul, a, b); }
  Value neg(Value a) const { return LLVMBuildNeg(builder, a, ""); }
  Value and_(Value a, Value b) const { return of_integers(LLVMBuildAnd, a, b); }
  Value or_(Value a, Value b) const { return of_integers(LLVMBuildOr, a, b); }
  Value xor_(Value a, Value b) const { return of_integers(LLVMBuildXor, a, b); }
  Value not_(Value a) const { return LLVMBuildNot(builder, a, ""); }
  /// Shift amounts of 32 and more are poison in LLVM: mask untrusted amounts first.
  Value shl(Value a, Value b) const { return of_integers(LLVMBuildShl, a, b); }
  Value lshr(Value a, Value b) const { return of_integers(LLVMBuildLShr, a, b); }
  Value ashr(Value a, Value b) const { return of_integers(LLVMBuildAShr, a, b); }
  Value shl(Value a, uint32_t n) const { return n ? shl(a, shift(a, n)) : a; }
  Value lshr(Value a, uint32_t n) const { return n ? lshr(a, shift(a, n)) : a; }
  Value ashr(Value a, uint32_t n) const { return n ? ashr(a, shift(a, n)) : a; }
  Value smin(Value a, Value b) const { return select(slt(a, b), a, b); }
  Value smax(Value a, Value b) const { return select(sgt(a, b), a, b); }
  Value umin(Value a, Value b) const { return select(ult(a, b), a, b); }
  Value umax(Value a, Value b) const { return select(ugt(a, b), a, b); }
  Value sclamp(Value a, Value low, Value high) const { return smin(smax(a, low), high); }

  // -- comparison and selection ------------------------------------------------------------------------------------------------
  Value fcmp(LLVMRealPredicate p, Value a, Value b) const {
    assert(is_float(a) && type_of(a) == type_of(b));
    return LLVMBuildFCmp(builder, p, a, b, "");
  }
  Value icmp(LLVMIntPredicate p, Value a, Value b) const {
    assert(!is_float(a) && type_of(a) == type_of(b));
    return LLVMBuildICmp(builder, p, a, b, "");
  }
  Value flt(Value a, Value b) const { return fcmp(LLVMRealOLT, a, b); }
  Value fle(Value a, Value b) const { return fcmp(LLVMRealOLE, a, b); }
  Value fgt(Value a, Value b) const { return fcmp(LLVMRealOGT, a, b); }
  Value fge(Value a, Value b) const { return fcmp(LLVMRealOGE, a, b); }
  Value feq(Value a, Value b) const { return fcmp(LLVMRealOEQ, a, b); }
  Value fne(Value a, Value b) const { return fcmp(LLVMRealUNE, a, b); }
  Value is_nan(Value a) const { return fcmp(LLVMRealUNO, a, a); }
  Value eq(Value a, Value b) const { return icmp(LLVMIntEQ, a, b); }
  Value ne(Value a, Value b) const { return icmp(LLVMIntNE, a, b); }
  Value slt(Value a, Value b) const { return icmp(LLVMIntSLT, a, b); }
  Value sle(Value a, Value b) const { return icmp(LLVMIntSLE, a, b); }
  Value sgt(Value a, Value b) const { return icmp(LLVMIntSGT, a, b); }
  Value sge(Value a, Value b) const { return icmp(LLVMIntSGE, a, b); }
  Value ult(Value a, Value b) const { return icmp(LLVMIntULT, a, b); }
  Value ule(Value a, Value b) const { return icmp(LLVMIntULE, a, b); }
  Value ugt(Value a, Value b) const { return icmp(LLVMIntUGT, a, b); }
  Value uge(Value a, Value b) const { return icmp(LLVMIntUGE, a, b); }
  Value select(Value condition, Value a, Value b) const {
    assert(is_mask(condition) && type_of(a) == type_of(b));
    assert(lanes_of(condition) == 1 || lanes_of(condition) == lanes_of(a));
    return LLVMBuildSelect(builder, condition, a, b, "");
  }
  /// minps/maxps: the second operand where either is NaN or both are zero.
  Value fmin_second(Value a, Value b) const { return select(flt(a, b), a, b); }
  Value fmax_second(Value a, Value b) const { return select(fgt(a, b), a, b); }
  /// To [low, high] with two instructions; NaN becomes low.
  Value fclamp(Value a, Value low, Value high) const { return fmin_second(fmax_second(a, low), high); }

  // -- conversion --------------------------------------------------------------------------------------------------------------
  Value bits(Value v) const { return bitcast(v, like(v, i32)); }  // f32 -> i32, same bits
  Value as_float(Value v) const { return bitcast(v, like(v, f32)); }
  Value bitcast(Value v, Type t) const {
    assert(bits_of(v) != 0 && lanes_of(v) * bits_of(v) == lanes_of(t) * bits_of(element_of(t)));
    return LLVMBuildBitCast(builder, v, t, "");
  }
  Value sitofp(Value v) const {
    assert(is_integer(v));
    return LLVMBuildSIToFP(builder, v, like(v, f32), "");
  }
  Value uitofp(Value v) const {
    assert(is_integer(v));
    return LLVMBuildUIToFP(builder, v, like(v, f32), "");
  }
  /// The value must be in range (clamped before): poison otherwise. See math.hpp for saturating conversions.
  Value fptosi(Value v) const {
    assert(is_float(v));
    return LLVMBuildFPToSI(builder, v, like(v, i32), "");
  }
  struct Floor {
    Value whole, index;  // f32, i32
  };
  /// The value must be in range. One conversion that rounds down where the CPU has it: the index does not wait for a floor.
  Floor floor_and_index(Value v) const {
    if (wide && lanes_of(v) == 16) {
      constexpr uint32_t kDownNoExceptions = 9;
      Value index = call_intrinsic("llvm.x86.avx512.mask.cvtps2dq.512", {},
                                   {v, zero(vec(i32, 16)), LLVMConstInt(i16, 0xffff, 0), c32(kDownNoExceptions)});
      return {sitofp(index), index};
    }
    Value whole = floor(v);
    return {whole, fptosi(whole)};
  }
  Value to_double(Value v) const {
    assert(is_float(v) && bits_of(v) < 64);
    return LLVMBuildFPExt(builder, v, like(v, f64), "");
  }
  Value to_float(Value v) const {
    assert(is_float(v) && bits_of(v) > 32);
    return LLVMBuildFPTrunc(builder, v, like(v, f32), "");
  }
  Value zext(Value v, Type element) const {
    assert(is_integer(v) && bits_of(v) <= bits_of(element));
    return LLVMBuildZExt(builder, v, like(v, element), "");
  }
  Value sext(Value v, Type element) const {
    assert(is_integer(v) && bits_of(v) <= bits_of(element));
    return LLVMBuildSExt(builder, v, like(v, element), "");
  }
  Value trunc(Value v, Type element) const {
    assert(is_integer(v) && bits_of(v) >= bits_of(element));
    return LLVMBuildTrunc(builder, v, like(v, element), "");
  }
  /// ~0 / 0 as i32 from an i1 mask, and back.
  Value mask_to_int(Value m) const {
    assert(is_mask(m));
    return sext(m, i32);
  }
  Value int_to_mask(Value v) const { return ne(v, zero(type_of(v))); }

  // -- lanes -------------------------------------------------------------------------------------------------------------------
  Value splat(Value scalar) const { return splat(scalar, lanes); }
  Value splat(Value scalar, uint32_t n) const {
    assert(lanes_of(scalar) == 1);
    if (n == 1) return scalar;
    Value v = LLVMBuildInsertElement(builder, LLVMGetPoison(LLVMVectorType(type_of(scalar), n)), scalar, c32(0), "");
    return LLVMBuildShuffleVector(builder, v, LLVMGetPoison(type_of(v)), LLVMConstNull(LLVMVectorType(i32, n)), "");
  }
  Value extract(Value v, uint32_t lane) const {
    assert(lanes_of(v) == 1 || lane < lanes_of(v));  // a scalar is the same for all
    return lanes_of(v) == 1 ? v : LLVMBuildExtractElement(builder, v, c32(lane), "");
  }
  Value insert(Value v, Value scalar, uint32_t lane) const {
    assert((lanes_of(v) == 1 || lane < lanes_of(v)) && element_of(type_of(v)) == type_of(scalar));
    return lanes_of(v) == 1 ? scalar : LLVMBuildInsertElement(builder, v, scalar, c32(lane), "");
  }
  Value shuffle(Value a, Value b, const std::vector<int>& mask) const {
    assert(type_of(a) == type_of(b) && !mask.empty());
    assert(*std::max_element(mask.begin(), mask.end()) < static_cast<int>(2 * lanes_of(a)));
    std::vector<Value> elements;
    for (int m : mask) elements.push_back(m < 0 ? LLVMGetUndef(i32) : c32(static_cast<uint32_t>(m)));
    return LLVMBuildShuffleVector(builder, a, b, LLVMConstVector(elements.data(), static_cast<unsigned>(elements.size())), "");
  }
  Value shuffle(Value a, const std::vector<int>& mask) const { return shuffle(a, LLVMGetPoison(type_of(a)), mask); }
  /// The same of 32-bit lanes, a register of 16 from one or two others, with the order in memory as it is: LLVM would keep it in bytes and
  /// extend it, an instruction in the place where shuffles wait.
  Value permute_16(Value a, Value b, const std::vector<int>& mask) const {
    if (!wide || quick || lanes_of(a) != 16 || mask.size() != 16) return shuffle(a, b, mask);
    assert(bits_of(a) == 32 && type_of(a) == type_of(b));
    std::string name = "order";
    Value elements[16];
    for (size_t k = 0; k < 16; ++k) elements[k] = c32(static_cast<uint32_t>(mask[k])), name += "_" + std::to_string(mask[k]);
    Value table = LLVMGetNamedGlobal(module, name.c_str());
    if (!table) {
      table = LLVMAddGlobal(module, vec(i32, 16), name.c_str());
      LLVMSetInitializer(table, LLVMConstVector(elements, 16));
      LLVMSetLinkage(table, LLVMInternalLinkage);
      LLVMSetGlobalConstant(table, 1);
      LLVMSetExternallyInitialized(table, 1);  // so that nobody looks into it
      LLVMSetAlignment(table, 64);
    }
    Value order = load(vec(i32, 16), table, 64);
    if (a == b) return call_intrinsic("llvm.x86.avx512.permvar.si.512", {}, {a, order});
    return call_intrinsic("llvm.x86.avx512.vpermi2var.d.512", {}, {a, order, b});
  }
  /// A bit for each lane of an i1 mask, as i32.
  Value movemask(Value mask) const {
    const uint32_t n = lanes_of(mask);
    assert(is_mask(mask) && n <= 32);
    if (n == 1) return LLVMBuildZExt(builder, mask, i32, "");
    Value packed = mask_bits(mask);
    return n == 32 ? packed : LLVMBuildZExt(builder, packed, i32, "");
  }
  /// An integer of as many bits as there are lanes.
  Value mask_bits(Value mask) const {
    assert(is_mask(mask));
    return LLVMBuildBitCast(builder, mask, LLVMIntTypeInContext(context, lanes_of(mask)), "");
  }
  /// The i1 mask of `n` lanes from the low bits of a scalar i32.
  Value mask_from_bits(Value word, uint32_t n) const {
    assert(type_of(word) == i32 && n <= 32);
    if (n == 1) return LLVMBuildTrunc(builder, word, i1, "");
    if (kX86 && (n == 8 || n == 16))  // a mask register, where the CPU has them
      return LLVMBuildBitCast(builder, LLVMBuildTrunc(builder, word, n == 8 ? i8 : i16, ""), LLVMVectorType(i1, n), "");
    Value elements[64];
    for (uint32_t k = 0; k < n; ++k) elements[k] = c32(1u << k);
    return ne(and_(splat(word, n), LLVMConstVector(elements, n)), LLVMConstNull(LLVMVectorType(i32, n)));
  }
  Value any(Value mask) const { return lanes_of(mask) > 32 ? ne(mask_bits(mask), c64(0)) : ne(movemask(mask), c32(0)); }
  Value all(Value mask) const {
    const uint32_t n = lanes_of(mask);
    if (n > 32) return eq(mask_bits(mask), c64(~uint64_t{0}));
    return eq(movemask(mask), c32(n >= 32 ? ~0u : (1u << n) - 1u));
  }

  // -- memory ------------------------------------------------------------------------------------------------------------------
  Value offset(Value pointer, Value bytes) const {
    assert(is_pointer(pointer) && element_of(type_of(bytes)) == i64);  // narrower offsets would be taken as signed
    return LLVMBuildGEP2(builder, i8, pointer, &bytes, 1, "");
  }
  Value offset(Value pointer, uint64_t bytes) const { return bytes ? offset(pointer, c64(bytes)) : pointer; }
  Value load(Type type, Value pointer, uint32_t align_B) const {
    assert(type_of(pointer) == ptr && is_alignment(align_B));
    Value v = LLVMBuildLoad2(builder, type, pointer, "");
    LLVMSetAlignment(v, align_B);
    return v;
  }
  void store(Value v, Value pointer, uint32_t align_B) const {
    assert(type_of(pointer) == ptr && is_alignment(align_B));
    LLVMSetAlignment(LLVMBuildStore(builder, v, pointer), align_B);
  }
  /// The field of a plain struct at offsetof.
  Value field(Type type, Value pointer, size_t offset_B, uint32_t align_B = 4) const {
    return load(type, offset(pointer, offset_B), align_B);
  }
  /// The same of what nobody writes while the function runs: loaded once, whatever is stored between.
  Value constant_field(Type type, Value pointer, size_t offset_B, uint32_t align_B) const {
    Value v = field(type, pointer, offset_B, align_B);
    static constexpr std::string_view kName = "invariant.load";
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(context, kName.data(), kName.size()),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, nullptr, 0)));
    return v;
  }
  /// The lanes of an i32 vector (taken as unsigned, or as signed) or an i64 one as i64 scalars. Two i32 lanes leave the vector at a time.
  std::vector<Value> lanes_as_i64(Value offsets, bool is_signed = false) const {
    const uint32_t n = lanes_of(offsets);
    assert(is_integer(offsets) && (bits_of(offsets) == 32 || bits_of(offsets) == 64));
    std::vector<Value> scalars;
    if (element_of(type_of(offsets)) == i64 || n == 1) {
      for (uint32_t k = 0; k < n; ++k) {
        Value lane = extract(offsets, k);
        scalars.push_back(type_of(lane) == i64 ? lane : is_signed ? sext(lane, i64) : zext(lane, i64));
      }
      return scalars;
    }
    Value pairs = LLVMBuildBitCast(builder, offsets, vec(i64, n / 2), "");
    for (uint32_t k = 0; k < n / 2; ++k) {
      Value both = extract(pairs, k);
      scalars.push_back(is_signed ? sext(trunc(both, i32), i64) : and_(both, c64(0xffffffffu)));
      scalars.push_back(is_signed ? ashr(both, 32) : lshr(both, 32));
    }
    return scalars;
  }
  /// Addresses at pointer + unit_B * offsets[lane]; unit_B is 1 (i32 taken as unsigned, or i64) or 4 (i32, signed).
  std::vector<Value> lane_addresses(Value pointer, Value offsets, uint32_t unit_B) const {
    assert(unit_B == 1 || (unit_B == 4 && bits_of(offsets) == 32));
    std::vector<Value> at = lanes_as_i64(offsets, unit_B == 4);
    for (Value& a : at) a = LLVMBuildGEP2(builder, unit_B == 4 ? i32 : i8, pointer, &a, 1, "");
    return at;
  }
  /// A gather of as many elements as there are offsets, every lane of it.
  Value gather(Type element, Value pointer, Value offsets, uint32_t align_B) const {
    const uint32_t n = lanes_of(offsets);
    assert(type_of(pointer) == ptr && n > 1 && is_alignment(align_B));
    Value at = element_of(type_of(offsets)) == i64 ? offsets : zext(offsets, i64);
    Value pointers = LLVMBuildGEP2(builder, i8, pointer, &at, 1, "");
    Type result = vec(element, n);
    return call_intrinsic("llvm.masked.gather", {result, vec(ptr, n)},
                          {pointers, c32(align_B), splat_constant(c1(true), n), LLVMGetPoison(result)});
  }
  bool gathers_lanes(Type element, Value offsets) const {
    return gathers && lanes_of(offsets) >= 8 && (element == i32 || element == f32 || element == i64);
  }
  /// One load for each lane, at pointer + offsets[lane] (i32 taken as unsigned, or i64). The caller clamps.
  Value load_lanes(Type element, Value pointer, Value offsets, uint32_t align_B) const {
    if (gathers_lanes(element, offsets)) return gather(element, pointer, offsets, align_B);
    const std::vector<Value> at = lanes_as_i64(offsets);
    Value result = LLVMGetPoison(vec(element, lanes_of(offsets)));
    for (uint32_t k = 0; k < at.size(); ++k) result = insert(result, load(element, offset(pointer, at[k]), align_B), k);
    return result;
  }
  /// One 32-bit word for each lane, at pointer + 4 * index[lane] (i32, signed).
  Value load_lane_words(Value pointer, Value index) const {
    assert(type_of(pointer) == ptr && element_of(type_of(index)) == i32);
    if (gathers && lanes_of(index) == 16) {
      return call_intrinsic("llvm.x86.avx512.mask.gather.dpi.512", {},
                            {zero(vec(i32, 16)), pointer, index, splat_constant(c1(true), 16), c32(4)});
    }
    if (gathers_lanes(i32, index)) return gather(i32, pointer, shl(sext(index, i64), 2), 4);
    Value result = LLVMGetPoison(vec(i32, lanes_of(index)));
    uint32_t k = 0;
    for (Value address : lane_addresses(pointer, index, 4)) result = insert(result, load(i32, address, 4), k++);
    return result;
  }
  /// table[index[lane]] of 16 words in memory; index 0..15, 16 lanes, AVX-512.
  Value look_up_16(Value pointer, Value index) const {
    assert(wide && type_of(index) == vec(i32, 16));
    return call_intrinsic("llvm.x86.avx512.permvar.si.512", {}, {load(vec(i32, 16), pointer, 64), index});
  }
  /// One store for each lane of `mask`, at pointer + offsets[lane] (i64), in the order of the lanes.
  void scatter(Value v, Value pointer, Value offsets, uint32_t align_B, Value mask) const {
    const uint32_t n = lanes_of(v);
    assert(type_of(pointer) == ptr && n > 1 && is_alignment(align_B) && is_mask(mask) && element_of(type_of(offsets)) == i64);
    Value pointers = LLVMBuildGEP2(builder, i8, pointer, &offsets, 1, "");
    call_intrinsic("llvm.masked.scatter", {type_of(v), vec(ptr, n)}, {v, pointers, c32(align_B), mask});
  }
  /// Two neighbouring 32-bit words for each lane, by one 64-bit load. Offsets in units of 1 byte, or of 4 (i32, signed).
  std::pair<Value, Value> load_lane_pairs(Value pointer, Value offsets, uint32_t unit_B = 1) const {
    if (gathers_lanes(i64, offsets)) return gather_lane_pairs(pointer, offsets, unit_B);
    const std::vector<Value> at = lane_addresses(pointer, offsets, unit_B);
    const auto n = static_cast<uint32_t>(at.size());
    const uint32_t chunk = n < 8 ? n : 8;
    assert(n == 4 || n == 8 || n == 16);
    std::vector<Value> low, high;
    for (uint32_t first = 0; first < n; first += chunk) {
      // Lanes 0, 1, 4, 5 and 2, 3, 6, 7: one shuffle within 128-bit halves then puts each word in order.
      std::vector<int> order = chunk == 8 ? std::vector<int>{0, 1, 4, 5, 2, 3, 6, 7} : std::vector<int>{0, 1, 2, 3};
      const uint32_t half = chunk / 2;
      Value part[2];
      for (uint32_t p = 0; p < 2; ++p) {
        part[p] = LLVMGetPoison(LLVMVectorType(i64, half));
        for (uint32_t k = 0; k < half; ++k) {
          part[p] = insert(part[p], load(i64, at[first + static_cast<uint32_t>(order[p * half + k])], 4), k);
        }
        part[p] = LLVMBuildBitCast(builder, part[p], LLVMVectorType(i32, chunk), "");
      }
      for (int word = 0; word < 2; ++word) {
        std::vector<int> mask(chunk);
        for (uint32_t k = 0; k < chunk; ++k) mask[static_cast<size_t>(order[k])] = static_cast<int>(2 * k) + word;
        (word ? high : low).push_back(shuffle(part[0], part[1], mask));
      }
    }
    auto join = [&](const std::vector<Value>& parts) {
      if (parts.size() == 1) return parts[0];
      std::vector<int> all(n);
      for (uint32_t k = 0; k < n; ++k) all[k] = static_cast<int>(k);
      return shuffle(parts[0], parts[1], all);
    };
    return {join(low), join(high)};
  }

  std::pair<Value, Value> gather_lane_pairs(Value pointer, Value offsets, uint32_t unit_B) const {
    const uint32_t n = lanes_of(offsets);
    assert(n == 8 || n == 16);
    std::vector<Value> parts;
    for (uint32_t first = 0; first < n; first += 8) {
      std::vector<int> eight(8);
      for (uint32_t k = 0; k < 8; ++k) eight[k] = static_cast<int>(first + k);
      Value part = n == 8 ? offsets : shuffle(offsets, offsets, eight), words = nullptr;
      if (unit_B == 4) {
        // LLVM would extend the indices to 64 bits first.
        words = call_intrinsic("llvm.x86.avx512.mask.gather.dpq.512", {},
                               {zero(vec(i64, 8)), pointer, part, splat_constant(c1(true), 8), c32(4)});
      } else {
        words = gather(i64, pointer, part, 4);
      }
      parts.push_back(LLVMBuildBitCast(builder, words, LLVMVectorType(i32, 16), ""));
    }
    std::vector<int> low(n), high(n);
    for (uint32_t k = 0; k < n; ++k) low[k] = static_cast<int>(2 * k), high[k] = static_cast<int>(2 * k + 1);
    return {shuffle(parts.front(), parts.back(), low), shuffle(parts.front(), parts.back(), high)};
  }

  // -- functions, blocks, calls ------------------------------------------------------------------------------------------------
  Value function(const char* name, Type type) const { return LLVMAddFunction(module, name, type); }
  Value current_function() const { return LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)); }
  Block current_block() const { return LLVMGetInsertBlock(builder); }
  Block block(Value fn, const char* name) const { return LLVMAppendBasicBlockInContext(context, fn, name); }
  Block block(const char* name) const { return block(current_function(), name); }
  void at(Block b) const {
    assert(b);
    LLVMPositionBuilderAtEnd(builder, b);
  }
  void br(Block to) const {
    assert(to && !LLVMGetBasicBlockTerminator(current_block()));
    LLVMBuildBr(builder, to);
  }
  void br(Value condition, Block yes, Block no) const {
    assert(type_of(condition) == i1 && yes && no && !LLVMGetBasicBlockTerminator(current_block()));
    LLVMBuildCondBr(builder, condition, yes, no);
  }
  Value phi(Type type, std::initializer_list<std::pair<Value, Block>> incoming) const {
    Value p = LLVMBuildPhi(builder, type, "");
    for (auto [value, from] : incoming) {
      assert(type_of(value) == type);
      LLVMAddIncoming(p, &value, &from, 1);
    }
    return p;
  }
  /// if (condition) body(); the builder is left after it.
  template <class Body>
  void if_then(Value condition, Body&& body) const {
    Block yes = block("then"), after = block("after");
    br(condition, yes, after);
    at(yes);
    body();
    br(after);
    at(after);
  }
  /// condition ? yes() : no(), with control flow; both give `count` values of equal types.
  template <class Yes, class No>
  std::vector<Value> if_else(Value condition, Yes&& yes, No&& no) const {
    Block then_block = block("then"), else_block = block("else"), after = block("after");
    br(condition, then_block, else_block);
    at(then_block);
    const std::vector<Value> a = yes();
    Block then_end = current_block();
    br(after);
    at(else_block);
    const std::vector<Value> b = no();
    Block else_end = current_block();
    br(after);
    at(after);
    std::vector<Value> result;
    assert(a.size() == b.size());
    for (size_t k = 0; k < a.size(); ++k) result.push_back(phi(type_of(a[k]), {{a[k], then_end}, {b[k], else_end}}));
    return result;
  }
  Value call_intrinsic(const char* name, std::initializer_list<Type> overloads, std::initializer_list<Value> arguments) const {
    const unsigned id = LLVMLookupIntrinsicID(name, std::strlen(name));
    assert(id != 0);
    Type types[4];
    Value values[8];
    assert(overloads.size() <= 4 && arguments.size() <= 8);
    size_t type_count = 0, value_count = 0;
    for (Type t : overloads) types[type_count++] = t;
    for (Value v : arguments) values[value_count++] = v;
    Value fn = LLVMGetIntrinsicDeclaration(module, id, types, type_count);
    return LLVMBuildCall2(builder, LLVMIntrinsicGetType(context, id, types, type_count), fn, values, static_cast<unsigned>(value_count),
                          "");
  }
  Value unary(const char* name, Value a) const { return call_intrinsic(name, {type_of(a)}, {a}); }
  Value extract_value(Value aggregate, uint32_t k) const {
    assert(LLVMGetTypeKind(type_of(aggregate)) == LLVMStructTypeKind && k < LLVMCountStructElementTypes(type_of(aggregate)));
    return LLVMBuildExtractValue(builder, aggregate, k, "");
  }
  Value insert_value(Value aggregate, Value v, uint32_t k) const {
    assert(LLVMGetTypeKind(type_of(aggregate)) == LLVMStructTypeKind && k < LLVMCountStructElementTypes(type_of(aggregate)));
    assert(LLVMStructGetTypeAtIndex(type_of(aggregate), k) == type_of(v));
    return LLVMBuildInsertValue(builder, aggregate, v, k, "");
  }
  void add_attribute(Value fn, const char* name) const {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, std::strlen(name));
    assert(kind != 0);
    LLVMAddAttributeAtIndex(fn, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex), LLVMCreateEnumAttribute(context, kind, 0));
  }
  /// A call that only reads memory and comes back.
  void mark_removable(Value call) const {
    constexpr uint64_t kReads = 0x15;  // llvm::MemoryEffects: Ref in each of its locations of two bits
    const auto add = [&](const char* name, uint64_t value) {
      const unsigned kind = LLVMGetEnumAttributeKindForName(name, std::strlen(name));
      assert(kind != 0);
      LLVMAddCallSiteAttribute(call, static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex),
                               LLVMCreateEnumAttribute(context, kind, value));
    };
    add("memory", kReads);
    add("willreturn", 0);
    add("nounwind", 0);
  }
  /// noalias, readonly, ... on parameter `index`.
  void add_parameter_attribute(Value fn, uint32_t index, const char* name) const {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, std::strlen(name));
    assert(kind != 0);
    LLVMAddAttributeAtIndex(fn, index + 1, LLVMCreateEnumAttribute(context, kind, 0));
  }

 private:
  using Build = LLVMValueRef(LLVMBuilderRef builder, LLVMValueRef a, LLVMValueRef b, const char* name);
  Value of_floats(Build* build, Value a, Value b) const {
    assert(is_float(a) && type_of(a) == type_of(b));
    return build(builder, a, b, "");
  }
  Value of_integers(Build* build, Value a, Value b) const {
    assert(is_integer(a) && type_of(a) == type_of(b));
    return build(builder, a, b, "");
  }
  Value of_float(const char* name, Value a) const {
    assert(is_float(a));
    return unary(name, a);
  }
  /// The constant amount of a shift; by the whole width and more is poison.
  static Value shift(Value shape, uint32_t n) {
    assert(n < bits_of(shape));
    return same(shape, n);
  }
  Value bits_to_float(float x) const {
    // By bits, so that NaN payloads and signed zeros survive the way through a double.
    uint32_t pattern;
    std::memcpy(&pattern, &x, 4);
    return LLVMConstBitCast(c32(pattern), f32);
  }
};

}  // namespace tilegpu::shader
