"""Random shaders, valid by construction, run by the compiler and by the reference interpreter (tests/oracle/shaders).

``palette`` names types and declares them, ``values`` writes expressions, ``flow`` control flow, ``program`` whole modules with their data;
``compare`` runs both and says where they differ, ``reduce`` makes a difference small. `python -m tests.shader_fuzz` runs without end.
"""
