// exec/job_recorder.hpp -- lengths of jobs. In: runs of the thread pool, submissions. Out: tilegpu/job_record.hpp's structs.
#pragma once

#include "tilegpu/job_record.hpp"

namespace tilegpu::exec {

class JobRecorder {
 public:
  using Job = std::function<void(uint32_t worker, uint32_t index)>;
  /// ThreadPool::run on the caller's thread alone. Whose jobs they would be makes no difference: all are worker 0's, whose memory is in
  /// this core's cache as each worker's would be in that of its own. `poll` may be null.
  void run(const char* phase, uint32_t count, const Job& job, const std::function<void()>* poll);
  void submission(const std::function<void()>& work);
  std::vector<RecordedSubmission> take();

 private:
  std::vector<RecordedSubmission> submissions_;
};

}  // namespace tilegpu::exec
