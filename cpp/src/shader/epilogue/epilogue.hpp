// shader/epilogue/epilogue.hpp -- the end of a whole packet as instructions, for functions that hold the shader's body too
// (lower/blocks.cpp, lower/fragment.cpp).
//
// In: the body's outputs as values. Out: words in tile memory, bit for bit those of compile_epilogue for a packet that is whole.
#pragma once

#include <array>

#include "shader/compiler.hpp"
#include "shader/ir/ir_builder.hpp"
#include "shader/jit/jit.hpp"

namespace tilegpu::shader {

/// N pixels side by side in the tile, all live. Only their first sample is written.
struct WholePacket {
  Block once = nullptr;        // gets what is the same for all packets of the call; open, also if that branches: then the last block
  bool constant = false;       // so are the colours: they are known there
  Value tile_pixel = nullptr;  // i64, of lane 0
  std::array<std::array<Value, 4>, kMaxTargets> color{};  // null: as in FragmentArgs
  std::array<Value, 4> source1{};
};
void emit_whole_packet(const Ir& ir, const EpilogueKey& key, Value args, WholePacket& packet);
/// Every texel that is written is replaced whole: nothing of it is read.
bool replaces_texels(const EpilogueKey& key);
/// A pixel packet (abi.hpp): lanes that are alive, each to its place. `colors`: colours only; replaces_texels(key); AVX-512.
void emit_pixel_packet(const Ir& ir, const EpilogueKey& key, Value args, WholePacket& colors);
/// Adds what determines the epilogue's code.
void add_epilogue(CodeKey& code, const EpilogueKey& key);

}  // namespace tilegpu::shader
