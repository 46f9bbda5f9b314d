// framebuffer/rendering_checks.hpp -- validation of a pass before work starts; fills the layout's sizes, formats and samples.
// In: RenderingInfo. Out: Layout, or an error.
#pragma once

#include "framebuffer/layout.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::framebuffer {

/// In: info, layout.profile. Out: width, height, render area, samples, layers, formats of the layout.
Status check_rendering(const RenderingInfo& info, Layout& layout);

/// What Vulkan forbids of a pass that check_rendering lets be: the framebuffer's pieces can do it.
Status forbidden_of(const RenderingInfo& info);

}  // namespace tilegpu::framebuffer
