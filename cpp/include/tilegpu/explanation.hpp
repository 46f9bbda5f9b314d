// tilegpu/explanation.hpp -- what became of a pass's draws, and why: for people.
#pragma once

#include <array>
#include <vector>

#include "tilegpu/types.hpp"

namespace tilegpu {

/// One technique of hidden-surface removal and some draws.
struct TechniqueExplanation {
  std::string technique;  ///< "pre_pass", "forward_pixel_kill", "lrz", ...
  std::string state;      ///< "on", "off", "stopped" (by an earlier draw or by this one)
  std::string rule;       ///< of the source ("1.2"), "" where it has no number
  std::string reason;     ///< the state or the shader's line; "" where it is on
  int32_t by_draw = -1;   ///< stopped: the draw that broke it first
};

/// Consecutive draws of one state: which techniques they got; a reason where one is off ("" where it is on).
struct DrawExplanation {
  uint32_t first_draw = 0, draw_count = 0;
  uint32_t part = 0;  ///< of a pass that was suspended and resumed
  std::string pipeline;
  std::string early_tests_off, visibility_off;
  std::vector<TechniqueExplanation> techniques;
  std::string low_resolution_z_off;  ///< "what is off: why"; with the draw that caused it, where that is another one
  std::string plan;                  ///< the way through the tile phase, in words: coverage, tests, where fragments go, how they are shaded
};

/// A texture that a stage's shader reads.
struct DrawTexture {
  uint32_t stage = 0;  ///< VkShaderStageFlagBits
  uint32_t set = 0, binding = 0;
  VkFormat format = VK_FORMAT_UNDEFINED;
  uint32_t width_px = 0, height_px = 0, levels = 0;  ///< of the view
  uint64_t level_B = 0, size_B = 0;                  ///< of its first level (all layers and samples); of all its levels
  uint64_t image = 0;                                ///< the same number, the same image
};
struct DrawStage {
  uint32_t stage = 0;  ///< VkShaderStageFlagBits
  const std::vector<uint32_t>* words = nullptr;
  std::vector<std::pair<uint32_t, uint64_t>> specialization;  ///< constant_id, bits
};

/// What consecutive draws of one state run, for models of what that costs.
struct DrawPrograms {
  uint32_t first_draw = 0, draw_count = 0;
  std::string pipeline;
  std::vector<DrawStage> stages;
  std::vector<DrawTexture> textures;
  uint32_t varyings_B = 0;                  ///< of a vertex, that reach the rasterizer
  bool opaque = false, reads_tile = false;  ///< reads_tile: blending, logic op, input attachments
  bool early_test = false, writes_depth = false, tests_depth = false;
  bool decides_coverage = false;  ///< the fragment shader does, where it is asked before depth is final: its slice runs
  bool per_sample = false, writes_color = false;
  bool vertex_writes_memory = false;
  uint32_t written_targets = 0;          ///< bit i: colour i; 8: depth, 9: stencil
  uint32_t blend_shader_targets = 0;     ///< colours whose blending needs a blend shader, on a GPU with a fixed blend unit
  uint32_t blend_shader_operations = 0;  ///< of one sample in all of them
};

/// Low-resolution Z as a pass left it, feedback included.
struct LowResolutionZ {
  uint8_t direction = 0;                   ///< of depth writes: kLrzUnknown ...
  std::vector<uint8_t> direction_by_draw;  ///< the same after each draw, in order of recording (indirect ones expanded)
  struct Buffer {
    uint8_t direction = 0;
    uint32_t columns = 0, rows = 0;  ///< texels; of blocks of the fast clear: block_columns, block_rows
    uint32_t texel_x_px = 8, texel_y_px = 8;
    uint32_t block_columns = 0, block_rows = 0, block_x = 16, block_y = 4;  ///< and a block's texels
    bool fast_clear = false;
    std::vector<uint16_t> texels;   ///< Z16_UNORM, row by row
    std::vector<uint8_t> modified;  ///< the bit of each block: 0, it has the clear value
  };
  std::vector<Buffer> buffers;         ///< that draws of the pass tested or wrote, or that it kept: one, or one for each direction
  uint32_t pair = 0;                   ///< of A7xx's two pairs of buffers
  std::vector<std::string> events;     ///< of the command stream, in order
  std::string concurrent_binning_off;  ///< "": this pass may be binned while the one before is rendered; else why not
};
inline constexpr uint8_t kLrzUnknown = 0, kLrzLess = 1, kLrzGreater = 2, kLrzDisabled = 3;

/// Descriptors of one binding that a dispatch's shader uses.
struct BoundDescriptors {
  std::string name;  ///< of the shader's variable or block
  uint32_t set = 0, binding = 0;
  uint32_t count = 0;   ///< that are there
  uint64_t size_B = 0;  ///< of the buffers' ranges, and of the images
  bool written = false;
  VkFormat format = VK_FORMAT_UNDEFINED;  ///< of the first image, or of a texel buffer
};

/// A part of an image that a step of a submission reads or writes. Equal numbers: the same image, the same memory.
struct ImageUse {
  uint32_t step = 0;            ///< of passes, dispatches, copies and all else, in order
  int32_t pass = -1;            ///< of a pass, its number
  const char* attachment = "";  ///< of a pass's target: "color0", ..., "depth", "stencil"
  /// Of a target: "load", "store", "resolve", "resolve_source", and "bound", where it is not stored; else "", of descriptors and commands.
  const char* how = "";
  bool write = false;
  uint64_t image = 0, memory = 0, first_B = 0, end_B = 0;  ///< all bytes of the image
  VkImageAspectFlags aspects = 0;
  uint32_t first_level = 0, end_level = 0, first_layer = 0, end_layer = 0;
};

/// What a dispatch ran and could reach.
struct DispatchExplanation {
  std::string pipeline;
  std::array<uint32_t, 3> workgroup_size{};
  std::vector<BoundDescriptors> bound;
  bool reads_addresses = false, writes_addresses = false;  ///< memory by address: any buffer that has one
};

}  // namespace tilegpu
