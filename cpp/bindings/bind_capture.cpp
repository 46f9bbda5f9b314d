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
      [](const Ptr<Device>& device, const std::string& path) {
        ReleasedGil release;
        return unwrap(load_capture(device, path));
      },
      py::arg("device").none(false), py::arg("path"));
  m.def("capture_profile", [](const std::string& path) { return unwrap(capture_profile(path)); }, py::arg("path"));
}

}  // namespace tilegpu::bindings
