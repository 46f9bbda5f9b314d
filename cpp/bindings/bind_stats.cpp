// bindings/bind_stats.cpp -- tilegpu/stats.hpp: a pass's counters as a dictionary; the front end makes it readable.
#include "bindings.hpp"

namespace tilegpu::bindings {
namespace {

template <class Bytes>
py::dict causes_of(const Bytes& bytes) {
  py::dict d;
  for (size_t cause = 0; cause < bytes.size(); ++cause) d[kTrafficCauseNames[cause]] = bytes[cause];
  return d;
}

py::dict as_dict(const PassStats& s) {
  py::dict d;
  each_counter(s, [&](const char* name, auto value) { d[name] = value; });
  py::dict traffic;
  for (const AttachmentTraffic& attachment : s.traffic) traffic[attachment.attachment.c_str()] = causes_of(attachment.bytes);
  d["traffic"] = traffic;
  py::dict filter;
#define TILEGPU_FIELD(name) filter[#name] = s.depth_filter.name
  TILEGPU_FIELD(position);
  TILEGPU_FIELD(samples_in_front);
  TILEGPU_FIELD(samples_survived);
  TILEGPU_FIELD(samples_rejected);
  TILEGPU_FIELD(samples_failed);
  TILEGPU_FIELD(reads_skipped);
  TILEGPU_FIELD(lines);
#undef TILEGPU_FIELD
  d["depth_filter"] = filter;
  py::list stops;
  for (const PrepassStop& stop : s.prepass_stops) {
    py::dict row;
    row["draw"] = stop.draw;
    row["rule"] = stop.rule;
    row["reason"] = stop.reason;
    row["because_of"] = stop.because_of;
    row["tiles"] = stop.tiles;
    stops.append(row);
  }
  d["prepass_stops"] = stops;
  py::list vertices;
  for (const DrawVertices& draw : s.draw_vertices) {
    py::dict row;
#define TILEGPU_FIELD(name) row[#name] = draw.name
    TILEGPU_FIELD(draw);
    TILEGPU_FIELD(indices);
    TILEGPU_FIELD(vertices_shaded);
    TILEGPU_FIELD(vertices_position_shaded);
    TILEGPU_FIELD(vertices_fetched_B);
    TILEGPU_FIELD(indices_fetched_B);
    TILEGPU_FIELD(vertices_in_tiles);
    TILEGPU_FIELD(vertices_positioned_in_prepass);
    TILEGPU_FIELD(vertices_shaded_in_prepass);
    TILEGPU_FIELD(vertices_shaded_after_prepass);
    TILEGPU_FIELD(primitives_in);
    TILEGPU_FIELD(primitives_out);
    TILEGPU_FIELD(bin_entries);
    TILEGPU_FIELD(vertices_in_batches);
    TILEGPU_FIELD(vertices_kept);
    TILEGPU_FIELD(vertices_kept_in_tiles);
#undef TILEGPU_FIELD
    vertices.append(row);
  }
  d["draw_vertices"] = vertices;
  d["prepass_tiles"] = s.prepass_tiles;
  return d;
}

}  // namespace

py::list tile_trace(const std::vector<TileTrace>& trace, const PassStats& stats) {
  constexpr const char* kParts[] = {"normal", "first", "middle", "last"};
  py::list tiles;
  for (const TileTrace& t : trace) {
    py::dict d;
    d["x"] = t.x_px;
    d["y"] = t.y_px;
    d["width"] = t.width_px;
    d["height"] = t.height_px;
    d["size"] = py::make_tuple(t.width_px, t.height_px);
    d["layer"] = t.layer;
    d["part"] = kParts[t.part];
    d["has_primitives"] = t.has_primitives;
    py::dict traffic;
    for (size_t a = 0; a < t.bytes.size(); ++a) traffic[stats.traffic[a].attachment.c_str()] = causes_of(t.bytes[a]);
    d["traffic"] = traffic;
    tiles.append(d);
  }
  return tiles;
}

void bind_stats(py::module_& m) { py::class_<PassStats>(m, "PassStats").def("asdict", &as_dict); }

}  // namespace tilegpu::bindings
