// shader/lower/entry.hpp -- what both entry points share: set-up of a Lowering, and the interpolation of fragment inputs.
// In: a key. Out: values of inputs.
#pragma once

#include "shader/jit/jit.hpp"
#include "shader/lower/context.hpp"
#include "shader/spirv/limits.hpp"

namespace tilegpu::shader {

/// Types of what the entry function's body uses; called at the function's first block.
void begin_body(Lowering& l, size_t sets_B, size_t push_constants_B, size_t scratch_B, size_t loops_B);
/// For a second body in the same function: what begin_body made for the first.
void share_beginning(Lowering& l, const Lowering& first);
/// Global Private and Output variables (and inputs that are indexed dynamically, by the caller), zeroed or initialised.
void make_globals(Lowering& l);
/// Inlines the entry point.
void run_entry_point(Lowering& l);
/// Adds what determines a stage's code.
void add_stage(CodeKey& key, const ShaderModule& module, const Specialization& specialization, const VaryingLayout& varyings,
               const ResourceTable& resources);
/// Evaluates and analyses the module of a key of either stage, then build(constants, divergence).
template <class Key, class Build>
Status analyse_and_build(const Key& key, Build&& build) {
  if (Status parsed = key.module->parse(); !parsed) return parsed;
  const Module& m = key.module->module();
  Expected<Constants> constants = specialise(m, key.specialization);
  if (!constants) return constants.error();
  const auto uniform_input = [&](uint32_t id, uint32_t) {  // asked of inputs only
    if (m.entry.model == spv::ExecutionModelTessellationEvaluation) return m.decoration(id).builtin != spv::BuiltInTessCoord;
    if (m.entry.model == spv::ExecutionModelGeometry)
      return m.decoration(id).builtin == spv::BuiltInInvocationId || m.decoration(id).builtin == spv::BuiltInViewIndex;
    switch (m.decoration(id).builtin) {
      case spv::BuiltInInstanceIndex:  // inputs of vertex shaders
      case spv::BuiltInBaseInstance:
      case spv::BuiltInBaseVertex:
      case spv::BuiltInDrawIndex:
      case spv::BuiltInViewIndex:
      case spv::BuiltInLayer:  // of fragment shaders
      case spv::BuiltInViewportIndex:
      case spv::BuiltInSampleId:
      case spv::BuiltInSamplePosition:
        return true;
      default:
        return false;
    }
  };
  Expected<Divergence> divergence = analyze_divergence(m, *constants, uniform_input);
  if (!divergence) return divergence.error();
  return build(*constants, *divergence);
}
/// An input made of ready values; a copy in memory where it is indexed dynamically.
void set_input(Lowering& l, uint32_t variable, std::vector<Value> scalars);
/// Inputs of several vertices, or of a patch, as they lie in memory: rows of lanes where they vary.
void place_inputs(Lowering& l, Value memory, bool varying);
/// Scalars of 64 bits as two words, the lower first; what has fewer as it is. And back, to the scalars of `type`.
std::vector<Value> words_of(Lowering& l, const Val& v);
std::vector<Value> from_words(Lowering& l, uint32_t type, const std::vector<Value>& words);

/// Fragment inputs: planes and barycentrics at a position, for one primitive or one for each quad.
struct Interpolator {
  Lowering& l;
  const FragmentKey& key;
  Block once = nullptr;  // blocks: open, before the loop over packets, all of primitive[0]

  struct Position {
    Value x = nullptr, y = nullptr;  // framebuffer coordinates, <N x float>
  };
  struct Barycentrics {
    Value q = nullptr;                 // 1/w
    Value b1 = nullptr, b2 = nullptr;  // perspective
    Value l1 = nullptr, l2 = nullptr;  // linear on the screen
  };
  Position place;         // blocks: centres of the packet's pixels
  bool by_lane = false;   // pixel packets: each lane has a place of its own
  bool constant = false;  // blocks: each input has one value all over the primitive
  /// A value of the primitive: made once where the packets are known to share it.
  template <class Make>
  Value of_primitive(Make&& make) {
    if (!once) return make();
    Block here = l.ir.current_block();
    l.ir.at(once);
    Value v = make();
    l.ir.at(here);
    return v;
  }
  /// One field of PrimitiveSetup: a scalar when uniform, else a vector by quad.
  Value field(Type type, size_t offset_B, bool uniform);
  Value four_fields(size_t offset_B);                              // of the setup's floats, of every quad
  Value varying_row(uint32_t vertex, uint32_t row, bool uniform);  // vertex 3: the provoking one
  Value quads_to_lanes(Value by_quad);                             // <N/4 x T> to <N x T>
  Value lane_pixel(bool is_y);                                     // by_lane: i32
  Value pixel(size_t offset_B);                                    // x_px or y_px of each lane's pixel, as float
  Position centre();
  Value coarse_centre(bool is_y);
  Position corner(uint32_t pixel);  // centre of pixel 0, 1 or 2 of the lane's quad; by_lane only
  Position at_sample(Value index);  // scalar or vector i32
  Position centroid();
  Value plane(size_t first_B, const Position& p, bool uniform);
  Barycentrics barycentrics(const Position& p, bool uniform);
  Value interpolate(uint32_t row, Interpolation how, const Barycentrics& b, bool uniform);
  int row_of(const InterfaceScalar& s) const;           // -1: nobody wrote it
  Value covered(uint32_t sample, bool tested = false);  // <N x i1> from raster_coverage; what passed early tests: live_coverage
  Val at_other_position(const Instruction& i);

  struct FourFields {
    LLVMBasicBlockRef block = nullptr;  // where they are known
    Value values = nullptr;
  };
  FourFields four_fields_[4] = {{}, {}, {}, {}};
};

/// OpImageRead of an input attachment (attachment.cpp).
Val read_input_attachment(Interpolator& at, const Instruction& i);

}  // namespace tilegpu::shader
