// base/user_folders.cpp -- see user_folders.hpp.
#include "base/user_folders.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tilegpu {

std::string user_folder(const char* variable, const char* below_home) {
  assert(variable && below_home);
  const std::string own = "/tilegpu";
  if (const char* named = secure_getenv(variable); named && named[0] == '/') return named + own;
  if (const char* home = secure_getenv("HOME"); home && home[0] == '/') return std::string(home) + "/" + below_home + own;
  passwd entry, *found = nullptr;
  char buffer[4096];
  if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) == 0 && found && found->pw_dir && found->pw_dir[0] == '/')
    return std::string(found->pw_dir) + "/" + below_home + own;
  return "";
}

std::string make_private_folder(const std::string& path) {
  assert(!path.empty());
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) mkdir(path.substr(0, at).c_str(), 0700);
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return path + " can't be made: " + std::strerror(errno);
  struct stat s;
  if (lstat(path.c_str(), &s) != 0) return path + " can't be looked at: " + std::strerror(errno);
  if (!S_ISDIR(s.st_mode)) return path + " is no folder (a link to one is not followed)";
  if (s.st_uid != geteuid()) return path + " belongs to another user";
  if (s.st_mode & 022) return path + " can be written by others; chmod go-w it";
  // Who may write to a folder above could put another one in its place, but where only owners may rename (/tmp).
  for (size_t at = path.rfind('/'); at != std::string::npos && at > 0; at = path.rfind('/', at - 1)) {
    const std::string above = path.substr(0, at);
    if (stat(above.c_str(), &s) == 0 && (s.st_mode & S_IWOTH) && !(s.st_mode & S_ISVTX))
      return path + " is in " + above + ", which anybody may write to; chmod o-w it";
  }
  return "";
}

}  // namespace tilegpu
