// exec/pass_executor.cpp -- stage: execution of a render pass. In: a recorded pass. Out: images, a PassExecution, query sums.
//
// Two phases, each spread over all workers by chunk and by bin number. Nothing depends on who does what: chunks are cut by
// primitive count, bins are independent, and counters are sums. Source: docs/architecture.md, "The way of the data".
#include "exec/pass_executor.hpp"

#include "base/host_memory.hpp"
#include "exec/pass_run.hpp"

namespace tilegpu::exec {

namespace {

// The stages of a pass, in order.
Status run_stages(PassRun& run) {
  run.kept.phase = "setting a pass up";
  run.start_ms = now_ms();
  begin_workers(run);
  plan_commands(run);
  if (Status ok = check_indirect(run); !ok) return ok;
  set_up_tiles(run);
  choose_render_mode(run);
  judge_draws(run);
  set_up_geometry(run);
  if (run.request)
    if (Status ok = begin_trace(run); !ok) return ok;
  plan_geometry(run);
  begin_pass(run);

  run.kept.phase = "the geometry phase";
  if (Status done = run_phases(run); !done) return done;

  const std::string& label = run.pass.info.label;
  const Status loops = ended_loops(run);
  if (run.dry) {
    if (!loops) return loops;
    if (run.cancelled) return Error{VK_ERROR_DEVICE_LOST, "pass '" + label + "' was cancelled while it was traced"};
    finish_trace(run);
    return Ok{};
  }
  keep_contents(run, !run.cancelled && loops);
  if (!loops) return loops;
  if (run.cancelled)
    return Error{VK_ERROR_DEVICE_LOST,
                 "pass '" + label + "' was cancelled; its images are as they were, but for tiles that were finished before"};
  sum_counters(run);
  finish_render_mode(run);
  if (run.request) finish_trace(run);
  number_draws(run);
  finish_depth_filter(run);
  finish_queries(run);
  finish_counting(run);
  run.out.stats.tiles_ms = run.tiles_ms;
  run.out.stats.geometry_ms = now_ms() - run.start_ms - run.tiles_ms;
  return Ok{};
}

HiddenSurfaceRemoval hsr_of(const command::Pass& pass, const PassOptions& options) {
  return framebuffer::allowed_hsr(pass.framebuffer, pass.info.hsr.value_or(options.hsr));
}

}  // namespace

void PassExecutor::State::release() {
  geometry_workers.clear(), tile_workers.clear(), chunks.clear(), used_chunks.clear(), rests.clear();
  binned = records::BinnedGeometry();
  wave = WaveBinning();
  drawn.clear(), drawn_ever.clear();
  census = geometry::VertexCensus();
  plans.clear();
  passing_plan = PassPlan();
  passing_chunks = geometry::ChunkPlans();
  filter_positions = FilterPositions();
  samples_passed.clear();
  lrz_cache = hsr::LrzCache();
  lrz = hsr::LrzPass();
  binned_before = {};
}

PassExecutor::PassExecutor(ThreadPool& pool) : state_(new State{pool}) {}
PassExecutor::~PassExecutor() = default;

Status PassExecutor::run_or_release(PassRun& run) {
  try {
    return run_stages(run);
  } catch (const std::bad_alloc& refused) {
    // Half-written arenas mean nothing, and what they hold may be all there was.
    state_->release();
    run.out.stats = {};
    return Error{VK_ERROR_OUT_OF_DEVICE_MEMORY,
                 "pass '" + run.pass.info.label + "': " + refused_text(refused, state_->phase) +
                     "; the pass is not done, and its images are as they were, but for tiles that were finished before; draw fewer "
                     "primitives in one pass, use smaller images, or give the process more memory"};
  }
}

Status PassExecutor::execute(PassExecution& out, const TraceRequest* trace, const PassOptions& options,
                             const std::atomic<bool>& cancelled) {
  assert(out.pass && !(trace && trace->timed));
  PassRun run{*state_, *out.pass, options, cancelled, out, trace, hsr_of(*out.pass, options)};
  return run_or_release(run);
}

void PassExecutor::depth_cleared(const command::ClearDepthStencilImage& c) {
  state_->lrz_cache.clear_image(c.image, c.value.depth, c.ranges);
}

Expected<PassTrace> PassExecutor::repeat(const PassExecution& last, const TraceRequest& trace, const PassOptions& options,
                                         const std::atomic<bool>& cancelled) {
  assert(last.pass);
  // The last run again: the depth filter stands where it stood, and afterwards what passes learn from one another is as it was.
  PassExecution out{last.pass};
  PassRun run{*state_, *last.pass, options, cancelled, out, &trace, hsr_of(*last.pass, options)};
  if (last.stats.depth_filter.position) run.hsr.depth_filter_position = last.stats.depth_filter.position;
  run.dry = true;
  run.timed = trace.timed;
  hsr::LrzCache lrz_cache;
  FilterPositions positions;
  std::swap(lrz_cache, state_->lrz_cache);
  std::swap(positions, state_->filter_positions);
  Status done = run_or_release(run);
  std::swap(lrz_cache, state_->lrz_cache);
  std::swap(positions, state_->filter_positions);
  if (!done) return done.error();
  return std::move(*out.trace);
}

}  // namespace tilegpu::exec
