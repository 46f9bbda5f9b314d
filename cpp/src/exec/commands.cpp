// exec/commands.cpp -- stage: execution of copies, blits, clears, resolves and query commands. In: commands as data. Out: images,
// buffers, query pools. Source: Vulkan specification, "Copy Commands", "Clear Commands", "Queries", "Timestamp Queries".
#include "exec/commands.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstring>

#include "exec/thread_pool.hpp"
#include "resource/memory_contents.hpp"
#include "transfer/transfer.hpp"

namespace tilegpu {

bool Event::wait(const std::atomic<bool>& given_up) const {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!set_) {
    if (given_up) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

void Event::change(bool set) {
  {
    std::lock_guard lock(mutex_);
    set_ = set;
  }
  changed_.notify_all();
}

}  // namespace tilegpu

namespace tilegpu::exec {

namespace {

// Of a piece: below the least handing out costs more than copying; whether to go on is asked between pieces, so that there is a most too.
constexpr uint32_t kLeastRows = 64, kMostRows = 256;

transfer::ShareRows share_rows(ThreadPool& pool) {
  return [&pool](uint32_t rows, const std::function<void(transfer::RowRange)>& work) {
    const uint32_t pieces = std::clamp(rows / kLeastRows, 1u, std::max(pool.threads() * 4, rows / kMostRows));
    pool.run("transfer", pieces, [&](uint32_t, uint32_t i) {
      if (pool.cancelled()) return;
      const auto at = [&](uint32_t k) { return static_cast<uint32_t>(uint64_t{rows} * k / pieces); };
      work(transfer::RowRange{at(i), at(i + 1)});
    });
  };
}

// One result as vkCmdCopyQueryPoolResults writes it, 32 or 64 bits; 32-bit values wrap, as the specification allows.
void put(uint8_t* at, uint64_t value, bool wide) {
  const uint32_t low = static_cast<uint32_t>(value);
  if (wide)
    std::memcpy(at, &value, 8);
  else
    std::memcpy(at, &low, 4);
}

}  // namespace

void execute(const command::CopyBuffer& c, ThreadPool& pool) {
  transfer::copy_buffer(*c.source, *c.destination, c.regions, share_rows(pool));
}

void execute(const command::FillBuffer& c, ThreadPool& pool) {
  transfer::fill_buffer(*c.buffer, c.offset_B, c.size_B, c.word, share_rows(pool));
}

void execute(const command::UpdateBuffer& c, ThreadPool&) { transfer::update_buffer(*c.buffer, c.offset_B, c.bytes); }

void execute(const command::CopyBufferToImage& c, ThreadPool& pool) {
  transfer::copy_buffer_to_image(*c.source, *c.destination, c.regions, share_rows(pool));
}

void execute(const command::CopyImageToBuffer& c, ThreadPool& pool) {
  transfer::copy_image_to_buffer(*c.source, *c.destination, c.regions, share_rows(pool));
}

void execute(const command::CopyImage& c, ThreadPool& pool) {
  transfer::copy_image(*c.source, *c.destination, c.regions, share_rows(pool));
}

void execute(const command::BlitImage& c, ThreadPool& pool) {
  transfer::blit_image(*c.source, *c.destination, c.regions, c.filter, share_rows(pool));
}

void execute(const command::ResolveImage& c, ThreadPool& pool) {
  transfer::resolve_image(*c.source, *c.destination, c.regions, share_rows(pool));
}

void execute(const command::ClearColorImage& c, ThreadPool& pool) {
  transfer::clear_color_image(*c.image, c.value, c.ranges, share_rows(pool));
}

void execute(const command::ClearDepthStencilImage& c, ThreadPool& pool) {
  transfer::clear_depth_stencil_image(*c.image, c.value, c.ranges, share_rows(pool));
}

void execute(const command::GenerateMipmaps& c, ThreadPool& pool) { transfer::generate_mipmaps(*c.image, share_rows(pool)); }

void reset_query(QueryPool& pool, uint32_t query) {
  assert(query < pool.count());
  pool.available[query] = false;
  for (uint32_t k = 0; k < pool.results; k++) pool.values[size_t{query} * pool.results + k] = 0;
}

void add_invocations(const command::BeginQuery& query, uint64_t invocations) {
  constexpr VkQueryPipelineStatisticFlags kCompute = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;
  QueryPool& pool = *query.pool;
  if (!(pool.statistics & kCompute)) return;
  const auto place = static_cast<uint32_t>(std::popcount(pool.statistics & (kCompute - 1)));
  pool.values[size_t{query.query} * pool.results + place] += invocations;
}

void execute(const command::ResetQueryPool& c, ThreadPool&) {
  assert(c.count <= c.pool->count() && c.first <= c.pool->count() - c.count);
  for (uint32_t i = c.first; i < c.first + c.count; i++) reset_query(*c.pool, i);
}

void execute(const command::BeginQuery& c, ThreadPool&) { reset_query(*c.pool, c.query); }

void execute(const command::EndQuery& c, ThreadPool&) {
  assert(c.query < c.pool->count());
  c.pool->available[c.query] = true;
}

void execute(const command::SetEvent& c, ThreadPool&) {
  if (c.set)
    c.event->set();
  else
    c.event->reset();
}

Status execute(const command::WaitEvents& c, const std::atomic<bool>& given_up) {
  for (const Ptr<Event>& event : c.events) {
    assert(event);
    if (!event->wait(given_up)) return Error{VK_ERROR_DEVICE_LOST, "cancelled"};
  }
  return Ok{};
}

// Commands are executed one after the other: whatever stage is asked for, it has ended for all that came before.
void execute(const command::WriteTimestamp& c, ThreadPool&) {
  assert(c.query < c.pool->count());
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  c.pool->values[c.query] = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  c.pool->available[c.query] = true;
}

void execute(const command::CopyQueryPoolResults& c, ThreadPool&) {
  const bool wide = c.flags & VK_QUERY_RESULT_64_BIT, with_availability = c.flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
  const uint32_t word_B = wide ? 8 : 4;
  assert(c.count <= c.pool->count() && c.first <= c.pool->count() - c.count);
  const uint32_t results = c.pool->results;
  for (uint32_t i = 0; i < c.count; i++) {
    uint8_t* at = c.destination->data() + c.offset_B + i * c.stride_B;
    const bool available = c.pool->available[c.first + i];
    if (available || (c.flags & VK_QUERY_RESULT_PARTIAL_BIT))
      for (uint32_t k = 0; k < results; k++) put(at + k * word_B, c.pool->values[size_t{c.first + i} * results + k], wide);
    if (with_availability) put(at + results * word_B, available, wide);
  }
  if (c.count) {
    const uint64_t end_B = c.offset_B + (c.count - 1) * c.stride_B + word_B * (results + (with_availability ? 1u : 0u));
    resource::mark_written(*c.destination, c.offset_B, end_B - c.offset_B, resource::Writer::transfer);
  }
}

}  // namespace tilegpu::exec
