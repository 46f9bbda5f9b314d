// device/feedback_loops.hpp -- draws whose shaders read what their pass writes (VK_EXT_attachment_feedback_loop_layout).
//
// In: barriers within a pass, what the next draw may read. Out: the pass goes on as another one where a draw reads what was written
// before a barrier. Source: Vulkan specification, "Common Render Pass Data Races".
//
// A shader that reads an attachment as a texture finds memory, and a tile is stored when its pass ends. So at its own pixel a fragment
// reads what the image had before the pass, whatever was drawn meanwhile; for what lies behind a barrier the pass ends there, all that it
// has is stored, and another one loads it (decision 484).
#pragma once

#include "device/recorder.hpp"

namespace tilegpu::device {

/// Why a pass can't end before it was to end and go on as another one; null: it can.
const char* never_splits(const RenderingInfo& info);
/// A pass that ends there has all in memory that it has; `written`: targets of a Feedback that were drawn to. Nothing is resolved yet.
void store_all(RenderingInfo& info, uint32_t written);
/// What such a pass left is there again.
void load_all(RenderingInfo& info, uint32_t written);

/// Before what the next draw reads is noted: which targets it may read.
void begin_loops(Recorder& recorder);
/// Whether the draw that was just noted reads what was written before a barrier; what its late sets hold nobody knows.
bool wants_split(const Recorder& recorder, const command::BoundSets* sets);
/// Of a secondary's part: no query and no transform feedback is active, which would have to go on in another one.
bool may_divide(const Recorder& recorder);
/// Ends the open pass, and goes on with one that loads what it left; queries and conditions go on. A secondary's part goes on with another
/// one, between which the pass that executes them is split if it must be.
Status split_pass(Recorder& recorder, const std::string& reader);

/// An error of what is read and written in one pass: Ok where a feedback loop that nobody announced is tolerated.
Status allow_loops(const DeviceState& device, framebuffer::Feedback& feedback, Status noted);

/// Of a secondary's part that the open pass is about to execute, whose reads were noted: whether the pass must be split before it. An error
/// where it would have to be split within the part.
Expected<bool> wants_split(const command::Pass& pass, const command::Pass& part);

/// Of what is read and written in a part, where the pass goes on behind it.
void note_barriers(command::Pass& pass, const command::Pass& part);

}  // namespace tilegpu::device
