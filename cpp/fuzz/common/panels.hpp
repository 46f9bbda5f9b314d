// fuzz/common/panels.hpp -- upright rectangles of two triangles, as interfaces, letters and pictures are drawn.
//
// In: choices. Out: of each of six vertices the corner that it is at, and what tells the second half from the first: in one of four a
// vertex lies elsewhere, or deeper, or has another value. Any diagonal, either way round, from any vertex on. The tile phase draws halves
// that belong together as one primitive (cpp/src/tile/batch_setups.hpp).
#pragma once

#include "common/finding.hpp"
#include "common/pass_model.hpp"

namespace tilegpu::fuzz {

struct PanelVertex {
  uint32_t right = 0, lower = 0;   ///< 0 or 1
  float moved_x = 0, moved_y = 0;  ///< 0, or 1 to 4
  bool deeper = false;
  uint32_t recoloured = 4;  ///< a component; 4: none
};

class Panel {
 public:
  static constexpr uint32_t kVertices = 6;
  explicit Panel(Choices& c) : ways_(c.half()), along_(c.half()) {}
  PanelVertex vertex(uint32_t k) const;
  /// How far component `i` goes at a corner: 0 to 7 sixteenths, affine; the same along one side or both more often than not.
  uint32_t step(uint32_t i, const PanelVertex& v) const;

 private:
  uint32_t ways_, along_;
};

/// Some for the model of passes: corners in sixteenths, colours in sixteenths, one for all of a panel where they are not smooth.
std::vector<FlatVertex> flat_panels(Choices& c, const VkViewport& viewport, VkExtent2D size, bool smooth);

}  // namespace tilegpu::fuzz
