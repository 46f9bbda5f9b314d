// tilegpu/command.hpp -- command buffers: dynamic rendering, draws, dynamic state, copies, queries.
//
// Recording validates (errors come before work starts) and keeps what it names alive; nothing is executed until submit. What was
// recorded is never written to: it may be submitted again while it runs. Source: Vulkan specification, "Command Buffers", "Render Pass"
// (dynamic rendering), "Drawing Commands", "Copy Commands", "Clear Commands", "Queries".
#pragma once

#include <optional>
#include <span>

#include "tilegpu/event.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu {

class ComputePipeline;
class Device;

namespace command {
struct Recording;  // cpp/src/command/recording.hpp
}
namespace device {
struct Recorder;  // cpp/src/device/recorder.hpp
}

/// "Command Buffer Lifecycle". Nothing waits for executions: a recording that is replaced or dropped lives until its last one has ended.
/// invalid: the system refused memory while a command was recorded, half of which may be there; begin or reset makes it anew.
enum class CommandBufferState : uint8_t { initial, recording, executable, invalid };

/// VkCommandBufferInheritanceRenderingInfo: what a secondary command buffer that is part of a pass knows of it.
struct InheritanceInfo {
  std::vector<VkFormat> color_formats;  ///< UNDEFINED: unused slot
  VkFormat depth_format = VK_FORMAT_UNDEFINED, stencil_format = VK_FORMAT_UNDEFINED;
  uint32_t samples = 1;
  uint32_t view_mask = 0;        ///< the pass's
  bool occlusion_query = false;  ///< may be executed while an occlusion query is active
  std::string label;
  VkQueryPipelineStatisticFlags pipeline_statistics = 0;  ///< the same of queries of such statistics
  bool conditional_rendering = false;                     ///< the same of conditional rendering
  InheritedActivity active() const { return {occlusion_query, pipeline_statistics, conditional_rendering}; }
};

/// For clear_attachment: all of the render area, whatever it is.
inline constexpr VkRect2D kWholeRenderArea{{0, 0}, {UINT32_MAX, UINT32_MAX}};

class TILEGPU_API CommandBuffer {
 public:
  explicit CommandBuffer(Ptr<Device> device, VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY);
  ~CommandBuffer();
  CommandBuffer(const CommandBuffer&) = delete;

  /// To the state of recording; what was recorded before is forgotten here.
  Status begin();
  /// Of a secondary command buffer whose draws become part of a pass that others begin and end.
  Status begin(const InheritanceInfo& inheritance);
  /// Of a secondary command buffer that is executed outside of passes.
  Status begin(const InheritedActivity& active);
  /// To the executable state: from here on what was recorded is const, and may be submitted any number of times, from any thread.
  Status end();
  /// To the initial state.
  void reset();
  CommandBufferState state() const;
  VkCommandBufferLevel level() const;

  Status begin_rendering(const RenderingInfo& info);
  Status end_rendering();
  /// Forgets the open pass; images stay as they were.
  void discard_rendering();
  /// Of the passes that ended here, a line each: draws that read what a load operation left undefined. They are among
  /// Submission::warnings() too.
  std::vector<std::string> undefined_reads() const;
  /// The same: draws whose shaders choose among layers or viewports, where there is one. Who wants what goes to others finds it nowhere.
  std::vector<std::string> lost_primitives() const;
  /// The same: shaders that may read what their pass writes, by a view of more levels or layers, a condition or an index.
  std::vector<std::string> possible_feedback() const;

  void bind_pipeline(Ptr<Pipeline> pipeline);
  void bind_pipeline(Ptr<ComputePipeline> pipeline);
  void bind_vertex_buffer(uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B);
  void bind_index_buffer(Ptr<Buffer> buffer, uint64_t offset_B, VkIndexType type);
  /// vkCmdBindIndexBuffer2: size_B may be VK_WHOLE_SIZE; indices behind it read as 0.
  Status bind_index_buffer2(Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B, VkIndexType type);
  /// vkCmdBindDescriptorSets for one set. Each dynamic buffer takes an offset, in the order of binding and element.
  /// Draws and dispatches have sets of their own.
  void bind_descriptor_set(uint32_t set, Ptr<DescriptorSet> descriptors, std::vector<uint32_t> dynamic_offsets_B = {},
                           VkPipelineBindPoint point = VK_PIPELINE_BIND_POINT_GRAPHICS);
  /// vkCmdPushDescriptorSetKHR of one element, for a set that `layout` has with PUSH_DESCRIPTOR. What was pushed before stays.
  Status push_descriptor(const Ptr<const PipelineLayout>& layout, uint32_t set, uint32_t binding, uint32_t element,
                         const Descriptor& descriptor, VkPipelineBindPoint point = VK_PIPELINE_BIND_POINT_GRAPHICS);
  Status push_constants(uint32_t offset_B, const void* data, uint32_t size_B);

  /// Dynamic state (tilegpu/state.hpp), as vkCmdSet* of the same names. A draw takes what its pipeline lists among its dynamic states from
  /// here; an error there where that was never set, or where something was set that the bound pipeline fixes.
  /// A draw has the viewports up to the last that was set, cut to as many as there are scissors, where some were set. gl_ViewportIndex
  /// chooses one; a primitive with the number of none is not drawn, and one with no number takes number 0.
  void set_viewport(const VkViewport& viewport);  ///< number 0; default: one, the whole framebuffer, depth 0..1
  void set_scissor(const VkRect2D& scissor);      ///< number 0; default: the whole framebuffer, for each viewport
  void reset_viewport();                          ///< to the default
  /// Those from `first` on; at most kMaxViewports.
  Status set_viewports(uint32_t first, std::span<const VkViewport> viewports);
  Status set_scissors(uint32_t first, std::span<const VkRect2D> scissors);
  /// These, and no others; 1 to kMaxViewports.
  Status set_viewport_with_count(std::span<const VkViewport> viewports);
  Status set_scissor_with_count(std::span<const VkRect2D> scissors);
  void set_blend_constants(const std::array<float, 4>& constants);
  void set_stencil_reference(VkStencilFaceFlags faces, uint32_t reference);
  void set_stencil_compare_mask(VkStencilFaceFlags faces, uint32_t mask);
  void set_stencil_write_mask(VkStencilFaceFlags faces, uint32_t mask);
  void set_stencil_op(VkStencilFaceFlags faces, VkStencilOp fail_op, VkStencilOp pass_op, VkStencilOp depth_fail_op,
                      VkCompareOp compare_op);
  void set_stencil_test_enable(bool enable);
  void set_depth_bias(float constant, float clamp, float slope,
                      DepthBiasRepresentation representation = DepthBiasRepresentation::least_representable_value_format);
  /// `user`: depth clamp is to these two, else to the viewport's depths (VkDepthClampModeEXT).
  void set_depth_clamp_range(bool user, float min_depth_clamp, float max_depth_clamp);
  void set_depth_bias_enable(bool enable);
  void set_depth_bounds(float min_depth_bounds, float max_depth_bounds);
  void set_depth_bounds_test_enable(bool enable);
  void set_depth_test_enable(bool enable);
  void set_depth_write_enable(bool enable);
  void set_depth_compare_op(VkCompareOp op);
  void set_depth_clamp_enable(bool enable);
  void set_depth_clip_enable(bool enable);
  void set_depth_clip_negative_one_to_one(bool negative_one_to_one);
  Status set_fragment_shading_rate(VkExtent2D size_px, const std::array<VkFragmentShadingRateCombinerOpKHR, 2>& combiner_ops);
  void set_cull_mode(VkCullModeFlags mode);
  void set_front_face(VkFrontFace face);
  void set_primitive_topology(VkPrimitiveTopology topology);
  /// Fails for streams that there are none of (kMaxStreams).
  Status set_rasterization_stream(uint32_t stream);
  void set_primitive_restart_enable(bool enable);
  void set_patch_control_points(uint32_t count);
  void set_tessellation_domain_origin(VkTessellationDomainOrigin origin);
  void set_rasterizer_discard_enable(bool enable);
  /// For pipelines with feedback_loop_dynamic: aspects of attachments that shaders may read while they are drawn to.
  void set_attachment_feedback_loop_enable(VkImageAspectFlags aspects);
  void set_line_width(float width);
  void set_polygon_mode(VkPolygonMode mode);
  void set_line_rasterization_mode(VkLineRasterizationModeEXT mode);
  void set_line_stipple_enable(bool enable);
  Status set_line_stipple(uint32_t factor, uint16_t pattern);  ///< factor: 1 to 256
  void set_conservative_rasterization_mode(VkConservativeRasterizationModeEXT mode);
  Status set_extra_primitive_overestimation_size(float size_px);  ///< 0 to kMaxExtraOverestimation_px
  void set_provoking_vertex_mode(VkProvokingVertexModeEXT mode);
  void set_rasterization_samples(VkSampleCountFlagBits samples);
  void set_sample_mask(uint32_t mask);  ///< there are 16 samples at most
  /// Those from `first` on; at most kMaxDiscardRectangles, which begin at no negative pixel.
  Status set_discard_rectangles(uint32_t first, std::span<const VkRect2D> rectangles);
  void set_discard_rectangle_enable(bool enable);
  void set_discard_rectangle_mode(VkDiscardRectangleModeEXT mode);
  void set_sample_locations_enable(bool enable);
  Status set_sample_locations(const VkSampleLocationsInfoEXT& info);  ///< as sample_locations_of() takes them
  void set_alpha_to_coverage_enable(bool enable);
  void set_alpha_to_one_enable(bool enable);
  void set_logic_op_enable(bool enable);
  void set_logic_op(VkLogicOp op);
  /// Of colour attachments from `first` on; at most kMaxColorAttachments.
  Status set_color_blend_enable(uint32_t first, std::span<const VkBool32> enables);
  Status set_color_blend_equation(uint32_t first, std::span<const VkColorBlendEquationEXT> equations);
  Status set_color_blend_advanced(uint32_t first, std::span<const VkColorBlendAdvancedEXT> blends);
  Status set_color_write_mask(uint32_t first, std::span<const VkColorComponentFlags> masks);
  Status set_color_write_enable(std::span<const VkBool32> enables);
  Status set_vertex_input(std::span<const VkVertexInputBindingDescription2EXT> bindings,
                          std::span<const VkVertexInputAttributeDescription2EXT> attributes);
  /// vkCmdBindVertexBuffers2 for one binding: size_B may be VK_WHOLE_SIZE; the stride is VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE.
  Status bind_vertex_buffer2(uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B,
                             std::optional<uint32_t> stride_B = std::nullopt);

  /// draw_index: gl_DrawID, of VK_EXT_multi_draw.
  Status draw(uint32_t vertex_count, uint32_t instance_count, uint32_t first_vertex, uint32_t first_instance, uint32_t draw_index = 0);
  Status draw_indexed(uint32_t index_count, uint32_t instance_count, uint32_t first_index, int32_t vertex_offset, uint32_t first_instance,
                      uint32_t draw_index = 0);
  Status draw_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B);
  Status draw_indexed_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B);
  /// At most so many draws: as many as `draws` says when it is executed.
  Status draw_indirect_count(Ptr<Buffer> buffer, uint64_t offset_B, const BufferPlace& draws, uint32_t most, uint32_t stride_B);
  Status draw_indexed_indirect_count(Ptr<Buffer> buffer, uint64_t offset_B, const BufferPlace& draws, uint32_t most, uint32_t stride_B);
  /// VK_EXT_mesh_shader: workgroups of the pipeline's task shader, or of its mesh shader where it has none; at most kMaxWorkgroups in each
  /// direction and kMaxMeshWorkgroups in all. The indirect ones read VkDrawMeshTasksIndirectCommandEXT; with more nothing is drawn.
  Status draw_mesh_tasks(uint32_t x, uint32_t y, uint32_t z, uint32_t draw_index = 0);
  Status draw_mesh_tasks_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B);
  Status draw_mesh_tasks_indirect_count(Ptr<Buffer> buffer, uint64_t offset_B, const BufferPlace& draws, uint32_t most, uint32_t stride_B);
  /// Workgroups of the bound compute pipeline, outside of passes; each direction's end at most kMaxWorkgroups.
  Status dispatch(uint32_t x, uint32_t y, uint32_t z);
  /// The workgroups' ids begin at the base; NumWorkgroups is x, y, z.
  Status dispatch_base(uint32_t base_x, uint32_t base_y, uint32_t base_z, uint32_t x, uint32_t y, uint32_t z);
  /// A VkDispatchIndirectCommand, read when it is executed: an error of the execution where it asks for more than is allowed.
  Status dispatch_indirect(Ptr<Buffer> buffer, uint64_t offset_B);
  /// `attachment`: colour index, or -1 for depth/stencil with `aspects`. `rect`: within the render area, or kWholeRenderArea. Of the layers
  /// those that the pass renders to: a view is one. `of_load`: it stands for a load operation, which no condition discards.
  Status clear_attachment(int attachment, VkImageAspectFlags aspects, const VkClearValue& value, const VkRect2D& rect,
                          uint32_t base_layer = 0, uint32_t layer_count = VK_REMAINING_ARRAY_LAYERS, bool of_load = false);
  /// Inside a pass it counts the draws up to end_query there; outside of passes those of all passes that follow, up to end_query outside,
  /// pipeline statistics dispatches too. One occlusion query at a time. In a pass with views it has a result for each, in the queries that
  /// follow it. Secondary command buffers that are executed meanwhile say that they may be (InheritedActivity), and are counted.
  Status begin_query(Ptr<QueryPool> pool, uint32_t query, bool precise);
  Status end_query(Ptr<QueryPool> pool, uint32_t query);

  /// VK_EXT_conditional_rendering: until its end draws, dispatches and clears inside of passes are discarded where the word of 32 bits at
  /// `place` is 0 (`inverted`: is not 0). It is read as each pass and dispatch is executed. Load and store operations, copies and queries
  /// go on. Begun in a pass it ends there; outside, outside.
  Status begin_conditional_rendering(const BufferPlace& place, bool inverted = false);
  Status end_conditional_rendering();

  /// VK_EXT_transform_feedback, inside passes: what the last stage before the rasterizer captures of the draws between begin and end. A
  /// counter says how many bytes a buffer holds already, and gets how many it holds then.
  Status bind_transform_feedback_buffers(uint32_t first, std::span<const BufferPlace> buffers);
  Status begin_transform_feedback(uint32_t first_counter = 0, std::span<const BufferPlace> counters = {});
  Status end_transform_feedback(uint32_t first_counter = 0, std::span<const BufferPlace> counters = {});
  /// As many vertices as a counter, less `counter_offset_B`, has strides of `vertex_stride_B`.
  Status draw_indirect_byte_count(uint32_t instance_count, uint32_t first_instance, Ptr<Buffer> counter, uint64_t offset_B,
                                  uint32_t counter_offset_B, uint32_t vertex_stride_B);
  /// `stream`: of transform_feedback_stream and primitives_generated, of which vertex stream.
  Status begin_query_indexed(Ptr<QueryPool> pool, uint32_t query, bool precise, uint32_t stream);

  /// Executable secondary command buffers: inside a pass those with inheritance info, outside of passes those without. What they recorded
  /// is part of this recording from here on; state that was set before is as it was afterwards.
  Status execute_commands(const std::vector<Ptr<CommandBuffer>>& secondaries);

  /// Regions are Vulkan's copy_commands2 structures; their sType and pNext are not read. They are done in order.
  Status copy_buffer(Ptr<Buffer> source, Ptr<Buffer> destination, std::span<const VkBufferCopy2> regions);
  Status copy_buffer_to_image(Ptr<Buffer> source, Ptr<Image> destination, std::span<const VkBufferImageCopy2> regions);
  Status copy_image_to_buffer(Ptr<Image> source, Ptr<Buffer> destination, std::span<const VkBufferImageCopy2> regions);
  Status copy_image(Ptr<Image> source, Ptr<Image> destination, std::span<const VkImageCopy2> regions);
  Status blit_image(Ptr<Image> source, Ptr<Image> destination, std::span<const VkImageBlit2> regions, VkFilter filter);
  Status resolve_image(Ptr<Image> source, Ptr<Image> destination, std::span<const VkImageResolve2> regions);
  Status fill_buffer(Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B, uint32_t word);
  /// The bytes are copied at once, at most 65536.
  Status update_buffer(Ptr<Buffer> buffer, uint64_t offset_B, std::span<const uint8_t> bytes);
  Status clear_color_image(Ptr<Image> image, const VkClearColorValue& value, std::span<const VkImageSubresourceRange> ranges);
  Status clear_depth_stencil_image(Ptr<Image> image, const VkClearDepthStencilValue& value,
                                   std::span<const VkImageSubresourceRange> ranges);
  /// Not Vulkan's: levels 1 and up of all layers.
  Status generate_mipmaps(Ptr<Image> image);
  /// Within a pass: a draw behind it that reads what was drawn before it, as a texture, ends the pass and goes on in another one, which
  /// loads what the first stored. Outside there is nothing to wait for.
  void pipeline_barrier();
  Status reset_query_pool(Ptr<QueryPool> pool, uint32_t first, uint32_t count);
  /// When the command is executed: all before it is done. Set and reset belong outside passes; a wait inside one comes before it.
  Status set_event(Ptr<Event> event);
  Status reset_event(Ptr<Event> event);
  /// Holds back what follows until all are set, by commands before it or by the host.
  Status wait_events(std::vector<Ptr<Event>> events);
  Status write_timestamp(Ptr<QueryPool> pool, uint32_t query);
  /// What is not available is left out, whatever VK_QUERY_RESULT_WAIT_BIT says: everything before this command has ended.
  Status copy_query_pool_results(Ptr<QueryPool> pool, uint32_t first, uint32_t count, Ptr<Buffer> destination, uint64_t offset_B,
                                 uint64_t stride_B, VkQueryResultFlags flags);

  /// What was recorded; null unless executable.
  const Ptr<const command::Recording>& recording() const;
  const Ptr<Device>& device() const;

 private:
  std::unique_ptr<device::Recorder> recorder_;
};

}  // namespace tilegpu
