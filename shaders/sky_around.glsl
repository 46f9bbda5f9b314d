// Where the sky's picture shows a direction; it is even in height.
vec2 around(vec3 way) { return vec2(atan(way.x, -way.z) * 0.15915494 + 0.5, 0.5 - 0.5 * way.y); }
