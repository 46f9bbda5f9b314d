// icd/sync.hpp -- what is known of fences and semaphores at a moment. Source: Vulkan specification, "Synchronization and Cache Control".
// In: submissions. Out: states.
#pragma once

#include "icd/objects.hpp"

namespace tilegpu::icd {

/// Nanoseconds of Vulkan as a deadline; far away for UINT64_MAX.
std::chrono::steady_clock::time_point deadline_of(uint64_t timeout_ns);

/// Whoever waits for something of the device comes back. `why`: kept of the first time.
void lose(VkDevice device, const std::string& why);

/// VK_ERROR_DEVICE_LOST (said once) if a submission ended with an error; else VK_SUCCESS.
VkResult check(VkDevice device, const tilegpu::Submission& submission);

/// VK_SUCCESS, VK_TIMEOUT at the deadline, or what check() says.
VkResult wait_for(VkDevice device, Fence& fence, std::chrono::steady_clock::time_point deadline);

/// What a handle means at the moment.
inline const std::shared_ptr<Semaphore>& current(VkSemaphore semaphore) {
  return semaphore->temporary ? semaphore->temporary : semaphore->shared;
}
/// For a wait, which ends what was imported temporarily.
inline std::shared_ptr<Semaphore> waited(VkSemaphore semaphore) {
  return semaphore->temporary ? std::exchange(semaphore->temporary, nullptr) : semaphore->shared;
}

/// The value that one that counts has reached. Under timeline_lock.
uint64_t reached(Semaphore& semaphore);
/// The value that it has, or will have by what was submitted. Under timeline_lock.
uint64_t on_its_way(Semaphore& semaphore);

/// To the core, in order; signals what is to be signaled. Under the queue's lock.
VkResult submit_now(VkQueue queue, Batch batch);
/// At once, or later where a wait is for a value that nobody has submitted.
VkResult submit(VkQueue queue, Batch batch);
/// Everything that was submitted has ended; deferred batches too.
VkResult wait_idle(VkQueue queue);
/// Ends the queue's thread; batches that still wait are dropped.
void end_queue(VkQueue queue);

}  // namespace tilegpu::icd
