// tilegpu/api.hpp -- TILEGPU_API marks what libtilegpu.so shows; all else is hidden. A few functions of the core's insides have it too,
// for the Python extension; only what stands in these headers is for others.
#pragma once

#if defined(_WIN32)
#define TILEGPU_API
#else
#define TILEGPU_API __attribute__((visibility("default")))
#endif
