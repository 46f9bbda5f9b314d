// icd/queue.cpp -- submission. In: VkSubmitInfo, VkSubmitInfo2. Out: submissions of the core, in order; returns at once.
//
// There is one queue and the core keeps its order, so that a semaphore that was signaled before is no wait at all. Only a timeline's
// value that nobody has submitted yet holds a batch back, and with it all that come later.
// Source: Vulkan specification, "Command Buffer Submission", "Semaphores" (wait before signal).
#include "icd/debug_utils.hpp"
#include "icd/explained.hpp"
#include "icd/generated/commands.hpp"
#include "icd/sync.hpp"

namespace tilegpu::icd {
namespace {

// Whether every value that the batch waits for is there or on its way: the queue's order does the rest.
bool may_go(VkDevice device, const Batch& batch) {
  assert(std::all_of(batch.waits.begin(), batch.waits.end(), [](const auto& wait) { return wait.first != nullptr; }));
  const std::lock_guard guard(device->timeline_lock);
  for (const auto& [semaphore, value] : batch.waits)
    if (semaphore->counts() && on_its_way(*semaphore) < value) return false;
  return true;
}

// Sleeps until a wait of the batch may have ended.
void rest(VkDevice device, const Batch& batch) {
  std::unique_lock timeline(device->timeline_lock);
  for (const auto& [semaphore, value] : batch.waits)
    if (semaphore->payload && on_its_way(*semaphore) < value) {
      const auto payload = semaphore->payload;
      timeline.unlock();
      return payload->wait(value, std::chrono::milliseconds(10));
    }
  device->timeline_moved.wait_for(timeline, std::chrono::milliseconds(10));
}

void defer(VkQueue queue) {
  const VkDevice device = queue->device;
  std::unique_lock guard(queue->lock);
  while (!queue->ending) {
    if (device->lost) queue->deferred.clear();
    if (!queue->deferred.empty() && may_go(device, queue->deferred.front())) {
      assert(guard.owns_lock());
      Batch batch = std::move(queue->deferred.front());
      queue->deferred.pop_front();
      (void)submit_now(queue, std::move(batch));
      continue;
    }
    const Batch first = queue->deferred.empty() ? Batch() : queue->deferred.front();
    guard.unlock();
    rest(device, first);
    guard.lock();
  }
}

// What others are to see, in order, each when its work has ended.
void signal_others(VkQueue queue) {
  std::unique_lock guard(queue->lock);
  for (;;) {
    queue->foreign_added.wait(guard, [&] { return queue->ending || !queue->foreign.empty(); });
    if (queue->foreign.empty()) return;
    const ForeignSignal now = queue->foreign.front();
    guard.unlock();
    if (now.after) now.after->wait(-1);
    now.payload->signal(now.value);
    guard.lock();
    queue->foreign.pop_front();
    queue->device->timeline_moved.notify_all();  // wait_idle waits for it too
  }
}

void signal_others_later(VkQueue queue, ForeignSignal signal) {
  if (queue->foreign.empty() && (!signal.after || signal.after->signaled())) return signal.payload->signal(signal.value);
  queue->foreign.push_back(std::move(signal));
  if (!queue->signaling.joinable()) queue->signaling = std::thread(signal_others, queue);
  queue->foreign_added.notify_one();
}

// The n-th wait for a binary semaphore that others have too is for its n-th signal.
void number_waits(Batch& batch) {
  for (auto& [semaphore, value] : batch.waits)
    if (semaphore->payload && !semaphore->timeline) value = semaphore->payload->expect();
}

/// Each warning once, in whichever passes: programs may give every frame's a name of its own.
void warn(VkDevice device, const Submission& submission) {
  assert(device && device->instance);  // who listens
  for (size_t pass = 0; pass < submission.pass_count(); ++pass)
    for (const std::string& line : submission.warnings(pass)) {
      {
        const std::lock_guard guard(device->lock);
        if (!device->warned.insert(line).second) continue;
      }
      say(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT, "pass '" + submission.pass_label(pass) + "': " + line);
    }
}

template <class Info>
const uint64_t* values_of(const Info& info, bool waits, uint32_t& count) {
  const auto* timeline = find_next<VkTimelineSemaphoreSubmitInfo>(info.pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  count = !timeline ? 0 : waits ? timeline->waitSemaphoreValueCount : timeline->signalSemaphoreValueCount;
  return !timeline ? nullptr : waits ? timeline->pWaitSemaphoreValues : timeline->pSignalSemaphoreValues;
}

}  // namespace

VkResult submit_now(VkQueue queue, Batch batch) {
  const VkDevice device = queue->device;
  assert(device && device->core);
  if (!batch.command_buffers.empty()) {
    Explained* const explained = Explained::asked();
    if (explained) explained->before(device, batch.command_buffers);
    auto submitted = device->core->submit({std::move(batch.command_buffers), {}});
    if (!submitted) {
      lose(device, submitted.error().message);
      return fail(device, VK_ERROR_DEVICE_LOST, "vkQueueSubmit: " + submitted.error().message);
    }
    assert(*submitted);
    queue->last = *submitted;
    if (explained) explained->submitted(*submitted);
    warn(device, **submitted);
  }
  {
    const std::lock_guard guard(device->timeline_lock);
    for (auto& [semaphore, value] : batch.signals) {
      assert(semaphore);
      if (!semaphore->counts()) continue;
      if (semaphore->payload) {
        if (!semaphore->timeline) value = semaphore->payload->announce();
        signal_others_later(queue, {queue->last, semaphore->payload, value});
      }
      if (queue->last && !queue->last->signaled())
        semaphore->pending.emplace_back(value, queue->last);
      else
        semaphore->value = std::max(reached(*semaphore), value);
    }
  }
  if (batch.fence) {
    const std::lock_guard guard(batch.fence->lock);
    batch.fence->pending = queue->last;
    batch.fence->signaled = !queue->last;
  }
  device->timeline_moved.notify_all();
  return VK_SUCCESS;
}

VkResult submit(VkQueue queue, Batch batch) {
  const std::lock_guard guard(queue->lock);
  if (queue->device->lost) return VK_ERROR_DEVICE_LOST;
  number_waits(batch);
  if (queue->deferred.empty() && may_go(queue->device, batch)) return submit_now(queue, std::move(batch));
  queue->deferred.push_back(std::move(batch));
  if (!queue->deferring.joinable()) queue->deferring = std::thread(defer, queue);
  return VK_SUCCESS;
}

VkResult wait_idle(VkQueue queue) {
  for (;;) {
    std::shared_ptr<tilegpu::Submission> last;
    bool deferred = false;
    {
      const std::lock_guard guard(queue->lock);
      last = queue->last;
      deferred = !queue->deferred.empty() || !queue->foreign.empty();
    }
    if (last) {
      last->wait(-1);
      if (const VkResult r = check(queue->device, *last); r != VK_SUCCESS) return r;
    }
    if (queue->device->lost) return VK_ERROR_DEVICE_LOST;  // what is deferred never runs
    if (!deferred) return VK_SUCCESS;
    std::unique_lock timeline(queue->device->timeline_lock);
    queue->device->timeline_moved.wait_for(timeline, std::chrono::milliseconds(10));
  }
}

void end_queue(VkQueue queue) {
  {
    const std::lock_guard guard(queue->lock);
    assert(!queue->ending);
    queue->ending = true;
  }
  queue->device->timeline_moved.notify_all();
  queue->foreign_added.notify_all();
  if (queue->deferring.joinable()) queue->deferring.join();
  if (queue->signaling.joinable()) queue->signaling.join();
}

VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t submitCount, const VkSubmitInfo* pSubmits, VkFence fence) {
  for (uint32_t i = 0; i < submitCount || (i == 0 && fence); ++i) {
    Batch batch;
    if (i < submitCount) {
      const VkSubmitInfo& info = pSubmits[i];
      uint32_t wait_count = 0, signal_count = 0;
      const uint64_t* waits = values_of(info, true, wait_count);
      const uint64_t* signals = values_of(info, false, signal_count);
      for (uint32_t k = 0; k < info.waitSemaphoreCount; ++k)
        batch.waits.emplace_back(waited(info.pWaitSemaphores[k]), k < wait_count ? waits[k] : 0);
      for (uint32_t k = 0; k < info.signalSemaphoreCount; ++k)
        batch.signals.emplace_back(current(info.pSignalSemaphores[k]), k < signal_count ? signals[k] : 0);
      for (uint32_t k = 0; k < info.commandBufferCount; ++k) batch.command_buffers.push_back(info.pCommandBuffers[k]->core);
    }
    if (fence && i + 1 >= submitCount) batch.fence = fence->shared;
    if (const VkResult r = submit(queue, std::move(batch)); r != VK_SUCCESS) return r;
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL QueueSubmit2(VkQueue queue, uint32_t submitCount, const VkSubmitInfo2* pSubmits, VkFence fence) {
  for (uint32_t i = 0; i < submitCount || (i == 0 && fence); ++i) {
    Batch batch;
    if (i < submitCount) {
      const VkSubmitInfo2& info = pSubmits[i];
      for (uint32_t k = 0; k < info.waitSemaphoreInfoCount; ++k)
        batch.waits.emplace_back(waited(info.pWaitSemaphoreInfos[k].semaphore), info.pWaitSemaphoreInfos[k].value);
      for (uint32_t k = 0; k < info.signalSemaphoreInfoCount; ++k)
        batch.signals.emplace_back(current(info.pSignalSemaphoreInfos[k].semaphore), info.pSignalSemaphoreInfos[k].value);
      for (uint32_t k = 0; k < info.commandBufferInfoCount; ++k)
        batch.command_buffers.push_back(info.pCommandBufferInfos[k].commandBuffer->core);
    }
    if (fence && i + 1 >= submitCount) batch.fence = fence->shared;
    if (const VkResult r = submit(queue, std::move(batch)); r != VK_SUCCESS) return r;
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL QueueWaitIdle(VkQueue queue) { return wait_idle(queue); }
VkResult VKAPI_CALL DeviceWaitIdle(VkDevice device) { return wait_idle(&device->queue); }

VkResult VKAPI_CALL QueueBindSparse(VkQueue queue, uint32_t bindInfoCount, const VkBindSparseInfo*, VkFence fence) {
  if (bindInfoCount) return fail(queue->device, VK_ERROR_FEATURE_NOT_PRESENT, "vkQueueBindSparse: sparseBinding is not there");
  return fence ? QueueSubmit(queue, 0, nullptr, fence) : VK_SUCCESS;
}

}  // namespace tilegpu::icd
