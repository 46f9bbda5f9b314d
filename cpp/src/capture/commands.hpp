// capture/commands.hpp -- commands outside passes in a file: their tags, and one description of each for writing and reading.
// In, out: commands, bytes.
#pragma once

#include "capture/fields.hpp"
#include "capture/objects.hpp"
#include "command/recording.hpp"

namespace tilegpu::capture {

enum class Tag : uint8_t {
  end,
  pass,
  copy_buffer,
  fill_buffer,
  update_buffer,
  copy_buffer_to_image,
  copy_image_to_buffer,
  copy_image,
  blit_image,
  resolve_image,
  clear_color_image,
  clear_depth_stencil_image,
  generate_mipmaps,
  reset_query_pool,
  write_timestamp,
  copy_query_pool_results,
  begin_query,
  end_query,
  execute_commands,
  dispatch,
  count
};

/// Commands of a pass, or of a part of one.
enum class PassTag : uint8_t {
  draw,
  clear,
  indirect,
  execute_commands,
  begin_query,
  end_query,
  byte_count,
  begin_transform_feedback,
  end_transform_feedback,
  begin_condition,
  end_condition,
  count
};

/// Position among the alternatives of command::Command; the tags have the same order.
template <class C, size_t I = 0>
constexpr Tag tag_of() {
  if constexpr (std::is_same_v<C, std::variant_alternative_t<I, command::Command>>)
    return static_cast<Tag>(I + 1);
  else
    return tag_of<C, I + 1>();
}
static_assert(tag_of<command::CopyBuffer>() == Tag::copy_buffer && tag_of<command::BlitImage>() == Tag::blit_image);
static_assert(tag_of<command::CopyQueryPoolResults>() == Tag::copy_query_pool_results);
static_assert(tag_of<command::EndQuery>() == Tag::end_query);
static_assert(tag_of<command::ExecuteCommands>() == Tag::execute_commands);
static_assert(tag_of<Ptr<const command::Dispatch>>() == Tag::dispatch);
// Events, the last two, are not in files: what they order is in order there.
static_assert(std::variant_size_v<command::Command> - 2 + 1 == static_cast<size_t>(Tag::count));
static_assert(std::is_same_v<std::variant_alternative_t<static_cast<size_t>(Tag::count) - 1, command::Command>, command::SetEvent>);

/// Fields and references of one direction.
template <class A>
struct References {
  A& a;
  const Objects& o;

  void ref(Ptr<Buffer>& p) { refer(o.buffers, p, "buffer"); }
  void ref(Ptr<Image>& p) { refer(o.images, p, "image"); }
  void ref(Ptr<QueryPool>& p) { refer(o.pools, p, "query pool"); }

 private:
  template <class T>
  void refer(const Table<T>& table, Ptr<T>& p, const char* what) {
    if constexpr (std::is_same_v<A, Writer>)
      table.write(a, p), (void)what;
    else
      p = table.read(a, what);
  }
};

/// Of conditional rendering; a null buffer: none.
template <class A>
void condition_fields(References<A> r, command::Condition& c) {
  r.ref(c.buffer), r.a.number(c.offset_B, "offset"), r.a.flag(c.inverted, "inverted");
}

// Regions or ranges; the smallest, of two buffers or a range, takes 20 bytes.
template <class A, class Region>
void region_list(A& a, HostVector<Region>& regions) {
  a.list(regions, 20, kMostItems, "regions", [&](Region& region) { fields(a, region); });
}

template <class A>
void transfer_fields(References<A> r, command::CopyBuffer& c) {
  r.ref(c.source), r.ref(c.destination), region_list(r.a, c.regions);
}
template <class A>
void transfer_fields(References<A> r, command::FillBuffer& c) {
  r.ref(c.buffer), r.a.number(c.offset_B, "offset"), r.a.number(c.size_B, "size"), r.a.number(c.word, "word");
}
template <class A>
void transfer_fields(References<A> r, command::UpdateBuffer& c) {
  r.ref(c.buffer), r.a.number(c.offset_B, "offset");
  r.a.list(c.bytes, 1, kMostItems, "bytes", [&](uint8_t& byte) { r.a.number(byte, "byte"); });
}
template <class A>
void transfer_fields(References<A> r, command::CopyBufferToImage& c) {
  r.ref(c.source), r.ref(c.destination), region_list(r.a, c.regions);
}
template <class A>
void transfer_fields(References<A> r, command::CopyImageToBuffer& c) {
  r.ref(c.source), r.ref(c.destination), region_list(r.a, c.regions);
}
template <class A>
void transfer_fields(References<A> r, command::CopyImage& c) {
  r.ref(c.source), r.ref(c.destination), region_list(r.a, c.regions);
}
template <class A>
void transfer_fields(References<A> r, command::BlitImage& c) {
  r.ref(c.source), r.ref(c.destination), region_list(r.a, c.regions), filter_field(r.a, c.filter);
}
template <class A>
void transfer_fields(References<A> r, command::ResolveImage& c) {
  r.ref(c.source), r.ref(c.destination), region_list(r.a, c.regions);
}
template <class A>
void transfer_fields(References<A> r, command::ClearColorImage& c) {
  r.ref(c.image), region_list(r.a, c.ranges);
  for (uint32_t& word : c.value.uint32) r.a.number(word, "clear value");
}
template <class A>
void transfer_fields(References<A> r, command::ClearDepthStencilImage& c) {
  r.ref(c.image), region_list(r.a, c.ranges), r.a.number(c.value.depth, "depth"), r.a.number(c.value.stencil, "stencil");
}
template <class A>
void transfer_fields(References<A> r, command::GenerateMipmaps& c) {
  r.ref(c.image);
}
template <class A>
void transfer_fields(References<A> r, command::ResetQueryPool& c) {
  r.ref(c.pool), r.a.number(c.first, "query"), r.a.number(c.count, "queries");
}
template <class A>
void transfer_fields(References<A> r, command::WriteTimestamp& c) {
  r.ref(c.pool), r.a.number(c.query, "query");
}
template <class A>
void transfer_fields(References<A> r, command::BeginQuery& c) {
  r.ref(c.pool), r.a.number(c.query, "query"), r.a.number(c.stream, "stream");
}
template <class A>
void transfer_fields(References<A> r, command::EndQuery& c) {
  r.ref(c.pool), r.a.number(c.query, "query");
}
template <class A>
void transfer_fields(References<A> r, command::CopyQueryPoolResults& c) {
  r.ref(c.pool), r.a.number(c.first, "query"), r.a.number(c.count, "queries");
  r.ref(c.destination), r.a.number(c.offset_B, "offset"), r.a.number(c.stride_B, "stride"), r.a.number(c.flags, "flags");
}

}  // namespace tilegpu::capture
