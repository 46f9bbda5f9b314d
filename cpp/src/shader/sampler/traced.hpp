// shader/sampler/traced.hpp -- sampler functions that say what they are asked before they do it, for counts of what draws touch of
// textures.
//
// In: the slots of ordinary functions. Out: one function for each operation, whatever format and sampler: it notes its arguments and calls
// the ordinary one, whose result it returns; so nothing changes but time. Put in place of the ordinary slots while a pass is traced
// (descriptor/texture_trace.hpp); which texels a call reads: footprint.hpp.
#pragma once

#include <array>

#include "shader/compiler.hpp"

namespace tilegpu::shader {

/// A function that reads texels.
struct TracedOperation {
  TextureUse use{};
  const CodeSlot* TextureDescriptor::* slot = nullptr;
  uint32_t mask = 0;  // which of its scalar arguments says what lanes want a result
};
extern const std::array<TracedOperation, 6> kTracedOperations;

/// The arguments of a call by their number (sampler_types.hpp): vectors in `lanes`, scalars in `scalar`. What the view's dimension does not
/// use is undefined.
inline constexpr uint32_t kMostSamplerArguments = 18;
struct alignas(64) TexelCall {
  uint32_t lanes[kMostSamplerArguments][kMaxLanes];
  uint32_t scalar[kMostSamplerArguments];
  uint32_t lane_count;
};

/// In place of a function's slot. Generated code reads `original` and `note`.
struct TracedSlot {
  CodeSlot slot;  // of the generated function; first, as whoever calls it knows nothing else
  const CodeSlot* original = nullptr;
  void (*note)(const TracedSlot* slot, const TexelCall* call) = nullptr;
  const TracedOperation* operation = nullptr;
  const void* texture = nullptr;  // the owner's
};

/// By the place of their operation in kTracedOperations.
using TracedSamplers = std::array<const CodeSlot*, 6>;
Expected<TracedSamplers> compile_traced_samplers(Jit& jit);

}  // namespace tilegpu::shader
