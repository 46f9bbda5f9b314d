// shader/sampler/function.hpp -- what builds one function of a sampler. In: plan. Out: IR.
//
// compile.cpp has the functions' beginnings and ends, the levels and the groups of lanes; filter.cpp the texels of one level and their
// sums; centres.cpp those that need no sum; cubic.cpp the same of cubic filters; ycbcr.cpp those of luma and chroma apart; storage.cpp
// texels by integer coordinates; anisotropy.cpp several samples along a line, and queries of the LOD.
#pragma once

#include <functional>

#include "shader/sampler/internal.hpp"

namespace tilegpu::shader {

class SamplerFunctionBuilder {
 public:
  SamplerFunctionBuilder(const Ir& ir_, const SamplerPlan& plan_, Value fn_)
      : ir(ir_), plan(plan_), fn(fn_), c{ir_, plan_, nullptr, nullptr, nullptr, {}, nullptr, nullptr, nullptr, nullptr} {}
  void gradient();
  void min_lod();
  void implicit();
  void many();
  void lod();
  void fetch();
  void gather();
  void store();
  void address();
  void query_lod();

 private:
  struct TexelCoordinates {
    Value x, y, layer, sample;  // i32
  };
  struct TexelPlace {
    Value inside = nullptr, x = nullptr, y = nullptr, offset = nullptr;
  };
  struct StoragePlace {
    Value data, offsets, wanted;  // ptr, i64, i1
  };
  TexelPlace place_in_level(const Level& level, Value level_index, const TexelCoordinates& at) const;
  StoragePlace place_in_storage(const TexelCoordinates& at, Value mask);
  struct Footprint {
    Value at[3], dx[3], dy[3];  // coordinates or a direction, and their derivatives
  };
  struct Anisotropy {
    LevelChoice choice;
    Value lambda, count, along_x;
  };
  /// Of a call: left upper texels by lane, and what filters take as fractions (of fixed ones the positions).
  struct Places {
    Value x, y, at_x, at_y;
  };
  /// Along which axes places lie between the centres of texels, so that a filter has something to do.
  enum class Between : uint32_t { both, columns, rows, neither };
  Anisotropy anisotropy_of(const Footprint& of, Value bias) const;
  void sample_along(const Footprint& of, Value bias, Value mask);
  void load_context(Value descriptor, Value layer_argument);
  void sample(Value s, Value t, Value face, const std::function<LevelChoice()>& choose, Value magnified, Value mask);
  void sample_at(Value s, Value t, Value rho2, Value bias, Value mask);
  bool asks_centres() const;
  Places find_places(const FixedLevel& fixed, const Level& level, Value s, Value t, bool bounded) const;
  Value is_centre(Value fraction) const;
  Value is_one_fraction(const Places& at) const;
  void branch_in_step(const Places& at, const TexelWindow& step, Block in_step, Block other) const;
  Value between_of(const Places& at) const;
  void sample_centres(Value s, Value t);
  void sample_centres_by_lane(const FixedLevel& fixed, const Level& level, const Places& at, Block other);
  void each_between(Value between, const std::function<void(Between)>& serve) const;
  TexelValues as_filtered(const TexelValues& texel) const;
  std::array<Value, 4> filter_step_of_halves(Between between, const WindowRows& rows, Value fx, Value fy, Block otherwise);
  std::array<Value, 4> filter_place(Between between, const TexelWindow& w, WindowRows rows, Value fx, Value fy, Block otherwise);
  void sample_planes(Value s, Value t, Value magnified);
  void four_of_face(const Level& level, Value s, Value t, Value face, TexelValues out[4], Axis& ax, Axis& ay);
  TexelValues sample_level(Value level_index, Value s, Value t, Value face, LevelFilter filter);
  TexelValues filter_level(const Level& level, Value s, Value t, Value face);
  TexelValues filter_slices(const Level& level, Value s, Value t);
  TexelValues filter_cubic(const Level& level, Value s, Value t);
  TexelValues cubic_row(const Level& level, const CubicAxis& x, Value y, Value outside);
  TexelValues sum_of_four(const CubicAxis& axis, const std::function<TexelValues(Value index, Value outside)>& one);
  Level slice_of(const Level& level, Value slice) const;
  bool levels_by_lane() const;
  std::vector<Value> sample_lanes(Value s, Value t, const LevelChoice& choice, Value mask);
  FixedSum sum_fixed(Value s, Value t, Value level, Value weight, Value wanted) const;
  TexelValues components_of(const FixedSum& sum, uint32_t components = 15) const;
  std::vector<Value> sample_fixed(Value s, Value t, Value level, Value weight, Value wanted) const;
  void finish_fixed(const FixedSum& sum);
  using ServeGroup = std::function<std::vector<Value>(Value id, Value members, Value member_bits)>;
  std::vector<Value> each_group(Value id, Value mask, bool predict, const ServeGroup& serve);
  std::vector<Value> sample_two_levels(const std::function<std::vector<Value>(Value level)>& one_level, const LevelChoice& choice,
                                       Value level, Value member_bits);
  std::vector<Value> sample_groups(Value s, Value t, Value face, const LevelChoice& choice, Value mask);
  std::vector<Value> mix_levels(const std::vector<Value>& now, const std::vector<Value>& first, const LevelChoice& choice) const;
  TexelValues read(const Level& level, Value x, Value y, Value face, Value outside, bool by_rows = false);
  void four_texels(const Level& level, Value s, Value t, Value face, TexelValues out[4], Axis& ax, Axis& ay);
  void finish(const TexelValues& raw, bool sums = false);
  void return_values(const std::array<Value, 4>& values);
  std::vector<Value> pack(const TexelValues& t) const;
  TexelValues unpack(const std::vector<Value>& v, size_t first = 0) const;
  TexelValues like_texel(Value fill) const;
  Value predicted(Value id);
  void fold(Value& s, Value& t, bool fixed = false);

  const Ir& ir;
  const SamplerPlan& plan;
  Value fn;
  SamplerContext c;
  Value current_layer_pitch = nullptr;  // i64 scalar of the level at hand (cubes, 3D)
};

}  // namespace tilegpu::shader
