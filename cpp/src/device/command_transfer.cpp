// device/command_transfer.cpp -- stage: recording of copies, blits, clears and resolves outside passes. In: objects and regions. Out:
// commands as data, checked; exec/commands.cpp does them. Source: Vulkan specification, "Copy Commands", "Clear Commands".
#include "device/recorder.hpp"
#include "transfer/transfer.hpp"

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

}  // namespace

Status CommandBuffer::copy_buffer(Ptr<Buffer> source, Ptr<Buffer> destination, uint64_t source_offset_B, uint64_t destination_offset_B,
                                  uint64_t size_B) {
  if (Status ok = check_objects(source && destination, "copy_buffer"); !ok) return ok;
  if (Status ok = transfer::check_copy_buffer(*source, *destination, source_offset_B, destination_offset_B, size_B); !ok) return ok;
  return device::add(*recorder_, command::CopyBuffer{source, destination, source_offset_B, destination_offset_B, size_B}, "copy_buffer");
}

Status CommandBuffer::copy_buffer_to_image(Ptr<Buffer> source, uint64_t offset_B, uint32_t row_length_px, Ptr<Image> destination,
                                           const ImageRegion& region, uint32_t width_px, uint32_t height_px) {
  if (Status ok = check_objects(source && destination, "copy_buffer_to_image"); !ok) return ok;
  if (Status ok = transfer::check_copy_buffer_to_image(*source, offset_B, row_length_px, *destination, region, width_px, height_px); !ok)
    return ok;
  return device::add(*recorder_, command::CopyBufferToImage{source, offset_B, row_length_px, destination, region, width_px, height_px},
                     "copy_buffer_to_image");
}

Status CommandBuffer::copy_image_to_buffer(Ptr<Image> source, const ImageRegion& region, uint32_t width_px, uint32_t height_px,
                                           Ptr<Buffer> destination, uint64_t offset_B, uint32_t row_length_px) {
  if (Status ok = check_objects(source && destination, "copy_image_to_buffer"); !ok) return ok;
  if (Status ok = transfer::check_copy_image_to_buffer(*source, region, width_px, height_px, *destination, offset_B, row_length_px); !ok)
    return ok;
  return device::add(*recorder_, command::CopyImageToBuffer{source, region, width_px, height_px, destination, offset_B, row_length_px},
                     "copy_image_to_buffer");
}

Status CommandBuffer::copy_image(Ptr<Image> source, const ImageRegion& from, Ptr<Image> destination, const ImageRegion& to,
                                 uint32_t width_px, uint32_t height_px) {
  if (Status ok = check_objects(source && destination, "copy_image"); !ok) return ok;
  if (Status ok = transfer::check_copy_image(*source, from, *destination, to, width_px, height_px); !ok) return ok;
  return device::add(*recorder_, command::CopyImage{source, from, destination, to, width_px, height_px}, "copy_image");
}

Status CommandBuffer::blit_image(Ptr<Image> source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2],
                                 Ptr<Image> destination, uint32_t destination_level, uint32_t destination_layer,
                                 const VkOffset3D destination_corners[2], VkFilter filter) {
  if (Status ok = check_objects(source && destination, "blit_image"); !ok) return ok;
  if (Status ok = transfer::check_blit_image(*source, source_level, source_layer, source_corners, *destination, destination_level,
                                             destination_layer, destination_corners, filter);
      !ok)
    return ok;
  return device::add(*recorder_,
                     command::BlitImage{source,
                                        source_level,
                                        source_layer,
                                        {source_corners[0], source_corners[1]},
                                        destination,
                                        destination_level,
                                        destination_layer,
                                        {destination_corners[0], destination_corners[1]},
                                        filter},
                     "blit_image");
}

Status CommandBuffer::resolve_image(Ptr<Image> source, Ptr<Image> destination) {
  if (Status ok = check_objects(source && destination, "resolve_image"); !ok) return ok;
  if (Status ok = transfer::check_resolve_image(*source, *destination); !ok) return ok;
  return device::add(*recorder_, command::ResolveImage{source, destination}, "resolve_image");
}

Status CommandBuffer::clear_color_image(Ptr<Image> image, const VkClearColorValue& value) {
  if (Status ok = check_objects(!!image, "clear_color_image"); !ok) return ok;
  if (Status ok = transfer::check_clear_color_image(*image); !ok) return ok;
  return device::add(*recorder_, command::ClearColorImage{image, value}, "clear_color_image");
}

Status CommandBuffer::clear_depth_stencil_image(Ptr<Image> image, const VkClearDepthStencilValue& value, VkImageAspectFlags aspects) {
  if (Status ok = check_objects(!!image, "clear_depth_stencil_image"); !ok) return ok;
  if (Status ok = transfer::check_clear_depth_stencil_image(*image, aspects); !ok) return ok;
  return device::add(*recorder_, command::ClearDepthStencilImage{image, value, aspects}, "clear_depth_stencil_image");
}

Status CommandBuffer::generate_mipmaps(Ptr<Image> image) {
  if (Status ok = check_objects(!!image, "generate_mipmaps"); !ok) return ok;
  if (Status ok = transfer::check_generate_mipmaps(*image); !ok) return ok;
  return device::add(*recorder_, command::GenerateMipmaps{image}, "generate_mipmaps");
}

// Commands of a queue are executed one after the other, each finished before the next starts: a barrier has nothing to wait for.
void CommandBuffer::pipeline_barrier() {}

}  // namespace tilegpu
