// bindings/argument_arena.cpp -- see argument_arena.hpp.
#include "argument_arena.hpp"

#include <algorithm>
#include <cstring>

namespace tilegpu::bindings {
namespace {

constexpr uint64_t kAlign_B = 64;

}  // namespace

ArgumentChunks::Chunk ArgumentChunks::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      Chunk chunk = std::move(free_.back());
      free_.pop_back();
      return chunk;
    }
  }
  Ptr<DeviceMemory> memory = unwrap(DeviceMemory::allocate(kChunk_B));
  uint8_t* const data = unwrap(memory->map());
  return {std::move(memory), data};
}

void ArgumentChunks::give(std::vector<Chunk>&& chunks) {
  const std::lock_guard lock(mutex_);
  for (Chunk& chunk : chunks)
    if (free_.size() < kMostKept) free_.push_back(std::move(chunk));
}

Ptr<Buffer> ArgumentArena::upload(const void* bytes, uint64_t size_B) {
  const uint64_t taken_B = std::max<uint64_t>(1, size_B);
  Ptr<Buffer> buffer = unwrap(Buffer::create({taken_B, free_->usage(), "argument of draw"}));
  if (taken_B > ArgumentChunks::kChunk_B / 4) {
    Ptr<DeviceMemory> memory = unwrap(DeviceMemory::allocate(taken_B));
    uint8_t* const data = unwrap(memory->map());
    unwrap(buffer->bind(std::move(memory), 0));
    std::memcpy(data, bytes, size_B);
    return buffer;
  }
  if (used_B_ + taken_B > ArgumentChunks::kChunk_B) {
    chunks_.push_back(free_->take());
    used_B_ = 0;
  }
  const ArgumentChunks::Chunk& chunk = chunks_.back();
  unwrap(buffer->bind(chunk.memory, used_B_));
  if (size_B) std::memcpy(chunk.data + used_B_, bytes, size_B);
  used_B_ += (taken_B + kAlign_B - 1) / kAlign_B * kAlign_B;
  return buffer;
}

void bind_argument_arena(py::module_& m) {
  py::class_<ArgumentChunks, Ptr<ArgumentChunks>>(m, "ArgumentChunks").def(py::init<VkBufferUsageFlags>(), py::arg("usage"));
  py::class_<ArgumentArena, Ptr<ArgumentArena>>(m, "ArgumentArena")
      .def(py::init<Ptr<ArgumentChunks>>(), py::arg("chunks").none(false))
      .def(
          "upload",
          [](ArgumentArena& arena, const py::buffer& data) {
            const py::buffer_info info = data.request();
            if (!PyBuffer_IsContiguous(info.view(), 'C')) throw py::value_error("what is uploaded must be contiguous");
            return arena.upload(info.ptr, static_cast<uint64_t>(info.size * info.itemsize));
          },
          py::arg("data"));
}

}  // namespace tilegpu::bindings
