// fuzz/fuzz_glsl.cpp -- fuzzer: GLSL through glslang, what becomes of its messages, and the module that comes out.
//
// In: a byte that says which stage, then text. Wrong is: anything but an error with a sentence and, where there are any, lines that the
// text has, or a module. glslang itself is not watched by the sanitizers; that it crashes is seen.
#include <algorithm>

#include "common/bench.hpp"

using namespace tilegpu;

namespace {

constexpr VkShaderStageFlagBits kStages[] = {VK_SHADER_STAGE_VERTEX_BIT,
                                             VK_SHADER_STAGE_FRAGMENT_BIT,
                                             VK_SHADER_STAGE_COMPUTE_BIT,
                                             VK_SHADER_STAGE_GEOMETRY_BIT,
                                             VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
                                             VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT};
constexpr size_t kMost_B = 8 << 10;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B) return -1;
  fuzz::Choices choices(data, size_B);
  GlslSource source;
  source.stage = choices.of(kStages);
  source.text = choices.rest();
  source.file = "fuzzed.glsl";
  // No file of the machine is read: what stands there would decide what is found.
  if (source.text.find("include") != std::string::npos) return -1;
  std::vector<ShaderMessage> messages;
  auto words = compile_glsl(source, &messages);
  if (!words) {
    if (words.error().message.empty()) fuzz::finding("an error without a word");
    const auto lines = std::count(source.text.begin(), source.text.end(), '\n') + 1;
    for (const ShaderMessage& m : messages)
      if (m.line < 0 ||
          (m.file == source.file && !m.source_line.empty() && source.text.find(m.source_line) == std::string::npos && m.line <= lines))
        fuzz::finding("a message with a line that the text has not: " + m.text);
    return 0;
  }
  auto module = ShaderModule::create(*words, "fuzzed");
  if (!module && module.error().message.empty()) fuzz::finding("a module was refused without a word");
  if (module && (*module)->reflection().stage != source.stage) fuzz::finding("a module of another stage");
  return 0;
}
