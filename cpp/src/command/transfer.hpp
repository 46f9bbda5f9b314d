// command/transfer.hpp -- commands outside passes as data: what they name, and their parameters as they were checked at recording.
// In: checked parameters. Out: for exec/commands.cpp.
// Source: Vulkan specification, "Copy Commands", "Clear Commands", "Queries".
#pragma once

#include <vector>

#include "base/host_memory.hpp"
#include "tilegpu/event.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::command {

struct CopyBuffer {
  Ptr<Buffer> source, destination;
  HostVector<VkBufferCopy2> regions;
};

struct FillBuffer {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0, size_B = 0;
  uint32_t word = 0;
};

struct UpdateBuffer {
  Ptr<Buffer> buffer;
  uint64_t offset_B = 0;
  HostVector<uint8_t> bytes;
};

struct CopyBufferToImage {
  Ptr<Buffer> source;
  Ptr<Image> destination;
  HostVector<VkBufferImageCopy2> regions;
};

struct CopyImageToBuffer {
  Ptr<Image> source;
  Ptr<Buffer> destination;
  HostVector<VkBufferImageCopy2> regions;
};

struct CopyImage {
  Ptr<Image> source, destination;
  HostVector<VkImageCopy2> regions;
};

struct BlitImage {
  Ptr<Image> source, destination;
  HostVector<VkImageBlit2> regions;
  VkFilter filter = VK_FILTER_NEAREST;
};

struct ResolveImage {
  Ptr<Image> source, destination;
  HostVector<VkImageResolve2> regions;
};

struct ClearColorImage {
  Ptr<Image> image;
  VkClearColorValue value{};
  HostVector<VkImageSubresourceRange> ranges;
};

struct ClearDepthStencilImage {
  Ptr<Image> image;
  VkClearDepthStencilValue value{};
  HostVector<VkImageSubresourceRange> ranges;
};

/// Not Vulkan's: the chain of blits that everybody writes, as one command.
struct GenerateMipmaps {
  Ptr<Image> image;
};

struct ResetQueryPool {
  Ptr<QueryPool> pool;
  uint32_t first = 0, count = 0;
};

/// Of a query that counts in all passes between the two.
struct BeginQuery {
  Ptr<QueryPool> pool;
  uint32_t query = 0;
  uint32_t stream = 0;  // of transform feedback and primitives generated: what passes add
};
struct EndQuery {
  Ptr<QueryPool> pool;
  uint32_t query = 0;
};

struct SetEvent {
  Ptr<Event> event;
  bool set = true;  // else reset
};
struct WaitEvents {
  HostVector<Ptr<Event>> events;
};

struct WriteTimestamp {
  Ptr<QueryPool> pool;
  uint32_t query = 0;
};

struct CopyQueryPoolResults {
  Ptr<QueryPool> pool;
  uint32_t first = 0, count = 0;
  Ptr<Buffer> destination;
  uint64_t offset_B = 0, stride_B = 0;
  VkQueryResultFlags flags = 0;
};

}  // namespace tilegpu::command
