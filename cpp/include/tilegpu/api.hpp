// tilegpu/api.hpp -- TILEGPU_API marks what libtilegpu.so shows; all else is hidden. What these headers declare is what any front end
// needs; the driver's three entries, which loaders look up by name, are marked beside it.
#pragma once

#if defined(_WIN32)
#define TILEGPU_API
#else
#define TILEGPU_API __attribute__((visibility("default")))
#endif
