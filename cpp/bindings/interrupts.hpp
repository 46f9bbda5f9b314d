// bindings/interrupts.hpp -- Ctrl-C while the core compiles. In: what a signal's handler raised meanwhile. Out: the exception, where the
// error that it made of the compile becomes one.
#pragma once

namespace tilegpu::bindings {

/// Sets Python's error to the KeyboardInterrupt (or what else a handler raised) that ended a compile; false: there was none. With the GIL.
bool restore_interrupt();

}  // namespace tilegpu::bindings
