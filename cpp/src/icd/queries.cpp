// icd/queries.cpp -- query pools: occlusion, timestamps, pipeline statistics, primitives generated. In: queries. Out: results to the host,
// or to a buffer. Source: Vulkan specification, "Queries".
#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <optional>

#include "icd/command_buffer.hpp"
#include "icd/generated/commands.hpp"
#include "icd/sync.hpp"

namespace tilegpu::icd {

VkResult VKAPI_CALL CreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo* pCreateInfo, const VkAllocationCallbacks*,
                                    VkQueryPool* out) {
  const auto type = [&]() -> std::optional<QueryType> {
    switch (static_cast<int>(given(pCreateInfo->queryType))) {
      case VK_QUERY_TYPE_OCCLUSION:
        return QueryType::occlusion;
      case VK_QUERY_TYPE_TIMESTAMP:
        return QueryType::timestamp;
      case VK_QUERY_TYPE_PIPELINE_STATISTICS:
        return QueryType::pipeline_statistics;
      case VK_QUERY_TYPE_TRANSFORM_FEEDBACK_STREAM_EXT:
        return QueryType::transform_feedback_stream;
      case VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT:
        return QueryType::primitives_generated;
      case VK_QUERY_TYPE_MESH_PRIMITIVES_GENERATED_EXT:
        return QueryType::mesh_primitives_generated;
      default:
        return std::nullopt;
    }
  }();
  if (!type)
    return fail(device, VK_ERROR_FEATURE_NOT_PRESENT,
                "query pool: queryType is " + std::to_string(given(pCreateInfo->queryType)) +
                    "; there are occlusion queries, timestamps, pipeline statistics, transform feedback streams, primitives generated and "
                    "mesh primitives "
                    "generated");
  *out = new VkQueryPool_T{std::make_shared<tilegpu::QueryPool>(*type, pCreateInfo->queryCount, pCreateInfo->pipelineStatistics)};
  return VK_SUCCESS;
}

void VKAPI_CALL DestroyQueryPool(VkDevice device, VkQueryPool queryPool, const VkAllocationCallbacks*) { discard(device, queryPool); }

// Of the host's calls; those of command buffers are checked when they are recorded.
static VkResult check_range(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count) {
  assert(pool && pool->core);
  const size_t all = pool->core->count();
  if (first <= all && count <= all - first) return VK_SUCCESS;
  return fail(device, VK_ERROR_VALIDATION_FAILED_EXT,
              "query pool: queries " + std::to_string(first) + " to " + std::to_string(uint64_t{first} + count) + "; it has " +
                  std::to_string(all));
}

void VKAPI_CALL ResetQueryPool(VkDevice device, VkQueryPool queryPool, uint32_t firstQuery, uint32_t queryCount) {
  if (check_range(device, queryPool, firstQuery, queryCount) != VK_SUCCESS) return;
  for (uint32_t i = 0; i < queryCount; ++i) queryPool->core->available[firstQuery + i] = false;
}

VkResult VKAPI_CALL GetQueryPoolResults(VkDevice device, VkQueryPool queryPool, uint32_t firstQuery, uint32_t queryCount, size_t dataSize,
                                        void* pData, VkDeviceSize stride, VkQueryResultFlags flags) {
  if (const VkResult r = check_range(device, queryPool, firstQuery, queryCount); r != VK_SUCCESS) return r;
  if (flags & VK_QUERY_RESULT_WAIT_BIT)
    if (const VkResult r = wait_idle(&device->queue); r != VK_SUCCESS) return r;
  const uint32_t results = queryPool->core->results;
  const bool wide = flags & VK_QUERY_RESULT_64_BIT;
  const size_t word_B = wide ? 8 : 4;
  const size_t result_B = word_B * (results + (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT ? 1 : 0));
  VkResult result = VK_SUCCESS;
  for (uint32_t i = 0; i < queryCount; ++i) {
    if (i * stride + result_B > dataSize) return VK_ERROR_VALIDATION_FAILED_EXT;
    uint8_t* out = static_cast<uint8_t*>(pData) + i * stride;
    const auto put = [&](uint64_t value) {
      const auto narrow = static_cast<uint32_t>(value);
      std::memcpy(out, wide ? static_cast<const void*>(&value) : &narrow, word_B);
      out += word_B;
    };
    const bool available = queryPool->core->available[firstQuery + i];
    for (uint32_t k = 0; k < results; ++k) {
      if (available)
        put(queryPool->core->values[size_t{firstQuery + i} * results + k]);
      else if (flags & VK_QUERY_RESULT_PARTIAL_BIT)
        put(0);
      else
        out += word_B, result = VK_NOT_READY;
    }
    if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) put(available);
    assert(out == static_cast<uint8_t*>(pData) + i * stride + result_B);
  }
  return result;
}

void VKAPI_CALL CmdResetQueryPool(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t firstQuery, uint32_t queryCount) {
  record(commandBuffer, commandBuffer->core->reset_query_pool(queryPool->core, firstQuery, queryCount));
}

void VKAPI_CALL CmdBeginQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query, VkQueryControlFlags flags) {
  record(commandBuffer, commandBuffer->core->begin_query(queryPool->core, query, flags & VK_QUERY_CONTROL_PRECISE_BIT));
}

void VKAPI_CALL CmdEndQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query) {
  record(commandBuffer, commandBuffer->core->end_query(queryPool->core, query));
}

void VKAPI_CALL CmdWriteTimestamp2(VkCommandBuffer commandBuffer, VkPipelineStageFlags2, VkQueryPool queryPool, uint32_t query) {
  OpenPass& pass = commandBuffer->pass;
  if (!pass.rendering) return record(commandBuffer, commandBuffer->core->write_timestamp(queryPool->core, query));
  // A pass with views writes as many queries, one after the other.
  const uint32_t views = pass.render_pass ? pass.render_pass->subpasses[pass.subpass].view_mask : pass.view_mask;
  for (int k = 0; k < std::max(1, std::popcount(views)); ++k) pass.timestamps.emplace_back(queryPool, query + static_cast<uint32_t>(k));
}

void VKAPI_CALL CmdWriteTimestamp(VkCommandBuffer commandBuffer, VkPipelineStageFlagBits, VkQueryPool queryPool, uint32_t query) {
  CmdWriteTimestamp2(commandBuffer, 0, queryPool, query);
}

void VKAPI_CALL CmdCopyQueryPoolResults(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t firstQuery, uint32_t queryCount,
                                        VkBuffer dstBuffer, VkDeviceSize dstOffset, VkDeviceSize stride, VkQueryResultFlags flags) {
  record(commandBuffer,
         commandBuffer->core->copy_query_pool_results(queryPool->core, firstQuery, queryCount, dstBuffer->core, dstOffset, stride, flags));
}

// --- VK_KHR_calibrated_timestamps: timestamps are the system's monotonic clock, in nanoseconds

namespace {

constexpr VkTimeDomainKHR kTimeDomains[] = {VK_TIME_DOMAIN_DEVICE_KHR, VK_TIME_DOMAIN_CLOCK_MONOTONIC_KHR,
                                            VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_KHR};

uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

VkResult VKAPI_CALL GetPhysicalDeviceCalibrateableTimeDomainsKHR(VkPhysicalDevice, uint32_t* pTimeDomainCount,
                                                                 VkTimeDomainKHR* pTimeDomains) {
  return enumerate(static_cast<uint32_t>(std::size(kTimeDomains)), pTimeDomainCount, pTimeDomains,
                   [](uint32_t i, VkTimeDomainKHR& out) { out = kTimeDomains[i]; });
}

VkResult VKAPI_CALL GetCalibratedTimestampsKHR(VkDevice, uint32_t timestampCount, const VkCalibratedTimestampInfoKHR* pTimestampInfos,
                                               uint64_t* pTimestamps, uint64_t* pMaxDeviation) {
  const uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
  for (uint32_t i = 0; i < timestampCount; ++i)
    pTimestamps[i] =
        now_ns(given(pTimestampInfos[i].timeDomain) == VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_KHR ? CLOCK_MONOTONIC_RAW : CLOCK_MONOTONIC);
  *pMaxDeviation = now_ns(CLOCK_MONOTONIC) - begin_ns + 1;
  return VK_SUCCESS;
}

}  // namespace tilegpu::icd
