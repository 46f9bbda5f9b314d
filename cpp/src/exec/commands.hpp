// exec/commands.hpp -- the execution of one command outside passes, by all workers where there are rows to share.
// In: a command. Out: images, buffers, queries.
#pragma once

#include "command/transfer.hpp"

namespace tilegpu::exec {

class ThreadPool;

// One for each command of command/transfer.hpp. What they name was checked at recording.
void execute(const command::CopyBuffer& c, ThreadPool& pool);
void execute(const command::FillBuffer& c, ThreadPool& pool);
void execute(const command::UpdateBuffer& c, ThreadPool& pool);
void execute(const command::CopyBufferToImage& c, ThreadPool& pool);
void execute(const command::CopyImageToBuffer& c, ThreadPool& pool);
void execute(const command::CopyImage& c, ThreadPool& pool);
void execute(const command::BlitImage& c, ThreadPool& pool);
void execute(const command::ResolveImage& c, ThreadPool& pool);
void execute(const command::ClearColorImage& c, ThreadPool& pool);
void execute(const command::ClearDepthStencilImage& c, ThreadPool& pool);
void execute(const command::GenerateMipmaps& c, ThreadPool& pool);
/// Zero, and not available.
void reset_query(QueryPool& pool, uint32_t query);
/// Of a dispatch, to a query that was begun outside of passes.
void add_invocations(const command::BeginQuery& query, uint64_t invocations);
void execute(const command::ResetQueryPool& c, ThreadPool& pool);
void execute(const command::BeginQuery& c, ThreadPool& pool);
void execute(const command::EndQuery& c, ThreadPool& pool);
void execute(const command::SetEvent& c, ThreadPool& pool);
/// An error when it is given up.
Status execute(const command::WaitEvents& c, const std::atomic<bool>& given_up);
void execute(const command::WriteTimestamp& c, ThreadPool& pool);
void execute(const command::CopyQueryPoolResults& c, ThreadPool& pool);

}  // namespace tilegpu::exec
