// Narkowicz, "ACES Filmic Tone Mapping Curve" (2016): high range to what a screen has.
vec3 aces(vec3 x) { return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0); }
