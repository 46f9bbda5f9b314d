// fuzz/driver/recording.cpp -- the command buffer that is recorded, its submission, and what is waited for: fences, semaphores, events,
// queries, barriers.
//
// In: choices. Out: submissions whose end is always reached: what waits for the host is signalled by it before anybody waits for that.
// Source: Vulkan specification, "Command Buffers", "Synchronization and Cache Control", "Queries".
#include <unistd.h>

#include <algorithm>

#include "driver/world.hpp"

namespace tilegpu::fuzz {
namespace {

constexpr uint32_t kMostQueries = 6;

}  // namespace

Recording& World::commands() {
  if (recording.handle) return recording;
  recording = {};
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  TILEGPU_MUST(*this, AllocateCommandBuffers, device, &info, &recording.handle);
  recorded.push_back(recording.handle);
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  recording.again = c.coin();
  begin.flags = recording.again ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  TILEGPU_MUST(*this, BeginCommandBuffer, recording.handle, &begin);
  return recording;
}

Recording* World::outside() {
  Recording& r = commands();
  if (r.in_pass) end_pass();
  return lost ? nullptr : &r;
}

void World::drop() {
  if (!recording.handle) return;
  active_queries.clear();
  for (const auto& q : queries) q->reset.assign(q->count, false), q->used.assign(q->count, false);  // what was recorded of them never runs
  if (c.coin()) {
    TILEGPU_MUST(*this, ResetCommandBuffer, recording.handle, VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT);
  } else {
    vk.FreeCommandBuffers(device, pool, 1, &recording.handle);
    recorded.erase(std::find(recorded.begin(), recorded.end(), recording.handle));
  }
  recording = {};
}

void World::submit() {
  if (!recording.handle) return;
  if (recording.in_pass) end_pass();
  if (recording.conditional) vk.CmdEndConditionalRenderingEXT(recording.handle), recording.conditional = false;
  const VkResult ended = vk.EndCommandBuffer(recording.handle);
  if (ended != VK_SUCCESS && !recording.tainted) fail("vkEndCommandBuffer gave " + std::to_string(ended) + " for what Vulkan allows");
  if (ended != VK_SUCCESS) return drop();
  tainted = tainted || recording.tainted;
  const auto fence = pick(fences, [](const FenceModel& f) { return !f.pending; });
  const auto wait = pick(semaphores, [](const SemaphoreModel& s) { return s.timeline || s.signaled; });
  const auto signal = pick(semaphores, [&](const SemaphoreModel& s) { return &s != wait.get() && (s.timeline || !s.signaled); });
  const bool waits = wait && c.coin(), signals = signal && c.coin(), fenced = fence && c.coin();
  // A timeline's wait may be for a value that only the host signals, afterwards.
  const uint64_t waited = wait ? wait->value + (waits && wait->timeline && c.seldom(4)) : 0;
  const uint64_t signalled = signal ? signal->value + 1 : 0;
  if (waits && !wait->timeline) wait->signaled = false;
  if (signals) signal->signaled = true, signal->value = signalled;
  if (fenced) fence->pending = true;
  VkResult result = VK_SUCCESS;
  const VkCommandBuffer both[] = {recording.handle, again};
  if (c.coin()) {
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values};
    if (waits) {
      info.waitSemaphoreCount = values.waitSemaphoreValueCount = 1;
      info.pWaitSemaphores = &wait->handle, info.pWaitDstStageMask = &stage, values.pWaitSemaphoreValues = &waited;
    }
    if (signals) {
      info.signalSemaphoreCount = values.signalSemaphoreValueCount = 1;
      info.pSignalSemaphores = &signal->handle, values.pSignalSemaphoreValues = &signalled;
    }
    info.commandBufferCount = again ? 2 : 1, info.pCommandBuffers = both;
    result = vk.QueueSubmit(queue, 1, &info, fenced ? fence->handle : nullptr);
    (void)checked("QueueSubmit", result);
  } else {
    VkSemaphoreSubmitInfo one{VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO}, other = one;
    const VkCommandBufferSubmitInfo infos[] = {{VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, recording.handle, 0},
                                               {VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, again, 0}};
    VkSubmitInfo2 info{VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    if (waits) one.semaphore = wait->handle, one.value = waited, info.waitSemaphoreInfoCount = 1, info.pWaitSemaphoreInfos = &one;
    if (signals)
      other.semaphore = signal->handle, other.value = signalled, info.signalSemaphoreInfoCount = 1, info.pSignalSemaphoreInfos = &other;
    info.commandBufferInfoCount = again ? 2 : 1, info.pCommandBufferInfos = infos;
    result = vk.QueueSubmit2(queue, 1, &info, fenced ? fence->handle : nullptr);
    (void)checked("QueueSubmit2", result);
  }
  // Queries are reset before they begin once: what has any is not submitted twice.
  again = recording.again && queries.empty() && !c.seldom(3) ? recording.handle : nullptr;
  recording = {};
  if (waits && waited > wait->value && !lost) {
    wait->value = waited;
    const VkSemaphoreSignalInfo now{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, wait->handle, wait->value};
    TILEGPU_MUST(*this, SignalSemaphore, device, &now);
  }
}

void World::wait_idle() {
  if (lost) return;
  if (c.coin())
    (void)TILEGPU_CHECKED(*this, QueueWaitIdle, queue);
  else
    (void)TILEGPU_CHECKED(*this, DeviceWaitIdle, device);
}

void World::invalidate(bool waits) {
  if (recording.in_pass) end_pass();
  drop();
  again = nullptr;
  if (waits) wait_idle();
}

// Outside of passes: a part that holds transfers and dispatches of its own.
void World::step_secondary() {
  if (!outside()) return;
  const VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                         1};
  Recording part;
  TILEGPU_MUST(*this, AllocateCommandBuffers, device, &info, &part.handle);
  recorded.push_back(part.handle);
  const VkCommandBufferInheritanceInfo inherited{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.pInheritanceInfo = &inherited, begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  TILEGPU_MUST(*this, BeginCommandBuffer, part.handle, &begin);
  if (recording.conditional) vk.CmdEndConditionalRenderingEXT(recording.handle), recording.conditional = false;
  std::swap(part, recording);
  recording.secondary = true;
  for (uint32_t k = 0, count = 1 + c.below(3); k < count && !lost; ++k) c.seldom(3) ? step_dispatch() : step_transfer();
  std::swap(part, recording);
  TILEGPU_MUST(*this, EndCommandBuffer, part.handle);
  if (!lost) vk.CmdExecuteCommands(recording.handle, 1, &part.handle);
}

void World::step_submit() {
  if (c.coin() && recording.in_pass) return;  // let passes be long
  submit();
  if (c.coin()) wait_idle();
  if (lost || !c.seldom(8) || recording.handle) return;
  wait_idle();
  if (lost) return;
  TILEGPU_MUST(*this, ResetCommandPool, device, pool, c.coin() ? VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT : 0);
  vk.TrimCommandPool(device, pool, 0);
  vk.FreeCommandBuffers(device, pool, static_cast<uint32_t>(recorded.size()), recorded.data());
  recorded.clear(), again = nullptr;
}

void World::step_sync() {
  const uint8_t what = c.byte();
  if (what % 4 == 0) {
    auto made = std::make_shared<FenceModel>();
    VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    info.flags = what & 64 ? VK_FENCE_CREATE_SIGNALED_BIT : 0, made->pending = what & 64;
    TILEGPU_MUST(*this, CreateFence, device, &info, nullptr, &made->handle);
    fences.push_back(made);
  } else if (what % 4 == 1) {
    auto made = std::make_shared<SemaphoreModel>();
    made->timeline = what & 64, made->value = made->timeline && what & 32 ? 5 : 0;
    const VkExportSemaphoreCreateInfo exported{VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, nullptr,
                                               VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    made->exportable = (what & 24) == 24;
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, made->exportable ? &exported : nullptr};
    type.semaphoreType = made->timeline ? VK_SEMAPHORE_TYPE_TIMELINE : VK_SEMAPHORE_TYPE_BINARY, type.initialValue = made->value;
    const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    TILEGPU_MUST(*this, CreateSemaphore, device, &info, nullptr, &made->handle);
    semaphores.push_back(made);
  } else if (what % 4 == 2) {
    const auto fence = pick(fences, [](const FenceModel& f) { return f.pending; });
    if (!fence) return;
    (void)TILEGPU_CHECKED(*this, WaitForFences, device, 1, &fence->handle, what & 64 ? VK_TRUE : VK_FALSE, what & 32 ? 1000 : 0);
    (void)TILEGPU_CHECKED(*this, GetFenceStatus, device, fence->handle);
    const VkResult done = TILEGPU_CHECKED(*this, WaitForFences, device, 1, &fence->handle, VK_TRUE, UINT64_MAX);
    if (done == VK_TIMEOUT) fail("vkWaitForFences gave VK_TIMEOUT after a wait for ever");
    if (lost) return;
    TILEGPU_MUST(*this, ResetFences, device, 1, &fence->handle);
    fence->pending = false;
  } else {
    const auto semaphore = pick(semaphores, [](const SemaphoreModel& s) { return s.timeline; });
    if (!semaphore) return;
    if (what & 16) {
      const VkSemaphoreSignalInfo signal{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, semaphore->handle, ++semaphore->value};
      wait_idle();  // what is pending signals less
      if (!lost) TILEGPU_MUST(*this, SignalSemaphore, device, &signal);
    }
    VkSemaphoreWaitInfo wait{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr,
                             what & 32 ? VkSemaphoreWaitFlags{VK_SEMAPHORE_WAIT_ANY_BIT} : 0};
    wait.semaphoreCount = 1, wait.pSemaphores = &semaphore->handle, wait.pValues = &semaphore->value;
    if (TILEGPU_CHECKED(*this, WaitSemaphores, device, &wait, UINT64_MAX) == VK_TIMEOUT)
      fail("vkWaitSemaphores gave VK_TIMEOUT after a wait for ever");
    const uint64_t beyond = semaphore->value + 1;
    wait.pValues = &beyond;
    if (TILEGPU_CHECKED(*this, WaitSemaphores, device, &wait, what & 64 ? 2000 : 0) == VK_SUCCESS && !lost)
      fail("vkWaitSemaphores reached a value that nobody signals");
    uint64_t value = 0;
    (void)TILEGPU_CHECKED(*this, GetSemaphoreCounterValue, device, semaphore->handle, &value);
    if (!lost && value != semaphore->value)
      fail("a timeline's value is " + std::to_string(value) + ", and " + std::to_string(semaphore->value) + " was signalled");
    if (!semaphore->exportable || lost) return;
    const VkSemaphoreGetFdInfoKHR get{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, nullptr, semaphore->handle,
                                      VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImportSemaphoreFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,  nullptr, semaphore->handle, 0,
                                      VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, -1};
    TILEGPU_MUST(*this, GetSemaphoreFdKHR, device, &get, &import.fd);
    TILEGPU_MUST(*this, ImportSemaphoreFdKHR, device, &import);
  }
}

void World::step_event() {
  auto event = pick(events);
  if (!event) {
    event = std::make_shared<EventModel>();
    const VkEventCreateInfo info{VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    TILEGPU_MUST(*this, CreateEvent, device, &info, nullptr, &event->handle);
    events.push_back(event);
  }
  const uint8_t what = c.byte();
  if (what % 3 == 0) {
    wait_idle();
    if (lost) return;
    TILEGPU_MUST(*this, SetEvent, device, event->handle);
    if (TILEGPU_CHECKED(*this, GetEventStatus, device, event->handle) != VK_EVENT_SET) fail("an event that was set is not");
    TILEGPU_MUST(*this, ResetEvent, device, event->handle);
    return;
  }
  Recording* const r = outside();
  if (!r) return;
  // Set, waited for and reset in one command buffer: nothing waits for ever.
  VkMemoryBarrier2 barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
  barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  VkDependencyInfo dependency{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  dependency.memoryBarrierCount = 1, dependency.pMemoryBarriers = &barrier;
  if (what % 3 == 1) {
    vk.CmdSetEvent2(r->handle, event->handle, &dependency);
    vk.CmdWaitEvents2(r->handle, 1, &event->handle, &dependency);
    vk.CmdResetEvent2(r->handle, event->handle, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    return;
  }
  constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  vk.CmdSetEvent(r->handle, event->handle, kAll);
  vk.CmdWaitEvents(r->handle, 1, &event->handle, kAll, kAll, 0, nullptr, 0, nullptr, 0, nullptr);
  vk.CmdResetEvent(r->handle, event->handle, kAll);
}

void World::step_barrier() {
  Recording* const r = outside();
  if (!r) return;
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_MEMORY_WRITE_BIT, VK_ACCESS_MEMORY_READ_BIT};
  constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const uint8_t what = c.byte();
  if (what & 1) return vk.CmdPipelineBarrier(r->handle, kAll, kAll, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  const VkDependencyInfo none{VK_STRUCTURE_TYPE_DEPENDENCY_INFO};
  if (what & 2) return vk.CmdPipelineBarrier2(r->handle, &none);
  const VkDebugUtilsLabelEXT label{VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, nullptr, "a label", {}};
  if (what & 4) return vk.CmdBeginDebugUtilsLabelEXT(r->handle, &label);
  if (what & 8) vk.CmdEndDebugUtilsLabelEXT(r->handle);
  if (what & 16 && !r->conditional) {
    const VkConditionalRenderingBeginInfoEXT begin{
        VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT, nullptr, arena->handle, kUniform_B,
        what & 32 ? VkConditionalRenderingFlagsEXT{VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT} : 0};
    vk.CmdBeginConditionalRenderingEXT(r->handle, &begin);
    r->conditional = true;
  } else if (what & 16) {
    vk.CmdEndConditionalRenderingEXT(r->handle);
    r->conditional = false;
  }
}

// -- queries

bool World::begin_query(Recording& r) {
  if (!active_queries.empty()) return false;
  const auto pool_of = pick(queries, [](const QueryModel& q) {
    return q.type != VK_QUERY_TYPE_TIMESTAMP && q.type != VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT &&
           std::find(q.reset.begin(), q.reset.end(), true) != q.reset.end();
  });
  if (!pool_of) return false;
  const auto at = static_cast<uint32_t>(std::find(pool_of->reset.begin(), pool_of->reset.end(), true) - pool_of->reset.begin());
  pool_of->reset[at] = false;
  const bool precise = pool_of->type == VK_QUERY_TYPE_OCCLUSION && c.coin();
  if (pool_of->type == VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT && c.coin())
    vk.CmdBeginQueryIndexedEXT(r.handle, pool_of->handle, at, 0, 0);
  else
    vk.CmdBeginQuery(r.handle, pool_of->handle, at, precise ? VK_QUERY_CONTROL_PRECISE_BIT : 0);
  active_queries.emplace_back(pool_of, at);
  return true;
}

void World::end_queries(Recording& r) {
  for (const auto& [of, at] : active_queries)
    if (r.handle) vk.CmdEndQuery(r.handle, of->handle, at), of->used[at] = true;
  active_queries.clear();
}

void World::step_query() {
  const uint8_t what = c.byte();
  const auto of = pick(queries);
  if (!of || what % 8 == 0) {
    constexpr VkQueryType kTypes[] = {VK_QUERY_TYPE_OCCLUSION, VK_QUERY_TYPE_TIMESTAMP, VK_QUERY_TYPE_PIPELINE_STATISTICS,
                                      VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT, VK_QUERY_TYPE_OCCLUSION};
    auto made = std::make_shared<QueryModel>();
    made->type = c.of(kTypes), made->count = 1 + c.below(kMostQueries);
    made->reset.resize(made->count), made->used.resize(made->count);
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = made->type, info.queryCount = made->count;
    if (made->type == VK_QUERY_TYPE_PIPELINE_STATISTICS) info.pipelineStatistics = 1 + c.below(2047);
    TILEGPU_MUST(*this, CreateQueryPool, device, &info, nullptr, &made->handle);
    queries.push_back(made);
    return;
  }
  if (recording.in_pass && what % 2) {
    if (of->type == VK_QUERY_TYPE_TIMESTAMP && of->reset[0] && !recording.secondary) {
      of->reset[0] = false;
      if (!recording.shape->view_mask)
        vk.CmdWriteTimestamp(recording.handle, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, of->handle, 0), of->used[0] = true;
    }
    return;
  }
  Recording* const r = outside();
  if (!r) return;
  if (what % 4 < 2) {
    vk.CmdResetQueryPool(r->handle, of->handle, 0, of->count);
    of->reset.assign(of->count, true), of->used.assign(of->count, false);
  } else if (of->type == VK_QUERY_TYPE_TIMESTAMP) {
    if (!of->reset[of->count - 1]) return;
    of->reset[of->count - 1] = false, of->used[of->count - 1] = true;
    vk.CmdWriteTimestamp2(r->handle, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, of->handle, of->count - 1);
  } else if (what % 4 == 2) {
    const VkQueryResultFlags flags = (what & 16 ? VK_QUERY_RESULT_64_BIT : 0) | (what & 32 ? VK_QUERY_RESULT_WITH_AVAILABILITY_BIT : 0);
    vk.CmdCopyQueryPoolResults(r->handle, of->handle, 0, of->count, counters->handle, 2048, 128, flags | VK_QUERY_RESULT_PARTIAL_BIT);
  } else {
    submit();
    if (lost) return;
    uint64_t data[kMostQueries * 16];
    const VkResult got = TILEGPU_CHECKED(*this, GetQueryPoolResults, device, of->handle, 0, of->count, sizeof data, data, 128,
                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    const bool all = std::find(of->used.begin(), of->used.end(), false) == of->used.end();
    wait_idle();
    if (!all || lost) return;
    (void)got;
    TILEGPU_MUST(*this, GetQueryPoolResults, device, of->handle, 0, of->count, sizeof data, data, 128,
                 VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (what & 64) {
      vk.ResetQueryPool(device, of->handle, 0, of->count);
      of->reset.assign(of->count, true), of->used.assign(of->count, false);
    }
  }
}

}  // namespace tilegpu::fuzz
