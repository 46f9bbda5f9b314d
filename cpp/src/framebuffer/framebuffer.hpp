// framebuffer/framebuffer.hpp -- the five pieces of one pass, and the second set of loads and stores for incremental rendering.
//
// In: Vulkan's rendering info and a profile. Out: Framebuffer, checked. Source: docs/decisions.md, 23 (Vulkan to ops), 27 (spills).
#pragma once

#include "framebuffer/desc_info.hpp"
#include "framebuffer/layout.hpp"
#include "framebuffer/load.hpp"
#include "framebuffer/resolve.hpp"
#include "framebuffer/store.hpp"
#include "resource/memory_contents.hpp"
#include "tilegpu/rendering.hpp"

namespace tilegpu::framebuffer {

/// Which part of a split pass is rendered. normal: API load, resolve, API store. first: API load, spill store. middle: spill load,
/// spill store. last: spill load, resolve, API store.
enum class Part : uint8_t { normal, first, middle, last };

struct Framebuffer {
  Layout layout;
  Load load;    // from Vulkan's load operations
  Store store;  // from Vulkan's store operations
  Resolve resolve;
  DescInfo desc;
  Load spill_load;  // always the bound views, all samples
  Store spill_store;
};

Expected<Framebuffer> make_framebuffer(const RenderingInfo& info, const std::string& profile_name);
/// What of the hidden-surface removal that a pass asks for its profile can do with this layout; and why not the pre-pass, else null.
HiddenSurfaceRemoval allowed_hsr(const Framebuffer& framebuffer, HiddenSurfaceRemoval asked);
const char* prepass_obstacle(const Framebuffer& framebuffer);
/// Memory for transient images: called before the first spill.
Status ensure_spill_memory(const Framebuffer& framebuffer);
/// Before the first tile of an execution, by one thread: the bytes that will be stored may change from now on. Returns the signatures of
/// the target with transaction elimination; null: there is none.
std::shared_ptr<resource::BlockSignatures> begin_contents(const Framebuffer& framebuffer);
/// After the last tile: which subresources hold defined contents now, and why others do not. `written`: targets that the pass's commands
/// wrote (bit i colour i, 8 depth, 9 stencil): with store op NONE those are undefined, for a split would have spilled over them.
void end_contents(const Framebuffer& framebuffer, uint32_t written, const std::string& pass_label,
                  const resource::BlockSignatures* signatures);

inline const Load& load_of(const Framebuffer& f, Part part) { return part == Part::middle || part == Part::last ? f.spill_load : f.load; }
inline const Store& store_of(const Framebuffer& f, Part part) {
  return part == Part::first || part == Part::middle ? f.spill_store : f.store;
}
inline bool resolves_in(Part part) { return part == Part::normal || part == Part::last; }

}  // namespace tilegpu::framebuffer
