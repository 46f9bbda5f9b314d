// The pattern that a block's paint names: plain, slabs, windows, bricks, planks.
vec3 painted(vec3 at, vec3 n, vec4 paint) {
  vec2 q = abs(n.y) > 0.5 ? at.xz : vec2(abs(n.x) > 0.5 ? at.z : at.x, at.y);
  if (paint.w < 0.5) return paint.rgb;
  if (paint.w < 1.5) {  // slabs
    vec2 slab = fract(q * 0.7), cell = floor(q * 0.7);
    float joint = min(min(slab.x, 1.0 - slab.x), min(slab.y, 1.0 - slab.y));
    return paint.rgb * (0.88 + 0.16 * fract(dot(cell, vec2(0.754877, 0.569840)))) * mix(0.6, 1.0, smoothstep(0.0, 0.03, joint));
  }
  if (paint.w < 2.5) {  // windows
    vec2 pane = abs(fract(q * vec2(1.15, 1.0) + vec2(0.0, 0.1)) - 0.5);
    bool glass = abs(n.y) < 0.5 && pane.x < 0.20 && pane.y < 0.27;
    return glass ? vec3(0.10, 0.14, 0.19) : pane.x < 0.24 && pane.y < 0.31 && abs(n.y) < 0.5 ? vec3(0.85) : paint.rgb;
  }
  if (paint.w < 3.5) {  // bricks
    vec2 b = q * vec2(2.2, 4.4);
    b.x += 0.5 * mod(floor(b.y), 2.0);
    vec2 brick = fract(b), cell = floor(b);
    float joint = min(min(brick.x, 1.0 - brick.x) * 2.0, min(brick.y, 1.0 - brick.y));
    return mix(vec3(0.62, 0.60, 0.56), paint.rgb * (0.75 + 0.4 * fract(dot(cell, vec2(0.754877, 0.569840)))), smoothstep(0.03, 0.09, joint));
  }
  float plank = abs(fract(q.y * 4.0) - 0.5);  // planks
  return paint.rgb * (0.8 + 0.25 * sin(q.x * 9.0 + 4.0 * sin(q.y * 40.0)) * 0.3) * mix(1.0, 0.55, smoothstep(0.44, 0.48, plank));
}
