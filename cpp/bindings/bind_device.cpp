// bindings/bind_device.cpp -- tilegpu/device.hpp: device, formats. Long calls run without the GIL.
#include <optional>

#include "bindings.hpp"
#include "interrupts.hpp"
#include "tilegpu/compiler.hpp"
#include "tilegpu/device_info.hpp"
#include "tilegpu/job_record.hpp"

namespace tilegpu::bindings {
namespace {

void bind_hidden_surface_removal(py::module_& m) {
  py::enum_<DepthFilter>(m, "DepthFilter")
      .value("off", DepthFilter::off)
      .value("one_plane", DepthFilter::one_plane)
      .value("two_plane", DepthFilter::two_plane)
      .value("three_plane", DepthFilter::three_plane)
      .value("two_plane_skip", DepthFilter::two_plane_skip);
  py::enum_<RenderMode>(m, "RenderMode")
      .value("gmem", RenderMode::gmem)
      .value("sysmem", RenderMode::sysmem)
      .value("autotune", RenderMode::autotune);
  py::class_<HiddenSurfaceRemoval>(m, "HiddenSurfaceRemoval")
      .def(py::init<>())
      .def_readwrite("visibility_buffer", &HiddenSurfaceRemoval::visibility_buffer)
      .def_readwrite("hierarchical_z", &HiddenSurfaceRemoval::hierarchical_z)
      .def_readwrite("pre_pass", &HiddenSurfaceRemoval::pre_pass)
      .def_readwrite("forward_pixel_kill", &HiddenSurfaceRemoval::forward_pixel_kill)
      .def_readwrite("kill_single_samples", &HiddenSurfaceRemoval::kill_single_samples)
      .def_readwrite("deferred_vertex_shading", &HiddenSurfaceRemoval::deferred_vertex_shading)
      .def_readwrite("low_resolution_z", &HiddenSurfaceRemoval::low_resolution_z)
      .def_readwrite("lrz_bidirectional", &HiddenSurfaceRemoval::lrz_bidirectional)
      .def_readwrite("depth_filter", &HiddenSurfaceRemoval::depth_filter)
      .def_readwrite("depth_filter_position", &HiddenSurfaceRemoval::depth_filter_position)
      .def_readwrite("depth_filter_spacing", &HiddenSurfaceRemoval::depth_filter_spacing)
      .def_readwrite("depth_filter_counters", &HiddenSurfaceRemoval::depth_filter_counters);
  m.def("default_hsr", &default_hsr, py::arg("profile"));
  m.def("has_bidirectional_lrz", &has_bidirectional_lrz, py::arg("profile"));
}

Ptr<Device> create_device(std::string profile, uint32_t threads, uint32_t lanes, std::string jit_target, uint32_t bin_px,
                          uint32_t vertex_batch, std::string cache_dir, uint64_t tiler_heap_B, std::optional<HiddenSurfaceRemoval> hsr,
                          bool compress_samples, bool ordered_atomics, uint64_t loop_budget, uint64_t indirect_budget, bool lrz_flush,
                          RenderMode render_mode, std::optional<std::pair<double, uint64_t>> compiler_limits) {
  ReleasedGil release;
  Ptr<Device> device =
      unwrap(Device::create({std::move(profile), threads, lanes, std::move(jit_target), bin_px, vertex_batch, std::move(cache_dir),
                             tiler_heap_B, hsr, compress_samples, ordered_atomics, loop_budget, indirect_budget, lrz_flush, render_mode}));
  if (compiler_limits) unwrap(isolate_compiler(*device, {compiler_limits->first, compiler_limits->second}));
  return device;
}

py::dict info_of(Device& device) {
  const DeviceInfo i = device.info();
  py::dict d;
  d["cpu"] = i.cpu;
  d["cpu_features"] = i.cpu_features;
  d["llvm_version"] = i.llvm_version;
  d["jit_target"] = i.jit_target;
  d["vectors"] = i.vectors;
  d["cache_dir"] = path_text(i.cache_dir);
  d["cache_off_because"] = text(cache_off_because(device));
  d["profile"] = i.profile;
  d["lanes"] = i.lanes;
  d["threads"] = i.threads;
  d["vertex_batch"] = i.vertex_batch;
  d["vertex_group"] = i.vertex_group;
  d["kill_queue"] = i.kill_queue;
  d["deferred_triangle_px2"] = i.deferred_triangle_px2;
  d["vertex_input_cache_B"] = i.vertex_input_cache_B;
  return d;
}

py::dict compile_stats_of(const Device& device) {
  const CompileStats s = device.compile_stats();
  py::dict d;
  d["pipelines"] = s.pipelines;
  d["functions_compiled"] = s.functions_compiled;
  d["functions_from_memory"] = s.functions_from_memory;
  d["functions_from_disk"] = s.functions_from_disk;
  d["functions_waiting"] = s.functions_waiting;
  d["glsl_compiled"] = s.glsl_compiled;
  d["glsl_from_disk"] = s.glsl_from_disk;
  d["modules_validated"] = s.modules_validated;
  d["compile_ms"] = s.compile_ms;
  d["load_ms"] = s.load_ms;
  return d;
}

// Submissions as (start, end, runs), runs as (phase, start, end, jobs); in nanoseconds.
py::list job_records_of(Device& device) {
  py::list submissions;
  for (const RecordedSubmission& submission : take_job_records(device)) {
    py::list runs;
    for (const RecordedRun& run : submission.runs) runs.append(py::make_tuple(run.phase, run.start_ns, run.end_ns, run.jobs_ns));
    submissions.append(py::make_tuple(submission.start_ns, submission.end_ns, runs));
  }
  return submissions;
}

}  // namespace

void bind_device(py::module_& m) {
  m.def("version", &version);
  m.def("profile_names", &profile_names);
  m.def("shading_rate_obstacle", &shading_rate_obstacle, py::arg("profile"));
  bind_interrupts(m);
  bind_hidden_surface_removal(m);

  py::class_<Device, Ptr<Device>> device_class(m, "Device");
  bind_submission(m, device_class);
  device_class
      .def(py::init(&create_device), py::arg("profile"), py::arg("threads"), py::arg("lanes"), py::arg("jit_target"), py::arg("bin_px"),
           py::arg("vertex_batch"), py::arg("cache_dir"), py::arg("tiler_heap_B") = 0, py::arg("hsr") = py::none(),
           py::arg("compress_samples") = true, py::arg("ordered_atomics") = true, py::arg("loop_budget") = 0,
           py::arg("indirect_budget") = 0, py::arg("lrz_flush") = true, py::arg("render_mode") = RenderMode::gmem,
           py::arg("compiler_limits") = py::none())
      .def_property_readonly("hsr", &Device::hsr)
      .def("info", &info_of)
      .def("cache_files", &Device::cache_files)
      .def(
          "export_cache_entry", [](Device& device, const std::string& name) { return py::bytes(export_cache_entry(device, name)); },
          py::arg("name"))
      .def("import_cache_entry", &import_cache_entry, py::arg("name"), py::arg("entry"))
      .def("compile_stats", &compile_stats_of)
      .def(
          "create_pipeline",
          [](Device& device, GraphicsPipelineCreateInfo info) {
            ReleasedGil release;
            return unwrap(device.create_pipeline(std::move(info)));
          },
          py::arg("info"))
      .def(
          "buffer_address", [](Device& device, const Ptr<Buffer>& buffer) { return unwrap(device.buffer_address(buffer)); },
          py::arg("buffer").none(false))
      .def("record_jobs", &record_jobs, py::arg("on"), py::call_guard<ReleasedGil>())
      .def("take_job_records", &job_records_of)
      .def("empty_runs_ns", &empty_runs_ns, py::arg("jobs"), py::arg("runs"), py::call_guard<ReleasedGil>())
      .def("cancel", &Device::cancel)
      .def("wait_compiles", &Device::wait_compiles, py::call_guard<ReleasedGil>())
      .def("wait_idle", &Device::wait_idle, py::call_guard<ReleasedGil>());
}

}  // namespace tilegpu::bindings
