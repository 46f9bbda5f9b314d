// resource/query_pool.cpp -- pools of queries, and their memory.
//
// In: what is asked for, how many. Out: a pool whose memory counts (base/memory_budget.hpp). Source: Vulkan specification, "Query Pools".
#include <bit>
#include <cassert>

#include "base/host_memory.hpp"
#include "base/memory_budget.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu {
namespace {

uint32_t results_of(QueryType type, VkQueryPipelineStatisticFlags statistics) {
  if (type == QueryType::pipeline_statistics) return static_cast<uint32_t>(std::popcount(statistics));
  return type == QueryType::transform_feedback_stream ? 2 : 1;
}

Ptr<void> take_share(uint64_t size_B) {
  MemoryShare share(size_B);
  if (!share) throw OutOfMemory("queries", size_B, OutOfMemory::By::process, memory_left_B());
  return std::make_shared<MemoryShare>(std::move(share));
}

}  // namespace

QueryPool::QueryPool(QueryType asked, uint32_t count, VkQueryPipelineStatisticFlags of_pipelines)
    : type(asked),
      statistics(asked == QueryType::pipeline_statistics ? of_pipelines : 0),
      results(results_of(asked, of_pipelines)),
      memory(count ? take_share(uint64_t{count} * (sizeof(uint64_t) * results + sizeof(bool))) : nullptr),
      values(size_t{count} * results),
      available(count) {
  assert(values.size() == size_t{count} * results);
}

}  // namespace tilegpu
