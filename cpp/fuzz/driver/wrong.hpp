// fuzz/driver/wrong.hpp -- calls that Vulkan forbids, as far as the driver checks: numbers that lead nowhere, states and kinds that do not
// fit. In: a world. Out: the same; its device may be lost.
#pragma once

#include "driver/world.hpp"

namespace tilegpu::fuzz {

/// Recorded in a command buffer that is thrown away.
void wrong_command(World& w);
/// Of states, shader objects and presents.
void wrong_state(World& w);
/// Of objects: they are not made, or made and destroyed.
void wrong_object(World& w);
/// That may lose the device: command buffers in the wrong state are submitted.
void wrong_submission(World& w);

}  // namespace tilegpu::fuzz
