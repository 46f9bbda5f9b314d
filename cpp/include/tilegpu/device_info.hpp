// tilegpu/device_info.hpp -- what a device is, and what its compilations cost; what there is to choose from before there is a device.
#pragma once

#include <vector>

#include "tilegpu/api.hpp"
#include "tilegpu/hidden_surface_removal.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu {

struct DeviceInfo {
  std::string cpu, cpu_features, llvm_version, jit_target, cache_dir, profile;
  std::string vectors;  ///< that code is made for: "AVX2", "AVX-512", "NEON", "SVE, 512 bits"
  uint32_t lanes = 0, threads = 0;
  uint32_t vertex_group = 1;  ///< vertices of a request to the cache of vertices of the profile's GPU; 0: it has batches that begin empty
  uint32_t kill_queue = 0;    ///< groups of four fragments that forward pixel kill's queue holds; 0: the profile's GPU has none
  float deferred_triangle_px2 = 0;    ///< deferred vertex shading: bounding box of the largest triangle that is deferred; 0: it has none
  uint64_t vertex_input_cache_B = 0;  ///< cache that vertices are fetched through
  uint32_t vertex_batch = 0;          ///< unique vertices in a batch, as asked for or the profile's; 0: 32, or none where indices are dense
};

struct CompileStats {
  uint64_t pipelines = 0, functions_compiled = 0, functions_from_memory = 0, functions_from_disk = 0;
  uint64_t functions_waiting = 0;  // have code that was made quickly; the optimised code isn't there yet
  uint64_t glsl_compiled = 0, glsl_from_disk = 0, modules_validated = 0;
  double compile_ms = 0, load_ms = 0;
};

/// "host, immortalis-g925, ...": the GPUs that can be modelled.
TILEGPU_API std::string profile_names();
/// Of profiles with GMEM (Adreno's): where passes are rendered. The same bits whatever it is.
enum class RenderMode : uint8_t {
  gmem,     ///< binned, then tile by tile in GMEM
  sysmem,   ///< at once, in memory: nothing is binned, low-resolution Z is written and tested in the order of drawing
  autotune  ///< as Mesa's autotuner chooses, from what the same pass did when it ran last
};

/// What passes of a profile use that do not say otherwise; for unknown names that of `host`.
TILEGPU_API HiddenSurfaceRemoval default_hsr(const std::string& profile);
/// Whether HiddenSurfaceRemoval::lrz_bidirectional does something: A7xx's, and profiles that have no low-resolution Z of their own.
TILEGPU_API bool has_bidirectional_lrz(const std::string& profile);

/// Of VK_KHR_fragment_shading_rate: a fragment size, and the counts of samples that it goes with (VkSampleCountFlags).
struct FragmentShadingRate {
  uint32_t width_px = 1, height_px = 1, sample_counts = 1;
};
/// All that there are, as vkGetPhysicalDeviceFragmentShadingRatesKHR orders them. Any profile draws with them.
TILEGPU_API std::vector<FragmentShadingRate> fragment_shading_rates();
/// "": the profile's GPU shades fragments of several pixels; else who says that it does not.
TILEGPU_API std::string shading_rate_obstacle(const std::string& profile);

/// Of VK_KHR_cooperative_matrix: A (m x k) times B (k x n) plus C (m x n), whose components the result has, by a subgroup.
struct CooperativeMatrixProduct {
  uint32_t m = 0, n = 0, k = 0;
  uint32_t a = 1, b = 1, c = 1;  ///< numbers of VkComponentTypeKHR, which headers of 2022 lack; 1: float32
  bool saturates = false;        ///< integers stop at the ends of their type when C is added
};
/// All that there are, as vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR orders them. Compute shaders have them on any profile.
TILEGPU_API std::vector<CooperativeMatrixProduct> cooperative_matrix_products();

/// Ends the threads that compile in the background, as the end of the process does, which waits for them for three seconds at most; what is
/// compiled afterwards, its callers compile. For front ends whose process goes on to take away what these threads use.
TILEGPU_API void end_background_compiles();

}  // namespace tilegpu
