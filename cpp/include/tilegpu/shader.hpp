// tilegpu/shader.hpp -- shader modules: GLSL or SPIR-V in, validated module and reflection out.
//
// Source: Vulkan specification, chapter "Shaders"; SPIR-V 1.0 to 1.6 for the Vulkan environment.
#pragma once

#include <array>
#include <atomic>
#include <map>

#include "tilegpu/types.hpp"

namespace tilegpu {

struct ShaderMessage {
  std::string file;
  int line = 0;
  std::string text;
  std::string source_line;
};

struct GlslSource {
  std::string text;
  std::string file = "<string>";
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  std::map<std::string, std::string> defines;
  std::vector<std::string> include_dirs;
};

/// GLSL 450 to SPIR-V by glslang; the error lists every error with file, line and the source line. That is done in a process of its own
/// (the program tilegpu-compiler beside the library), bounded in time and memory, or here, if none can be started.
/// `messages`, if given, receives the same errors one by one.
TILEGPU_API Expected<std::vector<uint32_t>> compile_glsl(const GlslSource& source, std::vector<ShaderMessage>* messages = nullptr);

/// One member or variable of the shader's interface, flattened enough for a front end to fill it by name.
struct ReflectedType {
  enum class Kind : uint8_t { scalar, vector, matrix, array, structure, image, sampler, sampled_image } kind = Kind::scalar;
  enum class Base : uint8_t { f32, i32, u32, boolean, f16, f64, i8, u8, i16, u16, i64, u64 } base = Base::f32;
  uint32_t rows = 1, columns = 1;  ///< vector: rows; matrix: columns of `rows` components
  uint32_t array_length = 0;       ///< array: 0 is a run-time array
  uint32_t array_stride_B = 0, matrix_stride_B = 0;
  bool row_major = false;
  uint32_t size_B = 0;  ///< in its buffer layout; 0 outside buffers and for run-time arrays
  VkImageViewType dim = VK_IMAGE_VIEW_TYPE_2D;
  bool multisampled = false, depth_compare = false;
  VkFormat format = VK_FORMAT_UNDEFINED;  ///< of a storage image or texel buffer that declares one
  struct Member;
  std::vector<Member> members;  ///< structure: its members; array: exactly one, the element
  bool operator==(const ReflectedType&) const;
};
struct ReflectedType::Member {
  std::string name;  ///< "" when the module is stripped
  uint32_t offset_B = 0;
  ReflectedType type;
  bool operator==(const Member&) const = default;
};
inline bool ReflectedType::operator==(const ReflectedType&) const = default;

/// GLSL's name of it, such as "mat4" or "vec3[8]".
TILEGPU_API std::string type_name(const ReflectedType& type);

/// GLSL's name of a scalar of it.
TILEGPU_API const char* base_name(ReflectedType::Base base);
/// In buffers.
TILEGPU_API uint32_t base_size_B(ReflectedType::Base base);
/// Locations that an input or output of it takes: vectors of three and four numbers of 64 bits take two.
TILEGPU_API uint32_t locations_of(const ReflectedType& type);

struct ReflectedVariable {
  std::string name;
  uint32_t location = 0, component = 0;
  ReflectedType type;  ///< of one vertex, where the stage sees several
  bool used = true;
  bool patch = false;      ///< one for all vertices of a patch
  bool primitive = false;  ///< one for each primitive: of a mesh shader, and of what reads it
  bool operator==(const ReflectedVariable&) const = default;
};

struct ReflectedBinding {
  std::string name;  ///< variable's name, or the block's where the instance has none
  std::string block_name;
  uint32_t set = 0, binding = 0;
  VkDescriptorType descriptor = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  uint32_t count = 1;  ///< of an array of descriptors; 0: an array without a length, which has what the layout has
  uint32_t input_attachment_index = 0;
  bool readonly = false, writeonly = false;
  bool used = true;  ///< by a function that the entry point reaches
  ReflectedType type;
  bool operator==(const ReflectedBinding&) const = default;
};

struct ReflectedConstant {
  std::string name;
  uint32_t constant_id = 0;
  ReflectedType type;
  uint64_t default_bits = 0;
  bool operator==(const ReflectedConstant&) const = default;
};

struct Reflection {
  VkShaderStageFlagBits stage = VK_SHADER_STAGE_VERTEX_BIT;
  std::string entry_point;
  std::vector<ReflectedVariable> inputs, outputs;  ///< user-defined only, by location
  std::vector<ReflectedBinding> bindings;          ///< by (set, binding)
  bool has_push_constants = false;
  ReflectedBinding push_constants;  ///< block; offsets are push-constant offsets
  std::vector<ReflectedConstant> constants;
  std::array<uint32_t, 3> workgroup_size{};  ///< compute: invocations in x, y, z; else 0
  bool operator==(const Reflection&) const = default;
};

namespace shader {
struct Module;       // the parsed SPIR-V (cpp/src/shader/spirv/module.hpp)
struct ModuleFacts;  // what was found out about it (cpp/src/shader/module/module_facts.hpp)
}  // namespace shader

class TILEGPU_API ShaderModule {
 public:
  /// Validates (SPIRV-Tools, Vulkan 1.3 environment) and parses; an unsupported capability is an error that names it. Done in a process
  /// of its own, bounded in time and memory, which set_compile_goes_on() (tilegpu/compiler.hpp) may end; or here, if none can be started.
  static Expected<Ptr<ShaderModule>> create(std::vector<uint32_t> words, std::string label, const std::string& entry_point = "main");
  /// In this process.
  static Expected<Ptr<ShaderModule>> create_here(std::vector<uint32_t> words, std::string label, const std::string& entry_point = "main");
  /// Of words that were a module before, and what was written down of it (cpp/src/shader/module/module_record.hpp): not validated, and
  /// parsed when somebody compiles it. Null where the record is broken, an error where memory is refused; the words are taken by a
  /// module alone.
  static Expected<Ptr<ShaderModule>> from_record(std::vector<uint32_t>&& words, std::string label, const std::string& record);
  ~ShaderModule();
  const std::vector<uint32_t>& words() const { return words_; }
  /// All that code may depend on: names, strings and sources are for messages and reflections. Lines stay: loops that end say theirs.
  std::vector<uint32_t> words_without_names() const;
  const std::string& label() const { return label_; }
  const Reflection& reflection() const { return reflection_; }
  /// The same with values for specialisation constants, as (constant_id, bits): array lengths and sizes are those of the pipeline that
  /// is made so. An error where they are beyond what is allowed. Only the defaults of the constants themselves stay. No longer than the
  /// module lives.
  Expected<Ptr<const Reflection>> reflect(const std::vector<std::pair<uint32_t, uint64_t>>& specialization) const;
  /// Must be Ok before module() is asked for; from any thread.
  Status parse() const;
  const shader::Module& module() const;
  /// "file:line" of a line that compiled code names (shader_abi/abi.hpp, LoopBudget); "" where it is not known.
  std::string place_of(uint32_t line) const;
  shader::ModuleFacts& facts() const { return *facts_; }

 private:
  ShaderModule();
  std::vector<uint32_t> words_;
  std::string label_;
  Reflection reflection_;
  mutable std::unique_ptr<shader::Module> owned_;
  mutable std::atomic<const shader::Module*> module_{nullptr};
  std::unique_ptr<shader::ModuleFacts> facts_;
};

}  // namespace tilegpu
