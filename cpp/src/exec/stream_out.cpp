// exec/stream_out.cpp -- see stream_out.hpp.
#include "exec/stream_out.hpp"

#include <cassert>
#include <cstring>

namespace tilegpu::exec {

namespace {

constexpr uint32_t kBuffers = kMaxTransformFeedbackBuffers;

// Counters are read when an interval begins, and written when it ends: the next one may go on from there.
void begin_interval(PassRun& run, uint32_t interval) {
  const command::TransformFeedback& t = run.pass.transform_feedback[interval];
  for (uint32_t i = 0; i < kBuffers; i++) {
    run.captured.offset_B[i] = 0;
    if (!t.resumed[i].buffer) continue;
    uint32_t counter;
    std::memcpy(&counter, t.resumed[i].buffer->data() + t.resumed[i].offset_B, 4);
    run.captured.offset_B[i] = counter;
  }
}

void end_interval(PassRun& run, uint32_t interval) {
  const command::TransformFeedback& t = run.pass.transform_feedback[interval];
  for (uint32_t i = 0; i < kBuffers; i++) {
    if (!t.kept[i].buffer) continue;
    const auto counter = static_cast<uint32_t>(run.captured.offset_B[i]);
    std::memcpy(t.kept[i].buffer->data() + t.kept[i].offset_B, &counter, 4);
  }
}

void go_to(PassRun& run, uint32_t interval) {
  CapturedState& s = run.captured;
  while (s.next <= interval) {
    if (s.next > 0) end_interval(run, s.next - 1);
    if (s.next < run.pass.transform_feedback.size()) begin_interval(run, s.next);
    s.next++;
  }
}

// Which buffers a stream goes to, and its words.
struct Stream {
  std::span<const shader::CapturedWord> words;
  uint32_t buffers = 0;  // a bit each
};

Stream stream_of(const shader::TransformFeedback& captured, uint32_t stream) {
  size_t first = 0;
  while (first < captured.words.size() && captured.words[first].stream < stream) first++;
  size_t end = first;
  Stream out;
  for (; end < captured.words.size() && captured.words[end].stream == stream; end++) out.buffers |= 1u << captured.words[end].buffer;
  out.words = std::span(captured.words).subspan(first, end - first);
  return out;
}

}  // namespace

void write_captured(PassRun& run, const records::Chunk& chunk) {
  CapturedState& s = run.captured;
  for (const records::CapturedRun& captured : chunk.captured) {
    go_to(run, captured.interval);
    const command::DrawCall& draw = run.geometry.draws[captured.draw];
    const shader::TransformFeedback& what = draw.state->resolved->primitives.captured;
    const command::TransformFeedback& to = run.pass.transform_feedback[captured.interval];
    const Stream stream = stream_of(what, captured.stream);
    const uint32_t* word = chunk.captured_words.data() + captured.first_word;
    uint64_t written = 0;
    for (uint64_t i = 0; i < captured.primitives; i++, word += stream.words.size() * captured.vertices_of_primitive) {
      bool fits = true;
      for (uint32_t b = 0; b < kBuffers; b++)
        if (stream.buffers >> b & 1)
          fits = fits && to.bound[b].buffer &&
                 s.offset_B[b] + uint64_t{captured.vertices_of_primitive} * what.stride_B[b] <= to.bound[b].size_B;
      if (!fits) continue;
      written++;
      for (uint32_t v = 0; v < captured.vertices_of_primitive; v++)
        for (size_t k = 0; k < stream.words.size(); k++) {
          const shader::CapturedWord& w = stream.words[k];
          uint8_t* base = to.bound[w.buffer].buffer->data() + to.bound[w.buffer].offset_B;
          std::memcpy(base + s.offset_B[w.buffer] + uint64_t{v} * what.stride_B[w.buffer] + w.offset_B, &word[v * stream.words.size() + k],
                      4);
        }
      for (uint32_t b = 0; b < kBuffers; b++)
        if (stream.buffers >> b & 1) s.offset_B[b] += uint64_t{captured.vertices_of_primitive} * what.stride_B[b];
      run.out.stats.captured_B += uint64_t{captured.vertices_of_primitive} * stream.words.size() * 4;
    }
    run.out.stats.primitives_captured += written;
    if (draw.counted) {
      records::StageCounts& counts = run.counts[draw.counted];
      counts.captured[captured.stream] += written, counts.capturable[captured.stream] += captured.primitives;
    }
  }
}

void finish_captured(PassRun& run) {
  if (!run.pass.transform_feedback.empty()) go_to(run, static_cast<uint32_t>(run.pass.transform_feedback.size()));
}

}  // namespace tilegpu::exec
