// device/command_transfer.cpp -- stage: recording of copies, blits, clears and resolves outside passes. In: objects and regions. Out:
// commands as data, checked; exec/commands.cpp does them. Source: Vulkan specification, "Copy Commands", "Clear Commands".
#include "device/recorder.hpp"
#include "transfer/forbidden.hpp"

namespace tilegpu {

namespace device {

Status add(Recorder& recorder, command::Command command, const char* call) {
  if (Status ok = require_recording(recorder, call); !ok) return ok;
  if (recorder.open)
    return invalid(std::string(call) + " was recorded inside " + pass_name(*recorder.open) +
                   "; it belongs outside passes, call end_rendering first");
  recorder.making->commands.push_back(std::move(command));
  return Ok{};
}

}  // namespace device

namespace {

Status check_objects(bool there, const char* call) {
  if (there) return Ok{};
  return device::invalid(std::string(call) + ": an image or buffer is null");
}

/// Both are asked, so that who tolerates one hears of the other too.
template <class Source, class Destination>
Status forbid_sides(const device::Recorder& recorder, const char* command, const Source& source, const Destination& destination) {
  if (Status ok = device::forbid(recorder, transfer::check_source(command, source)); !ok) return ok;
  return device::forbid(recorder, transfer::check_destination(command, destination));
}

/// The regions, or where Vulkan forbids them for the texel blocks that they cut, and that is tolerated, regions of whole blocks.
template <class Regions, class Check>
Status take_regions(const device::Recorder& recorder, std::span<const Regions>& regions, std::vector<Regions>& whole, const Check& check) {
  Status fits = check(regions);
  if (fits || !check(std::span<const Regions>(whole))) return fits;
  if (Status ok = device::forbid(recorder, std::move(fits)); !ok) return ok;
  regions = whole;
  return Ok{};
}

template <class T>
HostVector<T> list(std::span<const T> items) {
  return {items.begin(), items.end()};
}

}  // namespace

Status CommandBuffer::copy_buffer(Ptr<Buffer> source, Ptr<Buffer> destination, std::span<const VkBufferCopy2> regions) {
  return device::record(*recorder_, "copy_buffer", [&]() -> Status {
    if (Status ok = check_objects(source && destination, "copy_buffer"); !ok) return ok;
    if (Status ok = transfer::check_copy_buffer(*source, *destination, regions); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "copy_buffer", *source, *destination); !ok) return ok;
    return device::add(*recorder_, command::CopyBuffer{source, destination, list(regions)}, "copy_buffer");
  });
}

Status CommandBuffer::fill_buffer(Ptr<Buffer> buffer, uint64_t offset_B, uint64_t size_B, uint32_t word) {
  return device::record(*recorder_, "fill_buffer", [&]() -> Status {
    if (Status ok = check_objects(!!buffer, "fill_buffer"); !ok) return ok;
    if (Status ok = transfer::check_fill_buffer(*buffer, offset_B, size_B); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_destination("fill_buffer", *buffer)); !ok) return ok;
    return device::add(*recorder_, command::FillBuffer{buffer, offset_B, size_B, word}, "fill_buffer");
  });
}

Status CommandBuffer::update_buffer(Ptr<Buffer> buffer, uint64_t offset_B, std::span<const uint8_t> bytes) {
  return device::record(*recorder_, "update_buffer", [&]() -> Status {
    if (Status ok = check_objects(!!buffer, "update_buffer"); !ok) return ok;
    if (Status ok = transfer::check_update_buffer(*buffer, offset_B, bytes.size()); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_destination("update_buffer", *buffer)); !ok) return ok;
    return device::add(*recorder_, command::UpdateBuffer{buffer, offset_B, list(bytes)}, "update_buffer");
  });
}

Status CommandBuffer::copy_buffer_to_image(Ptr<Buffer> source, Ptr<Image> destination, std::span<const VkBufferImageCopy2> regions) {
  return device::record(*recorder_, "copy_buffer_to_image", [&]() -> Status {
    if (Status ok = check_objects(source && destination, "copy_buffer_to_image"); !ok) return ok;
    auto whole = transfer::in_whole_blocks(*destination, regions);
    const auto check = [&](const auto& r) { return transfer::check_copy_buffer_to_image(*source, *destination, r); };
    if (Status ok = take_regions(*recorder_, regions, whole, check); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "copy_buffer_to_image", *source, *destination); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_buffer_offsets("copy_buffer_to_image", *destination, regions)); !ok)
      return ok;
    return device::add(*recorder_, command::CopyBufferToImage{source, destination, list(regions)}, "copy_buffer_to_image");
  });
}

Status CommandBuffer::copy_image_to_buffer(Ptr<Image> source, Ptr<Buffer> destination, std::span<const VkBufferImageCopy2> regions) {
  return device::record(*recorder_, "copy_image_to_buffer", [&]() -> Status {
    if (Status ok = check_objects(source && destination, "copy_image_to_buffer"); !ok) return ok;
    auto whole = transfer::in_whole_blocks(*source, regions);
    const auto check = [&](const auto& r) { return transfer::check_copy_image_to_buffer(*source, *destination, r); };
    if (Status ok = take_regions(*recorder_, regions, whole, check); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "copy_image_to_buffer", *source, *destination); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_one_sample("copy_image_to_buffer", *source)); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_buffer_offsets("copy_image_to_buffer", *source, regions)); !ok) return ok;
    return device::add(*recorder_, command::CopyImageToBuffer{source, destination, list(regions)}, "copy_image_to_buffer");
  });
}

Status CommandBuffer::copy_image(Ptr<Image> source, Ptr<Image> destination, std::span<const VkImageCopy2> regions) {
  return device::record(*recorder_, "copy_image", [&]() -> Status {
    if (Status ok = check_objects(source && destination, "copy_image"); !ok) return ok;
    auto whole = transfer::in_whole_blocks(*source, *destination, regions);
    const auto check = [&](const auto& r) { return transfer::check_copy_image(*source, *destination, r); };
    if (Status ok = take_regions(*recorder_, regions, whole, check); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "copy_image", *source, *destination); !ok) return ok;
    return device::add(*recorder_, command::CopyImage{source, destination, list(regions)}, "copy_image");
  });
}

Status CommandBuffer::blit_image(Ptr<Image> source, Ptr<Image> destination, std::span<const VkImageBlit2> regions, VkFilter filter) {
  return device::record(*recorder_, "blit_image", [&]() -> Status {
    if (Status ok = check_objects(source && destination, "blit_image"); !ok) return ok;
    if (Status ok = transfer::check_blit_image(*source, *destination, regions, filter); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "blit_image", *source, *destination); !ok) return ok;
    HostVector<VkImageBlit2> blitted = list(regions);
    std::erase_if(blitted, transfer::blits_nothing);
    return device::add(*recorder_, command::BlitImage{source, destination, std::move(blitted), filter}, "blit_image");
  });
}

Status CommandBuffer::resolve_image(Ptr<Image> source, Ptr<Image> destination, std::span<const VkImageResolve2> regions) {
  return device::record(*recorder_, "resolve_image", [&]() -> Status {
    if (Status ok = check_objects(source && destination, "resolve_image"); !ok) return ok;
    if (Status ok = transfer::check_resolve_image(*source, *destination, regions); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "resolve_image", *source, *destination); !ok) return ok;
    return device::add(*recorder_, command::ResolveImage{source, destination, list(regions)}, "resolve_image");
  });
}

Status CommandBuffer::clear_color_image(Ptr<Image> image, const VkClearColorValue& value, std::span<const VkImageSubresourceRange> ranges) {
  return device::record(*recorder_, "clear_color_image", [&]() -> Status {
    if (Status ok = check_objects(!!image, "clear_color_image"); !ok) return ok;
    if (Status ok = transfer::check_clear_color_image(*image, ranges); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_destination("clear_color_image", *image)); !ok) return ok;
    return device::add(*recorder_, command::ClearColorImage{image, value, list(ranges)}, "clear_color_image");
  });
}

Status CommandBuffer::clear_depth_stencil_image(Ptr<Image> image, const VkClearDepthStencilValue& value,
                                                std::span<const VkImageSubresourceRange> ranges) {
  return device::record(*recorder_, "clear_depth_stencil_image", [&]() -> Status {
    if (Status ok = check_objects(!!image, "clear_depth_stencil_image"); !ok) return ok;
    if (Status ok = transfer::check_clear_depth_stencil_image(*image, ranges); !ok) return ok;
    if (Status ok = device::forbid(*recorder_, transfer::check_destination("clear_depth_stencil_image", *image)); !ok) return ok;
    const VkClearDepthStencilValue cleared{device::clear_depth(*recorder_, image->info().format, value.depth), value.stencil};
    return device::add(*recorder_, command::ClearDepthStencilImage{image, cleared, list(ranges)}, "clear_depth_stencil_image");
  });
}

Status CommandBuffer::generate_mipmaps(Ptr<Image> image) {
  return device::record(*recorder_, "generate_mipmaps", [&]() -> Status {
    if (Status ok = check_objects(!!image, "generate_mipmaps"); !ok) return ok;
    if (Status ok = transfer::check_generate_mipmaps(*image); !ok) return ok;
    if (Status ok = forbid_sides(*recorder_, "generate_mipmaps", *image, *image); !ok) return ok;
    return device::add(*recorder_, command::GenerateMipmaps{image}, "generate_mipmaps");
  });
}

}  // namespace tilegpu
