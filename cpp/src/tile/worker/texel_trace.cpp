// tile/worker/texel_trace.cpp -- see texel_trace.hpp.
#include "tile/worker/texel_trace.hpp"

#include <algorithm>
#include <cassert>

namespace tilegpu::tile::trace {

namespace {

thread_local TexelLines* now = nullptr;  // of the bin whose fragment shader this thread runs

void count(uint64_t line, std::vector<uint64_t>& by_image) {
  const size_t image = line >> shader::kLineImageShift;
  if (image >= by_image.size()) by_image.resize(image + 1);
  by_image[image]++;
}

}  // namespace

void TexelLines::begin_bin(const shader::FragmentArgs* packet, int32_t x_px, int32_t y_px) {
  packet_ = packet, x_px_ = x_px, y_px_ = y_px;
  for (auto& tile : tiles_) tile.clear();  // of a bin that ended with an exception
  recent_.fill({});
}

void TexelLines::end_bin() {
  assert(now == nullptr);
  for (auto& tile : tiles_) {
    for (const uint64_t line : tile) {
      count(line, of_bins_);
      pass_.insert(line);
    }
    tile.clear();
  }
}

void TexelLines::add_to(std::unordered_set<uint64_t>& pass, std::vector<uint64_t>& of_bins) const {
  pass.insert(pass_.begin(), pass_.end());
  if (of_bins.size() < of_bins_.size()) of_bins.resize(of_bins_.size());
  for (size_t image = 0; image < of_bins_.size(); image++) of_bins[image] += of_bins_[image];
}

FragmentReads::FragmentReads(TexelLines* lines) {
  assert(now == nullptr);
  now = lines;
}

FragmentReads::~FragmentReads() { now = nullptr; }

void note_texels(const shader::TracedSlot* slot, const shader::TexelCall* call) {
  if (!now) return;  // vertices
  const auto visit = [](void* lines, uint32_t lane, uint64_t line) { static_cast<TexelLines*>(lines)->read(lane, line); };
  shader::each_line(*static_cast<const shader::TracedTexture*>(slot->texture), *slot->operation, *call, visit, now);
}

std::vector<TextureLines> texture_lines(const std::unordered_set<uint64_t>& pass, const std::vector<uint64_t>& of_bins,
                                        const std::vector<uint64_t>& images) {
  std::vector<uint64_t> of_pass;
  for (const uint64_t line : pass) count(line, of_pass);
  std::vector<TextureLines> out;
  for (size_t image = 0; image < of_bins.size(); image++) {
    assert(image < images.size());
    if (of_bins[image]) out.push_back({images[image], of_pass[image], of_bins[image]});
  }
  return out;
}

}  // namespace tilegpu::tile::trace
