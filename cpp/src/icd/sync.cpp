// icd/sync.cpp -- fences, and binary and timeline semaphores.
//
// In: handles, timeouts. Out: their states. Source: Vulkan specification, "Fences", "Semaphores".
#include "icd/sync.hpp"

#include <unistd.h>

#include <algorithm>

#include "icd/debug_utils.hpp"
#include "icd/generated/commands.hpp"

namespace tilegpu::icd {

using Clock = std::chrono::steady_clock;

Clock::time_point deadline_of(uint64_t timeout_ns) {
  constexpr uint64_t kYear_ns = 365ull * 24 * 3600 * 1000000000;
  return Clock::now() + std::chrono::nanoseconds(std::min(timeout_ns, kYear_ns));
}

namespace {

int64_t left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return std::max<int64_t>(0, left);
}

// Whether the fence is signaled; what was pending and has ended is checked.
VkResult status_of(VkDevice device, Fence& fence) {
  const std::lock_guard guard(fence.lock);
  assert(!fence.signaled || !fence.pending || fence.pending->signaled());
  if (fence.signaled) return VK_SUCCESS;
  if (!fence.pending || !fence.pending->signaled()) return VK_NOT_READY;
  const VkResult result = check(device, *fence.pending);
  fence.signaled = true;
  fence.pending.reset();
  return result;
}

}  // namespace

void lose(VkDevice device, const std::string& why) {
  {
    const std::lock_guard guard(device->lock);
    if (device->fault.empty()) device->fault = why;
  }
  {
    const std::lock_guard guard(device->timeline_lock);
    device->lost = true;
  }
  device->timeline_moved.notify_all();
}

VkResult wait_for(VkDevice device, Fence& fence, Clock::time_point deadline) {
  for (;;) {
    if (const VkResult r = status_of(device, fence); r != VK_NOT_READY) return r;
    std::shared_ptr<tilegpu::Submission> pending;
    {
      const std::lock_guard guard(fence.lock);
      pending = fence.pending;
    }
    if (pending) {
      if (!pending->wait(left_ms(deadline))) return VK_TIMEOUT;
    } else if (device->lost) {  // what would signal it never runs
      return VK_ERROR_DEVICE_LOST;
    } else {  // its batch is deferred, or another thread has yet to submit it
      std::unique_lock guard(device->timeline_lock);
      if (device->timeline_moved.wait_until(guard, std::min(deadline, Clock::now() + std::chrono::milliseconds(10))) ==
              std::cv_status::timeout &&
          Clock::now() >= deadline)
        return VK_TIMEOUT;
    }
  }
}

VkResult check(VkDevice device, const tilegpu::Submission& submission) {
  assert(submission.signaled());
  const Error* error = submission.error();
  if (!error) return VK_SUCCESS;
  const bool known = device->lost.exchange(true);
  lose(device, error->message);
  if (!known) fail(device, VK_ERROR_DEVICE_LOST, "the device is lost: " + error->message);
  return VK_ERROR_DEVICE_LOST;
}

uint64_t reached(Semaphore& semaphore) {
  size_t done = 0;
  assert(std::all_of(semaphore.pending.begin(), semaphore.pending.end(), [](const auto& later) { return later.second != nullptr; }));
  while (done < semaphore.pending.size() && semaphore.pending[done].second->signaled()) {
    semaphore.value = std::max(semaphore.value, semaphore.pending[done].first);
    done++;
  }
  semaphore.pending.erase(semaphore.pending.begin(), semaphore.pending.begin() + static_cast<ptrdiff_t>(done));
  if (semaphore.payload) semaphore.value = std::max(semaphore.value, semaphore.payload->value());
  return semaphore.value;
}

uint64_t on_its_way(Semaphore& semaphore) {
  uint64_t value = reached(semaphore);
  for (const auto& [later, submission] : semaphore.pending) value = std::max(value, later);
  return value;
}

// --- fences

VkResult VKAPI_CALL CreateFence(VkDevice, const VkFenceCreateInfo* pCreateInfo, const VkAllocationCallbacks*, VkFence* pFence) {
  auto fence = std::make_shared<Fence>();
  fence->signaled = pCreateInfo->flags & VK_FENCE_CREATE_SIGNALED_BIT;
  *pFence = new VkFence_T{std::move(fence)};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyFence(VkDevice device, VkFence fence, const VkAllocationCallbacks*) { discard(device, fence); }

VkResult VKAPI_CALL ResetFences(VkDevice, uint32_t fenceCount, const VkFence* pFences) {
  for (uint32_t i = 0; i < fenceCount; ++i) {
    const std::lock_guard guard(pFences[i]->shared->lock);
    pFences[i]->shared->signaled = false;
    pFences[i]->shared->pending.reset();
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetFenceStatus(VkDevice device, VkFence fence) {
  return device->lost ? VK_ERROR_DEVICE_LOST : status_of(device, *fence->shared);
}

VkResult VKAPI_CALL WaitForFences(VkDevice device, uint32_t fenceCount, const VkFence* pFences, VkBool32 waitAll, uint64_t timeout) {
  const Clock::time_point deadline = deadline_of(timeout);
  if (waitAll || fenceCount == 1) {
    for (uint32_t i = 0; i < fenceCount; ++i)
      if (const VkResult r = wait_for(device, *pFences[i]->shared, deadline); r != VK_SUCCESS) return r;
    return VK_SUCCESS;
  }
  // The queue is in order, so that a short wait for each in turn loses little.
  for (;;) {
    for (uint32_t i = 0; i < fenceCount; ++i)
      if (const VkResult r = status_of(device, *pFences[i]->shared); r != VK_NOT_READY) return r;
    if (device->lost) return VK_ERROR_DEVICE_LOST;
    if (Clock::now() >= deadline) return VK_TIMEOUT;
    wait_for(device, *pFences[0]->shared, std::min(deadline, Clock::now() + std::chrono::milliseconds(1)));
  }
}

// --- semaphores

namespace {

VkResult unknown_handle(VkDevice device, uint32_t type) {
  return fail(device, VK_ERROR_INVALID_EXTERNAL_HANDLE,
              "semaphore: handleType is " + std::to_string(type) + "; semaphores are shared as OPAQUE_FD (1)");
}

}  // namespace

VkResult VKAPI_CALL CreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                    VkSemaphore* pSemaphore) {
  auto semaphore = std::make_shared<Semaphore>();
  if (const auto* type = find_next<VkSemaphoreTypeCreateInfo>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO)) {
    semaphore->timeline = given(type->semaphoreType) == VK_SEMAPHORE_TYPE_TIMELINE;
    semaphore->value = type->initialValue;
  }
  using Export = VkExportSemaphoreCreateInfo;
  if (const auto* wanted = find_next<Export>(pCreateInfo->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
      wanted && wanted->handleTypes) {
    if (wanted->handleTypes != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)
      return fail(device, VK_ERROR_VALIDATION_FAILED_EXT,
                  "semaphore: VkExportSemaphoreCreateInfo::handleTypes is " + std::to_string(wanted->handleTypes) +
                      "; semaphores are exported as OPAQUE_FD (1)");
    auto payload = SemaphorePayload::create(semaphore->timeline, semaphore->value);
    if (!payload) return fail(device, payload.error());
    semaphore->payload = *payload;
  }
  *pSemaphore = new VkSemaphore_T{std::move(semaphore), nullptr};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroySemaphore(VkDevice device, VkSemaphore semaphore, const VkAllocationCallbacks*) { discard(device, semaphore); }

VkResult VKAPI_CALL GetSemaphoreFdKHR(VkDevice device, const VkSemaphoreGetFdInfoKHR* pGetFdInfo, int* pFd) {
  if (given(pGetFdInfo->handleType) != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT)
    return unknown_handle(device, given(pGetFdInfo->handleType));
  const auto& payload = current(pGetFdInfo->semaphore)->payload;
  if (!payload)
    return fail(device, VK_ERROR_VALIDATION_FAILED_EXT,
                "semaphore: it was not made for others; put VkExportSemaphoreCreateInfo into the chain of its creation");
  auto fd = payload->export_fd();
  if (!fd) return fail(device, fd.error());
  *pFd = *fd;
  return VK_SUCCESS;
}

VkResult VKAPI_CALL ImportSemaphoreFdKHR(VkDevice device, const VkImportSemaphoreFdInfoKHR* pImportSemaphoreFdInfo) {
  const VkImportSemaphoreFdInfoKHR& info = *pImportSemaphoreFdInfo;
  if (given(info.handleType) != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT) return unknown_handle(device, given(info.handleType));
  auto semaphore = std::make_shared<Semaphore>();
  semaphore->timeline = info.semaphore->shared->timeline;
  auto payload = SemaphorePayload::import_fd(info.fd, semaphore->timeline);
  if (!payload) return fail(device, payload.error());
  close(info.fd);  // it was given to us
  semaphore->payload = *payload;
  if (info.flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT) {
    info.semaphore->temporary = std::move(semaphore);
  } else {
    info.semaphore->shared = std::move(semaphore);
    info.semaphore->temporary.reset();
  }
  return VK_SUCCESS;
}

VkResult VKAPI_CALL GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t* pValue) {
  const std::lock_guard guard(device->timeline_lock);
  *pValue = reached(*current(semaphore));
  return device->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

VkResult VKAPI_CALL SignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo* pSignalInfo) {
  {
    const std::lock_guard guard(device->timeline_lock);
    Semaphore& semaphore = *current(pSignalInfo->semaphore);
    semaphore.value = std::max(semaphore.value, pSignalInfo->value);
    if (semaphore.payload) semaphore.payload->signal(pSignalInfo->value);
  }
  device->timeline_moved.notify_all();
  return VK_SUCCESS;
}

VkResult VKAPI_CALL WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo* pWaitInfo, uint64_t timeout) {
  const Clock::time_point deadline = deadline_of(timeout);
  const bool any = pWaitInfo->flags & VK_SEMAPHORE_WAIT_ANY_BIT;
  std::unique_lock guard(device->timeline_lock);
  for (;;) {
    uint32_t there = 0;
    std::shared_ptr<tilegpu::Submission> next;  // whose end may change the answer
    std::shared_ptr<SemaphorePayload> foreign;  // others may signal it
    uint64_t foreign_value = 0;
    for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; ++i) {
      Semaphore& semaphore = *current(pWaitInfo->pSemaphores[i]);
      if (reached(semaphore) >= pWaitInfo->pValues[i]) {
        there++;
      } else if (!semaphore.pending.empty()) {
        next = semaphore.pending.front().second;
      } else if (semaphore.payload) {
        foreign = semaphore.payload;
        foreign_value = pWaitInfo->pValues[i];
      }
    }
    if (device->lost) return VK_ERROR_DEVICE_LOST;
    if (there == pWaitInfo->semaphoreCount || (any && there)) return VK_SUCCESS;
    if (Clock::now() >= deadline) return VK_TIMEOUT;
    const auto soon = std::chrono::milliseconds(std::min<int64_t>(any ? 1 : 10, left_ms(deadline)));
    if (next && !foreign) {
      guard.unlock();
      next->wait(any ? soon.count() : left_ms(deadline));
      if (next->signaled()) (void)check(device, *next);
      guard.lock();
    } else if (foreign) {  // nobody of this device says when
      guard.unlock();
      foreign->wait(foreign_value, soon);
      guard.lock();
    } else {
      device->timeline_moved.wait_until(guard, deadline);
    }
  }
}

}  // namespace tilegpu::icd
