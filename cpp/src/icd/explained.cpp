// icd/explained.cpp -- see explained.hpp.
#include "icd/explained.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "base/at_exit.hpp"
#include "base/json.hpp"
#include "command/recording.hpp"
#include "icd/debug_utils.hpp"
#include "tilegpu/capture.hpp"

namespace tilegpu::icd {
namespace {

constexpr uint64_t kMostPasses = 2000;
constexpr int64_t kLongest_ms = 20'000;                    // that the end of a process waits for what still runs
constexpr std::chrono::milliseconds kShortest_pause{500};  // between two writes of the report
constexpr int kPause = 20;                                 // times as long as a write takes

std::string given(const char* value) { return value ? value : ""; }

uint64_t number_of(const char* name, const char* value, uint64_t otherwise) {
  const std::string text = given(value);
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (*end == 0) return number;
  std::fprintf(stderr, "tilegpu: %s is '%s'; it must be a number; taken as %llu\n", name, text.c_str(),
               static_cast<unsigned long long>(otherwise));
  return otherwise;
}

/// A pass or a dispatch.
bool has_work(const command::Recording& recording) {
  return std::any_of(recording.commands.begin(), recording.commands.end(), [](const command::Command& c) {
    if (const auto* secondary = std::get_if<command::ExecuteCommands>(&c)) return has_work(*secondary->recording);
    return std::holds_alternative<Ptr<const command::Pass>>(c) || std::holds_alternative<Ptr<const command::Dispatch>>(c);
  });
}

std::string stats_json(const PassStats& stats) {
  JsonObject out;
  each_counter(stats, [&](const char* name, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      out.real(name, value);
    else
      out.number(name, uint64_t{value});
  });
  JsonObject traffic;
  for (const AttachmentTraffic& row : stats.traffic) {
    JsonObject causes;
    for (size_t c = 0; c < row.bytes.size(); ++c) causes.number(kTrafficCauseNames[c], row.bytes[c]);
    traffic.raw(row.attachment, causes.json());
  }
  return out.raw("traffic_B", traffic.json()).json();
}

std::string draw_json(const DrawExplanation& row) {
  JsonArray techniques;
  for (const TechniqueExplanation& t : row.techniques)
    techniques.add(JsonObject()
                       .text("technique", t.technique)
                       .text("state", t.state)
                       .text("rule", t.rule)
                       .text("reason", t.reason)
                       .raw("by_draw", std::to_string(t.by_draw))
                       .json());
  return JsonObject()
      .number("first_draw", uint64_t{row.first_draw})
      .number("draw_count", uint64_t{row.draw_count})
      .number("part", uint64_t{row.part})
      .text("pipeline", row.pipeline)
      .text("early_tests_off", row.early_tests_off)
      .text("visibility_off", row.visibility_off)
      .text("low_resolution_z_off", row.low_resolution_z_off)
      .text("plan", row.plan)
      .raw("techniques", techniques.json())
      .json();
}

std::string list_json(const std::array<uint32_t, 3>& xyz) {
  JsonArray out;
  for (uint32_t k : xyz) out.add(std::to_string(k));
  return out.json();
}

std::string bound_json(const std::vector<BoundDescriptors>& bound) {
  JsonArray rows;
  for (const BoundDescriptors& b : bound)
    rows.add(JsonObject()
                 .text("name", b.name)
                 .number("set", uint64_t{b.set})
                 .number("binding", uint64_t{b.binding})
                 .number("count", uint64_t{b.count})
                 .number("size_B", b.size_B)
                 .boolean("written", b.written)
                 .json());
  return rows.json();
}

/// On lines of their own.
std::string lines_json(const std::vector<std::string>& rows) {
  std::string lines;
  for (const std::string& row : rows) lines += (lines.empty() ? "\n" : ",\n") + row;
  return "[" + lines + "]";
}

std::string program_name() {
  std::ifstream file("/proc/self/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

bool ends_with(const std::string& text, const char* end) {
  const std::string tail(end);
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

std::string said_text(const std::string& text, uint64_t times) {
  return times == 1 ? text : text + " (" + std::to_string(times) + " times)";
}

}  // namespace

std::string next_label() {
  static std::atomic<uint64_t> last = 0;
  return "#" + std::to_string(++last);
}

Explained* Explained::asked() {
  static Explained* const one = [] {
    if (given(std::getenv("TILEGPU_REPORT")).empty() && given(std::getenv("TILEGPU_CAPTURE")).empty())
      return static_cast<Explained*>(nullptr);
    auto* made = new Explained;  // lives as long as the process: programs end with work still running
    at_exit([] { asked()->end(); });
    return made;
  }();
  return one;
}

Explained::Explained()
    : report_(given(std::getenv("TILEGPU_REPORT"))),
      capture_(given(std::getenv("TILEGPU_CAPTURE"))),
      capture_number_(number_of("TILEGPU_CAPTURE_SUBMISSION", std::getenv("TILEGPU_CAPTURE_SUBMISSION"), 0)),
      most_passes_(number_of("TILEGPU_REPORT_PASSES", std::getenv("TILEGPU_REPORT_PASSES"), kMostPasses)),
      process_(getpid()) {}

void Explained::before(VkDevice device, const std::vector<Ptr<CommandBuffer>>& commands) {
  const std::lock_guard guard(lock_);
  if (capture_.empty()) return;
  const bool draws = std::any_of(commands.begin(), commands.end(), [](const Ptr<CommandBuffer>& cb) {
    return cb->recording() && has_work(*cb->recording());  // else the submission says what is wrong
  });
  if (!draws || drawing_++ != capture_number_) return;
  const Status saved = save_capture(device->core, commands, capture_);
  if (saved)
    say(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT, "TILEGPU_CAPTURE: wrote " + capture_);
  else
    (void)fail(device, saved.error());
}

void Explained::submitted(Ptr<Submission> submission) {
  assert(submission);
  const std::lock_guard guard(lock_);
  if (report_.empty()) return;
  pending_.push_back({submissions_++, frames_, std::move(submission)});
  take(false);
  is_new_ = true;
  if (!writer_.joinable() && !ending_ && getpid() == process_) writer_ = std::thread([this] { keep_written(); });
  changed_.notify_one();
}

void Explained::keep_written() {
  std::unique_lock lock(lock_);
  auto pause = kShortest_pause;
  while (!ending_) {
    changed_.wait(lock, [&] { return ending_ || is_new_; });
    if (changed_.wait_for(lock, pause, [&] { return ending_; })) return;
    take(false);
    is_new_ = !pending_.empty();
    const auto begin = std::chrono::steady_clock::now();
    write_now();
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    pause = std::max(kShortest_pause, kPause * took);
  }
}

void Explained::presented() {
  const std::lock_guard guard(lock_);
  frames_++;
}

void Explained::take(bool wait) {
  while (!pending_.empty()) {
    const Pending& next = pending_.front();
    if (wait ? !next.submission->wait(kLongest_ms) : !next.submission->signaled()) return;
    if (const Error* error = next.submission->error())
      errors_.push_back("submission " + std::to_string(next.number) + ": " + error->message);
    for (size_t pass = 0; !next.submission->error() && pass < next.submission->pass_count(); ++pass) {
      if (passes_.size() >= most_passes_)
        left_out_++;
      else
        take_pass(next.number, next.frame, *next.submission, pass);
    }
    for (size_t dispatch = 0; !next.submission->error() && dispatch < next.submission->dispatch_count(); ++dispatch) {
      if (dispatches_.size() >= most_passes_)
        dispatches_left_out_++;
      else
        take_dispatch(next.number, next.frame, *next.submission, dispatch);
    }
    pending_.pop_front();
  }
}

void Explained::take_pass(size_t submission, size_t frame, const Submission& done, size_t pass) {
  assert(pass < done.pass_count() && done.signaled());
  JsonArray draws, lint;
  for (const DrawExplanation& row : done.explain(pass)) draws.add(draw_json(row));
  for (const std::string& line : done.lint(pass)) lint.add(json_text(line));
  passes_.push_back(JsonObject()
                        .number("frame", uint64_t{frame})
                        .number("submission", uint64_t{submission})
                        .number("pass", uint64_t{pass})
                        .text("label", done.pass_label(pass))
                        .raw("framebuffer", done.describe_framebuffer(pass))
                        .raw("stats", stats_json(done.pass_stats(pass)))
                        .raw("draws", draws.json())
                        .raw("lint", lint.json())
                        .json());
}

void Explained::take_dispatch(size_t submission, size_t frame, const Submission& done, size_t dispatch) {
  const DispatchStats& stats = done.dispatch_stats(dispatch);
  const DispatchExplanation row = done.explain_dispatch(dispatch);
  uint64_t bound_B = 0;
  for (const BoundDescriptors& b : row.bound) bound_B += b.size_B;
  dispatches_.push_back(JsonObject()
                            .number("frame", uint64_t{frame})
                            .number("submission", uint64_t{submission})
                            .number("dispatch", uint64_t{dispatch})
                            .text("pipeline", row.pipeline)
                            .raw("workgroups", list_json(stats.workgroups))
                            .raw("workgroup_size", list_json(row.workgroup_size))
                            .number("invocations", stats.invocations)
                            .number("lanes", uint64_t{stats.lanes})
                            .number("threads", uint64_t{stats.threads})
                            .boolean("ordered", stats.ordered)
                            .number("shared_memory_B", stats.shared_memory_B)
                            .number("waiting_memory_B", stats.waiting_memory_B)
                            .number("bound_B", bound_B)
                            .raw("bound", bound_json(row.bound))
                            .boolean("reads_addresses", row.reads_addresses)
                            .boolean("writes_addresses", row.writes_addresses)
                            .real("time_ms", stats.time_ms)
                            .json());
}

std::string Explained::json() const {
  JsonObject names;
  for (const auto& [label, name] : names_) names.text(label, name);
  JsonArray made;
  for (const auto& [text, times] : made_) made.add(JsonObject().text("text", text).number("made", times).json());
  JsonArray errors;
  for (const std::string& error : errors_) errors.add(json_text(error));
  if (!pending_.empty()) errors.add(json_text(std::to_string(pending_.size()) + " submissions had not ended when the report was written"));
  JsonArray warnings;
  const std::lock_guard guard(said_lock_);
  for (const auto& [text, times] : refused_) errors.add(json_text(said_text(text, times)));
  for (const auto& [text, times] : warned_) warnings.add(json_text(said_text(text, times)));
  return JsonObject()
      .text("tilegpu", version())
      .text("program", program_name())
      .number("frames_presented", uint64_t{frames_})
      .number("passes_left_out", uint64_t{left_out_})
      .number("dispatches_left_out", uint64_t{dispatches_left_out_})
      .raw("errors", errors.json())
      .raw("warnings", warnings.json())
      .raw("names", names.json())
      .raw("render_passes", made.json())
      .raw("passes", lines_json(passes_))
      .raw("dispatches", lines_json(dispatches_))
      .json();
}

void Explained::named(const std::string& label, const std::string& name) {
  const std::lock_guard guard(lock_);
  if (!label.empty()) names_[label] = name;
}

void Explained::said(bool refused, const std::string& text) {
  constexpr size_t kMost = 1000;  // different ones
  const std::lock_guard guard(said_lock_);
  auto& of_kind = refused ? refused_ : warned_;
  if (of_kind.size() < kMost || of_kind.count(text)) of_kind[text]++;
}

void Explained::made_pass(const std::string& text) {
  assert(!text.empty());
  constexpr size_t kMost = 1000;  // different ones; programs that make passes anew make the same
  const std::lock_guard guard(lock_);
  if (const auto known = made_.find(text); known != made_.end())
    known->second++;
  else if (made_.size() < kMost)
    made_[text] = 1;
}

void Explained::write_now() {
  assert(submissions_ > 0);
  const std::string text = ends_with(report_, ".html") ? report_page(json()) : json() + "\n";
  // Beside it first, so that who ends the process by force, or reads, finds a whole one.
  std::error_code none;
  const bool beside = !std::filesystem::exists(report_, none) || std::filesystem::is_regular_file(report_, none);
  const std::string path = beside ? report_ + ".part" : report_;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file || (beside && std::rename(path.c_str(), report_.c_str()) != 0))
    std::fprintf(stderr, "tilegpu: TILEGPU_REPORT: %s can't be written\n", report_.c_str());
}

void Explained::write() {
  if (report_.empty() || getpid() != process_) return;  // in a child, who held the lock may be gone
  const std::lock_guard guard(lock_);
  take(true);
  if (submissions_) write_now();
}

void Explained::end() {
  if (report_.empty() || getpid() != process_) return;
  {
    const std::lock_guard guard(lock_);
    ending_ = true;
  }
  changed_.notify_one();
  if (writer_.joinable()) writer_.join();
  write();
}

}  // namespace tilegpu::icd
