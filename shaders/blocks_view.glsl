// What the scenes of everyday_light.py tell every shader.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; mat4 inverse; mat4 before; vec4 eye; vec4 sun; vec4 size_px; } view;
