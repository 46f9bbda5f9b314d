// shader/epilogue/epilogue.cpp -- compile_epilogue: the end of a packet. Blend or logic op, quantise to the attachment's format, write to
// the tile.
//
// In: EpilogueKey; at run time FragmentArgs::color, color_source1, live_coverage, alive, tile_pixel. Out: words in tile memory
// (framebuffer/tile_memory.hpp). A packet whose quads are contiguous and all live takes whole-vector loads and stores; others go quad by
// quad, four words at a time, in quad order, so that a later quad of the packet wins. Multisampled: the colour is
// computed once and written to each sample that is covered; blending is per sample. Source: Vulkan specification, "The Framebuffer".
#include <cassert>
#include <cstring>

#include "framebuffer/tile_memory.hpp"
#include "shader/compiler.hpp"
#include "shader/epilogue/epilogue.hpp"
#include "shader/epilogue/epilogue_blend.hpp"
#include "shader/epilogue/keeps_below.hpp"
#include "shader/ir/format_pack.hpp"
#include "shader/ir/lane_range.hpp"
#include "shader/jit/jit.hpp"
#include "vk/blend_op.hpp"

namespace tilegpu::shader {
namespace {

struct Target {
  uint32_t index = 0, location = 0;  // of the plane, of the colour
  const vk::FormatInfo* format = nullptr;
  VkPipelineColorBlendAttachmentState blend{};
  AdvancedBlend advanced;
  uint32_t words = 1;
  uint32_t mask[4] = {};                                   // bits that are written, by word
  bool blends = false, logic = false, keeps_bits = false;  // keeps_bits: some bits of the texel stay
  uint32_t keeps_below = 0;                                // blend_keeps_below
  bool converts = false;                                   // by an operator or equation that does not read the tile
  Value pointer = nullptr;
  std::array<Value, 4> source{};
  Value packed[4] = {};  // when nothing of the tile is read for the value
};

struct Packet {
  Value quad_offset[kMaxQuads];  // i64: bytes of sample 0, word 0 of a one-word, one-sample plane (block * 64 + quad * 16)
  Value block[kMaxQuads];        // i64
  Value within[kMaxQuads];       // i64: quad * 16 bytes
  Value contiguous;              // i1
  Value alive_bits;              // i32, a bit a lane, quads in use only
};

Type lane_array(const Ir& ir) { return ir.vf32; }

Value load_color(const Ir& ir, Value args, size_t offset_B) {
  return ir.field(lane_array(ir), args, offset_B, 4 * ir.lanes < 64 ? 4 * ir.lanes : 64);
}

/// Address of word w of sample s (i64 value) of quad q in a target's plane.
Value word_address(const Ir& ir, const Target& t, const Packet& p, uint32_t q, Value sample, uint32_t samples, uint32_t w) {
  assert(w < t.words && q < ir.lanes / 4);
  if (samples == 1 && t.words == 1) return ir.offset(t.pointer, p.quad_offset[q]);
  const uint32_t sample_B = t.words * framebuffer::kPixelsPerBlock * 4;
  Value at = ir.add(ir.mul(p.block[q], ir.c64(samples * sample_B)), p.within[q]);
  if (samples > 1) at = ir.add(at, ir.mul(sample, ir.c64(sample_B)));
  return ir.offset(ir.offset(t.pointer, at), w * framebuffer::kPixelsPerBlock * 4ull);
}

Value quad_of(const Ir& ir, Value v, uint32_t q) {
  assert(Ir::lanes_of(v) == ir.lanes && q < ir.lanes / 4);
  return ir.lanes == 4 ? v : ir.shuffle(v, lane_range(4 * q, 4));
}

/// N lanes from N/4 quads.
Value concatenate(const Ir& ir, const std::vector<Value>& quads) {
  assert(!quads.empty() && 4 * quads.size() == ir.lanes);
  std::vector<Value> parts = quads;
  for (uint32_t width = 4; parts.size() > 1; width *= 2) {
    std::vector<Value> next;
    for (size_t k = 0; k + 1 < parts.size(); k += 2) next.push_back(ir.shuffle(parts[k], parts[k + 1], lane_range(0, 2 * width)));
    parts = next;
  }
  return parts[0];
}

/// What the word becomes where the lane is live: logic op and write mask on top of the packed value.
Value merge_word(const Ir& ir, const EpilogueKey& key, const Target& t, uint32_t w, Value packed, Value old) {
  assert(packed && old && w < t.words && t.mask[w]);
  Value value = packed;
  if (t.logic) value = emit_logic_op(ir, key.logic_op, packed, old);
  const uint32_t all = component_mask(*t.format, w, 0xf);
  if (t.mask[w] != all) return ir.or_(ir.and_(value, ir.ik(value, t.mask[w])), ir.and_(old, ir.ik(value, ~t.mask[w])));
  return t.logic && all != ~0u ? ir.and_(value, ir.ik(value, all)) : value;
}

std::vector<Target> find_targets(const EpilogueKey& key) {
  std::vector<Target> targets;
  for (uint32_t k = 0; k < kMaxTargets; ++k) {
    const vk::FormatInfo* format = vk::find_format(key.formats[k]);
    if (!format) continue;
    Target t;
    t.index = k, t.location = key.locations[k], t.format = format, t.blend = key.blend[k], t.advanced = key.advanced[k],
    t.words = texel_words(*format);
    uint32_t any = 0;
    for (uint32_t w = 0; w < t.words; ++w) {
      t.mask[w] = component_mask(*format, w, t.blend.colorWriteMask);
      any |= t.mask[w];
      t.keeps_bits |= t.mask[w] != component_mask(*format, w, 0xf);
    }
    if (!any) continue;
    const bool fixed_or_integer = format->is_integer() || format->numeric == vk::Numeric::unorm || format->numeric == vk::Numeric::snorm;
    t.logic = key.logic_op_enable && fixed_or_integer && key.logic_op != VK_LOGIC_OP_COPY;
    if (t.logic && key.logic_op == VK_LOGIC_OP_NO_OP) continue;
    const bool enabled = !key.logic_op_enable && t.blend.blendEnable && format->blend;
    const bool reads = vk::blend_reads_destination(t.blend);
    t.blends = enabled && reads;
    t.converts = enabled && !reads && !vk::blend_is_copy(t.blend);
    if (t.blends && !vk::is_advanced(t.blend.colorBlendOp)) t.keeps_below = blend_keeps_below(*format, t.blend);
    targets.push_back(t);
  }
  return targets;
}

class Builder {
 public:
  Builder(const Ir& ir_, const EpilogueKey& key_, Value args_) : ir(ir_), key(key_), args(args_), targets(find_targets(key_)) {}
  void run();
  void run_whole(WholePacket& whole);
  void run_pixels(WholePacket& colors);

 private:
  void load_packet();
  void write_sample(Value sample, Value sample_shift);
  void read_sources(Target& t, WholePacket* whole);
  std::array<Value, 4> blend(const Target& t, const std::array<Value, 4>& destination, WholePacket* whole, std::array<PackHints, 4>& hints);
  std::vector<Value> blended(const Target& t, const std::vector<Value>& old, WholePacket* whole);
  Value shows(const Target& t) const;
  bool is_hoisted(const Target& t, const WholePacket* whole) const;
  bool reads_words(const Target& t) const { return t.keeps_bits || (t.logic && logic_op_reads(key.logic_op)); }
  std::vector<Value> load_whole(const Target& t, Value sample);
  void write_whole(const Target& t, Value sample, const std::vector<Value>& values, WholePacket* whole);
  void write_target(Target& t, Value sample, Value live_bits, Value full);
  Value live_bits_of(Value sample_shift);
  Value covers_everything();
  Value covered_samples();
  void write_covered_samples();
  void store_where(Value mask, Value value, Value address, uint32_t align_B);

  const Ir& ir;
  const EpilogueKey& key;
  Value args;
  std::vector<Target> targets;
  Packet packet;
  uint32_t quads = 1;
};

void Builder::load_packet() {
  quads = ir.lanes / 4;
  Value count = ir.field(ir.i32, args, offsetof(FragmentArgs, quad_count));
  Value first = nullptr;
  for (uint32_t q = 0; q < quads; ++q) {
    Value pixel = ir.field(ir.i32, args, offsetof(FragmentArgs, tile_pixel) + 4 * q);
    if (q == 0) first = pixel;
    // Slots beyond quad_count are never written, but they are read where blending loads its packet.
    if (q > 0) pixel = ir.select(ir.ugt(count, ir.c32(q)), pixel, first);
    pixel = ir.zext(pixel, ir.i64);
    packet.quad_offset[q] = ir.shl(pixel, 2);
    packet.block[q] = ir.lshr(pixel, 4);
    packet.within[q] = ir.shl(ir.and_(pixel, ir.c64(12)), 2);
  }
  packet.contiguous = ir.ne(ir.field(ir.i32, args, offsetof(FragmentArgs, full_block)), ir.c32(0));
  Value in_use = ir.sub(ir.shl(ir.c32(1), ir.shl(ir.umin(count, ir.c32(quads)), 2)), ir.c32(1));
  packet.alive_bits = ir.and_(ir.field(ir.i32, args, offsetof(FragmentArgs, alive)), in_use);
}

Value Builder::live_bits_of(Value sample_shift) {
  Value bits = ir.c32(0);
  for (uint32_t q = 0; q < quads; ++q) {
    Value coverage = ir.field(ir.i64, args, offsetof(FragmentArgs, live_coverage) + 8 * q, 8);
    Value nibble = ir.and_(ir.trunc(ir.lshr(coverage, sample_shift), ir.i32), ir.c32(15));
    bits = ir.or_(bits, ir.shl(nibble, 4 * q));
  }
  return ir.and_(bits, packet.alive_bits);
}

/// i1: the packet is contiguous in the tile, and all samples of all its pixels are live.
Value Builder::covers_everything() {
  assert(key.samples >= 1 && key.samples <= 16);
  const uint64_t all = key.samples == 16 ? ~0ull : (1ull << (4 * key.samples)) - 1;
  Value together = nullptr;
  for (uint32_t q = 0; q < quads; ++q) {
    Value coverage = ir.field(ir.i64, args, offsetof(FragmentArgs, live_coverage) + 8 * q, 8);
    together = together ? ir.and_(together, coverage) : coverage;
  }
  Value lanes_alive = ir.eq(packet.alive_bits, ir.c32((1u << ir.lanes) - 1));
  return ir.and_(ir.and_(packet.contiguous, lanes_alive), ir.eq(ir.and_(together, ir.c64(all)), ir.c64(all)));
}

/// A value that does not change from packet to packet.
template <class Make>
Value once(const Ir& ir, WholePacket* whole, Make&& make) {
  if (!whole || !whole->once) return make();
  Block here = ir.current_block();
  ir.at(whole->once);
  Value v = make();
  whole->once = ir.current_block();
  ir.at(here);
  return v;
}

/// Whether what goes to memory is made before the loop: of a constant colour that replaces what is there, but for a second source.
bool Builder::is_hoisted(const Target& t, const WholePacket* whole) const {
  return whole && whole->constant && !t.blends && !(t.converts && blend_uses_source1(t.blend));
}

void Builder::read_sources(Target& t, WholePacket* whole) {
  t.pointer = once(ir, whole, [&] { return ir.field(ir.ptr, args, offsetof(FragmentArgs, target) + 8 * t.index, 8); });
  for (uint32_t c = 0; c < 4; ++c) {
    const auto left_out = [&] {
      return load_color(ir, args, offsetof(FragmentArgs, color) + (t.location * 4 + c) * sizeof(float) * kMaxLanes);
    };
    t.source[c] = whole && whole->color[t.location][c] ? whole->color[t.location][c] : once(ir, whole, left_out);
  }
  if (key.alpha_to_one && !t.format->is_integer()) t.source[3] = ir.fk(1);
  if (t.blends) return;
  once(ir, is_hoisted(t, whole) ? whole : nullptr, [&] {
    std::array<PackHints, 4> hints;
    Value none = ir.fk(0);
    const std::array<Value, 4> color = t.converts ? blend(t, {none, none, none, none}, whole, hints) : t.source;
    emit_pack_texel(ir, *t.format, color, t.packed, hints);
    return t.packed[0];
  });
}

std::array<Value, 4> Builder::blend(const Target& t, const std::array<Value, 4>& destination, WholePacket* whole,
                                    std::array<PackHints, 4>& hints) {
  assert(t.blends || t.converts);
  if (vk::is_advanced(t.blend.colorBlendOp)) return emit_blend(ir, *t.format, t.blend.colorBlendOp, t.advanced, t.source, destination);
  std::array<Value, 4> source1{};
  if (blend_uses_source1(t.blend)) {
    for (uint32_t c = 0; c < 4; ++c)
      source1[c] = whole && whole->source1[c] ? whole->source1[c]
                                              : load_color(ir, args, offsetof(FragmentArgs, color_source1) + c * sizeof(float) * kMaxLanes);
    if (key.alpha_to_one) source1[3] = ir.fk(1);
  }
  std::array<Value, 4> constants;
  for (uint32_t c = 0; c < 4; ++c)
    constants[c] = once(ir, whole, [&] { return ir.splat(ir.field(ir.f32, args, offsetof(FragmentArgs, blend_constants) + 4 * c)); });
  return emit_blend(ir, *t.format, t.blend, t.source, source1, destination, constants, hints);
}

std::vector<Value> Builder::blended(const Target& t, const std::vector<Value>& old, WholePacket* whole) {
  assert(t.blends && old.size() == t.words);
  Value words[4];
  std::array<PackHints, 4> hints;
  const std::array<Value, 4> color = blend(t, emit_unpack_texel(ir, *t.format, old.data()), whole, hints);
  emit_pack_texel(ir, *t.format, color, words, hints);
  return {words, words + t.words};
}

/// i32, a bit a lane: the source has something of what changes a texel. With none in all of a packet, as beside what is drawn in a texture,
/// the tile is neither read nor written.
Value Builder::shows(const Target& t) const {
  assert(t.keeps_below);
  Value most = nullptr;
  for (uint32_t c = 0; c < 4; ++c) {
    if (!(t.keeps_below >> c & 1)) continue;
    Value above = ir.fgt(t.source[c], ir.fk(0));
    most = most ? ir.or_(most, above) : above;
  }
  return ir.movemask(most);
}

std::vector<Value> Builder::load_whole(const Target& t, Value sample) {
  std::vector<Value> words;
  for (uint32_t w = 0; w < t.words; ++w)
    words.push_back(ir.load(ir.vi32, word_address(ir, t, packet, 0, sample, key.samples, w), ir.lanes * 4));
  return words;
}

/// `whole`: or null.
void Builder::write_whole(const Target& t, Value sample, const std::vector<Value>& values, WholePacket* whole) {
  assert(values.size() == t.words);
  for (uint32_t w = 0; w < t.words; ++w) {
    if (!t.mask[w]) continue;
    Value address = word_address(ir, t, packet, 0, sample, key.samples, w);
    const bool reads = reads_words(t);
    if (is_hoisted(t, whole) && ir.lanes == 16 && !reads) {
      // Loops that only store whole cache lines hold up the stores around them on a Zen 5 (docs/performance.md); halves do not, where LLVM
      // cannot see that they are of one vector.
      for (uint32_t half = 0; half < 2; ++half)
        ir.store(
            once(ir, whole, [&] { return ir.shuffle(merge_word(ir, key, t, w, values[w], ir.zero(ir.vi32)), lane_range(8 * half, 8)); }),
            ir.offset(address, uint64_t{32} * half), 32);
      continue;
    }
    Value old = reads ? ir.load(ir.vi32, address, ir.lanes * 4) : ir.zero(ir.vi32);
    ir.store(merge_word(ir, key, t, w, values[w], old), address, ir.lanes * 4);
  }
}

void Builder::write_target(Target& t, Value sample, Value live_bits, Value full) {
  const Type quad_type = Ir::vec(ir.i32, 4);
  std::vector<Value> values(t.packed, t.packed + t.words);
  if (t.blends) {
    // Whole packets read the tile in one go, others quad by quad; the arithmetic is the same.
    std::vector<Value> old = ir.if_else(
        full, [&] { return load_whole(t, sample); },
        [&] {
          std::vector<Value> words;
          for (uint32_t w = 0; w < t.words; ++w) {
            std::vector<Value> parts;
            for (uint32_t q = 0; q < quads; ++q)
              parts.push_back(ir.load(quad_type, word_address(ir, t, packet, q, sample, key.samples, w), 16));
            words.push_back(concatenate(ir, parts));
          }
          return words;
        });
    values = blended(t, old, nullptr);
  }
  ir.if_else(
      full,
      [&] {
        write_whole(t, sample, values, nullptr);
        return std::vector<Value>{};
      },
      [&] {
        for (uint32_t q = 0; q < quads; ++q) {
          Value nibble = ir.and_(ir.lshr(live_bits, 4 * q), ir.c32(15));
          ir.if_then(ir.ne(nibble, ir.c32(0)), [&] {
            Value mask = ir.mask_from_bits(nibble, 4);
            for (uint32_t w = 0; w < t.words; ++w) {
              if (!t.mask[w]) continue;
              Value address = word_address(ir, t, packet, q, sample, key.samples, w);
              Value old = ir.load(quad_type, address, 16);
              ir.store(ir.select(mask, merge_word(ir, key, t, w, quad_of(ir, values[w], q), old), old), address, 16);
            }
          });
        }
        return std::vector<Value>{};
      });
}

void Builder::write_sample(Value sample, Value sample_shift) {
  Value live = live_bits_of(sample_shift);
  Block work = ir.block("covered"), done = ir.block("sample_done");
  ir.br(ir.ne(live, ir.c32(0)), work, done);
  ir.at(work);
  Value full = ir.and_(packet.contiguous, ir.eq(live, ir.c32(ir.lanes == 32 ? ~0u : (1u << ir.lanes) - 1)));
  for (Target& t : targets) {
    if (t.keeps_below)
      ir.if_then(ir.ne(ir.and_(shows(t), live), ir.c32(0)), [&] { write_target(t, sample, live, full); });
    else
      write_target(t, sample, live, full);
  }
  ir.br(done);
  ir.at(done);
}

/// i64: bit 4 * s is set where sample s of any pixel is live.
Value Builder::covered_samples() {
  Value any = ir.c64(0);
  for (uint32_t q = 0; q < quads; ++q) any = ir.or_(any, ir.field(ir.i64, args, offsetof(FragmentArgs, live_coverage) + 8 * q, 8));
  any = ir.or_(any, ir.lshr(any, 2));
  any = ir.or_(any, ir.lshr(any, 1));
  return ir.and_(any, ir.c64(0x1111111111111111ull >> (64 - 4 * key.samples)));
}

void Builder::store_where(Value mask, Value value, Value address, uint32_t align_B) {
  if (Ir::lanes_of(value) == 16) {  // AVX-512 stores under a mask
    ir.call_intrinsic("llvm.masked.store", {ir.type_of(value), ir.ptr}, {value, address, ir.c32(align_B), mask});
  } else {
    ir.store(ir.select(mask, value, ir.load(ir.type_of(value), address, align_B)), address, align_B);
  }
}

/// Colours that replace what is there, to the covered samples: each lane holds its pixel's coverage, bit 4 * s for sample s.
void Builder::write_covered_samples() {
  Value coverage = ir.field(Ir::vec(ir.i32, 2 * quads), args, offsetof(FragmentArgs, live_coverage), 8);
  Value alive = ir.mask_to_int(ir.mask_from_bits(packet.alive_bits, ir.lanes));
  Value pixel = ir.and_(ir.lane_index(), ir.ik(3));
  Value halves[2];
  for (int half = 0; half < 2; ++half) {
    std::vector<int> order;
    for (uint32_t k = 0; k < ir.lanes; ++k) order.push_back(static_cast<int>(k / 4 * 2) + half);
    halves[half] = ir.and_(ir.lshr(ir.shuffle(coverage, order), pixel), alive);
  }
  const auto each_sample = [&](auto&& write) {
    Block loop = ir.block("covered_samples"), done = ir.block("covered_samples_done"), before = ir.current_block();
    ir.br(loop);
    ir.at(loop);
    Value sample = LLVMBuildPhi(ir.builder, ir.i64, ""), bits = LLVMBuildPhi(ir.builder, ir.vi32, "");
    write(sample, ir.ne(ir.and_(bits, ir.ik(1)), ir.zero(ir.vi32)));
    Value next = ir.add(sample, ir.c64(1)), next_bits = ir.lshr(bits, 4);
    if (key.samples > 8) next_bits = ir.select(ir.eq(next, ir.c64(8)), halves[1], next_bits);
    Block last = ir.current_block();
    ir.br(ir.ult(next, ir.c64(key.samples)), loop, done);
    Value zero = ir.c64(0);
    LLVMAddIncoming(sample, &zero, &before, 1);
    LLVMAddIncoming(sample, &next, &last, 1);
    LLVMAddIncoming(bits, &halves[0], &before, 1);
    LLVMAddIncoming(bits, &next_bits, &last, 1);
    ir.at(done);
  };
  ir.if_else(
      packet.contiguous,
      [&] {
        each_sample([&](Value sample, Value mask) {
          for (const Target& t : targets)
            for (uint32_t w = 0; w < t.words; ++w)
              store_where(mask, t.packed[w], word_address(ir, t, packet, 0, sample, key.samples, w), ir.lanes * 4);
        });
        return std::vector<Value>{};
      },
      [&] {
        // Slots beyond quad_count are not covered; they lie where the first one does.
        each_sample([&](Value sample, Value mask) {
          for (uint32_t q = 0; q < quads; ++q) {
            Value quad_mask = quad_of(ir, mask, q);
            for (const Target& t : targets)
              for (uint32_t w = 0; w < t.words; ++w)
                store_where(quad_mask, quad_of(ir, t.packed[w], q), word_address(ir, t, packet, q, sample, key.samples, w), 16);
          }
        });
        return std::vector<Value>{};
      });
}

void Builder::run() {
  if (targets.empty()) return;
  load_packet();
  for (Target& t : targets) read_sources(t, nullptr);
  if (key.samples == 1) {
    write_sample(ir.c64(0), ir.c64(0));
    return;
  }
  if (key.per_sample) {
    Value sample = ir.and_(ir.zext(ir.field(ir.i32, args, offsetof(FragmentArgs, sample_index)), ir.i64), ir.c64(key.samples - 1));
    write_sample(sample, ir.shl(sample, 2));
    return;
  }
  Block after = ir.block("samples_done");
  // Samples that are kept once: only the first is to be written.
  Value covered = covered_samples();
  Block once = ir.block("one_sample"), several = ir.block("several_samples");
  ir.br(ir.ule(covered, ir.c64(1)), once, several);
  ir.at(once);
  write_sample(ir.c64(0), ir.c64(0));
  ir.br(after);
  ir.at(several);
  // Inside a triangle every sample of every pixel is covered: where nothing is read, that is a row of stores.
  bool plain = true;
  for (const Target& t : targets) plain &= !t.blends && !t.keeps_bits && !t.logic;
  if (plain) {
    Block stores = ir.block("all_samples"), some = ir.block("some_samples");
    ir.br(covers_everything(), stores, some);
    ir.at(stores);
    for (const Target& t : targets) {
      for (uint32_t s = 0; s < key.samples; ++s) {
        for (uint32_t w = 0; w < t.words; ++w)
          ir.store(t.packed[w], word_address(ir, t, packet, 0, ir.c64(s), key.samples, w), ir.lanes * 4);
      }
    }
    ir.br(after);
    ir.at(some);
    write_covered_samples();
    ir.br(after);
    ir.at(after);
    return;
  }
  Block loop = ir.block("samples"), before = ir.current_block();
  ir.br(loop);
  ir.at(loop);
  Value left = LLVMBuildPhi(ir.builder, ir.i64, "");
  Value shift = ir.call_intrinsic("llvm.cttz", {ir.i64}, {left, ir.c1(true)});
  write_sample(ir.lshr(shift, 2), shift);
  Value next = ir.and_(left, ir.sub(left, ir.c64(1)));
  Block last = ir.current_block();
  ir.br(ir.ne(next, ir.c64(0)), loop, after);
  LLVMAddIncoming(left, &covered, &before, 1);
  LLVMAddIncoming(left, &next, &last, 1);
  ir.at(after);
}

/// Every pixel of one packet in the tile, the first sample of each.
void Builder::run_whole(WholePacket& whole) {
  packet.quad_offset[0] = ir.shl(whole.tile_pixel, 2);
  packet.block[0] = ir.lshr(whole.tile_pixel, 4);
  packet.within[0] = ir.shl(ir.and_(whole.tile_pixel, ir.c64(12)), 2);
  for (Target& t : targets) {
    read_sources(t, &whole);
    const auto write = [&] {
      write_whole(t, ir.c64(0), t.blends ? blended(t, load_whole(t, ir.c64(0)), &whole) : std::vector<Value>(t.packed, t.packed + t.words),
                  &whole);
    };
    if (t.keeps_below && !whole.constant)
      ir.if_then(ir.ne(shows(t), ir.c32(0)), write);
    else
      write();
  }
}

/// Each lane that is alive to its place in the tile, or to those of its samples; no two lanes have the same.
void Builder::run_pixels(WholePacket& colors) {
  Value pixel = ir.field(ir.vi32, args, offsetof(FragmentArgs, lane_pixel), 64);
  Value alive = ir.mask_from_bits(ir.field(ir.i32, args, offsetof(FragmentArgs, alive)), ir.lanes);
  Value within = ir.and_(pixel, ir.ik(framebuffer::kPixelsPerBlock - 1)), block = ir.sub(pixel, within);
  assert(ir.lanes == 16 && replaces_texels(key));
  for (Target& t : targets) read_sources(t, &colors);
  const auto write = [&](Value mask, uint32_t sample) {
    for (const Target& t : targets) {
      const uint32_t block_words = key.samples * t.words;
      Value first = block_words == 1 ? pixel : ir.add(ir.mul(block, ir.ik(block_words)), within);
      for (uint32_t w = 0; w < t.words; ++w) {
        Value word = ir.add(first, ir.ik((sample * t.words + w) * framebuffer::kPixelsPerBlock));
        ir.call_intrinsic("llvm.x86.avx512.mask.scatter.dpi.512", {}, {t.pointer, mask, word, ir.bits(t.packed[w]), ir.c32(4)});
      }
    }
  };
  if (key.samples == 1) return write(alive, 0);
  const auto to_samples = [&] {
    Value samples = ir.field(ir.vi32, args, offsetof(FragmentArgs, lane_samples), 64);
    for (uint32_t s = 0; s < key.samples; ++s) write(ir.and_(alive, ir.ne(ir.and_(samples, ir.ik(1u << s)), ir.zero(ir.vi32))), s);
    return std::vector<Value>{};
  };
  if (key.samples < kFewestSamplesApart) return void(to_samples());
  Value apart = ir.ne(ir.field(ir.i64, args, offsetof(FragmentArgs, texels), 8), ir.c64(0));
  ir.if_else(
      apart,
      [&] {
        Value at = ir.field(ir.ptr, args, offsetof(FragmentArgs, texels), 8);
        Value pitch_B = ir.shl(ir.field(ir.i64, args, offsetof(FragmentArgs, texels_pitch), 8), 2);
        for (const Target& t : targets) {
          for (uint32_t w = 0; w < t.words; ++w) {
            ir.store(ir.bits(t.packed[w]), at, 4);
            at = ir.offset(at, pitch_B);
          }
        }
        return std::vector<Value>{};
      },
      to_samples);
}

}  // namespace

void add_epilogue(CodeKey& code, const EpilogueKey& key) {
  uint32_t moved = 0;  // locations that are not the target's own number
  code.add(key.samples);
  for (uint32_t k = 0; k < kMaxTargets; ++k) {
    code.add(static_cast<uint32_t>(key.formats[k]));
    if (key.formats[k] == VK_FORMAT_UNDEFINED) continue;
    assert(key.locations[k] < kMaxTargets);
    moved |= (key.locations[k] ^ k) << 3 * k;
    const VkPipelineColorBlendAttachmentState& b = key.blend[k];
    const uint32_t blend[8] = {b.blendEnable,
                               static_cast<uint32_t>(b.srcColorBlendFactor),
                               static_cast<uint32_t>(b.dstColorBlendFactor),
                               static_cast<uint32_t>(b.colorBlendOp),
                               static_cast<uint32_t>(b.srcAlphaBlendFactor),
                               static_cast<uint32_t>(b.dstAlphaBlendFactor),
                               static_cast<uint32_t>(b.alphaBlendOp),
                               b.colorWriteMask};
    // Factors of a blend that is off do not make another variant.
    if (b.blendEnable) {
      code.add_bytes(blend, sizeof blend);
      const AdvancedBlend& how = key.advanced[k];
      if (vk::is_advanced(b.colorBlendOp))
        code.add(static_cast<uint32_t>(how.src_premultiplied | how.dst_premultiplied << 1 | how.clamp_results << 2 | how.overlap << 3));
    } else {
      code.add(b.colorWriteMask);
    }
  }
  code.add(static_cast<uint32_t>(key.logic_op_enable ? 1 + key.logic_op : 0));
  code.add(static_cast<uint32_t>(key.alpha_to_one));
  code.add(static_cast<uint32_t>(key.per_sample) | moved << 1);
}

bool replaces_texels(const EpilogueKey& key) {
  for (const Target& t : find_targets(key))
    if (t.blends || t.keeps_bits || t.logic) return false;
  return true;
}

uint32_t keeps_targets_below(const EpilogueKey& key) {
  if (key.alpha_to_one) return 0;
  uint32_t components = 0;
  for (const Target& t : find_targets(key)) {
    if (!t.keeps_below || t.location != 0) return 0;
    components |= t.keeps_below;
  }
  return components;
}

void emit_pixel_packet(const Ir& ir, const EpilogueKey& key, Value args, WholePacket& colors) { Builder(ir, key, args).run_pixels(colors); }

void emit_whole_packet(const Ir& ir, const EpilogueKey& key, Value args, WholePacket& packet) { Builder(ir, key, args).run_whole(packet); }

Expected<Code<FragmentFunction>> compile_epilogue(Jit& jit, const EpilogueKey& key, When when) {
  if (key.samples == 0 || key.samples > 16 || (key.samples & (key.samples - 1))) {
    return Error{VK_ERROR_UNKNOWN, "epilogue: samples is " + std::to_string(key.samples) + "; allowed are 1, 2, 4, 8, 16"};
  }
  for (uint32_t k = 0; k < kMaxTargets; ++k) {
    if (key.formats[k] == VK_FORMAT_UNDEFINED) continue;
    const vk::FormatInfo* format = vk::find_format(key.formats[k]);
    if (!format || !format->color_attachment) {
      return Error{VK_ERROR_FORMAT_NOT_SUPPORTED, "epilogue: colour attachment " + std::to_string(k) + " has format " +
                                                      (format ? format->name : std::to_string(key.formats[k])) +
                                                      ", which is no colour attachment format"};
    }
  }
  const uint32_t lanes = jit.lanes();
  CodeKey code("epilogue 4");
  add_epilogue(code, key);
  Expected<const CodeSlot*> slot = jit.function(
      code,
      [key, lanes](LLVMModuleRef module, const char* name) -> Status {
        Ir ir(module, lanes);
        Value fn = ir.function(name, LLVMFunctionType(ir.void_type, &ir.ptr, 1, 0));
        ir.add_parameter_attribute(fn, 0, "noalias");
        ir.at(ir.block(fn, "entry"));
        Builder(ir, key, LLVMGetParam(fn, 0)).run();
        LLVMBuildRetVoid(ir.builder);
        return Ok{};
      },
      when);
  if (!slot) return slot.error();
  return Code<FragmentFunction>(*slot);
}

}  // namespace tilegpu::shader
