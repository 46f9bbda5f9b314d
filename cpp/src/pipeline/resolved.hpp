// pipeline/resolved.hpp -- what a draw runs: machine code, tables, and the classification that its state and its shaders lead to.
#pragma once

#include "shader/compiler.hpp"

namespace tilegpu::pipeline {

/// What the fixed functions must do for the pipeline's fragments, and when. Source: Vulkan specification, "Fragment Operations"
/// and "Early Fragment Test"; docs/decisions.md, 29, for the split of update and kill.
struct Classification {
  bool early_test = true;   // depth/stencil tests may kill before shading
  bool early_write = true;  // and may write then (else: written after shading)
  bool late_test = false;   // the test itself happens after shading
  bool opaque = false;      // writes all components of every attachment, no blending, logic op copy, no tile read
  bool reads_tile = false;  // blending, logic op, partial write masks, input attachments: order within a pixel matters
  bool pins_order = false;  // reads a depth or stencil value that its own early tests write: each primitive is shaded before the next
  bool side_effects = false;
  bool per_sample = false;
  bool writes_color = false;  // any attachment at all
  bool kills = false;         // the shader or its alpha changes coverage
  // The shader decides coverage or what is tested, and is asked before depth and stencil are final: known from its slice.
  bool needs_slice = false;
  uint32_t overwritten_colors = 0;  // bit i: attachment i is written, all components, whatever it held
};

/// Made once for a program and a state; nothing below the recording asks a pipeline. What fixed functions read beside it stands in the
/// draw's state (command/draw.hpp).
struct Resolved {
  std::string label;  // of the pipeline, for messages
  shader::StageTraits vertex_traits, fragment_traits;
  shader::VaryingLayout varyings;
  shader::ResourceTable resources, vertex_resources;  // of all stages together; of the vertex shader
  std::vector<shader::InputSource> inputs;            // input attachments, mapped to planes of the tile
  shader::Code<shader::VertexFunction> vertex;
  shader::Code<shader::FragmentFunction> fragment;  // null: no fragment shader
  shader::Code<shader::FragmentFunction> epilogue;  // null: nothing to write
  shader::Code<shader::BlocksFunction> blocks;      // both over whole blocks; null where they go one by one
  shader::Code<shader::FragmentFunction> pixels;    // both over pixel packets; null where quads are needed, and until wanted
  shader::Code<shader::FragmentFunction> slice;     // the fragment shader up to known coverage; where Classification::needs_slice
  Classification classification;
  uint32_t written_targets = 0;  // bit i: colour i may be written; 8: depth, 9: stencil
  // Deferred vertex shading: the vertex shader cut down to positions, null until a pass first asks for it (position_shader), with its key;
  // and what either shader writes, of `resources`.
  shader::Code<shader::VertexFunction> position;
  shader::VertexKey position_key;
  std::vector<shader::BufferSlot> written_buffers;
  FixedList<VkVertexInputBindingDescription, kMaxVertexBindings> vertex_input;  // what `vertex` fetches from
  VkFormat depth_format = VK_FORMAT_UNDEFINED;
  uint32_t samples = 1;
  uint64_t shader_id = 0;  // equal: quads may share a packet (same fragment and epilogue functions)
};

}  // namespace tilegpu::pipeline
