// resource/host_pages.cpp -- see host_pages.hpp.
#include "resource/host_pages.hpp"

#include <cinttypes>
#include <cstdio>
#include <memory>

namespace tilegpu::resource {

HostPages find_pages(uintptr_t begin, uintptr_t end) {
  HostPages out;
  if (begin >= end) return out;  // the end of what can be addressed is beyond numbers
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             [](std::FILE* f) { return std::fclose(f); });
  if (!maps) return out;
  out.behind = HostPages::Behind::nothing;
  uintptr_t known = begin;  // up to here all can be read and written
  char line[512];
  bool whole = true;  // the line before ended
  while (std::fgets(line, sizeof line, maps.get())) {
    const bool begins = whole;
    whole = false;
    for (const char* c = line; *c; ++c) whole = whole || *c == '\n';
    uintptr_t from = 0, to = 0;
    char may[5] = {};
    if (!begins || std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, may) != 3) continue;
    const bool reads = may[0] == 'r', writes = reads && may[1] == 'w';
    if (writes && from <= known && known < to) known = to;  // they come in order
    if (from <= end && end < to) out.behind = reads ? HostPages::Behind::readable : HostPages::Behind::unreadable;
  }
  out.writable = known >= end;
  return out;
}

}  // namespace tilegpu::resource
