// shader/module/reflection.cpp -- stage: module creation. In: a parsed module. Out: Reflection: names, locations, descriptors, nested types
// with offsets and strides, as decorated.
//
// Source: SPIR-V specification, "Decoration"; Vulkan specification, "Shader Interfaces" and "Shader Resource and Descriptor
// Type Correspondence". Recursion is bounded: types nest at most kMaxDepth deep here, deeper ones are an error.
#include "shader/module/reflection.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>

#include "shader/spirv/interface.hpp"
#include "shader/spirv/limits.hpp"
#include "shader/spirv/stage.hpp"
#include "shader/spirv/tile_images.hpp"
#include "shader/spirv/workgroup.hpp"

namespace tilegpu::shader {
namespace {

constexpr int kMaxDepth = 32;
constexpr uint64_t kMaxReflectedMembers = 65536;

VkImageViewType view_type(const TypeInfo& image) {
  switch (image.dim) {
    case spv::Dim1D:
    case spv::DimBuffer:
      return image.arrayed ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D;
    case spv::Dim3D:
      return VK_IMAGE_VIEW_TYPE_3D;
    case spv::DimCube:
      return image.arrayed ? VK_IMAGE_VIEW_TYPE_CUBE_ARRAY : VK_IMAGE_VIEW_TYPE_CUBE;
    default:
      return image.arrayed ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
  }
}

/// "Compatibility Between SPIR-V Image Formats And Vulkan Formats".
VkFormat format_of(spv::ImageFormat format) {
  switch (format) {
#define TILEGPU_ROW(spirv, vulkan) \
  case spv::ImageFormat##spirv:    \
    return VK_FORMAT_##vulkan;
    TILEGPU_ROW(Rgba32f, R32G32B32A32_SFLOAT)
    TILEGPU_ROW(Rgba16f, R16G16B16A16_SFLOAT)
    TILEGPU_ROW(R32f, R32_SFLOAT)
    TILEGPU_ROW(Rgba8, R8G8B8A8_UNORM)
    TILEGPU_ROW(Rgba8Snorm, R8G8B8A8_SNORM)
    TILEGPU_ROW(Rg32f, R32G32_SFLOAT)
    TILEGPU_ROW(Rg16f, R16G16_SFLOAT)
    TILEGPU_ROW(R11fG11fB10f, B10G11R11_UFLOAT_PACK32)
    TILEGPU_ROW(R16f, R16_SFLOAT)
    TILEGPU_ROW(Rgba16, R16G16B16A16_UNORM)
    TILEGPU_ROW(Rgb10A2, A2B10G10R10_UNORM_PACK32)
    TILEGPU_ROW(Rg16, R16G16_UNORM)
    TILEGPU_ROW(Rg8, R8G8_UNORM)
    TILEGPU_ROW(R16, R16_UNORM)
    TILEGPU_ROW(R8, R8_UNORM)
    TILEGPU_ROW(Rgba16Snorm, R16G16B16A16_SNORM)
    TILEGPU_ROW(Rg16Snorm, R16G16_SNORM)
    TILEGPU_ROW(Rg8Snorm, R8G8_SNORM)
    TILEGPU_ROW(R16Snorm, R16_SNORM)
    TILEGPU_ROW(R8Snorm, R8_SNORM)
    TILEGPU_ROW(Rgba32i, R32G32B32A32_SINT)
    TILEGPU_ROW(Rgba16i, R16G16B16A16_SINT)
    TILEGPU_ROW(Rgba8i, R8G8B8A8_SINT)
    TILEGPU_ROW(R32i, R32_SINT)
    TILEGPU_ROW(Rg32i, R32G32_SINT)
    TILEGPU_ROW(Rg16i, R16G16_SINT)
    TILEGPU_ROW(Rg8i, R8G8_SINT)
    TILEGPU_ROW(R16i, R16_SINT)
    TILEGPU_ROW(R8i, R8_SINT)
    TILEGPU_ROW(Rgba32ui, R32G32B32A32_UINT)
    TILEGPU_ROW(Rgba16ui, R16G16B16A16_UINT)
    TILEGPU_ROW(Rgba8ui, R8G8B8A8_UINT)
    TILEGPU_ROW(R32ui, R32_UINT)
    TILEGPU_ROW(Rgb10a2ui, A2B10G10R10_UINT_PACK32)
    TILEGPU_ROW(Rg32ui, R32G32_UINT)
    TILEGPU_ROW(Rg16ui, R16G16_UINT)
    TILEGPU_ROW(Rg8ui, R8G8_UINT)
    TILEGPU_ROW(R16ui, R16_UINT)
    TILEGPU_ROW(R8ui, R8_UINT)
    TILEGPU_ROW(R64ui, R64_UINT)
    TILEGPU_ROW(R64i, R64_SINT)
#undef TILEGPU_ROW
    default:
      return VK_FORMAT_UNDEFINED;
  }
}

struct Reflector {
  const Module& module;
  const Constants constants;
  Reflection result;
  uint64_t members = 0;
  std::string wrong;                            // first thing that can't be reflected
  std::optional<std::set<uint32_t>> read = {};  // images; once somebody asks

  ReflectedType::Base base_of(const TypeInfo& scalar) const {
    using Reflected = ReflectedType::Base;
    if (scalar.kind == Kind::boolean) return Reflected::boolean;
    const bool is_signed = scalar.is_signed, is_float = scalar.kind == Kind::floating;
    switch (scalar.width_bits) {
      case 8:
        return is_signed ? Reflected::i8 : Reflected::u8;
      case 16:
        return is_float ? Reflected::f16 : is_signed ? Reflected::i16 : Reflected::u16;
      case 64:
        return is_float ? Reflected::f64 : is_signed ? Reflected::i64 : Reflected::u64;
      default:
        return is_float || scalar.kind != Kind::integer ? Reflected::f32 : is_signed ? Reflected::i32 : Reflected::u32;
    }
  }

  void fill_image(const TypeInfo& image, ReflectedType& type) const {
    type.dim = view_type(image);
    type.multisampled = image.multisampled;
    type.depth_compare = image.depth;
    type.base = base_of(module.type(image.element));
    type.format = image.sampled == 2 ? format_of(image.format) : VK_FORMAT_UNDEFINED;
  }

  /// Bytes of `count` elements; elements that overlap (strange modules have such strides) still end inside.
  uint32_t extent_B(uint32_t stride_B, uint32_t count, uint32_t element_B) {
    if (count == 0 || stride_B == 0) return 0;
    const uint64_t size_B = std::max(uint64_t{stride_B} * count, uint64_t{stride_B} * (count - 1) + element_B);
    if (size_B > UINT32_MAX) wrong = "an array of its interface is larger than 4 GiB";
    return static_cast<uint32_t>(size_B);
  }

  /// `layout` is the decoration of the member that holds the type: matrices take their stride and order from it.
  ReflectedType type_of(uint32_t id, const Decorations& layout, int depth) {
    ReflectedType type;
    const TypeInfo& info = module.type(id);
    assert(info.kind != Kind::none && depth >= 0);
    if (depth > kMaxDepth || ++members > kMaxReflectedMembers) {
      wrong = "its interface nests types too deeply or has too many members";
      return type;
    }
    switch (info.kind) {
      case Kind::boolean:
      case Kind::integer:
      case Kind::floating:
        type.base = base_of(info);
        type.size_B = base_size_B(type.base);
        break;
      case Kind::pointer:  // an address, as the host writes it
        assert(is_address(info));
        type.base = ReflectedType::Base::u64;
        type.size_B = base_size_B(type.base);
        break;
      case Kind::vector:
        type.kind = ReflectedType::Kind::vector;
        type.base = base_of(module.type(info.element));
        type.rows = info.count;
        type.size_B = base_size_B(type.base) * info.count;
        break;
      case Kind::matrix: {
        const TypeInfo& column = module.type(info.element);
        type.kind = ReflectedType::Kind::matrix;
        type.base = base_of(module.type(column.element));
        type.rows = column.count;
        type.columns = info.count;
        type.row_major = layout.row_major;
        type.matrix_stride_B = layout.matrix_stride_B;
        type.size_B = extent_B(type.matrix_stride_B, type.row_major ? type.rows : type.columns,
                               base_size_B(type.base) * (type.row_major ? type.columns : type.rows));
        break;
      }
      case Kind::array:
      case Kind::runtime_array: {
        type.kind = ReflectedType::Kind::array;
        type.array_stride_B = module.decorations_array_stride(id);
        type.array_length = info.kind == Kind::array ? array_length(constants, id) : 0;
        type.members.push_back({"", 0, type_of(info.element, layout, depth + 1)});
        type.base = type.members[0].type.base;
        type.size_B = extent_B(type.array_stride_B, type.array_length, type.members[0].type.size_B);
        break;
      }
      case Kind::structure:
        type.kind = ReflectedType::Kind::structure;
        for (uint32_t k = 0; k < info.members.size() && wrong.empty(); ++k) {
          const Decorations& member = module.member(id, k);
          const uint32_t offset_B = member.offset_B == kNone ? 0 : member.offset_B;
          type.members.push_back({module.member_name(id, k), offset_B, type_of(info.members[k], member, depth + 1)});
          if (member.offset_B != kNone) {
            const uint64_t end_B = uint64_t{offset_B} + type.members.back().type.size_B;
            if (end_B > UINT32_MAX) wrong = "a block of its interface is larger than 4 GiB";
            type.size_B = std::max(type.size_B, static_cast<uint32_t>(end_B));
          }
        }
        break;
      case Kind::image:
        type.kind = ReflectedType::Kind::image;
        fill_image(info, type);
        break;
      case Kind::sampler:
        type.kind = ReflectedType::Kind::sampler;
        break;
      case Kind::sampled_image:
        type.kind = ReflectedType::Kind::sampled_image;
        fill_image(module.type(info.element), type);
        break;
      default:
        break;
    }
    return type;
  }

  bool is_used(uint32_t id) const { return id < module.used.size() && module.used[id]; }

  void add_variable(uint32_t id, std::vector<ReflectedVariable>& variables) {
    const Decorations& decoration = module.decoration(id);
    if (decoration.builtin != kNone) return;
    const bool vertices = is_per_vertex(module, id) || is_of_corners(module, id), patch = is_of_patch(module, id);
    const bool primitive = is_per_primitive(module, id) || decoration.of_primitive;
    const uint32_t pointee = vertices ? module.type(module.pointee(id)).element : module.pointee(id);
    const TypeInfo& info = module.type(pointee);
    if (info.kind == Kind::structure && module.decoration(pointee).block) {
      // An interface block: each member is a variable; members without locations follow the one before.
      uint32_t next = decoration.location == kNone ? 0 : decoration.location;
      const std::string prefix = module.name(id).empty() ? "" : module.name(id) + ".";
      for (uint32_t k = 0; k < info.members.size() && wrong.empty(); ++k) {
        const Decorations& member = module.member(pointee, k);
        if (member.builtin != kNone) return;
        ReflectedVariable variable;
        variable.name = prefix + module.member_name(pointee, k);
        variable.location = member.location == kNone ? next : member.location;
        variable.component = member.component == kNone ? 0 : member.component;
        variable.type = type_of(info.members[k], member, 0);
        variable.used = is_used(id), variable.patch = patch, variable.primitive = primitive || member.of_primitive;
        next = variable.location + locations_of(variable.type);
        variables.push_back(std::move(variable));
      }
      return;
    }
    ReflectedVariable variable;
    variable.name = module.name(id);
    variable.location = decoration.location == kNone ? 0 : decoration.location;
    variable.component = decoration.component == kNone ? 0 : decoration.component;
    variable.type = type_of(pointee, decoration, 0);
    variable.used = is_used(id), variable.patch = patch, variable.primitive = primitive;
    variables.push_back(std::move(variable));
  }

  /// Image variables that some instruction loads from, atomics among them.
  std::set<uint32_t> read_images() const {
    std::set<uint32_t> read;
    for (const Instruction& i : module.instructions)
      if (i.op == spv::OpImageRead || i.op == spv::OpImageSparseRead || i.op == spv::OpImageTexelPointer)
        for (uint32_t variable : resource_roots(module, module.operand(i, 0))) read.insert(variable);
    return read;
  }

  ReflectedBinding binding_of(uint32_t id) {
    const Decorations& decoration = module.decoration(id);
    ReflectedBinding binding;
    uint32_t type_id = module.pointee(id);
    uint64_t count = 1;
    for (int depth = 0; depth < kMaxDepth && is_array(module.type(type_id).kind); ++depth) {
      count *= module.type(type_id).kind == Kind::array ? array_length(constants, type_id) : 0;
      if (count > kMaxDescriptors) {
        wrong = "'" + module.name(id) + "' is an array of more than " + std::to_string(kMaxDescriptors) + " descriptors";
        count = 1;
      }
      type_id = module.type(type_id).element;
    }
    const TypeInfo& type = module.type(type_id);
    binding.block_name = type.kind == Kind::structure ? module.name(type_id) : "";
    binding.name = module.name(id).empty() ? binding.block_name : module.name(id);
    binding.set = decoration.set == kNone ? 0 : decoration.set;
    binding.binding = decoration.binding == kNone ? 0 : decoration.binding;
    binding.descriptor = descriptor_type_of(module, id);
    assert(count <= kMaxDescriptors);
    binding.count = static_cast<uint32_t>(count);
    binding.input_attachment_index = decoration.input_attachment == kNone ? 0 : decoration.input_attachment;
    binding.readonly = decoration.nonwritable;
    binding.writeonly = decoration.nonreadable;
    if (type.kind == Kind::structure && !type.members.empty()) {
      bool nonwritable = true, nonreadable = true;
      for (uint32_t k = 0; k < type.members.size(); ++k) {
        nonwritable = nonwritable && module.member(type_id, k).nonwritable;
        nonreadable = nonreadable && module.member(type_id, k).nonreadable;
      }
      binding.readonly = binding.readonly || nonwritable;
      binding.writeonly = binding.writeonly || nonreadable;
    }
    if (binding.descriptor == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE) {
      if (!read) read = read_images();
      binding.writeonly = binding.writeonly || !read->contains(id);
    }
    binding.type = type_of(type_id, decoration, 0);
    binding.used = is_used(id);
    return binding;
  }

  void run() {
    assert(module.entry.function != 0);  // parse() found the entry point
    result.stage = stage_of(module.entry.model);
    if (result.stage == VK_SHADER_STAGE_COMPUTE_BIT || is_task_or_mesh(module.entry.model))
      result.workgroup_size = workgroup_of(module, constants).size;
    result.entry_point = module.entry.name;
    for (uint32_t id : module.global_variables) {
      if (!wrong.empty()) return;
      // Since SPIR-V 1.4 the entry point lists all of its variables; before, inputs and outputs only.
      const bool listed = std::find(module.entry.interface.begin(), module.entry.interface.end(), id) != module.entry.interface.end();
      switch (module.storage_of(id)) {
        case spv::StorageClassInput:
          if (listed) add_variable(id, result.inputs);
          break;
        case spv::StorageClassOutput:
          if (listed) add_variable(id, result.outputs);
          break;
        case spv::StorageClassUniform:
        case spv::StorageClassUniformConstant:
        case spv::StorageClassStorageBuffer:
          if (!is_tile_image(module, id)) result.bindings.push_back(binding_of(id));
          break;
        case spv::StorageClassPushConstant:
          if (listed || is_used(id)) {
            result.has_push_constants = true;
            result.push_constants = binding_of(id);
          }
          break;
        default:
          break;
      }
    }
    const auto by_location = [](const ReflectedVariable& a, const ReflectedVariable& b) {
      return std::pair(a.location, a.component) < std::pair(b.location, b.component);
    };
    std::stable_sort(result.inputs.begin(), result.inputs.end(), by_location);
    std::stable_sort(result.outputs.begin(), result.outputs.end(), by_location);
    std::stable_sort(result.bindings.begin(), result.bindings.end(), [](const ReflectedBinding& a, const ReflectedBinding& b) {
      return std::pair(a.set, a.binding) < std::pair(b.set, b.binding);
    });
    for (uint32_t id : module.constants) {
      const Decorations& decoration = module.decoration(id);
      if (decoration.spec_id == kNone) continue;
      result.constants.push_back({module.name(id), decoration.spec_id, type_of(module.type_of(id), decoration, 0), constants.word(id)});
    }
    std::stable_sort(result.constants.begin(), result.constants.end(),
                     [](const ReflectedConstant& a, const ReflectedConstant& b) { return a.constant_id < b.constant_id; });
  }
};

}  // namespace

Expected<Reflection> reflect(const Module& module, Constants constants) {
  Reflector reflector{module, std::move(constants), {}, 0, {}};
  reflector.run();
  if (!reflector.wrong.empty()) return Error{VK_ERROR_INVALID_SHADER_NV, reflector.wrong};
  return std::move(reflector.result);
}

}  // namespace tilegpu::shader

namespace tilegpu {

namespace {

/// By ReflectedType::Base.
struct BaseNames {
  const char *scalar, *prefix;  // of vectors and matrices
  uint32_t size_B;
};
constexpr BaseNames kBases[] = {{"float", "", 4},        {"int", "i", 4},        {"uint", "u", 4},      {"bool", "b", 4},
                                {"float16_t", "f16", 2}, {"double", "d", 8},     {"int8_t", "i8", 1},   {"uint8_t", "u8", 1},
                                {"int16_t", "i16", 2},   {"uint16_t", "u16", 2}, {"int64_t", "i64", 8}, {"uint64_t", "u64", 8}};
static_assert(std::size(kBases) == static_cast<size_t>(ReflectedType::Base::u64) + 1);

const BaseNames& names_of(ReflectedType::Base base) {
  assert(static_cast<size_t>(base) < std::size(kBases));
  return kBases[static_cast<size_t>(base)];
}

}  // namespace

const char* base_name(ReflectedType::Base base) { return names_of(base).scalar; }
uint32_t base_size_B(ReflectedType::Base base) { return names_of(base).size_B; }

uint32_t locations_of(const ReflectedType& type) {
  assert(type.kind != ReflectedType::Kind::array || type.members.size() <= 1);
  if (type.kind == ReflectedType::Kind::array) return type.members.empty() ? 1 : type.array_length * locations_of(type.members[0].type);
  if (type.kind == ReflectedType::Kind::structure) {
    uint32_t n = 0;
    for (const auto& member : type.members) n += locations_of(member.type);
    return n;
  }
  const uint32_t of_vector = base_size_B(type.base) * type.rows > 16 ? 2 : 1;
  return type.kind == ReflectedType::Kind::matrix ? type.columns * of_vector : of_vector;
}

std::string type_name(const ReflectedType& type) {
  using Kind = ReflectedType::Kind;
  const std::string prefix = names_of(type.base).prefix;
  switch (type.kind) {
    case Kind::scalar:
      return base_name(type.base);
    case Kind::vector:
      return prefix + "vec" + std::to_string(type.rows);
    case Kind::matrix:
      return prefix + "mat" + std::to_string(type.columns) + (type.columns == type.rows ? "" : "x" + std::to_string(type.rows));
    case Kind::array: {
      // The outer length stands first: vec3[2][8] is two of vec3[8].
      const std::string element = type.members.empty() ? "" : type_name(type.members[0].type);
      const size_t bracket = std::min(element.find('['), element.size());
      const std::string length = type.array_length ? std::to_string(type.array_length) : "";
      return element.substr(0, bracket) + "[" + length + "]" + element.substr(bracket);
    }
    case Kind::structure:
      return "struct";
    case Kind::image:
      return "image";
    case Kind::sampler:
      return "sampler";
    case Kind::sampled_image:
      return "sampled_image";
  }
  return "";
}

}  // namespace tilegpu
