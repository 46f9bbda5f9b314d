// tile/prepass.hpp -- stage: tile phase, the fragment pre-pass; see prepass.cpp. In, out: there.
#pragma once

#include "tile/worker/worker.hpp"

namespace tilegpu::TILEGPU_TILE {

/// Pre-pass and main pass from entry `at` of segment `segment` on; both move to where ordinary drawing goes on. True: there the
/// next pre-pass may begin (this one was full), false: nothing more in this bin is compatible.
bool run_prepass(Worker& w, uint32_t& segment, uint32_t& at, uint32_t end);
/// The plane of numbers is clear again, which draws of the main phase asked while they waited.
void forget_numbers(Worker& w);
/// The current draw ends, whose quads are all recorded.
void leave_prepass_draw(Worker& w);
/// The next draw of the pre-pass; false: it ends here.
bool enter_prepass_draw(const PassContext& pass, PrePass& p, uint32_t draw);

}  // namespace tilegpu::TILEGPU_TILE
