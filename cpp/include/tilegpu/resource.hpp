// tilegpu/resource.hpp -- device memory, buffers, images, views, samplers: Vulkan's objects with Vulkan's names.
//
// Source: Vulkan specification, chapters "Memory Allocation", "Resource Creation", "Samplers".
#pragma once

#include <atomic>
#include <functional>

#include "tilegpu/types.hpp"

namespace tilegpu {

class Device;
class SealedFile;  // cpp/src/base/sealed_file.hpp

/// Vulkan's name without prefix, lower case ("r8g8b8a8_srgb"), and back; UNDEFINED / "none" where there is none.
TILEGPU_API VkFormat format_from_name(const std::string& name);
TILEGPU_API std::string format_name(VkFormat format);

namespace vk {
struct FormatInfo;  // tilegpu/format.hpp
}
class Buffer;
namespace resource {
class MemoryContents;  // what is known of a memory's bytes: cpp/src/resource/memory_contents.hpp
class AddressSpace;    // the addresses of a device: cpp/src/resource/address_space.hpp
struct AddressLease;
Ptr<Buffer> buffer_over_host(void* memory);  // for copies that the host does: cpp/src/transfer/host_copy.cpp
}  // namespace resource

/// Page-aligned host memory, zero at first, committed by the kernel when touched. All of it is host visible and coherent.
class TILEGPU_API DeviceMemory {
 public:
  static Expected<Ptr<DeviceMemory>> allocate(uint64_t size_B);
  /// Memory that other devices and other processes may have too, by a file descriptor. As others write at any time, it counts as mapped
  /// for as long as it is there, and what a pass left undefined is whatever lies there.
  static Expected<Ptr<DeviceMemory>> allocate_shared(uint64_t size_B);
  /// The same bytes as those that `export_fd` gave a descriptor of, here or in another process. The descriptor stays the caller's. An error
  /// (VK_ERROR_INVALID_EXTERNAL_HANDLE) for one of anything else, or of fewer bytes.
  static Expected<Ptr<DeviceMemory>> import_fd(int fd, uint64_t size_B);
  /// The host's own bytes, from the beginning of a page to the end of one, which stay its: it keeps them readable and writable for as long
  /// as this lives. They count as mapped, as it may write them at any time. They are not among what the process's images and buffers may
  /// have (TILEGPU_MEMORY_MB). An error (VK_ERROR_INVALID_EXTERNAL_HANDLE) where they can't be read and written, or not the page behind
  /// them, of which code reads some bytes that it does not use: where nothing is there, one is put there.
  static Expected<Ptr<DeviceMemory>> import_host(void* data, uint64_t size_B);
  /// Of a page: what import_host wants beginnings and sizes to be multiples of.
  static uint64_t host_alignment_B();
  /// A new descriptor of shared memory; the caller closes it.
  Expected<int> export_fd() const;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  uint64_t size_B() const { return size_B_; }
  /// The host's address of byte `offset_B`. Until unmap() the host may write these bytes at any time, so that nothing that was derived
  /// from them is kept from one pass to the next. Ranges may be mapped again; size VK_WHOLE_SIZE: to the end.
  Expected<uint8_t*> map(uint64_t offset_B = 0, uint64_t size_B = VK_WHOLE_SIZE);
  /// Ends all mappings: the host writes no more.
  void unmap();
  /// The host wrote these bytes. Mapped memory need not be flushed: it is coherent. Who wrote through data() of an image or a buffer, or
  /// wants contents that a pass left undefined to count as defined again, says so here.
  Status flush(uint64_t offset_B = 0, uint64_t size_B = VK_WHOLE_SIZE);
  resource::MemoryContents& contents() const { return *contents_; }

 private:
  friend class Buffer;
  friend class Image;
  friend Ptr<Buffer> resource::buffer_over_host(void* memory);
  DeviceMemory() = default;
  static Expected<Ptr<DeviceMemory>> map_shared(std::shared_ptr<SealedFile> file, uint64_t size_B);
  uint8_t* data_ = nullptr;
  uint64_t size_B_ = 0;
  std::shared_ptr<SealedFile> file_;  // of shared memory
  bool of_host_ = false;              // imported: not ours to give back
  bool page_behind_ = false;          // of such: ours is the page behind it
  std::shared_ptr<resource::MemoryContents> contents_;
};

struct BufferCreateInfo {
  uint64_t size_B = 0;
  VkBufferUsageFlags usage = 0;
  std::string label;
};

class TILEGPU_API Buffer {
 public:
  static Expected<Ptr<Buffer>> create(const BufferCreateInfo& info);
  Status bind(Ptr<DeviceMemory> memory, uint64_t offset_B);
  const BufferCreateInfo& info() const { return info_; }
  uint64_t size_B() const { return info_.size_B; }
  /// Null until bound. For who reads results; who writes while images share the memory maps it.
  uint8_t* data() const { return data_; }
  const Ptr<DeviceMemory>& memory() const { return memory_; }
  uint64_t memory_offset_B() const { return memory_offset_B_; }
  /// Whether these bytes are all of it; for any numbers: none are added.
  bool holds(uint64_t offset_B, uint64_t size_B) const { return offset_B <= info_.size_B && size_B <= info_.size_B - offset_B; }
  /// What Device::buffer_address gave it; 0: nobody asked yet.
  uint64_t device_address() const;

 private:
  friend class resource::AddressSpace;
  friend Ptr<Buffer> resource::buffer_over_host(void* memory);
  BufferCreateInfo info_;
  Ptr<DeviceMemory> memory_;
  uint64_t memory_offset_B_ = 0;
  uint8_t* data_ = nullptr;
  std::shared_ptr<resource::AddressLease> address_;      // whose thread set lease_
  std::atomic<resource::AddressLease*> lease_{nullptr};  // the same, for any thread
};

struct BufferViewCreateInfo {
  Ptr<Buffer> buffer;                     ///< with memory
  VkFormat format = VK_FORMAT_UNDEFINED;  ///< one of texel buffers
  uint64_t offset_B = 0;                  ///< a multiple of kTexelBufferAlignment_B
  uint64_t range_B = VK_WHOLE_SIZE;       ///< a multiple of the texel's bytes; VK_WHOLE_SIZE: as many whole texels as there are
};

inline constexpr uint64_t kTexelBufferAlignment_B = 16;
/// Of uniform and storage buffers in sets.
inline constexpr uint64_t kBufferOffsetAlignment_B = 4;
inline constexpr uint64_t kMaxTexelBufferElements = 1u << 27;

/// Texels in a buffer, one behind the other: what uniform and storage texel buffers are bound by.
class TILEGPU_API BufferView {
 public:
  static Expected<Ptr<BufferView>> create(const BufferViewCreateInfo& info);
  const BufferViewCreateInfo& info() const { return info_; }  ///< range_B is resolved
  const Ptr<Buffer>& buffer() const { return info_.buffer; }

 private:
  BufferViewCreateInfo info_;
};

/// How an image lies in memory. `linear` is rows of texels (what a caller can view as an array), each row and level 64-byte aligned;
/// `block_compressed` is lossless, with headers and 16x16 superblocks, as AFBC; it can be an attachment and be copied, not sampled.
enum class ImageTiling : uint8_t { linear, block_compressed };

struct ImageCreateInfo {
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint32_t width_px = 1, height_px = 1;
  uint32_t mip_levels = 1, array_layers = 1;
  VkImageType type = VK_IMAGE_TYPE_2D;
  uint32_t depth_px = 1;  ///< slices of level 0; more than one for 3D only
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  VkImageUsageFlags usage = 0;  ///< 0: whatever the format can do. TRANSIENT_ATTACHMENT: memory only if a spill needs it
  /// CUBE_COMPATIBLE, 2D_ARRAY_COMPATIBLE (3D: slices as 2D views), MUTABLE_FORMAT (multi-planar: views of planes), EXTENDED_USAGE (what
  /// views of other formats can do), ALIAS, DISJOINT (multi-planar: memory by plane), BLOCK_TEXEL_VIEW_COMPATIBLE (compressed, with
  /// MUTABLE_FORMAT: views whose texels are texel blocks)
  VkImageCreateFlags flags = 0;
  ImageTiling tiling = ImageTiling::linear;
  std::string label;
};

/// An aspect may be stored apart: depth and stencil (D32S8: depth then stencil; D24S8: one packed 32-bit plane, depth in
/// the low 24 bits). Multisampled images hold sample 0 of the whole level, then sample 1, ... A level's layers, or the depth slices of
/// a 3D image, lie one behind the other.
struct SubresourceLayout {
  uint64_t offset_B = 0;  ///< of (level, layer or slice, sample 0) in the image's memory
  uint64_t row_pitch_B = 0;
  uint64_t sample_pitch_B = 0;
  uint64_t size_B = 0;  ///< of one layer or slice, all samples: Vulkan's arrayPitch and depthPitch
  uint32_t width_px = 0, height_px = 0;
  uint32_t texel_B = 0;
  // block_compressed only; zero for linear. Superblocks are 16x16 px, row by row: headers at offset_B, then a payload slot each.
  uint32_t superblocks_x = 0, superblocks_y = 0;
  uint32_t header_B = 0;          ///< of one superblock: 16, or 32 for texels of 16 bytes
  uint64_t payload_offset_B = 0;  ///< of the first slot, from offset_B of the sample
  uint32_t payload_slot_B = 0;    ///< 256 * texel_B
};

/// A multi-planar image is its planes: an image each, of the plane's format and size, which copies and views of the aspect PLANE_0 to
/// PLANE_2 mean. What asks for COLOR of it as a whole, asks all of them.
///
/// A BLOCK_TEXEL_VIEW_COMPATIBLE image has an image for each level besides, in the same memory, whose texels are its texel blocks: what
/// views of formats that are not compressed mean.
class TILEGPU_API Image {
 public:
  static Expected<Ptr<Image>> create(const ImageCreateInfo& info);
  uint64_t required_B() const { return required_B_; }
  Status bind(Ptr<DeviceMemory> memory, uint64_t offset_B);
  /// Of a DISJOINT image, each of whose planes needs required_B of its own.
  Status bind_plane(uint32_t plane, Ptr<DeviceMemory> memory, uint64_t offset_B);
  /// Allocates memory of its own if none is bound (transient images: at the first spill).
  Status ensure_memory();
  const ImageCreateInfo& info() const { return info_; }
  /// Of multi-planar formats; else none.
  const std::vector<Ptr<Image>>& planes() const { return planes_; }
  /// By level, of BLOCK_TEXEL_VIEW_COMPATIBLE images; else none. They have memory as soon as the image has.
  const std::vector<Ptr<Image>>& texel_blocks() const { return texel_blocks_; }
  bool is_disjoint() const { return info_.flags & VK_IMAGE_CREATE_DISJOINT_BIT; }
  /// Null until bound. For who reads results; who writes maps the memory.
  uint8_t* data() const { return data_; }
  const Ptr<DeviceMemory>& memory() const { return memory_; }
  uint64_t memory_offset_B() const { return memory_offset_B_; }
  /// Of a level, in texels; depth is 1 unless the image is 3D.
  VkExtent3D extent(uint32_t level) const;
  /// What `layer` counts in a level: array layers, or the depth slices of a 3D image.
  uint32_t layer_count(uint32_t level) const;
  /// `aspect` is COLOR, DEPTH or STENCIL, or of a multi-planar image PLANE_0 to PLANE_2 (exactly one bit). Of a plane of a DISJOINT image
  /// from the plane's own memory on.
  SubresourceLayout layout(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer) const;
  uint32_t sample_count() const { return static_cast<uint32_t>(info_.samples); }
  /// Why a subresource's contents are undefined ("store_op of pass 'main' was dont_care"); "": they were stored, copied, cleared or mapped.
  /// Asks the memory: what another image or buffer writes to the same bytes counts.
  std::string why_undefined(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer) const;
  /// Of a rectangle of it, which must lie inside: what is undefined beside it doesn't count.
  std::string why_undefined(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer, const VkRect2D& rect) const;
  bool is_defined(VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer) const {
    return why_undefined(aspect, level, layer).empty();
  }
  /// Of the memory from memory_offset_B on; of an image without memory: its own, from 0 on.
  resource::MemoryContents& contents() const { return *contents_; }

 private:
  Status make_planes(const vk::FormatInfo& format);
  void take_planes_memory();
  Status make_texel_blocks(const vk::FormatInfo& format);
  template <class Why>
  std::string why_planes_undefined(VkImageAspectFlags aspect, Why why) const;
  ImageCreateInfo info_;
  Ptr<DeviceMemory> memory_;
  uint64_t memory_offset_B_ = 0;
  uint8_t* data_ = nullptr;
  std::shared_ptr<resource::MemoryContents> contents_;
  uint64_t required_B_ = 0;
  std::vector<uint64_t> plane_offsets_B_;  // of aspects and levels; multi-planar: of planes
  std::vector<Ptr<Image>> planes_;
  std::vector<Ptr<Image>> texel_blocks_;
};

/// VkSamplerYcbcrConversionCreateInfo.
struct SamplerYcbcrConversionCreateInfo {
  VkFormat format = VK_FORMAT_UNDEFINED;  ///< of the views
  VkSamplerYcbcrModelConversion model = VK_SAMPLER_YCBCR_MODEL_CONVERSION_RGB_IDENTITY;
  VkSamplerYcbcrRange range = VK_SAMPLER_YCBCR_RANGE_ITU_FULL;
  VkComponentMapping components = {};  ///< before the conversion, in place of a view's swizzle
  VkChromaLocation x_chroma_offset = VK_CHROMA_LOCATION_COSITED_EVEN, y_chroma_offset = VK_CHROMA_LOCATION_COSITED_EVEN;
  VkFilter chroma_filter = VK_FILTER_NEAREST;
  /// Chroma is filtered to where luma's texels are, and both then as those are; else each is filtered by its own coordinates.
  bool force_explicit_reconstruction = false;
};

/// How luma and chroma become RGB: a sampler and the views that it meets have the same one.
class TILEGPU_API SamplerYcbcrConversion {
 public:
  static Expected<Ptr<SamplerYcbcrConversion>> create(const SamplerYcbcrConversionCreateInfo& info);
  const SamplerYcbcrConversionCreateInfo& info() const { return info_; }  ///< components have no IDENTITY left

 private:
  SamplerYcbcrConversionCreateInfo info_;
};
/// "Identically defined", or none both times.
TILEGPU_API bool is_same(const Ptr<SamplerYcbcrConversion>& a, const Ptr<SamplerYcbcrConversion>& b);

struct ImageViewCreateInfo {
  Ptr<Image> image;
  VkImageViewType type = VK_IMAGE_VIEW_TYPE_2D;
  VkFormat format = VK_FORMAT_UNDEFINED;  ///< UNDEFINED: the image's
  VkImageAspectFlags aspects = 0;         ///< 0: all of the format's
  uint32_t base_level = 0, level_count = VK_REMAINING_MIP_LEVELS;
  /// Of 2D views of a 3D image: slices of the one level. A 3D view has layer 0 alone, with all slices.
  uint32_t base_layer = 0, layer_count = VK_REMAINING_ARRAY_LAYERS;
  VkComponentMapping swizzle = {};
  Ptr<SamplerYcbcrConversion> ycbcr = nullptr;  ///< what a format that lies in planes, or is packed 4:2:2, must have to be read as a whole
  /// Sampling reads no level before it, counted in the image's levels; gathers and fetches of a level before its whole part give zeros.
  float min_lod = 0;
  /// Of a 3D view of one level, slices that its coordinate 0 and those behind it reach; the others are not in it. Default: all.
  uint32_t first_slice = 0, slice_count = VK_REMAINING_ARRAY_LAYERS;
};

class TILEGPU_API ImageView {
 public:
  static Expected<Ptr<ImageView>> create(const ImageViewCreateInfo& info);
  /// All defaults resolved; of a plane: that plane's image, and COLOR; of texel blocks: the image of the level's blocks, and level 0.
  const ImageViewCreateInfo& info() const { return info_; }
  const Ptr<Image>& image() const { return info_.image; }

 private:
  ImageViewCreateInfo info_;
};

struct SamplerCreateInfo {
  /// CUBIC_EXT too: Catmull-Rom weights; of formats with a linear filter, but for Y'CbCr ones, and views that are no cubes.
  VkFilter mag_filter = VK_FILTER_LINEAR, min_filter = VK_FILTER_LINEAR;
  VkSamplerMipmapMode mipmap_mode = VK_SAMPLER_MIPMAP_MODE_LINEAR;
  VkSamplerAddressMode address_u = VK_SAMPLER_ADDRESS_MODE_REPEAT, address_v = VK_SAMPLER_ADDRESS_MODE_REPEAT,
                       address_w = VK_SAMPLER_ADDRESS_MODE_REPEAT;
  float mip_lod_bias = 0, min_lod = 0, max_lod = VK_LOD_CLAMP_NONE;
  bool compare_enable = false;
  VkCompareOp compare_op = VK_COMPARE_OP_NEVER;
  VkBorderColor border_color = VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK;
  VkClearColorValue custom_border_color = {};  ///< of FLOAT_CUSTOM and INT_CUSTOM; clamped to what the format can hold
  VkSamplerReductionMode reduction_mode = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  float max_anisotropy = 1;  ///< more than 1: where min_filter is linear, up to so many (16 at most) samples along the longer derivative
  bool unnormalized_coordinates = false;
  bool non_seamless_cube_map = false;  ///< of cubes: a face is an image by itself, with the address modes at its edges
  Ptr<SamplerYcbcrConversion> ycbcr = nullptr;
};

class TILEGPU_API Sampler {
 public:
  /// `tolerate`: as DeviceCreateInfo::tolerate.
  static Expected<Ptr<Sampler>> create(const SamplerCreateInfo& info, const std::function<void(const std::string&)>& tolerate = {});
  const SamplerCreateInfo& info() const { return info_; }

 private:
  SamplerCreateInfo info_;
};

}  // namespace tilegpu
