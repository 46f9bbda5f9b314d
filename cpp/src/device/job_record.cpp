// device/job_record.cpp -- stage: measuring. In: a device. Out: what its submissions' jobs took; see tilegpu/job_record.hpp.
#include "tilegpu/job_record.hpp"

#include <cassert>
#include <chrono>

#include "device/device_state.hpp"

namespace tilegpu {

void record_jobs(Device& device, bool on) {
  device::DeviceState& s = device.state();
  const Status done = device::between_submissions(device, [&]() -> Status {
    s.pool->set_recorder(nullptr);
    s.recorder = on ? std::make_unique<exec::JobRecorder>() : nullptr;
    s.pool->set_recorder(s.recorder.get());
    return Ok{};
  });
  assert(done);  // nothing in it fails but the system
  (void)done;
}

std::vector<RecordedSubmission> take_job_records(Device& device) {
  exec::JobRecorder* const recorder = device.state().recorder.get();
  return recorder ? recorder->take() : std::vector<RecordedSubmission>();
}

std::vector<uint64_t> empty_runs_ns(Device& device, uint32_t jobs, uint32_t runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<uint64_t> times_ns;
  const Status done = device::between_submissions(device, [&]() -> Status {
    times_ns.reserve(runs);
    for (uint32_t i = 0; i < runs; i++) {
      const Clock::time_point start = Clock::now();
      device.state().pool->run("empty", jobs, [](uint32_t, uint32_t) {});
      const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
      times_ns.push_back(static_cast<uint64_t>(took.count()));
    }
    return Ok{};
  });
  if (!done) times_ns.clear();
  return times_ns;
}

}  // namespace tilegpu
