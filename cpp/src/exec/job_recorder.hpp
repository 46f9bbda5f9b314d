// exec/job_recorder.hpp -- lengths of jobs. In: runs of the thread pool, submissions. Out: tilegpu/job_record.hpp's structs.
#pragma once

#include "tilegpu/job_record.hpp"

namespace tilegpu::exec {

class JobRecorder {
 public:
  using Job = std::function<void(uint32_t worker, uint32_t index)>;
  /// ThreadPool::run on the caller's thread alone; `job` is told 0 for the worker. `poll` may be null.
  void run(const char* phase, uint32_t count, const Job& job, const std::function<void()>* poll);
  void submission(const std::function<void()>& work);
  std::vector<RecordedSubmission> take();

 private:
  std::vector<RecordedSubmission> submissions_;
};

}  // namespace tilegpu::exec
