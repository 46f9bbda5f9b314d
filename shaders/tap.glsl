// The colour so many texels away.
vec3 at(vec2 away) { return texture(source, v_uv + away / vec2(textureSize(source, 0))).rgb; }
