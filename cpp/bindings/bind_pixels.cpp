// bindings/bind_pixels.cpp -- pixels between images and NumPy: a view where memory allows it, else a converted copy.
//
// In: an image with linear tiling and one subresource. Out: arrays of shape (H, W[, samples], C). Components that are all 8, 16 or
// 32 bits wide and byte-aligned keep their bits (sRGB too); packed formats become float32, or 32-bit integers where they hold
// integers; compressed formats become float32 (sRGB: linear, as shaders read it); packed 4:2:2 is (H, W / 2, 4) words; depth becomes
// float32, stencil uint8.
#include <cstring>
#include <optional>
#include <unordered_map>

#include "bindings.hpp"
#include "interrupts.hpp"
#include "tilegpu/format.hpp"
#include "tilegpu/host_copy.hpp"

namespace tilegpu::bindings {
namespace {

/// How a format's colour shows in NumPy.
struct ArrayFormat {
  std::string dtype;
  uint32_t component_B = 0;  // of the array
  bool same_bits = false;    // every component is a byte-aligned field of component_B bytes
  bool same_order = false;   // and they lie in R, G, B, A order without gaps: memory can be viewed
};

ArrayFormat array_format(const vk::FormatInfo& format) {
  const uint8_t bits = format.rgba[0].bits;
  ArrayFormat result;
  if (format.is_compressed()) return {"f4", 4, false, false};
  if (format.needs_conversion()) return {bits == 8 ? "u1" : "u2", bits == 8 ? 1u : 2u, false, false};  // words of blocks
  result.same_bits = bits == 8 || bits == 16 || bits == 32 || bits == 64;
  result.same_order = result.same_bits;
  for (uint32_t c = 0; c < format.component_count; ++c) {
    const vk::Component& component = format.rgba[c];
    if (component.bits != bits || component.shift % 8) result.same_bits = false;
    if (component.shift != c * bits) result.same_order = false;
  }
  result.same_order = result.same_order && result.same_bits && format.texel_B * 8u == uint32_t{bits} * format.component_count;
  const bool is_signed =
      format.numeric == vk::Numeric::sint || format.numeric == vk::Numeric::snorm || format.numeric == vk::Numeric::sscaled;
  if (!result.same_bits) {
    result.dtype = format.numeric == vk::Numeric::uint ? "u4" : format.numeric == vk::Numeric::sint ? "i4" : "f4";
    result.component_B = 4;
    return result;
  }
  result.component_B = bits / 8;
  const char kind = format.numeric == vk::Numeric::sfloat ? 'f' : is_signed ? 'i' : 'u';
  result.dtype = kind + std::to_string(result.component_B);
  return result;
}

/// By NumPy's short name, found once: asking NumPy takes longer than copying a small picture.
py::dtype dtype_named(const std::string& name) {
  static auto* const known = new std::unordered_map<std::string, PyObject*>();
  if (const auto found = known->find(name); found != known->end()) return py::reinterpret_borrow<py::dtype>(found->second);
  py::dtype type(name);  // other threads run meanwhile, and may find it too: nothing is noted before it is there
  if (known->emplace(name, type.ptr()).second) type.inc_ref();
  return type;
}

/// Python's other threads run while many bytes are copied, and Ctrl-C ends it; to let them in takes as long as some kilobytes.
class CopyOf {
 public:
  explicit CopyOf(size_t size_B) {
    constexpr size_t kLong_B = 1 << 17;
    if (size_B >= kLong_B) release_.emplace();
  }
  /// After so many bytes more: whether anybody wants the others.
  bool goes_on(size_t size_B) {
    constexpr size_t kBetweenAsking_B = 16 << 20;
    unasked_B_ += size_B;
    if (unasked_B_ < kBetweenAsking_B || stopped_) return !stopped_;
    unasked_B_ = 0;
    stopped_ = ctrl_c_pends();
    return !stopped_;
  }
  /// Raises what ended it.
  void end() {
    release_.reset();
    if (stopped_ && PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  std::optional<ReleasedGil> release_;
  size_t unasked_B_ = 0;
  bool stopped_ = false;
};

const vk::FormatInfo& format_of(const Image& image) {
  const vk::FormatInfo* format = vk::find_format(image.info().format);
  assert(format);
  return *format;
}

SubresourceLayout subresource(const Image& image, VkImageAspectFlagBits aspect, uint32_t level, uint32_t layer) {
  if (level >= image.info().mip_levels || layer >= image.layer_count(level)) throw py::index_error("level or layer outside the image");
  if (image.info().tiling != ImageTiling::linear) throw py::value_error("pixels of this tiling are read through a copy");
  if (!image.planes().empty()) throw py::value_error("pixels of a multi-planar image are those of its planes");
  if (!image.data()) throw py::value_error("the image has no memory");
  return image.layout(aspect, level, layer);
}

std::vector<py::ssize_t> shape_of(const Image& image, const SubresourceLayout& layout, uint32_t components) {
  std::vector<py::ssize_t> shape = {layout.height_px, layout.width_px};
  if (image.sample_count() > 1) shape.push_back(image.sample_count());
  shape.push_back(components);
  return shape;
}

/// Calls per_row(source row, destination row) for every row of every sample; destinations are `stride_B` bytes a texel apart.
template <class PerRow>
void for_each_row(const Image& image, const SubresourceLayout& layout, uint8_t* destination, size_t element_B, PerRow&& per_row) {
  const uint32_t samples = image.sample_count();
  CopyOf copy(size_t{layout.width_px} * layout.height_px * samples * element_B);
  for (uint32_t sample = 0; sample < samples; ++sample)
    for (uint32_t y = 0; y < layout.height_px && copy.goes_on(layout.width_px * element_B); ++y)
      per_row(image.data() + layout.offset_B + sample * layout.sample_pitch_B + y * layout.row_pitch_B,
              destination + (size_t{y} * layout.width_px * samples + sample) * element_B, samples * element_B);
  copy.end();
}

py::array read_color(const Image& image, uint32_t level, uint32_t layer) {
  const vk::FormatInfo& format = format_of(image);
  const SubresourceLayout layout = subresource(image, VK_IMAGE_ASPECT_COLOR_BIT, level, layer);
  const ArrayFormat how = array_format(format);
  if (format.needs_conversion()) {  // packed 4:2:2: blocks of four words, as they lie there
    const py::ssize_t columns = format.blocks_x(layout.width_px), rows = layout.height_px;
    py::array blocks(dtype_named(how.dtype), std::vector<py::ssize_t>{rows, columns, 4});
    const size_t row_B = static_cast<size_t>(columns) * format.texel_B;
    auto* out = static_cast<uint8_t*>(blocks.mutable_data());
    CopyOf copy(row_B * static_cast<size_t>(rows));
    for (py::ssize_t y = 0; y < rows && copy.goes_on(row_B); ++y, out += row_B)
      std::memcpy(out, image.data() + layout.offset_B + static_cast<uint64_t>(y) * layout.row_pitch_B, row_B);
    copy.end();
    return blocks;
  }
  const uint32_t components = format.component_count;
  py::array result(dtype_named(how.dtype), shape_of(image, layout, components));
  auto* destination = static_cast<uint8_t*>(result.mutable_data());
  const size_t element_B = size_t{components} * how.component_B;
  if (format.is_compressed()) {
    std::vector<vk::Texel> row(layout.width_px);
    CopyOf copy(element_B * layout.width_px * layout.height_px);
    // Unpacking a texel takes as long as copying a hundred bytes.
    for (uint32_t y = 0; y < layout.height_px && copy.goes_on(size_t{100} * layout.width_px); ++y) {
      vk::unpack_image_row(format, image.data() + layout.offset_B, layout.row_pitch_B, y, layout.width_px, row.data());
      for (const vk::Texel& texel : row) std::memcpy(destination, texel.f, element_B), destination += element_B;
    }
    copy.end();
    return result;
  }
  for_each_row(image, layout, destination, element_B, [&](const uint8_t* source, uint8_t* out, size_t step_B) {
    if (how.same_order && step_B == element_B) {
      std::memcpy(out, source, element_B * layout.width_px);
      return;
    }
    for (uint32_t x = 0; x < layout.width_px; ++x, source += format.texel_B, out += step_B) {
      if (how.same_bits) {
        for (uint32_t c = 0; c < components; ++c)
          std::memcpy(out + c * how.component_B, source + format.rgba[c].shift / 8, how.component_B);
      } else {
        const vk::Texel texel = vk::unpack_texel(format, source);
        std::memcpy(out, texel.u, element_B);
      }
    }
  });
  return result;
}

py::array read_depth(const Image& image, uint32_t level, uint32_t layer) {
  const vk::FormatInfo& format = format_of(image);
  const SubresourceLayout layout = subresource(image, VK_IMAGE_ASPECT_DEPTH_BIT, level, layer);
  py::array result(dtype_named("f4"), shape_of(image, layout, 1));
  auto* destination = static_cast<uint8_t*>(result.mutable_data());
  for_each_row(image, layout, destination, 4, [&](const uint8_t* source, uint8_t* out, size_t step_B) {
    for (uint32_t x = 0; x < layout.width_px; ++x, source += layout.texel_B, out += step_B) {
      uint32_t bits = 0;
      std::memcpy(&bits, source, std::min<size_t>(4, layout.texel_B));
      float depth;
      if (format.depth_bits == 32) {
        std::memcpy(&depth, &bits, 4);
      } else {
        depth = vk::unorm_to_depth(format.depth_bits == 24 ? bits & 0xffffffu : bits, format.depth_bits);
      }
      std::memcpy(out, &depth, 4);
    }
  });
  return result;
}

py::array read_stencil(const Image& image, uint32_t level, uint32_t layer) {
  const SubresourceLayout layout = subresource(image, VK_IMAGE_ASPECT_STENCIL_BIT, level, layer);
  py::array result(dtype_named("u1"), shape_of(image, layout, 1));
  auto* destination = static_cast<uint8_t*>(result.mutable_data());
  // D24S8 is one packed plane of 32 bits, stencil in the highest byte; elsewhere stencil is a plane of bytes.
  const size_t byte = layout.texel_B == 4 ? 3 : 0;
  for_each_row(image, layout, destination, 1, [&](const uint8_t* source, uint8_t* out, size_t step_B) {
    for (uint32_t x = 0; x < layout.width_px; ++x) out[x * step_B] = source[x * layout.texel_B + byte];
  });
  return result;
}

/// Level 0 of layer 0 where it is defined, the aspect that its format has first; None where reading it takes more than a copy, or an error.
py::object read_plain(const Image& image) {
  if (image.info().tiling != ImageTiling::linear || !image.planes().empty() || !image.data()) return py::none();
  const vk::FormatInfo& format = format_of(image);
  const bool depth = format.depth_bits != 0, stencil = !depth && format.stencil_bits != 0;
  if (!image.is_defined(depth ? VK_IMAGE_ASPECT_DEPTH_BIT : stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 0))
    return py::none();
  return depth ? read_depth(image, 0, 0) : stencil ? read_stencil(image, 0, 0) : read_color(image, 0, 0);
}

/// Read-only view of the subresource's memory, or None where the format has no dtype of NumPy.
py::object view(const Ptr<Image>& image, uint32_t aspect, uint32_t level, uint32_t layer) {
  const vk::FormatInfo& format = format_of(*image);
  if (image->info().tiling != ImageTiling::linear || !image->data() || format.needs_conversion()) return py::none();
  std::string dtype;
  uint32_t components = 1, component_B = 0;
  if (aspect == VK_IMAGE_ASPECT_COLOR_BIT) {
    const ArrayFormat how = array_format(format);
    if (!how.same_order) return py::none();
    dtype = how.dtype;
    components = format.component_count;
    component_B = how.component_B;
  } else if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT && format.depth_bits == 32) {
    dtype = "f4";
    component_B = 4;
  } else if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT && format.depth_bits != 24) {
    dtype = "u1";
    component_B = 1;
  } else {
    return py::none();
  }
  const SubresourceLayout layout = subresource(*image, static_cast<VkImageAspectFlagBits>(aspect), level, layer);
  std::vector<py::ssize_t> strides = {static_cast<py::ssize_t>(layout.row_pitch_B), static_cast<py::ssize_t>(layout.texel_B)};
  if (image->sample_count() > 1) strides.push_back(static_cast<py::ssize_t>(layout.sample_pitch_B));
  strides.push_back(component_B);
  py::array result(py::dtype(dtype), shape_of(*image, layout, components), strides, image->data() + layout.offset_B, py::cast(image));
  result.attr("setflags")(py::arg("write") = false);
  return result;
}

/// Tightly packed texels in the format's memory layout (as for vkCmdCopyBufferToImage) into one colour subresource.
void write(Image& image, uint32_t level, uint32_t layer, const py::buffer& texels) {
  const SubresourceLayout layout = subresource(image, VK_IMAGE_ASPECT_COLOR_BIT, level, layer);
  const py::buffer_info info = texels.request();
  const vk::FormatInfo& format = format_of(image);
  const size_t row_B = size_t{format.blocks_x(layout.width_px)} * layout.texel_B, rows = format.blocks_y(layout.height_px);
  if (static_cast<size_t>(info.size * info.itemsize) != row_B * rows || !PyBuffer_IsContiguous(info.view(), 'C'))
    throw py::value_error("texels must be " + std::to_string(row_B * rows) + " contiguous bytes");
  const auto* source = static_cast<const uint8_t*>(info.ptr);
  unwrap(image.memory()->flush(image.memory_offset_B() + layout.offset_B, layout.size_B));
  CopyOf copy(row_B * rows);
  for (uint32_t y = 0; y < rows && copy.goes_on(row_B); ++y)
    std::memcpy(image.data() + layout.offset_B + y * layout.row_pitch_B, source + y * row_B, row_B);
  copy.end();
}

/// Packs (n, components) float32 or 32-bit integers into texels of the format.
py::array_t<uint8_t> pack_texels(int format_number, const py::array& values) {
  const vk::FormatInfo* format = vk::find_format(static_cast<VkFormat>(format_number));
  if (!format || format->is_compressed() || format->needs_conversion())
    throw py::value_error("unknown format, or one whose texels don't stand alone");
  if (values.ndim() != 2 || values.itemsize() != 4 || !(values.flags() & py::array::c_style))
    throw py::value_error("values must be (n, C) of 4-byte numbers");
  const auto count = static_cast<size_t>(values.shape(0));
  const auto components = std::min<size_t>(4, static_cast<size_t>(values.shape(1)));
  const auto source_step = static_cast<size_t>(values.shape(1));
  py::array_t<uint8_t> result(static_cast<py::ssize_t>(count * format->texel_B));
  auto* out = result.mutable_data();
  const auto* source = static_cast<const uint32_t*>(values.data());
  ReleasedGil release;
  for (size_t i = 0; i < count; ++i) {
    vk::Texel texel{};
    std::memcpy(texel.u, source + i * source_step, components * 4);
    vk::pack_texel(*format, texel, out + i * format->texel_B);
  }
  return result;
}

}  // namespace

void bind_pixels(py::class_<Image, Ptr<Image>>& image) {
  image
      .def(
          "read",
          [](const Image& i, uint32_t aspect, uint32_t level, uint32_t layer) {
            if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT) return read_depth(i, level, layer);
            if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) return read_stencil(i, level, layer);
            return read_color(i, level, layer);
          },
          py::arg("aspect"), py::arg("level"), py::arg("layer"))
      .def("read_plain", &read_plain)
      .def(
          "copy_level",
          [](const Image& from, const Image& to, uint32_t aspect, uint32_t level, uint32_t layer) {
            VkImageCopy2 region{VK_STRUCTURE_TYPE_IMAGE_COPY_2};
            region.srcSubresource = {aspect, level, layer, 1}, region.dstSubresource = {aspect, 0, 0, 1};
            region.extent = to.extent(0);
            unwrap([&] {
              ReleasedGil release;
              return copy_image_to_image(from, to, {&region, 1});
            }());
          },
          py::arg("to"), py::arg("aspect"), py::arg("level"), py::arg("layer"))
      .def("view", &view, py::arg("aspect"), py::arg("level"), py::arg("layer"))
      .def("write", &write, py::arg("level"), py::arg("layer"), py::arg("texels"))
      .def_static("pack_texels", &pack_texels, py::arg("format"), py::arg("values"));
}

}  // namespace tilegpu::bindings
