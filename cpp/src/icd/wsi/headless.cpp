// icd/wsi/headless.cpp -- swapchains without a window (VK_EXT_headless_surface): pictures go to a folder, if TILEGPU_PRESENT_DIR names one.
//
// In: presented pictures. Out: frame_00000.png and so on. Source: PNG specification (ISO/IEC 15948), zlib for its data and checksums.
#include <zlib.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "icd/wsi/surface.hpp"

namespace tilegpu::icd {
namespace {

void put_u32(std::vector<uint8_t>& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<uint8_t>(value >> shift));
}

void put_chunk(std::vector<uint8_t>& out, const char* type, const std::vector<uint8_t>& data) {
  assert(std::strlen(type) == 4);
  put_u32(out, static_cast<uint32_t>(data.size()));
  const size_t start = out.size();
  out.insert(out.end(), type, type + 4);
  out.insert(out.end(), data.begin(), data.end());
  put_u32(out, static_cast<uint32_t>(crc32(0, out.data() + start, static_cast<uInt>(out.size() - start))));
}

// Eight bits of red, green, blue and alpha, as they lie in the image.
std::vector<uint8_t> png_of(const Picture& picture) {
  assert(picture.data && picture.row_pitch_B >= uint64_t{picture.width_px} * 4);
  std::vector<uint8_t> rows;
  rows.reserve((size_t{picture.width_px} * 4 + 1) * picture.height_px);
  for (uint32_t y = 0; y < picture.height_px; ++y) {
    const uint8_t* row = picture.data + y * picture.row_pitch_B;
    rows.push_back(0);  // no filter
    for (size_t i = 0; i < size_t{picture.width_px} * 4; i += 4) {
      const size_t red = picture.blue_first ? 2 : 0;
      rows.insert(rows.end(), {row[i + red], row[i + 1], row[i + 2 - red], row[i + 3]});
    }
  }
  uLongf packed_B = compressBound(rows.size());
  std::vector<uint8_t> packed(packed_B);
  if (compress2(packed.data(), &packed_B, rows.data(), rows.size(), Z_BEST_SPEED) != Z_OK) return {};  // no memory
  packed.resize(packed_B);
  std::vector<uint8_t> header;
  put_u32(header, picture.width_px);
  put_u32(header, picture.height_px);
  header.insert(header.end(), {8, 6, 0, 0, 0});
  std::vector<uint8_t> out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", packed);
  put_chunk(out, "IEND", {});
  return out;
}

class HeadlessWindow : public Window {
 public:
  std::optional<VkExtent2D> extent() override { return std::nullopt; }
  bool has_pace() const override { return false; }
  VkResult present(const Picture& picture) override {
    const char* folder = std::getenv("TILEGPU_PRESENT_DIR");
    if (!folder || !*folder) return VK_SUCCESS;
    static std::atomic<uint32_t> frames = 0;  // of the process, whatever surface they are of
    char name[32];
    std::snprintf(name, sizeof name, "/frame_%05u.png", frames++);
    const std::string path = folder + std::string(name);
    const std::vector<uint8_t> bytes = png_of(picture);
    FILE* file = std::fopen(path.c_str(), "wb");
    const bool written = file && !bytes.empty() && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if ((file && std::fclose(file) != 0) || !written)
      std::fprintf(stderr, "tilegpu: %s can't be written; TILEGPU_PRESENT_DIR must name a folder that is there, with room for pictures\n",
                   path.c_str());
    return VK_SUCCESS;
  }
};

}  // namespace

std::unique_ptr<Window> open_headless() { return std::make_unique<HeadlessWindow>(); }

}  // namespace tilegpu::icd
