// tilegpu/rendering.hpp -- what a pass works on: attachments, areas, queries; regions of images.
//
// Source: Vulkan specification, "Render Pass" (dynamic rendering), "Queries", "Copy Commands".
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "tilegpu/hidden_surface_removal.hpp"
#include "tilegpu/resource.hpp"

namespace tilegpu {

/// What may be active where a secondary command buffer is executed: of VkCommandBufferInheritanceInfo, and of
/// VkCommandBufferInheritanceConditionalRenderingInfoEXT.
struct InheritedActivity {
  bool occlusion_query = false;
  VkQueryPipelineStatisticFlags pipeline_statistics = 0;  ///< those that a query of such may have
  bool conditional_rendering = false;
};

enum class TileLoad : uint8_t { none, clear, image };
/// What the samples of a target become when it is resolved. none: they stay; image: a texel of one; else a target of the pass, reduced.
enum class TileSource : uint8_t { none, image, color0, color1, color2, color3, color4, color5, color6, color7, depth, stencil };

/// What happens to one target of a framebuffer of one's own, where Vulkan's operations don't say enough: each piece has a view of its own.
/// All resolves of a pass read before any of them writes (a parallel copy); formats are converted, within floats, signed and unsigned
/// integers. What the border around the render area does matters to images that are written in whole blocks; none given: what keeps the
/// pixels of the image that is stored.
struct AttachmentPieces {
  TileLoad load = TileLoad::none;
  std::optional<TileLoad> load_border;
  Ptr<ImageView> load_view;   ///< of the target's format; of the pass's samples, or one sample, which goes to all
  Ptr<ImageView> store_view;  ///< of the target's format; null: nothing is stored
  bool store_always = false;  ///< also where no primitive is and the image has the values already
  VkResolveModeFlagBits store_mode = VK_RESOLVE_MODE_NONE;  ///< of samples, for a view of one; none: all of them are stored
  TileSource resolve = TileSource::none;
  std::optional<TileSource> resolve_border;
  VkResolveModeFlagBits resolve_mode = VK_RESOLVE_MODE_NONE;  ///< where the source has several samples
  Ptr<ImageView> resolve_view;                                ///< of source `image`, of either side
};

struct RenderingAttachment {
  Ptr<ImageView> view;
  VkAttachmentLoadOp load_op = VK_ATTACHMENT_LOAD_OP_LOAD;      ///< LOAD, CLEAR, DONT_CARE, NONE_EXT
  VkAttachmentStoreOp store_op = VK_ATTACHMENT_STORE_OP_STORE;  ///< STORE, DONT_CARE, NONE
  VkClearValue clear = {};
  /// Without a view: of an image of one sample that is rendered to with several (RenderingInfo::single_sampled_samples), how they are
  /// reduced as they are stored; none: colours that are no integers to their average, the rest to sample 0.
  VkResolveModeFlagBits resolve_mode = VK_RESOLVE_MODE_NONE;
  Ptr<ImageView> resolve_view;
  bool input_only = false;  ///< read as an input attachment and never drawn to: the image needs that usage alone
  /// Given: `view` says format and samples, and takes what a split pass spills; its contents are undefined afterwards, unless it is what is
  /// stored. Operations and resolve are not read. A transient image will do.
  std::optional<AttachmentPieces> pieces;
};

/// VK_KHR_fragment_shading_rate: each texel is the fragment size that draws of the pass may take over for a region of the framebuffer,
/// as SPIR-V encodes it: log2 of the width times 4, and log2 of the height. Read as the pass is executed, and not written by it.
struct ShadingRateAttachment {
  Ptr<ImageView> view;             ///< r8_uint, one sample; null: no attachment, fragments of 1x1
  VkExtent2D texel_size = {0, 0};  ///< of the region, in pixels: powers of two, kMinShadingRateTexel_px to kMaxShadingRateTexel_px
};
inline constexpr uint32_t kMinShadingRateTexel_px = 8, kMaxShadingRateTexel_px = 64;

/// What a pass's descriptor says beside its attachments; as the profile and the device have it where nothing is given.
struct FramebufferDesc {
  uint64_t tiler_heap_B = 0;                                ///< beyond it the pass is split
  uint32_t draws_a_part = 0;                                ///< draws after which the pass is split, as by a hardware limit; 0: none
  bool transaction_elimination = true, hsr_prepass = true;  ///< false: not in this pass
};

struct RenderingInfo {
  /// SUSPENDING, RESUMING: the pass goes on in the next command buffer of the submission; the parts are executed as one pass.
  VkRenderingFlags flags = 0;
  VkRect2D render_area = {};  ///< extent 0: the attachments' smallest extent
  /// The attachments hold a window of a larger framebuffer: texel (0, 0) is its pixel `window`, which is multiples of 64. Render area,
  /// viewports, scissors and gl_FragCoord are the framebuffer's, and what is drawn is what a pass over all of it draws there, to the bit.
  VkOffset2D window = {};
  VkExtent2D framebuffer = {};  ///< up to kMaxFramebufferSize_px each way; 0: what the attachments hold is all there is
  /// Of the attachments; gl_Layer chooses one, 0 where the shaders don't write it. A primitive for a layer that isn't there is not drawn.
  uint32_t layer_count = 1;
  /// VK_KHR_multiview: each draw is done once for each bit, to the layer of its number, which is gl_ViewIndex. layer_count is not read
  /// then; other layers stay as they are. 0: off.
  uint32_t view_mask = 0;
  std::vector<RenderingAttachment> color;  ///< view null: unused slot
  RenderingAttachment depth, stencil;      ///< view null: absent
  ShadingRateAttachment shading_rate;
  /// Multisampled rendering to single-sampled images: the samples to render with. Attachments of one sample are loaded into all of them,
  /// and resolved as they are stored; others have as many. 0: as the attachments; without any, as the first pipeline that draws.
  uint32_t single_sampled_samples = 0;
  FramebufferDesc desc;
  std::optional<HiddenSurfaceRemoval> hsr;  ///< none: the device's
  bool unrestricted_depth = false;          ///< not given, but the device's (DeviceCreateInfo), where depth is floats
  bool trace_tiles = false;                 ///< keep what moved for each bin: Submission::tile_trace
  std::string label;
};

/// A part of a buffer: where transform feedback writes, or where a counter is (of 4 bytes; null: none).
struct BufferPlace {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0, size_B = VK_WHOLE_SIZE;
};

enum class QueryType : uint8_t {
  occlusion,
  timestamp,
  pipeline_statistics,
  primitives_generated,
  transform_feedback_stream,
  mesh_primitives_generated
};

/// Occlusion queries: counts of samples that passed. Timestamps: nanoseconds. Pipeline statistics: a result for each bit of `statistics`,
/// from the lowest on. Primitives generated: those that the last stage gives to rasterization, also where that is switched off, or to
/// another stream. Mesh primitives generated: those that mesh shaders say they make. Transform feedback: primitives that were written, and
/// those that there would have been room needed for. Any thread may read while others execute: what is available has its value, until a
/// command resets it or begins it again.
class TILEGPU_API QueryPool {
 public:
  /// Throws std::bad_alloc where the process may have no more memory.
  QueryPool(QueryType type, uint32_t count, VkQueryPipelineStatisticFlags statistics = 0);
  uint32_t count() const { return static_cast<uint32_t>(available.size()); }
  const QueryType type;
  const VkQueryPipelineStatisticFlags statistics;
  const uint32_t results;                     ///< of each query
  const Ptr<void> memory;                     ///< what the next two have of the process's limit
  std::vector<std::atomic<uint64_t>> values;  ///< query by query
  std::vector<std::atomic<bool>> available;
};

}  // namespace tilegpu
