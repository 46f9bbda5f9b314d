// shader_abi/abi.hpp -- what generated code and C++ agree on: the structs that machine code reads and writes, by offset.
//
// In: filled by geometry (VertexArgs) and by the quad packer (FragmentArgs). Out: read back by both.
// Everything here is plain data with fixed layout; generated code takes offsets with offsetof, so a field may be added
// anywhere, but its meaning must be kept here. N is the number of lanes: 4, 8 or 16. A packet is N/4 quads; lane 4q+p is pixel
// p of quad q, p = 0 (x,y), 1 (x+1,y), 2 (x,y+1), 3 (x+1,y+1).
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "shader_abi/code.hpp"

namespace tilegpu::vk {
struct TexelDecoder;  // vk/compressed/texels.hpp
}

namespace tilegpu::shader {

inline constexpr uint32_t kMaxLanes = 16;
inline constexpr uint32_t kMaxQuads = kMaxLanes / 4;
/// Vertices of a batch are kept component-major: component c of slot v is at [c * kBatchStride + v].
inline constexpr uint32_t kBatchStride = 32;
static_assert(kBatchStride % kMaxLanes == 0);  // a batch is whole vectors
inline constexpr uint32_t kMaxTargets = 8;
inline constexpr uint32_t kMaxClipDistances = 8, kMaxCullDistances = 8;
inline constexpr uint32_t kDynamicSet = 8, kAddressSet = kDynamicSet + 1, kSetTables = kAddressSet + 1;
inline constexpr uint32_t kMaxMipLevels = 15;  // 16384 px
inline constexpr float kMaxLodBias = 16;       // maxSamplerLodBias
/// From so many samples on pixel packets can leave their texels to the caller: FragmentArgs::texels. With fewer, scattering them to the
/// samples is as fast.
inline constexpr uint32_t kFewestSamplesApart = 8;

/// What a descriptor reaches of a buffer at most (maxStorageBufferRange): offsets in shaders are sums of 32 bits.
inline constexpr uint32_t kMaxBufferRange_B = 1u << 30;

/// What a uniform or storage buffer is in a set's memory. Reads outside [0, size_B) give zero, writes vanish. Null: all zero.
struct BufferDescriptor {
  uint8_t* data;
  uint64_t size_B;
};

/// What shaders reach by address (the PhysicalStorageBuffer class): an address is the number of a window and the offset in it. A buffer
/// begins a window; one that is larger takes those behind it too, each with all that is left. Windows where nothing is are null.
inline constexpr uint32_t kAddressOffsetBits = 32;
struct AddressTable {
  const BufferDescriptor* windows;
  uint64_t count;
};

/// One mip level of a view. Texels lie in rows.
struct ViewLevel {
  const uint8_t* data;  // layer 0, sample 0
  uint32_t row_pitch_B;
  int32_t width_px, height_px;
  int32_t depth_px;  // slices of a 3D view, else 1
};

/// A view of an image, or of a texel buffer, as code sees it; texel format is baked into the functions.
struct ImageViewAbi {
  uint64_t layer_pitch_B[kMaxMipLevels + 1];  // per level
  ViewLevel level[kMaxMipLevels + 1];
  int32_t level_count;
  int32_t layer_count;  // cube: 6 * cubes
  int32_t sample_count;
  // Of 2D views of codes of 8 bits, for each component behind the swizzle in four bits: 1 and its byte's place in the texel, 0: it is none;
  // from bit 16 on the texel's size in bytes. No code of shaders asks.
  uint32_t code_bytes;
  uint64_t sample_pitch_B;
  // The same by field, for lanes of different levels; see fill_level_tables.
  alignas(64) int32_t width_px[kMaxMipLevels + 1];
  int32_t height_px[kMaxMipLevels + 1];
  int32_t row_pitch_texels[kMaxMipLevels + 1];
  int32_t start_texels[kMaxMipLevels + 1];  // from level 0's data
  // For coordinates of 16 and 16 bits; sizes and pitches are at most 16384.
  float width_scaled[kMaxMipLevels + 1], height_scaled[kMaxMipLevels + 1];  // times 65536
  uint32_t last_texel[kMaxMipLevels + 1];                                   // row, column << 16
  uint32_t pitch_and_one[kMaxMipLevels + 1];                                // row_pitch_texels, 1 << 16
  float middle_x[kMaxMipLevels + 1], middle_y[kMaxMipLevels + 1];           // 32768 times the last texel's index
  float width_f, height_f;                                                  // of level 0
  int32_t last_level, last_level_fixed;                                     // times 32768
  const vk::TexelDecoder* decoder;                                          // of compressed formats, whose rows are of texel blocks
  const ImageViewAbi* plane[2];  // planes 1 and 2 of a multi-planar view, which is itself plane 0
  // A view's own least LOD, from its first level on: 0 or more. Code reads it where SamplerKey::min_lod is set.
  float min_lod;
  int32_t min_level;  // the first level that fetches reach, and gathers, which know level 0 alone
};

/// After `level` and `level_count` are filled. Of texels of 4 bytes; others use the last three rows only.
inline void fill_level_tables(ImageViewAbi& view) {
  assert(view.level_count >= 0 && view.level_count <= static_cast<int32_t>(kMaxMipLevels) + 1);
  view.width_f = static_cast<float>(view.level[0].width_px), view.height_f = static_cast<float>(view.level[0].height_px);
  for (uint32_t k = 0; k <= kMaxMipLevels; ++k) {
    const ViewLevel& level = view.level[k];
    view.width_px[k] = level.width_px, view.height_px[k] = level.height_px;
    view.row_pitch_texels[k] = static_cast<int32_t>(level.row_pitch_B / 4);
    view.start_texels[k] = static_cast<int32_t>((level.data - view.level[0].data) / 4);
    view.width_scaled[k] = 65536.0f * static_cast<float>(level.width_px),
    view.height_scaled[k] = 65536.0f * static_cast<float>(level.height_px);
    view.last_texel[k] = static_cast<uint32_t>(level.height_px - 1) | static_cast<uint32_t>(level.width_px - 1) << 16;
    view.pitch_and_one[k] = level.row_pitch_B / 4 | 1u << 16;
    view.middle_x[k] = 32768.0f * static_cast<float>(level.width_px - 1) + 128.0f,
    view.middle_y[k] = 32768.0f * static_cast<float>(level.height_px - 1) + 128.0f;
  }
  view.last_level = view.level_count > 1 ? view.level_count - 1 : 0, view.last_level_fixed = view.last_level << 15;
}

/// What is not baked into the sampler's function.
struct SamplerAbi {
  float mip_lod_bias, min_lod, max_lod;
  float magnified_below;  // 1, or -1 where the squares of derivatives do not tell by themselves that level 0 is enough
  float border[4];        // as float bits or integers, by the view's type
  // Times 32768: the bias within its limits, the limits within the levels that there can be.
  float bias_fixed;
  int32_t min_lod_fixed, max_lod_fixed;
  float max_anisotropy;       // 1 and more
  uint32_t takes_two_texels;  // on each axis at most, at normalised coordinates, and they are not compared; no code of shaders asks
};

/// After the first three fields are filled.
inline void fill_lod_limits(SamplerAbi& sampler) {
  const auto within = [](float v, float low, float high) {  // NaN: the lower one
    const float above = v > low ? v : low;
    return above < high ? above : high;
  };
  const auto is_positive = [](float v) { return v > 0 || v != v; };
  sampler.magnified_below = is_positive(sampler.mip_lod_bias) || is_positive(sampler.min_lod) ? -1.0f : 1.0f;
  sampler.bias_fixed = 32768 * within(sampler.mip_lod_bias, -kMaxLodBias, kMaxLodBias);
  sampler.min_lod_fixed = static_cast<int32_t>(32768 * within(sampler.min_lod, 0, kMaxMipLevels));
  sampler.max_lod_fixed = static_cast<int32_t>(32768 * within(sampler.max_lod, 0, kMaxMipLevels));
}

/// A view, alone or with a sampler. The functions are for that pair; those that nobody asked for give zeros. Their LLVM types are made by
/// shader/ir/sampler_types.hpp, vectors pass in registers. Slots, so that better code is found as soon as it is there.
struct TextureDescriptor {
  const ImageViewAbi* view;
  const SamplerAbi* sampler;        // null: alone
  const CodeSlot* sample_gradient;  // explicit gradients; computed ones of cubes or with a bias
  const CodeSlot* sample_lod;       // explicit LOD
  const CodeSlot* fetch;            // integer coordinates, no sampler
  const CodeSlot* gather;
  const CodeSlot* sample_implicit;  // the square of the longer computed derivative
  const CodeSlot* store;            // storage images and texel buffers: writes
  const CodeSlot* address;          // the same: where texels lie, for atomic operations
  const CodeSlot* query_lod;        // what sample_gradient would choose
  const CodeSlot* sample_min_lod;   // sample_gradient with a least LOD of the shader's
  const CodeSlot* sample_many;      // sample_implicit of several coordinates
};

/// Different samplers in use at once, of a device: each has a number from 1 on, and each view a table by it of pages. With 0, no sampler,
/// every view gives zeros.
inline constexpr uint32_t kSamplersOfPage = 64, kSamplerPages = 64, kMaxSamplers = kSamplersOfPage * kSamplerPages - 1;

/// A view that shaders read by itself or with samplers of their own choice.
struct SampledImage {
  TextureDescriptor alone;
  const TextureDescriptor* const* page[kSamplerPages];  // pairs that no draw asked for give zeros
};
/// What descriptors of textures are in a set's memory.
struct ImageDescriptor {
  const SampledImage* image;
};
struct SamplerDescriptor {
  uint32_t page_B, entry_B;  // of its number: offsets in SampledImage::page and in the page
};
struct CombinedDescriptor {
  const TextureDescriptor* texture;
  ImageDescriptor image;  // for shaders that take them apart
  SamplerDescriptor sampler;
};

/// One vertex buffer binding as bound.
struct VertexBinding {
  const uint8_t* data;
  uint64_t size_B;  // from data on
};

/// Iterations of the loops of each vector of lanes, of one thread. Code that finds none left ends its loops, and says so once; from then
/// on loops go once round, so that the thread comes to its end soon.
struct LoopBudget {
  uint64_t iterations = 0;
  uint32_t draw = 0;         // whose shaders run; fragments know it by their primitive
  uint32_t spent_stage = 0;  // out: VkShaderStageFlagBits; 0: no loop was ended
  uint32_t spent_line = 0;   // out: of spirv::Module::lines; 0: not known
  uint32_t spent_draw = 0;   // out
};

/// One call shades `count` (1..kBatchStride) vertices.
struct VertexArgs {
  const VertexBinding* bindings;  // [kMaxVertexBindings]
  const uint8_t* push_constants;
  const uint8_t* const*
      sets;  // memory of the bound sets, by number; kDynamicSet: BufferDescriptor[] with the draw's offsets; kAddressSet: AddressTable
  const uint32_t* vertex_index;  // [kBatchStride], gl_VertexIndex (vertex offset added); padded by repetition
  uint32_t count;
  uint32_t instance_index;  // gl_InstanceIndex
  uint32_t first_instance;
  uint32_t base_vertex;
  uint32_t draw_index;
  uint32_t view_index;     // gl_ViewIndex
  float* position;         // 4 components, component-major (kBatchStride)
  float* varyings;         // VaryingLayout::component_count components, component-major
  float* clip_distance;    // or null; component-major
  uint32_t* layer;         // gl_Layer, then gl_ViewportIndex, component-major; only where the shader writes them
  float* point_size;       // gl_PointSize; the same
  uint32_t* shading_rate;  // gl_PrimitiveShadingRateEXT; the same
  uint8_t* scratch;        // private memory of the thread: PrivateMemory::size_B bytes for N lanes
  LoopBudget* loops;       // each N vertices of the call begin with all of it
  // Evaluation shaders: vertices of one patch, for which vertex_index is not read.
  const float* tess_coord;  // 3 components, component-major
  const uint8_t* inputs;    // by InterfaceMemory
  uint32_t primitive_id, patch_vertices;
};

/// One call runs one invocation of a geometry shader for each of up to N primitives, the lanes. What is emitted lies in rows of kMaxLanes
/// words: vertex v's k-th word (GeometryKey::emits) at [(v * words + k) * kMaxLanes + lane].
struct GeometryArgs {
  const uint8_t* push_constants;
  const uint8_t* const* sets;
  const uint8_t* inputs;         // by InterfaceMemory, for N lanes
  const uint32_t* primitive_id;  // [N] gl_PrimitiveIDIn
  uint32_t count;                // 1..N
  uint32_t invocation;           // gl_InvocationID
  uint32_t view_index;
  uint32_t* vertices;
  uint32_t* ends;  // [vertex][kMaxLanes]: the stream; kEndsStrip << s: behind it the strip of stream s ends
  uint8_t* scratch;
  LoopBudget* loops;
  uint32_t emitted[kMaxLanes];  // out: vertices of all streams
};
inline constexpr uint32_t kEndsStrip = 1u << 28;

/// Set up by the tile phase for a primitive: what interpolation needs. Planes are relative to the anchor: value at pixel-relative
/// position (x, y) (framebuffer coordinates of the sample point) is v0 + vx*(x - anchor_x) + vy*(y - anchor_y).
/// q = 1/w (linear in screen space); i = lambda1 * q1, j = lambda2 * q2; perspective barycentrics are b1 = i/q, b2 = j/q,
/// b0 = 1 - b1 - b2; the screen-linear ones are i * w1, j * w2.
struct alignas(64) PrimitiveSetup {
  float anchor_x, anchor_y;
  float q0, qx, qy;
  float i0, ix, iy;
  float j0, jx, jy;
  float z0, zx, zy;
  float w1, w2;
  float z_lo, z_hi;         // what depth is clamped to: the vertices' range within the allowed one
  const float* varying[3];  // component 0 of each vertex; component c at [c * kBatchStride]
  const float* provoking;   // one of the three
  uint32_t primitive_id;
  uint32_t front_facing;  // 0 or 1
  uint32_t draw;          // index of the draw in the pass
  uint32_t order;         // position in the bin's order (identity for hidden-surface removal)
  // Deferred vertex shading: 1: varying[] and provoking hold gl_VertexIndex until tile/worker/vertex_store.hpp makes them addresses.
  uint8_t deferred;
  uint8_t upright;    // 1: half of an upright rectangle, interpolated from its corners (records/rectangle_half.hpp)
  uint8_t completes;  // of these: 1 + which of varying[] is still the lower right corner's, for the one that is missing; 0: all are there
  uint8_t unused;
  uint32_t instance;  // gl_InstanceIndex; where deferred
};
static_assert(sizeof(PrimitiveSetup) == 128);

/// One packet of N/4 quads; inputs by the packer, outputs by the shader's body, then read by late tests and the epilogue.
/// A pixel packet (tile/visibility/pixel_groups.hpp) has groups in place of quads: four lanes of primitive[g], pixels from anywhere in the
/// tile. Its function reads of the inputs per quad only `primitive`, and `alive`.
struct alignas(64) FragmentArgs {
  // -- outputs of the body, inputs of the epilogue; component-major, lane-minor ([t][c][lane] with lane stride kMaxLanes)
  float color[kMaxTargets][4][kMaxLanes];  // bit patterns for integer targets
  float color_source1[4][kMaxLanes];       // dual-source blending
  float depth[kMaxLanes];                  // gl_FragDepth, where written
  uint32_t sample_mask_out[kMaxLanes];     // gl_SampleMask, where written; else untouched
  uint32_t stencil_out[kMaxLanes];
  // -- inputs of pixel packets (16 lanes; see below), by lane: pixel in framebuffer coordinates, its index in the tile. Lanes beyond a
  // group's pixels repeat its first one, groups beyond the packet's repeat the first.
  int32_t lane_x_px[kMaxLanes], lane_y_px[kMaxLanes];
  uint32_t lane_pixel[kMaxLanes];
  uint32_t lane_samples[kMaxLanes];  // several samples: those to be written, a bit each
  // -- inputs, per quad
  const PrimitiveSetup* primitive[kMaxQuads];  // unused quads repeat the first
  int32_t x_px[kMaxQuads], y_px[kMaxQuads];    // top-left pixel, framebuffer coordinates
  uint32_t tile_pixel[kMaxQuads];              // index of pixel 0 in the tile: block * 16 + quad_in_block * 4
  uint64_t raster_coverage[kMaxQuads];         // bit 4*s + p: pixel p, sample s; what the shader may see
  uint64_t live_coverage[kMaxQuads];           // what may be written (after early tests); shader kill is in `alive`
  // -- inputs, uniform
  uint32_t quad_count;         // 1..N/4
  uint32_t uniform_primitive;  // 1: all quads are of primitive[0]
  uint32_t full_block;         // 1: the quads are contiguous in the tile from tile_pixel[0] and quad_count == N/4
  uint32_t sample_index;       // per-sample shading: gl_SampleID, else 0
  uint32_t alive;              // a bit for each lane: not discarded, and not outside the primitive. In and out.
  const uint8_t* push_constants;
  const uint8_t* const*
      sets;  // memory of the bound sets, by number; kDynamicSet: BufferDescriptor[] with the draw's offsets; kAddressSet: AddressTable
  uint8_t* target[kMaxTargets];  // tile memory of each colour attachment, see framebuffer/tile_memory.hpp
  uint8_t* tile_depth;
  uint8_t* tile_stencil;
  const float* sample_positions;  // x, y pairs in 0..1, of the pass's sample count
  uint8_t* scratch;
  LoopBudget* loops;
  float blend_constants[4];
  int32_t area_x0_px, area_y0_px, area_x1_px, area_y1_px;  // the render area, end excluded: input attachments read 0 outside it
  uint32_t layer, view_index, viewport_index;
  // Pixel packets of kFewestSamplesApart samples or more: where the 16 lanes' words of the colours go, the k-th (of all that are written,
  // in order of the attachments) at texels + k * texels_pitch. Null: to the tile.
  uint32_t* texels;
  uint64_t texels_pitch;
  // Packets of coarse fragments (tile/shading/coarse.hpp): each lane is a fragment of several pixels, a quad is four of them, x_px and y_px
  // are its first pixel. lane_x_px, lane_y_px and lane_pixel are the pixel in which the fragment's centre lies. The rest of the inputs by
  // quad is not read.
  uint32_t fragment_size[kMaxQuads];   // as SPIR-V encodes it: log2 of the width times 4, and of the height
  uint32_t sample_mask_in[kMaxLanes];  // gl_SampleMaskIn, by coverage index
  float centroid_x[kMaxLanes], centroid_y[kMaxLanes];
};

/// Lanes that reach shared memory in order load as one, those that don't run and lie behind its end among them: elements of four words.
inline constexpr uint32_t kSharedReadBehind_B = kMaxLanes * 32;

/// One call runs workgroups of a dispatch, one after the other: those from the `first`-th on, counted in x, then y, then z.
struct ComputeArgs {
  const uint8_t* push_constants;
  const uint8_t* const* sets;  // memory of the bound sets, by number; kDynamicSet: BufferDescriptor[] with the dispatch's offsets
  uint8_t* shared;             // of the Workgroup storage class, in cache lines of its own; kSharedReadBehind_B more may be read
  uint8_t* scratch;            // private memory of the thread: StageTraits::private_memory_B for each vector of lanes that is under way
  uint8_t* frames;             // what lanes keep while they wait at a barrier, in cache lines
  uint64_t frames_B;
  uint64_t frames_needed_B;  // out: more than frames_B, and nothing was done; else untouched
  LoopBudget* loops;
  uint64_t first;
  uint32_t count;
  uint32_t groups[3];  // NumWorkgroups
  uint32_t base[3];    // added to WorkgroupId
  // Tessellation control shaders: the patch, whose inputs and outputs lie in `shared`. Task and mesh shaders: view_index and draw_index.
  uint32_t primitive_id, patch_vertices, view_index, draw_index;
  // Task and mesh shaders, of one workgroup (`count` is 1); the caller sets made_by to kNobody. Out: workgroups of the mesh shader in x, y
  // and z; or vertices and primitives. As the invocation with the least LocalInvocationIndex of those that said so said first, in made_by.
  uint32_t made[3], made_by;
};

inline constexpr uint32_t kNobody = ~0u;

using ComputeFunction = void (*)(ComputeArgs*);
using VertexFunction = void (*)(VertexArgs*);
using GeometryFunction = void (*)(GeometryArgs*);
using FragmentFunction = void (*)(FragmentArgs*);  // body, and epilogue
/// Body and epilogue over the packets that begin at `tile_pixel`, at (x_px, y_px), and at the same place of the `blocks` - 1 blocks (1 or
/// more in all) to the right. All pixels are of primitive[0] and live; their first sample is written. Reads nothing else that is of a
/// packet, and leaves FragmentArgs as it is.
using BlocksFunction = void (*)(FragmentArgs*, uint64_t tile_pixel, int32_t x_px, int32_t y_px, uint32_t blocks);

}  // namespace tilegpu::shader
