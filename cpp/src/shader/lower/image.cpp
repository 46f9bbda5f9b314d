// shader/lower/image.cpp -- images: sampling, fetches, gathers, queries, reads, writes and addresses of texels through TextureDescriptor.
//
// In: OpImage*, the memory of the bound sets. Out: calls of the sampler functions with N lanes in registers. Implicit LOD becomes gradients
// within the quad; in vertex shaders it is level 0. Indices into descriptor arrays that differ between lanes are served one distinct value
// at a time. What is written: by lanes that are active and alive. Source: Vulkan specification, "Image Operations" (Projection, Derivative
// Image Operations, Image Queries), "Texel Output Operations"; sampler_types.hpp.
#include <algorithm>
#include <functional>
#include <optional>

#include "shader/ir/math.hpp"
#include "shader/ir/sampler_types.hpp"
#include "shader/lower/context.hpp"
#include "shader/spirv/limits.hpp"

namespace tilegpu::shader {
namespace {

/// Optional operands of an image instruction, by the bits of the mask.
struct Operands {
  uint32_t bias = 0, lod = 0, grad_x = 0, grad_y = 0, const_offset = 0, offset = 0, const_offsets = 0, sample = 0, min_lod = 0;
};

Operands read_operands(const Module& m, const Instruction& i, uint32_t at) {
  Operands r;
  if (at >= i.count) return r;
  const uint32_t mask = m.operand(i, at++);
  const auto take = [&](uint32_t bit, uint32_t& out) {
    if (mask & bit) out = m.operand(i, at++);
  };
  take(spv::ImageOperandsBiasMask, r.bias);
  take(spv::ImageOperandsLodMask, r.lod);
  take(spv::ImageOperandsGradMask, r.grad_x);
  if (mask & spv::ImageOperandsGradMask) r.grad_y = m.operand(i, at++);
  take(spv::ImageOperandsConstOffsetMask, r.const_offset);
  take(spv::ImageOperandsOffsetMask, r.offset);
  take(spv::ImageOperandsConstOffsetsMask, r.const_offsets);
  take(spv::ImageOperandsSampleMask, r.sample);
  take(spv::ImageOperandsMinLodMask, r.min_lod);
  return r;
}

std::string dim_name(spv::Dim dim) {
  constexpr const char* kNames[] = {"1D", "2D", "3D", "Cube", "Rect", "Buffer", "SubpassData"};
  return static_cast<size_t>(dim) < std::size(kNames) ? kNames[dim] : "number " + std::to_string(dim);
}

/// Which elements of the arrays of images and of samplers: i32, scalar or by lane. Null: the sampler is no array's.
struct DescriptorIndex {
  Value image, sampler = nullptr;
  bool is_varying() const { return Lowering::is_varying(image) || (sampler && Lowering::is_varying(sampler)); }
};

struct ImageBuilder {
  Lowering& l;
  const Instruction& i;
  const Ir& ir = l.ir;
  ImageValue image;
  TypeInfo type;  // of the image

  uint32_t o(uint32_t k) const { return l.m.operand(i, k); }
  Value float_lanes(Value v) const { return l.vary(v); }
  bool select_image(uint32_t id);
  bool select_type();
  const TextureSlot* slot() const;
  DescriptorIndex descriptor_index();
  Value descriptor(const DescriptorIndex& index) const;
  /// `one` with each distinct index of the lanes in `mask` (null: all), and bits for the lanes that have it. Results of these types.
  std::vector<Value> each_descriptor(Value mask, const std::vector<Type>& results,
                                     const std::function<std::vector<Value>(const DescriptorIndex& index, Value bits)>& one);
  /// `complete`: fills in what depends on the descriptor, or null.
  std::vector<Value> call(Type function, size_t offset_B, std::vector<Value> arguments, uint32_t mask_index,
                          const std::function<void(std::vector<Value>&)>& complete = nullptr);
  void finish(const std::vector<Value>& texel, bool single);
  Value fixed_offset(const Operands& ops, uint32_t axis);
  Val coordinate(uint32_t id, bool projected, Value& dref);
  void sample();
  bool may_be_one_of_many(const std::vector<Value>& arguments) const;
  void sample_implicit(const Val& c, const Operands& ops, Value layer, Value compare, bool compares);
  struct Texel {
    Value x, y, layer;
  };
  bool has_layer() const { return type.arrayed || type.dim == spv::Dim3D || type.dim == spv::DimCube; }
  std::optional<Texel> texel(uint32_t coordinate, const Operands& ops);
  void fetch(uint32_t operands);
  void write();
  Value addresses(uint32_t sample, Value mask);
  void gather();
  void query();
  void query_lod();
};

bool ImageBuilder::select_image(uint32_t id) {
  image = l.image_value(id);
  return image.image && select_type();
}

bool ImageBuilder::select_type() {
  uint32_t t = descriptor_type(l.m, image.image);
  if (l.m.type(t).kind == Kind::sampled_image) t = l.m.type(t).element;
  type = l.m.type(t);
  const bool samples = (i.op >= spv::OpImageSampleImplicitLod && i.op <= spv::OpImageSampleProjDrefExplicitLod) ||
                       i.op == spv::OpImageGather || i.op == spv::OpImageDrefGather || i.op == spv::OpImageQueryLod;
  const bool known = type.dim == spv::Dim1D || type.dim == spv::Dim2D || type.dim == spv::Dim3D || type.dim == spv::DimCube ||
                     (!samples && type.dim == spv::DimBuffer);
  if (type.kind == Kind::image && known) return true;
  l.unsupported("textures of dimension " + dim_name(type.dim) + " are not supported" +
                (samples ? " by sampling; use 1D, 2D, 3D, cube or arrays of them" : ""));
  return false;
}

const TextureSlot* ImageBuilder::slot() const {
  const Module& m = l.m;
  const auto set = [&](uint32_t id) { return m.decoration(id).set == kNone ? 0u : m.decoration(id).set; };
  const VkDescriptorType type = descriptor_type_of(m, image.image);
  for (const TextureSlot& s : l.resources.textures) {
    if (s.image_set != set(image.image) || s.image_binding != m.decoration(image.image).binding || s.type != type) continue;
    if (!image.sampler ? s.is_alone()
                       : s.sampler_set == set(image.sampler) && s.sampler_binding == m.decoration(image.sampler).binding &&
                             s.combined == (image.sampler == image.image))
      return &s;
  }
  // A fetch or query of the image of a pair: any entry has the view.
  for (const TextureSlot& s : l.resources.textures) {
    if (s.image_set == set(image.image) && s.image_binding == m.decoration(image.image).binding && s.type == type) return &s;
  }
  return nullptr;
}

DescriptorIndex ImageBuilder::descriptor_index() {
  const TextureSlot* s = slot();
  if (!s) {
    l.fail("texture '" + l.m.name(image.image) + "' is not in the resource table");
    return {ir.c32(0)};
  }
  DescriptorIndex index{ir.c32(0)};
  if (image.image_element) index.image = l.clamp_descriptor(image.image_element, s->image_set, s->image, s->image_count);
  if (image.sampler && image.sampler != image.image && image.sampler_element && !s->is_alone())
    index.sampler = l.clamp_descriptor(image.sampler_element, s->sampler_set, s->sampler, s->sampler_count);
  return index;
}

/// Address of the TextureDescriptor of a uniform descriptor_index.
Value ImageBuilder::descriptor(const DescriptorIndex& index) const {
  const TextureSlot* s = slot();
  if (!s) return l.zero_page(sizeof(TextureDescriptor));  // failed before
  const auto element = [&](uint32_t set, const DescriptorAddress& at, Value number) {
    Value first = ir.offset(l.set_memory[set], at.offset_B);
    return number ? ir.offset(first, ir.mul(ir.zext(number, ir.i64), ir.c64(at.stride_B))) : first;
  };
  if (s->combined) return ir.constant_field(ir.ptr, element(s->image_set, s->image, index.image), offsetof(CombinedDescriptor, texture), 8);
  Value view = ir.constant_field(ir.ptr, element(s->image_set, s->image, index.image), offsetof(ImageDescriptor, image), 8);
  if (s->is_alone()) return ir.offset(view, offsetof(SampledImage, alone));
  Value sampler = element(s->sampler_set, s->sampler, index.sampler);
  Value page_B = ir.constant_field(ir.i32, sampler, offsetof(SamplerDescriptor, page_B), 4);
  Value entry_B = ir.constant_field(ir.i32, sampler, offsetof(SamplerDescriptor, entry_B), 4);
  Value page = ir.constant_field(ir.ptr, ir.offset(view, ir.zext(page_B, ir.i64)), 0, 8);
  return ir.constant_field(ir.ptr, ir.offset(page, ir.zext(entry_B, ir.i64)), 0, 8);
}

std::vector<Value> ImageBuilder::each_descriptor(Value mask, const std::vector<Type>& types,
                                                 const std::function<std::vector<Value>(const DescriptorIndex&, Value)>& one) {
  DescriptorIndex index = descriptor_index();
  Value wanted = mask ? ir.movemask(mask) : ir.c32(ir.lanes == 32 ? ~0u : (1u << ir.lanes) - 1);
  if (!index.is_varying()) return one(index, wanted);
  // Waterfall: the first lane's descriptor for all lanes that share it, until none is left.
  Value rest = l.alloca_of(ir.i32, "rest", 4);
  std::vector<Value> results;
  for (size_t k = 0; k < types.size(); ++k) {
    results.push_back(l.alloca_of(types[k], "texel", 4 * ir.lanes));
    ir.store(Ir::zero(types[k]), results[k], 4 * ir.lanes);
  }
  ir.store(wanted, rest, 4);
  std::array<Value*, 2> parts = {&index.image, &index.sampler};
  std::array<Value, 2> kept{};  // of those that vary
  for (size_t k = 0; k < 2; ++k) {
    if (!*parts[k] || !Lowering::is_varying(*parts[k])) continue;
    kept[k] = l.alloca_of(ir.vi32, "indices", 4 * ir.lanes);
    ir.store(*parts[k], kept[k], 4 * ir.lanes);
  }
  Block check = ir.block("waterfall"), body = ir.block("distinct"), done = ir.block("fallen");
  ir.br(check);
  ir.at(check);
  Value left = ir.load(ir.i32, rest, 4);
  ir.br(ir.ne(left, ir.c32(0)), body, done);
  ir.at(body);
  Value lane = ir.call_intrinsic("llvm.cttz", {ir.i32}, {left, ir.c1(true)});
  DescriptorIndex chosen = index;
  Value same = nullptr;
  for (size_t k = 0; k < 2; ++k) {
    if (!kept[k]) continue;
    Value of_lane = ir.load(ir.i32, ir.offset(kept[k], ir.shl(ir.zext(lane, ir.i64), 2)), 4);
    Value equal = ir.eq(*parts[k], ir.splat(of_lane));
    same = same ? ir.and_(same, equal) : equal;
    (k ? chosen.sampler : chosen.image) = of_lane;
  }
  const auto texel = one(chosen, ir.and_(ir.movemask(same), left));
  assert(texel.size() == types.size());
  for (size_t k = 0; k < types.size(); ++k)
    ir.store(ir.select(same, texel[k], ir.load(types[k], results[k], 4 * ir.lanes)), results[k], 4 * ir.lanes);
  ir.store(ir.and_(left, ir.not_(ir.movemask(same))), rest, 4);
  ir.br(check);
  ir.at(done);
  std::vector<Value> merged;
  for (size_t k = 0; k < types.size(); ++k) merged.push_back(ir.load(types[k], results[k], 4 * ir.lanes));
  return merged;
}

/// sample_many knows no layers, references and offsets, and finds derivatives within quads.
bool ImageBuilder::may_be_one_of_many(const std::vector<Value>& arguments) const {
  using namespace implicit_arg;
  return ir.wide && ir.lanes == 16 && !ir.quick && !l.pixel_slices && type.dim == spv::Dim2D && !type.arrayed &&
         arguments[dref] == ir.as_float(ir.ik(kNoReference)) && arguments[offset_x] == ir.c32(0) && arguments[offset_y] == ir.c32(0);
}

/// Four vectors of bits as floats. arguments[0] (descriptor) and the mask are filled in here.
std::vector<Value> ImageBuilder::call(Type function, size_t offset_B, std::vector<Value> arguments, uint32_t mask_index,
                                      const std::function<void(std::vector<Value>&)>& complete) {
  return each_descriptor(l.exec, {ir.vf32, ir.vf32, ir.vf32, ir.vf32}, [&](const DescriptorIndex& at, Value mask) {
    arguments[0] = descriptor(at), arguments[mask_index] = mask;
    if (complete) complete(arguments);
    Value r = call_sampler(ir, function, offset_B, arguments.data(), static_cast<uint32_t>(arguments.size()), l.slice);
    if (offset_B == offsetof(TextureDescriptor, sample_gradient) || offset_B == offsetof(TextureDescriptor, sample_min_lod) ||
        offset_B == offsetof(TextureDescriptor, sample_lod) || offset_B == offsetof(TextureDescriptor, sample_implicit))
      mark_alpha_optional(ir, r, mask_index);
    if (offset_B == offsetof(TextureDescriptor, sample_implicit) && may_be_one_of_many(arguments)) mark_one_of_many(ir, r);
    std::vector<Value> texel;
    for (uint32_t k = 0; k < 4; ++k) texel.push_back(ir.extract_value(r, k));
    return texel;
  });
}

void ImageBuilder::finish(const std::vector<Value>& texel, bool single) {
  const auto& kinds = l.bases(i.type);
  Val v{i.type, {}};
  const auto wide = [&](size_t k) {  // two words, then 0, 0 and the alpha: 1, but of no image 0
    if (k) return k == 3 ? ir.zext(ir.bits(texel[3]), ir.i64) : ir.splat(ir.c64(0));
    return ir.or_(ir.zext(ir.bits(texel[0]), ir.i64), ir.shl(ir.zext(ir.bits(texel[1]), ir.i64), 32));
  };
  for (size_t k = 0; k < kinds.size() && k < 4; ++k)
    v.c.push_back(kinds[k] == Base::i64 ? wide(k) : kinds[k] == Base::f32 ? texel[k] : ir.bits(texel[k]));
  if (single) v.c.resize(1);
  l.define(i.id, v);
}

Value ImageBuilder::fixed_offset(const Operands& ops, uint32_t axis) {
  const uint32_t id = ops.const_offset ? ops.const_offset : ops.offset;
  if (!id) return ir.c32(0);
  const Val v = l.value(id);
  if (axis >= v.c.size()) return ir.c32(0);
  if (Lowering::is_varying(v.c[axis])) {
    l.fail("texel offsets of samples must be the same for all invocations");
    return ir.c32(0);
  }
  return v.c[axis];
}

Val ImageBuilder::coordinate(uint32_t id, bool projected, Value& dref) {
  Val c = l.value(id);
  for (Value& x : c.c) x = l.vary(x);
  if (projected) {
    Value q = c.c.back();
    c.c.pop_back();
    for (Value& x : c.c) x = ir.fdiv(x, q);
    if (dref) dref = ir.fdiv(l.vary(dref), q);
  }
  return c;
}

void ImageBuilder::sample() {
  const bool projected = i.op == spv::OpImageSampleProjImplicitLod || i.op == spv::OpImageSampleProjExplicitLod ||
                         i.op == spv::OpImageSampleProjDrefImplicitLod || i.op == spv::OpImageSampleProjDrefExplicitLod;
  const bool compares = i.op == spv::OpImageSampleDrefImplicitLod || i.op == spv::OpImageSampleDrefExplicitLod ||
                        i.op == spv::OpImageSampleProjDrefImplicitLod || i.op == spv::OpImageSampleProjDrefExplicitLod;
  const bool is_explicit = i.op == spv::OpImageSampleExplicitLod || i.op == spv::OpImageSampleDrefExplicitLod ||
                           i.op == spv::OpImageSampleProjExplicitLod || i.op == spv::OpImageSampleProjDrefExplicitLod;
  const Operands ops = read_operands(l.m, i, compares ? 3 : 2);
  Value dref = compares ? l.scalar(o(2)) : nullptr;
  const Val c = coordinate(o(1), projected, dref);
  if (ops.min_lod && !ops.grad_x && !l.has_quads())
    return l.unsupported("the image operand MinLod is not supported where there are no derivatives, but with gradients");
  const bool volume = type.dim == spv::Dim3D;
  const uint32_t axes = type.dim == spv::DimCube || volume ? 3 : type.dim == spv::Dim1D ? 1 : 2;
  if (c.c.size() < axes + type.arrayed) return l.fail("a texture coordinate has too few components");
  // What the instruction has not is 0: an element of an array of descriptors may be of another type than the variable's.
  Value none = ir.fk(0.0f), zero = ir.fk(0.0f);
  Value layer = type.arrayed ? c.c[axes] : none;
  Value compare = dref ? l.vary(dref) : ir.as_float(ir.ik(kNoReference));
  Value s = c.c[0], t = axes > 1 ? c.c[1] : zero, r = axes > 2 ? c.c[2] : none;
  if (!is_explicit && l.has_quads() && takes_rho_squared(l.m, i)) return sample_implicit(c, ops, layer, compare, compares);
  if (ops.grad_x || (!is_explicit && l.has_quads())) {
    std::vector<Value> a(ops.min_lod ? static_cast<uint32_t>(min_lod_arg::count) : static_cast<uint32_t>(gradient_arg::count), none);
    Value gx[3] = {none, zero, none}, gy[3] = {none, zero, none};
    Lowering::Gradient own;
    if (!ops.grad_x && l.pixel_slices) own = l.gradient(o(1));
    for (uint32_t k = 0; k < axes; ++k) {
      if (ops.grad_x) {
        gx[k] = l.vary(l.value(ops.grad_x).c[k]), gy[k] = l.vary(l.value(ops.grad_y).c[k]);
      } else if (l.pixel_slices && Lowering::is_varying(own.x[k])) {
        gx[k] = own.x[k], gy[k] = own.y[k];
      } else if (l.pixel_slices) {  // what all lanes share has no slope, but where it is no number
        gx[k] = gy[k] = Lowering::is_varying(c.c[k]) ? ir.fsub(c.c[k], c.c[k]) : Ir::zero(ir.f32);
      } else {
        gx[k] = l.derivative(spv::OpDPdx, c.c[k]), gy[k] = l.derivative(spv::OpDPdy, c.c[k]);
      }
    }
    a[gradient_arg::s] = s, a[gradient_arg::t] = t, a[gradient_arg::r] = r;
    a[gradient_arg::dsdx] = gx[0], a[gradient_arg::dtdx] = gx[1], a[gradient_arg::drdx] = gx[2];
    a[gradient_arg::dsdy] = gy[0], a[gradient_arg::dtdy] = gy[1], a[gradient_arg::drdy] = gy[2];
    a[gradient_arg::bias] = ops.bias ? l.vary(l.scalar(ops.bias)) : zero;
    a[gradient_arg::dref] = compare, a[gradient_arg::layer] = layer;
    a[gradient_arg::offset_x] = fixed_offset(ops, 0), a[gradient_arg::offset_y] = fixed_offset(ops, 1);
    a[gradient_arg::offset_z] = volume ? fixed_offset(ops, 2) : ir.c32(0);
    if (ops.min_lod) {
      a[min_lod_arg::min_lod] = l.vary(l.scalar(ops.min_lod));
      return finish(call(sample_min_lod_type(ir), offsetof(TextureDescriptor, sample_min_lod), a, gradient_arg::mask), compares);
    }
    return finish(call(sample_gradient_type(ir), offsetof(TextureDescriptor, sample_gradient), a, gradient_arg::mask), compares);
  }
  std::vector<Value> a(lod_arg::count, none);
  a[lod_arg::s] = s, a[lod_arg::t] = t, a[lod_arg::r] = r;
  a[lod_arg::lod] = ops.lod ? l.vary(l.scalar(ops.lod)) : zero;
  a[lod_arg::dref] = compare, a[lod_arg::layer] = layer;
  a[lod_arg::offset_x] = fixed_offset(ops, 0), a[lod_arg::offset_y] = fixed_offset(ops, 1);
  a[lod_arg::offset_z] = volume ? fixed_offset(ops, 2) : ir.c32(0);
  finish(call(sample_lod_type(ir), offsetof(TextureDescriptor, sample_lod), a, lod_arg::mask), compares);
}

/// Of each quad the lanes 1 and 2 find the squares of the derivatives: differences to lane 0, along x and along y.
void ImageBuilder::sample_implicit(const Val& c, const Operands& ops, Value layer, Value compare, bool compares) {
  const uint32_t axes = type.dim == spv::Dim1D ? 1 : 2;
  std::vector<Value> a(implicit_arg::count, ir.fk(0.0f));
  a[implicit_arg::s] = c.c[0], a[implicit_arg::t] = axes > 1 ? c.c[1] : ir.fk(0);
  a[implicit_arg::dref] = compare, a[implicit_arg::layer] = layer;
  a[implicit_arg::offset_x] = fixed_offset(ops, 0), a[implicit_arg::offset_y] = fixed_offset(ops, 1);
  Value x[2] = {nullptr, nullptr}, y[2] = {nullptr, nullptr};
  if (l.pixel_slices) {
    const Lowering::Gradient own = l.gradient(o(1));
    for (uint32_t k = 0; k < axes; ++k) x[k] = l.vary(own.x[k]), y[k] = l.vary(own.y[k]);
  } else {
    for (uint32_t k = 0; k < axes; ++k) x[k] = ir.fsub(c.c[k], l.pick_pixel(c.c[k], 0));
  }
  const auto complete = [&](std::vector<Value>& arguments) {
    Value view = ir.constant_field(ir.ptr, arguments[0], offsetof(TextureDescriptor, view), 8);
    Value along_x = length_squared(ir, view, x[0], x[1]);
    Value along_y = y[0] ? length_squared(ir, view, y[0], y[1]) : l.pick_pixel(along_x, 2);
    if (!y[0]) along_x = l.pick_pixel(along_x, 1);
    arguments[implicit_arg::rho2] = longer_squared(ir, along_x, along_y);
  };
  finish(call(sample_implicit_type(ir), offsetof(TextureDescriptor, sample_implicit), a, implicit_arg::mask, complete), compares);
}

/// Integer coordinates: of 3D images the third is the slice, of cubes that are stored to the face (of arrays: 6 times the cube more).
std::optional<ImageBuilder::Texel> ImageBuilder::texel(uint32_t coordinate, const Operands& ops) {
  const Val c = l.value(coordinate);
  const uint32_t axes = type.dim == spv::Dim1D || type.dim == spv::DimBuffer ? 1 : 2;
  if (c.c.size() < axes + has_layer()) {
    l.fail("a texel coordinate has too few components");
    return std::nullopt;
  }
  const auto moved = [&](uint32_t axis) { return ir.add(l.vary(c.c[axis]), l.vary(fixed_offset(ops, axis))); };
  return Texel{moved(0), axes > 1 ? moved(1) : ir.ik(0), !has_layer() ? ir.ik(0) : type.dim == spv::Dim3D ? moved(2) : l.vary(c.c[axes])};
}

/// OpImageFetch and OpImageRead. `operands`: where the optional ones begin.
void ImageBuilder::fetch(uint32_t operands) {
  const Operands ops = read_operands(l.m, i, operands);
  const auto at = texel(o(1), ops);
  if (!at) return;
  std::vector<Value> a(fetch_arg::count, ir.ik(0));
  a[fetch_arg::x] = at->x, a[fetch_arg::y] = at->y, a[fetch_arg::layer] = at->layer;
  if (ops.lod) a[fetch_arg::lod] = l.vary(l.scalar(ops.lod));
  if (ops.sample) a[fetch_arg::sample] = l.vary(l.scalar(ops.sample));
  finish(call(fetch_type(ir), offsetof(TextureDescriptor, fetch), a, fetch_arg::mask), false);
}

/// OpImageWrite: image, coordinate, texel.
void ImageBuilder::write() {
  if (l.slice) return;
  const Operands ops = read_operands(l.m, i, 3);
  const auto at = texel(o(1), ops);
  if (!at) return;
  const Val value = l.value(o(2));
  std::vector<Value> a(store_arg::count, ir.ik(0));
  a[store_arg::x] = at->x, a[store_arg::y] = at->y, a[store_arg::layer] = at->layer;
  if (ops.sample) a[store_arg::sample] = l.vary(l.scalar(ops.sample));
  if (!value.c.empty() && l.bases(value.type)[0] == Base::i64) {
    Value number = l.vary(value.c[0]);
    a[store_arg::r] = ir.as_float(ir.trunc(number, ir.i32)), a[store_arg::g] = ir.as_float(ir.trunc(ir.lshr(number, 32), ir.i32));
    a[store_arg::b] = a[store_arg::a] = ir.fk(0);
  } else {
    for (uint32_t k = 0; k < 4; ++k) a[store_arg::r + k] = k < value.c.size() ? ir.as_float(l.vary(value.c[k])) : ir.fk(0);
  }
  each_descriptor(l.write_mask(), {}, [&](const DescriptorIndex& index, Value mask) {
    a[0] = descriptor(index), a[store_arg::mask] = mask;
    call_sampler(ir, store_type(ir), offsetof(TextureDescriptor, store), a.data(), store_arg::count, false);
    return std::vector<Value>();
  });
}

/// Of OpImageTexelPointer: image, coordinate, sample. <N x i64>, 0 where nothing is.
Value ImageBuilder::addresses(uint32_t sample, Value mask) {
  const bool wide = l.m.type(type.element).width_bits == 64;
  const auto at = texel(o(1), {});
  if (!at) return Ir::zero(ir.vec(ir.i64));
  std::vector<Value> a(address_arg::count, ir.ik(0));
  a[address_arg::x] = at->x, a[address_arg::y] = at->y, a[address_arg::layer] = at->layer;
  a[address_arg::sample] = l.vary(l.scalar(sample));
  return each_descriptor(mask, {ir.vec(ir.i64)}, [&](const DescriptorIndex& index, Value bits) {
    a[0] = descriptor(index), a[address_arg::mask] = wide ? ir.or_(bits, ir.c32(kWideTexels)) : bits;
    return std::vector<Value>{
        call_sampler(ir, address_type(ir), offsetof(TextureDescriptor, address), a.data(), address_arg::count, false)};
  })[0];
}

void ImageBuilder::gather() {
  const bool compares = i.op == spv::OpImageDrefGather;
  const Operands ops = read_operands(l.m, i, 3);
  Value none = ir.fk(0.0f), unused = nullptr;
  const Val c = coordinate(o(1), false, unused);
  const uint32_t axes = type.dim == spv::DimCube ? 3 : 2;
  if (c.c.size() < axes + type.arrayed) return l.fail("a texture coordinate has too few components");
  std::vector<Value> a(gather_arg::count, none);
  a[gather_arg::s] = c.c[0], a[gather_arg::t] = c.c[1];
  if (axes > 2) a[gather_arg::r] = c.c[2];
  if (type.arrayed) a[gather_arg::layer] = c.c[axes];
  a[gather_arg::dref] = compares ? l.vary(l.scalar(o(2))) : ir.as_float(ir.ik(kNoReference));
  a[gather_arg::component] = compares ? ir.c32(0) : l.uniform(l.scalar(o(2)));
  a[gather_arg::offset_x] = a[gather_arg::offset_y] = ir.ik(0);
  const auto run = [&] { return call(gather_type(ir), offsetof(TextureDescriptor, gather), a, gather_arg::mask); };
  if (ops.const_offsets) {
    // Four offsets: of each gather the texel (i0, j0), its last component.
    const Val offsets = l.value(ops.const_offsets);
    std::vector<Value> texel;
    for (uint32_t k = 0; k < 4 && 2 * k + 1 < offsets.c.size(); ++k) {
      a[gather_arg::offset_x] = l.vary(offsets.c[2 * k]), a[gather_arg::offset_y] = l.vary(offsets.c[2 * k + 1]);
      texel.push_back(run()[3]);
    }
    return finish(texel, false);
  }
  const uint32_t id = ops.const_offset ? ops.const_offset : ops.offset;
  if (id) {
    const Val offset = l.value(id);
    a[gather_arg::offset_x] = l.vary(offset.c[0]), a[gather_arg::offset_y] = l.vary(offset.c[1]);
  }
  finish(run(), false);
}

/// Sizes, levels, samples: read from the view; by lane where descriptor or level vary.
void ImageBuilder::query() {
  DescriptorIndex index = descriptor_index();
  const bool has_level = i.op == spv::OpImageQuerySizeLod;
  Value level = has_level ? l.scalar(o(1)) : ir.c32(0);
  const uint32_t count = l.width(i.type);
  const auto one = [&](const DescriptorIndex& at, Value lod) {
    Value view = ir.constant_field(ir.ptr, descriptor(at), offsetof(TextureDescriptor, view), 8);
    std::vector<Value> r;
    if (i.op == spv::OpImageQueryLevels) return std::vector<Value>{ir.field(ir.i32, view, offsetof(ImageViewAbi, level_count))};
    if (i.op == spv::OpImageQuerySamples) return std::vector<Value>{ir.field(ir.i32, view, offsetof(ImageViewAbi, sample_count))};
    Value levels = ir.field(ir.i32, view, offsetof(ImageViewAbi, level_count));
    Value inside = ir.ult(lod, levels);
    Value safe = ir.select(inside, lod, ir.c32(0));
    Value entry = ir.offset(view, ir.add(ir.mul(ir.zext(safe, ir.i64), ir.c64(sizeof(ViewLevel))), ir.c64(offsetof(ImageViewAbi, level))));
    r.push_back(ir.select(inside, ir.field(ir.i32, entry, offsetof(ViewLevel, width_px)), ir.c32(0)));
    const auto size = [&](size_t offset_B) { r.push_back(ir.select(inside, ir.field(ir.i32, entry, offset_B), ir.c32(0))); };
    if (type.dim != spv::Dim1D && type.dim != spv::DimBuffer) size(offsetof(ViewLevel, height_px));
    if (type.dim == spv::Dim3D) size(offsetof(ViewLevel, depth_px));
    if (type.arrayed) {
      Value layers = ir.field(ir.i32, view, offsetof(ImageViewAbi, layer_count));
      r.push_back(type.dim == spv::DimCube ? LLVMBuildUDiv(ir.builder, layers, ir.c32(6), "") : layers);
    }
    return r;
  };
  Val v{i.type, {}};
  if (!index.is_varying() && !Lowering::is_varying(level)) {
    v.c = one(index, level);
  } else {
    level = l.vary(level);
    v.c.assign(count, Ir::zero(ir.vi32));
    for (uint32_t lane = 0; lane < ir.lanes; ++lane) {
      const auto r =
          one({ir.extract(index.image, lane), index.sampler ? ir.extract(index.sampler, lane) : nullptr}, ir.extract(level, lane));
      for (size_t k = 0; k < r.size() && k < v.c.size(); ++k) v.c[k] = ir.insert(v.c[k], r[k], lane);
    }
  }
  v.c.resize(count, ir.c32(0));
  l.define(i.id, v);
}

/// The level that would be read, and the LOD within the sampler's limits: of the coordinates' derivatives.
void ImageBuilder::query_lod() {
  Value unused = nullptr;
  const Val c = coordinate(o(1), false, unused);
  const uint32_t axes = type.dim == spv::DimCube || type.dim == spv::Dim3D ? 3 : type.dim == spv::Dim1D ? 1 : 2;
  if (c.c.size() < axes) return l.fail("a texture coordinate has too few components");
  if (!image.sampler) return l.fail("OpImageQueryLod of an image without a sampler");
  using namespace gradient_arg;
  constexpr uint32_t kAt[3] = {s, t, r}, kX[3] = {dsdx, dtdx, drdx}, kY[3] = {dsdy, dtdy, drdy};
  std::vector<Value> a(count, ir.fk(0.0f));
  for (uint32_t k = 0; k < 2; ++k) a[kAt[k]] = a[kX[k]] = a[kY[k]] = ir.fk(0.0f);
  for (uint32_t k = 0; k < axes; ++k) {
    a[kAt[k]] = c.c[k];
    a[kX[k]] = l.derivative(spv::OpDPdx, c.c[k]), a[kY[k]] = l.derivative(spv::OpDPdy, c.c[k]);
  }
  a[bias] = ir.fk(0.0f), a[offset_x] = a[offset_y] = a[offset_z] = ir.c32(0);
  const std::vector<Value> found = call(sample_gradient_type(ir), offsetof(TextureDescriptor, query_lod), a, mask);
  l.define(i.id, {i.type, {found[0], found[1]}});
}

}  // namespace

std::vector<Value> Lowering::fetch_attachment(const Instruction& i, const ImageValue& image, Value element, const TexelPlace& at) {
  assert(reads_attachment(m, i));
  ImageBuilder b{*this, i};
  b.image = image, b.image.image_element = element;
  std::vector<Value> a(fetch_arg::count, ir.ik(0));
  a[fetch_arg::x] = at.x, a[fetch_arg::y] = at.y, a[fetch_arg::layer] = at.layer, a[fetch_arg::sample] = at.sample;
  return b.call(fetch_type(ir), offsetof(TextureDescriptor, fetch), a, fetch_arg::mask);
}

Value Lowering::texel_addresses(const Instruction& i, Value mask) {
  assert(i.op == spv::OpImageTexelPointer);
  const Pointer p = pointer(m.operand(i, 0));
  ImageBuilder b{*this, i};
  b.image.image = p.resource, b.image.image_element = p.element;
  if (p.space != Pointer::Space::resource || !b.select_type()) return Ir::zero(ir.vec(ir.i64));
  return b.addresses(m.operand(i, 2), mask);
}

ImageValue Lowering::image_value(uint32_t id) {
  const auto known_value = [&](ImageValue& v) {
    const auto known = frame().images.find(id);
    if (known == frame().images.end()) return false;
    v = known->second;
    kept_indices(id, {&v.image_element, &v.sampler_element});
    return true;
  };
  ImageValue v;
  if (known_value(v)) return v;
  if (const Instruction* i = m.find(id); i && (i->op == spv::OpLoad || i->op == spv::OpCompositeExtract)) {
    // Loaded in another block of this function.
    instruction(*i, m.definition[id]);
    if (known_value(v)) return v;
  }
  fail("image " + std::to_string(id) + " is not known here");
  return {};
}

bool Lowering::image(const Instruction& i) {
  const uint32_t first = m.operand(i, 0);
  switch (i.op) {
    case spv::OpSampledImage: {
      ImageValue v = image_value(first);
      const ImageValue s = image_value(m.operand(i, 1));
      v.sampler = s.sampler, v.sampler_element = s.sampler_element;
      frame().images[i.id] = v;
      keep_indices(i.id, {v.image_element, v.sampler_element});
      return true;
    }
    case spv::OpCompositeExtract: {
      // An element of an array of textures that was loaded as a value: Vulkan's descriptor arrays have one dimension.
      if (!holds_images(m, m.type_of(first))) return false;
      if (i.count != 2) {
        unsupported("arrays of arrays of textures are not supported");
        return true;
      }
      ImageValue v = image_value(first);
      if (v.image) v.image_element = ir.c32(m.operand(i, 1));
      if (v.sampler) v.sampler_element = ir.c32(m.operand(i, 1));
      frame().images[i.id] = v;
      return true;
    }
    case spv::OpImage: {
      const ImageValue v = image_value(first);
      frame().images[i.id] = v;
      keep_indices(i.id, {v.image_element, v.sampler_element});
      return true;
    }
    case spv::OpImageRead:
      if (reads_attachment(m, i)) {
        if (!read_attachment) return false;
        define(i.id, read_attachment(i));
      } else if (ImageBuilder b{*this, i}; b.select_image(first)) {
        b.fetch(2);
      }
      return true;
    case spv::OpImageWrite:
      if (ImageBuilder b{*this, i}; b.select_image(first)) b.write();
      return true;
    case spv::OpImageTexelPointer:
      return true;  // made by the atomic operation
    default:
      break;
  }
  if (i.op < spv::OpImageSampleImplicitLod || i.op > spv::OpImageQuerySamples) return false;
  ImageBuilder b{*this, i};
  switch (i.op) {
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleExplicitLod:
    case spv::OpImageSampleDrefImplicitLod:
    case spv::OpImageSampleDrefExplicitLod:
    case spv::OpImageSampleProjImplicitLod:
    case spv::OpImageSampleProjExplicitLod:
    case spv::OpImageSampleProjDrefImplicitLod:
    case spv::OpImageSampleProjDrefExplicitLod:
      if (b.select_image(first)) b.sample();
      return true;
    case spv::OpImageFetch:
      if (b.select_image(first)) b.fetch(2);
      return true;
    case spv::OpImageGather:
    case spv::OpImageDrefGather:
      if (b.select_image(first)) b.gather();
      return true;
    case spv::OpImageQuerySizeLod:
    case spv::OpImageQuerySize:
    case spv::OpImageQueryLevels:
    case spv::OpImageQuerySamples:
      if (b.select_image(first)) b.query();
      return true;
    case spv::OpImageQueryLod:
      if (b.select_image(first)) b.query_lod();
      return true;
    default:
      return false;
  }
}

}  // namespace tilegpu::shader
