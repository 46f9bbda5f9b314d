// device/undefined_reads.hpp -- what the draws of a pass read of attachments that began with undefined contents.
// In: a recorded pass. Out: lines for warnings, known before it is executed. Beside it what its draws lose.
#pragma once

#include <string>
#include <vector>

#include "command/pass.hpp"

namespace tilegpu::device {

/// A line for each attachment whose load operation is DONT_CARE or NONE and that a draw tests, blends with or reads as an input before a
/// clear or another draw may have written there. Areas are those of scissors, viewports and clears: what a draw covers of its own is not
/// known here, so that one that writes counts as covering all of it.
std::vector<std::string> undefined_reads(const command::Pass& pass);
/// A line for each pipeline that writes gl_Layer in a pass of one layer of an image with more, or gl_ViewportIndex with one viewport.
std::vector<std::string> lost_primitives(const command::Pass& pass);

}  // namespace tilegpu::device
