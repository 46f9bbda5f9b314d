// fuzz/fuzz_capture.cpp -- fuzzer: captures, whole and with other numbers in them, through the reader and, where they can be drawn, through
// two devices.
//
// In: a capture's bytes, whose sizes and checksum are put right first (the first bit of a hash says when not); or bytes that choose what is
// recorded, saved, and changed at up to three of its numbers: so that no version of the format makes cases worthless. Wrong is: anything
// but an error or a recording; a capture that is not what was recorded, to the byte of all memory before and after it is executed; other
// pictures at 4 lanes without hidden-surface removal than at 8 lanes with it.
#include <algorithm>
#include <map>
#include <random>

#include "capture/bytes.hpp"
#include "capture/file.hpp"
#include "command/recording.hpp"
#include "common/bench.hpp"
#include "common/captured_work.hpp"
#include "pipeline/program.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;

namespace {

constexpr size_t kMost_B = 64 << 10;
constexpr uint64_t kMostPixels = 1 << 16, kMostVertices = 1 << 12;
constexpr char kMagic[] = "TILEGPU\n";
constexpr uint32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 16, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x7fc00000};

std::string case_path() { return fuzz::scratch_folder() + "/case.tgcap"; }

/// What lies behind a header; the header's profile.
struct Parts {
  bool is_capture = false;
  std::string profile;
  size_t payload_B = 0;
};
Parts parts_of(const uint8_t* data, size_t size_B) {
  capture::Reader reader({data, size_B});
  const uint8_t* magic = reader.take(sizeof kMagic - 1);
  Parts parts;
  const bool ours = magic && std::memcmp(magic, kMagic, sizeof kMagic - 1) == 0;
  reader.get<uint32_t>();
  reader.get_text("writer");
  parts.profile = reader.get_text("profile");
  reader.get<uint64_t>(), reader.get<uint64_t>();
  parts.is_capture = ours && reader.ok() && !reader.at_end();
  parts.payload_B = reader.left_B();
  return parts;
}

/// Written as it is, or with a header that is true.
void write_case(const uint8_t* data, size_t size_B, bool as_it_is) {
  const Parts parts = parts_of(data, size_B);
  if (as_it_is || !parts.is_capture) return fuzz::write_bytes(case_path(), {reinterpret_cast<const char*>(data), size_B});
  fuzz::take(capture::write_file(case_path(), parts.profile, {data + size_B - parts.payload_B, data + size_B}),
             "a capture can't be written");
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

DeviceCreateInfo plain_device() {
  DeviceCreateInfo info;
  info.threads = 1, info.lanes = 4, info.bin_px = 64, info.loop_budget = 2000, info.indirect_budget = 1 << 12;
  info.hsr = HiddenSurfaceRemoval{.visibility_buffer = false, .hierarchical_z = false};
  return info;
}
DeviceCreateInfo other_device() {
  DeviceCreateInfo info = plain_device();
  info.threads = 2, info.lanes = 8, info.bin_px = 32, info.hsr = HiddenSurfaceRemoval{};
  return info;
}

Expected<Capture> load(const Ptr<Device>& device) {
  Expected<Capture> capture = load_capture(device, case_path());
  if (!capture && capture.error().message.find("case.tgcap") == std::string::npos)
    fuzz::finding("an error without the file: " + capture.error().message);
  return capture;
}

// -- files from anywhere

struct Replay {
  bool ran = false;
  std::vector<uint8_t> pictures;
};

Replay replay(const DeviceCreateInfo& info) {
  Replay result;
  const Ptr<Device> device = fuzz::device(info, fuzz::Code::quick);
  Expected<Capture> capture = load(device);
  if (!capture) return result;
  Judge judge;
  for (const auto& cb : capture->command_buffers) judge.recording(*cb->recording());
  if (!judge.small) return result;
  auto done = device->submit_and_wait({capture->command_buffers, {}}, {});
  if (!done || !judge.has_one_result) return result;
  result.ran = true;
  for (const auto& view : capture->pictures) fuzz::append(result.pictures, *view->image());
  return result;
}

void compare_replays() {
  const Replay one = replay(plain_device());
  if (!one.ran) return;
  const Replay two = replay(other_device());
  if (!two.ran) fuzz::finding("a capture that is drawn on one device alone");
  if (const std::string text = fuzz::difference(one.pictures, two.pictures); !text.empty()) fuzz::finding("pictures differ: " + text);
}

// -- files of what is recorded here

std::vector<uint8_t> saved(const Ptr<Device>& device, const std::vector<Ptr<CommandBuffer>>& list) {
  fuzz::take(save_capture(device, list, case_path()), "what was recorded can't be saved");
  return fuzz::take(capture::read_file(case_path()), "what was saved can't be read").payload;
}

/// Read, saved and executed elsewhere it has the same bytes as what was recorded, before and after.
void compare_with_recorded(const Ptr<Device>& device, const fuzz::CapturedWork& work, const std::vector<uint8_t>& before) {
  const Ptr<Device> elsewhere = fuzz::device(other_device(), fuzz::Code::quick);
  const Capture capture = fuzz::take(load(elsewhere), "what was saved can't be loaded");
  if (const std::string text = fuzz::difference(before, saved(elsewhere, capture.command_buffers)); !text.empty())
    fuzz::finding("a capture of a capture is another one: " + text);
  const bool ran = static_cast<bool>(device->submit_and_wait({work.command_buffers, {}}, {}));
  const bool ran_there = static_cast<bool>(elsewhere->submit_and_wait({capture.command_buffers, {}}, {}));
  if (ran != ran_there) fuzz::finding("what was recorded and its capture are not both executed");
  if (!ran) return;
  if (const std::string text = fuzz::difference(saved(device, work.command_buffers), saved(elsewhere, capture.command_buffers));
      !text.empty())
    fuzz::finding("a capture leaves other memory than what was recorded: " + text);
}

/// The numbers of the file at `case_path`, up to where the reader gave up.
std::vector<capture::Taken> numbers_of_case() {
  std::vector<capture::Taken> all;
  capture::noted = &all;
  (void)load_capture(fuzz::device(plain_device(), fuzz::Code::quick), case_path());
  capture::noted = nullptr;
  all.erase(std::remove_if(all.begin(), all.end(), [](const capture::Taken& t) { return t.size_B == 0 || t.size_B > 8; }), all.end());
  return all;
}

/// Of a number that is there: another one that is likely to be taken for it.
uint64_t other_number(uint64_t there, uint32_t way, uint32_t word, uint64_t elsewhere) {
  switch (way % 5) {
    case 0:
      return kNumbers[word % std::size(kNumbers)];
    case 1:
      return there + 1 + word % 2;
    case 2:
      return there - 1 - word % 2;
    case 3:
      return elsewhere;
    default:
      return word & 1 ? there ^ uint64_t { 1 } << word / 2 % 64 : word;
  }
}

/// One of `numbers`, which lie before the end of `bytes`, becomes another.
void change(std::vector<uint8_t>& bytes, const std::vector<capture::Taken>& numbers, uint32_t which, uint32_t way, uint32_t word) {
  if (numbers.empty()) return;
  const capture::Taken &at = numbers[which % numbers.size()], &other = numbers[word / 7 % numbers.size()];
  if (at.left_B > bytes.size() || other.left_B > bytes.size()) return;
  uint64_t there = 0, elsewhere = 0;
  std::memcpy(&there, bytes.data() + bytes.size() - at.left_B, at.size_B);
  std::memcpy(&elsewhere, bytes.data() + bytes.size() - other.left_B, std::min(at.size_B, other.size_B));
  const uint64_t number = other_number(there, way, word, elsewhere);
  std::memcpy(bytes.data() + bytes.size() - at.left_B, &number, at.size_B);
}

void recorded_case(const uint8_t* data, size_t size_B) {
  fuzz::Choices c(data, size_B);
  struct Change {
    uint32_t which, way, word;
  };
  std::vector<Change> changes(c.below(4));
  for (Change& one : changes) one.which = c.half(), one.way = c.byte(), one.word = c.half();
  const Ptr<Device> device = fuzz::device(plain_device(), fuzz::Code::quick);
  const fuzz::CapturedWork work = fuzz::captured_work(c, device);
  if (!work.refused.empty()) return;
  std::vector<uint8_t> payload = saved(device, work.command_buffers);
  if (changes.empty()) return compare_with_recorded(device, work, payload);
  const std::vector<capture::Taken> numbers = numbers_of_case();
  for (const Change& one : changes) change(payload, numbers, one.which, one.way, one.word);
  fuzz::take(capture::write_file(case_path(), "host", payload), "a capture can't be written");
  compare_replays();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B) return -1;
  if (size_B >= sizeof kMagic - 1 && std::memcmp(data, kMagic, sizeof kMagic - 1) == 0) {
    write_case(data, size_B, fuzz::hash_of(data, size_B) % 16 == 0);
    compare_replays();
  } else {
    recorded_case(data, size_B);
  }
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size_B, size_t most_B);

/// Most of a file are words of shaders and texels; half of the time one to three of its numbers are changed as numbers.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size_B, size_t most_B, unsigned int seed) {
  std::minstd_rand random(seed);
  const bool is_file = size_B >= 64 && std::memcmp(data, kMagic, sizeof kMagic - 1) == 0;
  if (!is_file || random() % 2) return LLVMFuzzerMutate(data, size_B, most_B);
  static auto* const known = new std::map<uint64_t, std::vector<capture::Taken>>;
  if (known->size() > 4096) known->clear();
  const auto [of, is_new] = known->try_emplace(fuzz::hash_of(data, size_B));
  if (is_new) write_case(data, size_B, false), of->second = numbers_of_case();
  std::vector<uint8_t> bytes(data, data + size_B);
  for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
    const auto which = static_cast<uint32_t>(random()), way = static_cast<uint32_t>(random());
    change(bytes, of->second, which, way, static_cast<uint32_t>(random() >> 8));
  }
  std::copy(bytes.begin(), bytes.end(), data);
  return size_B;
}
