// bindings/module.cpp -- tilegpu._core: everything of cpp/include/tilegpu for Python. Entered through init.cpp.
#include "bindings.hpp"

PYBIND11_MODULE(_core_impl, m) {
  using namespace tilegpu::bindings;
  m.doc() = "tilegpu's core, near 1:1; use the tilegpu package instead.";
  bind_errors(m);
  bind_enums(m);
  bind_shader(m);
  bind_resource(m);
  bind_pipeline(m);
  bind_vertex(m);
  bind_stats(m);
  bind_command(m);
  bind_state(m);
  bind_push(m);
  bind_turn(m);
  bind_argument_arena(m);
  bind_plain_pipeline(m);
  bind_plain_draws(m);
  bind_plain_method(m);
  bind_device(m);
  bind_format(m);
  bind_capture(m);
  bind_compute(m);
}
