// bindings/plain_draws.cpp -- draws whose arguments are plain, each in one call: what small frames are made of.
//
// In: the arguments of rp.draw, in its order. Out: commands of the open pass. Or false, and nothing was recorded: whatever is unusual, or
// wrong, goes the general way (tilegpu.draw_arguments), which says so. Plain are buffers and arrays of the very types that the pipeline
// was made for, whole numbers, push constants that are floats or bytes, and nothing else given. A part of the front end that is here for
// its speed: what it takes, the general way takes alike.
#include <pybind11/gil_safe_call_once.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "argument_arena.hpp"
#include "held.hpp"
#include "plain_method.hpp"
#include "plain_pipeline.hpp"
#include "slots.hpp"
#include "turn.hpp"

namespace tilegpu::bindings {
namespace {

/// Of a tilegpu.buffer.Buffer.
struct BufferSlots {
  Slot core, usage, device, matrices, row_shape, dtype;
  explicit BufferSlots(PyTypeObject* buffer)
      : core(buffer, "core"),
        usage(buffer, "usage"),
        device(buffer, "_device"),
        matrices(buffer, "matrices"),
        row_shape(buffer, "row_shape"),
        dtype(buffer, "dtype") {}
};

/// What of Python's objects draws look at; found once, never released.
struct Names {
  PyObject *plain, *held, *buffer, *offset, *size, *vertices, *indices, *chunks;
  PyTypeObject *buffer_type, *slice_type, *array_type;
  PyObject* use_of_buffer;
  std::array<PyObject*, 3> index_dtypes;  // of 1, 2 and 4 bytes
  std::optional<BufferSlots> of_buffer;
};

/// Made without a lock that a thread could hold which waits for the GIL.
const Names& names() {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<Names> all;
  const auto find = [] {
    const auto text = [](const char* name) { return PyUnicode_InternFromString(name); };
    const auto kept = [](const py::object& object) { return py::object(object).release().ptr(); };
    const auto type = [&](const py::object& object) { return reinterpret_cast<PyTypeObject*>(kept(object)); };
    const py::module_ buffer = py::module_::import("tilegpu.buffer"), numpy = py::module_::import("numpy");
    Names n{text("_plain"), text("held"), text("buffer"), text("offset"), text("size"), text("vertices"), text("indices"), text("_chunks")};
    n.buffer_type = type(buffer.attr("Buffer")), n.slice_type = type(buffer.attr("BufferSlice")),
    n.array_type = type(numpy.attr("ndarray"));
    n.of_buffer.emplace(n.buffer_type);
    n.use_of_buffer = kept(py::module_::import("tilegpu.uses").attr("use_of_buffer"));
    n.index_dtypes = {kept(numpy.attr("dtype")("uint8")), kept(numpy.attr("dtype")("uint16")), kept(numpy.attr("dtype")("uint32"))};
    return n;
  };
  return all.call_once_and_store_result(find).get_stored();
}

bool whole_of(PyObject* given, int64_t least, int64_t most, int64_t& out) {
  if (!PyLong_CheckExact(given)) return false;
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(given, &overflow);
  return !overflow && out >= least && out <= most;
}

py::object get(PyObject* object, PyObject* name) {
  PyObject* found = PyObject_GetAttr(object, name);
  if (!found) PyErr_Clear();
  return py::reinterpret_steal<py::object>(found);
}

}  // namespace

/// Bytes of a buffer that is drawn from; of an array, where they are copied from.
struct Source {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0, size_B = 0;
  py::object dtype, row_shape;  // of the buffer
  const void* array = nullptr;
  uint64_t count = 0;  // elements
  explicit operator bool() const { return buffer || array; }
};

/// What an open pass has bound by such draws.
class PlainDraws {
 public:
  /// `size_px`: the framebuffer's.
  PlainDraws(Ptr<CommandBuffer> commands, py::object device, py::object device_core, std::pair<uint32_t, uint32_t> size_px)
      : commands_(std::move(commands)),
        device_(std::move(device)),
        device_core_(std::move(device_core)),
        whole_{{0, 0}, {size_px.first, size_px.second}},
        recorder_(*commands_),
        scissor_(whole_) {
    names();
  }

  const Ptr<CommandBuffer>& commands() const { return commands_; }
  const py::list& notes() const { return notes_; }
  /// Copies of arrays, for as long as somebody holds it.
  const Ptr<ArgumentArena>& arena() {
    if (!arena_) arena_ = std::make_shared<ArgumentArena>(*held<ArgumentChunks>(get(device_.ptr(), names().chunks).ptr()));
    return arena_;
  }
  Turn& turn() { return lock_; }
  /// So many draws went this way.
  uint64_t drawn() const { return drawn_; }

  /// The general way goes on: true where it doesn't know what is bound. Of scissors it asks scissor().
  bool take_over() {
    bound_ = nullptr, last_pipeline_ = py::none();
    last_vertices_ = last_indices_ = py::none();
    vertex_buffer_ = index_buffer_ = nullptr;
    sets_ = {};
    pushed_B_ = 0;
    return std::exchange(touched_, false);
  }
  void open() { lock_.plain = true; }
  /// The general way has set this one.
  void open_with(const std::array<int64_t, 4>& scissor) {
    scissor_ = {{static_cast<int32_t>(scissor[0]), static_cast<int32_t>(scissor[1])},
                {static_cast<uint32_t>(scissor[2]), static_cast<uint32_t>(scissor[3])}};
    open();
  }
  std::array<int64_t, 4> scissor() const { return {scissor_.offset.x, scissor_.offset.y, scissor_.extent.width, scissor_.extent.height}; }
  void close() { lock_.plain = false; }
  /// The pass has ended: nothing is bound any more.
  void end() {
    close();
    take_over();
    bound_plain_ = py::object();
  }

  /// False: the general way.
  bool draw(PyObject* const* given);

 private:
  struct Call {
    int64_t first = 0, count = 0, instances = 1, vertex_offset = 0, first_instance = 0;
    const PlainPipeline* pipeline = nullptr;
    py::object plain;  // whose it is; null: the one that is bound
    Source vertices, indices;
    bool same_vertices = false, same_indices = false, indexed = false;
    std::optional<uint64_t> vertex_count, index_count;
    uint32_t index_B = 0;
    VkRect2D scissor{};
    PlainBinds::Bound binds;
    alignas(16) uint8_t push[kMaxPushConstants_B];
  };
  bool take_pipeline(PyObject* given, Call& call) const;
  bool take_buffer(PyObject* given, VkBufferUsageFlagBits usage, Source& out) const;
  bool take_vertices(PyObject* given, Call& call) const;
  bool take_indices(PyObject* given, Call& call) const;
  static bool take_numbers(PyObject* const* given, Call& call);
  static bool take_push(PyObject* given, Call& call);
  bool take_scissor(PyObject* given, Call& call) const;
  static bool reaches_what_is_there(const Call& call);
  void note(PyObject* given, PyObject* how);
  void record(Call& call, PyObject* const* given);

  const Ptr<CommandBuffer> commands_;
  const py::object device_, device_core_;
  const py::list notes_;  // of the pass's uses
  const VkRect2D whole_;
  CommandBuffer& recorder_;
  Turn lock_;
  Ptr<ArgumentArena> arena_;
  const PlainPipeline* bound_ = nullptr;  // of last_pipeline_, which may have another one since
  py::object last_pipeline_ = py::none(), bound_plain_;
  py::object last_vertices_ = py::none(), last_indices_ = py::none();  // buffers that are bound; None: an array, or nothing is known
  uint64_t last_vertex_count_ = 0, last_index_count_ = 0;
  const Buffer *vertex_buffer_ = nullptr, *index_buffer_ = nullptr;
  uint64_t vertex_offset_B_ = 0, index_offset_B_ = 0;
  uint32_t index_B_ = 0, last_index_B_ = 0;
  uint8_t pushed_[kMaxPushConstants_B];
  uint32_t pushed_B_ = 0;  // 0: what was pushed is not known
  VkRect2D scissor_;       // that is set
  PlainBinds::Sets sets_;
  const uint64_t number_ = ++passes_;  // of the pass, among those of the process
  static inline uint64_t passes_ = 0;  // counted with the GIL
  bool touched_ = false;
  uint64_t drawn_ = 0;
};

bool PlainDraws::take_pipeline(PyObject* given, Call& call) const {
  if (bound_ && given == last_pipeline_.ptr()) {
    call.pipeline = bound_;
    return true;
  }
  call.plain = get(given, names().plain);
  if (!call.plain || Py_TYPE(call.plain.ptr()) != class_of<PlainPipeline>()) return false;
  call.pipeline = &value_of<PlainPipeline>(call.plain.ptr());
  return true;
}

bool PlainDraws::take_buffer(PyObject* given, VkBufferUsageFlagBits usage, Source& out) const {
  const Names& n = names();
  py::object whole;
  int64_t offset_B = 0, size_B = -1;
  if (Py_TYPE(given) == n.buffer_type) {
    whole = py::reinterpret_borrow<py::object>(given);
  } else if (Py_TYPE(given) == n.slice_type) {
    whole = get(given, n.buffer);
    const py::object offset = get(given, n.offset), size = get(given, n.size);
    if (!whole || Py_TYPE(whole.ptr()) != n.buffer_type || !offset || !size) return false;
    if (!whole_of(offset.ptr(), 0, INT64_MAX, offset_B) || !whole_of(size.ptr(), 0, INT64_MAX, size_B)) return false;
  } else {
    return false;
  }
  const BufferSlots& of = *n.of_buffer;
  PyObject *const core = of.core.of(whole.ptr()), *const uses = of.usage.of(whole.ptr()), *const device = of.device.of(whole.ptr()),
                  *const matrices = of.matrices.of(whole.ptr()), *const dtype = of.dtype.of(whole.ptr());
  out.row_shape = py::reinterpret_borrow<py::object>(of.row_shape.of(whole.ptr()));
  // Of a buffer that was made of a size, what was written to it since.
  out.dtype = dtype && dtype != Py_None ? py::reinterpret_borrow<py::object>(dtype) : get(whole.ptr(), n.held);
  if (!core || !uses || !device || !matrices || !out.dtype || !out.row_shape) return false;
  const Ptr<Buffer>* const buffer = held<Buffer>(core);
  int64_t mask = 0;
  if (!buffer || !whole_of(uses, 0, UINT32_MAX, mask) || !(mask & usage)) return false;
  if (device != device_core_.ptr() && device != device_.ptr() && device != Py_None) return false;
  if (!PyList_CheckExact(matrices) || PyList_GET_SIZE(matrices)) return false;
  out.buffer = *buffer;
  out.offset_B = static_cast<uint64_t>(offset_B);
  out.size_B = size_B < 0 ? out.buffer->size_B() : static_cast<uint64_t>(size_B);
  return true;
}

namespace {

bool fits(const PlainPipeline& pipeline, const Source& source) {
  if (source.dtype.is_none()) return true;
  if (source.dtype.is(pipeline.dtype) && PyTuple_CheckExact(source.row_shape.ptr()) && !PyTuple_GET_SIZE(source.row_shape.ptr()))
    return true;
  return std::any_of(pipeline.fitting.begin(), pipeline.fitting.end(), [&](const auto& known) {
    return known.first.is(source.dtype) && (known.second.is(source.row_shape) || known.second.equal(source.row_shape));
  });
}

/// A contiguous array of the pipeline's own type.
bool take_array(PyObject* given, const PlainPipeline& pipeline, Source& out) {
  if (Py_TYPE(given) != names().array_type || pipeline.array_dtype.is_none()) return false;
  const auto& array = *py::detail::array_proxy(given);
  if (array.descr != pipeline.array_dtype.ptr() || !(array.flags & py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_) || array.nd < 1)
    return false;
  const auto dimensions = static_cast<size_t>(array.nd);
  uint64_t count = 1;
  if (pipeline.has_fields) {
    for (size_t d = 0; d < dimensions; d++) count *= static_cast<uint64_t>(array.dimensions[d]);
  } else {
    if (dimensions != 1 + pipeline.row_shape.size()) return false;
    if (!std::equal(pipeline.row_shape.begin(), pipeline.row_shape.end(), array.dimensions + 1)) return false;
    count = static_cast<uint64_t>(array.dimensions[0]);
  }
  if (!count) return false;
  out.array = array.data, out.count = count, out.size_B = count * pipeline.row_B;
  return true;
}

}  // namespace

bool PlainDraws::take_vertices(PyObject* given, Call& call) const {
  const PlainPipeline& pipeline = *call.pipeline;
  if (given == Py_None) return !pipeline.has_vertices;
  if (!pipeline.has_vertices) return false;
  if (call.pipeline == bound_ && given == last_vertices_.ptr()) {
    call.same_vertices = true, call.vertex_count = last_vertex_count_;
    return true;
  }
  if (take_array(given, pipeline, call.vertices)) {
    call.vertex_count = call.vertices.count;
    return true;
  }
  if (!take_buffer(given, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, call.vertices) || !fits(pipeline, call.vertices)) return false;
  if (call.vertices.offset_B % pipeline.alignment_B) return false;
  call.vertex_count = call.vertices.count = call.vertices.size_B / std::max(1u, pipeline.stride_B);
  return true;
}

bool PlainDraws::take_indices(PyObject* given, Call& call) const {
  if (given == Py_None) return true;
  call.indexed = true;
  if (given == last_indices_.ptr()) {
    call.same_indices = true, call.index_count = last_index_count_, call.index_B = last_index_B_;
    return true;
  }
  const Names& n = names();
  const auto width = [&](PyObject* dtype) {
    for (uint32_t k = 0; k < 3; k++)
      if (n.index_dtypes[k] == dtype) return 1u << k;
    return 0u;
  };
  if (Py_TYPE(given) == n.array_type) {
    const auto& array = *py::detail::array_proxy(given);
    call.index_B = width(array.descr);
    if (!call.index_B || call.pipeline->restarts || !(array.flags & py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_)) return false;
    uint64_t count = 1;
    for (int d = 0; d < array.nd; d++) count *= static_cast<uint64_t>(array.dimensions[d]);
    if (!count) return false;
    call.indices.array = array.data, call.indices.size_B = count * call.index_B;
    call.index_count = call.indices.count = count;
    return true;
  }
  if (!take_buffer(given, VK_BUFFER_USAGE_INDEX_BUFFER_BIT, call.indices)) return false;
  call.index_B = width(call.indices.dtype.ptr());  // 0: of none that is known the general way says what it is
  if (!call.index_B) return false;
  call.index_count = call.indices.count = call.indices.size_B / call.index_B;
  return true;
}

bool PlainDraws::take_numbers(PyObject* const* given, Call& call) {
  if (!whole_of(given[kInstances], 0, UINT32_MAX, call.instances) || !whole_of(given[kFirst], 0, UINT32_MAX, call.first) ||
      !whole_of(given[kFirstInstance], 0, UINT32_MAX, call.first_instance) ||
      !whole_of(given[kVertexOffset], INT32_MIN, INT32_MAX, call.vertex_offset))
    return false;
  if (given[kCount] != Py_None) return whole_of(given[kCount], 0, UINT32_MAX, call.count);
  const std::optional<uint64_t> available = call.indexed ? call.index_count : call.vertex_count;
  if (!available || *available > UINT32_MAX) return false;
  call.count = static_cast<int64_t>(*available) - call.first;
  return call.count >= 0;
}

bool PlainDraws::take_push(PyObject* given, Call& call) {
  const PlainPipeline& pipeline = *call.pipeline;
  if (given == Py_None || !pipeline.push_B) return given == Py_None && !pipeline.push_B;
  if (PyBytes_CheckExact(given)) {
    if (PyBytes_GET_SIZE(given) != static_cast<Py_ssize_t>(pipeline.push_B)) return false;
    std::memcpy(call.push, PyBytes_AS_STRING(given), pipeline.push_B);
    return true;
  }
  if (!pipeline.block || !PyDict_CheckExact(given)) return false;
  std::memset(call.push, 0, pipeline.push_B);
  return pipeline.block->pack(given, call.push);
}

/// (x, y, width, height); None: the whole, whatever draws before had.
bool PlainDraws::take_scissor(PyObject* given, Call& call) const {
  call.scissor = whole_;
  if (given == Py_None) return true;
  if (!PyTuple_CheckExact(given) || PyTuple_GET_SIZE(given) != 4) return false;
  int64_t rect[4];
  for (Py_ssize_t i = 0; i < 4; i++)
    if (!whole_of(PyTuple_GET_ITEM(given, i), 0, INT32_MAX, rect[i])) return false;
  if (rect[0] + rect[2] > INT32_MAX || rect[1] + rect[3] > INT32_MAX) return false;
  call.scissor = {{static_cast<int32_t>(rect[0]), static_cast<int32_t>(rect[1])},
                  {static_cast<uint32_t>(rect[2]), static_cast<uint32_t>(rect[3])}};
  return true;
}

namespace {

template <class T>
std::pair<int64_t, int64_t> range_of(const void* indices, int64_t first, int64_t count) {
  const auto* const from = static_cast<const T*>(indices) + first;
  T low = from[0], high = from[0];
  for (int64_t i = 0; i < count; i++) low = std::min(low, from[i]), high = std::max(high, from[i]);
  return {low, high};
}

}  // namespace

/// Whole primitives, and nothing beyond the indices or the vertices by what is known when it is recorded.
bool PlainDraws::reaches_what_is_there(const Call& call) {
  const PlainPipeline& pipeline = *call.pipeline;
  if (!call.indexed && call.vertex_offset) return false;
  if (!call.count) return true;
  if (!pipeline.restarts && (call.count % pipeline.step || call.count < pipeline.least)) return false;
  const std::optional<uint64_t> there = call.indexed ? call.index_count : call.vertex_count;
  if (there && static_cast<uint64_t>(call.first + call.count) > *there) return false;
  if (!call.indices.array || !call.vertex_count) return true;
  const auto range = call.index_B == 1 ? range_of<uint8_t> : call.index_B == 2 ? range_of<uint16_t> : range_of<uint32_t>;
  const auto [low, high] = range(call.indices.array, call.first, call.count);
  return low + call.vertex_offset >= 0 && high + call.vertex_offset < static_cast<int64_t>(*call.vertex_count);
}

/// As tilegpu.uses.Uses.note_buffer does.
void PlainDraws::note(PyObject* given, PyObject* how) {
  PyObject* const arguments = PyTuple_Pack(3, given, Py_False, how);
  PyObject* const use = arguments ? PyTuple_Pack(2, names().use_of_buffer, arguments) : nullptr;
  Py_XDECREF(arguments);
  const int failed = use ? PyList_Append(notes_.ptr(), use) : -1;
  Py_XDECREF(use);
  if (failed) throw py::error_already_set();
}

void PlainDraws::record(Call& call, PyObject* const* given) {
  touched_ = true;
  if (call.pipeline != bound_) {
    recorder_.bind_pipeline(call.pipeline->core);
    bound_ = call.pipeline, bound_plain_ = std::move(call.plain);
    last_pipeline_ = py::reinterpret_borrow<py::object>(given[kPipeline]);
    last_vertices_ = py::none();
  }
  const auto take = [&](Source& source, PyObject* from, PyObject* how, py::object& last) {
    if (source.array) {
      source.buffer = arena()->upload(source.array, source.size_B);
      last = py::none();
    } else {
      note(from, how);
      last = py::reinterpret_borrow<py::object>(from);
    }
  };
  if (call.vertices) {
    take(call.vertices, given[kVertices], names().vertices, last_vertices_);
    last_vertex_count_ = call.vertices.count;
    if (call.vertices.buffer.get() != vertex_buffer_ || call.vertices.offset_B != vertex_offset_B_) {
      vertex_buffer_ = call.vertices.buffer.get(), vertex_offset_B_ = call.vertices.offset_B;
      recorder_.bind_vertex_buffer(0, std::move(call.vertices.buffer), vertex_offset_B_);
    }
  }
  if (call.indices) {
    take(call.indices, given[kIndices], names().indices, last_indices_);
    last_index_count_ = call.indices.count, last_index_B_ = call.index_B;
    if (call.indices.buffer.get() != index_buffer_ || call.indices.offset_B != index_offset_B_ || call.index_B != index_B_) {
      index_buffer_ = call.indices.buffer.get(), index_offset_B_ = call.indices.offset_B, index_B_ = call.index_B;
      const VkIndexType type = index_B_ == 1 ? VK_INDEX_TYPE_UINT8_EXT : index_B_ == 2 ? VK_INDEX_TYPE_UINT16 : VK_INDEX_TYPE_UINT32;
      recorder_.bind_index_buffer(std::move(call.indices.buffer), index_offset_B_, type);
    }
  }
  if (call.binds.known) PlainBinds::note(*call.binds.known, number_, notes_);
  if (call.pipeline->binds->needs_any())
    call.pipeline->binds->record(call.binds, recorder_, **held<Device>(device_core_.ptr()), call.binds.count ? arena().get() : nullptr,
                                 sets_);
  const uint32_t push_B = call.pipeline->push_B;
  if (push_B && (push_B != pushed_B_ || std::memcmp(pushed_, call.push, push_B) != 0)) {
    pushed_B_ = 0;
    unwrap(recorder_.push_constants(0, call.push, push_B));
    std::memcpy(pushed_, call.push, push_B);
    pushed_B_ = push_B;
  }
  if (std::memcmp(&call.scissor, &scissor_, sizeof scissor_) != 0) {
    unwrap(recorder_.set_scissor_with_count({&call.scissor, 1}));
    scissor_ = call.scissor;
  }
  const auto count = static_cast<uint32_t>(call.count), instances = static_cast<uint32_t>(call.instances),
             first = static_cast<uint32_t>(call.first), first_instance = static_cast<uint32_t>(call.first_instance);
  unwrap(call.indexed ? recorder_.draw_indexed(count, instances, first, static_cast<int32_t>(call.vertex_offset), first_instance)
                      : recorder_.draw(count, instances, first, first_instance));
}

bool PlainDraws::draw(PyObject* const* given) {
  if (!lock_.plain) return false;
  for (const Argument unusual : {kSets, kViewport, kStencilReference, kBlendConstants, kDepthBias})
    if (given[unusual] != Py_None) return false;
  Call call;
  if (!take_pipeline(given[kPipeline], call)) return false;
  if (given[kBind] != Py_None && !PyDict_CheckExact(given[kBind])) return false;
  if (!take_vertices(given[kVertices], call) || !take_indices(given[kIndices], call) || !take_numbers(given, call) ||
      !reaches_what_is_there(call) || !take_push(given[kPush], call) || !take_scissor(given[kScissor], call) ||
      !call.pipeline->binds->take(given[kBind], number_, call.binds))
    return false;
  if (!lock_.take_at_once()) return false;
  struct Leave {
    Turn& turn;
    ~Leave() { turn.leave(); }
  } const leave{lock_};
  record(call, given);
  drawn_++;
  return true;
}

int draw_plainly(PyObject* of, PyObject* const* given) {
  if (Py_TYPE(of) != class_of<PlainDraws>()) return 0;
  try {
    return value_of<PlainDraws>(of).draw(given);
  } catch (...) {
    set_exception();
    return -1;
  }
}

namespace {

/// A pass of one layer over all of its attachments, begun: what most passes are.
std::unique_ptr<PlainDraws> begin(py::object device, py::object device_core, std::vector<RenderingAttachment> color,
                                  std::optional<RenderingAttachment> depth, std::string label, bool trace_tiles,
                                  std::pair<uint32_t, uint32_t> size_px) {
  auto commands = std::make_shared<CommandBuffer>(device_core.cast<Ptr<Device>>());
  RenderingInfo info;
  info.layer_count = 1;
  info.color = std::move(color);
  if (depth) info.depth = std::move(*depth);
  info.label = std::move(label);
  info.trace_tiles = trace_tiles;
  unwrap(commands->begin());
  unwrap(commands->begin_rendering(info));
  auto draws = std::make_unique<PlainDraws>(std::move(commands), std::move(device), std::move(device_core), size_px);
  draws->open();
  return draws;
}

/// Ends the pass and the recording, as end() too. Whether there is nothing to say of what was recorded; commands(), notes(), drawn().
py::tuple end_pass(PlainDraws& draws) {
  CommandBuffer& commands = *draws.commands();
  unwrap(commands.end_rendering());
  unwrap(commands.end());
  draws.end();
  const bool silent = commands.undefined_reads().empty() && commands.possible_feedback().empty() && commands.lost_primitives().empty();
  return py::make_tuple(silent, draws.commands(), draws.notes(), draws.drawn());
}

}  // namespace

void bind_plain_draws(py::module_& m) {
  py::class_<PlainDraws> draws(m, "PlainDraws");
  draws
      .def(py::init<Ptr<CommandBuffer>, py::object, py::object, std::pair<uint32_t, uint32_t>>(), py::arg("commands").none(false),
           py::arg("device"), py::arg("device_core"), py::arg("size_px"))
      .def_static("begin", &begin, py::arg("device"), py::arg("device_core"), py::arg("color"), py::arg("depth"), py::arg("label"),
                  py::arg("trace_tiles"), py::arg("size_px"))
      .def_property_readonly("commands", &PlainDraws::commands)
      .def_property_readonly("arena", &PlainDraws::arena)
      .def_property_readonly("notes", &PlainDraws::notes)
      .def_property_readonly("drawn", &PlainDraws::drawn)
      .def("take_over", &PlainDraws::take_over)
      .def("open", &PlainDraws::open)
      .def("open_with", &PlainDraws::open_with, py::arg("scissor"))
      .def_property_readonly("scissor", &PlainDraws::scissor)
      .def("close", &PlainDraws::close)
      .def("end_pass", &end_pass)
      .def("end", &PlainDraws::end);
  add_turn(draws, [](PyObject* self) -> Turn& { return value_of<PlainDraws>(self).turn(); });
}

}  // namespace tilegpu::bindings
