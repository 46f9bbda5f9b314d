// tile/worker/vertex_store.cpp -- see vertex_store.hpp.
#include "tile/worker/vertex_store.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "records/rectangle_half.hpp"
#include "tile/plan/pass_context.hpp"

namespace tilegpu::tile {

namespace {

uint64_t owner_of(const shader::PrimitiveSetup& setup) { return uint64_t{setup.draw} << 32 | setup.instance; }

}  // namespace

float* FloatArena::allocate(size_t count) {
  assert(count <= kPart);
  if (used_ + count > kPart) part_++, used_ = 0;
  if (part_ == parts_.size()) parts_.push_back(std::make_unique_for_overwrite<float[]>(kPart));
  float* floats = parts_[part_].get() + used_;
  used_ += count;
  return floats;
}

void VertexStore::reset() {
  if (count_ && ++age_ == 0) {
    table_.clear();
    age_ = 1;
  }
  count_ = 0;
  varyings_.reset();
  block_ = corners_ = nullptr;
  from_ = to_ = 0;
}

void VertexStore::add_corner(const PassContext& pass, shader::PrimitiveSetup& setup) {
  assert(setup.upright && setup.completes <= 3 && setup.draw < pass.draws.size());
  const uint32_t missing = setup.completes - 1u;
  setup.completes = 0;
  const auto rows = static_cast<uint32_t>(pass.draws[setup.draw].state->resolved->varyings.components.size());
  if (!rows) return;
  if (!corners_ || rows > corner_rows_ || corner_count_ == kStride) {
    corners_ = varyings_.allocate(size_t{kStride} * rows);
    corner_rows_ = rows, corner_count_ = 0;
  }
  float* const corner = corners_ + corner_count_++;
  for (size_t row = 0; row < rows * size_t{kStride}; row += kStride) {
    const float by_corner[3] = {setup.varying[0][row], setup.varying[1][row], setup.varying[2][row]};
    corner[row] = records::complete(by_corner, missing);
  }
  setup.varying[missing] = corner;
}

VertexStore::Entry& VertexStore::slot(uint64_t owner, uint32_t vertex) {
  assert(std::has_single_bit(table_.size()) && count_ < table_.size());  // a free slot ends the search
  const size_t mask = table_.size() - 1;
  uint64_t hash = (owner * 0x9e3779b97f4a7c15ull) ^ (vertex * 0xff51afd7ed558ccdull);
  hash ^= hash >> 32;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    Entry& entry = table_[at];
    if (entry.age != age_ || (entry.owner == owner && entry.vertex == vertex)) return entry;
  }
}

void VertexStore::grow() {
  std::vector<Entry> old(std::max<size_t>(256, table_.size() * 2));
  std::swap(old, table_);
  for (const Entry& entry : old)
    if (entry.age == age_) slot(entry.owner, entry.vertex) = entry;
}

void VertexStore::shade(Scope s) {
  if (from_ == to_) return;
  const auto draw = static_cast<uint32_t>(owner_ >> 32);
  assert(from_ < to_ && to_ <= kStride && block_ && draw < s.pass.draws.size());
  const command::DrawCall& call = s.pass.draws[draw];
  const command::DrawState& state = *call.state;
  const pipeline::Resolved& resolved = *state.resolved;
  scratch_.reserve(resolved.traits(VK_SHADER_STAGE_VERTEX_BIT).private_memory_B + 64);
  for (uint32_t i = to_; i < kStride; i++) index_[i] = index_[from_];
  shader::VertexArgs args{};
  args.bindings = state.vertex_bindings.data();
  args.push_constants = call.push_constants;
  args.sets = state.sets;
  args.vertex_index = index_ + from_;
  args.count = to_ - from_;
  args.instance_index = static_cast<uint32_t>(owner_);
  args.first_instance = call.first_instance;
  args.base_vertex = call.indexed ? static_cast<uint32_t>(call.vertex_offset) : call.first;
  args.draw_index = call.draw_index;
  args.view_index = call.view;
  args.position = position_;
  args.varyings = block_ + from_;
  args.clip_distance = clip_distance_;
  args.point_size = point_size_;
  args.scratch = scratch_.data();
  s.loops.draw = static_cast<uint32_t>(owner_ >> 32);
  args.loops = &s.loops;
  resolved.code<shader::VertexFunction>()(&args);
  s.counters.vertices_shaded_in_tiles += args.count;
  if (census_) census_->shaded(owner_, {index_ + from_, args.count}, resolved.classification.needs_slice);
  // Code stores whole vectors: the next vertices begin where those lanes end, whatever their number.
  from_ = to_ = (to_ + shader::kMaxLanes - 1) / shader::kMaxLanes * shader::kMaxLanes;
}

const float* VertexStore::find(Scope s, uint64_t owner, uint32_t vertex) {
  if (2 * count_ >= table_.size()) grow();
  Entry& entry = slot(owner, vertex);
  if (entry.age == age_) return entry.at;
  if (!block_ || owner != owner_ || to_ >= kStride) {
    shade(s);
    const auto draw = static_cast<uint32_t>(owner >> 32);
    owner_ = owner;
    block_ = varyings_.allocate(size_t{kStride} * s.pass.draws[draw].state->resolved->varyings.components.size());
    from_ = to_ = 0;
  }
  index_[to_] = vertex;
  entry = {owner, vertex, age_, block_ + to_};
  to_++;
  count_++;
  return entry.at;
}

void VertexStore::resolve(Scope s) {
  if (wanted_.empty()) return;
  const auto before = [](const shader::PrimitiveSetup* a, const shader::PrimitiveSetup* b) { return owner_of(*a) < owner_of(*b); };
  if (!std::is_sorted(wanted_.begin(), wanted_.end(), before)) std::stable_sort(wanted_.begin(), wanted_.end(), before);
  for (shader::PrimitiveSetup* setup : wanted_) {
    assert(setup->deferred == 2);  // its varyings are names
    setup->deferred = 0;
    const uint64_t owner = owner_of(*setup);
    const auto index = [](const float* name) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(name)); };
    const uint32_t a = index(setup->varying[0]), b = index(setup->varying[1]), provoking = index(setup->provoking);
    for (const float*& varying : setup->varying) varying = find(s, owner, index(varying));
    setup->provoking = setup->varying[provoking == a ? 0 : provoking == b ? 1 : 2];
  }
  shade(s);
  for (shader::PrimitiveSetup* setup : wanted_) complete(s.pass, *setup);
  wanted_.clear();
}

}  // namespace tilegpu::tile
