// device/compiler_requests.cpp -- see compiler_requests.hpp. In: GLSL, words. Out: requests and answers, and what is made of them.
#include "device/compiler_requests.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>

#include "shader/jit/compile_request.hpp"
#include "shader/module/glsl.hpp"
#include "shader/module/module_record.hpp"

namespace tilegpu::device {
namespace {

using shader::CompileRequest;

constexpr uint32_t kMostParts = 1u << 20;  // definitions, folders, messages

Error broken() { return {VK_ERROR_UNKNOWN, "the compiler's process gave an answer that is none"}; }

/// What relative names of files are found from; "" where it is gone, and with it all that it had. Names themselves go as they are, as
/// messages show them.
std::string working_folder() {
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::current_path(none);
  return !none && folder.is_absolute() ? folder.string() : "";
}

std::string_view bytes_of(const std::vector<uint32_t>& words) { return {reinterpret_cast<const char*>(words.data()), words.size() * 4}; }

std::vector<uint32_t> words_of(std::string_view bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

}  // namespace

Expected<std::vector<uint32_t>> compile_elsewhere(shader::CompilerPool& compilers, const GlslSource& source,
                                                  std::vector<ShaderMessage>* messages, bool* no_process) {
  MessageWriter request;
  request.number(static_cast<uint32_t>(CompileRequest::glsl)).number(static_cast<uint32_t>(source.stage));
  request.text(working_folder()).text(source.file).text(source.text).number(static_cast<uint32_t>(source.defines.size()));
  for (const auto& [name, value] : source.defines) request.text(name).text(value);
  request.number(static_cast<uint32_t>(source.include_dirs.size()));
  for (const std::string& folder : source.include_dirs) request.text(folder);
  const auto failed = [&](const Error& error) {
    if (messages && messages->empty()) *messages = {{source.file, 0, error.message, {}}};
    return error;
  };
  Expected<std::string> bytes = compilers.ask("shader '" + source.file + "'", request.bytes, no_process);
  if (!bytes) return failed(bytes.error());
  MessageReader in(*bytes);
  const std::string answer_bytes(in.text());
  Expected<std::string> answer = shader::read_answer(answer_bytes);
  std::vector<ShaderMessage> said;
  for (uint32_t left = std::min(in.number<uint32_t>(), kMostParts); left && in.good(); --left) {
    ShaderMessage message;
    message.file = in.text(), message.line = in.number<int32_t>(), message.text = in.text(), message.source_line = in.text();
    said.push_back(std::move(message));
  }
  if (!in.at_end()) return failed(broken());
  if (messages) *messages = std::move(said);
  if (!answer) return failed(answer.error());
  if (answer->empty() || answer->size() % 4 != 0) return failed(broken());
  return words_of(*answer);
}

std::string answer_glsl_request(MessageReader& request) {
  GlslSource source;
  source.stage = static_cast<VkShaderStageFlagBits>(request.number<uint32_t>());
  const std::string folder(request.text());
  source.file = request.text(), source.text = request.text();
  for (uint32_t left = std::min(request.number<uint32_t>(), kMostParts); left && request.good(); --left) {
    const std::string name(request.text());
    source.defines[name] = request.text();
  }
  for (uint32_t left = std::min(request.number<uint32_t>(), kMostParts); left && request.good(); --left)
    source.include_dirs.emplace_back(request.text());
  assert(request.at_end());
  std::vector<ShaderMessage> messages;
  auto words = shader::compile_glsl_in(folder, source, &messages);
  MessageWriter out;
  out.text(shader::write_answer(words ? Expected<std::string>(std::string(bytes_of(*words))) : Expected<std::string>(words.error())));
  out.number(static_cast<uint32_t>(messages.size()));
  for (const ShaderMessage& message : messages)
    out.text(message.file).number(static_cast<int32_t>(message.line)).text(message.text).text(message.source_line);
  return std::move(out.bytes);
}

Expected<Ptr<ShaderModule>> create_elsewhere(shader::CompilerPool& compilers, std::vector<uint32_t>&& words, std::string label,
                                             const std::string& entry_point, bool* no_process) {
  MessageWriter request;
  request.number(static_cast<uint32_t>(CompileRequest::module)).text(label).text(entry_point).text(bytes_of(words));
  Expected<std::string> bytes = compilers.ask("shader '" + label + "'", request.bytes, no_process);
  if (!bytes) return bytes.error();
  Expected<std::string> record = shader::read_answer(*bytes);
  if (!record) return record.error();
  auto module = ShaderModule::from_record(std::move(words), std::move(label), *record);
  if (module && !*module) return broken();
  return module;
}

std::string answer_module_request(MessageReader& request) {
  std::string label(request.text());
  const std::string entry_point(request.text());
  std::vector<uint32_t> words = words_of(request.text());
  assert(request.at_end());
  auto module = ShaderModule::create_here(std::move(words), std::move(label), entry_point);
  if (!module) return shader::write_answer(module.error());
  return shader::write_answer(shader::write_record((*module)->reflection(), (*module)->facts()));
}

}  // namespace tilegpu::device
