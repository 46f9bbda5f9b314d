// tests/test_recordings.cpp -- recordings are data: called from others, captured, suspended and resumed; equal bits. Submitted at once:
// test_recordings_at_once.cpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "check.hpp"
#include "exec/plan_cache.hpp"
#include "tilegpu/capture.hpp"

using namespace tilegpu;

namespace {

// Triangles around the middle, half transparent: what is drawn twice, or in another order, has other bits.
const char* kVertex = R"(#version 450
layout(push_constant) uniform Push { float turn; };
layout(location = 0) out vec3 v_color;
void main() {
  float a = turn + 2.0944 * gl_VertexIndex + 0.4 * gl_InstanceIndex;
  gl_Position = vec4(0.9 * cos(a), 0.9 * sin(a), 0.5, 1.0);
  v_color = vec3(gl_VertexIndex == 0, gl_VertexIndex == 1, 0.3 * gl_InstanceIndex);
})";
const char* kFragment = R"(#version 450
layout(location = 0) in vec3 v_color;
layout(location = 0) out vec4 o_color;
void main() { o_color = vec4(v_color, 0.37); })";
constexpr uint32_t kWidth_px = 300, kHeight_px = 200;

Ptr<ShaderModule> module(const char* text, VkShaderStageFlagBits stage) {
  auto words = compile_glsl({text, "test.glsl", stage, {}, {}});
  if (!CHECK_MESSAGE(words, words ? "" : words.error().message)) return nullptr;
  return *ShaderModule::create(*words, "test");
}

struct Target {
  Ptr<Image> image;
  Ptr<ImageView> view;

  Target() {
    image = *Image::create({.format = VK_FORMAT_R8G8B8A8_UNORM, .width_px = kWidth_px, .height_px = kHeight_px, .label = "out"});
    CHECK(image->ensure_memory());
    view = *ImageView::create({.image = image});
  }
  std::vector<uint8_t> pixels() const { return pixels_of(*image); }
  static std::vector<uint8_t> pixels_of(const Image& image) {
    const SubresourceLayout layout = image.layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0);
    std::vector<uint8_t> result;
    for (uint32_t y = 0; y < kHeight_px; y++) {
      const uint8_t* row = image.data() + layout.offset_B + y * layout.row_pitch_B;
      result.insert(result.end(), row, row + kWidth_px * 4);
    }
    return result;
  }
  RenderingInfo rendering(VkRenderingFlags flags = 0) const {
    RenderingAttachment color;
    color.view = view;
    color.load_op = VK_ATTACHMENT_LOAD_OP_CLEAR;
    color.clear.color = {{0.2f, 0.4f, 0.6f, 1.0f}};
    return {.flags = flags, .render_area = {{3, 5}, {kWidth_px - 20, kHeight_px - 10}}, .color = {color}, .label = "main"};
  }
};

struct Scene {
  Ptr<Device> device;
  Ptr<Pipeline> pipeline;
  Ptr<QueryPool> queries = std::make_shared<QueryPool>(QueryType::occlusion, 4);

  Scene() {
    device = *Device::create({.threads = 2, .cache_dir = "off"});
    GraphicsPipelineCreateInfo info;
    info.stages = {{module(kVertex, VK_SHADER_STAGE_VERTEX_BIT), {}}, {module(kFragment, VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
    info.layout = std::make_shared<PipelineLayout>(PipelineLayout{{}, 4});
    info.blend.attachments = {{VK_TRUE, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_OP_ADD,
                               VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD, 0xf}};
    info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
    info.label = "triangles";
    auto made = device->create_pipeline(info);
    if (CHECK_MESSAGE(made, made ? "" : made.error().message)) pipeline = *made;
  }

  Ptr<CommandBuffer> commands(VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY) const {
    return std::make_shared<CommandBuffer>(device, level);
  }
  // Draws [first, end) of the picture; the middle one with a scissor of its own and a query.
  void draw(CommandBuffer& cb, int first, int end) const {
    cb.bind_pipeline(pipeline);
    for (int i = first; i < end; i++) {
      const float turn = 0.7f * static_cast<float>(i);
      CHECK(cb.push_constants(0, &turn, 4));
      cb.set_scissor(i == 2 ? VkRect2D{{40, 30}, {200, 90}} : VkRect2D{{0, 0}, {kWidth_px, kHeight_px}});
      if (i == 2) CHECK(cb.begin_query(queries, 1, true));
      CHECK(cb.draw(3, 2, 0, 0));
      if (i == 2) CHECK(cb.end_query(queries, 1));
    }
    const VkClearValue value{.color = {{1.0f, 0.5f, 0.25f, 0.5f}}};
    if (end == 5) CHECK(cb.clear_attachment(0, VK_IMAGE_ASPECT_COLOR_BIT, value, {{3, 5}, {30, 25}}));
  }
  // The picture in one pass of one command buffer.
  Ptr<CommandBuffer> plain(const Target& target) const {
    auto cb = commands();
    CHECK(cb->begin());
    CHECK(cb->begin_rendering(target.rendering()));
    draw(*cb, 0, 5);
    CHECK(cb->end_rendering());
    CHECK(cb->end());
    return cb;
  }
  Ptr<Submission> run(std::vector<Ptr<CommandBuffer>> list) const {
    auto done = device->submit_and_wait({std::move(list), {}}, {});
    if (!CHECK_MESSAGE(done, done ? "" : done.error().message)) return nullptr;
    return *done;
  }
  std::vector<uint8_t> right(uint64_t* samples = nullptr) const {
    const Target target;
    run({plain(target)});
    if (samples) *samples = queries->values[1];
    return target.pixels();
  }
};

bool says(const Status& status, const char* part) { return !status && status.error().message.find(part) != std::string::npos; }

void states_are_kept() {
  const Scene s;
  const Target target;
  auto cb = s.commands();
  CHECK(cb->state() == CommandBufferState::initial);
  CHECK(says(cb->begin_rendering(target.rendering()), "initial"));
  CHECK(says(cb->end(), "initial"));
  CHECK(!s.device->submit({{cb}, {}}));
  cb->bind_pipeline(s.pipeline);  // before begin: begin says so, once
  CHECK(says(cb->begin(), "bind_pipeline"));
  CHECK(cb->begin());
  CHECK(says(cb->begin(), "recording"));
  CHECK(!cb->recording());
  CHECK(cb->begin_rendering(target.rendering()));
  CHECK(says(cb->end(), "still open"));
  CHECK(cb->end_rendering());
  CHECK(cb->end());
  CHECK(cb->state() == CommandBufferState::executable && cb->recording());
  CHECK(says(cb->draw(3, 1, 0, 0), "no pass"));
  CHECK(says(cb->reset_query_pool(s.queries, 0, 1), "executable"));
  auto first = s.device->submit({{cb}, {}});  // recorded anew while it may run
  CHECK(cb->begin());
  CHECK(!s.device->submit({{cb}, {}}));
  CHECK(first && (*first)->wait(-1) && !(*first)->error());
}

void plans_go_with_their_passes() {
  exec::PlanCache plans(8);
  std::vector<Ptr<const command::Pass>> kept;
  const auto add = [&] {
    auto pass = std::make_shared<const command::Pass>();
    CHECK(!plans.find(*pass));
    plans.keep(pass, std::make_shared<exec::PassPlan>());
    return pass;
  };
  for (int i = 0; i < 3; i++) kept.push_back(add());
  CHECK(kept[0]->id != kept[1]->id && kept[1]->id != kept[2]->id);
  const auto plan = plans.find(*kept[1]);
  CHECK(plan && plan != plans.find(*kept[0]));
  for (int i = 0; i < 100; i++) {  // passes that are executed once
    const std::weak_ptr<const command::Pass> gone = add();
    CHECK(gone.expired());
    CHECK(plans.size() <= 8);
    for (const auto& pass : kept) CHECK(plans.find(*pass));
  }
  for (int i = 0; i < 8; i++) CHECK(plans.find(*kept[1]) == plan);
  CHECK(plans.size() == 3);  // no more than what is alive
  for (int i = 0; i < 20; i++) {
    kept.push_back(add());
    CHECK(plans.size() <= 8 && plans.find(*kept.back()));
  }
  kept.clear();
  for (int i = 0; i < 10; i++) add();
  CHECK(plans.size() <= 2);
  plans.clear();
  CHECK(plans.size() == 0);
}

// Written to a file and read on another device: the same bits.
void captured(const Scene& s, const std::vector<Ptr<CommandBuffer>>& list, const std::vector<uint8_t>& right) {
  const std::string path = "test_recordings.tgcap";
  const Status saved = save_capture(s.device, list, path);
  if (!CHECK_MESSAGE(saved, saved ? "" : saved.error().message)) return;
  const auto device = *Device::create({.threads = 1, .lanes = 4, .cache_dir = "off"});
  auto capture = load_capture(device, path);
  std::remove(path.c_str());
  if (!CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) return;
  auto done = device->submit_and_wait({capture->command_buffers, {}}, {});
  if (!CHECK_MESSAGE(done, done ? "" : done.error().message) || !CHECK(capture->pictures.size() == 1)) return;
  CHECK(Target::pixels_of(*capture->pictures[0]->image()) == right);
}

// A pass that adds to what the image holds, all over it: between two of them all texels are equal, and a file has them so, although
// others go on submitting.
void captures_see_no_half_of_a_submission() {
  const Scene s;
  GraphicsPipelineCreateInfo info;
  info.stages = {
      {module("#version 450\nvoid main() { gl_Position = vec4(gl_VertexIndex == 1 ? 3 : -1, gl_VertexIndex == 2 ? 3 : -1, 0, 1); }",
              VK_SHADER_STAGE_VERTEX_BIT),
       {}},
      {module("#version 450\nlayout(location = 0) out vec4 o;\nvoid main() { o = vec4(1.0 / 255.0); }", VK_SHADER_STAGE_FRAGMENT_BIT), {}}};
  info.blend.attachments = {
      {VK_TRUE, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD, VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD, 0xf}};
  info.color_formats = {VK_FORMAT_R8G8B8A8_UNORM};
  info.label = "adds";
  auto pipeline = s.device->create_pipeline(info);
  if (!CHECK_MESSAGE(pipeline, pipeline ? "" : pipeline.error().message)) return;
  const Target target;
  std::vector<Ptr<CommandBuffer>> clear_and_add;
  for (const VkAttachmentLoadOp load : {VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_LOAD_OP_LOAD}) {
    RenderingInfo rendering = target.rendering();
    rendering.render_area = {{0, 0}, {kWidth_px, kHeight_px}};
    rendering.color[0].load_op = load, rendering.color[0].clear.color = {};
    clear_and_add.push_back(s.commands());
    CommandBuffer& cb = *clear_and_add.back();
    CHECK(cb.begin() && cb.begin_rendering(rendering));
    cb.bind_pipeline(*pipeline);
    cb.set_scissor({{0, 0}, {kWidth_px, kHeight_px}});
    CHECK(cb.draw(3, 1, 0, 0) && cb.end_rendering() && cb.end());
  }
  s.run(clear_and_add);
  std::atomic<bool> stop = false;
  std::thread other([&] {
    for (int i = 0; !stop; i++) {  // codes never reach 255
      auto queued = s.device->submit({{clear_and_add[i % 200 == 0 ? 0 : 1]}, {}});
      if (queued) (*queued)->wait(-1);
    }
  });
  const std::string path = "test_recordings_half.tgcap";
  const auto device = *Device::create({.threads = 1, .cache_dir = "off"});
  int torn = 0;
  for (int i = 0; i < 40; i++) {
    CHECK(save_capture(s.device, {clear_and_add[1]}, path));
    auto capture = load_capture(device, path);
    if (!CHECK_MESSAGE(capture, capture ? "" : capture.error().message)) break;
    CHECK(device->submit_and_wait({capture->command_buffers, {}}, {}));
    const auto pixels = Target::pixels_of(*capture->pictures[0]->image());
    torn += std::any_of(pixels.begin(), pixels.end(), [&](uint8_t code) { return code != pixels[0]; });
  }
  stop = true;
  other.join();
  std::remove(path.c_str());
  CHECK(torn == 0);
}

InheritanceInfo inheritance() { return {.color_formats = {VK_FORMAT_R8G8B8A8_UNORM}, .label = "part"}; }

void secondary_is_part_of_two_passes() {
  const Scene s;
  uint64_t samples = 0;
  const auto right = s.right(&samples);
  CHECK(samples > 0);
  auto secondary = s.commands(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  CHECK(secondary->begin(inheritance()));
  CHECK(says(secondary->end_rendering(), "was not begun here"));
  s.draw(*secondary, 1, 4);
  CHECK(secondary->end());
  Target targets[2];
  std::vector<Ptr<CommandBuffer>> primaries;
  for (const Target& target : targets) {
    auto cb = s.commands();
    CHECK(cb->begin());
    CHECK(says(cb->execute_commands({secondary}), "no pass is open"));
    CHECK(cb->begin_rendering(target.rendering()));
    s.draw(*cb, 0, 1);
    CHECK(cb->execute_commands({secondary}));
    s.draw(*cb, 4, 5);
    CHECK(cb->end_rendering());
    CHECK(cb->end());
    primaries.push_back(std::move(cb));
  }
  secondary.reset();  // what was executed stays
  const auto done = s.run(primaries);
  CHECK(done && done->pass_count() == 2 && done->pass_stats(1).draws == 5);
  for (const Target& target : targets) CHECK(target.pixels() == right);
  captured(s, primaries, right);
  CHECK(s.queries->values[1] == samples);
}

// Indices and indirect commands that lie in what the pass writes; in a secondary, which does not know the pass, as well.
void buffers_on_targets_are_feedback() {
  const Scene s;
  const Target target, other;
  const uint64_t row_B = target.image->layout(VK_IMAGE_ASPECT_COLOR_BIT, 0, 0).row_pitch_B;
  const auto on = [&](const Target& t) {
    auto buffer = *Buffer::create({.size_B = row_B, .usage = 0, .label = "rows"});
    CHECK(buffer->bind(t.image->memory(), 0));
    return buffer;
  };
  const auto record = [&](CommandBuffer& cb, const Ptr<Buffer>& buffer, int what) -> Status {
    const float turn = 0;
    cb.bind_pipeline(s.pipeline);
    CHECK(cb.push_constants(0, &turn, 4));
    cb.bind_index_buffer(buffer, 64, VK_INDEX_TYPE_UINT16);
    return what == 0 ? cb.draw_indexed(3, 1, 0, 0, 0) : what == 1 ? cb.draw_indirect(buffer, 64, 1, 16) : cb.draw(3, 1, 0, 0);
  };
  const char* who[] = {"index buffer 'rows' reads color0 of this pass", "indirect buffer 'rows' reads color0 of this pass"};
  for (int what = 0; what < 3; what++)
    for (const Target* t : {&target, &other}) {
      const bool meets = t == &target && what < 2;
      auto cb = s.commands(), secondary = s.commands(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
      CHECK(cb->begin() && cb->begin_rendering(target.rendering()));
      const Status direct = record(*cb, on(*t), what);
      CHECK(meets ? says(direct, who[what]) : static_cast<bool>(direct));
      InheritanceInfo info = inheritance();
      CHECK(secondary->begin(info) && record(*secondary, on(*t), what) && secondary->end());
      auto primary = s.commands();
      CHECK(primary->begin() && primary->begin_rendering(target.rendering()));
      const Status executed = primary->execute_commands({secondary});
      CHECK(meets ? says(executed, who[what]) : static_cast<bool>(executed));
    }
}

void secondary_that_does_not_fit_is_refused() {
  const Scene s;
  const Target target;
  InheritanceInfo info = inheritance();
  info.depth_format = VK_FORMAT_D32_SFLOAT;
  auto other = s.commands(VK_COMMAND_BUFFER_LEVEL_SECONDARY), outside = s.commands(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  CHECK(other->begin(info) && other->end());
  CHECK(outside->begin());
  CHECK(says(outside->execute_commands({other}), "secondary"));
  CHECK(outside->end());
  auto cb = s.commands();
  CHECK(!cb->begin(inheritance()));
  CHECK(cb->begin());
  CHECK(cb->execute_commands({outside}));
  CHECK(cb->begin_rendering(target.rendering()));
  CHECK(says(cb->execute_commands({other}), "formats"));
  CHECK(says(cb->execute_commands({outside}), "without inheritance"));
  CHECK(says(cb->execute_commands({nullptr}), "null"));
  CHECK(says(cb->execute_commands({cb}), "primary"));
  CHECK(cb->begin_query(s.queries, 0, true));
  auto draws = s.commands(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  CHECK(draws->begin(inheritance()) && draws->end());
  CHECK(says(cb->execute_commands({draws}), "occlusion_query"));
  CHECK(!s.device->submit({{outside}, {}}));
}

void suspended_pass_is_one_pass() {
  const Scene s;
  const auto right = s.right();
  const Target target;
  const VkRenderingFlags flags[3] = {VK_RENDERING_SUSPENDING_BIT, VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT,
                                     VK_RENDERING_RESUMING_BIT};
  const int draws[4] = {0, 2, 4, 5};
  std::vector<Ptr<CommandBuffer>> parts;
  for (int i = 0; i < 3; i++) {
    parts.push_back(s.commands());
    CHECK(parts[i]->begin());
    CHECK(parts[i]->begin_rendering(target.rendering(flags[i])));
    s.draw(*parts[i], draws[i], draws[i + 1]);
    CHECK(parts[i]->end_rendering());
    CHECK(parts[i]->end());
  }
  for (int again = 0; again < 2; again++) {
    const auto done = s.run(parts);
    if (!done || !CHECK(done->pass_count() == 1)) return;
    CHECK(done->pass_parts(0) == 3 && done->pass_stats(0).draws == 5);
    for (const AttachmentTraffic& row : done->pass_stats(0).traffic)
      CHECK(row.bytes[static_cast<size_t>(TrafficCause::load)] == 0);  // nothing left the tiles in between
    const auto rows = done->explain(0);
    CHECK(rows.size() == 3 && rows[0].part == 0 && rows[1].part == 1 && rows[1].first_draw == 2 && rows[2].first_draw == 4);
    CHECK(target.pixels() == right);
  }
  captured(s, parts, right);
  CHECK(!s.device->submit({{parts[0]}, {}}));            // not resumed
  CHECK(!s.device->submit({{parts[2]}, {}}));            // resumes nothing
  CHECK(!s.device->submit({{parts[0], parts[0]}, {}}));  // not by the next command
  const Target other;
  auto stranger = s.commands();
  CHECK(stranger->begin() && stranger->begin_rendering(other.rendering(VK_RENDERING_RESUMING_BIT)));
  CHECK(stranger->end_rendering() && stranger->end());
  CHECK(!s.device->submit({{parts[0], stranger}, {}}));  // another pass
}

// A wait that was recorded inside of a part stands before it, a timestamp of the driver's behind it: before and behind the whole pass.
void waits_and_timestamps_of_parts() {
  const Scene s;
  const auto right = s.right();
  const Target target;
  const auto set = std::make_shared<Event>(), set_later = std::make_shared<Event>();
  const auto stamps = std::make_shared<QueryPool>(QueryType::timestamp, 4);
  set->set();
  const auto part = [&](VkRenderingFlags flags, int first, int end, const Ptr<Event>& event, uint32_t stamp) {
    auto cb = s.commands();
    CHECK(cb->begin());
    if (stamp == 0) CHECK(cb->write_timestamp(stamps, 3));
    CHECK(cb->begin_rendering(target.rendering(flags)));
    s.draw(*cb, first, end);
    CHECK(cb->wait_events({event}));
    CHECK(cb->end_rendering());
    CHECK(cb->write_timestamp(stamps, stamp));
    CHECK(cb->end());
    return cb;
  };
  const std::vector<Ptr<CommandBuffer>> parts = {part(VK_RENDERING_SUSPENDING_BIT, 0, 2, set, 0),
                                                 part(VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT, 2, 4, set_later, 1),
                                                 part(VK_RENDERING_RESUMING_BIT, 4, 5, set, 2)};
  auto submitted = s.device->submit({parts, {}});
  if (!CHECK_MESSAGE(submitted, submitted ? "" : submitted.error().message)) return;
  while (!stamps->available[3]) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(!(*submitted)->signaled() && !stamps->available[0]);  // the pass waits, and so do its timestamps
  set_later->set();
  s.device->wait_idle();
  CHECK((*submitted)->pass_count() == 1 && (*submitted)->pass_parts(0) == 3);
  CHECK(target.pixels() == right);
  CHECK(stamps->values[3] < stamps->values[0] && stamps->values[0] <= stamps->values[1] && stamps->values[1] <= stamps->values[2]);
  captured(s, parts, right);
  auto between = s.commands();
  CHECK(between->begin() && between->set_event(set) && between->end());
  const auto refused = s.device->submit({{parts[0], between, parts[1], parts[2]}, {}});
  CHECK(!refused && refused.error().message.find("does not resume it") != std::string::npos);
}

void query_commands_are_executed_in_order() {
  const Scene s;
  const Target target;
  auto stamps = std::make_shared<QueryPool>(QueryType::timestamp, 2);
  auto buffer = *Buffer::create({64, VK_BUFFER_USAGE_TRANSFER_DST_BIT, "results"});
  CHECK(buffer->bind(*DeviceMemory::allocate(64), 0));
  auto cb = s.commands();
  CHECK(cb->begin());
  CHECK(cb->reset_query_pool(s.queries, 0, 4));
  CHECK(cb->write_timestamp(stamps, 0));
  CHECK(cb->begin_rendering(target.rendering()));
  CHECK(!cb->write_timestamp(stamps, 1));
  s.draw(*cb, 0, 5);
  CHECK(cb->end_rendering());
  CHECK(cb->write_timestamp(stamps, 1));
  CHECK(cb->copy_query_pool_results(s.queries, 0, 2, buffer, 8, 16, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT));
  CHECK(!cb->copy_query_pool_results(s.queries, 0, 4, buffer, 8, 16, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT));
  CHECK(!cb->write_timestamp(s.queries, 0));
  CHECK(!cb->reset_query_pool(stamps, 1, 2));
  CHECK(cb->end());
  std::memset(buffer->data(), 0xcc, 64);
  s.run({cb});
  uint64_t words[8];
  std::memcpy(words, buffer->data(), 64);
  CHECK(words[1] == 0xcccccccccccccccc && words[2] == 0);  // query 0: not available, value left out
  CHECK(words[3] == s.queries->values[1] && words[3] > 0 && words[4] == 1);
  CHECK(stamps->available[1] && stamps->values[1] > stamps->values[0]);
}

// Begun outside of passes a query counts in all of them until it ends: in whole passes, suspended ones, and parts of secondaries.
void query_around_passes() {
  const Scene s;
  const Target one, two;
  uint64_t samples = 0;  // of draw 2, by a query inside of the pass
  s.right(&samples);
  CHECK(samples > 0);
  const auto draw_2 = [&](CommandBuffer& cb) {
    cb.bind_pipeline(s.pipeline);
    const float turn = 1.4f;
    CHECK(cb.push_constants(0, &turn, 4));
    cb.set_scissor({{40, 30}, {200, 90}});
    CHECK(cb.draw(3, 2, 0, 0));
  };
  auto part = s.commands(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  CHECK(part->begin({.color_formats = {VK_FORMAT_R8G8B8A8_UNORM}, .occlusion_query = true, .label = "part"}));
  draw_2(*part);
  CHECK(part->end());
  auto cb = s.commands();
  CHECK(cb->begin());
  CHECK(cb->begin_query(s.queries, 3, true));
  CHECK(says(cb->begin_query(s.queries, 2, true), "another occlusion query is active"));
  CHECK(cb->begin_rendering(one.rendering()));
  CHECK(says(cb->begin_query(s.queries, 2, true), "another occlusion query is active"));
  draw_2(*cb);
  CHECK(says(cb->end_query(s.queries, 3), "inside pass 'main'"));
  CHECK(cb->end_rendering());
  CHECK(cb->begin_rendering(two.rendering(VK_RENDERING_SUSPENDING_BIT)));
  draw_2(*cb);
  CHECK(cb->end_rendering());
  CHECK(cb->begin_rendering(two.rendering(VK_RENDERING_RESUMING_BIT)));
  draw_2(*cb);
  CHECK(cb->execute_commands({part}));
  CHECK(cb->end_rendering());
  CHECK(says(cb->end(), "query 3 is active"));
  CHECK(cb->end_query(s.queries, 3));
  CHECK(cb->begin_rendering(one.rendering()));
  draw_2(*cb);  // after its end
  CHECK(cb->end_rendering());
  CHECK(cb->end());
  for (int again = 0; again < 2; again++) {
    s.run({cb});
    CHECK(s.queries->values[3] == 4 * samples && s.queries->available[3]);
  }
  const std::string path = "test_recordings_query.tgcap";
  CHECK(save_capture(s.device, {cb}, path));
  auto loaded = load_capture(s.device, path);
  if (!CHECK_MESSAGE(loaded, loaded ? "" : loaded.error().message)) return;
  s.run(loaded->command_buffers);
  std::remove(path.c_str());
}

}  // namespace

int main() {
  states_are_kept();
  plans_go_with_their_passes();
  captures_see_no_half_of_a_submission();
  secondary_is_part_of_two_passes();
  buffers_on_targets_are_feedback();
  secondary_that_does_not_fit_is_refused();
  suspended_pass_is_one_pass();
  waits_and_timestamps_of_parts();
  query_commands_are_executed_in_order();
  query_around_passes();
  return test::finish("test_recordings");
}
