// shader/sampler/internal.hpp -- what the stages of a sampler function share while they emit it.
// In: a view and a sampler. Out: instructions.
// Stages, a file each: lod.cpp (which level), address.cpp (which texels, with what weights), cube.cpp (faces),
// texel.cpp (load, unpack, border, finish), window.cpp (texels of a block of pixels by rows), fixed.cpp and halves.cpp (filters of two
// kinds of texels), compile.cpp (the functions). A "raw" texel component is what is filtered:
// fixed-point codes as floats (divided by their maximum once, at the end), other numbers as they are.
#pragma once

#include <array>
#include <vector>

#include "shader/compiler.hpp"
#include "shader/ir/format_pack.hpp"
#include "shader/ir/sampler_types.hpp"
#include "vk/ycbcr.hpp"

namespace tilegpu::shader {

/// Within a level.
enum class LevelFilter : uint8_t { nearest, linear, cubic };

enum class ComponentKind : uint8_t { zero, one, code, direct };

struct TexelComponent {
  ComponentKind kind = ComponentKind::zero;
  uint32_t maximum = 1;  // of a code
  bool is_signed = false;
};

using TexelValues = std::array<Value, 4>;  // raw; null where the swizzle never asks

/// What is known when the function is made.
struct SamplerPlan {
  SamplerKey key;
  const vk::FormatInfo* format = nullptr;
  std::array<TexelComponent, 4> components;
  bool needed[4] = {};
  uint32_t texel_B = 4;
  bool depth = false, stencil = false, integer = false;
  bool compare = false, compare_color = false;  // the sampler compares; of a colour, where the instruction does too
  bool compare_zero = false;                    // the same of a colour without red, which is 0: after the filter
  bool array = false, cube = false, one_dimensional = false, volume = false;
  /// A cube whose filters go over edges to the next face; else its faces are images by themselves.
  bool seamless() const { return cube && !key.sampler.non_seamless_cube_map; }
  LevelFilter mag = LevelFilter::nearest, min = LevelFilter::nearest;
  bool mip_linear = false;
  bool level_0_alone = false;  // the view has no other, and filters don't depend on lambda: nobody asks for it
  bool uses_border = false;
  bool anisotropic = false;
  bool planes = false;   // luma and chroma lie apart (ycbcr.cpp)
  bool convert = false;  // a Y'CbCr model and range; RGB_IDENTITY is only a swizzle
  VkSamplerReductionMode reduction = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE;
  bool finite = false;       // raw components are never infinite or NaN
  bool fixed = false;        // linear filters by integers (fixed.cpp)
  bool halves = false;       // linear filters of rgba16f (halves.cpp)
  bool alpha_alone = false;  // alpha is a code that only the result's alpha takes: left out where the caller does not want it
};

Expected<SamplerPlan> make_sampler_plan(const SamplerKey& key);

/// One mip level; scalars, and splats of the size. Or a level for each lane: vectors, `data` and `pitch` of the view's level 0.
struct Level {
  Value data, pitch;             // ptr, i32 in bytes; lanes: in texels
  Value width, height;           // i32
  Value depth = nullptr;         // i32, 3D views
  Value start = nullptr;         // lanes: i32, texels from `data`
  Value width_f, height_f;       // f32 vectors
  Value layer_offset = nullptr;  // <N x i64>, bytes of the lane's layer (arrays, cubes, 3D, samples)
};

/// What is loaded once per call.
struct SamplerContext {
  const Ir& ir;
  const SamplerPlan& plan;
  Value view, sampler;            // ImageViewAbi*, SamplerAbi* (null for fetch)
  Value level_count;              // i32 scalar
  std::array<Value, 4> border{};  // raw, splat
  Value dref = nullptr;
  Value wants_alpha = nullptr;            // i1 scalar; null: always
  Value layer = nullptr;                  // <N x i32>, clamped; cubes: without the face
  Value offset_x, offset_y;               // i32 scalars; vectors for gather
  Value min_lod = nullptr;                // the shader's least LOD, beside the sampler's; or null
  Value r = nullptr, offset_z = nullptr;  // 3D: the third coordinate, folded, and its offset
};

Level load_level(const SamplerContext& c, Value level);
/// Of 2D views with texels of 4 bytes; 16 lanes, AVX-512.
Level load_level_of_lanes(const SamplerContext& c, Value levels);

// -- LOD (lod.cpp)
/// Vulkan's lambda before the clamp to the sampler's limits: log2 of the longer scaled derivative, bias.
/// `x`, `y`: of s, t and r; what the dimension lacks is not read.
Value lod_of_gradients(const SamplerContext& c, const Value x[3], const Value y[3], Value bias);
/// The same in two steps: the square of the longer derivative, then its logarithm.
Value rho_squared(const SamplerContext& c, const Value x[3], const Value y[3]);
/// Lambda times `scale`, a power of two. Finite.
Value lod_of_rho_squared(const SamplerContext& c, Value rho_squared, Value bias, float scale = 1);
/// Lanes (i1) of which it is sure without a logarithm that they take level 0 alone.
Value magnified_for_sure(const SamplerContext& c, Value rho_squared, Value bias);
Value lod_explicit(const SamplerContext& c, Value lod);
struct LevelChoice {
  Value level;      // i32 vector, in the view
  Value fraction;   // f32 vector, null unless mips are filtered
  Value d;          // f32 vector, level and fraction in one
  Value magnified;  // i1 vector, null unless the filters differ
  Value weight;     // i32 vector, the second level's of kFixedOne; where the plan is fixed and mips are filtered
};
LevelChoice choose_level(const SamplerContext& c, Value lambda);
/// Within the sampler's limits.
Value clamp_lod(const SamplerContext& c, Value lambda);
/// Of a finite lambda times kFixedOne + 1; mips are filtered by integers.
LevelChoice choose_fixed_level(const SamplerContext& c, Value scaled_lambda);

// -- addressing (address.cpp)
struct Axis {
  Value low, high;                                      // texel indices in range; high null for nearest
  Value fraction = nullptr;                             // weight of high
  Value low_outside = nullptr, high_outside = nullptr;  // i1, border only
};
/// What does not depend on the level: repeating coordinates folded to one period. NaN becomes 0 there.
Value fold_coordinate(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate);
/// Of a place between two texels these bits are kept, rounded to the nearest: subTexelPrecisionBits. So a picture that is read at the
/// centres of its texels, by whatever arithmetic, is that picture, and a filter of a block of pixels has one weight.
inline constexpr uint32_t kSubTexelBits = 8;
inline constexpr float kSubTexels = 1 << kSubTexelBits;
/// From a coordinate to the lower texel's centre, with what makes rounding down rounding to the nearest.
inline constexpr float kHalfLessRounding = 0.5f - 0.5f / kSubTexels;
/// In [0, 1), rounded down.
Value kept_fraction(const Ir& ir, Value fraction);
/// Before wrapping: the lower texel's index, and the weight of the next one (null for nearest). `move`: texels, of normalised coordinates.
struct AxisPosition {
  Value low, fraction;
};
AxisPosition place_on_axis(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear, float move = 0);
/// The same for a window: beyond what an index can be, the index is one that no window has, and the fraction is of no use. 16 lanes,
/// AVX-512.
AxisPosition place_in_window(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear);
/// place_on_axis without a move.
AxisPosition place_bounded(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size_f, bool linear);
Axis wrap_axis(const SamplerContext& c, VkSamplerAddressMode mode, const AxisPosition& at, Value size, Value offset);
/// The four texels of a cubic filter, the second of which is `low`: indices in range.
struct CubicAxis {
  std::array<Value, 4> at;
  std::array<Value, 4> outside{};  // i1, border only
  std::array<Value, 4> weight{};   // of the second: null, it keeps what the others leave
  Value fraction;
};
CubicAxis wrap_cubic_axis(const SamplerContext& c, VkSamplerAddressMode mode, const AxisPosition& at, Value size, Value offset);
/// Both. `coordinate`: folded; normalised unless the sampler says otherwise. `offset`: i32 scalar or vector.
Axis address_axis(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate, Value size, Value size_f, Value offset,
                  bool linear);

// -- cubes (cube.cpp)
struct CubeCoordinates {
  Value face;                    // i32
  Value s, t;                    // 0..1 on the face
  Value dsdx, dtdx, dsdy, dtdy;  // when gradients were given
};
CubeCoordinates cube_face(const Ir& ir, const Value r[3], const Value* drdx, const Value* drdy);
/// Texels beyond an edge of the face, moved to the neighbour; `corner`: there is none (average of the other three).
struct CubeTexel {
  Value face, x, y, corner;
};
CubeTexel cube_neighbour(const Ir& ir, Value face, Value x, Value y, Value size);

// -- blocks of 4x4 pixels whose texels lie in rows, within eight columns (window.cpp)
inline constexpr uint32_t kWindowColumns = 8;
/// One level's; scalars.
struct WindowLevel {
  Value data, pitch, width, height;  // ptr, i32 in bytes, i32
  WindowLevel(const Level& level) : data(level.data), pitch(level.pitch), width(level.width), height(level.height) {}
  WindowLevel(Value data_, Value pitch_, Value width_, Value height_) : data(data_), pitch(pitch_), width(width_), height(height_) {}
};
struct TexelWindow {
  Value there;                              // i1: the rest is only then of use
  Value first_column = nullptr;             // i32
  Value columns = nullptr, rows = nullptr;  // i32 by lane, of the left upper texel; columns from the first one on
  Value first_row = nullptr;                // i32; of find_step alone, in place of `rows`
};
struct WindowRows {
  std::array<Value, 4> upper_at;          // ptr, of the first column, by row of pixels
  Value pitch_B;                          // i64, to the lower ones
  std::array<Value, 4> upper{}, lower{};  // eight texels of each: i32 each, or i64; `lower` where filters reach further
  bool in_step = false;                   // the lower row is the next one's upper
};
/// Whether it is worth a question, as far as the view says.
bool asks_window(const SamplerContext& c);
/// `x`, `y`: whatever wrapping would leave alone inside of the level. `reach`: 1 where the next column and row are read too, else 0.
TexelWindow find_window(const SamplerContext& c, const WindowLevel& level, Value x, Value y, uint32_t reach, bool with_offsets);
/// A window of which each pixel has the texel beside that of the pixel before, along rows and columns: constant columns, one address.
TexelWindow find_step(const SamplerContext& c, const WindowLevel& level, Value x, Value y, bool with_offsets);
Value step_columns(const Ir& ir);
/// ptr, of the window's first texel; then its rows, addresses alone.
Value step_address(const SamplerContext& c, const WindowLevel& level, const TexelWindow& w);
WindowRows step_rows(const SamplerContext& c, const WindowLevel& level, Value first);
/// Addresses alone.
WindowRows find_rows(const SamplerContext& c, const WindowLevel& level, const TexelWindow& w);
WindowRows load_window(const SamplerContext& c, const WindowLevel& level, const TexelWindow& w, uint32_t reach);
void load_rows_of_window(const SamplerContext& c, WindowRows& rows, uint32_t reach);
/// Words of each lane in FourWords' order; without lower rows, or not `right`, those alone that are there.
std::array<Value, 4> window_words(const Ir& ir, const TexelWindow& w, const WindowRows& rows, bool right);
/// Both words of each lane's texel, where rows are of 64 bits.
std::array<Value, 2> window_word_pairs(const Ir& ir, const TexelWindow& w, const std::array<Value, 4>& rows);
/// Left and right texel of `lanes`, one after the other, in two vectors. The first eight lanes are of two rows of pixels, the others too.
std::array<Value, 2> window_pairs(const Ir& ir, const TexelWindow& w, const std::array<Value, 4>& rows, const std::vector<int>& lanes);
/// Of each row of pixels four left texels, four right ones, of the upper row or the lower one: halves as floats, a pixel's components side
/// by side.
std::array<std::array<Value, 2>, 4> window_halves(const SamplerContext& c, const TexelWindow& w, const WindowRows& rows, bool lower);
/// Lanes of a row of pixels, each four times.
Value spread_row(const Ir& ir, Value v, uint32_t row);
/// From rows of pixels, components side by side, to components by lane.
std::array<Value, 4> components_of_rows(const Ir& ir, const std::array<Value, 4>& rows);

// -- texels (texel.cpp)
struct TexelPosition {
  Value x, y;                    // i32, in range
  Value layer_offset = nullptr;  // i64, bytes; overrides the level's
};
/// Raw values of up to four texels of a compressed format (shader/sampler/compressed.cpp).
void load_compressed(const SamplerContext& c, const Level& level, uint32_t count, const TexelPosition* texels, TexelValues* out);
/// Raw values at (x, y), in range. `layer_offset` overrides the level's.
TexelValues load_texel(const SamplerContext& c, const Level& level, Value x, Value y, Value layer_offset);
/// The same of a window of the level.
TexelValues load_window_texel(const SamplerContext& c, const Level& level, const TexelWindow& w);
/// Of rows that are loaded.
TexelValues window_texel(const SamplerContext& c, const TexelWindow& w, const WindowRows& rows);
/// Byte offsets of texels (texel blocks of compressed formats, by column and row) from the level's data: i32, or i64 with layers and
/// samples.
Value texel_offsets(const SamplerContext& c, const Level& level, Value x, Value y, Value layer_offset);
/// The four texels of a linear filter, (low, low), (high, low), (low, high), (high, high), of up to 4 bytes each: two wide loads for a lane
/// where every lane's columns are neighbours in memory. Where all lanes' four texels lie inside of the level, nothing is wrapped.
struct FourWords {
  std::array<Value, 4> words;
  Axis x, y;  // only fractions and borders
};
/// `s`, `t`: folded coordinates.
FourWords load_four_words(const SamplerContext& c, const Level& level, Value s, Value t);
/// The components whose bits are set.
void unpack_words(const SamplerContext& c, const std::array<Value, 4>& words, uint32_t components, TexelValues out[4]);
/// A texel and the next one in its row, or `down` in its column; both inside of a level without layers in texels of up to 4 bytes.
std::array<Value, 2> load_two_words(const SamplerContext& c, const Level& level, Value x, Value y, bool down);
void unpack_two_words(const SamplerContext& c, const std::array<Value, 2>& words, uint32_t components, TexelValues out[2]);
TexelValues replace_border(const SamplerContext& c, const TexelValues& texel, Value outside);
/// Vectors of one type as one; their number is a power of two.
Value joined(const Ir& ir, std::vector<Value> parts);
/// Depth against dref: 1 or 0 in component 0.
TexelValues compare_depth(const SamplerContext& c, const TexelValues& texel);
/// Codes times `one` to numbers, absent components, swizzle.
std::array<Value, 4> finish_texel(const SamplerContext& c, const TexelValues& raw, uint32_t one = 1);
/// The end of finish_texel where the plan converts (ycbcr.cpp).
std::array<Value, 4> convert_ycbcr(const SamplerContext& c, const TexelValues& raw, const std::array<Value, 4>& result, uint32_t one);
/// a + w * (b - a): exact where a equals b. A texel without weight takes no part, as which one that is no number would.
TexelValues mix_texels(const SamplerContext& c, const TexelValues& a, const TexelValues& b, Value weight);
/// The least or the greatest of those that have weight; else the mix.
TexelValues reduce_texels(const SamplerContext& c, const TexelValues& a, const TexelValues& b, Value weight);
TexelValues select_texels(const Ir& ir, Value condition, const TexelValues& a, const TexelValues& b);

// -- several look-ups at once (many.cpp)
bool filters_many(const SamplerPlan& plan);
/// By calls of sample_implicit, one after the other.
Expected<const CodeSlot*> compile_many_one_by_one(Jit& jit);

// -- filters of four halves (halves.cpp)
bool filters_halves(const SamplerPlan& plan);
/// Of a window, its rows of pixels: components side by side.
std::array<Value, 4> filter_window(const SamplerContext& c, const TexelWindow& w, const WindowRows& rows, Value fx, Value fy);
/// The same of a window in step, of one fraction for all; null: 0.
std::array<Value, 4> filter_step(const SamplerContext& c, const WindowRows& rows, Value fx, Value fy);
void prefetch_window(const Ir& ir, const WindowRows& rows);
/// One level, its four texels mixed.
TexelValues filter_halves(const SamplerContext& c, const Level& level, Value s, Value t);

// -- filters by integers (fixed.cpp)
inline constexpr uint32_t kFixedOne = 32767;  // the sum of all weights
struct FixedLevel {
  Value data;                                                  // ptr
  Value scale_x, scale_y;                                      // f32, 65536 times the size
  Value middle_x = nullptr, middle_y = nullptr;                // f32, half of that of the last texel; or null
  Value last, pitch;                                           // i32, last_texel and pitch_and_one of ImageViewAbi
  Value row_B = nullptr;                                       // i64, the same pitch in bytes, where the level is one for all; or null
  Value pitch_B = nullptr, width = nullptr, height = nullptr;  // i32, likewise
  Value start = nullptr;                                       // i32, texels from `data`; or null
  Value layer_offset = nullptr;                                // i64, bytes; or null
};
struct FixedWeight {
  Value low, both;  // i32; as two words
};
struct FixedSum {
  Value pair[2];  // <2N x i32>: components 0 and 1, 2 and 3 of each lane
};
/// In place of fold_coordinate.
Value fold_fixed(const SamplerContext& c, VkSamplerAddressMode mode, Value coordinate);
/// `level`: i32, one for all or one a lane.
FixedLevel load_fixed_level(const SamplerContext& c, Value level);
FixedWeight fixed_weight(const Ir& ir, Value weight);
FixedWeight whole_weight(const Ir& ir);
FixedWeight other_weight(const Ir& ir, const FixedWeight& weight);  // kFixedOne less this
/// The level's four texels times their weights, added to `sum` (null: 0).
FixedSum add_fixed_level(const SamplerContext& c, const FixedLevel& level, Value s, Value t, const FixedWeight& weight,
                         const FixedSum* sum);
/// The same of texels that are loaded, pairs of each lane. No `bottom_row`: v is at the centre of a row.
FixedSum sum_of_rows(const SamplerContext& c, Value top_row, Value bottom_row, Value u, Value v, const FixedWeight& weight,
                     const FixedSum* sum);
/// Of places at the centres of rows, whose two texels lie inside of the level.
FixedSum sum_of_upper_row(const SamplerContext& c, const FixedLevel& level, Value u, Value v);
struct FixedPlace {
  Value u, v;  // 16 and 16 bits
};
inline constexpr uint32_t kKeptFraction = 0xff00;  // of u and v
/// Not `bounded`: beyond what fits, a place that no window has.
FixedPlace place_fixed(const SamplerContext& c, const FixedLevel& level, Value s, Value t, bool bounded);
Value pairs_of_window(const Ir& ir, const TexelWindow& w, const std::array<Value, 4>& rows);
/// A component's codes times kFixedOne, f32.
Value fixed_component(const Ir& ir, const FixedSum& sum, uint32_t component);

}  // namespace tilegpu::shader
