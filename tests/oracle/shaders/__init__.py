"""A reference interpreter of SPIR-V, one invocation at a time, written from the specification: clear and slow.

``words`` reads and writes modules, ``module`` knows their types, constants and control flow, ``numbers`` the formats of numbers,
``arithmetic`` and ``glsl450`` what is computed, ``memory`` pointers and layouts, ``images`` texels, ``invocation`` runs one invocation,
``groups`` those that wait for each other, ``stages`` dispatches, fragments, vertices, patches and primitives.
Where Vulkan leaves something open, it follows docs/undefined.md. Nothing of it comes from the compiler.
"""
