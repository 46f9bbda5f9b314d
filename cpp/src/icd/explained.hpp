// icd/explained.hpp -- a program explained, for who asks by environment: TILEGPU_REPORT, TILEGPU_CAPTURE (docs/vulkan.md).
//
// In: what is submitted and presented. Out: a report of every pass and dispatch (JSON, or a page that shows it), a capture of one
// submission. The report is written again and again while the program runs: browsers end their GPU process by force.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "icd/objects.hpp"
#include "tilegpu/fork_mutex.hpp"

namespace tilegpu::icd {

/// Of a process. Any thread.
class Explained {
 public:
  /// Null: nobody asked.
  static Explained* asked();

  /// About to be submitted: memory is as the commands will find it.
  void before(VkDevice device, const std::vector<Ptr<CommandBuffer>>& commands);
  void submitted(Ptr<Submission> submission);
  void presented();
  /// By VK_EXT_debug_utils, of what the core calls `label`.
  void named(const std::string& label, const std::string& name);
  /// Of a render pass that was made: which of its subpasses are one tile pass, what forbade the others, what is read from memory.
  void made_pass(const std::string& text);
  /// A call that was refused, or that did what Vulkan forbids: what the driver said of it.
  void said(bool refused, const std::string& text);
  /// Waits for what was submitted, and writes the report as it is then. A process that submitted nothing writes none: another may have.
  void write();
  /// The same, for the last time.
  void end();

 private:
  Explained();
  void take(bool wait);  // the lock is held
  void take_pass(size_t submission, size_t frame, const Submission& done, size_t pass);
  void take_dispatch(size_t submission, size_t frame, const Submission& done, size_t dispatch);
  std::string json() const;
  void write_now();     // the lock is held
  void keep_written();  // by a thread of its own

  struct Pending {
    size_t number, frame;
    Ptr<Submission> submission;
  };
  std::mutex lock_;
  std::string report_, capture_;  // paths; empty: not asked
  uint64_t capture_number_ = 0;   // of the submission with passes or dispatches that is captured
  uint64_t most_passes_ = 0;
  size_t submissions_ = 0, drawing_ = 0, frames_ = 0, left_out_ = 0, dispatches_left_out_ = 0;
  const int process_;  // that asked: a child of it has nothing to write
  std::deque<Pending> pending_;
  std::condition_variable changed_;
  std::thread writer_;
  bool is_new_ = false, ending_ = false;              // something to write; nothing more is
  std::vector<std::string> passes_;                   // as JSON
  std::vector<std::string> dispatches_;               // the same
  std::vector<std::string> errors_;                   // of submissions
  std::map<std::string, std::string> names_;          // of labels
  std::map<std::string, uint64_t> made_;              // texts of render passes: how many of them were made
  mutable ForkMutex said_lock_;                       // innermost: calls fail while the other one is held, and children of a fork fail too
  std::map<std::string, uint64_t> refused_, warned_;  // texts: how often
};

/// A label that no other object of the process has: "#17". Reports and messages say it where a program gives no name.
std::string next_label();

/// The page of a report around its JSON.
std::string report_page(const std::string& json);

}  // namespace tilegpu::icd
