// What the scenes of everyday_nature.py tell every shader.
layout(std140, set = 0, binding = 0) uniform View { mat4 view_projection; vec4 eye; vec4 sun; vec4 way[3]; } view;
