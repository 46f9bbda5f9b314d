// framebuffer/describe.hpp -- the five pieces as readable values, and what a mobile engineer would say about the pass.
//
// In: Framebuffer, PassStats. Out: JSON text (objects of numbers, strings and arrays), lint lines.
#pragma once

#include <string>
#include <vector>

#include "framebuffer/framebuffer.hpp"
#include "tilegpu/stats.hpp"

namespace tilegpu::framebuffer {

std::string describe(const Layout& layout);
/// `layout` tells which targets exist.
std::string describe(const Load& load, const Layout& layout);
std::string describe(const Store& store, const Layout& layout);
std::string describe(const Resolve& resolve, const Layout& layout);
std::string describe(const DescInfo& desc);
/// {"layout": ..., "load": ..., "store": ..., "resolve": ..., "desc": ..., "spill_load": ..., "spill_store": ...}
std::string describe(const Framebuffer& framebuffer);

/// One line for each thing that costs bytes without need, with the bytes. `cleared_in_pass`: bit i is set when the pass clears the
/// whole of target i (colours, 8 depth, 9 stencil) with a command before any draw.
std::vector<std::string> lint(const Framebuffer& framebuffer, const PassStats& stats, uint32_t cleared_in_pass);
/// What it cost that the pass before was split at a barrier. `reader`: who reads what was drawn before.
std::string describe_split(const Framebuffer& framebuffer, const PassStats& stats, const std::string& reader);

}  // namespace tilegpu::framebuffer
