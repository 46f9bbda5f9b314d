// bindings/bind_trace.cpp -- PassTrace as plain Python: maps as NumPy arrays, events and draws as dictionaries.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstring>

#include "bindings.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu::bindings {

namespace {

constexpr const char* kMaps[] = {"rasterized", "early_killed", "hierarchical_z", "pre_pass",          "forward_kill", "shaded",
                                 "sliced",     "discarded",    "late_killed",    "visibility_buffer", "overwritten"};
static_assert(std::size(kMaps) == static_cast<size_t>(FragmentMap::count));
constexpr const char* kSteps[] = {
    "rasterized",         "lrz_primitive",   "lrz_block",        "hierarchical_z",     "early_test", "early_pass",
    "hidden_visibility",  "hidden_pre_pass", "killed_main_pass", "forward_pixel_kill", "sliced",     "shaded",
    "discarded",          "masked",          "late_test",        "not_owned",          "written",    "blended",
    "depth_stencil_only", "overwritten",     "cleared"};
static_assert(std::size(kSteps) == static_cast<size_t>(FragmentStep::count));

py::object id_of(const FragmentId& id) {
  if (id.draw < 0) return py::none();
  return py::make_tuple(id.draw, id.instance, id.primitive);
}

py::dict event_of(const FragmentEvent& e) {
  py::dict d;
  d["step"] = kSteps[static_cast<size_t>(e.step)];
  d["sample"] = e.sample;
  d["fragment"] = id_of(e.fragment);
  d["by"] = id_of(e.by);
  d["depth"] = e.depth;
  d["depth_before"] = e.depth_before;
  d["depth_after"] = e.depth_after;
  d["stencil_before"] = e.stencil_before;
  d["stencil_after"] = e.stencil_after;
  d["color_before"] = e.color_before;
  d["color_after"] = e.color_after;
  return d;
}

py::dict draw_of(const DrawTrace& draw) {
  py::dict d;
  d["fragments_rasterized"] = draw.rasterized;
  d["fragments_shaded"] = draw.shaded;
  d["pixels_shaded"] = draw.pixels_shaded;
  d["sliced_invocations"] = draw.sliced;
  d["helper_invocations"] = draw.helpers;
  d["sliced_helper_invocations"] = draw.sliced_helpers;
  d["fragments_discarded"] = draw.discarded;
  d["fragments_late_killed"] = draw.late_killed;
  d["fragments_overwritten"] = draw.overwritten;
  py::list covers;
  for (const TraceCover& cover : draw.covers) {
    py::dict c;
    c["by_draw"] = cover.by_draw;
    c["fragments"] = cover.fragments;
    c["top_primitive"] = cover.top.primitive;
    c["top_instance"] = cover.top.instance;
    c["top_fragments"] = cover.top_fragments;
    covers.append(c);
  }
  d["covered_by"] = covers;
  return d;
}

}  // namespace

py::object fragment_trace(const PassTrace* trace) {
  if (!trace) return py::none();
  py::dict d;
  d["size"] = py::make_tuple(trace->width_px, trace->height_px);
  d["pixels"] = trace->request.pixels;
  py::dict maps;
  for (size_t i = 0; trace->request.maps && i < trace->maps.size(); i++) {
    py::array_t<int32_t> map({static_cast<py::ssize_t>(trace->height_px), static_cast<py::ssize_t>(trace->width_px)});
    std::memcpy(map.mutable_data(), trace->maps[i].data(), trace->maps[i].size() * sizeof(int32_t));
    maps[kMaps[i]] = map;
  }
  d["maps"] = maps;
  py::list draws, events, tiles;
  if (trace->request.maps)
    for (const DrawTrace& draw : trace->draws) draws.append(draw_of(draw));
  for (const auto& pixel : trace->events) {
    py::list list;
    for (const FragmentEvent& event : pixel) list.append(event_of(event));
    events.append(list);
  }
  for (const PassTrace::TileTime& tile : trace->tile_ms)
    tiles.append(py::make_tuple(tile.x_px, tile.y_px, tile.width_px, tile.height_px, tile.ms));
  py::list textures;
  for (const TextureLines& t : trace->textures) textures.append(py::make_tuple(t.image, t.lines, t.tile_lines));
  d["textures"] = textures;
  d["draws"] = draws;
  d["events"] = events;
  d["tiles"] = tiles;
  return d;
}

}  // namespace tilegpu::bindings
