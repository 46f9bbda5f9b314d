// tests/test_addresses.cpp -- addresses of buffers: who gets which, what is reached by them and when, memory that they share with images.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "device/device_state.hpp"
#include "resource/memory_contents.hpp"
#include "tilegpu/capture.hpp"
#include "tilegpu/event.hpp"

using namespace tilegpu;

namespace {

constexpr uint64_t kWindow_B = uint64_t{1} << 32;
constexpr VkBufferUsageFlags kAddressed = VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;

// to[i] = *from + 1, twice: what stands there is an address.
const char* kFollow = R"(#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(buffer_reference, std430) buffer Word { uint x; };
layout(buffer_reference, std430) buffer Chain { Word from; Word to; };
layout(push_constant) uniform Push { Chain chain; };
void main() { chain.to.x = chain.from.x + 1; })";

Ptr<Device> make_device() {
  DeviceCreateInfo info;
  info.threads = 2, info.cache_dir = "off";
  return *Device::create(info);
}

Ptr<Buffer> unbound(uint64_t size_B, VkBufferUsageFlags usage = kAddressed) { return *Buffer::create({size_B, usage, "buffer"}); }

Ptr<Buffer> bound(uint64_t size_B) {
  Ptr<Buffer> buffer = unbound(size_B);
  CHECK(buffer->bind(*DeviceMemory::allocate(size_B), 0));
  return buffer;
}

template <class T>
T& at(const Buffer& buffer, size_t index = 0) {
  return reinterpret_cast<T*>(buffer.data())[index];
}

struct Follow {
  Ptr<Device> device = make_device();
  Ptr<ComputePipeline> pipeline;

  Follow() {
    auto words = compile_glsl({kFollow, "follow.comp", VK_SHADER_STAGE_COMPUTE_BIT, {}, {}});
    if (!CHECK(words)) return;
    ComputePipelineCreateInfo info;
    info.stage.module = *device->create_shader_module(std::move(*words), "follow");
    auto made = device->create_pipeline(std::move(info));
    if (CHECK_MESSAGE(made, made ? "" : made.error().message)) pipeline = *made;
  }
  uint64_t address(const Ptr<Buffer>& buffer) const {
    auto given = device->buffer_address(buffer);
    CHECK(given);
    return given ? *given : 0;
  }
  Ptr<CommandBuffer> record(uint64_t chain, const Ptr<Event>& after = nullptr, const Ptr<Event>& begun = nullptr) const {
    auto commands = std::make_shared<CommandBuffer>(device);
    CHECK(commands->begin());
    if (begun) CHECK(commands->set_event(begun));
    if (after) CHECK(commands->wait_events({after}));
    commands->bind_pipeline(pipeline);
    CHECK(commands->push_constants(0, &chain, sizeof chain));
    CHECK(commands->dispatch(1, 1, 1));
    CHECK(commands->end());
    return commands;
  }
  void run(uint64_t chain) const { CHECK(device->submit_and_wait({{record(chain)}, {}}, {})); }
};

void addresses_are_given_in_order() {
  Ptr<Device> device = make_device();
  Ptr<Buffer> a = bound(64), b = bound(100), unused = bound(64);
  CHECK(a->device_address() == 0);
  CHECK(*device->buffer_address(b) == kWindow_B && *device->buffer_address(a) == 2 * kWindow_B);
  CHECK(*device->buffer_address(b) == kWindow_B && b->device_address() == kWindow_B);
  // What ends with a window takes the next one too, so that nothing lies behind its end.
  Ptr<Buffer> large = unbound(kWindow_B), next = bound(64);
  CHECK(*device->buffer_address(large) == 3 * kWindow_B && *device->buffer_address(next) == 5 * kWindow_B);
  b = nullptr;
  CHECK(*device->buffer_address(unused) == 6 * kWindow_B);  // the address of what is gone is not given again at once
  CHECK(!device->buffer_address(unbound(64, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)));
  CHECK(!device->buffer_address(nullptr));
  CHECK(!make_device()->buffer_address(a));
}

void captured_addresses_are_given_again() {
  Ptr<Device> device = make_device();
  Ptr<Buffer> a = bound(64), b = bound(64), c = bound(64);
  CHECK(*device->buffer_address(a, 2 * kWindow_B) == 2 * kWindow_B && *device->buffer_address(a, 2 * kWindow_B) == 2 * kWindow_B);
  CHECK(*device->buffer_address(b) == kWindow_B && *device->buffer_address(c) == 3 * kWindow_B);
  for (uint64_t wrong : {2 * kWindow_B, 7 * kWindow_B + 64, uint64_t{1} << 60, uint64_t{64}}) {
    auto given = device->buffer_address(bound(64), wrong);
    CHECK(!given && given.error().code == VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
  }
  CHECK(!device->buffer_address(a, 9 * kWindow_B));
  CHECK(!device->buffer_address(unbound(2 * kWindow_B), kWindow_B));  // another one lies in its way
}

void windows_come_back_after_long() {
  Ptr<Device> device = make_device();
  uint64_t highest = 0, last = 0;
  for (uint32_t i = 0; i < 70000; i++) {
    auto given = device->buffer_address(unbound(64));
    if (!CHECK(given)) return;
    last = *given, highest = std::max(highest, last);
  }
  CHECK(highest == 65535 * kWindow_B && last < 5000 * kWindow_B);
}

void what_is_there_is_reached() {
  Follow f;
  if (!f.pipeline) return;
  Ptr<Buffer> from = bound(64), to = bound(64), chain = bound(64);
  at<uint64_t>(*chain, 0) = f.address(from), at<uint64_t>(*chain, 1) = f.address(to);
  at<uint32_t>(*from) = 41;
  auto done = f.device->submit_and_wait({{f.record(f.address(chain))}, {}}, {});
  CHECK(at<uint32_t>(*to) == 42);
  CHECK(done && (*done)->explain_dispatch(0).reads_addresses && (*done)->explain_dispatch(0).writes_addresses);
  // A buffer that got memory after its address.
  Ptr<Buffer> late = unbound(64);
  at<uint64_t>(*chain, 0) = f.address(late);
  f.run(f.address(chain));
  CHECK(at<uint32_t>(*to) == 1);
  CHECK(late->bind(*DeviceMemory::allocate(128), 64));
  at<uint32_t>(*late) = 99;
  f.run(f.address(chain));
  CHECK(at<uint32_t>(*to) == 100);
  // One that is gone, and one whose address nobody asked for.
  late = nullptr;
  f.run(f.address(chain));
  CHECK(at<uint32_t>(*to) == 1);
}

// What there was when it was submitted can be reached until it has ended; what comes while it waits, from then on.
void what_an_execution_reaches() {
  Follow f;
  if (!f.pipeline) return;
  Ptr<Buffer> from = bound(64), to = bound(64), chain = bound(64);
  at<uint64_t>(*chain, 0) = f.address(from), at<uint64_t>(*chain, 1) = f.address(to);
  at<uint32_t>(*from) = 41;
  auto event = std::make_shared<Event>();
  auto before = f.device->submit({{f.record(0, event)}, {}});  // which keeps the queue
  auto waiting = f.device->submit({{f.record(f.address(chain))}, {}});
  if (!CHECK(before && waiting)) return;
  from = nullptr;  // a fault of the program, which must not be one of ours
  event->set();
  (*waiting)->wait(-1);
  CHECK(at<uint32_t>(*to) == 42);
  f.run(f.address(chain));
  CHECK(at<uint32_t>(*to) == 1);

  event->reset();
  auto begun = std::make_shared<Event>();
  waiting = f.device->submit({{f.record(f.address(chain), event, begun)}, {}});
  const std::atomic<bool> never = false;
  if (!CHECK(waiting) || !CHECK(begun->wait(never))) return;
  from = bound(64);
  at<uint32_t>(*from) = 6, at<uint64_t>(*chain, 0) = f.address(from);
  event->set();
  (*waiting)->wait(-1);
  CHECK(at<uint32_t>(*to) == 7);
}

// A dispatch in a file: with all that has an address, which is the same again.
void captures() {
  Follow f;
  if (!f.pipeline) return;
  Ptr<Buffer> first = bound(64), from = bound(64), to = bound(128), chain = bound(64);
  (void)f.address(first);
  at<uint64_t>(*chain, 0) = f.address(from) + 8, at<uint64_t>(*chain, 1) = f.address(to);
  first = nullptr;
  at<uint32_t>(*from, 2) = 41;
  const std::string path = "/tmp/tilegpu_addresses_" + std::to_string(getpid()) + ".capture";
  CHECK(save_capture(f.device, {f.record(f.address(chain))}, path));
  CHECK(at<uint32_t>(*to) == 0);
  Ptr<Device> other = make_device();
  auto capture = load_capture(other, path);
  if (CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) {
    CHECK(capture->addressed.size() == 3 && capture->buffers.size() == 3);
    CHECK(other->submit_and_wait({capture->command_buffers, {}}, {}));
    for (const Ptr<Buffer>& buffer : capture->buffers)
      if (buffer->size_B() == 128) CHECK(buffer->device_address() == to->device_address() && at<uint32_t>(*buffer) == 42);
  }
  auto taken = load_capture(f.device, path);
  CHECK(!taken && taken.error().message.find("allowed is one that no other buffer has") != std::string::npos);
  unlink(path.c_str());
}

// What a recording still has of a destroyed buffer comes without the address, which is another one's by now.
void captures_of_what_was_destroyed() {
  Follow f;
  if (!f.pipeline) return;
  Ptr<Buffer> old = unbound(32, kAddressed | VK_BUFFER_USAGE_TRANSFER_DST_BIT), from = bound(64), to = bound(128), chain = bound(64);
  CHECK(old->bind(*DeviceMemory::allocate(32), 0));
  const uint64_t address = f.address(old);
  auto commands = std::make_shared<CommandBuffer>(f.device);
  CHECK(commands->begin() && commands->fill_buffer(old, 0, 32, 5));
  commands->bind_pipeline(f.pipeline);
  at<uint64_t>(*chain, 0) = address, at<uint64_t>(*chain, 1) = f.address(to);
  const uint64_t where = f.address(chain);
  CHECK(commands->push_constants(0, &where, sizeof where) && commands->dispatch(1, 1, 1) && commands->end());
  resource::AddressSpace::give_up(*old);
  CHECK(*f.device->buffer_address(from, address) == address && resource::AddressSpace::address_of(*old) == 0);
  at<uint32_t>(*from) = 41;
  const std::string path = "/tmp/tilegpu_addresses_" + std::to_string(getpid()) + ".capture";
  CHECK(save_capture(f.device, {commands}, path));
  Ptr<Device> other = make_device();
  auto capture = load_capture(other, path);
  if (CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) {
    CHECK(other->submit_and_wait({capture->command_buffers, {}}, {}));
    for (const Ptr<Buffer>& buffer : capture->buffers)
      if (buffer->size_B() == 128) CHECK(at<uint32_t>(*buffer) == 42);
  }
  unlink(path.c_str());
}

// Stores by address change what is known of the bytes: those of an image that lies there too.
void memory_that_an_image_shares() {
  Follow f;
  if (!f.pipeline) return;
  ImageCreateInfo info;
  info.format = VK_FORMAT_R8G8B8A8_UNORM, info.width_px = info.height_px = 16;
  Ptr<Image> image = *Image::create(info);
  auto memory = *DeviceMemory::allocate(image->required_B());
  CHECK(image->bind(memory, 0));
  Ptr<Buffer> to = unbound(64), from = bound(64), chain = bound(64);
  CHECK(to->bind(memory, 0));
  at<uint64_t>(*chain, 0) = f.address(from), at<uint64_t>(*chain, 1) = f.address(to);
  const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  const uint64_t before = resource::content_version(*image, all);
  f.run(f.address(chain));
  CHECK(resource::content_version(*image, all) != before && at<uint32_t>(*to) == 1);
}

/// One thread asks for addresses while another one looks whether there are any, as a capture does, and two devices ask for one buffer's.
/// What is wrong here is for ThreadSanitizer to see, and an address on each of both devices.
void threads_ask_at_once() {
  const Ptr<Device> device = make_device(), other = make_device();
  std::vector<Ptr<Buffer>> buffers;
  for (int k = 0; k < 200; k++) buffers.push_back(bound(64));
  std::atomic<bool> go = false;
  std::vector<uint64_t> here(buffers.size()), there(buffers.size());
  const auto ask = [&](const Ptr<Device>& of, std::vector<uint64_t>& found) {
    while (!go) std::this_thread::yield();
    for (size_t k = 0; k < buffers.size(); k++)
      if (auto address = of->buffer_address(buffers[k]); address) found[k] = *address;
  };
  std::thread first(ask, std::cref(device), std::ref(here)), second(ask, std::cref(other), std::ref(there));
  std::vector<uint64_t> seen(buffers.size());
  go = true;
  for (int round = 0; round < 50; round++)
    for (size_t k = 0; k < buffers.size(); k++) {
      seen[k] |= resource::AddressSpace::address_of(*buffers[k]);
      seen[k] |= buffers[k]->device_address();
    }
  first.join(), second.join();
  for (size_t k = 0; k < buffers.size(); k++) {
    CHECK((here[k] != 0) != (there[k] != 0));
    CHECK(buffers[k]->device_address() == (here[k] | there[k]));
    CHECK(seen[k] == 0 || seen[k] == buffers[k]->device_address());  // no half of one, nor another
  }
}

}  // namespace

int main() {
  addresses_are_given_in_order();
  captured_addresses_are_given_again();
  windows_come_back_after_long();
  what_is_there_is_reached();
  what_an_execution_reaches();
  captures();
  captures_of_what_was_destroyed();
  memory_that_an_image_shares();
  threads_ask_at_once();
  return tilegpu::test::finish("addresses");
}
