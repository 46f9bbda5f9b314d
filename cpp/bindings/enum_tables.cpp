// bindings/enum_tables.cpp -- Vulkan's enumerations by name, values from Vulkan's header: {"compare_op": {"less": 1, ...}, ...}.
//
// Names are Vulkan's without prefix and without _BIT, lower case; python/tilegpu/enums.py normalises what the user writes.
#include <initializer_list>

#include "bindings.hpp"

namespace tilegpu::bindings {
namespace {

struct Entry {
  const char* name;
  int64_t value;
};

py::dict table(std::initializer_list<Entry> entries) {
  py::dict result;
  for (const Entry& entry : entries) result[entry.name] = entry.value;
  return result;
}

// State of fixed functions, but for blending.
void add_fixed_function(py::dict& t) {
  t["compare_op"] = table({{"never", VK_COMPARE_OP_NEVER},
                           {"less", VK_COMPARE_OP_LESS},
                           {"equal", VK_COMPARE_OP_EQUAL},
                           {"less_or_equal", VK_COMPARE_OP_LESS_OR_EQUAL},
                           {"greater", VK_COMPARE_OP_GREATER},
                           {"not_equal", VK_COMPARE_OP_NOT_EQUAL},
                           {"greater_or_equal", VK_COMPARE_OP_GREATER_OR_EQUAL},
                           {"always", VK_COMPARE_OP_ALWAYS}});
  t["stencil_op"] = table({{"keep", VK_STENCIL_OP_KEEP},
                           {"zero", VK_STENCIL_OP_ZERO},
                           {"replace", VK_STENCIL_OP_REPLACE},
                           {"increment_and_clamp", VK_STENCIL_OP_INCREMENT_AND_CLAMP},
                           {"decrement_and_clamp", VK_STENCIL_OP_DECREMENT_AND_CLAMP},
                           {"invert", VK_STENCIL_OP_INVERT},
                           {"increment_and_wrap", VK_STENCIL_OP_INCREMENT_AND_WRAP},
                           {"decrement_and_wrap", VK_STENCIL_OP_DECREMENT_AND_WRAP}});
  t["cull_mode"] = table({{"none", VK_CULL_MODE_NONE},
                          {"front", VK_CULL_MODE_FRONT_BIT},
                          {"back", VK_CULL_MODE_BACK_BIT},
                          {"front_and_back", VK_CULL_MODE_FRONT_AND_BACK}});
  t["front_face"] = table({{"counter_clockwise", VK_FRONT_FACE_COUNTER_CLOCKWISE}, {"clockwise", VK_FRONT_FACE_CLOCKWISE}});
  t["conservative_rasterization_mode"] = table({{"disabled", VK_CONSERVATIVE_RASTERIZATION_MODE_DISABLED_EXT},
                                                {"overestimate", VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT},
                                                {"underestimate", VK_CONSERVATIVE_RASTERIZATION_MODE_UNDERESTIMATE_EXT}});
  t["discard_rectangle_mode"] =
      table({{"inclusive", VK_DISCARD_RECTANGLE_MODE_INCLUSIVE_EXT}, {"exclusive", VK_DISCARD_RECTANGLE_MODE_EXCLUSIVE_EXT}});
  t["line_rasterization_mode"] = table({{"default", VK_LINE_RASTERIZATION_MODE_DEFAULT_EXT},
                                        {"rectangular", VK_LINE_RASTERIZATION_MODE_RECTANGULAR_EXT},
                                        {"bresenham", VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT},
                                        {"rectangular_smooth", VK_LINE_RASTERIZATION_MODE_RECTANGULAR_SMOOTH_EXT}});
  t["blend_overlap"] = table({{"uncorrelated", VK_BLEND_OVERLAP_UNCORRELATED_EXT},
                              {"disjoint", VK_BLEND_OVERLAP_DISJOINT_EXT},
                              {"conjoint", VK_BLEND_OVERLAP_CONJOINT_EXT}});
  t["fragment_shading_rate_combiner_op"] = table({{"keep", VK_FRAGMENT_SHADING_RATE_COMBINER_OP_KEEP_KHR},
                                                  {"replace", VK_FRAGMENT_SHADING_RATE_COMBINER_OP_REPLACE_KHR},
                                                  {"min", VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MIN_KHR},
                                                  {"max", VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MAX_KHR},
                                                  {"mul", VK_FRAGMENT_SHADING_RATE_COMBINER_OP_MUL_KHR}});
  t["polygon_mode"] = table({{"fill", VK_POLYGON_MODE_FILL}, {"line", VK_POLYGON_MODE_LINE}, {"point", VK_POLYGON_MODE_POINT}});
  t["primitive_topology"] = table({{"point_list", VK_PRIMITIVE_TOPOLOGY_POINT_LIST},
                                   {"line_list", VK_PRIMITIVE_TOPOLOGY_LINE_LIST},
                                   {"line_strip", VK_PRIMITIVE_TOPOLOGY_LINE_STRIP},
                                   {"triangle_list", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST},
                                   {"triangle_strip", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP},
                                   {"triangle_fan", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN},
                                   {"line_list_with_adjacency", VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY},
                                   {"line_strip_with_adjacency", VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY},
                                   {"triangle_list_with_adjacency", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY},
                                   {"triangle_strip_with_adjacency", VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY},
                                   {"patch_list", VK_PRIMITIVE_TOPOLOGY_PATCH_LIST}});
  t["tessellation_domain_origin"] =
      table({{"upper_left", VK_TESSELLATION_DOMAIN_ORIGIN_UPPER_LEFT}, {"lower_left", VK_TESSELLATION_DOMAIN_ORIGIN_LOWER_LEFT}});
  t["vertex_input_rate"] = table({{"vertex", VK_VERTEX_INPUT_RATE_VERTEX}, {"instance", VK_VERTEX_INPUT_RATE_INSTANCE}});
  t["index_type"] = table({{"uint8", VK_INDEX_TYPE_UINT8_EXT}, {"uint16", VK_INDEX_TYPE_UINT16}, {"uint32", VK_INDEX_TYPE_UINT32}});
  t["shader_stage"] = table({{"vertex", VK_SHADER_STAGE_VERTEX_BIT},
                             {"tessellation_control", VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT},
                             {"tessellation_evaluation", VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT},
                             {"geometry", VK_SHADER_STAGE_GEOMETRY_BIT},
                             {"task", VK_SHADER_STAGE_TASK_BIT_EXT},
                             {"mesh", VK_SHADER_STAGE_MESH_BIT_EXT},
                             {"fragment", VK_SHADER_STAGE_FRAGMENT_BIT},
                             {"compute", VK_SHADER_STAGE_COMPUTE_BIT}});
}

void add_attachments(py::dict& t) {
  t["attachment_load_op"] = table({{"load", VK_ATTACHMENT_LOAD_OP_LOAD},
                                   {"clear", VK_ATTACHMENT_LOAD_OP_CLEAR},
                                   {"dont_care", VK_ATTACHMENT_LOAD_OP_DONT_CARE},
                                   {"none", VK_ATTACHMENT_LOAD_OP_NONE_EXT}});
  t["attachment_store_op"] = table(
      {{"store", VK_ATTACHMENT_STORE_OP_STORE}, {"dont_care", VK_ATTACHMENT_STORE_OP_DONT_CARE}, {"none", VK_ATTACHMENT_STORE_OP_NONE}});
  t["resolve_mode"] = table({{"none", VK_RESOLVE_MODE_NONE},
                             {"sample_zero", VK_RESOLVE_MODE_SAMPLE_ZERO_BIT},
                             {"average", VK_RESOLVE_MODE_AVERAGE_BIT},
                             {"min", VK_RESOLVE_MODE_MIN_BIT},
                             {"max", VK_RESOLVE_MODE_MAX_BIT}});
}

void add_blending(py::dict& t) {
  t["blend_factor"] = table({{"zero", VK_BLEND_FACTOR_ZERO},
                             {"one", VK_BLEND_FACTOR_ONE},
                             {"src_color", VK_BLEND_FACTOR_SRC_COLOR},
                             {"one_minus_src_color", VK_BLEND_FACTOR_ONE_MINUS_SRC_COLOR},
                             {"dst_color", VK_BLEND_FACTOR_DST_COLOR},
                             {"one_minus_dst_color", VK_BLEND_FACTOR_ONE_MINUS_DST_COLOR},
                             {"src_alpha", VK_BLEND_FACTOR_SRC_ALPHA},
                             {"one_minus_src_alpha", VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA},
                             {"dst_alpha", VK_BLEND_FACTOR_DST_ALPHA},
                             {"one_minus_dst_alpha", VK_BLEND_FACTOR_ONE_MINUS_DST_ALPHA},
                             {"constant_color", VK_BLEND_FACTOR_CONSTANT_COLOR},
                             {"one_minus_constant_color", VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR},
                             {"constant_alpha", VK_BLEND_FACTOR_CONSTANT_ALPHA},
                             {"one_minus_constant_alpha", VK_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA},
                             {"src_alpha_saturate", VK_BLEND_FACTOR_SRC_ALPHA_SATURATE},
                             {"src1_color", VK_BLEND_FACTOR_SRC1_COLOR},
                             {"one_minus_src1_color", VK_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR},
                             {"src1_alpha", VK_BLEND_FACTOR_SRC1_ALPHA},
                             {"one_minus_src1_alpha", VK_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA}});
  t["blend_op"] = table({{"add", VK_BLEND_OP_ADD},
                         {"subtract", VK_BLEND_OP_SUBTRACT},
                         {"reverse_subtract", VK_BLEND_OP_REVERSE_SUBTRACT},
                         {"min", VK_BLEND_OP_MIN},
                         {"max", VK_BLEND_OP_MAX},
                         {"zero", VK_BLEND_OP_ZERO_EXT},
                         {"src", VK_BLEND_OP_SRC_EXT},
                         {"dst", VK_BLEND_OP_DST_EXT},
                         {"src_over", VK_BLEND_OP_SRC_OVER_EXT},
                         {"dst_over", VK_BLEND_OP_DST_OVER_EXT},
                         {"src_in", VK_BLEND_OP_SRC_IN_EXT},
                         {"dst_in", VK_BLEND_OP_DST_IN_EXT},
                         {"src_out", VK_BLEND_OP_SRC_OUT_EXT},
                         {"dst_out", VK_BLEND_OP_DST_OUT_EXT},
                         {"src_atop", VK_BLEND_OP_SRC_ATOP_EXT},
                         {"dst_atop", VK_BLEND_OP_DST_ATOP_EXT},
                         {"xor", VK_BLEND_OP_XOR_EXT},
                         {"multiply", VK_BLEND_OP_MULTIPLY_EXT},
                         {"screen", VK_BLEND_OP_SCREEN_EXT},
                         {"overlay", VK_BLEND_OP_OVERLAY_EXT},
                         {"darken", VK_BLEND_OP_DARKEN_EXT},
                         {"lighten", VK_BLEND_OP_LIGHTEN_EXT},
                         {"colordodge", VK_BLEND_OP_COLORDODGE_EXT},
                         {"colorburn", VK_BLEND_OP_COLORBURN_EXT},
                         {"hardlight", VK_BLEND_OP_HARDLIGHT_EXT},
                         {"softlight", VK_BLEND_OP_SOFTLIGHT_EXT},
                         {"difference", VK_BLEND_OP_DIFFERENCE_EXT},
                         {"exclusion", VK_BLEND_OP_EXCLUSION_EXT},
                         {"invert", VK_BLEND_OP_INVERT_EXT},
                         {"invert_rgb", VK_BLEND_OP_INVERT_RGB_EXT},
                         {"lineardodge", VK_BLEND_OP_LINEARDODGE_EXT},
                         {"linearburn", VK_BLEND_OP_LINEARBURN_EXT},
                         {"vividlight", VK_BLEND_OP_VIVIDLIGHT_EXT},
                         {"linearlight", VK_BLEND_OP_LINEARLIGHT_EXT},
                         {"pinlight", VK_BLEND_OP_PINLIGHT_EXT},
                         {"hardmix", VK_BLEND_OP_HARDMIX_EXT},
                         {"hsl_hue", VK_BLEND_OP_HSL_HUE_EXT},
                         {"hsl_saturation", VK_BLEND_OP_HSL_SATURATION_EXT},
                         {"hsl_color", VK_BLEND_OP_HSL_COLOR_EXT},
                         {"hsl_luminosity", VK_BLEND_OP_HSL_LUMINOSITY_EXT},
                         {"plus", VK_BLEND_OP_PLUS_EXT},
                         {"plus_clamped", VK_BLEND_OP_PLUS_CLAMPED_EXT},
                         {"plus_clamped_alpha", VK_BLEND_OP_PLUS_CLAMPED_ALPHA_EXT},
                         {"plus_darker", VK_BLEND_OP_PLUS_DARKER_EXT},
                         {"minus", VK_BLEND_OP_MINUS_EXT},
                         {"minus_clamped", VK_BLEND_OP_MINUS_CLAMPED_EXT},
                         {"contrast", VK_BLEND_OP_CONTRAST_EXT},
                         {"invert_ovg", VK_BLEND_OP_INVERT_OVG_EXT},
                         {"red", VK_BLEND_OP_RED_EXT},
                         {"green", VK_BLEND_OP_GREEN_EXT},
                         {"blue", VK_BLEND_OP_BLUE_EXT}});
  t["logic_op"] = table({{"clear", VK_LOGIC_OP_CLEAR},
                         {"and", VK_LOGIC_OP_AND},
                         {"and_reverse", VK_LOGIC_OP_AND_REVERSE},
                         {"copy", VK_LOGIC_OP_COPY},
                         {"and_inverted", VK_LOGIC_OP_AND_INVERTED},
                         {"no_op", VK_LOGIC_OP_NO_OP},
                         {"xor", VK_LOGIC_OP_XOR},
                         {"or", VK_LOGIC_OP_OR},
                         {"nor", VK_LOGIC_OP_NOR},
                         {"equivalent", VK_LOGIC_OP_EQUIVALENT},
                         {"invert", VK_LOGIC_OP_INVERT},
                         {"or_reverse", VK_LOGIC_OP_OR_REVERSE},
                         {"copy_inverted", VK_LOGIC_OP_COPY_INVERTED},
                         {"or_inverted", VK_LOGIC_OP_OR_INVERTED},
                         {"nand", VK_LOGIC_OP_NAND},
                         {"set", VK_LOGIC_OP_SET}});
}

void add_samplers(py::dict& t) {
  t["filter"] = table({{"nearest", VK_FILTER_NEAREST}, {"linear", VK_FILTER_LINEAR}, {"cubic", VK_FILTER_CUBIC_EXT}});
  t["sampler_mipmap_mode"] = table({{"nearest", VK_SAMPLER_MIPMAP_MODE_NEAREST}, {"linear", VK_SAMPLER_MIPMAP_MODE_LINEAR}});
  t["sampler_address_mode"] = table({{"repeat", VK_SAMPLER_ADDRESS_MODE_REPEAT},
                                     {"mirrored_repeat", VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT},
                                     {"clamp_to_edge", VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE},
                                     {"clamp_to_border", VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER},
                                     {"mirror_clamp_to_edge", VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE}});
  t["border_color"] = table({{"float_transparent_black", VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
                             {"int_transparent_black", VK_BORDER_COLOR_INT_TRANSPARENT_BLACK},
                             {"float_opaque_black", VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK},
                             {"int_opaque_black", VK_BORDER_COLOR_INT_OPAQUE_BLACK},
                             {"float_opaque_white", VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE},
                             {"int_opaque_white", VK_BORDER_COLOR_INT_OPAQUE_WHITE},
                             {"float_custom", VK_BORDER_COLOR_FLOAT_CUSTOM_EXT},
                             {"int_custom", VK_BORDER_COLOR_INT_CUSTOM_EXT}});
  t["sampler_reduction_mode"] = table({{"weighted_average", VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE},
                                       {"min", VK_SAMPLER_REDUCTION_MODE_MIN},
                                       {"max", VK_SAMPLER_REDUCTION_MODE_MAX}});
  t["sampler_ycbcr_model_conversion"] = table({{"rgb_identity", VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY},
                                               {"ycbcr_identity", VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_IDENTITY},
                                               {"ycbcr_709", VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709},
                                               {"ycbcr_601", VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601},
                                               {"ycbcr_2020", VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020}});
  t["sampler_ycbcr_range"] = table({{"itu_full", VK_SAMPLER_YCBCR_RANGE_ITU_FULL}, {"itu_narrow", VK_SAMPLER_YCBCR_RANGE_ITU_NARROW}});
  t["chroma_location"] = table({{"cosited_even", VK_CHROMA_LOCATION_COSITED_EVEN}, {"midpoint", VK_CHROMA_LOCATION_MIDPOINT}});
}

// Images, views, buffers, and how shaders see them.
void add_resources(py::dict& t) {
  t["image_aspect"] = table({{"color", VK_IMAGE_ASPECT_COLOR_BIT},
                             {"depth", VK_IMAGE_ASPECT_DEPTH_BIT},
                             {"stencil", VK_IMAGE_ASPECT_STENCIL_BIT},
                             {"plane_0", VK_IMAGE_ASPECT_PLANE_0_BIT},
                             {"plane_1", VK_IMAGE_ASPECT_PLANE_1_BIT},
                             {"plane_2", VK_IMAGE_ASPECT_PLANE_2_BIT}});
  t["image_usage"] = table({{"transfer_src", VK_IMAGE_USAGE_TRANSFER_SRC_BIT},
                            {"transfer_dst", VK_IMAGE_USAGE_TRANSFER_DST_BIT},
                            {"sampled", VK_IMAGE_USAGE_SAMPLED_BIT},
                            {"storage", VK_IMAGE_USAGE_STORAGE_BIT},
                            {"color_attachment", VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT},
                            {"depth_stencil_attachment", VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT},
                            {"transient_attachment", VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT},
                            {"input_attachment", VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT},
                            {"fragment_shading_rate_attachment", VK_IMAGE_USAGE_FRAGMENT_SHADING_RATE_ATTACHMENT_BIT_KHR}});
  t["buffer_usage"] = table({{"transfer_src", VK_BUFFER_USAGE_TRANSFER_SRC_BIT},
                             {"transfer_dst", VK_BUFFER_USAGE_TRANSFER_DST_BIT},
                             {"uniform_texel_buffer", VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT},
                             {"storage_texel_buffer", VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT},
                             {"uniform_buffer", VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT},
                             {"storage_buffer", VK_BUFFER_USAGE_STORAGE_BUFFER_BIT},
                             {"index_buffer", VK_BUFFER_USAGE_INDEX_BUFFER_BIT},
                             {"vertex_buffer", VK_BUFFER_USAGE_VERTEX_BUFFER_BIT},
                             {"indirect_buffer", VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT},
                             {"conditional_rendering", VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT},
                             {"transform_feedback_buffer", VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT},
                             {"transform_feedback_counter_buffer", VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT},
                             {"shader_device_address", VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT}});
  t["image_type"] = table({{"1d", VK_IMAGE_TYPE_1D}, {"2d", VK_IMAGE_TYPE_2D}, {"3d", VK_IMAGE_TYPE_3D}});
  t["image_tiling"] =
      table({{"linear", static_cast<int>(ImageTiling::linear)}, {"block_compressed", static_cast<int>(ImageTiling::block_compressed)}});
  t["image_view_type"] = table({{"1d", VK_IMAGE_VIEW_TYPE_1D},
                                {"2d", VK_IMAGE_VIEW_TYPE_2D},
                                {"3d", VK_IMAGE_VIEW_TYPE_3D},
                                {"cube", VK_IMAGE_VIEW_TYPE_CUBE},
                                {"1d_array", VK_IMAGE_VIEW_TYPE_1D_ARRAY},
                                {"2d_array", VK_IMAGE_VIEW_TYPE_2D_ARRAY},
                                {"cube_array", VK_IMAGE_VIEW_TYPE_CUBE_ARRAY}});
  t["component_swizzle"] = table({{"identity", VK_COMPONENT_SWIZZLE_IDENTITY},
                                  {"zero", VK_COMPONENT_SWIZZLE_ZERO},
                                  {"one", VK_COMPONENT_SWIZZLE_ONE},
                                  {"r", VK_COMPONENT_SWIZZLE_R},
                                  {"g", VK_COMPONENT_SWIZZLE_G},
                                  {"b", VK_COMPONENT_SWIZZLE_B},
                                  {"a", VK_COMPONENT_SWIZZLE_A}});
  t["descriptor_type"] = table({{"sampler", VK_DESCRIPTOR_TYPE_SAMPLER},
                                {"combined_image_sampler", VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER},
                                {"sampled_image", VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE},
                                {"storage_image", VK_DESCRIPTOR_TYPE_STORAGE_IMAGE},
                                {"uniform_texel_buffer", VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER},
                                {"storage_texel_buffer", VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER},
                                {"uniform_buffer", VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER},
                                {"storage_buffer", VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
                                {"input_attachment", VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT}});
}

py::dict make_tables() {
  py::dict t;
  add_fixed_function(t);
  add_attachments(t);
  add_blending(t);
  add_samplers(t);
  add_resources(t);
  return t;
}

}  // namespace

void bind_enums(py::module_& m) { m.attr("ENUMS") = make_tables(); }

}  // namespace tilegpu::bindings
