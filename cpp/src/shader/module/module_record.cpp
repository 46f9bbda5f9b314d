// shader/module/module_record.cpp -- see module_record.hpp. One list of fields for each struct serves both ways: `archive(field)` writes,
// or reads.
#include "shader/module/module_record.hpp"

#include <cassert>
#include <cstring>

namespace tilegpu::shader {
namespace {

constexpr uint32_t kMostNested = 64;  // types within types

struct Anything {
  template <class T>
  operator T() const;
};
template <class T, class... Given>
consteval size_t fields_of() {
  if constexpr (requires { T{Given{}..., Anything{}}; })
    return fields_of<T, Given..., Anything>();
  else
    return sizeof...(Given);
}
// A field that is not in the lists below would come back with its default.
static_assert(fields_of<ReflectedType>() == 14 && fields_of<ReflectedType::Member>() == 3 && fields_of<ReflectedVariable>() == 7);
static_assert(fields_of<ReflectedBinding>() == 11 && fields_of<ReflectedConstant>() == 4 && fields_of<Reflection>() == 9);
static_assert(fields_of<StageTraits>() == 58 && fields_of<InputAttachment>() == 9 && fields_of<VaryingComponent>() == 7);
static_assert(fields_of<PrimitiveModes>() == 9 && fields_of<TransformFeedback>() == 2 && fields_of<CapturedWord>() == 5);
static_assert(fields_of<FaintSample>() == 9 && fields_of<FaintSamples>() == 1);
static_assert(fields_of<InterfaceMemory>() == 2 && fields_of<InterfaceWord>() == 9);
static_assert(fields_of<NamedElements>() == 4 && fields_of<BufferSlot>() == 8 && fields_of<TextureSlot>() == 14 &&
              fields_of<ResourceTable>() == 2);

class Writer {
 public:
  std::string bytes;
  bool good() const { return true; }
  bool enter() { return true; }
  void leave() {}
  uint32_t count(size_t n) {
    assert(n <= UINT32_MAX);
    raw(static_cast<uint32_t>(n));
    return static_cast<uint32_t>(n);
  }
  template <class T>
  void raw(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void flag(bool value) { bytes.push_back(value); }
  template <class T>
  void number(T& value) {
    raw(value);
  }
  template <class T>
  void enumerator(T& value, T most) {
    assert(static_cast<uint32_t>(value) <= static_cast<uint32_t>(most));  // or it could not be read back
    (void)most;
    raw(static_cast<uint32_t>(value));
  }
  void text(std::string& value) {
    count(value.size());
    bytes += value;
  }
  template <class T>
  uint32_t resize(std::vector<T>& list) {
    return count(list.size());
  }
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool good() const { return good_; }
  bool at_end() const { return at_ == end_; }
  bool enter() { return good_ = good_ && ++depth_ <= kMostNested; }
  void leave() {
    assert(depth_ > 0);
    --depth_;
  }
  /// Of elements of at least a byte each, so that no count asks for more memory than the bytes there are.
  uint32_t count(size_t) {
    uint32_t n = 0;
    number(n);
    if (n > static_cast<size_t>(end_ - at_)) good_ = false;
    return good_ ? n : 0;
  }
  template <class T>
  void number(T& value) {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    if (static_cast<size_t>(end_ - at_) < sizeof value) good_ = false;
    if (!good_) return;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
  }
  void flag(bool& value) {
    uint8_t byte = 0;
    number(byte);
    value = byte != 0;
  }
  template <class T>
  void enumerator(T& value, T most) {
    uint32_t number_of = 0;
    number(number_of);
    if (number_of > static_cast<uint32_t>(most)) good_ = false;
    if (good_) value = static_cast<T>(number_of);
  }
  void text(std::string& value) {
    const uint32_t size_B = count(0);
    assert(size_B <= static_cast<size_t>(end_ - at_));
    value.assign(at_, size_B);
    at_ += size_B;
  }
  template <class T>
  uint32_t resize(std::vector<T>& list) {
    list.clear();
    list.resize(count(0));
    return static_cast<uint32_t>(list.size());
  }

 private:
  const char *at_, *end_;
  bool good_ = true;
  uint32_t depth_ = 0;
};

template <class A, class T>
void list_of(A& archive, std::vector<T>& list) {
  archive.resize(list);
  for (T& one : list) {
    if (!archive.good()) return;
    fields(archive, one);
  }
}

template <class A>
void fields(A& archive, ReflectedType& t) {
  if (!archive.enter()) return;
  archive.enumerator(t.kind, ReflectedType::Kind::sampled_image);
  archive.enumerator(t.base, ReflectedType::Base::u64);
  archive.number(t.rows), archive.number(t.columns), archive.number(t.array_length);
  archive.number(t.array_stride_B), archive.number(t.matrix_stride_B), archive.number(t.size_B);
  archive.flag(t.row_major), archive.flag(t.multisampled), archive.flag(t.depth_compare);
  archive.enumerator(t.dim, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY), archive.enumerator(t.format, VK_FORMAT_B10G11R11_UFLOAT_PACK32);
  list_of(archive, t.members);
  archive.leave();
}

template <class A>
void fields(A& archive, ReflectedType::Member& m) {
  archive.text(m.name), archive.number(m.offset_B);
  fields(archive, m.type);
}

template <class A>
void fields(A& archive, ReflectedVariable& v) {
  archive.text(v.name), archive.number(v.location), archive.number(v.component), archive.flag(v.used), archive.flag(v.patch),
      archive.flag(v.primitive);
  fields(archive, v.type);
}

template <class A>
void fields(A& archive, ReflectedBinding& b) {
  archive.text(b.name), archive.text(b.block_name);
  archive.number(b.set), archive.number(b.binding), archive.number(b.count), archive.number(b.input_attachment_index);
  archive.enumerator(b.descriptor, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT);
  archive.flag(b.readonly), archive.flag(b.writeonly), archive.flag(b.used);
  fields(archive, b.type);
}

template <class A>
void fields(A& archive, ReflectedConstant& c) {
  archive.text(c.name), archive.number(c.constant_id), archive.number(c.default_bits);
  fields(archive, c.type);
}

template <class A>
void fields(A& archive, Reflection& r) {
  archive.enumerator(r.stage, VK_SHADER_STAGE_MESH_BIT_EXT);
  for (uint32_t& size : r.workgroup_size) archive.number(size);
  archive.text(r.entry_point);
  list_of(archive, r.inputs), list_of(archive, r.outputs), list_of(archive, r.bindings), list_of(archive, r.constants);
  archive.flag(r.has_push_constants);
  fields(archive, r.push_constants);
}

template <class A, class B>
void fields(A& archive, std::pair<uint32_t, B>& two) {
  archive.number(two.first), archive.number(two.second);
}

template <class A>
void fields(A& archive, InputAttachment& i) {
  archive.number(i.variable), archive.number(i.set), archive.number(i.binding), archive.number(i.index), archive.number(i.count),
      archive.flag(i.multisampled), archive.flag(i.tile_image);
  archive.enumerator(i.base, ReflectedType::Base::u64);
  archive.text(i.name);
}

template <class A>
void fields(A& archive, PrimitiveModes& m) {
  archive.number(m.input_vertices), archive.number(m.made_vertices), archive.number(m.output_vertices), archive.number(m.invocations);
  archive.number(m.output_primitives);
  archive.enumerator(m.domain, PrimitiveModes::Domain::isolines), archive.enumerator(m.spacing, PrimitiveModes::Spacing::fractional_odd);
  archive.enumerator(m.order, PrimitiveModes::Order::counter_clockwise), archive.flag(m.point_mode);
}

template <class A>
void fields(A& archive, CapturedWord& w) {
  archive.number(w.stream), archive.number(w.buffer), archive.number(w.offset_B), archive.number(w.location), archive.number(w.component);
}

template <class A>
void fields(A& archive, InterfaceWord& w) {
  archive.number(w.location), archive.number(w.component), archive.flag(w.patch), archive.flag(w.primitive), archive.number(w.scalar_B);
  archive.number(w.half_B);
  archive.number(w.offset_B), archive.number(w.vertex_step_B), archive.number(w.vertices);
}

template <class A>
void fields(A& archive, InterfaceMemory& m) {
  list_of(archive, m.words), archive.number(m.size_B);
}

template <class A>
void fields(A& archive, StageTraits& t) {
  fields(archive, t.modes), fields(archive, t.reads), fields(archive, t.leaves);
  list_of(archive, t.transform_feedback.words);
  for (uint32_t& stride_B : t.transform_feedback.stride_B) archive.number(stride_B);
  archive.number(t.clip_distances), archive.number(t.cull_distances), archive.number(t.outputs_written);
  archive.number(t.private_memory_B), archive.number(t.instructions), archive.number(t.shared_memory_B);
  archive.number(t.open_loop_instructions);
  archive.number(t.payload_offset_B), archive.number(t.payload_B);
  for (uint32_t& size : t.workgroup_size) archive.number(size);
  for (bool* flag : {&t.discards,
                     &t.writes_depth,
                     &t.writes_sample_mask,
                     &t.writes_stencil,
                     &t.reads_sample_mask,
                     &t.reads_helper,
                     &t.interlocked,
                     &t.asks_who_runs,
                     &t.uses_centroid,
                     &t.per_sample,
                     &t.reads_primitive_id,
                     &t.writes_layer,
                     &t.writes_viewport_index,
                     &t.writes_point_size,
                     &t.writes_shading_rate,
                     &t.writes_primitive_id,
                     &t.reads_front_facing,
                     &t.reads_frag_coord,
                     &t.early_fragment_tests,
                     &t.post_depth_coverage,
                     &t.reads_tile,
                     &t.dual_source,
                     &t.writes_memory,
                     &t.atomic_results_used,
                     &t.reads_written_memory,
                     &t.reads_addresses,
                     &t.writes_addresses,
                     &t.loops,
                     &t.open_loops,
                     &t.uses_images,
                     &t.loads_words,
                     &t.tile_crosses_lanes,
                     &t.crosses_lanes,
                     &t.lanes_alone,
                     &t.waits,
                     &t.orders_lanes,
                     &t.orders_groups})
    archive.flag(*flag);
  archive.enumerator(t.depth_layout, DepthLayout::unchanged);
  for (ReflectedType::Base& base : t.output_base) archive.enumerator(base, ReflectedType::Base::u64);
  list_of(archive, t.input_attachments), list_of(archive, t.written_bindings);
  archive.text(t.side_effect_line), archive.text(t.discard_line), archive.text(t.tile_cross_line);
}

template <class A>
void fields(A& archive, FaintSample& s) {
  archive.number(s.set), archive.number(s.binding), archive.number(s.component), archive.number(s.colors);
  archive.number(s.most), archive.enumerator(s.becomes, Faint::gone), archive.flag(s.neighbours);
  for (uint32_t axis = 0; axis < 2; axis++) archive.number(s.location[axis]), archive.number(s.word[axis]);
}

template <class A>
void fields(A& archive, FaintSamples& samples) {
  list_of(archive, samples.list);
}

template <class A>
void fields(A& archive, VaryingComponent& c) {
  archive.number(c.location), archive.number(c.component);
  archive.enumerator(c.interpolation, Interpolation::flat);
  archive.flag(c.centroid), archive.flag(c.sample), archive.flag(c.patch), archive.number(c.corner);
}

template <class A>
void fields(A& archive, VaryingLayout& layout) {
  list_of(archive, layout.components);
}

template <class A>
void fields(A& archive, uint32_t& number) {
  archive.number(number);
}

template <class A>
void fields(A& archive, NamedElements& n) {
  list_of(archive, n.constant), list_of(archive, n.always), archive.flag(n.any), archive.flag(n.any_always);
}

template <class A>
void fields(A& archive, BufferSlot& s) {
  archive.number(s.set), archive.number(s.binding), archive.number(s.count), archive.flag(s.writable), fields(archive, s.named);
  archive.enumerator(s.type, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT);
  // Not its place, which is the pipeline's.
}

template <class A>
void fields(A& archive, TextureSlot& s) {
  archive.number(s.image_set), archive.number(s.image_binding), archive.number(s.sampler_set), archive.number(s.sampler_binding);
  archive.enumerator(s.type, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT);
  archive.number(s.image_count), archive.number(s.sampler_count), archive.number(s.uses), archive.flag(s.combined), archive.flag(s.offsets),
      archive.flag(s.normalized);
  fields(archive, s.named);
}

template <class A>
void fields(A& archive, ResourceTable& t) {
  list_of(archive, t.buffers), list_of(archive, t.textures);
}

template <class T>
void map_of(Writer& archive, std::map<Specialization, T>& table) {
  archive.count(table.size());
  for (auto& [key, value] : table) {
    Specialization specialization = key;
    list_of(archive, specialization), fields(archive, value);
  }
}

template <class T>
void map_of(Reader& archive, std::map<Specialization, T>& table) {
  table.clear();
  for (uint32_t left = archive.count(0); left && archive.good(); --left) {
    Specialization specialization;
    T value;
    list_of(archive, specialization), fields(archive, value);
    table.insert_or_assign(std::move(specialization), std::move(value));
  }
}

template <class A>
void fields(A& archive, ModuleFacts& facts) {
  map_of(archive, facts.traits), map_of(archive, facts.varyings), map_of(archive, facts.resources), map_of(archive, facts.faint);
  map_of(archive, facts.reflections);
}

}  // namespace

CodeKey record_key(const std::vector<uint32_t>& words, const std::string& entry_point) {
  CodeKey key("module 2");
  key.add_bytes(words.data(), words.size() * 4);
  key.add_bytes(entry_point.data(), entry_point.size());
  return key;
}

std::string write_record(const Reflection& reflection, ModuleFacts& facts) {
  Writer archive;
  Reflection copy = reflection;
  fields(archive, copy);
  const std::lock_guard lock(facts.mutex);
  fields(archive, facts);
  facts.grown = false;
  return std::move(archive.bytes);
}

bool read_record(const std::string& bytes, Reflection& reflection, ModuleFacts& facts) {
  Reader archive(bytes);
  fields(archive, reflection);
  const std::lock_guard lock(facts.mutex);
  fields(archive, facts);
  facts.grown = false;
  return archive.good() && archive.at_end();
}

void keep_record(const Jit& jit, const ShaderModule& module) {
  {
    const std::lock_guard lock(module.facts().mutex);
    if (!module.facts().grown) return;
  }
  jit.store_bytes(record_key(module.words(), module.reflection().entry_point), write_record(module.reflection(), module.facts()));
}

}  // namespace tilegpu::shader
