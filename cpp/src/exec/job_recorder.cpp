// exec/job_recorder.cpp -- see job_recorder.hpp.
#include "exec/job_recorder.hpp"

#include <atomic>
#include <cassert>
#include <chrono>
#include <utility>

#if defined(__clang__)  // it has another word for it
#define TILEGPU_COUNTED [[gnu::noinline, clang::optnone]]
#else
#define TILEGPU_COUNTED [[gnu::noinline, gnu::noipa]]
#endif

namespace tilegpu {

// Not inlined, and nothing is known of them to their callers: who counts instructions wants calls. The fence, which is no instruction,
// keeps the call from becoming a jump, which ends this function for a counter before `work` has begun.
TILEGPU_COUNTED void recorded_submission(const std::function<void()>& work) {
  work();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
TILEGPU_COUNTED void recorded_jobs(const std::function<void()>& work) {
  work();
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

namespace exec {

namespace {

uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

void JobRecorder::run(const char* phase, uint32_t count, const Job& job, const std::function<void()>* poll) {
  assert(phase && job && count);
  if (submissions_.empty()) submissions_.emplace_back();  // of what is not waited for
  RecordedRun& run = submissions_.back().runs.emplace_back();
  run.phase = phase;
  recorded_jobs([&] {
    run.jobs_ns.resize(count);
    run.start_ns = now_ns();
    uint64_t before_ns = run.start_ns;
    for (uint32_t i = 0; i < count; i++) {
      if (poll) (*poll)();
      job(0, i);
      const uint64_t after_ns = now_ns();
      run.jobs_ns[i] = after_ns - before_ns;
      before_ns = after_ns;
    }
    run.end_ns = before_ns;
  });
}

void JobRecorder::submission(const std::function<void()>& work) {
  RecordedSubmission& made = submissions_.emplace_back();
  const size_t at = submissions_.size() - 1;
  made.start_ns = now_ns();
  recorded_submission(work);
  assert(at < submissions_.size());
  submissions_[at].end_ns = now_ns();
}

std::vector<RecordedSubmission> JobRecorder::take() { return std::exchange(submissions_, {}); }

}  // namespace exec

}  // namespace tilegpu
