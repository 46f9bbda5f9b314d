// bindings/bind_capture.cpp -- tilegpu/capture.hpp: recordings to a file and back.
#include "tilegpu/capture.hpp"

#include <algorithm>

#include "bindings.hpp"

namespace tilegpu::bindings {

namespace {

/// Rows for one layer of a block-compressed picture, and their size; null: it has rows.
std::tuple<Ptr<Image>, uint32_t, uint32_t> rows_for(const ImageView& view) {
  const ImageCreateInfo& of = view.image()->info();
  if (of.tiling == ImageTiling::linear) return {};
  const uint32_t width_px = std::max(1u, of.width_px >> view.info().base_level);
  const uint32_t height_px = std::max(1u, of.height_px >> view.info().base_level);
  const Ptr<Image> rows =
      unwrap(Image::create({.format = of.format, .width_px = width_px, .height_px = height_px, .samples = of.samples, .label = of.label}));
  unwrap(rows->ensure_memory());
  return {rows, width_px, height_px};
}

/// Image, level, layer, aspect, and rows for it as above: each part of what passes store.
py::list stored_parts(const Capture& capture) {
  py::list parts;
  for (const Ptr<ImageView>& view : capture.stored) {
    const ImageViewCreateInfo& info = view->info();
    const Ptr<Image> rows = std::get<0>(rows_for(*view));
    for (uint32_t layer = 0; layer < info.layer_count; layer++)
      for (uint32_t aspect = 1; aspect <= info.aspects; aspect <<= 1)
        if (info.aspects & aspect) parts.append(py::make_tuple(view->image(), info.base_level, info.base_layer + layer, aspect, rows));
  }
  return parts;
}

}  // namespace

void bind_capture(py::module_& m) {
  py::class_<Capture>(m, "Capture")
      .def_readonly("command_buffers", &Capture::command_buffers)
      .def_property_readonly("pictures",
                             [](const Capture& capture) {
                               std::vector<std::tuple<Ptr<Image>, uint32_t, uint32_t>> pictures;
                               for (const Ptr<ImageView>& view : capture.pictures)
                                 pictures.emplace_back(view->image(), view->info().base_level, view->info().base_layer);
                               return pictures;
                             })
      .def("rows_for_pictures",
           [](const Capture& capture) {
             std::vector<std::tuple<Ptr<Image>, uint32_t, uint32_t>> rows;
             for (const Ptr<ImageView>& view : capture.pictures) rows.push_back(rows_for(*view));
             return rows;
           })
      .def("stored_parts", &stored_parts)
      .def("draws_that_move",
           [](const Capture& capture) {
             std::vector<std::tuple<std::vector<uint32_t>, std::vector<bool>, std::string>> passes;
             for (const CapturedPass& pass : capture.passes) passes.emplace_back(pass.runs, pass.ordered, pass.fixed);
             return passes;
           })
      .def_readonly("buffers", &Capture::buffers);
  m.def(
      "save_capture",
      [](const Ptr<Device>& device, const std::vector<Ptr<CommandBuffer>>& command_buffers, const std::string& path) {
        ReleasedGil release;
        unwrap(save_capture(device, command_buffers, path));
      },
      py::arg("device").none(false), py::arg("command_buffers"), py::arg("path"));
  m.def(
      "load_capture",
      [](const Ptr<Device>& device, const std::string& path, const std::vector<std::pair<uint32_t, std::vector<uint32_t>>>& orders) {
        ReleasedGil release;
        std::vector<DrawOrder> wanted;
        for (const auto& [pass, draws] : orders) wanted.push_back({pass, draws});
        return unwrap(load_capture(device, path, wanted));
      },
      py::arg("device").none(false), py::arg("path"), py::arg("orders") = std::vector<std::pair<uint32_t, std::vector<uint32_t>>>{});
  m.def("capture_profile", [](const std::string& path) { return unwrap(capture_profile(path)); }, py::arg("path"));
}

}  // namespace tilegpu::bindings
