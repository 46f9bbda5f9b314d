// shader/module/implied_capabilities.hpp -- capabilities that a module needs and that it forgot to declare; structures that
// are blocks, and forgot to say so.
//
// In: words of a module. Out: words with an OpCapability, or an OpDecorate, for each. Programs whose driver never asked go on as they did
// (Mesa 22.3's Zink reads SampleId in shaders of its blits, and demotes; DXVK's own push constants are no Block). Source: SPIR-V
// specification, "Built-In", "Decoration", "Capability".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilegpu::shader {

/// Declares them in front of all others; returns their names. Words that are no module stay as they are: the validator says what is wrong.
std::vector<const char*> declare_implied_capabilities(std::vector<uint32_t>& words);

/// Decorates the structures of push constants and of buffers that are no Block (of buffers: no BufferBlock either); returns how many.
size_t declare_implied_blocks(std::vector<uint32_t>& words);

}  // namespace tilegpu::shader
