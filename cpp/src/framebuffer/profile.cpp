// framebuffer/profile.cpp -- the table of GPU profiles.
// In: a name. Out: a Profile.
// Forward pixel kill's capacity is published for none of them: 256 quads are a model.
// So are the 256 px2 of a small triangle; Arm's article has deferred vertex shading from Mali-G720 and Immortalis-G920 on.
// Where the article and Mesa's table differ (tile sizes of G725), each row follows the source that it names.
// A fact without a published source is marked as a model in the row's description or source.
#include "framebuffer/profile.hpp"

#include "tilegpu/device_info.hpp"

namespace tilegpu {
namespace framebuffer {
namespace {

constexpr uint32_t KiB = 1024;
constexpr uint64_t MiB = 1024 * 1024;
// Batches of vertices: 32, as Giesen's article works them out ("between 16 and 64"; two warps of Mali's 16 lanes). No vendor publishes how
// many shaded vertices its GPU remembers: a model, in every row.
constexpr uint32_t kBatch = 32;
// Mali has a cache of shaded vertices in its tiler, which is asked by requests: Arm's performance counter references ("evicted from the
// post-transform cache"). Of Mali-G57, G610 and G720 a request has 4 vertices, and Arm's engineers say that it begins at a multiple of 4,
// so that neighbours are shaded whom nobody names. Of G725 and G625 it has up to 16, fewer where it is partial: vertices are gathered one
// by one. docs/vertex_reuse.md
constexpr uint32_t kFour = 4, kGathered = 1, kNoCache = 0;

constexpr Gmem kNoGmem = {};
constexpr Gmem kGmemA630 = {1024 * KiB, 32, 16, 1024, 1008}, kGmemA650 = {1152 * KiB, 96, 16, 1024, 1008},
               kGmemA740 = {3072 * KiB, 96, 32, 1728, 1728};

// Arm's GPUs have it from the fourth generation of Valhall on; Mesa's table says it of devices (has_attachment_shading_rate).
constexpr const char* kArmSource =
    "Arm, announcement of Mali-G615, Mali-G715 and Immortalis-G715: variable rate shading from the fourth generation of Valhall on";
constexpr const char* kMesaSource = "Mesa, table of devices: shading rates of a7xx, not of generations 1 to 3 of a6xx";
constexpr ShadingRateFact kArmRates = {true, kArmSource}, kNoArmRates = {false, kArmSource}, kMesaRates = {true, kMesaSource},
                          kNoMesaRates = {false, kMesaSource}, kHostRates = {true, "this program has them"},
                          kDesktopRates = {true, "a model: NVIDIA's GPUs have them from Turing on, AMD's from RDNA 2 on"};

constexpr Profile kProfiles[] = {
    // Bins are chosen by host_bin_px from the size of L2; the heap is bounded only to keep a runaway mesh from taking the machine.
    {"host", "tuned for this CPU: bins sized for its caches, visibility buffer", TileModel::host, 0, 0, 1, 128 * 128, 0, false, 64, false,
     256, false, 1024 * MiB, 0, kNoCache, "measured on the machine that runs it", kNoGmem, kHostRates},
    // The article: 64x64 up to 128 bits a pixel, 64x32 up to 256, then 32x32: 64 KiB of colour, all of it used for one tile.
    {"immortalis-g925", "tile memory, fragment prepass and forward pixel kill as Arm's article states them", TileModel::buffer, 64 * KiB,
     64 * KiB, 1, 64 * 64, 0, true, 256, true, 256, true, 128 * MiB, kBatch, kGathered,
     "Arm, article on the fragment prepass of Immortalis-G925: thresholds of tile sizes; heap: a model", kNoGmem, kArmRates},
    // Mesa's panfrost model table: tile buffer sizes {colour, depth}; half is the budget, the other half is for pipelining.
    {"mali-g725", "tile memory as Mesa's driver programs it, fragment prepass, forward pixel kill", TileModel::buffer, 64 * KiB, 64 * KiB,
     2, 64 * 64, 0, true, 256, true, 256, true, 128 * MiB, kBatch, kGathered,
     "Mesa, panfrost's table of models (architecture 13): tile buffers; heap: a model", kNoGmem, kArmRates},
    {"mali-g720", "tile memory as Mesa's driver programs it, forward pixel kill, deferred vertex shading", TileModel::buffer, 64 * KiB,
     32 * KiB, 2, 64 * 64, 0, false, 256, true, 256, true, 128 * MiB, kBatch, kFour,
     "Mesa, panfrost's table of models (architecture 12): tile buffers; Arm's article: deferred vertex shading; heap: a model", kNoGmem,
     kArmRates},
    {"mali-g610", "tile memory as Mesa's driver programs it, forward pixel kill", TileModel::buffer, 32 * KiB, 16 * KiB, 2, 32 * 32, 0,
     false, 256, false, 256, true, 128 * MiB, kBatch, kFour,
     "Mesa, panfrost's table of models (architecture 10): tile buffers; heap: a model", kNoGmem, kNoArmRates},
    {"mali-g57", "tile memory as Mesa's driver programs it, forward pixel kill", TileModel::buffer, 16 * KiB, 8 * KiB, 2, 16 * 16, 0, false,
     256, false, 256, true, 128 * MiB, kBatch, kFour, "Mesa, panfrost's table of models (architecture 9): tile buffers; heap: a model",
     kNoGmem, kNoArmRates},
    // Named by the article without sizes of their own: those of the sibling of the same generation that Mesa's table has.
    {"mali-g625", "the smallest GPU with the fragment prepass that Arm's article names; tile memory of its sibling G725", TileModel::buffer,
     64 * KiB, 64 * KiB, 2, 64 * 64, 0, true, 256, true, 256, true, 128 * MiB, kBatch, kGathered,
     "Arm, article on the fragment prepass: prepass on Mali-G625; tile buffers of mali-g725: a model; heap: a model", kNoGmem, kArmRates},
    {"immortalis-g920", "deferred vertex shading and forward pixel kill, no fragment prepass: the series before G925 in Arm's article",
     TileModel::buffer, 64 * KiB, 32 * KiB, 2, 64 * 64, 0, false, 256, true, 256, true, 128 * MiB, kBatch, kFour,
     "Arm, article on the fragment prepass: deferred vertex shading from Immortalis-G920; tile buffers of mali-g720: a model; heap: a "
     "model",
     kNoGmem, kArmRates},
    // Turnip's LRZ and GMEM: sizes and alignments of Mesa's table of devices.
    {"adreno-a630", "low-resolution Z, and tiles in GMEM as Mesa's driver cuts them", TileModel::gmem, 0, 0, 1, 0, 1, false, 0, false, 256,
     false, 128 * MiB, kBatch, kNoCache,
     "Mesa, Turnip's documentation and code of LRZ; table of devices (generation 1 of a6xx): GMEM; heap: a model", kGmemA630, kNoMesaRates},
    {"adreno-a650", "low-resolution Z with direction tracking, and tiles in GMEM as Mesa's driver cuts them", TileModel::gmem, 0, 0, 1, 0,
     3, false, 0, false, 256, false, 128 * MiB, kBatch, kNoCache,
     "Mesa, Turnip's documentation and code of LRZ; table of devices (generation 3 of a6xx): GMEM; heap: a model", kGmemA650, kNoMesaRates},
    {"adreno-a740", "bidirectional low-resolution Z, and tiles in GMEM as Mesa's driver cuts them", TileModel::gmem, 0, 0, 1, 0, 4, false,
     0, false, 256, false, 128 * MiB, kBatch, kNoCache,
     "Mesa, Turnip's documentation and code of LRZ; table of devices (a7xx): GMEM; heap: a model", kGmemA740, kMesaRates},
    // Primitives are drawn one after the other, early tests and hierarchical depth reject what is behind; nothing is binned.
    {"desktop-immediate", "an immediate-mode desktop GPU: no tiles, attachments in memory behind caches", TileModel::immediate, 0, 0, 1, 0,
     0, false, 0, false, 256, false, 1024 * MiB, kBatch, kNoCache,
     "PanVK's article, \"A brief introduction to tiled rendering\": what an immediate-mode renderer is; its figures: a model "
     "(docs/costs.md)",
     kNoGmem, kDesktopRates},
};

}  // namespace

const Profile* find_profile(const std::string& name) {
  for (const Profile& profile : kProfiles) {
    if (name == profile.name) return &profile;
  }
  return nullptr;
}

}  // namespace framebuffer

HiddenSurfaceRemoval default_hsr(const std::string& name) {
  HiddenSurfaceRemoval hsr;
  const framebuffer::Profile* profile = framebuffer::find_profile(name);
  hsr.low_resolution_z = profile && profile->lrz_generation;
  if (!profile || profile->tile_model == framebuffer::TileModel::host) return hsr;
  // No GPU has the host's: Arm's and Qualcomm's have no visibility buffer; hierarchical depth is a choice of this program and costs
  // nothing.
  hsr.visibility_buffer = false;
  hsr.pre_pass = profile->fragment_prepass;
  hsr.forward_pixel_kill = profile->fpk_quads != 0;
  hsr.deferred_vertex_shading = profile->deferred_vertices;
  return hsr;
}

bool has_bidirectional_lrz(const std::string& name) {
  const framebuffer::Profile* profile = framebuffer::find_profile(name);
  return !profile || !profile->lrz_generation || profile->lrz_generation >= 4;  // A7xx
}

std::string shading_rate_obstacle(const std::string& name) {
  const framebuffer::Profile* profile = framebuffer::find_profile(name);
  return profile && !profile->shading_rate.has ? profile->shading_rate.source : "";
}

std::string profile_names() {
  std::string names;
  for (const framebuffer::Profile& profile : framebuffer::kProfiles) {
    if (!names.empty()) names += ", ";
    names += profile.name;
  }
  return names;
}

}  // namespace tilegpu
