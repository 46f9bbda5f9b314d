// framebuffer/make_in_place.hpp -- make_framebuffer where the framebuffer lies already. In: rendering info. Out: a framebuffer that was not
// made before. To move one takes longer than to make it: it has a description of each of ten targets.
#pragma once

#include "framebuffer/framebuffer.hpp"

namespace tilegpu::framebuffer {

/// `out`: as it is constructed; after an error it is of no use.
Status make_in_place(const RenderingInfo& info, const std::string& profile_name, Framebuffer& out);

}  // namespace tilegpu::framebuffer
