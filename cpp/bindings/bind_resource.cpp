// bindings/bind_resource.cpp -- tilegpu/resource.hpp: memory, buffers, images, views, samplers. Buffers and memory follow the
// buffer protocol: NumPy sees the bytes that the core reads, without a copy.
#include <optional>

#include "bindings.hpp"
#include "tilegpu/format.hpp"

namespace tilegpu::bindings {
namespace {

py::buffer_info bytes_of(uint8_t* data, uint64_t size_B) {
  static uint8_t nothing;
  return py::buffer_info(data ? data : &nothing, 1, "B", 1, {data ? static_cast<py::ssize_t>(size_B) : 0}, {1});
}

VkComponentMapping swizzle_of(const std::array<int, 4>& s) {
  const auto c = [&](int i) { return static_cast<VkComponentSwizzle>(s[i]); };
  return {c(0), c(1), c(2), c(3)};
}

void bind_memory(py::module_& m) {
  py::class_<DeviceMemory, Ptr<DeviceMemory>>(m, "DeviceMemory", py::buffer_protocol())
      .def(py::init([](uint64_t size_B) { return unwrap(DeviceMemory::allocate(size_B)); }), py::arg("size_B"))
      .def_property_readonly("size_B", &DeviceMemory::size_B)
      .def("unmap", &DeviceMemory::unmap)
      .def(
          "flush", [](DeviceMemory& memory, uint64_t offset_B, uint64_t size_B) { unwrap(memory.flush(offset_B, size_B)); },
          py::arg("offset_B") = 0, py::arg("size_B") = VK_WHOLE_SIZE)
      // NumPy may keep the address for as long as it likes: from here on the memory is mapped.
      .def_buffer([](DeviceMemory& memory) { return bytes_of(unwrap(memory.map()), memory.size_B()); });

  py::class_<Buffer, Ptr<Buffer>>(m, "Buffer", py::buffer_protocol())
      .def(py::init([](uint64_t size_B, uint32_t usage, std::string label) {
             return unwrap(Buffer::create({size_B, usage, std::move(label)}));
           }),
           py::arg("size_B"), py::arg("usage"), py::arg("label"))
      .def(
          "bind", [](Buffer& buffer, Ptr<DeviceMemory> memory, uint64_t offset_B) { unwrap(buffer.bind(std::move(memory), offset_B)); },
          py::arg("memory"), py::arg("offset_B"))
      .def_property_readonly("size_B", &Buffer::size_B)
      .def_property_readonly("usage", [](const Buffer& buffer) { return buffer.info().usage; })
      .def_property_readonly("label", [](const Buffer& buffer) { return buffer.info().label; })
      .def_buffer([](Buffer& buffer) {
        if (buffer.data()) unwrap(buffer.memory()->map(buffer.memory_offset_B(), buffer.size_B()));
        return bytes_of(buffer.data(), buffer.size_B());
      });

  py::class_<BufferView, Ptr<BufferView>>(m, "BufferView")
      .def(py::init([](Ptr<Buffer> buffer, int format, uint64_t offset_B, uint64_t range_B) {
             return unwrap(BufferView::create({std::move(buffer), static_cast<VkFormat>(format), offset_B, range_B}));
           }),
           py::arg("buffer").none(false), py::arg("format"), py::arg("offset_B"), py::arg("range_B"))
      .def_property_readonly("range_B", [](const BufferView& view) { return view.info().range_B; });
}

void bind_images(py::module_& m) {
  py::class_<Image, Ptr<Image>> image(m, "Image");
  image
      .def(py::init([](int format, uint32_t width_px, uint32_t height_px, uint32_t mip_levels, uint32_t array_layers, uint32_t samples,
                       uint32_t usage, bool cube, int tiling, std::string label, int type, uint32_t depth_px) {
             ImageCreateInfo info;
             info.format = static_cast<VkFormat>(format);
             info.width_px = width_px;
             info.height_px = height_px;
             info.mip_levels = mip_levels;
             info.array_layers = array_layers;
             info.samples = static_cast<VkSampleCountFlagBits>(samples);
             info.usage = usage;
             info.type = static_cast<VkImageType>(type);
             info.depth_px = depth_px;
             info.flags = cube ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0;
             if (info.type == VK_IMAGE_TYPE_3D) info.flags |= VK_IMAGE_CREATE_2D_ARRAY_COMPATIBLE_BIT;
             // So that planes can be viewed, as whatever their formats can be.
             if (const vk::FormatInfo* f = vk::find_format(info.format); f && f->is_multi_planar())
               info.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
             else if (f && f->is_compressed())  // and texel blocks likewise
               info.flags |= VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT |
                             VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT;
             info.tiling = static_cast<ImageTiling>(tiling);
             info.label = std::move(label);
             return unwrap(Image::create(info));
           }),
           py::arg("format"), py::arg("width_px"), py::arg("height_px"), py::arg("mip_levels"), py::arg("array_layers"), py::arg("samples"),
           py::arg("usage"), py::arg("cube"), py::arg("tiling"), py::arg("label"), py::arg("type") = static_cast<int>(VK_IMAGE_TYPE_2D),
           py::arg("depth_px") = 1)
      .def(
          "bind", [](Image& i, Ptr<DeviceMemory> memory, uint64_t offset_B) { unwrap(i.bind(std::move(memory), offset_B)); },
          py::arg("memory"), py::arg("offset_B"))
      .def_property_readonly("planes", &Image::planes, "Of a multi-planar image: the planes' own images; else [].")
      .def_property_readonly("texel_blocks", &Image::texel_blocks,
                             "Of a compressed image: by level, an image of its texel blocks; else [].")
      .def_property_readonly("format", [](const Image& i) { return static_cast<int>(i.info().format); })
      .def_property_readonly("width_px", [](const Image& i) { return i.info().width_px; })
      .def_property_readonly("height_px", [](const Image& i) { return i.info().height_px; })
      .def_property_readonly("depth_px", [](const Image& i) { return i.info().depth_px; })
      .def_property_readonly("label", [](const Image& i) { return i.info().label; })
      .def("ensure_memory", [](Image& i) { unwrap(i.ensure_memory()); })
      .def_property_readonly("has_memory", [](const Image& i) { return i.data() != nullptr; })
      .def_property_readonly("required_B", &Image::required_B)
      .def(
          "why_undefined",
          [](const Image& i, uint32_t aspect, uint32_t level, uint32_t layer, std::optional<std::array<uint32_t, 4>> rect) {
            if (level >= i.info().mip_levels || layer >= i.layer_count(level)) throw py::index_error("level or layer outside the image");
            if (!rect) return i.why_undefined(static_cast<VkImageAspectFlagBits>(aspect), level, layer);
            const auto [x, y, width, height] = *rect;
            const VkExtent3D all = i.extent(level);
            if (width == 0 || width > all.width || x > all.width - width || height == 0 || height > all.height || y > all.height - height)
              throw py::index_error("rectangle outside the level");
            return i.why_undefined(static_cast<VkImageAspectFlagBits>(aspect), level, layer,
                                   {{static_cast<int32_t>(x), static_cast<int32_t>(y)}, {width, height}});
          },
          py::arg("aspect"), py::arg("level"), py::arg("layer"), py::arg("rect") = py::none());
  bind_pixels(image);

  py::class_<ImageView, Ptr<ImageView>>(m, "ImageView")
      .def(py::init([](Ptr<Image> source, int type, int format, uint32_t aspects, uint32_t base_level, uint32_t level_count,
                       uint32_t base_layer, uint32_t layer_count, const std::array<int, 4>& swizzle, Ptr<SamplerYcbcrConversion> ycbcr,
                       float min_lod) {
             return unwrap(
                 ImageView::create({std::move(source), static_cast<VkImageViewType>(type), static_cast<VkFormat>(format), aspects,
                                    base_level, level_count, base_layer, layer_count, swizzle_of(swizzle), std::move(ycbcr), min_lod}));
           }),
           py::arg("image"), py::arg("type"), py::arg("format"), py::arg("aspects"), py::arg("base_level"), py::arg("level_count"),
           py::arg("base_layer"), py::arg("layer_count"), py::arg("swizzle"), py::arg("ycbcr") = py::none(), py::arg("min_lod") = 0.0f);
}

void bind_conversions(py::module_& m) {
  py::class_<SamplerYcbcrConversion, Ptr<SamplerYcbcrConversion>>(m, "SamplerYcbcrConversion")
      .def(py::init([](int format, int model, int range, const std::array<int, 4>& components, int x_chroma_offset, int y_chroma_offset,
                       int chroma_filter, bool force_explicit_reconstruction) {
             SamplerYcbcrConversionCreateInfo info;
             info.format = static_cast<VkFormat>(format);
             info.model = static_cast<VkSamplerYcbcrModelConversion>(model);
             info.range = static_cast<VkSamplerYcbcrRange>(range);
             info.components = swizzle_of(components);
             info.x_chroma_offset = static_cast<VkChromaLocation>(x_chroma_offset);
             info.y_chroma_offset = static_cast<VkChromaLocation>(y_chroma_offset);
             info.chroma_filter = static_cast<VkFilter>(chroma_filter);
             info.force_explicit_reconstruction = force_explicit_reconstruction;
             return unwrap(SamplerYcbcrConversion::create(info));
           }),
           py::arg("format"), py::arg("model"), py::arg("range"), py::arg("components"), py::arg("x_chroma_offset"),
           py::arg("y_chroma_offset"), py::arg("chroma_filter"), py::arg("force_explicit_reconstruction"));
}

void bind_samplers(py::module_& m) {
  py::class_<SamplerCreateInfo>(m, "SamplerCreateInfo")
      .def(py::init<>())
#define TILEGPU_ENUM(name, type)                                                  \
  .def_property(                                                                  \
      #name, [](const SamplerCreateInfo& i) { return static_cast<int>(i.name); }, \
      [](SamplerCreateInfo& i, int v) { i.name = static_cast<type>(v); })
          TILEGPU_ENUM(mag_filter, VkFilter) TILEGPU_ENUM(min_filter, VkFilter) TILEGPU_ENUM(mipmap_mode, VkSamplerMipmapMode)
              TILEGPU_ENUM(address_u, VkSamplerAddressMode) TILEGPU_ENUM(address_v, VkSamplerAddressMode)
                  TILEGPU_ENUM(address_w, VkSamplerAddressMode) TILEGPU_ENUM(compare_op, VkCompareOp)
                      TILEGPU_ENUM(border_color, VkBorderColor) TILEGPU_ENUM(reduction_mode, VkSamplerReductionMode)
#undef TILEGPU_ENUM
      .def_readwrite("mip_lod_bias", &SamplerCreateInfo::mip_lod_bias)
      .def_readwrite("min_lod", &SamplerCreateInfo::min_lod)
      .def_readwrite("max_lod", &SamplerCreateInfo::max_lod)
      .def_readwrite("max_anisotropy", &SamplerCreateInfo::max_anisotropy)
      .def_property(
          "custom_border_bits",
          [](const SamplerCreateInfo& i) {
            std::array<uint32_t, 4> bits{};
            std::copy(std::begin(i.custom_border_color.uint32), std::end(i.custom_border_color.uint32), bits.begin());
            return bits;
          },
          [](SamplerCreateInfo& i, const std::array<uint32_t, 4>& bits) {
            std::copy(bits.begin(), bits.end(), i.custom_border_color.uint32);
          })
      .def_readwrite("compare_enable", &SamplerCreateInfo::compare_enable)
      .def_readwrite("ycbcr", &SamplerCreateInfo::ycbcr)
      .def_readwrite("unnormalized_coordinates", &SamplerCreateInfo::unnormalized_coordinates)
      .def_readwrite("non_seamless_cube_map", &SamplerCreateInfo::non_seamless_cube_map);
  py::class_<Sampler, Ptr<Sampler>>(m, "Sampler")
      .def(py::init([](const SamplerCreateInfo& info) { return unwrap(Sampler::create(info)); }), py::arg("info"));
}

}  // namespace

void bind_resource(py::module_& m) {
  bind_memory(m);
  bind_conversions(m);
  bind_images(m);
  bind_samplers(m);
}

}  // namespace tilegpu::bindings
