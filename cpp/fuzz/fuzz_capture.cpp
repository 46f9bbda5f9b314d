// fuzz/fuzz_capture.cpp -- fuzzer: a capture from strangers through its reader and, where it can be drawn, through two devices.
//
// In: a capture's bytes. Sizes and the checksum of its header are put right first, so that what lies behind them is reached; the first bit
// of a hash says when not. Wrong is: anything but an error or a recording, and other pictures at 4 lanes without hidden-surface removal
// than at 8 lanes with it.
#include <random>

#include "capture/bytes.hpp"
#include "capture/file.hpp"
#include "command/recording.hpp"
#include "common/bench.hpp"
#include "pipeline/program.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;

namespace {

constexpr size_t kMost_B = 64 << 10;
constexpr uint64_t kMostPixels = 1 << 16, kMostVertices = 1 << 12;
constexpr char kMagic[] = "TILEGPU\n";

/// Written as it is, or with a header that is true.
std::string file_of(const uint8_t* data, size_t size_B, bool as_it_is) {
  const std::string path = fuzz::scratch_folder() + "/case.tgcap";
  capture::Reader reader({data, size_B});
  const uint8_t* magic = reader.take(sizeof kMagic - 1);
  const bool ours = magic && std::memcmp(magic, kMagic, sizeof kMagic - 1) == 0;
  reader.get<uint32_t>();
  reader.get_text("writer");
  const std::string profile = reader.get_text("profile");
  reader.get<uint64_t>(), reader.get<uint64_t>();
  if (as_it_is || !ours || !reader.ok() || reader.at_end()) {
    fuzz::write_bytes(path, {reinterpret_cast<const char*>(data), size_B});
    return path;
  }
  const size_t left_B = reader.left_B();
  fuzz::take(capture::write_file(path, profile, {data + size_B - left_B, data + size_B}), "a capture can't be written");
  return path;
}

/// Small enough to be drawn here, and what drawing leaves does not depend on what runs first.
struct Judge {
  bool small = true, has_one_result = true;

  void recording(const command::Recording& r) {
    if (r.commands.size() > 64) small = false;
    for (const command::Command& c : r.commands) {
      if (const auto* pass = std::get_if<Ptr<const command::Pass>>(&c)) of_pass(**pass);
      if (std::holds_alternative<Ptr<const command::Dispatch>>(c)) has_one_result = small = false;
      if (const auto* other = std::get_if<command::ExecuteCommands>(&c)) recording(*other->recording);
      if (std::holds_alternative<command::WriteTimestamp>(c) || std::holds_alternative<command::CopyQueryPoolResults>(c))
        has_one_result = false;
    }
  }
  void of_pass(const command::Pass& pass) {
    uint64_t vertices = 0;
    for (const command::DrawCall& draw : pass.draws) vertices += uint64_t{draw.count} * draw.instance_count;
    small = small && uint64_t{pass.width_px} * pass.height_px <= kMostPixels && pass.draws.size() <= 256 && vertices <= kMostVertices &&
            pass.indirects.empty();
    for (const command::Bound& bound : pass.bound)
      for (const pipeline::Stage& stage : bound.pipeline->program().stages)
        if (stage.traits.writes_memory) has_one_result = false;
  }
};

struct Replay {
  bool ran = false;
  std::vector<uint8_t> pictures;
};

Replay replay(const std::string& path, const DeviceCreateInfo& info) {
  Replay result;
  const Ptr<Device> device = fuzz::device(info, fuzz::Code::quick);
  Expected<Capture> capture = load_capture(device, path);
  if (!capture) {
    if (capture.error().message.find("case.tgcap") == std::string::npos)
      fuzz::finding("an error without the file: " + capture.error().message);
    return result;
  }
  Judge judge;
  for (const auto& cb : capture->command_buffers) judge.recording(*cb->recording());
  if (!judge.small) return result;
  auto done = device->submit_and_wait({capture->command_buffers, {}}, {});
  if (!done || !judge.has_one_result) return result;
  result.ran = true;
  for (const auto& view : capture->pictures) fuzz::append(result.pictures, *view->image());
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B) return -1;
  const std::string path = file_of(data, size_B, fuzz::hash_of(data, size_B) % 16 == 0);
  DeviceCreateInfo plain;
  plain.threads = 1, plain.lanes = 4, plain.bin_px = 64, plain.loop_budget = 2000, plain.indirect_budget = 1 << 12;
  plain.hsr = HiddenSurfaceRemoval{.visibility_buffer = false, .hierarchical_z = false};
  const Replay one = replay(path, plain);
  if (!one.ran) return 0;
  DeviceCreateInfo other = plain;
  other.threads = 2, other.lanes = 8, other.bin_px = 32, other.hsr = HiddenSurfaceRemoval{};
  const Replay two = replay(path, other);
  if (!two.ran) fuzz::finding("a capture that is drawn on one device alone");
  if (const std::string text = fuzz::difference(one.pictures, two.pictures); !text.empty()) fuzz::finding("pictures differ: " + text);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size_B, size_t most_B);

/// Most of a file are words of shaders and texels; what is recorded stands at its end. A number there is changed half of the time.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size_B, size_t most_B, unsigned int seed) {
  std::minstd_rand random(seed);
  if (size_B < 64 || random() % 2) return LLVMFuzzerMutate(data, size_B, most_B);
  constexpr uint32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
    const size_t part = random() % 3 ? std::min<size_t>(size_B, 1200) : size_B;
    const size_t at = size_B - part + random() % (part - 4);
    const uint32_t width = random() % 3 ? 4 : 1, number = kNumbers[random() % std::size(kNumbers)];
    std::memcpy(data + at, &number, width);
  }
  return size_B;
}
