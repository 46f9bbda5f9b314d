// base/orphan.hpp -- a program that is started as nobody's child.
//
// In: a program, its arguments, a descriptor. Out: it runs; or why not. A child would be among those that the calling program waits for
// with wait(2), would tell it of its end by SIGCHLD, and could not be waited for where the program ignores that signal. So a process in
// between starts it and ends at once: one that shares this process's memory, as of vfork(2), and whose end sends no signal, so that no
// wait(2) but one with __WALL or __WCLONE sees it. The started program is adopted by init, or by the nearest process that adopts orphans
// (PR_SET_CHILD_SUBREAPER). Where that is the calling program itself it is its child after all. Source: clone(2), wait(2), posix_spawn(3),
// prctl(2); docs/decisions.md, 505.
#pragma once

#include <string>
#include <vector>

namespace tilegpu {

/// 0, or errno. Of its descriptors 3 is `third`, and 0, 1 and 2 are /dev/null; of the signals none is blocked, ignored or handled; its
/// process group is its own.
int start_orphan(const std::string& program, const std::vector<std::string>& arguments, int third);

}  // namespace tilegpu
