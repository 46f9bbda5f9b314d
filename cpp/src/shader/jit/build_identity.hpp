// shader/jit/build_identity.hpp -- which build of the library runs: of the image that was loaded, whatever lies at its path by now.
//
// In: the image. Out: text that another build has otherwise. Source: ELF gABI, "Note Section"; ld(1), --build-id; dl_iterate_phdr(3).
#pragma once

#include <string>

namespace tilegpu::shader {

/// Keys of the disk cache have it, so that a rebuilt generator never loads its predecessor's objects, and the process that compiles for
/// another compares it: they have to be of one build.
const std::string& build_identity();

/// As build_identity; `noted`: by the linker's note, "" where there is none; else by all bytes that are loaded and never written.
std::string identity_of_image(bool noted);

}  // namespace tilegpu::shader
