// shader/module/shader_module.cpp -- stage: module creation. In: words that strangers wrote. Out: a validated, parsed, reflected module, or
// a sentence that says what is wrong with them. Source: SPIR-V specification, "Physical Layout"; SPIRV-Tools' validator in the Vulkan 1.3
// environment (scalar and relaxed block layouts allowed).
#include <spirv-tools/libspirv.hpp>

#include "base/host_memory.hpp"
#include "shader/module/module_record.hpp"
#include "shader/module/reflection.hpp"
#include "shader/spirv/component_arrays.hpp"
#include "shader/spirv/cooperative_matrix.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/module.hpp"
#include "shader/spirv/newer_extensions.hpp"
#include "shader/spirv/tile_images.hpp"
#include "tilegpu/shader.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <unordered_map>

namespace tilegpu {
namespace {

constexpr uint32_t kMagic = spv::MagicNumber;
constexpr size_t kHeader_words = 5;
constexpr size_t kMaxModule_words = 8u << 20;
constexpr size_t kMaxMessages = 20;
constexpr uint64_t kMaxMembersOfAll = 1u << 20;
// What a module takes, its words with what is parsed and reflected of them: measured, 10.5 to 12 bytes for each from 1 kB to 1 MB.
constexpr uint64_t kModule_B = 1u << 10, kOfEachByte_B = 12;

uint64_t memory_of(const std::vector<uint32_t>& words) { return kModule_B + kOfEachByte_B * sizeof(uint32_t) * words.size(); }

std::string hex(uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", word);
  return text;
}

/// Empty, or what is wrong with the header.
std::string check_header(const std::vector<uint32_t>& words) {
  if (words.size() < kHeader_words)
    return "has " + std::to_string(words.size()) + " words; a SPIR-V module has at least " + std::to_string(kHeader_words) +
           ", the file is truncated or is no SPIR-V";
  if (words.size() > kMaxModule_words)
    return "has " + std::to_string(words.size()) + " words; at most " + std::to_string(kMaxModule_words) + " are allowed";
  if (words[0] != kMagic) return "is no SPIR-V: its first word is " + hex(words[0]) + ", the magic number is " + hex(kMagic);
  return {};
}

/// Empty, or which structure holds too many members, those of structures within it counted, those of an array's element once, or which type
/// nests too deep. Validation walks members again for each structure that holds them, so a line of text that doubles them doubles its time,
/// and a type for each that it is a part of. Words are not valid yet: what is no type, or comes before what it is made of, counts as one,
/// and is for the validator.
std::string check_types(const std::vector<uint32_t>& words) {
  struct Size {
    uint64_t members = 1;
    uint32_t depth = 1;
  };
  std::unordered_map<uint32_t, Size> sizes;  // by type
  const auto of = [&](uint32_t type) {
    const auto found = sizes.find(type);
    return found == sizes.end() ? Size{} : found->second;
  };
  uint64_t all = 0;
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t op = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at || op == spv::OpFunction) break;  // types come before functions
    const bool is_array = op == spv::OpTypeArray || op == spv::OpTypeRuntimeArray;
    if ((is_array || op == spv::OpTypeStruct) && length > 2) {
      uint64_t count = 0;  // of at most 65,533 members, each within the limit
      uint32_t depth = 0;
      for (uint32_t i = 2; i < (is_array ? 3 : length); ++i) {
        const Size part = of(words[at + i]);
        count += part.members, depth = std::max(depth, part.depth);
      }
      sizes[words[at + 1]] = {count, depth + 1};
      if (depth + 1 > shader::kMaxTypeDepth)
        return "has type " + std::to_string(words[at + 1]) + ", which nests more than " + std::to_string(shader::kMaxTypeDepth) +
               " types, the limit";
      if (!is_array && count > shader::kMaxValueParts)
        return "has a structure of " + std::to_string(count) + " members, those of structures within it counted; at most " +
               std::to_string(shader::kMaxValueParts) + " are allowed: make arrays of them";
      all += is_array ? 0 : count;
    }
    if (all > kMaxMembersOfAll)
      return "has structures of more than " + std::to_string(kMaxMembersOfAll) +
             " members, those of structures within them counted again, which is the limit of all together";
    at += length;
  }
  return {};
}

/// The words without the number of a source language in each OpSource: it means nothing to a shader, compilers are newer than the list that
/// SPIRV-Tools was built with (Slang's number is 11), and a number that is not on it would make a module invalid. No word moves.
std::vector<uint32_t> without_languages(std::vector<uint32_t> words) {
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t op = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (length == 0 || op == spv::OpFunction) break;  // no instruction, which the validator says; or where those of debugging have ended
    if (op == spv::OpSource && length > 1 && at + 1 < words.size()) words[at + 1] = spv::SourceLanguageUnknown;
    at += length;
  }
  return words;
}

/// The words with an older name of an extension that says the same, where SPIRV-Tools knows that one alone. No word moves.
std::vector<uint32_t> with_older_names(std::vector<uint32_t> words) {
  constexpr std::string_view kNew = "SPV_KHR_compute_shader_derivatives", kOld = "SPV_NV_compute_shader_derivatives";
  for (size_t at = kHeader_words; at < words.size();) {
    const uint32_t op = words[at] & spv::OpCodeMask, length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at || op == spv::OpMemoryModel) break;
    auto* const name = reinterpret_cast<char*>(words.data() + at + 1);
    const size_t most_B = size_t{length - 1} * sizeof(uint32_t);
    if (op == spv::OpExtension && most_B > kNew.size() &&
        std::string_view(name, kNew.size() + 1) == std::string_view(kNew.data(), kNew.size() + 1)) {
      std::memset(name, 0, most_B);
      std::memcpy(name, kOld.data(), kOld.size());
    }
    at += length;
  }
  return words;
}

/// Empty, or what SPIRV-Tools says against the words.
std::string validate(const std::vector<uint32_t>& module_words) {
  const std::vector<uint32_t> known = shader::without_newer(shader::tile_images_as_inputs(module_words, true));
  const std::vector<uint32_t> words = shader::without_array_components(with_older_names(without_languages(shader::for_validation(known))));
  spvtools::SpirvTools tools(SPV_ENV_VULKAN_1_3);
  std::string messages;
  size_t message_count = 0;
  tools.SetMessageConsumer([&](spv_message_level_t level, const char*, const spv_position_t& position, const char* message) {
    if (level > SPV_MSG_ERROR || ++message_count > kMaxMessages) return;
    messages += "\n  word " + std::to_string(position.index) + ": " + message;
  });
  spvtools::ValidatorOptions options;
  options.SetRelaxBlockLayout(true);
  options.SetUniformBufferStandardLayout(true);
  options.SetScalarBlockLayout(true);
  options.SetWorkgroupScalarBlockLayout(true);
  // A third of the time would go into names of all that there is, for messages that a valid module never has.
  options.SetFriendlyNames(false);
  if (tools.Validate(words.data(), words.size(), options)) return {};
  messages.clear(), message_count = 0;
  options.SetFriendlyNames(true);
  if (!tools.Validate(words.data(), words.size(), options)) return "is not valid SPIR-V for Vulkan 1.3:" + messages;
  return {};
}

}  // namespace

ShaderModule::ShaderModule() : facts_(std::make_unique<shader::ModuleFacts>()) {}
ShaderModule::~ShaderModule() = default;

Expected<Ptr<ShaderModule>> ShaderModule::create_here(std::vector<uint32_t> words, std::string label, const std::string& entry_point) {
  shader::to_native_order(words);
  const auto invalid = [&](const std::string& text) { return Error{VK_ERROR_INVALID_SHADER_NV, "shader '" + label + "' " + text}; };
  if (std::string wrong = check_header(words); !wrong.empty()) return invalid(wrong);
  if (Status room = check_compile_memory("shader '" + label + "'"); !room) return room.error();

  if (std::string wrong = check_types(words); !wrong.empty()) return invalid(wrong);
  if (std::string wrong = shader::check_tile_images(words); !wrong.empty()) return invalid("is not valid SPIR-V: " + wrong);
  if (std::string wrong = validate(words); !wrong.empty()) return invalid(wrong);

  auto module = shader::parse(words, entry_point);
  if (!module) return Error{module.error().code, "shader '" + label + "': " + module.error().message};
  if (std::string wrong = shader::check_newer(**module); !wrong.empty()) return invalid("is not valid SPIR-V: " + wrong);
  auto constants = shader::evaluate_constants(**module, {});
  if (!constants) return Error{constants.error().code, "shader '" + label + "': " + constants.error().message};
  if (shader::without_array_components(words) != words)
    if (std::string wrong = shader::check_shared_places(**module, *constants); !wrong.empty())
      return invalid("is not valid SPIR-V: " + wrong);
  auto reflection = shader::reflect(**module, std::move(*constants));
  if (!reflection) return Error{reflection.error().code, "shader '" + label + "': " + reflection.error().message};
  assert((*module)->entry.function != 0);
  Ptr<ShaderModule> result(new ShaderModule);
  result->facts_->memory = MemoryShare(memory_of(words));
  if (!result->facts_->memory) return MemoryShare::refused("shader '" + label + "'", memory_of(words));
  result->words_ = std::move(words);
  result->label_ = std::move(label);
  result->reflection_ = std::move(*reflection);
  result->owned_ = std::move(*module);
  result->module_ = result->owned_.get();
  return result;
}

Expected<Ptr<ShaderModule>> ShaderModule::from_record(std::vector<uint32_t>&& words, std::string label, const std::string& record) {
  shader::to_native_order(words);
  if (!check_header(words).empty()) return Ptr<ShaderModule>();
  Ptr<ShaderModule> result(new ShaderModule);
  if (!shader::read_record(record, result->reflection_, *result->facts_)) return Ptr<ShaderModule>();
  result->facts_->memory = MemoryShare(memory_of(words));
  if (!result->facts_->memory) return MemoryShare::refused("shader '" + label + "'", memory_of(words));
  result->words_ = std::move(words);
  result->label_ = std::move(label);
  return result;
}

Status ShaderModule::parse() const {
  if (module_.load(std::memory_order_acquire)) return Ok{};
  if (Status room = check_compile_memory("shader '" + label_ + "'"); !room) return room;
  auto module = shader::parse(words_, reflection_.entry_point);
  if (!module) return Error{module.error().code, "shader '" + label_ + "': " + module.error().message};
  const std::lock_guard lock(facts_->parsing);  // two threads may have parsed it at once: one of both is kept
  if (module_.load(std::memory_order_relaxed)) return Ok{};
  owned_ = std::move(*module);
  module_.store(owned_.get(), std::memory_order_release);
  return Ok{};
}

Expected<Ptr<const Reflection>> ShaderModule::reflect(const std::vector<std::pair<uint32_t, uint64_t>>& specialization) const {
  if (specialization.empty()) {
    const Ptr<const Reflection> own(Ptr<void>(), &reflection_);
    {
      const std::lock_guard lock(facts_->mutex);
      if (facts_->traits.count(specialization)) return own;  // was within limits
    }
    if (auto constants = shader::specialise(*this, specialization); !constants) return constants.error();
    return own;
  }
  Expected<Reflection> found = shader::known_or(*facts_, &shader::ModuleFacts::reflections, specialization, [&]() -> Expected<Reflection> {
    Expected<shader::Constants> constants = shader::specialise(*this, specialization);
    if (!constants) return constants.error();
    Expected<Reflection> made = shader::reflect(module(), std::move(*constants));
    if (!made) return Error{made.error().code, "shader '" + label_ + "': " + made.error().message};
    made->constants = reflection_.constants;
    return made;
  });
  if (!found) return found.error();
  return Ptr<const Reflection>(std::make_shared<Reflection>(std::move(*found)));
}

std::vector<uint32_t> ShaderModule::words_without_names() const {
  assert(words_.size() >= kHeader_words);
  std::vector<uint32_t> kept(words_.begin(), words_.begin() + kHeader_words);
  kept.reserve(words_.size());
  for (size_t at = kHeader_words; at < words_.size();) {
    const uint32_t op = words_[at] & spv::OpCodeMask, length = words_[at] >> spv::WordCountShift;
    assert(length > 0 && length <= words_.size() - at);
    const bool names = (op >= spv::OpSourceContinued && op <= spv::OpString) || op == spv::OpModuleProcessed;
    const auto instruction = words_.begin() + static_cast<ptrdiff_t>(at);
    if (!names) kept.insert(kept.end(), instruction, instruction + static_cast<ptrdiff_t>(length));
    at += length;
  }
  return kept;
}

const shader::Module& ShaderModule::module() const {
  const shader::Module* module = module_.load(std::memory_order_acquire);
  assert(module);
  return *module;
}

std::string ShaderModule::place_of(uint32_t line) const { return parse() ? module().place_of(line) : ""; }

namespace shader {

Expected<Constants> specialise(const ShaderModule& module, const Specialization& specialization) {
  if (Status parsed = module.parse(); !parsed) return parsed.error();
  Expected<Constants> constants = specialise(module.module(), specialization);
  if (!constants) return Error{constants.error().code, "shader '" + module.label() + "': " + constants.error().message};
  return constants;
}

}  // namespace shader
}  // namespace tilegpu
