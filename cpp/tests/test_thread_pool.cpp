// The thread pool: each job once, own runs of numbers first, then the last jobs of whoever has most left; an exception ends a run
// and nothing else.
#include "exec/thread_pool.hpp"

#include <new>
#include <string>
#include <vector>

#include "check.hpp"
#include "exec/job_recorder.hpp"

using tilegpu::exec::ThreadPool;

namespace {

void test_each_once() {
  for (const uint32_t threads : {1u, 2u, 3u, 5u}) {
    ThreadPool pool(threads);
    for (const uint32_t count : {0u, 1u, 2u, 3u, 7u, 64u, 1000u, 1u, 333u}) {
      std::vector<std::atomic<uint32_t>> done(count), busy(threads);
      std::atomic<uint32_t> overlaps{0};
      pool.run("test", count, [&](uint32_t worker, uint32_t index) {
        overlaps += worker >= threads || busy[worker].fetch_add(1) != 0;
        done[index]++;
        busy[worker]--;
      });
      CHECK(overlaps == 0);
      for (uint32_t i = 0; i < count; i++) CHECK(done[i] == 1);
    }
  }
}

// As many jobs as workers, and none ends before all have begun: each is its own worker's.
void test_own_run_first() {
  ThreadPool pool(3);
  for (int round = 0; round < 20; round++) {
    std::atomic<uint32_t> begun{0}, strangers{0};
    pool.run("test", 3, [&](uint32_t worker, uint32_t index) {
      strangers += worker != index;
      begun++;
      while (begun < 3) std::this_thread::yield();
    });
    CHECK(strangers == 0);
  }
}

// Worker 0's first job waits for all others: worker 1 does its own in order, then worker 0's from the end.
void test_takes_from_the_end() {
  ThreadPool pool(2);
  constexpr uint32_t kCount = 9, kHalf = 4;
  for (int round = 0; round < 20; round++) {
    std::atomic<uint32_t> done{0};
    std::vector<uint32_t> order[2];
    pool.run("test", kCount, [&](uint32_t worker, uint32_t index) {
      order[worker].push_back(index);
      while (index == 0 && done < kCount - 1) std::this_thread::yield();
      done++;
    });
    std::vector<uint32_t> expected;
    for (uint32_t i = kHalf; i < kCount; i++) expected.push_back(i);
    for (uint32_t i = kHalf; i-- > 0;) expected.push_back(i);
    // Where the caller came late, worker 1 has done all of it.
    if (!order[0].empty()) {
      CHECK(order[0].size() == 1 && order[0][0] == 0);
      expected.pop_back();
    }
    CHECK(order[1] == expected);
  }
}

void test_exception() {
  ThreadPool pool(2);
  for (int round = 0; round < 20; round++) {
    std::atomic<uint32_t> begun{0};
    bool caught = false;
    try {
      pool.run("test", 1000, [&](uint32_t, uint32_t) {
        begun++;
        throw std::bad_alloc();
      });
    } catch (const std::bad_alloc&) {
      caught = true;
    }
    CHECK(caught && begun <= 2);  // no worker begins a second one
    std::atomic<uint32_t> after{0};
    pool.run("test", 10, [&](uint32_t, uint32_t) { after++; });
    CHECK(after == 10);
  }
}

// Who records has all jobs on its own thread, in order, each as the worker's whose run it lies in; a single one is the caller's.
void test_recorder() {
  ThreadPool pool(4);
  tilegpu::exec::JobRecorder recorder;
  const std::thread::id here = std::this_thread::get_id();
  for (const bool on : {true, false, true}) {
    pool.set_recorder(on ? &recorder : nullptr);
    std::vector<uint32_t> order, workers;
    uint32_t elsewhere = 0;
    if (on) {
      const auto note = [&](uint32_t worker, uint32_t index) {
        elsewhere += std::this_thread::get_id() != here;
        order.push_back(index), workers.push_back(worker);
      };
      recorder.submission([&] { pool.run("ten", 10, note), pool.run("none", 0, note), pool.run("one", 1, note); });
      CHECK(elsewhere == 0 && (order == std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}));
      CHECK((workers == std::vector<uint32_t>{0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 0}));  // as run() cuts ten for four
    } else {
      std::atomic<uint32_t> done{0};
      pool.run("ten", 10, [&](uint32_t, uint32_t) { done++; });
      CHECK(done == 10);
    }
    const auto records = recorder.take();
    CHECK(records.size() == (on ? 1 : 0));
    for (const tilegpu::RecordedSubmission& s : records) {
      CHECK(s.runs.size() == 2 && s.runs[0].phase == std::string("ten") && s.runs[0].jobs_ns.size() == 10);
      CHECK(s.runs[1].jobs_ns.size() == 1 && s.start_ns <= s.runs[0].start_ns && s.runs[0].end_ns <= s.runs[1].start_ns);
      CHECK(s.runs[1].end_ns <= s.end_ns);
    }
  }
}

}  // namespace

int main() {
  test_each_once();
  test_own_run_first();
  test_takes_from_the_end();
  test_exception();
  test_recorder();
  return tilegpu::test::finish("thread pool");
}
