// shader/lower/vertex.cpp -- the vertex entry point: void f(VertexArgs*) shades up to kBatchStride vertices, N at a time. The same of
// tessellation evaluation shaders, whose vertices are points of one patch.
//
// In: VertexKey. Out: machine code. Attributes are fetched in their Vulkan format; reads beyond the bound range give zero. A sliced
// shader (position_only) stores gl_Position, clip and cull distances; LLVM removes the rest. Both come from the same expressions in the
// same order, and LLVM fuses or reorders none of them, so what the slice stores has the bits of the whole shader's.
// Source: Vulkan specification, "Fixed-Function Vertex Processing", "Vertex Input Extraction"; abi.hpp.
#include <algorithm>
#include <cassert>
#include <functional>

#include "shader/ir/format_pack.hpp"
#include "shader/ir/math.hpp"
#include "shader/lower/entry.hpp"
#include "shader/lower/quick_inputs.hpp"
#include "vk/format.hpp"

namespace tilegpu::shader {
namespace {

struct VertexBuilder {
  Lowering& l;
  const VertexKey& key;
  Value first = nullptr;  // slot of lane 0, i32
  Value index = nullptr;  // gl_VertexIndex of the lanes
  Value index_address = nullptr;

  const VkVertexInputAttributeDescription* attribute(uint32_t location) const {
    auto found = std::find_if(key.attributes.begin(), key.attributes.end(), [&](const auto& a) { return a.location == location; });
    return found == key.attributes.end() ? nullptr : &*found;
  }
  const VertexInputBinding* binding(uint32_t number) const {
    auto found = std::find_if(key.bindings.begin(), key.bindings.end(), [&](const auto& b) { return b.binding == number; });
    return found == key.bindings.end() ? nullptr : &*found;
  }
  Value instance_element(uint32_t divisor) const;
  std::vector<Value> absent(const vk::FormatInfo& format, uint32_t component) const;
  std::vector<Value> long_words(const vk::FormatInfo& format, const std::vector<Value>& rows,
                                const std::function<Value(uint32_t, uint32_t)>& load_bits) const;
  std::vector<Value> load_rows(const std::vector<Value>& address, int64_t from_B);
  std::vector<Value> fetch(const VkVertexInputAttributeDescription& a);
  std::vector<Value> fetch_by_call(const VkVertexInputAttributeDescription& a, const vk::FormatInfo& format, Value binding,
                                   uint32_t stride_B);
  Value convert(const vk::FormatInfo& format, const vk::Component& c, Value word);
  Value builtin(const InterfaceScalar& s);
  void make_inputs();
  void write_outputs();
};

/// A component's bits to a float, or to an integer for integer formats.
Value VertexBuilder::convert(const vk::FormatInfo& format, const vk::Component& c, Value word) {
  const Ir& ir = l.ir;
  assert(c.bits >= 1 && c.bits + c.shift % 32 <= 32 && Ir::element_of(Ir::type_of(word)) == ir.i32);
  const uint32_t shift = c.shift % 32;
  const auto is_signed =
      format.numeric == vk::Numeric::sint || format.numeric == vk::Numeric::snorm || format.numeric == vk::Numeric::sscaled;
  Value x = word;
  if (c.bits < 32) {
    x = ir.shl(x, 32 - c.bits - shift);
    x = is_signed ? ir.ashr(x, 32 - c.bits) : ir.lshr(x, 32 - c.bits);
  }
  switch (format.numeric) {
    case vk::Numeric::unorm:
      return ir.fdiv(ir.sitofp(x), ir.fk(x, static_cast<float>((1ull << c.bits) - 1)));
    case vk::Numeric::snorm: {
      Value f = ir.fdiv(ir.sitofp(x), ir.fk(x, static_cast<float>((1ull << (c.bits - 1)) - 1)));
      return ir.fmax_second(f, ir.fk(f, -1.0f));
    }
    case vk::Numeric::uscaled:
    case vk::Numeric::sscaled:
      return ir.sitofp(x);
    case vk::Numeric::sfloat:
      return c.bits == 16 ? emit_half_to_float(ir, x) : ir.as_float(x);
    case vk::Numeric::ufloat:
      return emit_unpack_component(ir, format.numeric, x, c.bits, false);
    case vk::Numeric::uint:
    case vk::Numeric::sint:
      return x;
    case vk::Numeric::none:
    case vk::Numeric::srgb:
      break;  // no vertex format
  }
  assert(!"a format that attributes can't have");
  return x;
}

/// 16 bytes at each lane's address, as four vectors of words.
std::vector<Value> VertexBuilder::load_rows(const std::vector<Value>& address, int64_t from_B) {
  const Ir& ir = l.ir;
  assert(address.size() == ir.lanes && ir.lanes >= 4);
  const auto n = static_cast<int>(ir.lanes);
  Value a[4];  // lanes k, k + 4, k + 8, ...
  for (uint32_t k = 0; k < 4; ++k) {
    std::vector<Value> parts;
    for (uint32_t lane = k; lane < ir.lanes; lane += 4)
      parts.push_back(ir.load(Ir::vec(ir.i32, 4), ir.offset(address[lane], static_cast<uint64_t>(from_B)), 1));
    while (parts.size() > 1) {
      std::vector<Value> joined;
      for (size_t p = 0; p < parts.size(); p += 2) {
        std::vector<int> mask;
        for (int m = 0; m < static_cast<int>(2 * Ir::lanes_of(parts[p])); ++m) mask.push_back(m);
        joined.push_back(ir.shuffle(parts[p], parts[p + 1], mask));
      }
      parts = joined;
    }
    a[k] = parts[0];
  }
  const auto interleave = [&](Value x, Value y, int first, int step) {  // step 1: words (x0 y0 x1 y1); 2: pairs
    std::vector<int> mask;
    for (int g = 0; g < n; g += 4) {
      if (step == 1)
        mask.insert(mask.end(), {g + first, n + g + first, g + first + 1, n + g + first + 1});
      else
        mask.insert(mask.end(), {g + first, g + first + 1, n + g + first, n + g + first + 1});
    }
    return ir.shuffle(x, y, mask);
  };
  Value t0 = interleave(a[0], a[1], 0, 1), t1 = interleave(a[0], a[1], 2, 1), t2 = interleave(a[2], a[3], 0, 1),
        t3 = interleave(a[2], a[3], 2, 1);
  return {interleave(t0, t2, 0, 2), interleave(t0, t2, 2, 2), interleave(t1, t3, 0, 2), interleave(t1, t3, 2, 2)};
}

/// The same by a call into the core, for quick code.
std::vector<Value> VertexBuilder::fetch_by_call(const VkVertexInputAttributeDescription& a, const vk::FormatInfo& format, Value binding,
                                                uint32_t stride_B) {
  const Ir& ir = l.ir;
  const uint32_t row_B = 4 * ir.lanes;
  const bool longs = format.rgba[0].bits == 64;
  Value rows = l.alloca_of(LLVMArrayType2(ir.vi32, longs ? 8 : 4), "attribute", row_B);
  const std::vector<uint32_t> words{ir.lanes, stride_B, a.offset, static_cast<uint32_t>(a.format)};
  call_core(ir, kQuickAttribute, {binding, index_address, constant_words(ir, words), rows});
  std::vector<Value> result;
  for (uint32_t k = 0; k < 4; ++k) {
    if (format.rgba[k].bits == 0)
      for (Value x : absent(format, k)) result.push_back(x);
    else if (longs)
      for (uint32_t word = 2 * k; word < 2 * k + 2; ++word) result.push_back(ir.field(ir.vi32, rows, size_t{row_B} * word, row_B));
    else
      result.push_back(ir.field(format.is_integer() ? ir.vi32 : ir.vf32, rows, size_t{row_B} * k, row_B));
  }
  return result;
}

/// The first instance's is the first; then each has `divisor` instances. Source: "Vertex Attribute Divisor in Instanced Rendering".
Value VertexBuilder::instance_element(uint32_t divisor) const {
  const Ir& ir = l.ir;
  Value instance = ir.field(ir.i32, l.args, offsetof(VertexArgs, instance_index));
  if (divisor == 1) return instance;
  Value first = ir.field(ir.i32, l.args, offsetof(VertexArgs, first_instance));
  return divisor == 0 ? first : ir.add(first, LLVMBuildUDiv(ir.builder, ir.sub(instance, first), ir.c32(divisor), ""));
}

/// What a component that the format has not reads as: 0, 0, 0, 1; of 64 bits as two words each, the lower first.
std::vector<Value> VertexBuilder::absent(const vk::FormatInfo& format, uint32_t component) const {
  const Ir& ir = l.ir;
  const bool one = component == 3, integer = format.is_integer();
  if (format.rgba[0].bits == 64) return {ir.c32(one && integer ? 1 : 0), ir.c32(one && !integer ? 0x3ff00000 : 0)};
  const uint32_t bits = one ? (integer ? 1 : 0x3f800000) : 0;
  return {integer ? ir.c32(bits) : LLVMConstBitCast(ir.c32(bits), ir.f32)};
}

/// The eight words of four components of 64 bits: of `rows`, loaded one by one (offset in the element, bytes), or absent.
std::vector<Value> VertexBuilder::long_words(const vk::FormatInfo& format, const std::vector<Value>& rows,
                                             const std::function<Value(uint32_t, uint32_t)>& load_bits) const {
  assert(format.rgba[0].bits == 64 && format.texel_B + 16 <= 64);  // where no element is, a page of zeros is read
  std::vector<Value> words = rows;
  for (auto word = static_cast<uint32_t>(words.size()); word < 8; ++word)
    words.push_back(format.rgba[word / 2].bits ? load_bits(4 * word, 4) : absent(format, word / 2)[word % 2]);
  return words;
}

/// Four components as the format gives them: floats, or integers in i32; those of 64 bits as two words. Absent ones are 0, 0, 0, 1.
std::vector<Value> VertexBuilder::fetch(const VkVertexInputAttributeDescription& a) {
  const Ir& ir = l.ir;
  const vk::FormatInfo* format = vk::find_format(a.format);
  const VertexInputBinding* b = binding(a.binding);
  if (!format || !b || format->texel_B == 0) {
    l.fail("vertex attribute " + std::to_string(a.location) + " has a format or a binding that is not known");
    return {8, ir.cf(0)};
  }
  Value source = ir.field(ir.ptr, l.args, offsetof(VertexArgs, bindings), 8);
  source = ir.offset(source, a.binding * sizeof(VertexBinding));
  const bool by_instance = b->inputRate == VK_VERTEX_INPUT_RATE_INSTANCE;
  if (ir.quick && !l.slice && !by_instance) return fetch_by_call(a, *format, source, b->stride);
  Value data = ir.field(ir.ptr, source, offsetof(VertexBinding, data), 8),
        size_B = ir.field(ir.i64, source, offsetof(VertexBinding, size_B), 8);
  Value element = by_instance ? instance_element(b->divisor) : index;
  // The last element that lies inside, so that one comparison of indices bounds every address.
  const uint64_t end_B = static_cast<uint64_t>(a.offset) + format->texel_B;
  Value any = ir.uge(size_B, ir.c64(end_B));
  Value last = ir.c32(~0u);
  if (b->stride) {
    Value room = LLVMBuildUDiv(ir.builder, ir.sub(size_B, ir.c64(end_B)), ir.c64(b->stride), "");
    last = ir.trunc(ir.umin(room, ir.c64(0xffffffffu)), ir.i32);
  }
  // Where not even one element fits, element 0 is read from a page of zeros.
  last = ir.select(any, last, ir.c32(0));
  Value base = ir.select(any, ir.offset(data, a.offset), ir.offset(l.zero_page(64), uint64_t{16}));
  Value inside = ir.ule(element, Lowering::is_varying(element) ? ir.splat(last) : last);
  Value safe = ir.select(inside, element, Ir::same(element, 0));

  std::vector<Value> address;  // one, or one for each lane
  const uint32_t lanes = Ir::lanes_of(safe);
  for (uint32_t lane = 0; lane < lanes; ++lane)
    address.push_back(ir.offset(base, ir.mul(ir.zext(ir.extract(safe, lane), ir.i64), ir.c64(b->stride))));
  // Words of the element: each is loaded once, in its natural width.
  const auto load_bits = [&](uint32_t at_B, uint32_t bytes) {
    const Type type = bytes == 4 ? ir.i32 : bytes == 2 ? ir.i16 : ir.i8;
    assert((bytes == 1 || bytes == 2 || bytes == 4) && at_B + bytes <= format->texel_B);
    Value v = LLVMGetPoison(Ir::vec(type, lanes));
    for (uint32_t lane = 0; lane < lanes; ++lane) v = ir.insert(v, ir.load(type, ir.offset(address[lane], at_B), 1), lane);
    if (bytes < 4) v = ir.zext(v, ir.i32);
    return ir.select(inside, v, Ir::zero(Ir::type_of(v)));
  };
  // Three and four whole words of varying elements: 16 bytes of each lane, transposed. The word before the element makes up for
  // the fourth one of three (which may be outside); at offset 0 there is none, and lanes near the end are read word by word.
  std::vector<Value> rows;
  const bool words = lanes >= 4 && format->component_count >= 3 && format->texel_B == 4u * format->component_count;
  if (words && (format->component_count == 4 || a.offset >= 4)) {
    rows = load_rows(address, format->component_count == 4 ? 0 : -4);
    if (format->component_count == 3) rows.erase(rows.begin());
  } else if (words) {
    const uint64_t wide_B = 16 + a.offset;
    Value room = ir.uge(size_B, ir.c64(wide_B));
    Value last_wide = b->stride ? LLVMBuildUDiv(ir.builder, ir.sub(size_B, ir.c64(wide_B)), ir.c64(b->stride), "") : ir.c64(0xffffffffu);
    last_wide = ir.trunc(ir.umin(last_wide, ir.c64(0xffffffffu)), ir.i32);
    Value wide = ir.and_(room, ir.all(ir.ule(safe, ir.splat(last_wide))));
    rows = ir.if_else(
        wide,
        [&] {
          std::vector<Value> r = load_rows(address, 0);
          r.resize(3);
          return r;
        },
        [&] {
          std::vector<Value> r;
          for (uint32_t k = 0; k < 3; ++k) {
            Value v = LLVMGetPoison(ir.vi32);
            for (uint32_t lane = 0; lane < lanes; ++lane)
              v = ir.insert(v, ir.load(ir.i32, ir.offset(address[lane], uint64_t{4} * k), 1), lane);
            r.push_back(v);
          }
          return r;
        });
  }
  const bool longs = format->rgba[0].bits == 64;
  for (uint32_t at_B = 0; longs && at_B + 16 <= format->texel_B && lanes >= 4; at_B += 16)
    for (Value row : load_rows(address, at_B)) rows.push_back(row);
  for (Value& row : rows) row = ir.select(inside, row, Ir::zero(Ir::type_of(row)));
  if (longs) return long_words(*format, rows, load_bits);
  std::vector<Value> result;
  for (uint32_t k = 0; k < 4; ++k) {
    const vk::Component& c = format->rgba[k];
    if (c.bits == 32 && !rows.empty()) {
      result.push_back(format->numeric == vk::Numeric::sfloat ? ir.as_float(rows[c.shift / 32]) : rows[c.shift / 32]);
      continue;
    }
    if (c.bits == 0) {
      result.push_back(absent(*format, k)[0]);
      continue;
    }
    // Byte-sized components are loaded alone; packed ones with their word.
    const bool packed = c.bits % 8 != 0 || c.bits == 24;
    const uint32_t bytes = packed ? std::min<uint32_t>(4, format->texel_B) : c.bits / 8;
    const uint32_t at_B = packed ? (bytes == 4 ? c.shift / 32 * 4 : 0) : c.shift / 8;
    vk::Component part = c;
    part.shift = static_cast<uint8_t>(c.shift - at_B * 8);
    result.push_back(convert(*format, part, load_bits(at_B, bytes)));
  }
  return result;
}

Value VertexBuilder::builtin(const InterfaceScalar& s) {
  const Ir& ir = l.ir;
  switch (static_cast<spv::BuiltIn>(s.builtin)) {
    case spv::BuiltInTessCoord:
      return ir.load(
          ir.vf32,
          ir.offset(ir.offset(ir.field(ir.ptr, l.args, offsetof(VertexArgs, tess_coord), 8), uint64_t{s.element} * kBatchStride * 4),
                    ir.shl(ir.zext(first, ir.i64), 2)),
          4);
    case spv::BuiltInPrimitiveId:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, primitive_id));
    case spv::BuiltInPatchVertices:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, patch_vertices));
    case spv::BuiltInVertexIndex:
      return index;
    case spv::BuiltInInstanceIndex:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, instance_index));
    case spv::BuiltInBaseVertex:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, base_vertex));
    case spv::BuiltInBaseInstance:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, first_instance));
    case spv::BuiltInDrawIndex:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, draw_index));
    case spv::BuiltInViewIndex:
      return ir.field(ir.i32, l.args, offsetof(VertexArgs, view_index));
    default:
      if (Value of_subgroup = subgroup_builtin(ir, s, true)) return of_subgroup;
      break;
  }
  l.unsupported("the built-in input " + builtin_name(s.builtin) + " is not supported in vertex shaders");
  return ir.c32(0);
}

void VertexBuilder::make_inputs() {
  const Ir& ir = l.ir;
  std::map<uint32_t, std::vector<Value>> fetched;
  if (key.is_evaluation()) place_inputs(l, ir.field(ir.ptr, l.args, offsetof(VertexArgs, inputs), 8), false);
  for (uint32_t id : used_variables(l.m, spv::StorageClassInput)) {
    if (l.globals.count(id)) continue;
    const auto scalars = interface_of(l.m, l.constants, id);
    std::vector<Value> values;
    for (const InterfaceScalar& s : scalars) {
      if (s.builtin != kNone) {
        values.push_back(builtin(s));
        continue;
      }
      // A vector of 64 bits may go on in the next location, and its attribute is that of the first.
      const uint32_t location = s.location - (s.went_on ? 1 : 0), component = s.component + (s.went_on ? 4 : 0);
      const VkVertexInputAttributeDescription* a = attribute(location);
      Value x = Ir::zero(l.scalar_type(s.base));
      if (a && component < 8) {
        if (!fetched.count(location)) fetched[location] = fetch(*a);
        const std::vector<Value>& words = fetched[location];
        // A shader that declares another numeric type than the format's gets the bits.
        x = component < words.size() ? words[component] : x;
        x = s.base == Base::f32 ? ir.as_float(x) : ir.bits(x);
      }
      values.push_back(x);
    }
    set_input(l, id, from_words(l, l.m.pointee(id), values));
  }
}

void VertexBuilder::write_outputs() {
  const Ir& ir = l.ir;
  Value slot = ir.shl(ir.zext(first, ir.i64), 2);
  const auto put = [&](size_t pointer_B, uint32_t row, Value x) {
    assert(pointer_B != offsetof(VertexArgs, varyings) || row < key.varyings.components.size());
    Value plane = ir.offset(ir.field(ir.ptr, l.args, pointer_B, 8), static_cast<uint64_t>(row) * kBatchStride * 4);
    x = l.vary(x);
    ir.store(Ir::element_of(Ir::type_of(x)) == ir.i32 ? ir.as_float(x) : x, ir.offset(plane, slot), 4);
  };
  std::vector<bool> written(key.varyings.components.size(), false);
  bool position = false;
  uint32_t clip_count = 0, cull_count = 0;
  struct Distance {
    Value v;
    uint32_t element;
    bool cull;
  };
  std::vector<Distance> distances;
  for (uint32_t id : used_variables(l.m, spv::StorageClassOutput)) {
    const auto scalars = interface_of(l.m, l.constants, id);
    const auto used = used_scalars(l.m, l.constants, id);
    const Val v{0, words_of(l, l.load_variable(*l.globals.at(id), l.m.pointee(id), 0, nullptr))};
    bool clips = false, culls = false;
    for (size_t k = 0; k < scalars.size() && k < used.size(); ++k) {
      clips = clips || (used[k] && scalars[k].builtin == spv::BuiltInClipDistance);
      culls = culls || (used[k] && scalars[k].builtin == spv::BuiltInCullDistance);
    }
    for (size_t k = 0; k < scalars.size() && k < used.size() && k < v.c.size(); ++k) {
      const InterfaceScalar& s = scalars[k];
      if (const uint32_t location = builtin_location(s.builtin); location != kNone && used[k] && !key.position_only) {
        // The next stage may read it too, or transform feedback capture it.
        const int row = key.varyings.find(location, s.element);
        if (row >= 0) {
          written[static_cast<size_t>(row)] = true;
          put(offsetof(VertexArgs, varyings), static_cast<uint32_t>(row), v.c[k]);
        }
      }
      if (s.builtin == spv::BuiltInPosition) {
        put(offsetof(VertexArgs, position), s.element, v.c[k]);
        position = true;
      } else if (s.builtin == spv::BuiltInLayer || s.builtin == spv::BuiltInViewportIndex) {
        if (used[k] && !key.position_only) put(offsetof(VertexArgs, layer), s.builtin == spv::BuiltInViewportIndex, v.c[k]);
      } else if (s.builtin == spv::BuiltInPrimitiveShadingRateKHR) {
        if (used[k] && !key.position_only) put(offsetof(VertexArgs, shading_rate), 0, v.c[k]);
      } else if (s.builtin == spv::BuiltInPointSize) {
        if (used[k] && !key.position_only) put(offsetof(VertexArgs, point_size), 0, v.c[k]);
      } else if (s.builtin == spv::BuiltInClipDistance && clips) {
        distances.push_back({v.c[k], s.element, false}), clip_count++;
      } else if (s.builtin == spv::BuiltInCullDistance && culls) {
        distances.push_back({v.c[k], s.element, true}), cull_count++;
      } else if (s.builtin == kNone && !key.position_only) {
        const int row = key.varyings.find(s.location, s.component);
        if (row < 0) continue;
        written[static_cast<size_t>(row)] = true;
        put(offsetof(VertexArgs, varyings), static_cast<uint32_t>(row), v.c[k]);
      }
    }
  }
  for (const Distance& one : distances) put(offsetof(VertexArgs, clip_distance), one.element + (one.cull ? clip_count : 0), one.v);
  if (!position) {
    for (uint32_t c = 0; c < 4; ++c) put(offsetof(VertexArgs, position), c, ir.cf(0.0f));
  }
  for (size_t row = 0; row < written.size() && !key.position_only; ++row) {
    if (!written[row]) put(offsetof(VertexArgs, varyings), static_cast<uint32_t>(row), ir.cf(0.0f));
  }
}

Status build_vertex(const VertexKey& key, const Constants& constants, const Divergence& divergence, LLVMModuleRef module, const char* name,
                    uint32_t lanes) {
  Lowering l(module, lanes, key.module->module(), constants, divergence, key.resources);
  l.slice = key.position_only;
  const Ir& ir = l.ir;
  Value f = ir.function(name, LLVMFunctionType(ir.void_type, const_cast<Type*>(&ir.ptr), 1, 0));
  if (l.slice) ir.add_attribute(f, kSliceAttribute);
  l.args = LLVMGetParam(f, 0);
  l.entry = ir.block(f, "entry");
  LLVMPositionBuilderAtEnd(l.alloca_builder, l.entry);
  Block start = ir.block(f, "start");
  ir.at(start);
  begin_body(l, offsetof(VertexArgs, sets), offsetof(VertexArgs, push_constants), offsetof(VertexArgs, scratch),
             offsetof(VertexArgs, loops));
  l.alive = l.mask_alloca("alive");
  Value next = l.alloca_of(ir.i32, "next", 4);
  Value count = ir.umin(ir.field(ir.i32, l.args, offsetof(VertexArgs, count)), ir.c32(kBatchStride));
  ir.store(ir.c32(0), next, 4);
  Block body = ir.block("vertices"), done = ir.block("done");
  ir.br(ir.ne(count, ir.c32(0)), body, done);
  ir.at(body);

  // Loops of these vertices take nothing from the next ones: a slice that needs none of them has none.
  ir.store(l.whole_budget(), l.budget, 8);
  VertexBuilder builder{l, key};
  builder.first = ir.load(ir.i32, next, 4);
  if (!key.is_evaluation()) {
    Value indices = ir.field(ir.ptr, l.args, offsetof(VertexArgs, vertex_index), 8);
    builder.index_address = ir.offset(indices, ir.shl(ir.zext(builder.first, ir.i64), 2));
    builder.index = ir.load(ir.vi32, builder.index_address, 4);
  }
  l.store_mask(l.alive, ir.ult(ir.add(ir.splat(builder.first), ir.lane_index()), ir.splat(count)));
  builder.make_inputs();
  make_globals(l);
  run_entry_point(l);
  builder.write_outputs();
  Value after = ir.add(builder.first, ir.c32(lanes));
  ir.store(after, next, 4);
  ir.br(ir.ult(after, count), body, done);
  ir.at(done);
  LLVMBuildRetVoid(ir.builder);
  LLVMBuildBr(l.alloca_builder, start);
  return l.status;
}

CodeKey code_key(const VertexKey& key) {
  CodeKey code("vertex");
  add_stage(code, *key.module, key.specialization, key.varyings, key.resources);
  const auto word = [&](uint32_t w) { code.add(w); };
  word(static_cast<uint32_t>(key.bindings.size()));
  for (const auto& b : key.bindings) word(b.binding), word(b.stride), word(static_cast<uint32_t>(b.inputRate)), word(b.divisor);
  word(static_cast<uint32_t>(key.attributes.size()));
  for (const auto& a : key.attributes) word(a.location), word(a.binding), word(static_cast<uint32_t>(a.format)), word(a.offset);
  word(key.position_only);
  return code;
}

}  // namespace

Code<VertexFunction> reserve_vertex(Jit& jit, const VertexKey& key) { return Code<VertexFunction>(jit.reserve(code_key(key))); }

Expected<Code<VertexFunction>> compile_vertex(Jit& jit, const VertexKey& key, When when) {
  if (key.module->reflection().stage != VK_SHADER_STAGE_VERTEX_BIT && !key.is_evaluation())
    return Error{VK_ERROR_INVALID_SHADER_NV, "shader '" + key.module->label() + "' is no vertex or tessellation evaluation shader"};
  Expected<const CodeSlot*> slot = jit.function(
      code_key(key),
      [key, lanes = jit.lanes()](LLVMModuleRef module, const char* name) -> Status {
        return analyse_and_build(key, [&](const Constants& constants, const Divergence& divergence) {
          return build_vertex(key, constants, divergence, module, name, lanes);
        });
      },
      when);
  if (!slot) return Error{slot.error().code, "shader '" + key.module->label() + "': " + slot.error().message};
  return Code<VertexFunction>(*slot);
}

}  // namespace tilegpu::shader
