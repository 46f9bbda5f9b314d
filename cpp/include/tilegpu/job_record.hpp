// tilegpu/job_record.hpp -- for who measures how executions scale: how long each job took, and each submission.
//
// In: a device, and that it records. Out: what it ran since. While it records, its submissions run all jobs on the thread that executes
// them, in the order of their numbers, but cut for the device's number of threads: so lengths of jobs for 128 threads are had on any
// machine. The same bits. Source: docs/scaling.md, "More cores than here".
#pragma once

#include "tilegpu/device.hpp"

namespace tilegpu {

/// Jobs that threads would have shared: ThreadPool::run, whose caller waits for all of them.
struct RecordedRun {
  const char* phase = "";  ///< census, geometry, binning, tiles, transfer, dispatch
  uint64_t start_ns = 0, end_ns = 0;
  std::vector<uint64_t> jobs_ns;
};

/// What is between its runs one thread does alone.
struct RecordedSubmission {
  uint64_t start_ns = 0, end_ns = 0;
  std::vector<RecordedRun> runs;
};

/// From the next submission that is waited for (Device::submit_and_wait) on, all of which one thread makes while it records; false: no
/// longer, and what was recorded is forgotten.
TILEGPU_API void record_jobs(Device& device, bool on);
/// What was recorded since it was last asked. Empty where nothing is recorded.
TILEGPU_API std::vector<RecordedSubmission> take_job_records(Device& device);
/// Nanoseconds of each of so many runs of `jobs` jobs that do nothing, on the device's threads: what waking them and waiting for them
/// costs.
TILEGPU_API std::vector<uint64_t> empty_runs_ns(Device& device, uint32_t jobs, uint32_t runs);

/// A submission while it is recorded, and the jobs of one run. By their names an instruction counter starts and stops (callgrind's
/// --toggle-collect), which is why they are seen from outside: what is within the first and not within the second one thread does alone.
TILEGPU_API void recorded_submission(const std::function<void()>& work);
TILEGPU_API void recorded_jobs(const std::function<void()>& work);

}  // namespace tilegpu
