// bindings/bind_submission.cpp -- tilegpu/submission.hpp: submitting, waiting, and what passes found. Long calls run without the GIL; a
// wait looks for Ctrl-C every 50 ms, cancels what it waits for and lets the KeyboardInterrupt through.
#include <chrono>

#include "bindings.hpp"
#include "interrupts.hpp"

namespace tilegpu::bindings {
namespace {

constexpr int64_t kWaitSlice_ms = 50;

// Looks for Ctrl-C while the calling thread executes or waits; the exception follows once the work has ended.
class Interrupts {
 public:
  /// False once there was one.
  bool goes_on() {
    if (interrupted_ || Clock::now() - asked_ < std::chrono::milliseconds(kWaitSlice_ms)) return !interrupted_;
    interrupted_ = ctrl_c_pends();
    asked_ = Clock::now();
    return !interrupted_;
  }
  void raise() const {
    if (interrupted_ && PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool interrupted_ = false;
  Clock::time_point asked_ = Clock::now();
};

// Whatever waits for executions, without the GIL.
template <class Call>
auto interruptible(Call call) {
  Interrupts interrupts;
  const std::function<bool()> goes_on = [&] { return interrupts.goes_on(); };
  auto done = [&] {
    ReleasedGil release;
    return call(goes_on);
  }();
  interrupts.raise();
  return unwrap(std::move(done));
}

using Trace = std::tuple<size_t, bool, std::vector<std::array<int32_t, 2>>>;  // pass, maps, pixels

Ptr<Submission> submit_and_wait(Device& device, std::vector<Ptr<CommandBuffer>> command_buffers, std::vector<Trace> traces) {
  SubmitInfo info{std::move(command_buffers), {}};
  for (auto& [pass, maps, pixels] : traces) info.traces.push_back({pass, {maps, std::move(pixels)}});
  return interruptible([&](const auto& goes_on) { return device.submit_and_wait(std::move(info), goes_on); });
}

void wait(Submission& submission) {
  bool done = false;
  while (!done) {
    {
      ReleasedGil release;
      done = submission.wait(kWaitSlice_ms);
    }
    if (!done && PyErr_CheckSignals() != 0) {
      // The exception is kept; the work ends first, so that nothing runs behind the caller's back.
      py::error_already_set interrupt;
      {
        ReleasedGil release;
        submission.cancel();
        submission.wait(-1);
      }
      throw interrupt;
    }
  }
  if (const Error* error = submission.error()) throw CoreError{*error};
}

void check_executed(const Submission& submission) {
  if (!submission.signaled())
    throw CoreError{{VK_ERROR_INITIALIZATION_FAILED, "the submission has not been executed yet; wait for it, then ask"}};
}

// Python keeps the submission while the call lasts.
const Submission& checked(const Submission& submission, size_t pass) {
  check_executed(submission);
  if (pass >= submission.pass_count()) throw py::index_error("no such pass");
  return submission;  // NOLINT(bugprone-return-const-ref-from-parameter)
}

const Submission& checked_dispatch(const Submission& submission, size_t dispatch) {
  check_executed(submission);
  if (dispatch >= submission.dispatch_count()) throw py::index_error("no such dispatch");
  return submission;  // NOLINT(bugprone-return-const-ref-from-parameter)
}

py::list explanations(const Submission& submission, size_t pass) {
  py::list rows;
  for (const DrawExplanation& e : submission.explain(pass)) {
    py::dict row;
    row["first_draw"] = e.first_draw;
    row["draws"] = e.draw_count;
    row["part"] = e.part;
    row["pipeline"] = e.pipeline;
    row["early_tests_off"] = e.early_tests_off;
    row["visibility_off"] = e.visibility_off;
    py::list techniques;
    for (const TechniqueExplanation& t : e.techniques) {
      py::dict technique;
      technique["technique"] = t.technique;
      technique["state"] = t.state;
      technique["rule"] = t.rule;
      technique["reason"] = t.reason;
      technique["by_draw"] = t.by_draw;
      techniques.append(technique);
    }
    row["techniques"] = techniques;
    row["low_resolution_z_off"] = e.low_resolution_z_off;
    row["plan"] = e.plan;
    rows.append(row);
  }
  return rows;
}

py::tuple stage_of(const DrawStage& stage) {
  return py::make_tuple(stage.stage, py::bytes(reinterpret_cast<const char*>(stage.words->data()), stage.words->size() * 4),
                        stage.specialization);
}

// What a dispatch ran, and of each binding that it reached how much there was.
py::dict dispatch_program(const Submission& submission, size_t dispatch) {
  const DispatchExplanation found = submission.explain_dispatch(dispatch);
  py::dict row;
  row["pipeline"] = text(found.pipeline);
  row["workgroup_size"] = found.workgroup_size;
  row["uses_addresses"] = found.reads_addresses || found.writes_addresses;
  row["stage"] = stage_of(submission.dispatch_stage(dispatch));
  py::list bound;
  for (const BoundDescriptors& b : found.bound) {
    py::dict binding;
    binding["set"] = b.set, binding["binding"] = b.binding;
    binding["size_B"] = b.size_B, binding["written"] = b.written;
    binding["format"] = static_cast<int>(b.format);
    bound.append(binding);
  }
  row["bound"] = bound;
  return row;
}

py::list draw_programs(const Submission& submission, size_t pass) {
  py::list rows;
  for (const DrawPrograms& p : submission.draw_programs(pass)) {
    py::dict row;
#define TILEGPU_FIELD(name) row[#name] = p.name
    TILEGPU_FIELD(first_draw);
    TILEGPU_FIELD(pipeline);
    TILEGPU_FIELD(varyings_B);
    TILEGPU_FIELD(opaque);
    TILEGPU_FIELD(reads_tile);
    TILEGPU_FIELD(early_test);
    TILEGPU_FIELD(tests_depth);
    TILEGPU_FIELD(writes_depth);
    TILEGPU_FIELD(decides_coverage);
    TILEGPU_FIELD(per_sample);
    TILEGPU_FIELD(writes_color);
    TILEGPU_FIELD(vertex_writes_memory);
    TILEGPU_FIELD(written_targets);
    TILEGPU_FIELD(blend_shader_targets);
    TILEGPU_FIELD(blend_shader_operations);
#undef TILEGPU_FIELD
    row["draws"] = p.draw_count;
    py::list stages, textures;
    for (const DrawStage& stage : p.stages) stages.append(stage_of(stage));
    for (const DrawTexture& t : p.textures) {
      py::dict texture;
      texture["format"] = static_cast<int>(t.format);
#define TILEGPU_FIELD(name) texture[#name] = t.name
      TILEGPU_FIELD(stage);
      TILEGPU_FIELD(set);
      TILEGPU_FIELD(binding);
      TILEGPU_FIELD(width_px);
      TILEGPU_FIELD(height_px);
      TILEGPU_FIELD(levels);
      TILEGPU_FIELD(level_B);
      TILEGPU_FIELD(size_B);
      TILEGPU_FIELD(image);
#undef TILEGPU_FIELD
      textures.append(texture);
    }
    row["stages"] = stages;
    row["textures"] = textures;
    rows.append(row);
  }
  return rows;
}

template <class T>
py::array_t<T> array_of(const std::vector<T>& values, uint32_t rows, uint32_t columns) {
  py::array_t<T> out({rows, columns});
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

py::object low_resolution_z(const LowResolutionZ* found) {
  if (!found) return py::none();
  py::list buffers;
  for (const LowResolutionZ::Buffer& b : found->buffers) {
    py::dict buffer;
    buffer["direction"] = b.direction;
    buffer["texels"] = array_of(b.texels, b.rows, b.columns);
    buffer["texel_px"] = py::make_tuple(b.texel_x_px, b.texel_y_px);
    buffer["fast_clear"] = b.fast_clear;
    buffer["modified"] = array_of(b.modified, b.block_rows, b.block_columns);
    buffer["block_texels"] = py::make_tuple(b.block_x, b.block_y);
    buffers.append(buffer);
  }
  py::dict out;
  out["direction"] = found->direction;
  out["direction_by_draw"] =
      py::array_t<uint8_t>(static_cast<py::ssize_t>(found->direction_by_draw.size()), found->direction_by_draw.data());
  out["buffers"] = buffers;
  out["pair"] = found->pair;
  out["events"] = found->events;
  out["concurrent_binning_off"] = found->concurrent_binning_off;
  return out;
}

}  // namespace

void bind_submission(py::module_& m, py::class_<Device, Ptr<Device>>& device) {
  py::class_<Submission, Ptr<Submission>>(m, "Submission")
      .def("signaled", &Submission::signaled)
      .def("wait", &wait)
      .def("pass_count", &Submission::pass_count)
      .def(
          "pass_parts", [](const Submission& s, size_t pass) { return checked(s, pass).pass_parts(pass); }, py::arg("index"))
      .def(
          "pass_label", [](const Submission& s, size_t pass) { return checked(s, pass).pass_label(pass); }, py::arg("index"))
      .def("dispatch_count", &Submission::dispatch_count)
      .def("command_traffic",
           [](const Submission& s) {
             py::list rows;
             for (size_t i = 0; i < s.command_count(); ++i) {
               const CommandTraffic& t = s.command_traffic(i);
               rows.append(py::make_tuple(t.command, t.read_B, t.written_B));
             }
             return rows;
           })
      .def("image_uses",
           [](const Submission& s) {
             py::list rows;
             for (const ImageUse& u : s.image_uses())
               rows.append(py::make_tuple(u.step, u.pass, u.attachment, u.how, u.write, u.image, u.memory,
                                          py::make_tuple(u.first_B, u.end_B), u.aspects, py::make_tuple(u.first_level, u.end_level),
                                          py::make_tuple(u.first_layer, u.end_layer)));
             return rows;
           })
      .def(
          "dispatch_stats", [](const Submission& s, size_t dispatch) { return checked_dispatch(s, dispatch).dispatch_stats(dispatch); },
          py::arg("index"))
      .def(
          "dispatch_program",
          [](const Submission& s, size_t dispatch) { return dispatch_program(checked_dispatch(s, dispatch), dispatch); }, py::arg("index"))
      .def(
          "pass_stats", [](const Submission& s, size_t pass) { return checked(s, pass).pass_stats(pass); }, py::arg("index"))
      .def(
          "tile_trace", [](const Submission& s, size_t pass) { return tile_trace(checked(s, pass).tile_trace(pass), s.pass_stats(pass)); },
          py::arg("index"))
      .def(
          "fragment_trace", [](const Submission& s, size_t pass) { return fragment_trace(checked(s, pass).fragment_trace(pass)); },
          py::arg("index"))
      .def(
          "describe_framebuffer", [](const Submission& s, size_t pass) { return checked(s, pass).describe_framebuffer(pass); },
          py::arg("index"))
      .def(
          "lint", [](const Submission& s, size_t pass) { return checked(s, pass).lint(pass); }, py::arg("index"))
      .def(
          "draw_programs", [](const Submission& s, size_t pass) { return draw_programs(checked(s, pass), pass); }, py::arg("index"))
      .def(
          "explain", [](const Submission& s, size_t pass) { return explanations(checked(s, pass), pass); }, py::arg("index"))
      .def(
          "concurrent_binning_off", [](const Submission& s, size_t pass) { return checked(s, pass).concurrent_binning_off(pass); },
          py::arg("index"))
      .def(
          "low_resolution_z", [](const Submission& s, size_t pass) { return low_resolution_z(checked(s, pass).low_resolution_z(pass)); },
          py::arg("index"));
  device
      .def(
          "submit",
          [](Device& d, std::vector<Ptr<CommandBuffer>> command_buffers) {
            ReleasedGil release;
            return unwrap(d.submit({std::move(command_buffers), {}}));
          },
          py::arg("command_buffers"))
      .def(
          "submit_one",
          [](Device& d, const Ptr<CommandBuffer>& commands) {
            return interruptible([&](const auto& goes_on) { return d.submit_and_wait({{commands}, {}}, goes_on); });
          },
          py::arg("commands"))
      .def("submit_and_wait", &submit_and_wait, py::arg("command_buffers"), py::arg("traces") = std::vector<Trace>{})
      .def(
          "trace_again",
          [](Device& d, const Ptr<Submission>& submission, size_t pass, bool maps, std::vector<std::array<int32_t, 2>> pixels, bool timed,
             uint32_t layer) {
            const PassTrace trace = interruptible(
                [&](const auto& goes_on) { return d.trace_again(submission, pass, {maps, std::move(pixels), layer, timed}, goes_on); });
            return fragment_trace(&trace);
          },
          py::arg("submission").none(false), py::arg("index"), py::arg("maps"), py::arg("pixels"), py::arg("timed") = false,
          py::arg("layer") = 0);
}

}  // namespace tilegpu::bindings
