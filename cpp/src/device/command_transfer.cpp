// device/command_transfer.cpp -- stage: recording of copies, blits, clears and resolves outside passes. Checked now, done at execution, by
// all workers where there are rows to share. Source: Vulkan specification, "Copy Commands", "Clear Commands".
#include <algorithm>

#include "exec/pass_record.hpp"
#include "exec/thread_pool.hpp"
#include "transfer/transfer.hpp"

namespace tilegpu {

namespace {

using exec::Recording;
using exec::ThreadPool;

Status add(Recording& recording, Status check, std::function<void(ThreadPool&)> work) {
  if (!check) return check;
  if (recording.open)
    return Error{VK_ERROR_INITIALIZATION_FAILED, "a transfer was recorded inside pass '" + recording.open->info.label +
                                                     "'; transfers belong outside passes, call end_rendering first"};
  recording.commands.push_back({nullptr, std::move(work)});
  return Ok{};
}

// Pieces of at least 64 rows: below that handing out costs more than copying.
void share_rows(ThreadPool& pool, uint32_t rows, const std::function<void(transfer::RowRange)>& work) {
  const uint32_t pieces = std::clamp(rows / 64, 1u, pool.threads() * 4);
  pool.run(pieces, [&](uint32_t, uint32_t i) {
    const auto at = [&](uint32_t k) { return static_cast<uint32_t>(uint64_t{rows} * k / pieces); };
    work({at(i), at(i + 1)});
  });
}

Status check_objects(bool there, const char* command) {
  if (there) return Ok{};
  return Error{VK_ERROR_INITIALIZATION_FAILED, std::string(command) + ": an image or buffer is null"};
}

}  // namespace

Status CommandBuffer::copy_buffer(Ptr<Buffer> source, Ptr<Buffer> destination, uint64_t source_offset_B, uint64_t destination_offset_B,
                                  uint64_t size_B) {
  if (Status ok = check_objects(source && destination, "copy_buffer"); !ok) return ok;
  return add(*recording_, transfer::check_copy_buffer(*source, *destination, source_offset_B, destination_offset_B, size_B),
             [=](ThreadPool&) { transfer::copy_buffer(*source, *destination, source_offset_B, destination_offset_B, size_B); });
}

Status CommandBuffer::copy_buffer_to_image(Ptr<Buffer> source, uint64_t offset_B, uint32_t row_length_px, Ptr<Image> destination,
                                           const ImageRegion& region, uint32_t width_px, uint32_t height_px) {
  if (Status ok = check_objects(source && destination, "copy_buffer_to_image"); !ok) return ok;
  return add(*recording_, transfer::check_copy_buffer_to_image(*source, offset_B, row_length_px, *destination, region, width_px, height_px),
             [=](ThreadPool& pool) {
               share_rows(pool, height_px, [&](transfer::RowRange rows) {
                 transfer::copy_buffer_to_image(*source, offset_B, row_length_px, *destination, region, width_px, height_px, rows);
               });
             });
}

Status CommandBuffer::copy_image_to_buffer(Ptr<Image> source, const ImageRegion& region, uint32_t width_px, uint32_t height_px,
                                           Ptr<Buffer> destination, uint64_t offset_B, uint32_t row_length_px) {
  if (Status ok = check_objects(source && destination, "copy_image_to_buffer"); !ok) return ok;
  return add(*recording_, transfer::check_copy_image_to_buffer(*source, region, width_px, height_px, *destination, offset_B, row_length_px),
             [=](ThreadPool& pool) {
               share_rows(pool, height_px, [&](transfer::RowRange rows) {
                 transfer::copy_image_to_buffer(*source, region, width_px, height_px, *destination, offset_B, row_length_px, rows);
               });
             });
}

Status CommandBuffer::copy_image(Ptr<Image> source, const ImageRegion& from, Ptr<Image> destination, const ImageRegion& to,
                                 uint32_t width_px, uint32_t height_px) {
  if (Status ok = check_objects(source && destination, "copy_image"); !ok) return ok;
  return add(*recording_, transfer::check_copy_image(*source, from, *destination, to, width_px, height_px), [=](ThreadPool& pool) {
    // Within one image rows may overlap in order: one piece.
    if (source == destination) return transfer::copy_image(*source, from, *destination, to, width_px, height_px);
    share_rows(pool, height_px,
               [&](transfer::RowRange rows) { transfer::copy_image(*source, from, *destination, to, width_px, height_px, rows); });
  });
}

Status CommandBuffer::blit_image(Ptr<Image> source, uint32_t source_level, uint32_t source_layer, const VkOffset3D source_corners[2],
                                 Ptr<Image> destination, uint32_t destination_level, uint32_t destination_layer,
                                 const VkOffset3D destination_corners[2], VkFilter filter) {
  if (Status ok = check_objects(source && destination, "blit_image"); !ok) return ok;
  const std::array<VkOffset3D, 2> from{source_corners[0], source_corners[1]}, to{destination_corners[0], destination_corners[1]};
  const uint32_t rows = std::max(1u, destination->info().height_px >> std::min(destination_level, 31u));
  return add(*recording_,
             transfer::check_blit_image(*source, source_level, source_layer, from.data(), *destination, destination_level,
                                        destination_layer, to.data(), filter),
             [=](ThreadPool& pool) {
               share_rows(pool, rows, [&](transfer::RowRange range) {
                 transfer::blit_image(*source, source_level, source_layer, from.data(), *destination, destination_level, destination_layer,
                                      to.data(), filter, range);
               });
             });
}

Status CommandBuffer::resolve_image(Ptr<Image> source, Ptr<Image> destination) {
  if (Status ok = check_objects(source && destination, "resolve_image"); !ok) return ok;
  return add(*recording_, transfer::check_resolve_image(*source, *destination), [=](ThreadPool& pool) {
    share_rows(pool, destination->info().height_px, [&](transfer::RowRange rows) { transfer::resolve_image(*source, *destination, rows); });
  });
}

Status CommandBuffer::clear_color_image(Ptr<Image> image, const VkClearColorValue& value) {
  if (Status ok = check_objects(!!image, "clear_color_image"); !ok) return ok;
  return add(*recording_, transfer::check_clear_color_image(*image), [=](ThreadPool&) { transfer::clear_color_image(*image, value); });
}

Status CommandBuffer::clear_depth_stencil_image(Ptr<Image> image, const VkClearDepthStencilValue& value, VkImageAspectFlags aspects) {
  if (Status ok = check_objects(!!image, "clear_depth_stencil_image"); !ok) return ok;
  return add(*recording_, transfer::check_clear_depth_stencil_image(*image, aspects),
             [=](ThreadPool&) { transfer::clear_depth_stencil_image(*image, value, aspects); });
}

Status CommandBuffer::generate_mipmaps(Ptr<Image> image) {
  if (Status ok = check_objects(!!image, "generate_mipmaps"); !ok) return ok;
  return add(*recording_, transfer::check_generate_mipmaps(*image), [=](ThreadPool&) { transfer::generate_mipmaps(*image); });
}

// Commands of a queue are executed one after the other, each finished before the next starts: a barrier has nothing to wait for.
void CommandBuffer::pipeline_barrier() {}

}  // namespace tilegpu
