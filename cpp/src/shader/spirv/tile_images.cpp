// shader/spirv/tile_images.cpp -- see tile_images.hpp.
//
// Two walks over the words: the first finds types, variables and which planes are read; the second writes. What is new (two variables, the
// types of what is read of them, a place and a sample that are 0) is declared in front of the first function, and decorated in front of
// the first type.
#include "shader/spirv/tile_images.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>

#include "shader/spirv/words.hpp"
#include "tilegpu/state.hpp"

namespace tilegpu::shader {
namespace {

// Not in the headers of 2023.
constexpr uint32_t kStorageTileImage = 4172, kDimTileImage = 4173;
constexpr uint32_t kOpColorRead = 4160, kOpDepthRead = 4161, kOpStencilRead = 4162;
constexpr uint32_t kCapabilityColorRead = 4166, kCapabilityDepthRead = 4167, kCapabilityStencilRead = 4168;
constexpr uint32_t kModeNonCoherentColor = 4169, kModeNonCoherentStencil = 4171;
constexpr std::string_view kExtension = "SPV_EXT_shader_tile_image";
constexpr uint32_t kVersionOfWholeInterfaces = 0x00010400;  // of which an entry point lists all variables

using Words = std::span<const uint32_t>;
uint32_t number_of(Words i) { return static_cast<uint32_t>(op_of(i)); }

bool declares_extension(const std::vector<uint32_t>& words) {
  bool found = false;
  each_instruction(words, [&](Words i) {
    found = found || (op_of(i) == spv::OpExtension && text_of(i.subspan(1)) == kExtension);
    return !found && op_of(i) != spv::OpMemoryModel;
  });
  return found;
}

/// Declarations, by what they are made of.
struct Found {
  std::map<std::vector<uint32_t>, uint32_t> ids;  // of types, by their words without the result
  std::map<uint32_t, Words> types;
  std::set<uint32_t> images, variables, located;  // of tile images
  std::set<uint32_t> capabilities;
  bool depth = false, stencil = false;  // are read

  void note(Words i);
};

void Found::note(Words i) {
  assert(!i.empty());
  const spv::Op op = op_of(i);
  if (op == spv::OpCapability && i.size() > 1) capabilities.insert(i[1]);
  if (op >= spv::OpTypeVoid && op <= spv::OpTypePointer && i.size() > 1) types[i[1]] = i;
  const bool sought = op == spv::OpTypeInt || op == spv::OpTypeFloat || op == spv::OpTypeVector;
  if (sought && i.size() > 2) {
    std::vector<uint32_t> key(i.begin(), i.end());
    key.erase(key.begin() + 1);
    ids.emplace(std::move(key), i[1]);
  }
  if (op == spv::OpTypeImage && i.size() > 8 && i[3] == kDimTileImage) images.insert(i[1]);
  if (op == spv::OpVariable && i.size() > 3 && i[3] == kStorageTileImage) variables.insert(i[2]);
  if (op == spv::OpDecorate && i.size() > 3 && i[2] == spv::DecorationLocation) located.insert(i[1]);
  depth = depth || number_of(i) == kOpDepthRead, stencil = stencil || number_of(i) == kOpStencilRead;
}

/// A plane that has no variable of the program's: its variable, what it is read as, and their types.
struct Plane {
  uint32_t variable = 0, image = 0, texel = 0;
};

struct Rewriting {
  const std::vector<uint32_t>& words;
  bool with_sets;
  Found found{};
  std::vector<uint32_t> out{}, declared{};  // declared: in front of the first function
  uint32_t next = words[3];                 // a new id
  uint32_t place = 0, sample = 0;           // zeros
  std::optional<Plane> depth{}, stencil{};
  bool types_began = false, functions_began = false;

  uint32_t id_of(std::vector<uint32_t> key);
  Plane plane(uint32_t component, uint32_t vector);
  void prepare();
  void decorate(uint32_t variable, uint32_t index);
  void begin_sections(spv::Op op);
  void entry_point(Words i);
  void read(Words i);
  bool declaration(Words i);
  void instruction(Words i);
};

/// The type that is declared with these words, or a new one.
uint32_t Rewriting::id_of(std::vector<uint32_t> key) {
  const auto known = found.ids.find(key);
  if (known != found.ids.end()) return known->second;
  const uint32_t id = next++;
  declared.push_back(key[0]), declared.push_back(id);
  declared.insert(declared.end(), key.begin() + 1, key.end());
  found.ids.emplace(std::move(key), id);
  return id;
}

/// An image of the same words as another one would be no type of its own: "no indication" of depth tells it from those of programs.
constexpr uint32_t kNoIndication = 2;

Plane Rewriting::plane(uint32_t component, uint32_t vector) {
  assert(component && vector);
  Plane made{.texel = vector};
  for (uint32_t image : found.images)
    if (found.types.at(image)[2] == component) made.image = image;
  if (!made.image) {
    made.image = next++;
    declared.insert(declared.end(), {head(spv::OpTypeImage, 9), made.image, component, spv::DimSubpassData, kNoIndication, 0, 1, 2,
                                     spv::ImageFormatUnknown});
  }
  const uint32_t pointer = next++;
  made.variable = next++;
  declared.insert(declared.end(), {head(spv::OpTypePointer, 4), pointer, spv::StorageClassUniformConstant, made.image});
  declared.insert(declared.end(), {head(spv::OpVariable, 4), pointer, made.variable, spv::StorageClassUniformConstant});
  return made;
}

void Rewriting::prepare() {
  each_instruction(words, [&](Words i) {
    found.note(i);
    return true;
  });
  const uint32_t whole = id_of({head(spv::OpTypeInt, 4), 32, 0});
  const uint32_t pair = id_of({head(spv::OpTypeVector, 4), whole, 2});
  place = next++, sample = next++;
  declared.insert(declared.end(), {head(spv::OpConstantNull, 3), pair, place, head(spv::OpConstantNull, 3), whole, sample});
  if (found.depth) {
    const uint32_t real = id_of({head(spv::OpTypeFloat, 3), 32});
    depth = plane(real, id_of({head(spv::OpTypeVector, 4), real, 4}));
  }
  if (found.stencil) stencil = plane(whole, id_of({head(spv::OpTypeVector, 4), whole, 4}));
}

void Rewriting::decorate(uint32_t variable, uint32_t index) {
  out.insert(out.end(), {head(spv::OpDecorate, 4), variable, spv::DecorationInputAttachmentIndex, index});
  if (!with_sets) return;
  out.insert(out.end(), {head(spv::OpDecorate, 4), variable, spv::DecorationDescriptorSet, 0});
  out.insert(out.end(), {head(spv::OpDecorate, 4), variable, spv::DecorationBinding, 0});
}

/// What is new comes in front of the first instruction of these sections.
void Rewriting::begin_sections(spv::Op op) {
  const bool type = (op >= spv::OpTypeVoid && op <= spv::OpTypeForwardPointer) || op == spv::OpLine || op == spv::OpNoLine ||
                    (op >= spv::OpConstantTrue && op <= spv::OpSpecConstantOp) || op == spv::OpUndef || op == spv::OpVariable;
  if (!types_began && (type || op == spv::OpFunction)) {
    types_began = true;
    if (depth) decorate(depth->variable, kTileDepth);
    if (stencil) decorate(stencil->variable, kTileStencil);
  }
  if (!functions_began && op == spv::OpFunction) {
    functions_began = true;
    out.insert(out.end(), declared.begin(), declared.end());
  }
}

/// Before version 1.4 its interface lists inputs and outputs alone; from then on every variable.
void Rewriting::entry_point(Words i) {
  assert(i.size() > 3);
  const size_t name_words = text_of(i.subspan(3)).size() / 4 + 1, interface = std::min(i.size(), 3 + name_words);
  std::vector<uint32_t> made(i.begin(), i.begin() + static_cast<ptrdiff_t>(interface));
  const bool whole = words[1] >= kVersionOfWholeInterfaces;
  for (size_t k = interface; k < i.size(); k++)
    if (whole || !found.variables.count(i[k])) made.push_back(i[k]);
  for (const auto& plane : {depth, stencil})
    if (whole && plane) made.push_back(plane->variable);
  made[0] = head(spv::OpEntryPoint, made.size());
  out.insert(out.end(), made.begin(), made.end());
}

void Rewriting::read(Words i) {
  const uint32_t op = number_of(i);
  const size_t at = op == kOpColorRead ? 4 : 3;  // of the sample
  const uint32_t which = i.size() > at ? i[at] : sample;
  const auto image_read = [&](uint32_t type, uint32_t result, uint32_t image) {
    out.insert(out.end(), {head(spv::OpImageRead, 7), type, result, image, place, spv::ImageOperandsSampleMask, which});
  };
  if (op == kOpColorRead) return image_read(i[1], i[2], i[3]);
  const Plane& of = op == kOpDepthRead ? *depth : *stencil;
  const uint32_t image = next++, texel = next++;
  out.insert(out.end(), {head(spv::OpLoad, 4), of.image, image, of.variable});
  image_read(of.texel, texel, image);
  out.insert(out.end(), {head(spv::OpCompositeExtract, 5), i[1], i[2], texel, 0});
}

/// Whether it was one of the extension's declarations, which is written.
bool Rewriting::declaration(Words i) {
  const spv::Op op = op_of(i);
  std::vector<uint32_t> made(i.begin(), i.end());
  switch (op) {
    case spv::OpExtension:
      return text_of(i.subspan(1)) == kExtension;
    case spv::OpExecutionMode:
      return i.size() > 2 && i[2] >= kModeNonCoherentColor && i[2] <= kModeNonCoherentStencil;  // all reads are in order
    case spv::OpCapability:
      if (i.size() < 2 || i[1] < kCapabilityColorRead || i[1] > kCapabilityStencilRead) return false;
      made[1] = spv::CapabilityInputAttachment;
      break;
    case spv::OpDecorate:
      if (i.size() < 4 || i[2] != spv::DecorationLocation || !found.variables.count(i[1])) return false;
      decorate(i[1], kTileColor + i[3]);
      return true;
    case spv::OpTypeImage:
      if (i.size() < 9 || i[3] != kDimTileImage) return false;
      made[3] = spv::DimSubpassData, made[4] = kNoIndication, made[6] = 1;
      break;
    case spv::OpTypePointer:
      if (i.size() < 4 || i[2] != kStorageTileImage) return false;
      made[2] = spv::StorageClassUniformConstant;
      break;
    case spv::OpVariable:
      if (i.size() < 4 || i[3] != kStorageTileImage) return false;
      made[3] = spv::StorageClassUniformConstant;
      break;
    default:
      return false;
  }
  out.insert(out.end(), made.begin(), made.end());
  return true;
}

void Rewriting::instruction(Words i) {
  assert(out.size() >= kHeader_words);
  begin_sections(op_of(i));
  if (declaration(i)) return;
  const uint32_t op = number_of(i);
  const bool color = op == kOpColorRead && i.size() > 3, other = (op == kOpDepthRead || op == kOpStencilRead) && i.size() > 2;
  if (color || other) return read(i);
  if (op == spv::OpEntryPoint && i.size() > 3) return entry_point(i);
  out.insert(out.end(), i.begin(), i.end());
}

/// Empty, or what is wrong with a read.
std::string check_read(const Found& found, Words i) {
  struct Rule {
    uint32_t op, capability;
    const char* name;
    const char* needed;
    size_t most_words;
  };
  constexpr Rule kRules[] = {{kOpColorRead, kCapabilityColorRead, "OpColorAttachmentReadEXT", "TileImageColorReadAccessEXT", 5},
                             {kOpDepthRead, kCapabilityDepthRead, "OpDepthAttachmentReadEXT", "TileImageDepthReadAccessEXT", 4},
                             {kOpStencilRead, kCapabilityStencilRead, "OpStencilAttachmentReadEXT", "TileImageStencilReadAccessEXT", 4}};
  const auto* const rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.op == number_of(i); });
  if (rule == std::end(kRules)) return {};
  const size_t least = rule->op == kOpColorRead ? 4 : 3;
  const auto wrong = [&](const std::string& text) {
    return std::string(rule->name) + (i.size() > 2 ? " " + std::to_string(i[2]) : "") + ": " + text;
  };
  if (i.size() < least || i.size() > rule->most_words)
    return wrong("it has " + std::to_string(i.size()) + " words; " + std::to_string(least) + " or " + std::to_string(rule->most_words) +
                 " are allowed");
  if (!found.capabilities.count(rule->capability)) return wrong(std::string("the capability ") + rule->needed + " is not declared");
  if (rule->op == kOpColorRead) return {};
  const auto type = found.types.find(i[1]);
  const bool is_depth = rule->op == kOpDepthRead;
  const bool right = type != found.types.end() && type->second.size() > 2 && type->second[2] == 32 &&
                     op_of(type->second) == (is_depth ? spv::OpTypeFloat : spv::OpTypeInt) &&
                     (is_depth || (type->second.size() > 3 && type->second[3] == 0));
  return right ? "" : wrong(std::string("its result must be a scalar of 32 bits, ") + (is_depth ? "a float" : "an unsigned integer"));
}

/// Empty, or what is wrong with a type or a variable.
std::string check_declaration(const Found& found, Words i) {
  const spv::Op op = op_of(i);
  if (op == spv::OpTypeImage && i.size() > 8 && found.images.count(i[1])) {
    const bool right = i[5] == 0 && i[6] == 0 && i[7] == 2 && i[8] == spv::ImageFormatUnknown;
    return right ? ""
                 : "OpTypeImage " + std::to_string(i[1]) +
                       ": of dimension TileImageDataEXT it must have Arrayed 0, MS 0, Sampled 2 and the format Unknown";
  }
  if (op == spv::OpVariable && i.size() > 3 && found.variables.count(i[2])) {
    if (!found.located.count(i[2])) return "OpVariable " + std::to_string(i[2]) + ": a tile image must have a Location";
    const auto pointer = found.types.find(i[1]);
    uint32_t type = pointer != found.types.end() && pointer->second.size() > 3 ? pointer->second[3] : 0;
    for (size_t depth = 0; depth < found.types.size(); depth++) {  // words that are not valid yet may go round
      const auto at = found.types.find(type);
      if (at == found.types.end() || op_of(at->second) != spv::OpTypeArray || at->second.size() < 3) break;
      type = at->second[2];
    }
    if (!found.images.count(type))
      return "OpVariable " + std::to_string(i[2]) +
             ": what the storage class TileImageEXT has are images of dimension TileImageDataEXT, or arrays of them";
  }
  if (op == spv::OpDecorate && i.size() > 3 && i[2] == spv::DecorationLocation && found.variables.count(i[1]) &&
      i[3] >= kMaxColorAttachments)
    return "OpVariable " + std::to_string(i[1]) + ": a tile image has Location " + std::to_string(i[3]) + "; locations go from 0 to " +
           std::to_string(kMaxColorAttachments - 1);
  return {};
}

}  // namespace

std::vector<uint32_t> tile_images_as_inputs(std::vector<uint32_t> words, bool with_sets) {
  if (words.size() < kHeader_words || !declares_extension(words)) return words;
  Rewriting r{words, with_sets};
  r.prepare();
  r.out.assign(words.begin(), words.begin() + kHeader_words);
  const bool whole = each_instruction(words, [&](Words i) {
    r.instruction(i);
    return true;
  });
  if (!whole) return words;  // the validator says what is wrong
  assert(r.next > words[3]);
  r.out[3] = r.next;
  return std::move(r.out);
}

std::string check_tile_images(const std::vector<uint32_t>& words) {
  if (words.size() < kHeader_words || !declares_extension(words)) return {};
  Found found;
  each_instruction(words, [&](Words i) {
    found.note(i);
    return true;
  });
  std::string wrong;
  each_instruction(words, [&](Words i) {
    wrong = check_read(found, i);
    if (wrong.empty()) wrong = check_declaration(found, i);
    return wrong.empty();
  });
  return wrong;
}

}  // namespace tilegpu::shader
