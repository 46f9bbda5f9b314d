// device/command_query.cpp -- stage: recording, queries, commands on query pools, events. In: query pools, events. Out: queries of the open
// pass, commands. Source: Vulkan specification, "Queries", "Timestamp Queries", "Events".
#include <algorithm>
#include <bit>

#include "device/recorder.hpp"
#include "resource/usage.hpp"

namespace tilegpu {

using device::invalid;
using device::pass_name;
using device::Recorder;

namespace {

Status check_range(const Recorder& r, const QueryPool* pool, uint32_t first, uint32_t count, const char* call) {
  if (Status ok = device::require_recording(r, call); !ok) return ok;
  if (!pool) return invalid(std::string(call) + ": the query pool is null");
  if (first > pool->count() || count > pool->count() - first)
    return invalid(std::string(call) + ": queries " + std::to_string(first) + " to " + std::to_string(uint64_t{first} + count) +
                   ", but the pool has " + std::to_string(pool->count()));
  return Ok{};
}

bool is_query(const command::ActiveQuery& active, const Ptr<QueryPool>& pool, uint32_t query) {
  return active.pool == pool && active.query == query;
}

// A query that began in a pass that was split since is available behind the pass in which it ends.
void end_divided(Recorder& r, const command::ActiveQuery& query) {
  if (!query.outer) return;
  const uint32_t views = std::max(1, std::popcount(r.open->info.view_mask));
  for (uint32_t v = 0; v < views; ++v) r.ended_queries.push_back({query.pool, query.query + v});
}

// Queries of what stages do: commands of the open pass, or outside of passes.
Status begin_counting(Recorder& r, Ptr<QueryPool> pool, uint32_t query, uint32_t stream, const std::string& who) {
  const auto same = [&](const command::ActiveQuery& active) { return is_query(active, pool, query); };
  const bool active = std::any_of(r.outer_counting.begin(), r.outer_counting.end(), same) ||
                      (r.open && std::any_of(r.counting.begin(), r.counting.end(), [&](uint32_t i) { return same(r.open->counting[i]); }));
  if (active) return invalid(who + " " + std::to_string(query) + ": it is active; call end_query first");
  if (!r.open) {
    r.outer_counting.push_back({pool, query, true, stream});
    return device::add(r, command::BeginQuery{std::move(pool), query, stream}, "begin_query");
  }
  const auto number = static_cast<uint32_t>(r.open->counting.size());
  r.open->commands.push_back({command::RecordedCommand::Kind::begin_counting, number});
  r.counting.push_back(number);
  r.open->counting.push_back({std::move(pool), query, false, stream});
  return Ok{};
}

Status end_counting(Recorder& r, Ptr<QueryPool> pool, uint32_t query) {
  const auto same = [&](const command::ActiveQuery& active) { return is_query(active, pool, query); };
  const auto inner = std::find_if(r.counting.begin(), r.counting.end(), [&](uint32_t i) { return r.open && same(r.open->counting[i]); });
  if (r.open && inner != r.counting.end()) {
    r.open->commands.push_back({command::RecordedCommand::Kind::end_counting, *inner});
    end_divided(r, r.open->counting[*inner]);
    r.counting.erase(inner);
    return Ok{};
  }
  const auto outer = std::find_if(r.outer_counting.begin(), r.outer_counting.end(), same);
  if (outer == r.outer_counting.end() || r.open)
    return invalid("end_query " + std::to_string(query) + ": this query is not active" + (r.open ? " in " + pass_name(*r.open) : ""));
  r.outer_counting.erase(outer);
  return device::add(r, command::EndQuery{std::move(pool), query}, "end_query");
}

}  // namespace

Status CommandBuffer::begin_query(Ptr<QueryPool> pool, uint32_t query, bool precise) {
  return begin_query_indexed(std::move(pool), query, precise, 0);
}

Status CommandBuffer::begin_query_indexed(Ptr<QueryPool> pool, uint32_t query, bool precise, uint32_t stream) {
  (void)precise;  // counts are exact either way
  Recorder& r = *recorder_;
  return device::record(r, "begin_query", [&]() -> Status {
    if (Status ok = device::require_recording(r, "begin_query"); !ok) return ok;
    const std::string who = (r.open ? pass_name(*r.open) + ": " : std::string()) + "begin_query";
    if (!pool || pool->type == QueryType::timestamp) return invalid(who + ": the pool is null or made for timestamps");
    const uint32_t views = r.open ? static_cast<uint32_t>(std::popcount(r.open->info.view_mask)) : 0;
    if (query >= pool->count() || pool->count() - query < views)
      return invalid(who + " " + std::to_string(query) + ": the pool has " + std::to_string(pool->count()) + " queries" +
                     (views > 1 ? ", and " + std::to_string(views) + " views take one each" : ""));
    const bool streams = pool->type == QueryType::transform_feedback_stream || pool->type == QueryType::primitives_generated;
    if (stream >= (streams ? kMaxStreams : 1))
      return invalid(who + " " + std::to_string(query) + ": index is " + std::to_string(stream) +
                     (streams ? "; there are streams 0 to 3" : "; it is 0 for this type of query"));
    if (pool->type != QueryType::occlusion) return begin_counting(r, std::move(pool), query, stream, who);
    if (r.active_query >= 0 || r.outer_query) return invalid(who + " while another occlusion query is active; call end_query first");
    r.making->begins_occlusion = true;
    if (!r.open) {
      r.outer_query = {pool, query, true};
      return device::add(r, command::BeginQuery{std::move(pool), query}, "begin_query");
    }
    r.active_query = static_cast<int32_t>(r.open->queries.size());
    r.open->queries.push_back({std::move(pool), query});
    return Ok{};
  });
}

Status CommandBuffer::end_query(Ptr<QueryPool> pool, uint32_t query) {
  Recorder& r = *recorder_;
  return device::record(r, "end_query", [&]() -> Status {
    const auto is = [&](const command::ActiveQuery& active) { return active.pool == pool && active.query == query; };
    if (pool && pool->type != QueryType::occlusion) return end_counting(r, std::move(pool), query);
    if (r.outer_query && is(*r.outer_query)) {
      if (Status ok = device::add(r, command::EndQuery{std::move(pool), query}, "end_query"); !ok) return ok;
      r.outer_query.reset();
      return Ok{};
    }
    if (!r.open || r.active_query < 0 || !is(r.open->queries[r.active_query]))
      return invalid("end_query " + std::to_string(query) + ": this query is not active");
    end_divided(r, r.open->queries[r.active_query]);
    r.active_query = -1;
    return Ok{};
  });
}

Status CommandBuffer::reset_query_pool(Ptr<QueryPool> pool, uint32_t first, uint32_t count) {
  return device::record(*recorder_, "reset_query_pool", [&]() -> Status {
    if (Status ok = check_range(*recorder_, pool.get(), first, count, "reset_query_pool"); !ok) return ok;
    return device::add(*recorder_, command::ResetQueryPool{std::move(pool), first, count}, "reset_query_pool");
  });
}

Status CommandBuffer::set_event(Ptr<Event> event) {
  if (!event) return invalid("set_event: the event is null");
  return device::record(*recorder_, "set_event",
                        [&] { return device::add(*recorder_, command::SetEvent{std::move(event), true}, "set_event"); });
}

Status CommandBuffer::reset_event(Ptr<Event> event) {
  if (!event) return invalid("reset_event: the event is null");
  return device::record(*recorder_, "reset_event",
                        [&] { return device::add(*recorder_, command::SetEvent{std::move(event), false}, "reset_event"); });
}

Status CommandBuffer::wait_events(std::vector<Ptr<Event>> events) {
  Recorder& r = *recorder_;
  if (std::any_of(events.begin(), events.end(), [](const Ptr<Event>& event) { return !event; }))
    return invalid("wait_events: an event is null");
  return device::record(r, "wait_events", [&]() -> Status {
    if (Status ok = device::require_recording(r, "wait_events"); !ok) return ok;
    if (r.inherits)
      return invalid("wait_events: a secondary command buffer that is part of a pass can't wait; the one that executes it can");
    r.making->commands.emplace_back(command::WaitEvents{{events.begin(), events.end()}});  // the open pass comes behind it
    return Ok{};
  });
}

Status CommandBuffer::write_timestamp(Ptr<QueryPool> pool, uint32_t query) {
  return device::record(*recorder_, "write_timestamp", [&]() -> Status {
    if (Status ok = check_range(*recorder_, pool.get(), query, 1, "write_timestamp"); !ok) return ok;
    if (pool->type != QueryType::timestamp) return invalid("write_timestamp: the pool is not made for timestamps; make one that is");
    return device::add(*recorder_, command::WriteTimestamp{std::move(pool), query}, "write_timestamp");
  });
}

Status CommandBuffer::copy_query_pool_results(Ptr<QueryPool> pool, uint32_t first, uint32_t count, Ptr<Buffer> destination,
                                              uint64_t offset_B, uint64_t stride_B, VkQueryResultFlags flags) {
  return device::record(*recorder_, "copy_query_pool_results", [&]() -> Status {
    const char* call = "copy_query_pool_results";
    if (Status ok = check_range(*recorder_, pool.get(), first, count, call); !ok) return ok;
    if (!destination || !destination->data()) return invalid(std::string(call) + ": the buffer is null or has no memory bound");
    const uint64_t word_B = flags & VK_QUERY_RESULT_64_BIT ? 8 : 4;
    const uint64_t result_B = word_B * (pool->results + (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT ? 1 : 0));
    if (offset_B % word_B || (count > 1 && (stride_B % word_B || stride_B < result_B)))
      return invalid(std::string(call) + ": offset_B is " + std::to_string(offset_B) + ", stride_B " + std::to_string(stride_B) +
                     "; both must be multiples of " + std::to_string(word_B) + ", and results of " + std::to_string(result_B) +
                     " bytes must not overlap");
    const uint64_t size_B = destination->size_B();
    if (count &&
        (offset_B > size_B || size_B - offset_B < result_B || (count > 1 && (size_B - offset_B - result_B) / (count - 1) < stride_B)))
      return invalid(std::string(call) + ": " + std::to_string(count) + " results from byte " + std::to_string(offset_B) +
                     " on don't fit buffer '" + destination->info().label + "' of " + std::to_string(size_B) + " bytes");
    if (Status ok = device::forbid(*recorder_, resource::check_usage(call, *destination, VK_BUFFER_USAGE_TRANSFER_DST_BIT)); !ok) return ok;
    return device::add(
        *recorder_, command::CopyQueryPoolResults{std::move(pool), first, count, std::move(destination), offset_B, stride_B, flags}, call);
  });
}

}  // namespace tilegpu
