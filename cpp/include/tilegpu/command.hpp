// tilegpu/command.hpp -- command buffers: dynamic rendering, draws, dynamic state, copies, queries.
//
// Recording validates (errors come before work starts) and keeps what it names alive; nothing is executed until submit.
// A command buffer may be submitted again (replayed). Source: Vulkan specification, "Command Buffers", "Render Pass" (dynamic
// rendering), "Drawing Commands", "Copy Commands", "Clear Commands", "Queries".
#pragma once

#include <optional>

#include "tilegpu/hidden_surface_removal.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/stats.hpp"
#include "tilegpu/trace.hpp"

namespace tilegpu {

class Device;

struct RenderingAttachment {
  Ptr<ImageView> view;
  VkAttachmentLoadOp load_op = VK_ATTACHMENT_LOAD_OP_LOAD;      ///< LOAD, CLEAR, DONT_CARE, NONE_EXT
  VkAttachmentStoreOp store_op = VK_ATTACHMENT_STORE_OP_STORE;  ///< STORE, DONT_CARE, NONE
  VkClearValue clear = {};
  VkResolveModeFlagBits resolve_mode = VK_RESOLVE_MODE_NONE;
  Ptr<ImageView> resolve_view;
};

struct RenderingInfo {
  VkRect2D render_area = {};  ///< extent 0: the attachments' smallest extent
  uint32_t layer_count = 1;
  std::vector<RenderingAttachment> color;  ///< view null: unused slot
  RenderingAttachment depth, stencil;      ///< view null: absent
  /// Multisampled rendering to single-sampled images: the samples to render with, resolved as they are stored. 0: as the attachments.
  uint32_t single_sampled_samples = 0;
  std::optional<HiddenSurfaceRemoval> hsr;  ///< none: the device's
  bool trace_tiles = false;                 ///< keep what moved for each bin: CommandBuffer::tile_trace
  std::string label;
};

enum class QueryType : uint8_t { occlusion };

/// Occlusion queries: counts of samples that passed.
class TILEGPU_API QueryPool {
 public:
  QueryPool(QueryType type, uint32_t count) : type(type), values(count, 0), available(count, false) {}
  const QueryType type;
  std::vector<uint64_t> values;
  std::vector<bool> available;
};

struct ImageRegion {
  VkImageAspectFlagBits aspect = VK_IMAGE_ASPECT_COLOR_BIT;
  uint32_t level = 0, layer = 0;
  int32_t x = 0, y = 0;
};

/// One technique of hidden-surface removal and some draws.
struct TechniqueExplanation {
  std::string technique;  ///< "pre_pass", "forward_pixel_kill", "lrz", ...
  std::string state;      ///< "on", "off", "stopped" (by an earlier draw or by this one)
  std::string rule;       ///< of the source ("1.2"), "" where it has no number
  std::string reason;     ///< the state or the shader's line; "" where it is on
  int32_t by_draw = -1;   ///< stopped: the draw that broke it first
};

/// Consecutive draws of one state: which techniques they got; a reason where one is off ("" where it is on).
struct DrawExplanation {
  uint32_t first_draw = 0, draw_count = 0;
  std::string pipeline;
  std::string early_tests_off, visibility_off;
  std::vector<TechniqueExplanation> techniques;
  std::string low_resolution_z_off;  ///< "what is off: why"; with the draw that caused it, where that is another one
};

namespace exec {
struct Recording;  // cpp/src/command/recording.hpp
}

class TILEGPU_API CommandBuffer {
 public:
  explicit CommandBuffer(Ptr<Device> device);
  ~CommandBuffer();
  CommandBuffer(const CommandBuffer&) = delete;

  Status begin_rendering(const RenderingInfo& info);
  Status end_rendering();
  /// Forgets the open pass; images stay as they were.
  void discard_rendering();

  void bind_pipeline(Ptr<Pipeline> pipeline);
  void bind_vertex_buffer(uint32_t binding, Ptr<Buffer> buffer, uint64_t offset_B);
  void bind_index_buffer(Ptr<Buffer> buffer, uint64_t offset_B, VkIndexType type);
  void bind_descriptor_set(uint32_t set, Ptr<DescriptorSet> descriptors);
  Status push_constants(uint32_t offset_B, const void* data, uint32_t size_B);
  void set_viewport(const VkViewport& viewport);  ///< default: the whole framebuffer, depth 0..1
  void set_scissor(const VkRect2D& scissor);      ///< default: the whole framebuffer
  void set_blend_constants(const std::array<float, 4>& constants);
  void set_stencil_reference(VkStencilFaceFlags faces, uint32_t reference);
  void set_depth_bias(float constant, float clamp, float slope);

  Status draw(uint32_t vertex_count, uint32_t instance_count, uint32_t first_vertex, uint32_t first_instance);
  Status draw_indexed(uint32_t index_count, uint32_t instance_count, uint32_t first_index, int32_t vertex_offset, uint32_t first_instance);
  Status draw_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B);
  Status draw_indexed_indirect(Ptr<Buffer> buffer, uint64_t offset_B, uint32_t draw_count, uint32_t stride_B);
  /// `attachment`: colour index, or -1 for depth/stencil with `aspects`.
  Status clear_attachment(int attachment, VkImageAspectFlags aspects, const VkClearValue& value, const VkRect2D& rect);
  Status begin_query(Ptr<QueryPool> pool, uint32_t query, bool precise);
  Status end_query(Ptr<QueryPool> pool, uint32_t query);

  Status copy_buffer(Ptr<Buffer> source, Ptr<Buffer> destination, uint64_t source_offset_B, uint64_t destination_offset_B, uint64_t size_B);
  Status copy_buffer_to_image(Ptr<Buffer> source, uint64_t offset_B, uint32_t row_length_px, Ptr<Image> destination,
                              const ImageRegion& region, uint32_t width_px, uint32_t height_px);
  Status copy_image_to_buffer(Ptr<Image> source, const ImageRegion& region, uint32_t width_px, uint32_t height_px, Ptr<Buffer> destination,
                              uint64_t offset_B, uint32_t row_length_px);
  Status copy_image(Ptr<Image> source, const ImageRegion& from, Ptr<Image> destination, const ImageRegion& to, uint32_t width_px,
                    uint32_t height_px);
  /// Corners as in VkImageBlit: x0 > x1 mirrors.
  Status blit_image(Ptr<Image> source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2],
                    Ptr<Image> destination, uint32_t destination_level, uint32_t destination_layer, const VkOffset3D destination_corners[2],
                    VkFilter filter);
  Status resolve_image(Ptr<Image> source, Ptr<Image> destination);
  Status clear_color_image(Ptr<Image> image, const VkClearColorValue& value);
  Status clear_depth_stencil_image(Ptr<Image> image, const VkClearDepthStencilValue& value, VkImageAspectFlags aspects);
  Status generate_mipmaps(Ptr<Image> image);
  void pipeline_barrier();

  /// One per finished begin/end pair, filled by the last execution.
  size_t pass_count() const;
  const PassStats& pass_stats(size_t pass) const;

  /// What moved for each bin of a finished pass, part by part, layer by layer, row by row; empty without RenderingInfo::trace_tiles.
  const std::vector<TileTrace>& tile_trace(size_t pass) const;

  /// The next execution of a finished pass is traced, and leaves its findings in fragment_trace. A dry one runs beside what happens
  /// to the images, and must be able to repeat the last: an error where the pass loads images, was split, or its shaders write memory.
  Status trace_fragments(size_t pass, const TraceRequest& request);
  /// Of the last traced execution; null: there was none.
  const PassTrace* fragment_trace(size_t pass) const;

  /// What became of the draws of a finished pass, and why: one entry for each run of draws with the same state.
  std::vector<DrawExplanation> explain(size_t pass) const;

  /// The five pieces of a finished pass's framebuffer as JSON: layout, load, store, resolve, desc, spill_load, spill_store.
  std::string describe_framebuffer(size_t pass) const;
  /// What costs bytes without need in a finished pass, a line each, with the bytes.
  std::vector<std::string> lint(size_t pass) const;

  exec::Recording& recording() { return *recording_; }

 private:
  std::unique_ptr<exec::Recording> recording_;
};

}  // namespace tilegpu
