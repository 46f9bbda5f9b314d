// shader/module/glsl.cpp -- GLSL text to SPIR-V through glslang (C++ interface: only it takes file names and an includer).
//
// In: GlslSource. Out: SPIR-V 1.6 for the Vulkan 1.3 environment with OpName and OpLine, or every error of the compile with file,
// line and source line. Thread-safe: glslang keeps its state per thread, the process is initialised once.
// Source: glslang 12, ShaderLang.h; GL_GOOGLE_include_directive.
#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/host_memory.hpp"
#include "base/large_stack.hpp"
#include "shader/module/glsl.hpp"
#include "shader/module/glsl_size.hpp"
#include "tilegpu/pipeline.hpp"
#include "tilegpu/shader.hpp"

namespace tilegpu {
namespace {

constexpr size_t kMaxSource_B = 16u << 20;
constexpr size_t kMaxMessages = 100;
constexpr size_t kMaxText_B = 1000;
constexpr size_t kMaxIncludeDepth = 64;
// glslang calls itself for each level of an expression: a sum of n terms is n deep, with some 400 bytes in each of two functions. A text
// without includes of so few bytes has no depth that a usual thread's stack does not hold.
constexpr size_t kFlatSource_B = 4u << 10;
constexpr size_t kStack_B = size_t{1} << 30;

/// Text of every file that took part, by the name that glslang prints; messages quote their line from here.
using Files = std::map<std::string, std::string>;

std::string directory_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

/// #include "x" looks beside the including file, then in the include directories; #include <x> only in the latter.
class DirectoryIncluder : public glslang::TShader::Includer {
 public:
  DirectoryIncluder(const std::string& folder, const GlslSource& source, Files& files) : folder_(folder), source_(source), files_(files) {}

  // glslang asks includeSystem after an includeLocal that found nothing, which leaves word of where it looked.
  IncludeResult* includeLocal(const char* name, const char* includer, size_t depth) override {
    const std::string from = *includer ? includer : source_.file.c_str();
    searched_.clear();
    why_.clear();
    IncludeResult* found = *name == '/' ? nullptr : open(directory_of(from), name, depth);
    if (found) searched_.clear();
    return found;
  }
  IncludeResult* includeSystem(const char* name, const char*, size_t depth) override {
    IncludeResult* found = nullptr;
    if (*name == '/') found = open("", name, depth);
    for (size_t i = 0; !found && *name != '/' && i < source_.include_dirs.size(); ++i) found = open(source_.include_dirs[i], name, depth);
    if (!found) found = refused(name);
    searched_.clear();
    why_.clear();
    return found;
  }
  void releaseInclude(IncludeResult* result) override {
    if (!result) return;
    delete static_cast<std::string*>(result->userData);
    delete result;
  }

 private:
  IncludeResult* open(const std::string& directory, const std::string& name, size_t depth) {
    const std::string path = directory.empty() ? name : directory + "/" + name;
    if (name[0] != '/') searched_ += (searched_.empty() ? "" : ", ") + (directory.empty() ? "the working directory" : directory);
    if (depth > kMaxIncludeDepth) return because("files include each other more than " + std::to_string(kMaxIncludeDepth) + " deep");
    if (path[0] != '/' && folder_.empty()) return nullptr;
    const std::string where = path[0] == '/' ? path : folder_ + "/" + path;
    struct stat status{};
    if (::stat(where.c_str(), &status) != 0) return nullptr;
    if (!S_ISREG(status.st_mode)) return because(path + " is no regular file");  // a pipe would wait, a device never ends
    if (static_cast<uint64_t>(status.st_size) > kMaxSource_B)
      return because(path + " has " + std::to_string(status.st_size) + " bytes; at most " + std::to_string(kMaxSource_B) + " are read");
    std::ifstream stream(where, std::ios::binary);
    std::ostringstream text;
    // What has no size is empty, or no file of anybody's: those of /proc and /sys tell of the machine, and some wait.
    if (status.st_size > 0) text << stream.rdbuf();
    if (!stream || text.str().size() > kMaxSource_B) return because(path + " can't be read");
    std::string read = text.str();
    if (read.compare(0, 3, "\xef\xbb\xbf") == 0) read.erase(0, 3);  // what some editors begin UTF-8 with
    files_[path] = read;
    auto* content = new std::string(std::move(read));
    return new IncludeResult(path, content->data(), content->size(), content);
  }
  IncludeResult* because(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return nullptr;
  }
  /// An answer without a name is an error whose text it is.
  IncludeResult* refused(const std::string& name) {
    std::string text = why_;
    if (text.empty() && name[0] == '/') text = "there is no such file";
    if (text.empty() && searched_.empty()) text = "no folder is searched for <...>; name it among the include folders";
    if (text.empty()) text = "it is in no folder that was searched (" + searched_ + "); name it among the include folders";
    auto* content = new std::string("'" + name + "': " + text);
    return new IncludeResult("", content->data(), content->size(), content);
  }

  const std::string& folder_;
  const GlslSource& source_;
  Files& files_;
  std::string searched_, why_;  // of the directive that is being answered
};

std::string line_of(const std::string& text, int line) {
  assert(line >= 0);
  size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  std::string result = text.substr(begin, text.find('\n', begin) - begin);
  while (!result.empty() && (result.back() == '\r' || result.back() == ' ' || result.back() == '\t')) result.pop_back();
  return result;
}

/// One line of glslang's log, "ERROR: file:12: 'x' : undeclared identifier", taken apart. The file may contain colons, so the
/// known names are tried first. False for lines that only count or repeat.
bool parse_log_line(const std::string& line, const Files& files, ShaderMessage& message) {
  assert(message.text.empty() && message.line == 0);
  static const std::string kPrefix = "ERROR: ";
  if (line.compare(0, kPrefix.size(), kPrefix) != 0) return false;
  const std::string rest = line.substr(kPrefix.size());
  if (rest.find("compilation errors.  No code generated") != std::string::npos || rest.find("compilation terminated") != std::string::npos)
    return false;
  size_t after_file = std::string::npos;
  for (const auto& [name, text] : files) {
    if (rest.compare(0, name.size(), name) == 0 && rest.size() > name.size() && rest[name.size()] == ':') {
      message.file = name;
      after_file = name.size() + 1;
    }
  }
  if (after_file == std::string::npos) {
    const size_t colon = rest.find(':');
    const size_t second = colon == std::string::npos ? colon : rest.find(':', colon + 1);
    const bool numbered = second != std::string::npos && second > colon + 1 &&
                          std::all_of(rest.begin() + colon + 1, rest.begin() + second, [](char c) { return c >= '0' && c <= '9'; });
    if (!numbered) {
      message.text = rest;
      return true;
    }
    message.file = rest.substr(0, colon);
    after_file = colon + 1;
  }
  char* end = nullptr;
  const long number = std::strtol(rest.c_str() + after_file, &end, 10);
  message.line = static_cast<int>(std::clamp(number, 0l, 1l << 30));
  message.text = *end == ':' ? end + 1 : end;
  message.text.erase(0, message.text.find_first_not_of(' '));
  while (!message.text.empty() && message.text.back() == ' ') message.text.pop_back();
  if (message.text.compare(0, 5, "'' : ") == 0) message.text.erase(0, 5);
  message.text.erase(0, message.text.find_first_not_of(' '));
  if (message.text == "memory exhausted")  // bison's words for its stack of 10,000 symbols
    message.text = "expressions or statements are nested too deep for glslang's parser, thousands of levels; make it several statements";
  if (message.text.compare(0, 13, "'#include' : ") == 0)
    message.text.erase(std::min(message.text.rfind(" for header name: "), message.text.size()));
  if (const auto file = files.find(message.file); file != files.end()) message.source_line = line_of(file->second, message.line);
  return true;
}

std::vector<ShaderMessage> parse_log(const std::string& log, const Files& files) {
  std::vector<ShaderMessage> messages;
  std::istringstream lines(log);
  bool goes_on = false;  // what follows without a prefix belongs to the last message: lists of extensions
  for (std::string line; std::getline(lines, line) && messages.size() < kMaxMessages;) {
    ShaderMessage message;
    if (!parse_log_line(line, files, message)) {
      const bool is_list = goes_on && line.compare(0, 3, "GL_") == 0 && messages.back().text.size() < kMaxText_B;
      if (is_list) messages.back().text += (messages.back().text.back() == ':' ? " " : ", ") + line;
      goes_on = is_list;
      continue;
    }
    const bool repeated = std::any_of(messages.begin(), messages.end(), [&](const ShaderMessage& other) {
      return other.file == message.file && other.line == message.line && other.text == message.text;
    });
    if (!repeated) messages.push_back(std::move(message));
    goes_on = !repeated && !messages.back().text.empty();
  }
  return messages;
}

struct StageName {
  VkShaderStageFlagBits stage;
  EShLanguage language;
  const char* name;
};
constexpr StageName kStages[] = {
    {VK_SHADER_STAGE_VERTEX_BIT, EShLangVertex, "vertex"},
    {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, EShLangTessControl, "tessellation control"},
    {VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, EShLangTessEvaluation, "tessellation evaluation"},
    {VK_SHADER_STAGE_GEOMETRY_BIT, EShLangGeometry, "geometry"},
    {VK_SHADER_STAGE_FRAGMENT_BIT, EShLangFragment, "fragment"},
    {VK_SHADER_STAGE_COMPUTE_BIT, EShLangCompute, "compute"},
    {VK_SHADER_STAGE_TASK_BIT_EXT, EShLangTask, "task"},
    {VK_SHADER_STAGE_MESH_BIT_EXT, EShLangMesh, "mesh"},
};

/// Null: no shader of it is compiled.
const StageName* find_stage(VkShaderStageFlagBits stage) {
  const auto found = std::find_if(std::begin(kStages), std::end(kStages), [&](const StageName& s) { return s.stage == stage; });
  return found == std::end(kStages) ? nullptr : found;
}

Error make_error(const GlslSource& source, const std::vector<ShaderMessage>& messages) {
  const StageName* known = find_stage(source.stage);
  const char* stage = known ? known->name : "unknown";
  std::string text = std::string(stage) + " shader '" + source.file + "' does not compile: " + std::to_string(messages.size()) +
                     (messages.size() == 1 ? " error" : " errors");
  for (const ShaderMessage& message : messages) {
    text += "\n  ";
    if (message.line > 0) text += message.file + ":" + std::to_string(message.line) + ": ";
    text += message.text;
    const size_t begin = message.source_line.find_first_not_of(" \t");
    if (begin != std::string::npos) text += "\n      | " + message.source_line.substr(begin);
  }
  return {VK_ERROR_INVALID_SHADER_NV, text};
}

/// The definitions as glslang's preamble. Empty string on success, else what is wrong with a name.
std::string make_preamble(const GlslSource& source, std::string& preamble) {
  assert(preamble.empty());
  for (const auto& [name, value] : source.defines) {
    const bool name_ok = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '(' || c == ')' || c == ',';
    });
    if (!name_ok) return "define '" + name + "' is not a GLSL name";
    if (value.find('\n') != std::string::npos) return "the value of define '" + name + "' has a line break; one line is allowed";
    preamble.append("#define ").append(name).append(" ").append(value).append("\n");
  }
  // The includer only answers where the extension is on; asking for it here saves every shader the directive.
  preamble += "#extension GL_GOOGLE_include_directive : enable\n";
  return {};
}

/// glslang's limits, but for workgroups of task and mesh shaders, which are 128 there.
static const TBuiltInResource& resources() {
  static const TBuiltInResource known = [] {
    TBuiltInResource r = *GetDefaultResources();
    constexpr int kMost = static_cast<int>(kMaxWorkgroupInvocations);
    r.maxMeshWorkGroupSizeX_EXT = r.maxMeshWorkGroupSizeY_EXT = r.maxMeshWorkGroupSizeZ_EXT = kMost;
    r.maxTaskWorkGroupSizeX_EXT = r.maxTaskWorkGroupSizeY_EXT = r.maxTaskWorkGroupSizeZ_EXT = kMost;
    return r;
  }();
  return known;
}

/// What glslang would take minutes or gigabytes for, though the text is short. Empty: it is not.
std::string is_too_much(const GlslSource& source) {
  if (source.text.size() <= kFlatSource_B && source.text.find("define") == std::string::npos && source.defines.empty()) return {};
  const shader::GlslSize size = shader::measure_glsl(source.text, source.defines);
  if (size.tokens > shader::kMaxGlslTokens)
    return "with its macros the text has " + (size.tokens >= uint64_t{1} << 40 ? "more than 2^40" : std::to_string(size.tokens)) +
           " tokens; at most " + std::to_string(shader::kMaxGlslTokens) + " are compiled";
  if (size.cases > shader::kMaxSwitchCases)
    return "a switch has " + std::to_string(size.cases) + " cases; at most " + std::to_string(shader::kMaxSwitchCases) +
           " are allowed, SPIR-V's limit";
  return {};
}

Expected<std::vector<uint32_t>> compile_here(const std::string& folder, const GlslSource& source,
                                             std::vector<ShaderMessage>* messages_out) {
  if (Status room = check_compile_memory("a shader in GLSL"); !room) return room.error();
  static std::once_flag initialised;
  std::call_once(initialised, [] { glslang::InitializeProcess(); });

  std::vector<ShaderMessage> messages;
  const auto fail = [&]() -> Error {
    Error error = make_error(source, messages);
    if (messages_out) *messages_out = messages;
    return error;
  };
  const StageName* known = find_stage(source.stage);
  if (!known) {
    messages.push_back(
        {source.file, 0, "the stage must be vertex, tessellation control or evaluation, geometry, task, mesh, fragment or compute", {}});
    return fail();
  }
  const EShLanguage language = known->language;
  if (source.text.size() > kMaxSource_B) {
    messages.push_back(
        {source.file,
         0,
         "the text has " + std::to_string(source.text.size()) + " bytes; at most " + std::to_string(kMaxSource_B) + " are allowed",
         {}});
    return fail();
  }
  if (std::string wrong = is_too_much(source); !wrong.empty()) {
    messages.push_back({source.file, 0, wrong, {}});
    return fail();
  }
  std::string preamble;
  if (std::string wrong = make_preamble(source, preamble); !wrong.empty()) {
    messages.push_back({source.file, 0, wrong, {}});
    return fail();
  }

  Files files;
  files[source.file] = source.text;
  DirectoryIncluder includer(folder, source, files);
  const char* text = source.text.data();
  const int length = static_cast<int>(source.text.size());
  const char* name = source.file.c_str();
  // By default glslang stops at the first error; cascading goes on to the end.
  const auto rules = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules | EShMsgCascadingErrors);

  glslang::TShader shader(language);
  shader.setStringsWithLengthsAndNames(&text, &length, &name, 1);
  shader.setPreamble(preamble.c_str());
  shader.setEnvInput(glslang::EShSourceGlsl, language, glslang::EShClientVulkan, 100);
  shader.setEnvClient(glslang::EShClientVulkan, glslang::EShTargetVulkan_1_3);
  shader.setEnvTarget(glslang::EShTargetSpv, glslang::EShTargetSpv_1_6);
  if (!shader.parse(&resources(), 450, false, rules, includer)) {
    messages = parse_log(shader.getInfoLog(), files);
    if (messages.empty()) messages.push_back({source.file, 0, shader.getInfoLog(), {}});
    return fail();
  }
  glslang::TProgram program;
  program.addShader(&shader);
  if (!program.link(rules)) {
    messages = parse_log(program.getInfoLog(), files);
    if (messages.empty()) messages.push_back({source.file, 0, program.getInfoLog(), {}});
    return fail();
  }
  std::vector<uint32_t> words;
  spv::SpvBuildLogger logger;
  glslang::SpvOptions options;
  options.disableOptimizer = true;
  options.generateDebugInfo = true;  // OpLine: explanations and errors name the source line
  glslang::GlslangToSpv(*program.getIntermediate(language), words, &logger, &options);
  if (words.empty() || logger.getAllMessages().find("ERROR") != std::string::npos) {
    messages.push_back({source.file, 0, logger.getAllMessages(), {}});
    return fail();
  }
  return words;
}

/// Nothing in it stands for more text than there is: one directive at most, and that is #version. A macro may stand for any number of
/// terms, whatever its own size.
bool is_flat(const GlslSource& source) {
  const std::string& text = source.text;
  if (text.size() > kFlatSource_B || !source.defines.empty()) return false;
  const size_t directive = text.find('#');
  if (directive == std::string::npos) return true;
  const size_t name = text.find_first_not_of(" \t", directive + 1);
  return name != std::string::npos && text.compare(name, 7, "version") == 0 && text.find('#', name) == std::string::npos;
}

}  // namespace

Expected<std::vector<uint32_t>> shader::compile_glsl_in(const std::string& folder, const GlslSource& source,
                                                        std::vector<ShaderMessage>* messages_out) {
  if (is_flat(source)) return compile_here(folder, source, messages_out);
  std::optional<Expected<std::vector<uint32_t>>> made;
  on_large_stack(kStack_B, [&] { made = compile_here(folder, source, messages_out); });
  return std::move(*made);
}

}  // namespace tilegpu
