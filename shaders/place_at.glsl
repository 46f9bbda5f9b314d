// The place in the world that a pixel of the picture shows, by its depth.
vec3 place_at(vec2 uv, float z) {
  vec4 h = view.inverse * vec4(uv * 2.0 - 1.0, z, 1.0);
  return h.xyz / h.w;
}
