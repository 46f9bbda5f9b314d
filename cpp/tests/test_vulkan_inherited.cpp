// tests/test_vulkan_inherited.cpp -- inheritedQueries and inheritedConditionalRendering: secondary command buffers that are executed while
// queries or conditional rendering are active, inside and outside of passes, count and draw what the same commands of a primary do.
// Source: Vulkan specification, "Secondary Command Buffer Execution", VkCommandBufferInheritanceInfo, "Conditional Rendering".
#include <array>

#include "vulkan_fixture.hpp"

using namespace tilegpu;
using namespace tilegpu::test;

namespace {

constexpr uint32_t kSide_px = 16, kPixels = kSide_px * kSide_px, kGroups = 3, kGroupSize = 8;
constexpr VkRect2D kArea = {{0, 0}, {kSide_px, kSide_px}};
constexpr uint32_t kGreen = 0xff00ff00U, kRed = 0xff0000ffU;
constexpr VkQueryPipelineStatisticFlags kAll = (1U << 11) - 1;
const char* const kVertex = R"(#version 450
void main() { gl_Position = vec4(vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2) * 2 - 1, 0, 1); })";
const char* const kFragment = "#version 450\nlayout(location = 0) out vec4 o; void main() { o = vec4(1, 0, 0, 1); }";
const char* const kCompute = "#version 450\nlayout(local_size_x = 8) in; void main() {}";

/// Where the commands are: in the primary's own pass, in a part of it, in a part of a part; or a pass of their own, with dispatches, in the
/// primary, in a secondary, in one that another executes.
enum class Place { pass, part, nested_part, own, secondary, nested };
constexpr bool is_own(Place place) { return place >= Place::own; }

struct Counts {
  uint64_t samples = 0, generated = 0;
  std::array<uint64_t, 11> statistics{};
  bool operator==(const Counts&) const = default;
};

struct Scene {
  Program p;
  PFN_vkCmdBeginConditionalRenderingEXT begin_condition = nullptr;
  PFN_vkCmdEndConditionalRenderingEXT end_condition = nullptr;
  VkRenderPass pass = nullptr;
  Program::BoundImage target{};
  VkFramebuffer framebuffer = nullptr;
  VkPipelineLayout layout = nullptr;
  VkPipeline draws = nullptr, computes = nullptr;
  Program::MappedBuffer words{}, seen{};
  VkQueryPool occlusion = nullptr, statistics = nullptr, generated = nullptr;

  Scene() {
    VkPhysicalDeviceFeatures2 enabled{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    VkPhysicalDeviceConditionalRenderingFeaturesEXT condition{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT, nullptr,
                                                              VK_TRUE, VK_TRUE};
    VkPhysicalDeviceNestedCommandBufferFeaturesEXT nests{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NESTED_COMMAND_BUFFER_FEATURES_EXT, &condition,
                                                         VK_TRUE, VK_TRUE};
    enabled.pNext = &nests;
    p.GetPhysicalDeviceFeatures(p.physical_device, &enabled.features);
    CHECK(enabled.features.inheritedQueries);
    p.remake_device({"VK_EXT_conditional_rendering", "VK_EXT_nested_command_buffer", "VK_EXT_primitives_generated_query"}, &enabled);
    p.load(begin_condition, "vkCmdBeginConditionalRenderingEXT"), p.load(end_condition, "vkCmdEndConditionalRenderingEXT");
    pass = p.one_subpass();
    target = p.image(VK_FORMAT_R8G8B8A8_UNORM, kSide_px, kSide_px, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    framebuffer = p.framebuffer(pass, {target.view}, kSide_px);
    layout = p.pipeline_layout({});
    draws = make_pipeline(p, kVertex, kFragment, layout, pass, 0), computes = p.compute_pipeline(kCompute, layout);
    words = p.buffer(8, VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT), seen = p.buffer(kPixels * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    occlusion = pool(VK_QUERY_TYPE_OCCLUSION), statistics = pool(VK_QUERY_TYPE_PIPELINE_STATISTICS, kAll);
    generated = pool(static_cast<VkQueryType>(VK_QUERY_TYPE_PRIMITIVES_GENERATED_EXT));
  }
  ~Scene() {
    for (const VkQueryPool q : {occlusion, statistics, generated}) p.DestroyQueryPool(p.device, q, nullptr);
    p.destroy(words), p.destroy(seen), p.destroy(target);
    for (const VkPipeline one : {draws, computes}) p.DestroyPipeline(p.device, one, nullptr);
    p.DestroyPipelineLayout(p.device, layout, nullptr);
    p.DestroyFramebuffer(p.device, framebuffer, nullptr);
    p.DestroyRenderPass(p.device, pass, nullptr);
  }
  VkQueryPool pool(VkQueryType type, VkQueryPipelineStatisticFlags which = 0) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = type, info.queryCount = 1, info.pipelineStatistics = which;
    VkQueryPool made = nullptr;
    CHECK(p.CreateQueryPool(p.device, &info, nullptr, &made) == VK_SUCCESS);
    return made;
  }

  void begin_pass(VkCommandBuffer c, VkSubpassContents contents = VK_SUBPASS_CONTENTS_INLINE) {
    const VkClearValue green{.color = {{0, 1, 0, 1}}};
    VkRenderPassBeginInfo begin{VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO};
    begin.renderPass = pass, begin.framebuffer = framebuffer, begin.renderArea = kArea;
    begin.clearValueCount = 1, begin.pClearValues = &green;
    p.CmdBeginRenderPass(c, &begin, contents);
  }
  void draw(VkCommandBuffer c) {
    const VkViewport viewport{0, 0, kSide_px, kSide_px, 0, 1};
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, draws);
    p.CmdSetViewport(c, 0, 1, &viewport);
    p.CmdSetScissor(c, 0, 1, &kArea);
    p.CmdDraw(c, 3, 2, 0, 0);
  }
  /// What is counted: draws, of a place with a pass of its own that pass and dispatches around it.
  void work(VkCommandBuffer c, bool own) {
    if (!own) return draw(c);
    p.CmdBindPipeline(c, VK_PIPELINE_BIND_POINT_COMPUTE, computes);
    p.CmdDispatch(c, kGroups, 1, 1);
    begin_pass(c);
    draw(c);
    p.CmdEndRenderPass(c);
    p.CmdDispatch(c, kGroups, 1, 1);
  }
  VkCommandBuffer begin_secondary(bool part, bool says = true) {
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, p.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY,
                                         1};
    VkCommandBuffer c = nullptr;
    CHECK(p.AllocateCommandBuffers(p.device, &allocate, &c) == VK_SUCCESS);
    const VkCommandBufferInheritanceConditionalRenderingInfoEXT condition{
        VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_CONDITIONAL_RENDERING_INFO_EXT, nullptr, VK_TRUE};
    VkCommandBufferInheritanceInfo inherits{VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO, says ? &condition : nullptr};
    if (part) inherits.renderPass = pass;
    inherits.occlusionQueryEnable = says, inherits.pipelineStatistics = says ? kAll : 0;
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    if (part) begin.flags |= VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
    begin.pInheritanceInfo = &inherits;
    CHECK(p.BeginCommandBuffer(c, &begin) == VK_SUCCESS);
    return c;
  }
  VkCommandBuffer secondary(bool part) {
    const VkCommandBuffer c = begin_secondary(part);
    work(c, !part);
    CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
    return c;
  }
  VkCommandBuffer executing(VkCommandBuffer other, bool part) {
    const VkCommandBuffer c = begin_secondary(part);
    p.CmdExecuteCommands(c, 1, &other);
    CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
    return c;
  }
  /// The work, wherever it is, twice.
  void place_work(VkCommandBuffer c, Place place) {
    if (place == Place::pass || place == Place::own) return work(c, is_own(place)), work(c, is_own(place));
    VkCommandBuffer inner = secondary(!is_own(place));
    if (place == Place::nested_part || place == Place::nested) inner = executing(inner, !is_own(place));
    const VkCommandBuffer twice[] = {inner, inner};
    p.CmdExecuteCommands(c, 2, twice);
  }
  void reset(VkCommandBuffer c) {
    for (const VkQueryPool q : {occlusion, statistics, generated}) p.CmdResetQueryPool(c, q, 0, 1);
  }
  void change_queries(VkCommandBuffer c, bool begin) {
    for (const VkQueryPool q : {occlusion, statistics, generated}) begin ? p.CmdBeginQuery(c, q, 0, 0) : p.CmdEndQuery(c, q, 0);
  }
  void change_condition(VkCommandBuffer c, bool begin, bool inverted) {
    const VkConditionalRenderingBeginInfoEXT info{VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT, nullptr, words.buffer, 4,
                                                  inverted ? VkConditionalRenderingFlagsEXT{VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT} : 0};
    begin ? begin_condition(c, &info) : end_condition(c);
  }
  void copy(VkCommandBuffer c) {
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, region.imageExtent = {kSide_px, kSide_px, 1};
    p.CmdCopyImageToBuffer(c, target.image, VK_IMAGE_LAYOUT_GENERAL, seen.buffer, 1, &region);
  }
  Counts counts() {
    Counts found;
    const auto get = [&](VkQueryPool q, size_t size_B, void* to) {
      CHECK(p.GetQueryPoolResults(p.device, q, 0, 1, size_B, to, size_B, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
    };
    get(occlusion, 8, &found.samples), get(statistics, sizeof found.statistics, found.statistics.data()),
        get(generated, 8, &found.generated);
    return found;
  }
  bool is(uint32_t color) const {
    bool all = true;
    for (uint32_t i = 0; i < kPixels; ++i) all = all && std::memcmp(seen.data + size_t{4} * i, &color, 4) == 0;
    return all;
  }
};

/// `around`: queries and condition are begun before the pass, where the place is one of a pass.
struct Case {
  Place place;
  bool around, queries, condition, inverted;
};

void record_case(Scene& s, VkCommandBuffer c, const Case& k) {
  const auto change = [&](bool begin) {
    if (begin && k.queries) s.change_queries(c, true);
    if (k.condition) s.change_condition(c, begin, k.inverted);
    if (!begin && k.queries) s.change_queries(c, false);
  };
  s.reset(c);
  if (is_own(k.place)) {
    change(true);
    s.place_work(c, k.place);
    change(false);
  } else {
    const bool parts = k.place != Place::pass;
    if (k.around) change(true);
    s.begin_pass(c, parts && k.around ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE);
    if (!k.around) change(true);
    s.place_work(c, k.place);
    if (!k.around) change(false);
    s.p.CmdEndRenderPass(c);
    if (k.around) change(false);
  }
  s.copy(c);
}

void counted_and_drawn_as_by_a_primary() {
  Scene s;
  const auto run = [&](const Case& k, uint32_t word) {
    const uint32_t both[2] = {~word, word};
    std::memcpy(s.words.data, both, sizeof both);
    const VkCommandBuffer c = s.p.begin();
    record_case(s, c, k);
    s.p.run(c);
    CHECK_MESSAGE(s.p.said.empty(), s.p.said.empty() ? "" : s.p.said.back());
    s.p.said.clear();
    const bool drawn = !k.condition || (word != 0) != k.inverted;
    CHECK(s.is(drawn ? kRed : kGreen));
    if (!k.queries) return Counts{};
    const Counts found = s.counts();
    CHECK(found.samples == (drawn ? 2u * 2 * kPixels : 0) && found.statistics[0] == (drawn ? 2u * 2 * 3 : 0));
    CHECK(found.generated == (drawn ? 4u : 0));
    CHECK(found.statistics[10] == (drawn && is_own(k.place) ? 2u * 2 * kGroups * kGroupSize : 0));
    return found;
  };
  for (const bool around : {false, true})
    for (const bool queries : {false, true})
      for (const uint32_t how : {0u, 1u, 2u, 3u, 4u})
        for (const bool own : {false, true}) {
          const auto of = [&](Place place) { return run({place, around, queries, how > 0, how % 2 == 0}, how > 2); };
          const Counts want = of(own ? Place::own : Place::pass);
          CHECK(of(own ? Place::secondary : Place::part) == want);
          CHECK(of(own ? Place::nested : Place::nested_part) == want);
        }
}

/// The same command buffer, with another word.
void conditions_are_read_again() {
  Scene s;
  const VkCommandBuffer c = s.p.begin();
  record_case(s, c, {Place::nested, true, true, true, false});
  CHECK(s.p.EndCommandBuffer(c) == VK_SUCCESS);
  for (const uint32_t word : {0u, 1u, 0u}) {
    std::memcpy(s.words.data + 4, &word, 4);
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1, info.pCommandBuffers = &c;
    CHECK(s.p.QueueSubmit(s.p.queue, 1, &info, nullptr) == VK_SUCCESS && s.p.QueueWaitIdle(s.p.queue) == VK_SUCCESS);
    CHECK(s.is(word ? kRed : kGreen) && s.counts().samples == (word ? 2u * 2 * kPixels : 0));
  }
}

void what_is_not_said_or_begun_twice_is_refused() {
  Scene s;
  Program& p = s.p;
  const auto expect = [&](const char* message, bool queries, bool condition, bool own, const auto& recorded) {
    const VkCommandBuffer inner = recorded();
    const VkCommandBuffer c = p.begin();
    s.reset(c);
    if (!own) s.begin_pass(c);
    if (queries) p.CmdBeginQuery(c, s.occlusion, 0, 0);
    if (condition) s.change_condition(c, true, false);
    p.CmdExecuteCommands(c, 1, &inner);
    CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
    CHECK_MESSAGE(p.heard(message), std::string(message) + ", but: " + (p.said.empty() ? "nothing" : p.said.back()));
    p.said.clear();
  };
  for (const bool own : {false, true}) {
    const auto silent = [&] {
      const VkCommandBuffer c = s.begin_secondary(!own, false);
      s.work(c, own);
      CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
      return c;
    };
    expect("its inheritance info does not say occlusion_query", true, false, own, silent);
    expect("its inheritance info does not say conditional_rendering", false, true, own, silent);
    const auto conditional = [&] {
      const VkCommandBuffer c = s.begin_secondary(!own);
      s.change_condition(c, true, false);
      s.work(c, own);
      s.change_condition(c, false, false);
      CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
      return c;
    };
    expect("conditional rendering is active, and the secondary begins one of its own", false, true, own, conditional);
    const auto querying = [&] {
      const VkCommandBuffer c = s.begin_secondary(!own);
      p.CmdBeginQuery(c, s.occlusion, 0, 0);
      s.work(c, own);
      p.CmdEndQuery(c, s.occlusion, 0);
      CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
      return c;
    };
    expect("an occlusion query is active, and the secondary begins one of its own", true, false, own, querying);
  }
}

/// Of each type of query there is one at a time, Vulkan says; of two types one of each.
void another_type_of_query_may_begin() {
  Scene s;
  Program& p = s.p;
  for (const bool same : {false, true}) {
    const VkQueryPool inner = same ? s.pool(VK_QUERY_TYPE_PIPELINE_STATISTICS, kAll) : s.generated;
    const VkCommandBuffer part = s.begin_secondary(true);
    p.CmdBeginQuery(part, inner, 0, 0);
    s.draw(part);
    p.CmdEndQuery(part, inner, 0);
    CHECK(p.EndCommandBuffer(part) == VK_SUCCESS);
    const VkCommandBuffer c = p.begin();
    s.reset(c), p.CmdResetQueryPool(c, inner, 0, 1);
    s.begin_pass(c);
    p.CmdBeginQuery(c, s.statistics, 0, 0);
    p.CmdExecuteCommands(c, 1, &part);
    p.CmdEndQuery(c, s.statistics, 0);
    p.CmdEndRenderPass(c);
    p.run(c);
    CHECK(p.heard("a query of what stages do is active, and the secondary begins one of its own") == same && p.said.size() == same);
    p.said.clear();
    std::array<uint64_t, 11> outer{};
    CHECK(p.GetQueryPoolResults(p.device, s.statistics, 0, 1, sizeof outer, &outer, sizeof outer, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
    CHECK(outer[0] == 6);
    uint64_t generated = 0;
    if (same)
      p.DestroyQueryPool(p.device, inner, nullptr);
    else
      CHECK(p.GetQueryPoolResults(p.device, inner, 0, 1, 8, &generated, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS && generated == 2);
  }
}

/// A secondary that says what may be active around it executes one that does not say so, or begins its own: right where nothing is active,
/// refused where it is.
void what_may_be_active_is_asked_where_it_is() {
  Scene s;
  Program& p = s.p;
  enum class Inner { silent, queries, conditions };
  const auto make = [&](Inner inner, bool own) {
    const VkCommandBuffer c = s.begin_secondary(!own, false);
    if (inner == Inner::queries) p.CmdBeginQuery(c, s.occlusion, 0, 0);
    if (inner == Inner::conditions) s.change_condition(c, true, false);
    s.work(c, own);
    if (inner == Inner::conditions) s.change_condition(c, false, false);
    if (inner == Inner::queries) p.CmdEndQuery(c, s.occlusion, 0);
    CHECK(p.EndCommandBuffer(c) == VK_SUCCESS);
    return s.executing(s.executing(c, !own), !own);
  };
  enum class Active { none, occlusion, statistics, condition };
  const auto run = [&](VkCommandBuffer executed, bool own, Active active) {
    const VkCommandBuffer c = p.begin();
    s.reset(c);
    if (!own) s.begin_pass(c);
    if (active == Active::occlusion) p.CmdBeginQuery(c, s.occlusion, 0, 0);
    if (active == Active::statistics) p.CmdBeginQuery(c, s.statistics, 0, 0);
    if (active == Active::condition) s.change_condition(c, true, false);
    p.CmdExecuteCommands(c, 1, &executed);
    if (active != Active::none) {
      CHECK(p.EndCommandBuffer(c) != VK_SUCCESS);
      return;
    }
    if (!own) p.CmdEndRenderPass(c);
    s.copy(c);
    p.run(c);
    CHECK_MESSAGE(p.said.empty(), p.said.empty() ? "" : p.said.back());
    CHECK(s.is(kRed));
  };
  const auto expect = [&](const char* message) {
    CHECK_MESSAGE(p.heard(message), std::string(message) + ", but: " + (p.said.empty() ? "nothing" : p.said.back()));
    p.said.clear();
  };
  std::memset(s.words.data, 1, 8);
  for (const bool own : {false, true}) {
    for (const Inner inner : {Inner::silent, Inner::queries, Inner::conditions}) {
      run(make(inner, own), own, Active::none);
      uint64_t samples = 0;
      if (inner != Inner::queries) continue;
      CHECK(p.GetQueryPoolResults(p.device, s.occlusion, 0, 1, 8, &samples, 8, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS);
      CHECK(samples == uint64_t{2} * kPixels);
    }
    const VkCommandBuffer silent = make(Inner::silent, own);
    run(silent, own, Active::occlusion), expect("does not say occlusion_query, or that of one that it executes does not");
    run(silent, own, Active::condition), expect("does not say conditional_rendering, or that of one that it executes does not");
    run(silent, own, Active::statistics), expect("with all that it counts, or that of one that it executes does not");
    run(make(Inner::queries, own), own, Active::occlusion), expect("an occlusion query is active, and the secondary begins one of its own");
    run(make(Inner::conditions, own), own, Active::condition),
        expect("conditional rendering is active, and the secondary begins one of its own");
  }
}

/// The condition lies in what the pass draws to: an error of the recording, wherever the pass is.
void conditions_are_not_drawn() {
  Scene s;
  Program& p = s.p;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = kPixels * 4, info.usage = VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT;
  VkBuffer buffer = nullptr;
  CHECK(p.CreateBuffer(p.device, &info, nullptr, &buffer) == VK_SUCCESS);
  CHECK(p.BindBufferMemory(p.device, buffer, s.target.memory, 0) == VK_SUCCESS);
  std::swap(s.words.buffer, buffer);
  const auto refused = [&](VkCommandBuffer c) {
    CHECK(p.EndCommandBuffer(c) != VK_SUCCESS && p.heard("conditional rendering by buffer"));
    p.said.clear();
  };
  for (const Place place : {Place::pass, Place::part, Place::nested_part, Place::own, Place::secondary, Place::nested}) {
    const VkCommandBuffer c = p.begin();
    record_case(s, c, {place, true, false, true, false});
    refused(c);
  }
  const VkCommandBuffer inner = s.secondary(false), outer = s.begin_secondary(false);
  s.change_condition(outer, true, false);
  p.CmdExecuteCommands(outer, 1, &inner);
  s.change_condition(outer, false, false);
  refused(outer);
  // Nothing is lost by it.
  std::swap(s.words.buffer, buffer);
  std::memset(s.words.data, 1, 8);
  const VkCommandBuffer c = p.begin();
  record_case(s, c, {Place::nested, true, false, true, false});
  p.run(c);
  CHECK(s.is(kRed) && p.said.empty());
  p.DestroyBuffer(p.device, buffer, nullptr);
}

}  // namespace

int main() {
  counted_and_drawn_as_by_a_primary();
  conditions_are_read_again();
  what_is_not_said_or_begun_twice_is_refused();
  another_type_of_query_may_begin();
  what_may_be_active_is_asked_where_it_is();
  conditions_are_not_drawn();
  return finish("test_vulkan_inherited");
}
