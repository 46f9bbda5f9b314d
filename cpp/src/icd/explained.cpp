// icd/explained.cpp -- see explained.hpp.
#include "icd/explained.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
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
constexpr int64_t kLongest_ms = 20'000;  // that the end of a process waits for what still runs

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

bool has_pass(const command::Recording& recording) {
  return std::any_of(recording.commands.begin(), recording.commands.end(), [](const command::Command& c) {
    if (const auto* secondary = std::get_if<command::ExecuteCommands>(&c)) return has_pass(*secondary->recording);
    return std::holds_alternative<Ptr<const command::Pass>>(c);
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
    at_exit([] { asked()->write(); });
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
    return cb->recording() && has_pass(*cb->recording());  // else the submission says what is wrong
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
    pending_.pop_front();
  }
}

void Explained::take_pass(size_t submission, size_t frame, const Submission& done, size_t pass) {
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

std::string Explained::json() const {
  JsonObject names;
  for (const auto& [label, name] : names_) names.text(label, name);
  JsonArray errors;
  for (const std::string& error : errors_) errors.add(json_text(error));
  if (!pending_.empty()) errors.add(json_text(std::to_string(pending_.size()) + " submissions had not ended when the report was written"));
  std::string passes;
  for (const std::string& pass : passes_) passes += (passes.empty() ? "\n" : ",\n") + pass;
  return JsonObject()
      .text("tilegpu", version())
      .text("program", program_name())
      .number("frames_presented", uint64_t{frames_})
      .number("passes_left_out", uint64_t{left_out_})
      .raw("errors", errors.json())
      .raw("names", names.json())
      .raw("passes", "[" + passes + "]")
      .json();
}

void Explained::named(const std::string& label, const std::string& name) {
  const std::lock_guard guard(lock_);
  if (!label.empty()) names_[label] = name;
}

void Explained::write() {
  if (report_.empty() || getpid() != process_) return;  // in a child, who held the lock may be gone
  const std::lock_guard guard(lock_);
  take(true);
  const std::string text = ends_with(report_, ".html") ? report_page(json()) : json() + "\n";
  std::ofstream file(report_, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "tilegpu: TILEGPU_REPORT: %s can't be written\n", report_.c_str());
}

}  // namespace tilegpu::icd
