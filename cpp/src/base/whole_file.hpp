// base/whole_file.hpp -- files that are written under another name and renamed: whoever finds one finds all of it.
//
// In: a path, bytes. Out: the file, or an errno and nothing. Names of those that are on their way end with ".tmp"; processes that are
// killed leave some behind, which are removed later. Source: rename(2), renameat2(2) (RENAME_NOREPLACE).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace tilegpu {

struct WholeFile {
  bool replaces = true;  // else a file that is there already stays, and errno is EEXIST
  bool flushes = false;  // it is on disk before it has its name: a power cut leaves all of it or nothing
  unsigned mode = 0600;  // who may do what: chmod(2)
  bool masked = true;    // less what the process's umask forbids, as for any new file
};
/// The parts one after the other.
bool write_file(const std::string& path, std::initializer_list<std::string_view> parts, const WholeFile& how = {});

bool is_temporary(std::string_view name);
/// Those of killed processes (older than ten minutes) for files whose names begin like this; "" for all of the folder.
void remove_old_temporaries(const std::string& folder, std::string_view begin);

/// 32 hexadecimal digits that nobody else has.
std::string random_name();

}  // namespace tilegpu
