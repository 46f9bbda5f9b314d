// bindings/bind_command.cpp -- tilegpu/command.hpp: command buffers, render passes, queries, copies.
#include <algorithm>
#include <cstring>

#include "bindings.hpp"
#include "tilegpu/compute.hpp"
#include "tilegpu/format.hpp"

namespace tilegpu::bindings {
namespace {

/// Colour clear values take the format's kind: float for normalised and float formats, else integers.
VkClearValue clear_color(int format_number, const std::array<double, 4>& values) {
  const vk::FormatInfo* format = vk::find_format(static_cast<VkFormat>(format_number));
  VkClearValue value{};
  for (int c = 0; c < 4; ++c) {
    if (format && format->numeric == vk::Numeric::uint) {
      value.color.uint32[c] = static_cast<uint32_t>(std::min(std::max(values[c], 0.0), 4294967295.0));
    } else if (format && format->numeric == vk::Numeric::sint) {
      value.color.int32[c] = static_cast<int32_t>(std::min(std::max(values[c], -2147483648.0), 2147483647.0));
    } else {
      value.color.float32[c] = static_cast<float>(values[c]);
    }
  }
  return value;
}

VkClearValue clear_depth_stencil(float depth, uint32_t stencil) {
  VkClearValue value{};
  value.depthStencil = {depth, stencil};
  return value;
}

// Vulkan's structures as tuples, in the order of their fields.
using Layers = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;           // VkImageSubresourceLayers
using Range = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;  // VkImageSubresourceRange
using Offset = std::array<int32_t, 3>;
using Extent = std::array<uint32_t, 3>;
using BufferCopy = std::tuple<uint64_t, uint64_t, uint64_t>;  // srcOffset, dstOffset, size
using BufferImageCopy = std::tuple<uint64_t, uint32_t, uint32_t, Layers, Offset, Extent>;
using ImageCopy = std::tuple<Layers, Offset, Layers, Offset, Extent>;  // VkImageResolve2 too
using ImageBlit = std::tuple<Layers, std::array<Offset, 2>, Layers, std::array<Offset, 2>>;

VkImageSubresourceLayers layers_of(const Layers& l) { return {std::get<0>(l), std::get<1>(l), std::get<2>(l), std::get<3>(l)}; }
VkOffset3D offset_of(const Offset& o) { return {o[0], o[1], o[2]}; }
VkExtent3D extent_of(const Extent& e) { return {e[0], e[1], e[2]}; }

VkBufferCopy2 region_of(const BufferCopy& in) {
  VkBufferCopy2 r{};
  std::tie(r.srcOffset, r.dstOffset, r.size) = in;
  return r;
}

VkBufferImageCopy2 region_of(const BufferImageCopy& in) {
  VkBufferImageCopy2 r{};
  r.bufferOffset = std::get<0>(in), r.bufferRowLength = std::get<1>(in), r.bufferImageHeight = std::get<2>(in);
  r.imageSubresource = layers_of(std::get<3>(in)), r.imageOffset = offset_of(std::get<4>(in)), r.imageExtent = extent_of(std::get<5>(in));
  return r;
}

template <class Region>
Region pair_of(const ImageCopy& in) {
  Region r{};
  r.srcSubresource = layers_of(std::get<0>(in)), r.srcOffset = offset_of(std::get<1>(in));
  r.dstSubresource = layers_of(std::get<2>(in)), r.dstOffset = offset_of(std::get<3>(in));
  r.extent = extent_of(std::get<4>(in));
  return r;
}

VkImageBlit2 region_of(const ImageBlit& in) {
  VkImageBlit2 r{};
  r.srcSubresource = layers_of(std::get<0>(in)), r.dstSubresource = layers_of(std::get<2>(in));
  for (size_t i = 0; i < 2; ++i) r.srcOffsets[i] = offset_of(std::get<1>(in)[i]), r.dstOffsets[i] = offset_of(std::get<3>(in)[i]);
  return r;
}

VkImageSubresourceRange range_of(const Range& r) {
  return {std::get<0>(r), std::get<1>(r), std::get<2>(r), std::get<3>(r), std::get<4>(r)};
}

template <class In, class Convert>
auto all_of(const std::vector<In>& in, Convert convert) {
  std::vector<decltype(convert(in.front()))> out;
  out.reserve(in.size());
  for (const In& region : in) out.push_back(convert(region));
  return out;
}

// Commands by topic, each of them on the class of command buffers.
using CommandBufferClass = py::class_<CommandBuffer, Ptr<CommandBuffer>>;

// Recording, and parts of passes.
void bind_recording(CommandBufferClass& c) {
  c.def("begin", [](CommandBuffer& cb) { unwrap(cb.begin()); })
      .def(
          "begin_part",
          [](CommandBuffer& cb, const std::vector<int>& color_formats, int depth_format, int stencil_format, uint32_t samples,
             bool occlusion_query, std::string label, uint32_t view_mask) {
            InheritanceInfo info;
            for (int format : color_formats) info.color_formats.push_back(static_cast<VkFormat>(format));
            info.depth_format = static_cast<VkFormat>(depth_format), info.stencil_format = static_cast<VkFormat>(stencil_format);
            info.samples = samples;
            info.occlusion_query = occlusion_query;
            info.label = std::move(label);
            info.view_mask = view_mask;
            info.pipeline_statistics = ~0u, info.conditional_rendering = true;  // nothing is lost by it
            unwrap(cb.begin(info));
          },
          py::arg("color_formats"), py::arg("depth_format"), py::arg("stencil_format"), py::arg("samples"), py::arg("occlusion_query"),
          py::arg("label"), py::arg("view_mask") = 0)
      .def(
          "execute_commands",
          [](CommandBuffer& cb, const std::vector<Ptr<CommandBuffer>>& secondaries) { unwrap(cb.execute_commands(secondaries)); },
          py::arg("secondaries"))
      .def("end", [](CommandBuffer& cb) { unwrap(cb.end()); })
      .def("reset", &CommandBuffer::reset)
      .def_property_readonly("state", [](const CommandBuffer& cb) {
        constexpr const char* kNames[] = {"initial", "recording", "executable"};
        return kNames[static_cast<size_t>(cb.state())];
      });
}

// Render passes.
void bind_rendering(CommandBufferClass& c) {
  c.def(
       "begin_rendering",
       [](CommandBuffer& cb, std::vector<RenderingAttachment> color, RenderingAttachment depth, RenderingAttachment stencil,
          const std::array<int64_t, 4>& area, uint32_t layer_count, uint32_t single_sampled_samples, std::string label,
          std::optional<HiddenSurfaceRemoval> hsr, bool trace_tiles, uint32_t flags, uint32_t view_mask,
          const std::array<int32_t, 2>& window, const std::array<uint32_t, 2>& framebuffer, const FramebufferDesc& desc,
          Ptr<ImageView> shading_rate, const std::array<uint32_t, 2>& shading_rate_texel_px) {
         RenderingInfo info;
         info.render_area = rect_of(area);
         info.layer_count = layer_count;
         info.view_mask = view_mask;
         info.color = std::move(color);
         info.depth = std::move(depth);
         info.stencil = std::move(stencil);
         info.single_sampled_samples = single_sampled_samples;
         info.label = std::move(label);
         info.hsr = hsr;
         info.trace_tiles = trace_tiles;
         info.flags = flags;
         info.window = {window[0], window[1]};
         info.framebuffer = {framebuffer[0], framebuffer[1]};
         info.desc = desc;
         info.shading_rate = {std::move(shading_rate), {shading_rate_texel_px[0], shading_rate_texel_px[1]}};
         unwrap(cb.begin_rendering(info));
       },
       py::arg("color"), py::arg("depth"), py::arg("stencil"), py::arg("area"), py::arg("layer_count"), py::arg("single_sampled_samples"),
       py::arg("label"), py::arg("hsr") = py::none(), py::arg("trace_tiles") = false, py::arg("flags") = 0, py::arg("view_mask") = 0,
       py::arg("window") = std::array<int32_t, 2>{}, py::arg("framebuffer") = std::array<uint32_t, 2>{},
       py::arg("desc") = FramebufferDesc{}, py::arg("shading_rate") = Ptr<ImageView>(),
       py::arg("shading_rate_texel_px") = std::array<uint32_t, 2>{})
      .def("end_rendering", [](CommandBuffer& cb) { unwrap(cb.end_rendering()); })
      .def("discard_rendering", &CommandBuffer::discard_rendering)
      .def("undefined_reads", &CommandBuffer::undefined_reads)
      .def("lost_primitives", &CommandBuffer::lost_primitives)
      .def("possible_feedback", &CommandBuffer::possible_feedback);
}

// What draws use: the pipeline, buffers, sets, and state that the commands of Vulkan 1.0 set.
void bind_bound(CommandBufferClass& c) {
  c.def("bind_pipeline", py::overload_cast<Ptr<Pipeline>>(&CommandBuffer::bind_pipeline), py::arg("pipeline").none(false))
      .def(
          "bind_vertex_buffer",
          [](CommandBuffer& cb, uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B) {
            if (binding >= kMaxVertexBindings) throw py::index_error("vertex binding out of range");
            cb.bind_vertex_buffer(binding, std::move(buffer), offset_B);
          },
          py::arg("binding"), py::arg("buffer"), py::arg("offset_B"))
      .def(
          "bind_index_buffer",
          [](CommandBuffer& cb, Ptr<Buffer> buffer, uint64_t offset_B, int type) {
            cb.bind_index_buffer(std::move(buffer), offset_B, static_cast<VkIndexType>(type));
          },
          py::arg("buffer"), py::arg("offset_B"), py::arg("type"))
      .def(
          "bind_descriptor_set",
          [](CommandBuffer& cb, uint32_t set, Ptr<DescriptorSet> descriptors) {
            if (set >= kMaxDescriptorSets) throw py::index_error("descriptor set out of range");
            cb.bind_descriptor_set(set, std::move(descriptors));
          },
          py::arg("set"), py::arg("descriptors"))
      .def(
          "push_constants",
          [](CommandBuffer& cb, uint32_t offset_B, const py::bytes& data) {
            const std::string_view view = data;
            unwrap(cb.push_constants(offset_B, view.data(), static_cast<uint32_t>(std::min<size_t>(view.size(), UINT32_MAX))));
          },
          py::arg("offset_B"), py::arg("data"))
      .def(
          "set_viewports",
          [](CommandBuffer& cb, const std::vector<std::array<float, 6>>& viewports) {
            std::vector<VkViewport> list;
            for (const auto& [x, y, width, height, min_depth, max_depth] : viewports)
              list.push_back({x, y, width, height, min_depth, max_depth});
            unwrap(cb.set_viewport_with_count(list));
          },
          py::arg("viewports"))
      .def("reset_viewport", &CommandBuffer::reset_viewport)
      .def(
          "set_scissors",
          [](CommandBuffer& cb, const std::vector<std::array<int64_t, 4>>& rects) {
            std::vector<VkRect2D> list;
            for (const std::array<int64_t, 4>& rect : rects) list.push_back(rect_of(rect));
            unwrap(cb.set_scissor_with_count(list));
          },
          py::arg("rects"))
      .def("set_blend_constants", &CommandBuffer::set_blend_constants, py::arg("constants"))
      .def("set_stencil_reference", &CommandBuffer::set_stencil_reference, py::arg("faces"), py::arg("reference"))
      .def(
          "set_depth_bias",
          [](CommandBuffer& commands, float constant, float clamp, float slope, int representation) {
            commands.set_depth_bias(constant, clamp, slope, static_cast<DepthBiasRepresentation>(representation));
          },
          py::arg("constant"), py::arg("clamp"), py::arg("slope"), py::arg("representation") = 0);
}

// Dispatches, and what they use.
void bind_dispatches(CommandBufferClass& c) {
  c.def("bind_compute_pipeline", py::overload_cast<Ptr<ComputePipeline>>(&CommandBuffer::bind_pipeline), py::arg("pipeline").none(false))
      .def(
          "bind_compute_descriptor_set",
          [](CommandBuffer& cb, uint32_t set, Ptr<DescriptorSet> descriptors) {
            if (set >= kMaxDescriptorSets) throw py::index_error("descriptor set out of range");
            cb.bind_descriptor_set(set, std::move(descriptors), {}, VK_PIPELINE_BIND_POINT_COMPUTE);
          },
          py::arg("set"), py::arg("descriptors"))
      .def(
          "dispatch_base",
          [](CommandBuffer& cb, const std::array<uint32_t, 3>& base, const std::array<uint32_t, 3>& groups) {
            unwrap(cb.dispatch_base(base[0], base[1], base[2], groups[0], groups[1], groups[2]));
          },
          py::arg("base"), py::arg("groups"))
      .def(
          "dispatch_indirect",
          [](CommandBuffer& cb, Ptr<Buffer> buffer, uint64_t offset_B) { unwrap(cb.dispatch_indirect(std::move(buffer), offset_B)); },
          py::arg("buffer"), py::arg("offset_B"))
      .def(
          "begin_conditional_rendering",
          [](CommandBuffer& cb, Ptr<Buffer> buffer, uint64_t offset_B, bool inverted) {
            unwrap(cb.begin_conditional_rendering({std::move(buffer), offset_B}, inverted));
          },
          py::arg("buffer"), py::arg("offset_B"), py::arg("inverted"))
      .def("end_conditional_rendering", [](CommandBuffer& cb) { unwrap(cb.end_conditional_rendering()); });
}

void bind_draws(CommandBufferClass& c) {
  c.def(
       "draw",
       [](CommandBuffer& cb, uint32_t count, uint32_t instances, uint32_t first, uint32_t first_instance) {
         unwrap(cb.draw(count, instances, first, first_instance));
       },
       py::arg("vertex_count"), py::arg("instance_count"), py::arg("first_vertex"), py::arg("first_instance"))
      .def(
          "draw_indexed",
          [](CommandBuffer& cb, uint32_t count, uint32_t instances, uint32_t first, int32_t vertex_offset, uint32_t first_instance) {
            unwrap(cb.draw_indexed(count, instances, first, vertex_offset, first_instance));
          },
          py::arg("index_count"), py::arg("instance_count"), py::arg("first_index"), py::arg("vertex_offset"), py::arg("first_instance"))
      .def(
          "draw_indirect",
          [](CommandBuffer& cb, bool indexed, Ptr<Buffer> buffer, uint64_t offset_B, uint32_t count, uint32_t stride_B, Ptr<Buffer> draws,
             uint64_t draws_offset_B) {
            const BufferPlace place{std::move(draws), draws_offset_B};
            if (place.buffer)
              return unwrap(indexed ? cb.draw_indexed_indirect_count(std::move(buffer), offset_B, place, count, stride_B)
                                    : cb.draw_indirect_count(std::move(buffer), offset_B, place, count, stride_B));
            unwrap(indexed ? cb.draw_indexed_indirect(std::move(buffer), offset_B, count, stride_B)
                           : cb.draw_indirect(std::move(buffer), offset_B, count, stride_B));
          },
          py::arg("indexed"), py::arg("buffer"), py::arg("offset_B"), py::arg("draw_count"), py::arg("stride_B"),
          py::arg("draws") = nullptr, py::arg("draws_offset_B") = 0)
      .def(
          "draw_mesh_tasks",
          [](CommandBuffer& cb, const std::array<uint32_t, 3>& groups) { unwrap(cb.draw_mesh_tasks(groups[0], groups[1], groups[2])); },
          py::arg("groups"))
      .def(
          "draw_mesh_tasks_indirect",
          [](CommandBuffer& cb, Ptr<Buffer> buffer, uint64_t offset_B, uint32_t count, uint32_t stride_B, Ptr<Buffer> draws,
             uint64_t draws_offset_B) {
            const BufferPlace place{std::move(draws), draws_offset_B};
            unwrap(place.buffer ? cb.draw_mesh_tasks_indirect_count(std::move(buffer), offset_B, place, count, stride_B)
                                : cb.draw_mesh_tasks_indirect(std::move(buffer), offset_B, count, stride_B));
          },
          py::arg("buffer"), py::arg("offset_B"), py::arg("draw_count"), py::arg("stride_B"), py::arg("draws") = nullptr,
          py::arg("draws_offset_B") = 0)
      .def(
          "clear_attachment",
          [](CommandBuffer& cb, int attachment, uint32_t aspects, const VkClearValue& value,
             const std::optional<std::array<int64_t, 4>>& rect, uint32_t base_layer, uint32_t layer_count) {
            const VkRect2D where = rect ? rect_of(*rect) : kWholeRenderArea;
            unwrap(cb.clear_attachment(attachment, aspects, value, where, base_layer, layer_count));
          },
          py::arg("attachment"), py::arg("aspects"), py::arg("value"), py::arg("rect"), py::arg("base_layer") = 0,
          py::arg("layer_count") = VK_REMAINING_ARRAY_LAYERS);
}

using Places = std::vector<std::tuple<Ptr<Buffer>, uint64_t, uint64_t>>;
std::vector<BufferPlace> places_of(const Places& places) {
  std::vector<BufferPlace> out;
  for (const auto& [buffer, offset_B, size_B] : places) out.push_back({buffer, offset_B, size_B});
  return out;
}

void bind_queries(CommandBufferClass& c) {
  c.def(
       "begin_query",
       [](CommandBuffer& cb, Ptr<QueryPool> pool, uint32_t query, bool precise, uint32_t stream) {
         unwrap(cb.begin_query_indexed(std::move(pool), query, precise, stream));
       },
       py::arg("pool"), py::arg("query"), py::arg("precise"), py::arg("stream") = 0)
      .def(
          "bind_transform_feedback_buffers",
          [](CommandBuffer& cb, const Places& buffers) { unwrap(cb.bind_transform_feedback_buffers(0, places_of(buffers))); },
          py::arg("buffers"))
      .def(
          "begin_transform_feedback",
          [](CommandBuffer& cb, const Places& counters) { unwrap(cb.begin_transform_feedback(0, places_of(counters))); },
          py::arg("counters"))
      .def(
          "end_transform_feedback",
          [](CommandBuffer& cb, const Places& counters) { unwrap(cb.end_transform_feedback(0, places_of(counters))); }, py::arg("counters"))
      .def(
          "draw_indirect_byte_count",
          [](CommandBuffer& cb, Ptr<Buffer> counter, uint64_t offset_B, uint32_t stride_B) {
            unwrap(cb.draw_indirect_byte_count(1, 0, std::move(counter), offset_B, 0, stride_B));
          },
          py::arg("counter"), py::arg("offset_B"), py::arg("vertex_stride_B"))
      .def(
          "end_query", [](CommandBuffer& cb, Ptr<QueryPool> pool, uint32_t query) { unwrap(cb.end_query(std::move(pool), query)); },
          py::arg("pool"), py::arg("query"))
      .def(
          "reset_query_pool",
          [](CommandBuffer& cb, Ptr<QueryPool> pool, uint32_t first, uint32_t count) {
            unwrap(cb.reset_query_pool(std::move(pool), first, count));
          },
          py::arg("pool"), py::arg("first"), py::arg("count"))
      .def(
          "write_timestamp",
          [](CommandBuffer& cb, Ptr<QueryPool> pool, uint32_t query) { unwrap(cb.write_timestamp(std::move(pool), query)); },
          py::arg("pool"), py::arg("query"))
      .def(
          "copy_query_pool_results",
          [](CommandBuffer& cb, Ptr<QueryPool> pool, uint32_t first, uint32_t count, Ptr<Buffer> destination, uint64_t offset_B,
             uint64_t stride_B, VkQueryResultFlags flags) {
            unwrap(cb.copy_query_pool_results(std::move(pool), first, count, std::move(destination), offset_B, stride_B, flags));
          },
          py::arg("pool"), py::arg("first"), py::arg("count"), py::arg("destination"), py::arg("offset_B"), py::arg("stride_B"),
          py::arg("flags"));
}

// Transfers from one object to another.
void bind_copies(CommandBufferClass& c) {
  c.def(
       "copy_buffer",
       [](CommandBuffer& cb, Ptr<Buffer> source, Ptr<Buffer> destination, const std::vector<BufferCopy>& regions) {
         unwrap(cb.copy_buffer(std::move(source), std::move(destination), all_of(regions, [](const auto& r) { return region_of(r); })));
       },
       py::arg("source"), py::arg("destination"), py::arg("regions"))
      .def(
          "copy_buffer_to_image",
          [](CommandBuffer& cb, Ptr<Buffer> source, Ptr<Image> destination, const std::vector<BufferImageCopy>& regions) {
            unwrap(cb.copy_buffer_to_image(std::move(source), std::move(destination),
                                           all_of(regions, [](const auto& r) { return region_of(r); })));
          },
          py::arg("source"), py::arg("destination"), py::arg("regions"))
      .def(
          "copy_image_to_buffer",
          [](CommandBuffer& cb, Ptr<Image> source, Ptr<Buffer> destination, const std::vector<BufferImageCopy>& regions) {
            unwrap(cb.copy_image_to_buffer(std::move(source), std::move(destination),
                                           all_of(regions, [](const auto& r) { return region_of(r); })));
          },
          py::arg("source"), py::arg("destination"), py::arg("regions"))
      .def(
          "copy_image",
          [](CommandBuffer& cb, Ptr<Image> source, Ptr<Image> destination, const std::vector<ImageCopy>& regions) {
            unwrap(cb.copy_image(std::move(source), std::move(destination), all_of(regions, pair_of<VkImageCopy2>)));
          },
          py::arg("source"), py::arg("destination"), py::arg("regions"))
      .def(
          "blit_image",
          [](CommandBuffer& cb, Ptr<Image> source, Ptr<Image> destination, const std::vector<ImageBlit>& regions, int filter) {
            unwrap(cb.blit_image(std::move(source), std::move(destination), all_of(regions, [](const auto& r) { return region_of(r); }),
                                 static_cast<VkFilter>(filter)));
          },
          py::arg("source"), py::arg("destination"), py::arg("regions"), py::arg("filter"))
      .def(
          "resolve_image",
          [](CommandBuffer& cb, Ptr<Image> source, Ptr<Image> destination, const std::vector<ImageCopy>& regions) {
            unwrap(cb.resolve_image(std::move(source), std::move(destination), all_of(regions, pair_of<VkImageResolve2>)));
          },
          py::arg("source"), py::arg("destination"), py::arg("regions"));
}

// Transfers within one object.
void bind_fills(CommandBufferClass& c) {
  c.def(
       "fill_buffer",
       [](CommandBuffer& cb, Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B, uint32_t word) {
         unwrap(cb.fill_buffer(std::move(buffer), offset_B, size_B, word));
       },
       py::arg("buffer"), py::arg("offset_B"), py::arg("size_B"), py::arg("word"))
      .def(
          "update_buffer",
          [](CommandBuffer& cb, Ptr<Buffer> buffer, uint64_t offset_B, const std::string& bytes) {
            unwrap(cb.update_buffer(std::move(buffer), offset_B, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
          },
          py::arg("buffer"), py::arg("offset_B"), py::arg("data"))
      .def(
          "clear_color_image",
          [](CommandBuffer& cb, Ptr<Image> image, const VkClearValue& value, const std::vector<Range>& ranges) {
            unwrap(cb.clear_color_image(std::move(image), value.color, all_of(ranges, range_of)));
          },
          py::arg("image"), py::arg("value"), py::arg("ranges"))
      .def(
          "clear_depth_stencil_image",
          [](CommandBuffer& cb, Ptr<Image> image, const VkClearValue& value, const std::vector<Range>& ranges) {
            unwrap(cb.clear_depth_stencil_image(std::move(image), value.depthStencil, all_of(ranges, range_of)));
          },
          py::arg("image"), py::arg("value"), py::arg("ranges"))
      .def(
          "generate_mipmaps", [](CommandBuffer& cb, Ptr<Image> image) { unwrap(cb.generate_mipmaps(std::move(image))); }, py::arg("image"));
}

template <class E>
std::optional<E> given(int number) {
  return number < 0 ? std::nullopt : std::optional(static_cast<E>(number));
}

void bind_pieces(py::module_& m) {
  py::class_<AttachmentPieces>(m, "AttachmentPieces")
      .def(py::init([](int load, int load_border, Ptr<ImageView> load_view, Ptr<ImageView> store_view, bool store_always, int store_mode,
                       int resolve, int resolve_border, int resolve_mode, Ptr<ImageView> resolve_view) {
             return AttachmentPieces{static_cast<TileLoad>(load),
                                     given<TileLoad>(load_border),
                                     std::move(load_view),
                                     std::move(store_view),
                                     store_always,
                                     static_cast<VkResolveModeFlagBits>(store_mode),
                                     static_cast<TileSource>(resolve),
                                     given<TileSource>(resolve_border),
                                     static_cast<VkResolveModeFlagBits>(resolve_mode),
                                     std::move(resolve_view)};
           }),
           py::arg("load"), py::arg("load_border"), py::arg("load_view"), py::arg("store_view"), py::arg("store_always"),
           py::arg("store_mode"), py::arg("resolve"), py::arg("resolve_border"), py::arg("resolve_mode"), py::arg("resolve_view"));
  py::class_<FramebufferDesc>(m, "FramebufferDesc")
      .def(py::init([](uint64_t tiler_heap_B, uint32_t draws_a_part, bool transaction_elimination, bool hsr_prepass) {
             return FramebufferDesc{tiler_heap_B, draws_a_part, transaction_elimination, hsr_prepass};
           }),
           py::arg("tiler_heap_B") = 0, py::arg("draws_a_part") = 0, py::arg("transaction_elimination") = true,
           py::arg("hsr_prepass") = true);
}

void bind_attachment(py::module_& m) {
  py::class_<VkClearValue>(m, "ClearValue")
      .def_static("color", &clear_color, py::arg("format"), py::arg("values"))
      .def_static("depth_stencil", &clear_depth_stencil, py::arg("depth"), py::arg("stencil"));

  py::class_<RenderingAttachment>(m, "RenderingAttachment")
      .def(py::init([](Ptr<ImageView> view, int load_op, int store_op, const VkClearValue& clear, int resolve_mode,
                       Ptr<ImageView> resolve_view) {
             return RenderingAttachment{
                 std::move(view), static_cast<VkAttachmentLoadOp>(load_op),         static_cast<VkAttachmentStoreOp>(store_op),
                 clear,           static_cast<VkResolveModeFlagBits>(resolve_mode), std::move(resolve_view)};
           }),
           py::arg("view"), py::arg("load_op"), py::arg("store_op"), py::arg("clear"), py::arg("resolve_mode"), py::arg("resolve_view"))
      .def(py::init<>())
      .def("own", [](RenderingAttachment& a, AttachmentPieces pieces) { a.pieces = std::move(pieces); }, py::arg("pieces"));
}

void bind_query_pool(py::module_& m) {
  py::class_<QueryPool, Ptr<QueryPool>>(m, "QueryPool")
      .def(py::init([](uint32_t count, bool timestamps) {
             return std::make_shared<QueryPool>(timestamps ? QueryType::timestamp : QueryType::occlusion, count);
           }),
           py::arg("count"), py::arg("timestamps") = false)
      .def_static(
          "statistics",
          [](uint32_t count, uint32_t statistics) {
            return std::make_shared<QueryPool>(QueryType::pipeline_statistics, count, statistics);
          },
          py::arg("count"), py::arg("statistics"))
      .def_static(
          "transform_feedback", [](uint32_t count) { return std::make_shared<QueryPool>(QueryType::transform_feedback_stream, count); },
          py::arg("count"))
      .def_static(
          "primitives_generated", [](uint32_t count) { return std::make_shared<QueryPool>(QueryType::primitives_generated, count); },
          py::arg("count"))
      .def_static(
          "mesh_primitives_generated",
          [](uint32_t count) { return std::make_shared<QueryPool>(QueryType::mesh_primitives_generated, count); }, py::arg("count"))
      .def(
          "value", [](const QueryPool& pool, size_t query) { return pool.values.at(query).load(); }, py::arg("query"))
      .def("available", [](const QueryPool& pool, size_t query) { return pool.available.at(query).load(); }, py::arg("query"));
}

}  // namespace

void bind_command(py::module_& m) {
  bind_pieces(m);
  bind_attachment(m);
  bind_query_pool(m);
  CommandBufferClass c(m, "CommandBuffer");
  c.def(py::init([](Ptr<Device> device, bool secondary) {
          return std::make_shared<CommandBuffer>(std::move(device),
                                                 secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        }),
        py::arg("device").none(false), py::arg("secondary") = false);
  bind_recording(c);
  bind_rendering(c);
  bind_bound(c);
  bind_dispatches(c);
  bind_draws(c);
  bind_queries(c);
  bind_copies(c);
  bind_fills(c);
}

}  // namespace tilegpu::bindings
