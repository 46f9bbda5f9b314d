// A number of a cell, 0 to 1, of integers: one by sines, which many shaders have, is another one on each machine.
float hash(vec2 cell) {
  uvec2 q = uvec2(ivec2(cell));
  uint h = q.x * 1597334677u ^ q.y * 3812015801u;
  return float(((h ^ (h >> 15)) * 739982445u) >> 8) / 16777216.0;
}
