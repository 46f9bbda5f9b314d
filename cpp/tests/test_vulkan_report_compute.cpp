// tests/test_vulkan_report_compute.cpp -- TILEGPU_REPORT and TILEGPU_CAPTURE of a program that only dispatches, and is ended by force: the
// report was written while it ran; the capture gives the same buffers in another process.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "tilegpu/capture.hpp"
#include "vulkan_compute_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kGroups = 5, kFactor = 7;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Nothing to explain, a dispatch, what it wrote; then it waits for its end.
void program(const std::string& results) {
  Compute& p = *new Compute;
  p.run(p.begin());
  const VkCommandBuffer c = p.begin();
  p.bind(c, kFactor, 0);
  p.CmdDispatch(c, kGroups, 1, 1);
  p.run(c);
  p.check(0, kGroups, kGroups, kFactor, 0);
  std::ofstream(results, std::ios::binary).write(reinterpret_cast<const char*>(p.out.data), kCount * 4);
  for (;;) pause();
}

}  // namespace

int main() {
  char name[] = "/tmp/tilegpu_report_XXXXXX";
  CHECK(mkdtemp(name));
  const std::string folder = name, report = folder + "/report.json", capture = folder + "/kernel.tgcap", results = folder + "/results";
  const pid_t child = fork();
  if (child == 0) {
    setenv("TILEGPU_REPORT", report.c_str(), 1);
    setenv("TILEGPU_CAPTURE", capture.c_str(), 1);
    program(results);
  }
  for (int i = 0; i < 600 && text_of(report).find("\"dispatch\"") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, nullptr, 0) == child);

  const std::string text = text_of(report);
  for (const char* part :
       {"\"dispatch\": 0", "\"submission\": 1", "\"workgroups\": [5, 1, 1]", "\"workgroup_size\": [96, 1, 1]", "\"invocations\": 480",
        "\"ordered\": false", "\"shared_memory_B\": 384", "\"bound_B\": 24576", "\"name\": \"Out\", \"set\": 1, \"binding\": 1",
        "\"size_B\": 16384, \"written\": true", "\"size_B\": 8192, \"written\": false", "\"passes\": []", "\"reads_addresses\": false",
        "\"dispatches_left_out\": 0"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part) + " is not in the report: " + text);

  auto device = Device::create({.threads = 2, .cache_dir = "off"});
  if (!CHECK(device)) return 1;
  auto loaded = load_capture(*device, capture);
  if (!CHECK_MESSAGE(loaded, loaded ? "" : loaded.error().message)) return 1;
  CHECK(loaded->pictures.empty() && loaded->buffers.size() == 1);
  auto done = (*device)->submit_and_wait({loaded->command_buffers, {}}, {});
  CHECK(done && (*done)->dispatch_count() == 1);
  const std::string want = text_of(results);
  CHECK(want.size() == kCount * 4 && std::memcmp(loaded->buffers[0]->data(), want.data(), want.size()) == 0);
  (void)std::system(("rm -rf " + folder).c_str());
  return test::finish("test_vulkan_report_compute");
}
