// shader/lower/fragment.hpp -- what the entry points of a fragment shader share: its inputs, its outputs, the first blocks of a function.
// In, out: see fragment.cpp.
#pragma once

#include <bitset>
#include <optional>
#include <vector>

#include "shader/epilogue/epilogue.hpp"
#include "shader/lower/entry.hpp"

namespace tilegpu::shader {

struct FragmentBuilder {
  Lowering& l;
  const FragmentKey& key;
  Interpolator inputs;

  struct InputVariable {
    uint32_t id = 0;
    std::vector<InterfaceScalar> scalars;
    std::vector<bool> used;
  };
  std::vector<InputVariable> variables;

  void find_inputs();
  int row_of(const InterfaceScalar& s) const { return inputs.row_of(s); }
  std::vector<Value> compute(bool uniform);
  std::vector<Value> compute_by_call();
  void compute_at(const Interpolator::Position& at, bool uniform, const InputVariable& v, std::optional<Interpolator::Barycentrics>& b,
                  std::optional<Interpolator::Barycentrics>& at_centroid, std::vector<Value>& result);
  Value builtin(const InterfaceScalar& s, const Interpolator::Position& at, const Interpolator::Barycentrics& b, bool uniform);
  void make_inputs();
  /// To FragmentArgs, or (colours only) to `packet`.
  void write_outputs(WholePacket* packet);
  void write_left_out(WholePacket* packet, const std::bitset<4> (&written)[kMaxTargets + 1]);
};

/// The block after the allocas, open; what every function of a fragment shader begins with is in it. f's first parameter is FragmentArgs.
Block begin_function(Lowering& l, Value f);
/// Adds what determines the code of a fragment shader.
void add_fragment(CodeKey& code, const FragmentKey& key);

}  // namespace tilegpu::shader
