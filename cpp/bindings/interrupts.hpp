// bindings/interrupts.hpp -- Ctrl-C while the core works. In: signals that Python has noted. Out: whether the work is to end; the
// exception, once the call has left the core.
//
// Nothing of Python runs while the core holds its locks: a handler might call the core, which would wait for itself. So a signal is looked
// at and left pending; Python's own handler runs, and raises KeyboardInterrupt, as soon as the call is over, well or not. Whether a
// program's own handler would raise can't be known without running it: it runs then too, and interrupts nothing. Source: Python/C API,
// "Exception Handling" (PyErr_CheckSignals, PyErr_SetInterrupt); decision 201.
#pragma once

#include "bindings.hpp"

namespace tilegpu::bindings {

/// Whether Python's own handler of Ctrl-C waits to be run on this thread. From any thread, with or without the GIL.
bool ctrl_c_pends();
/// What the core is told while it compiles.
void bind_interrupts(py::module_&);

}  // namespace tilegpu::bindings
