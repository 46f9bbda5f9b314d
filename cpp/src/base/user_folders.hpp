// base/user_folders.hpp -- the folders that programs have in a user's home, and whether one is his alone.
//
// In: a variable of the environment, a name below the home. Out: paths; folders. Source: XDG Base Directory Specification.
#pragma once

#include <string>

namespace tilegpu {

/// tilegpu's: in the folder that `variable` ("XDG_CACHE_HOME") names by an absolute path, else in `below_home` (".cache") of the home.
/// "" where there is no home.
std::string user_folder(const char* variable, const char* below_home);
/// Makes it and what is above it, where missing. Empty: a folder of the user's that nobody else can write; else what is wrong with it.
std::string make_private_folder(const std::string& path);

}  // namespace tilegpu
