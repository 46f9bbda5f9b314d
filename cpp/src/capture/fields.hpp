// capture/fields.hpp -- what of Vulkan's structs is in a file: one description of each, for writing and for reading.
// In, out: structs, bytes.
// `a` is a Writer or a Reader. Enumerators are checked here, where the API takes them as they come; whether values fit one another the
// API checks when the objects are made. What is new in a struct belongs here, with a new version (capture/file.hpp).
#pragma once

#include "capture/bytes.hpp"
#include "tilegpu/device.hpp"

namespace tilegpu::capture {

inline constexpr auto kSampleCounts = {VK_SAMPLE_COUNT_1_BIT, VK_SAMPLE_COUNT_2_BIT, VK_SAMPLE_COUNT_4_BIT, VK_SAMPLE_COUNT_8_BIT,
                                       VK_SAMPLE_COUNT_16_BIT};
inline constexpr uint64_t kMostItems = 1u << 24;  // of any list; what fits the file is the narrower limit

template <class A>
void fields(A& a, VkRect2D& r) {
  a.number(r.offset.x, "x"), a.number(r.offset.y, "y"), a.number(r.extent.width, "width"), a.number(r.extent.height, "height");
}

template <class A>
void fields(A& a, VkViewport& v) {
  a.number(v.x, "x"), a.number(v.y, "y"), a.number(v.width, "width"), a.number(v.height, "height");
  a.number(v.minDepth, "minDepth"), a.number(v.maxDepth, "maxDepth");
}

template <class A>
void fields(A& a, VkClearValue& v) {
  for (uint32_t& word : v.color.uint32) a.number(word, "clear value");
}

template <class A>
void fields(A& a, BufferCreateInfo& i) {
  a.number(i.size_B, "size"), a.number(i.usage, "usage"), a.text(i.label, "label");
}

template <class A>
void fields(A& a, ImageCreateInfo& i) {
  a.number(i.format, "format"), a.number(i.width_px, "width"), a.number(i.height_px, "height");
  a.number(i.mip_levels, "levels"), a.number(i.array_layers, "layers");
  a.below(i.type, VK_IMAGE_TYPE_3D + 1, "image type"), a.number(i.depth_px, "depth");
  a.among(i.samples, kSampleCounts, "samples");
  a.number(i.usage, "usage"), a.number(i.flags, "flags");
  a.below(i.tiling, 2, "tiling");
  a.text(i.label, "label");
}

template <class A>
void fields(A& a, SamplerYcbcrConversionCreateInfo& i) {
  a.number(i.format, "format"), a.below(i.model, VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020 + 1, "model");
  a.below(i.range, VK_SAMPLER_YCBCR_RANGE_ITU_NARROW + 1, "range");
  for (VkComponentSwizzle* s : {&i.components.r, &i.components.g, &i.components.b, &i.components.a})
    a.below(*s, VK_COMPONENT_SWIZZLE_A + 1, "components");
  for (VkChromaLocation* at : {&i.x_chroma_offset, &i.y_chroma_offset}) a.below(*at, VK_CHROMA_LOCATION_MIDPOINT + 1, "chroma offset");
  a.below(i.chroma_filter, 2, "chroma filter"), a.flag(i.force_explicit_reconstruction, "explicit reconstruction");
}

// Equal ones need not be one object.
inline void conversion(Writer& w, const Ptr<SamplerYcbcrConversion>& c) {
  bool there = c != nullptr;
  w.flag(there, "conversion");
  if (!there) return;
  SamplerYcbcrConversionCreateInfo info = c->info();
  fields(w, info);
}
inline void conversion(Reader& r, Ptr<SamplerYcbcrConversion>& c) {
  bool there = false;
  r.flag(there, "conversion");
  if (!r.ok() || !there) return;
  SamplerYcbcrConversionCreateInfo info;
  fields(r, info);
  if (!r.ok()) return;
  auto made = SamplerYcbcrConversion::create(info);
  if (made)
    c = *made;
  else
    r.fail(made.error().message);
}

template <class A>
void filter_field(A& a, VkFilter& filter) {
  static constexpr auto kFilters = {VK_FILTER_NEAREST, VK_FILTER_LINEAR, VK_FILTER_CUBIC_EXT};
  a.among(filter, kFilters, "filter");
}

// Without the image.
template <class A>
void fields(A& a, ImageViewCreateInfo& i) {
  a.below(i.type, VK_IMAGE_VIEW_TYPE_CUBE_ARRAY + 1, "view type");
  a.number(i.format, "format");
  a.below(i.aspects, 8, "aspects");
  a.number(i.base_level, "level"), a.number(i.level_count, "levels"), a.number(i.base_layer, "layer"), a.number(i.layer_count, "layers");
  a.number(i.first_slice, "slice"), a.number(i.slice_count, "slices");
  for (VkComponentSwizzle* s : {&i.swizzle.r, &i.swizzle.g, &i.swizzle.b, &i.swizzle.a}) a.below(*s, VK_COMPONENT_SWIZZLE_A + 1, "swizzle");
  conversion(a, i.ycbcr);
  a.number(i.min_lod, "min_lod");
}

// Without the buffer.
template <class A>
void fields(A& a, BufferViewCreateInfo& i) {
  a.number(i.format, "format"), a.number(i.offset_B, "offset"), a.number(i.range_B, "range");
}

template <class A>
void fields(A& a, SamplerCreateInfo& i) {
  filter_field(a, i.mag_filter), filter_field(a, i.min_filter), a.below(i.mipmap_mode, 2, "mipmap mode");
  for (VkSamplerAddressMode* m : {&i.address_u, &i.address_v, &i.address_w}) a.below(*m, 5, "address mode");
  a.number(i.mip_lod_bias, "bias"), a.number(i.min_lod, "min_lod"), a.number(i.max_lod, "max_lod");
  a.flag(i.compare_enable, "compare"), a.below(i.compare_op, 8, "compare op");
  static constexpr auto kBorders = {VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK, VK_BORDER_COLOR_INT_TRANSPARENT_BLACK,
                                    VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK,      VK_BORDER_COLOR_INT_OPAQUE_BLACK,
                                    VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE,      VK_BORDER_COLOR_INT_OPAQUE_WHITE,
                                    VK_BORDER_COLOR_FLOAT_CUSTOM_EXT,        VK_BORDER_COLOR_INT_CUSTOM_EXT};
  a.among(i.border_color, kBorders, "border color"), a.flag(i.unnormalized_coordinates, "unnormalized");
  a.flag(i.non_seamless_cube_map, "non-seamless cube map");
  for (uint32_t& bits : i.custom_border_color.uint32) a.number(bits, "border color");
  a.below(i.reduction_mode, 3, "reduction mode"), a.number(i.max_anisotropy, "anisotropy");
  conversion(a, i.ycbcr);
}

template <class A>
void fields(A& a, VkStencilOpState& s) {
  for (VkStencilOp* op : {&s.failOp, &s.passOp, &s.depthFailOp}) a.below(*op, 8, "stencil op");
  a.below(s.compareOp, 8, "stencil compare op");
  a.number(s.compareMask, "mask"), a.number(s.writeMask, "mask"), a.number(s.reference, "reference");
}

template <class A>
void conservative_fields(A& a, RasterizationState& r) {
  a.below(r.conservative_mode, VK_CONSERVATIVE_RASTERIZATION_MODE_UNDERESTIMATE_EXT + 1, "conservative rasterization mode");
  a.number(r.extra_overestimation_px, "extra overestimation size");
}
template <class A>
void line_fields(A& a, RasterizationState& r) {
  a.below(r.line_mode, VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT + 1, "line rasterization mode");
  a.flag(r.line_stipple, "line stipple");
  a.number(r.line_stipple_factor, "stipple factor"), a.number(r.line_stipple_pattern, "stipple pattern");
}
template <class A>
void fields(A& a, SampleLocations& locations) {
  static constexpr auto kCounts = {0u, 1u, 2u, 4u, 8u, 16u};
  a.among(locations.count, kCounts, "sample locations");
  for (float& v : locations.at_px) {
    uint32_t sixteenths = static_cast<uint32_t>(v * 16);
    a.below(sixteenths, 16, "sample location");
    v = static_cast<float>(sixteenths) / 16;
  }
}
template <class A>
void fields(A& a, AdvancedBlend& blend) {
  a.flag(blend.src_premultiplied, "premultiplied source"), a.flag(blend.dst_premultiplied, "premultiplied destination");
  a.flag(blend.clamp_results, "clamped results"), a.below(blend.overlap, VK_BLEND_OVERLAP_CONJOINT_EXT + 1, "blend overlap");
}

template <class A>
void fields(A& a, FragmentShadingRateState& s) {
  static constexpr auto kSizes = {1u, 2u, 4u};
  a.among(s.width_px, kSizes, "fragment width"), a.among(s.height_px, kSizes, "fragment height");
  for (VkFragmentShadingRateCombinerOpKHR& op : s.combiner_ops) a.below(op, VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MUL_KHR + 1, "combiner");
}

template <class A>
void depth_clamp_fields(A& a, RasterizationState& r) {
  a.flag(r.depth_clamp_user, "depth clamp range"), a.number(r.min_depth_clamp, "depth clamp"), a.number(r.max_depth_clamp, "depth clamp");
}

template <class A>
void depth_bias_fields(A& a, RasterizationState& r) {
  a.number(r.depth_bias_constant, "bias"), a.number(r.depth_bias_clamp, "bias"), a.number(r.depth_bias_slope, "bias");
  a.below(r.depth_bias_representation, static_cast<uint64_t>(DepthBiasRepresentation::floating) + 1, "depth bias representation");
}

// A list with a limit, as if it were a vector.
template <class A, class T, uint32_t N, class Fields>
void fixed_list(A& a, FixedList<T, N>& list, size_t least_B, const char* what, Fields item_fields) {
  std::vector<T> items(list.begin(), list.end());
  a.list(items, least_B, N, what, item_fields);
  list.assign(items.begin(), items.end());
}

template <class A>
void rectangle_fields(A& a, DiscardRectangleState& s) {
  fixed_list(a, s.rectangles, 16, "discard rectangles", [&](VkRect2D& rect) { fields(a, rect); });
}
template <class A>
void fields(A& a, DiscardRectangleState& s) {
  a.flag(s.enable, "discard rectangles"), a.below(s.mode, VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT + 1, "discard rectangle mode");
  a.below(s.count, kMaxDiscardRectangles + 1, "discard rectangles");
  rectangle_fields(a, s);
}

template <class A>
void fields(A& a, FixedFunctionState& s) {
  a.below(s.topology, VK_PRIMITIVE_TOPOLOGY_PATCH_LIST + 1, "topology"), a.flag(s.primitive_restart, "primitive restart");
  a.number(s.patch_control_points, "patch control points"),
      a.below(s.domain_origin, VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT + 1, "domain origin");
  RasterizationState& r = s.rasterization;
  depth_clamp_fields(a, r);
  a.flag(r.depth_clamp, "depth clamp"), a.below(r.depth_clip, 3, "depth clip"),
      a.flag(r.depth_clip_negative_one_to_one, "negative one to one"), a.flag(r.rasterizer_discard, "discard"),
      a.below(r.polygon_mode, 3, "polygon mode");
  a.below(r.cull_mode, 4, "cull mode"), a.below(r.front_face, 2, "front face"), a.flag(r.depth_bias_enable, "depth bias");
  depth_bias_fields(a, r);
  a.number(r.line_width, "line width"), a.flag(r.provoking_vertex_last, "provoking vertex");
  a.below(r.rasterization_stream, kMaxStreams, "rasterization stream");
  conservative_fields(a, r), line_fields(a, r);
  MultisampleState& m = s.multisample;
  a.among(m.samples, kSampleCounts, "samples"), a.flag(m.sample_shading, "sample shading"), a.number(m.min_sample_shading, "shading");
  a.number(m.sample_mask, "sample mask"), a.flag(m.alpha_to_coverage, "alpha to coverage"), a.flag(m.alpha_to_one, "alpha to one");
  a.flag(m.sample_locations_enable, "sample locations"), fields(a, m.sample_locations);
  DepthStencilState& d = s.depth_stencil;
  a.flag(d.depth_test, "depth test"), a.flag(d.depth_write, "depth write"), a.below(d.depth_compare, 8, "depth compare op");
  a.flag(d.depth_bounds_test, "depth bounds"), a.number(d.min_depth_bounds, "bounds"), a.number(d.max_depth_bounds, "bounds");
  a.flag(d.stencil_test, "stencil test"), fields(a, d.front), fields(a, d.back);
  for (float& c : s.blend_constants) a.number(c, "blend constant");
  fields(a, s.shading_rate), fields(a, s.discard_rectangles);
}

template <class A>
void vertex_input_fields(A& a, GraphicsState& s) {
  fixed_list(a, s.vertex_bindings, 16, "vertex bindings", [&](VertexInputBinding& b) {
    a.number(b.binding, "binding"), a.number(b.stride, "stride"), a.below(b.inputRate, 2, "input rate"), a.number(b.divisor, "divisor");
  });
  fixed_list(a, s.vertex_attributes, 16, "vertex attributes", [&](VkVertexInputAttributeDescription& v) {
    a.number(v.location, "location"), a.number(v.binding, "binding"), a.number(v.format, "format"), a.number(v.offset, "offset");
  });
}

template <class A>
void blend_op_fields(A& a, VkPipelineColorBlendAttachmentState& b) {
  // The advanced ones follow the others.
  constexpr uint32_t kPlain = VK_BLEND_OP_MAX + 1, kAdvanced = VK_BLEND_OP_BLUE_EXT - VK_BLEND_OP_ZERO_EXT + 1;
  for (VkBlendOp* op : {&b.colorBlendOp, &b.alphaBlendOp}) {
    uint32_t number = static_cast<uint32_t>(*op);
    if (number >= kPlain) number = number - VK_BLEND_OP_ZERO_EXT + kPlain;
    a.below(number, kPlain + kAdvanced, "blend op");
    *op = static_cast<VkBlendOp>(number < kPlain ? number : number - kPlain + VK_BLEND_OP_ZERO_EXT);
  }
}
// Without enable and mask.
template <class A>
void blend_equation_fields(A& a, VkPipelineColorBlendAttachmentState& b) {
  for (VkBlendFactor* f : {&b.srcColorBlendFactor, &b.dstColorBlendFactor, &b.srcAlphaBlendFactor, &b.dstAlphaBlendFactor})
    a.below(*f, VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1, "blend factor");
  blend_op_fields(a, b);
}

template <class A>
void fields(A& a, GraphicsState& s) {
  fields(a, static_cast<FixedFunctionState&>(s));
  vertex_input_fields(a, s);
  a.flag(s.blend.logic_op_enable, "logic op"), a.below(s.blend.logic_op, VK_LOGIC_OP_SET + 1, "logic op");
  a.number(s.blend.color_write_enables, "color write enables");
  fixed_list(a, s.blend.attachments, 32, "blend attachments", [&](VkPipelineColorBlendAttachmentState& b) {
    a.below(b.blendEnable, 2, "blend enable");
    blend_equation_fields(a, b);
    a.below(b.colorWriteMask, 16, "write mask");
  });
  for (AdvancedBlend& blend : s.blend.advanced) fields(a, blend);
}

// Without stages and layout.
template <class A>
void fields(A& a, GraphicsPipelineCreateInfo& i) {
  fields(a, static_cast<GraphicsState&>(i));
  a.list(i.color_formats, 4, kMaxColorAttachments, "color formats", [&](VkFormat& f) { a.number(f, "format"); });
  a.number(i.depth_format, "format"), a.number(i.stencil_format, "format");
  for (uint32_t& index : i.input_attachments.color) a.number(index, "input attachment");
  for (uint32_t& location : i.attachment_locations) a.number(location, "attachment location");
  a.number(i.untested_aspects, "untested aspects");
  for (std::optional<uint32_t>* index : {&i.input_attachments.depth, &i.input_attachments.stencil}) {
    bool there = index->has_value();
    uint32_t value = index->value_or(0);
    a.flag(there, "input attachment"), a.number(value, "input attachment");
    *index = there ? std::optional(value) : std::nullopt;
  }
  using Alias = InputAttachmentIndices::Alias;
  a.list(i.input_attachments.aliases, 8, InputAttachmentIndices::kMost, "input attachments", [&](Alias& alias) {
    a.below(alias.attachment, InputAttachmentIndices::kStencil + 1, "input attachment"), a.number(alias.index, "input attachment");
  });
  a.flag(i.input_attachments.others_in_memory, "input attachment");
  a.list(i.dynamic_states, 4, 2 * kDynamicStates, "dynamic states", [&](VkDynamicState& s) { a.number(s, "dynamic state"); });
  a.text(i.label, "label");
}

template <class A>
void fields(A& a, InheritanceInfo& i) {
  a.list(i.color_formats, 4, kMaxColorAttachments, "color formats", [&](VkFormat& f) { a.number(f, "format"); });
  a.number(i.depth_format, "format"), a.number(i.stencil_format, "format"), a.number(i.samples, "samples");
  a.number(i.view_mask, "view mask"), a.flag(i.occlusion_query, "occlusion query"), a.text(i.label, "label");
  a.number(i.pipeline_statistics, "pipeline statistics"), a.flag(i.conditional_rendering, "conditional rendering");
}

template <class A>
void fields(A& a, InheritedActivity& i) {
  a.flag(i.occlusion_query, "occlusion query"), a.number(i.pipeline_statistics, "pipeline statistics");
  a.flag(i.conditional_rendering, "conditional rendering");
}

template <class A>
void fields(A& a, HiddenSurfaceRemoval& h) {
  for (bool* on : {&h.visibility_buffer, &h.hierarchical_z, &h.pre_pass, &h.forward_pixel_kill, &h.kill_single_samples,
                   &h.deferred_vertex_shading, &h.low_resolution_z, &h.lrz_bidirectional})
    a.flag(*on, "hsr");
  a.below(h.depth_filter, 5, "depth filter"), a.below(h.depth_filter_position, 16, "depth filter position");
  a.below(h.depth_filter_spacing, 17, "depth filter spacing"), a.flag(h.depth_filter_counters, "depth filter counters");
}

// Without the views.
template <class A>
void fields(A& a, RenderingAttachment& r) {
  a.among(r.load_op,
          {VK_ATTACHMENT_LOAD_OP_LOAD, VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_LOAD_OP_DONT_CARE, VK_ATTACHMENT_LOAD_OP_NONE_EXT},
          "load op");
  a.among(r.store_op, {VK_ATTACHMENT_STORE_OP_STORE, VK_ATTACHMENT_STORE_OP_DONT_CARE, VK_ATTACHMENT_STORE_OP_NONE}, "store op");
  fields(a, r.clear);
  a.among(r.resolve_mode,
          {VK_RESOLVE_MODE_NONE, VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_AVERAGE_BIT, VK_RESOLVE_MODE_MIN_BIT,
           VK_RESOLVE_MODE_MAX_BIT},
          "resolve mode");
  a.flag(r.input_only, "input only");
}

// Without the views.
template <class A>
void fields(A& a, AttachmentPieces& p) {
  const auto side = [&](auto& given, uint32_t end, const char* what) {
    uint32_t number = given ? static_cast<uint32_t>(*given) + 1 : 0;
    a.below(number, end + 1, what);
    if (number)
      given = static_cast<std::remove_reference_t<decltype(*given)>>(number - 1);
    else
      given.reset();
  };
  const auto mode = [&](VkResolveModeFlagBits& m) {
    a.among(m,
            {VK_RESOLVE_MODE_NONE, VK_RESOLVE_MODE_SAMPLE_ZERO_BIT, VK_RESOLVE_MODE_AVERAGE_BIT, VK_RESOLVE_MODE_MIN_BIT,
             VK_RESOLVE_MODE_MAX_BIT},
            "resolve mode of a piece");
  };
  a.below(p.load, 3, "load of a piece"), side(p.load_border, 3, "border of a load");
  a.flag(p.store_always, "always of a store"), mode(p.store_mode);
  a.below(p.resolve, 12, "source of a resolve"), side(p.resolve_border, 12, "border of a resolve"), mode(p.resolve_mode);
}

template <class A>
void fields(A& a, FramebufferDesc& d) {
  a.number(d.tiler_heap_B, "tiler heap"), a.number(d.draws_a_part, "draws of a part");
  a.flag(d.transaction_elimination, "transaction elimination"), a.flag(d.hsr_prepass, "pre-pass");
}

// Without the attachments.
template <class A>
void fields(A& a, RenderingInfo& i) {
  a.below(i.flags, 8, "rendering flags"), fields(a, i.render_area);
  a.number(i.window.x, "window"), a.number(i.window.y, "window");
  a.number(i.framebuffer.width, "framebuffer"), a.number(i.framebuffer.height, "framebuffer");
  a.number(i.layer_count, "layers"), a.number(i.view_mask, "view mask");
  a.number(i.single_sampled_samples, "samples");
  a.number(i.shading_rate.texel_size.width, "texel size"), a.number(i.shading_rate.texel_size.height, "texel size");
  fields(a, i.desc);
  bool own = i.hsr.has_value();
  HiddenSurfaceRemoval hsr = i.hsr.value_or(HiddenSurfaceRemoval{});
  a.flag(own, "hsr"), fields(a, hsr);
  i.hsr = own ? std::optional(hsr) : std::nullopt;
  a.flag(i.unrestricted_depth, "unrestricted depth");
  a.flag(i.trace_tiles, "trace"), a.text(i.label, "label");
}

template <class A>
void fields(A& a, VkOffset3D& o) {
  a.number(o.x, "x"), a.number(o.y, "y"), a.number(o.z, "z");
}

template <class A>
void fields(A& a, VkExtent3D& e) {
  a.number(e.width, "width"), a.number(e.height, "height"), a.number(e.depth, "depth");
}

// What aspects, levels and layers fit the image the API checks, as it does for applications.
template <class A>
void fields(A& a, VkImageSubresourceLayers& l) {
  a.number(l.aspectMask, "aspects"), a.number(l.mipLevel, "level"), a.number(l.baseArrayLayer, "layer"), a.number(l.layerCount, "layers");
}

template <class A>
void fields(A& a, VkImageSubresourceRange& r) {
  a.number(r.aspectMask, "aspects"), a.number(r.baseMipLevel, "level"), a.number(r.levelCount, "levels");
  a.number(r.baseArrayLayer, "layer"), a.number(r.layerCount, "layers");
}

template <class A>
void fields(A& a, VkBufferCopy2& r) {
  a.number(r.srcOffset, "offset"), a.number(r.dstOffset, "offset"), a.number(r.size, "size");
}

template <class A>
void fields(A& a, VkBufferImageCopy2& r) {
  a.number(r.bufferOffset, "offset"), a.number(r.bufferRowLength, "row length"), a.number(r.bufferImageHeight, "image height");
  fields(a, r.imageSubresource), fields(a, r.imageOffset), fields(a, r.imageExtent);
}

template <class A>
void fields(A& a, VkImageCopy2& r) {
  fields(a, r.srcSubresource), fields(a, r.srcOffset), fields(a, r.dstSubresource), fields(a, r.dstOffset), fields(a, r.extent);
}

template <class A>
void fields(A& a, VkImageResolve2& r) {
  fields(a, r.srcSubresource), fields(a, r.srcOffset), fields(a, r.dstSubresource), fields(a, r.dstOffset), fields(a, r.extent);
}

template <class A>
void fields(A& a, VkImageBlit2& r) {
  fields(a, r.srcSubresource), fields(a, r.dstSubresource);
  for (auto* corners : {&r.srcOffsets, &r.dstOffsets})
    for (VkOffset3D& corner : *corners) fields(a, corner);
}

/// A query as it was when the capture was made.
struct QueryInFile {
  uint32_t query = 0;
  bool available = false;
  std::vector<uint64_t> values;
};
/// `results`: of each query of their pool.
template <class A>
void query_list(A& a, std::vector<QueryInFile>& queries, uint32_t results) {
  a.list(queries, 5 + size_t{8} * results, kMostItems, "results of queries", [&](QueryInFile& q) {
    a.number(q.query, "query"), a.flag(q.available, "availability");
    q.values.resize(results);
    for (uint64_t& value : q.values) a.number(value, "result");
  });
}

}  // namespace tilegpu::capture
