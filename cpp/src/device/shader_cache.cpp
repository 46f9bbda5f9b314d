// device/shader_cache.cpp -- shaders through the device's disk cache: GLSL that was compiled and SPIR-V that was found valid before.
//
// In: GLSL or words. Out: the same as without the cache. glslang's first shader in a process costs tens of milliseconds (its built-in
// functions are parsed), SPIRV-Tools' validator more than the rest of a pipeline that is on disk, and what a module's analyses found out
// is there beside its being valid (shader/module/module_record.hpp). An entry holds its whole key; the
// directory is as trusted as for the machine code beside it.
#include <cstring>

#include "device/compiler_requests.hpp"
#include "device/device_state.hpp"
#include "shader/jit/jit.hpp"
#include "shader/module/implied_capabilities.hpp"
#include "shader/module/module_record.hpp"

namespace tilegpu {
namespace {

void add_text(shader::CodeKey& key, const std::string& text) { key.add_bytes(text.data(), text.size()); }

}  // namespace

Expected<std::vector<uint32_t>> Device::compile_glsl(const GlslSource& source, std::vector<ShaderMessage>* messages) {
  device::DeviceState& s = *state_;
  // Files that are included may change.
  bool fixed = source.text.find("#include") == std::string::npos;
  shader::CodeKey key("glsl");
  key.add(static_cast<uint32_t>(source.stage));
  add_text(key, source.file), add_text(key, source.text);
  for (const auto& [name, value] : source.defines) {
    add_text(key, name), add_text(key, value);
    fixed = fixed && value.find("include") == std::string::npos;
  }
  std::string bytes;
  if (fixed && s.jit->load_bytes(key, bytes) && bytes.size() % 4 == 0) {
    std::vector<uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    s.glsl_from_disk++;
    return words;
  }
  s.glsl_compiled++;
  shader::CompilerPool* compilers = s.jit->compilers();
  auto words = compilers ? device::compile_elsewhere(*compilers, source, messages) : tilegpu::compile_glsl(source, messages);
  if (words && fixed) s.jit->store_bytes(key, std::string(reinterpret_cast<const char*>(words->data()), words->size() * 4));
  return words;
}

Expected<Ptr<ShaderModule>> Device::create_shader_module(std::vector<uint32_t> words, std::string label, const std::string& entry_point) {
  device::DeviceState& s = *state_;
  shader::to_native_order(words);
  if (s.info.tolerate) {
    for (const char* capability : shader::declare_implied_capabilities(words))
      s.info.tolerate("shader '" + label + "' does not declare the capability " + capability +
                      ", which one of its decorations or instructions needs");
    if (shader::declare_implied_blocks(words))
      s.info.tolerate("shader '" + label + "' has a structure of push constants or of a buffer that is not decorated as a Block");
  }
  std::string record;
  if (s.jit->load_bytes(shader::record_key(words, entry_point), record))
    if (auto known = ShaderModule::from_record(std::move(words), label, record); !known || *known) return known;
  s.modules_validated++;
  // NOLINTNEXTLINE(bugprone-use-after-move): from_record takes the words only where it returns a module
  shader::CompilerPool* compilers = s.jit->compilers();
  auto module = compilers ? device::create_elsewhere(*compilers, std::move(words), std::move(label), entry_point)
                          : ShaderModule::create(std::move(words), std::move(label), entry_point);
  if (module) shader::keep_record(*s.jit, **module);
  return module;
}

}  // namespace tilegpu
