// device/submit.cpp -- stage: submission. In: command buffers. Out: an Execution of what they recorded, run by the queue or by who waits.
//
// What is submitted is checked and laid out here, on the caller's thread; afterwards only the execution changes.
// Source: Vulkan specification, "Command Buffer Submission".
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <system_error>

#include "base/default_floats.hpp"
#include "base/host_memory.hpp"
#include "device/join.hpp"
#include "device/recorder.hpp"
#include "exec/command_traffic.hpp"
#include "exec/commands.hpp"
#include "framebuffer/profile.hpp"
#include "pipeline/kernel.hpp"

namespace tilegpu {

namespace {

using device::DeviceState;
using device::invalid;
using exec::Execution;
using exec::PassExecution;

exec::PassOptions pass_options(const DeviceState& s) {
  exec::PassOptions options;
  options.forced_bin_px = s.info.bin_px;
  options.vertex_batch = s.info.vertex_batch;
  options.lanes = s.jit->lanes();
  options.tiler_heap_B = s.info.tiler_heap_B;
  options.hsr = *s.info.hsr;
  options.compress_samples = s.info.compress_samples;
  options.lrz_flush = s.info.lrz_flush;
  options.render_mode = s.info.render_mode;
  options.textures = s.textures.get();
  assert(s.info.hsr && framebuffer::find_profile(s.info.profile));  // Device::create filled both in
  const framebuffer::Profile& profile = *framebuffer::find_profile(s.info.profile);
  if (s.info.indirect_budget) options.indirect_vertices = s.info.indirect_budget;
  if (s.info.loop_budget) options.loop_iterations = s.info.loop_budget;
  if (profile.fpk_quads) options.fpk_quads = profile.fpk_quads;
  options.deferred_triangle_px2 = profile.deferred_triangle_px2;
  options.l2_B = std::max(256u * 1024, framebuffer::machine_l2_B());
  return options;
}

// What draws and dispatches run is there from here on: an error is an error of what would have run it.
Status finish_code(shader::Jit& jit, const Execution& execution) {
  std::vector<const pipeline::ComingCode*> coming;
  const auto add = [&](const pipeline::ComingCode& code) {
    if (!code.is_there()) coming.push_back(&code);
  };
  for (const PassExecution& pass : execution.passes)
    for (const Ptr<const pipeline::Resolved>& resolved : pass.pass->coming) add(resolved->coming);
  for (const auto& dispatch : execution.dispatches) add(dispatch.dispatch->pipeline->kernel().coming);
  if (coming.empty()) return Ok{};
  if (Status done = pipeline::finish(jit, coming); !done) return Error{done.error().code, "submit: " + done.error().message};
  return Ok{};
}

Status lay_out(Device& device, SubmitInfo& info, Execution& execution) {
  for (const Ptr<CommandBuffer>& commands : info.command_buffers) {
    if (!commands) return invalid("submit: a command buffer is null");
    if (commands->state() != CommandBufferState::executable)
      return invalid("submit: a command buffer is not executable; call end before it is submitted");
    if (commands->device().get() != &device) return invalid("submit: a command buffer belongs to another device");
    if (commands->level() != VK_COMMAND_BUFFER_LEVEL_PRIMARY)
      return invalid("submit: a command buffer is secondary; primary ones execute it (execute_commands)");
    execution.recordings.push_back(commands->recording());
    if (Status ok = device::add_steps(*execution.recordings.back(), execution); !ok) return ok;
  }
  if (Status ok = device::take_late_sets(device.state(), execution); !ok) return ok;
  if (Status ok = device::join_suspended(device.state(), execution); !ok) return ok;
  for (const command::Command* step : execution.steps)
    if (const auto* pass = std::get_if<Ptr<const command::Pass>>(step))
      execution.passes.push_back({*pass});
    else if (const auto* dispatch = std::get_if<Ptr<const command::Dispatch>>(step))
      execution.dispatches.push_back({*dispatch, {}});
    else if (const auto traffic = exec::traffic_of(*step))
      execution.commands.push_back(*traffic);
  if (Status ok = finish_code(*device.state().jit, execution); !ok) return ok;
  for (const auto& [pass, request] : info.traces) {
    if (pass >= execution.passes.size())
      return invalid("submit: pass " + std::to_string(pass) + " is to be traced, but there are " + std::to_string(execution.passes.size()));
    if (request.timed) return invalid("submit: a pass is timed by trace_again, not as it runs for the first time");
  }
  execution.traces = std::move(info.traces);
  execution.addresses = device.state().addresses->ranges();
  return Ok{};
}

// What can be reached by address, for as long as it lives.
struct Addressed {
  resource::AddressSpace& space;
  Addressed(DeviceState& s, const Ptr<const resource::AddressRanges>& submitted) : space(*s.addresses) { space.begin(submitted); }
  ~Addressed() { space.end(); }
  Addressed(const Addressed&) = delete;
  Addressed& operator=(const Addressed&) = delete;
};

/// The pool's jobs look at the flag for as long.
class AskedByJobs {
 public:
  AskedByJobs(exec::ThreadPool& pool, const std::atomic<bool>& cancelled) : pool_(pool) { pool_.set_cancelled(&cancelled); }
  ~AskedByJobs() { pool_.set_cancelled(nullptr); }
  AskedByJobs(const AskedByJobs&) = delete;
  AskedByJobs& operator=(const AskedByJobs&) = delete;

 private:
  exec::ThreadPool& pool_;
};

Status execute(DeviceState& s, Execution& execution, const std::atomic<bool>& cancelled) {
  const Addressed addressed(s, execution.addresses);
  execution.addresses = nullptr;
  const exec::PassOptions options = pass_options(s);
  size_t pass = 0, dispatch = 0;
  std::vector<const command::BeginQuery*> counting;  // that were begun outside of passes
  for (const command::Command* command : execution.steps) {
    if (const auto* begin = std::get_if<command::BeginQuery>(command)) counting.push_back(begin);
    if (const auto* end = std::get_if<command::EndQuery>(command))
      std::erase_if(counting, [&](const command::BeginQuery* q) { return q->pool == end->pool && q->query == end->query; });
    if (cancelled) return Error{VK_ERROR_DEVICE_LOST, "cancelled"};
    const auto run = [&](const auto& c) -> Status {
      using C = std::decay_t<decltype(c)>;
      if constexpr (std::is_same_v<C, Ptr<const command::Pass>>) {
        assert(pass < execution.passes.size());
        PassExecution& out = execution.passes[pass];
        Status done = s.executor->execute(out, execution.trace_of(pass), options, cancelled);
        pass++;
        if (c->writes_addresses) s.addresses->mark_written();
        if (done) s.jit->make_wanted();
        return done;
      } else if constexpr (std::is_same_v<C, Ptr<const command::Dispatch>>) {
        assert(dispatch < execution.dispatches.size() && execution.dispatches[dispatch].dispatch == c);
        DispatchStats& stats = execution.dispatches[dispatch++].stats;
        const exec::DispatchLimits limits = {s.info.ordered_atomics,
                                             s.info.loop_budget ? s.info.loop_budget : exec::kDispatchLoopIterations,
                                             s.info.indirect_budget ? s.info.indirect_budget : exec::kIndirectBudget};
        Status done = s.dispatcher->execute(*c, limits, stats, cancelled);
        if (c->pipeline->program().writes_addresses) s.addresses->mark_written();
        for (const command::BeginQuery* query : counting) exec::add_invocations(*query, stats.invocations);
        return done;
      } else if constexpr (std::is_same_v<C, command::WaitEvents>) {
        Status done = exec::execute(c, cancelled);
        s.addresses->take_new();
        return done;
      } else if constexpr (!std::is_same_v<C, command::ExecuteCommands>) {
        {
          const AskedByJobs asked(*s.pool, cancelled);
          exec::execute(c, *s.pool);
        }
        if (cancelled) return Error{VK_ERROR_DEVICE_LOST, "a transfer was cancelled; of what it writes a part may be written"};
        if constexpr (std::is_same_v<C, command::ClearDepthStencilImage>) s.executor->depth_cleared(c);
      }
      return Ok{};
    };
    if (Status done = std::visit(run, *command); !done) return done;
  }
  assert(pass == execution.passes.size());
  return Ok{};
}

constexpr int64_t kPoll_ms = 50;

// A pass asks for some ten kilobytes of stack; a caller's threads may have been given less than that leaves.
constexpr size_t kLeastStack_B = 1 << 20;

bool stack_suffices() {
  static thread_local const bool suffices = [] {
    if (getpid() == gettid()) return true;
    pthread_attr_t attributes;
    size_t size_B = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    pthread_attr_getstacksize(&attributes, &size_B);
    pthread_attr_destroy(&attributes);
    return size_B >= kLeastStack_B;
  }();
  return suffices;
}

// Runs `work` on the calling thread where that is possible, else on the queue's; returns when it is done. `goes_on`: see submit_and_wait.
Status run_and_wait(DeviceState& s, const Ptr<Submission::State>& state, const std::function<Status()>& work,
                    const std::function<bool()>& goes_on) {
  assert(state && !state->signaled);
  s.ensure_threads();
  Status done = Ok{};
  std::function<void()> poll;
  if (goes_on)
    poll = [&] {
      if (!goes_on()) state->cancelled = true;
    };
  const auto here = [&] {
    prepare_thread();
    const DefaultFloats floats;  // transfers compute too, and the thread is another's
    s.pool->set_poll(poll ? &poll : nullptr);
    const Status executed = work();
    s.pool->set_poll(nullptr);
    return executed;
  };
  // Who waits for the host's event on the calling thread would not ask whether to go on.
  const auto waits = [](const command::Command* step) { return std::holds_alternative<command::WaitEvents>(*step); };
  const bool may_wait = std::any_of(state->execution.steps.begin(), state->execution.steps.end(), waits);
  if (!may_wait && stack_suffices() && s.queue->run_here(state, here, done)) {
    state->finish(done);
    return done;
  }
  s.queue->submit(state, work);
  while (!state->wait(kPoll_ms))
    if (poll) poll();
  if (state->failed) return state->error;
  return Ok{};
}

Error refused(const char* what) {
  return {VK_ERROR_OUT_OF_HOST_MEMORY, std::string("submit: the system refused ") + what + "; end other threads or raise the limit"};
}

// From any call that may make threads and take memory.
template <class Result, class Call>
Result without_exceptions(Call call) {
  try {
    return call();
  } catch (const std::system_error&) {
    return refused("the thread that executes submissions");
  } catch (const std::bad_alloc&) {
    return refused("memory for what a submission keeps");
  }
}

Expected<Ptr<Submission>> make_submission(Device& device, SubmitInfo& info) {
  auto submission = std::make_shared<Submission>();
  submission->state->hsr = device.hsr();
  if (Status ok = lay_out(device, info, submission->state->execution); !ok) return ok.error();
  return submission;
}

// Why a pass can't be run again as it ran; empty: it can.
std::string repeat_obstacle(const PassExecution& last) {
  assert(last.pass);
  const command::Pass& pass = *last.pass;
  const framebuffer::Framebuffer& f = pass.framebuffer;
  const auto loads = [](const framebuffer::LoadTarget& t) {
    return t.in_bounds == framebuffer::LoadOp::image || t.border == framebuffer::LoadOp::image;
  };
  for (size_t i = 0; i < f.load.rts.size(); i++)
    if (loads(f.load.rts[i])) return "it begins with what color[" + std::to_string(i) + "] held (load), and that is not there any more";
  if (loads(f.load.z)) return "it begins with the depth that the image held (load), and that is not there any more";
  if (loads(f.load.s)) return "it begins with the stencil that the image held (load), and that is not there any more";
  const auto whole = [](const exec::PartTraits& part) { return part.part == framebuffer::Part::normal; };
  if (!std::ranges::all_of(last.parts, whole)) return "the tiler's heap was full and the pass was split";
  const auto writes = [](const command::DrawCall& draw) {
    const auto& stages = draw.state->resolved->stages;
    return std::any_of(stages.begin(), stages.end(), [](const pipeline::ResolvedStage& stage) { return stage.traits.writes_memory; });
  };
  const auto named = [](const command::DrawCall& draw) {
    return "the shaders of pipeline '" + draw.state->resolved->label + "' write memory, and would again";
  };
  for (const command::TransformFeedback& t : pass.transform_feedback)
    if (std::any_of(t.resumed.begin(), t.resumed.end(), [](const BufferPlace& place) { return place.buffer != nullptr; }))
      return "its transform feedback goes on where counters say, and would go on again";
  for (const command::DrawCall& draw : pass.draws)
    if (writes(draw)) return named(draw);
  for (const command::IndirectDraw& draw : pass.indirects)
    if (writes(draw.base)) return named(draw.base);
  return {};
}

Expected<Ptr<Submission>> submit_here(Device& device, SubmitInfo& info, const std::function<bool()>& goes_on) {
  return without_exceptions<Expected<Ptr<Submission>>>([&]() -> Expected<Ptr<Submission>> {
    auto submission = make_submission(device, info);
    if (!submission) return submission;
    DeviceState& s = device.state();
    const Ptr<Submission::State>& state = (*submission)->state;
    const auto work = [&] { return execute(s, state->execution, state->cancelled); };
    if (Status done = run_and_wait(s, state, work, goes_on); !done) return done.error();
    return submission;
  });
}

}  // namespace

Status device::between_submissions(Device& device, const std::function<Status()>& work) {
  return without_exceptions<Status>(
      [&]() -> Status { return run_and_wait(device.state(), std::make_shared<Submission::State>(), work, {}); });
}

Expected<Ptr<Submission>> Device::submit(SubmitInfo info) {
  return without_exceptions<Expected<Ptr<Submission>>>([&]() -> Expected<Ptr<Submission>> {
    auto submission = make_submission(*this, info);
    if (!submission) return submission;
    DeviceState& s = *state_;
    s.ensure_threads();
    // The recordings keep the device, and the queue the submission until it is signaled.
    s.queue->submit((*submission)->state, [&s, raw = (*submission)->state.get()] { return execute(s, raw->execution, raw->cancelled); });
    return submission;
  });
}

Expected<Ptr<Submission>> Device::submit_and_wait(SubmitInfo info, const std::function<bool()>& goes_on) {
  Expected<Ptr<Submission>> done = Ptr<Submission>();
  const auto submit = [&] { done = submit_here(*this, info, goes_on); };
  if (exec::JobRecorder* const recorder = state_->recorder.get())
    recorder->submission(submit);
  else
    submit();
  return done;
}

Expected<PassTrace> Device::trace_again(const Ptr<Submission>& submission, size_t pass, TraceRequest request,
                                        const std::function<bool()>& goes_on) {
  if (!submission || !submission->signaled() || submission->error())
    return invalid("trace_again: the submission is null, not executed yet or ended with an error");
  if (pass >= submission->pass_count())
    return invalid("trace_again: pass " + std::to_string(pass) + " of a submission with " + std::to_string(submission->pass_count()));
  const PassExecution& last = submission->state->execution.passes[pass];
  if (const std::string why = repeat_obstacle(last); !why.empty())
    return invalid(device::pass_name(*last.pass) + " cannot be traced after its end: " + why +
                   "; request the trace before the pass is executed");
  return without_exceptions<Expected<PassTrace>>([&]() -> Expected<PassTrace> {
    auto state = std::make_shared<Submission::State>();
    PassTrace found;
    const auto work = [&]() -> Status {
      const Addressed addressed(*state_, state_->addresses->ranges());
      auto trace = state_->executor->repeat(last, request, pass_options(*state_), state->cancelled);
      if (!trace) return trace.error();
      found = std::move(*trace);
      return Ok{};
    };
    if (Status done = run_and_wait(*state_, state, work, goes_on); !done) return done.error();
    return found;
  });
}

void Device::cancel() {
  if (state_->owns_threads()) state_->queue->cancel();
}

void Device::wait_idle() {
  if (state_->owns_threads()) state_->queue->wait_idle();
}

}  // namespace tilegpu
