// tests/epilogue_fixture.hpp -- keys of epilogues for tests.
#pragma once

#include "shader/compiler.hpp"

namespace tilegpu::test {

/// One colour target, all components written, no blending.
inline shader::EpilogueKey one_target(VkFormat format, uint32_t samples = 1) {
  shader::EpilogueKey key;
  key.samples = samples;
  key.formats[0] = format;
  key.blend[0].colorWriteMask = 15;
  return key;
}

}  // namespace tilegpu::test
