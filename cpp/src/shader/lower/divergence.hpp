// shader/lower/divergence.hpp -- what is the same for all lanes, and where lanes may part.
//
// In: the Module, its constants, the control-flow trees. Out: for every id, whether its value differs between lanes; for every
// construct, whether it is a "node": a stretch that lanes leave or enter separately, so that it runs under an execution mask.
// Optimistic fixpoint: everything starts uniform. A lane that is inactive in a node stays so until the node is entered again.
// Source: own; the terms are those of Karrenberg and Hack, "Whole-Function Vectorization" (CGO 2011).
#pragma once

#include <functional>
#include <set>

#include "shader/lower/structure.hpp"

namespace tilegpu::shader {

/// Join of a construct that lanes may wait at: construct * 2, + 1 for a loop's continue target.
using Join = uint32_t;

struct ConstructFacts {
  bool divergent = false;      // selection, switch: by its condition
  bool node = false;           // loop, function: lanes leave separately; selection, switch: lanes wait at the merge block
  bool continue_node = false;  // loop: lanes wait at the continue target
  std::set<Join> outer_jumps;  // joins of enclosing constructs at which lanes from inside wait
};

struct FunctionFacts {
  FunctionTree tree;
  std::vector<ConstructFacts> constructs;
  /// Of local variables: instructions that name them, and in which block; once for each time that they do.
  struct Use {
    uint32_t block, instruction;
  };
  std::unordered_map<uint32_t, std::vector<Use>> uses;
  bool kills = false;  // contains discard, calls included
  bool return_varying = false;
};

struct Divergence {
  std::map<uint32_t, FunctionFacts> functions;
  std::vector<uint8_t> varying;  // [bound] values; variables and pointer parameters: their content
  std::vector<uint8_t> escape;   // [bound] 0: used only where its block dominates by structure; 1: elsewhere; 2: also after a loop that
                                 // lanes leave separately
  std::vector<uint8_t> dynamic;  // [bound] variables and parameters that are indexed with non-constants
  std::vector<uint8_t> unmasked_store;  // [instructions] stores whose inactive lanes nobody reads

  /// Ids of the nodes around a region, innermost first.
  static std::vector<uint32_t> nodes(const FunctionFacts& f, uint32_t region);
  /// Does the jump or return in `region` leave lanes behind, so that it only marks lanes as waiting?
  static bool is_masked(const FunctionFacts& f, uint32_t region, const Item& item);
  bool is_varying(uint32_t id) const { return id < varying.size() && varying[id]; }
};

/// An input whose value is the same for all lanes; or one component of it (kNone: the whole).
using UniformInput = std::function<bool(uint32_t variable, uint32_t component)>;
Expected<Divergence> analyze_divergence(const Module& module, const Constants& constants, const UniformInput& uniform_input);

/// Derivatives, what asks for them, and subgroup operations: a lane sees what its neighbours have.
bool crosses_lanes(spv::Op op);

/// The variable or parameter that a pointer is made of; 0: none.
uint32_t pointer_root(const Module& module, uint32_t pointer);

}  // namespace tilegpu::shader
