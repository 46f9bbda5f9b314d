// descriptor/set_memory.cpp -- see set_memory.hpp; and DescriptorSet, which writes it.
//
// In: descriptors, checked against the layout at the write. Out: SetMemory. Source: Vulkan specification, VUIDs of VkWriteDescriptorSet and
// VkCopyDescriptorSet; VK_EXT_robustness2 for null descriptors.
#include "descriptor/set_memory.hpp"

#include <algorithm>
#include <cstring>

#include "base/replaying.hpp"
#include "resource/usage.hpp"

namespace tilegpu::descriptor {

namespace {

HostBytes allocate_bytes(uint32_t size_B) { return host_bytes(std::max(size_B, 16u), "a descriptor set"); }

uint64_t next_serial() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

bool may_be_written_as(const DescriptorBinding& binding, VkDescriptorType type) {
  const auto& types = binding.mutable_types;
  return binding.type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT ? std::find(types.begin(), types.end(), type) != types.end() : binding.type == type;
}

std::shared_ptr<const void> Findings::find(const Key& key) const {
  std::lock_guard lock(mutex_);
  for (const auto& [of, found] : found_)
    if (of == key) return found;
  return nullptr;
}

void Findings::keep(const Key& key, std::shared_ptr<const void> found) const {
  assert(found);
  std::shared_ptr<const void> oldest;  // let go of without the lock
  std::lock_guard lock(mutex_);
  found_.emplace_back(key, std::move(found));
  if (found_.size() <= kMost) return;
  oldest = std::move(found_.front().second);
  found_.pop_front();
}

void Findings::forget() {
  std::lock_guard lock(mutex_);
  found_.clear();
}

SetMemory::SetMemory(Ptr<const DescriptorSetLayout> of, Ptr<Textures> all_textures, uint32_t count)
    : layout(std::move(of)),
      textures(std::move(all_textures)),
      variable_count(count),
      bytes(allocate_bytes(layout->size_B(variable_count))),
      elements(layout->elements(variable_count)),
      serial(next_serial()) {
  std::memset(bytes.get(), 0, layout->size_B(variable_count));  // null buffers, sampler 0
  if (layout->has_variable_count()) std::memcpy(bytes.get(), &variable_count, sizeof variable_count);
}

SetMemory::SetMemory(const SetMemory& other)
    : layout(other.layout),
      textures(other.textures),
      variable_count(other.variable_count),
      bytes(allocate_bytes(layout->size_B(variable_count))),
      elements(other.elements),
      serial(next_serial()) {
  std::memcpy(bytes.get(), other.bytes.get(), layout->size_B(variable_count));
  for (const DescriptorBinding& b : layout->bindings())
    if (kind_of(b.type) == Kind::inline_block) put(b, 0);  // points into the memory itself
}

Expected<Ptr<SetMemory>> SetMemory::create(Ptr<const DescriptorSetLayout> layout, Ptr<Textures> textures, uint32_t variable_count) {
  if (layout->has_textures())
    if (Status made = textures->make_null(); !made) return made.error();
  auto memory = std::make_shared<SetMemory>(std::move(layout), std::move(textures), variable_count);
  for (const DescriptorBinding& b : memory->layout->bindings()) {
    const Kind kind = kind_of(b.type);
    for (size_t i = 0; i < std::min<size_t>(b.immutable_samplers.size(), memory->count_of(b)); i++) {
      auto sampler = memory->textures->sampler(b.immutable_samplers[i]);
      if (!sampler) return sampler.error();
      memory->element(b, static_cast<uint32_t>(i)).sampler = *sampler;
      memory->element(b, static_cast<uint32_t>(i)).written = kind == Kind::sampler;
    }
    if (kind == Kind::buffer || kind == Kind::dynamic_buffer) continue;
    const bool one_more = memory->layout->has_variable_count() && &b == &memory->layout->bindings().back();  // null
    const uint32_t count = kind == Kind::inline_block ? 1 : memory->count_of(b) + one_more;
    for (uint32_t i = 0; i < count; i++) memory->put(b, i);
  }
  return memory;
}

void SetMemory::changes() {
  serial = next_serial();
  findings.forget();
}

uint32_t SetMemory::count_of(const DescriptorBinding& binding, uint32_t variable_count) {
  return binding.flags & VK_DESCRIPTOR_BINDING_VARIABLE_DESCRIPTOR_COUNT_BIT ? variable_count : binding.count;
}

const Element& SetMemory::element(const DescriptorBinding& binding, uint32_t number) const {
  const size_t at = size_t{layout->place(binding).first} + number;
  assert(at < elements.size());
  return elements[at];
}
Element& SetMemory::element(const DescriptorBinding& binding, uint32_t number) {
  return const_cast<Element&>(static_cast<const SetMemory*>(this)->element(binding, number));
}

std::span<const uint8_t> SetMemory::inline_bytes(const DescriptorBinding& binding) const {
  assert(kind_of(binding.type) == Kind::inline_block);
  const auto& block = *reinterpret_cast<const shader::BufferDescriptor*>(data() + layout->place(binding).offset_B);
  return {block.data, block.size_B};
}

void SetMemory::prepare(const DescriptorBinding& binding, const Element& element) const {
  const VkDescriptorType type = binding.type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT ? element.type : binding.type;
  if (kind_of(type) == Kind::combined && element.view && element.sampler) textures->pair(*element.view, *element.sampler);
}

void SetMemory::put(const DescriptorBinding& binding, uint32_t number) {
  const Element& e = element(binding, number);
  if (binding.type != VK_DESCRIPTOR_TYPE_MUTABLE_EXT) return put_as(binding, number, binding.type, e);
  const Element null;
  for (const VkDescriptorType type : binding.mutable_types) put_as(binding, number, type, e.type == type ? e : null);
}

void SetMemory::put_as(const DescriptorBinding& binding, uint32_t number, VkDescriptorType type, const Element& e) {
  const uint32_t part_B = layout->part_B(binding, type);
  const auto image_of = [&] { return shader::ImageDescriptor{e.view ? &e.view->image : &textures->null_image()}; };
  const auto sampler_of = [&] {
    const uint32_t n = e.sampler ? e.sampler->number : 0;
    constexpr uint32_t kPointer_B = sizeof(void*);
    return shader::SamplerDescriptor{static_cast<uint32_t>(offsetof(shader::SampledImage, page)) + n / shader::kSamplersOfPage * kPointer_B,
                                     n % shader::kSamplersOfPage * kPointer_B};
  };
  switch (kind_of(type)) {
    case Kind::buffer:
      place<shader::BufferDescriptor>(binding, number, part_B) =
          e.buffer ? shader::BufferDescriptor{e.buffer->data() + e.offset_B, e.range_B} : shader::BufferDescriptor{};
      break;
    case Kind::inline_block: {
      auto& block = place<shader::BufferDescriptor>(binding, 0);
      block = {reinterpret_cast<uint8_t*>(&block + 1), count_of(binding)};
      break;
    }
    case Kind::image:
    case Kind::attachment:
    case Kind::texel_buffer:
      place<shader::ImageDescriptor>(binding, number, part_B) = image_of();
      break;
    case Kind::sampler:
      place<shader::SamplerDescriptor>(binding, number, part_B) = sampler_of();
      break;
    case Kind::combined: {
      const bool whole = e.view && e.sampler;
      place<shader::CombinedDescriptor>(binding, number, part_B) = {
          whole ? &textures->pair(*e.view, *e.sampler).abi : &image_of().image->alone, image_of(), sampler_of()};
      break;
    }
    case Kind::dynamic_buffer:  // read from the draw's own table
    case Kind::mutable_:
    case Kind::unsupported:
      break;
  }
}

}  // namespace tilegpu::descriptor

namespace tilegpu {
namespace {

using descriptor::Element;
using descriptor::Kind;
using descriptor::SetMemory;

Error invalid(const std::string& message) { return {VK_ERROR_VALIDATION_FAILED_EXT, message}; }

std::string name_of(const DescriptorBinding& b) {
  return "binding " + std::to_string(b.binding) + " (" + descriptor::name_of(b.type) + ")";
}

std::string check_buffer(const Descriptor& d) {
  if (!d.buffer) return {};
  if (!d.buffer->data()) return "needs a buffer with memory; bind memory to it first";
  const uint64_t size_B = d.buffer->size_B();
  if (d.offset_B > size_B) return "has offset " + std::to_string(d.offset_B) + " B outside its buffer of " + std::to_string(size_B) + " B";
  if (d.range_B != VK_WHOLE_SIZE && d.range_B > size_B - d.offset_B)
    return "has range " + std::to_string(d.range_B) + " B from offset " + std::to_string(d.offset_B) + " B; its buffer has " +
           std::to_string(size_B) + " B";
  if (const uint64_t range_B = std::min(d.range_B, size_B - d.offset_B); range_B > shader::kMaxBufferRange_B)
    return "has range " + std::to_string(range_B) + " B; a descriptor reaches " + std::to_string(shader::kMaxBufferRange_B) +
           " B of a buffer at most (1 GiB): bind parts of it";
  return {};
}

/// From any call that takes memory; nothing has changed where there is none.
template <class Call>
Status without_exceptions(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc& refused) {
    return Error{VK_ERROR_OUT_OF_HOST_MEMORY, "descriptor set: " + refused_text(refused, "a descriptor")};
  }
}

std::string check_image(VkDescriptorType type, const Descriptor& d) {
  if (d.buffer || d.sampler) return "needs an image view";
  if (!d.view || type != VK_DESCRIPTOR_TYPE_STORAGE_IMAGE) return {};
  const VkComponentMapping& s = d.view->info().swizzle;
  const VkComponentSwizzle of[4] = {s.r, s.g, s.b, s.a};
  for (int k = 0; k < 4; k++)
    if (of[k] != VK_COMPONENT_SWIZZLE_IDENTITY && of[k] != VK_COMPONENT_SWIZZLE_R + k)
      return "needs a view without swizzle; '" + d.view->image()->info().label + "' is viewed with one";
  return {};
}

/// A view's least LOD is of sampled images: as a storage image it has none.
Ptr<ImageView> view_of(const DescriptorBinding& binding, const Ptr<ImageView>& view) {
  if (binding.type != VK_DESCRIPTOR_TYPE_STORAGE_IMAGE || view->info().min_lod <= 0) return view;
  ImageViewCreateInfo info = view->info();
  info.min_lod = 0;
  auto without = ImageView::create(info);
  assert(without);
  return *without;
}

/// A sampler Y'CbCr conversion is of both, the view and the sampler that it is combined with.
std::string check_conversion(const DescriptorBinding& binding, uint32_t element, const Descriptor& d) {
  const bool combined = descriptor::kind_of(binding.type) == Kind::combined;
  const Ptr<Sampler>& sampler = binding.immutable_samplers.empty() ? d.sampler : binding.immutable_samplers[element];
  const Ptr<SamplerYcbcrConversion> none, &of_view = d.view ? d.view->info().ycbcr : none,
                                          &of_sampler = sampler ? sampler->info().ycbcr : none;
  if (!of_view && !of_sampler) return {};
  const std::string view = d.view ? "view of '" + d.view->image()->info().label + "'" : "";
  if (!combined && of_view) return "can't have a " + view + " with a sampler Y'CbCr conversion; bind it as combined_image_sampler";
  if (!combined) return "can't have a sampler with a Y'CbCr conversion; bind it with its image as combined_image_sampler";
  if (!d.view || !sampler || is_same(of_view, of_sampler)) return {};
  return "has a " + view + (of_view ? " with" : " without") + " a sampler Y'CbCr conversion and a sampler with " +
         (of_view && of_sampler ? "another"
          : of_sampler          ? "one"
                                : "none") +
         "; make both with the same";
}

/// What the type of the binding asks of the descriptor; empty when it is right.
std::string check(const DescriptorBinding& binding, uint32_t element, const Descriptor& d) {
  if (d.texels && descriptor::kind_of(binding.type) != Kind::texel_buffer) return "takes no buffer view";
  const bool immutable = !binding.immutable_samplers.empty();
  // What an input attachment reads lies in tile memory, or is stored before.
  if (d.view && binding.type != VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT && !d.view->image()->data())
    return d.view->image()->info().usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT
               ? "needs a view of an image with memory; '" + d.view->image()->info().label +
                     "' is transient and was never stored: store it at the end of its pass, or read it as an input attachment within"
               : "needs a view of an image with memory; bind memory to '" + d.view->image()->info().label + "' first";
  if (std::string wrong = check_conversion(binding, element, d); !wrong.empty()) return wrong;
  switch (descriptor::kind_of(binding.type)) {
    case Kind::buffer:
    case Kind::dynamic_buffer:
      return d.view || d.sampler ? "needs a buffer" : check_buffer(d);
    case Kind::inline_block:
      return "takes bytes; use write_inline";
    case Kind::combined:
      if (immutable && d.sampler) return "has immutable samplers; leave the sampler out";
      return d.buffer || (d.view && !d.sampler && !immutable) ? "needs an image view and a sampler" : "";
    case Kind::sampler:
      if (immutable) return "has immutable samplers; they are there already";
      return !d.sampler || d.buffer || d.view ? "needs a sampler" : "";
    case Kind::image:
      return check_image(binding.type, d);
    case Kind::texel_buffer:
      return d.buffer || d.view || d.sampler ? "needs a buffer view" : "";
    case Kind::attachment:
      return d.buffer || !d.view ? "needs an image view" : "";
    default:
      return "is not supported";
  }
}

/// What Vulkan forbids of a descriptor that can be there; empty: nothing.
std::string forbidden(const DescriptorBinding& binding, const Descriptor& d) {
  const bool uniform = binding.type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER || binding.type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC;
  const bool of_depth = d.view && d.view->info().aspects == (VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT);
  if (of_depth && binding.type != VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT)
    return "has a view of depth and stencil of '" + d.view->image()->info().label + "'; make a view of one of them";
  if (d.view && binding.type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT && d.view->info().min_lod != 0)
    return "has a view of '" + d.view->image()->info().label + "' with min_lod; input attachments have none";
  if (!d.buffer) return {};
  const VkBufferUsageFlagBits use = uniform ? VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (resource::lacks(*d.buffer, use)) return resource::usage_error("needs another buffer", *d.buffer, use).message;
  if (d.offset_B >= d.buffer->size_B() || d.range_B == 0) return "has 0 bytes of its buffer; give it at least 1";
  if (d.offset_B % kBufferOffsetAlignment_B)
    return "has offset " + std::to_string(d.offset_B) + " B in its buffer; it must be a multiple of " +
           std::to_string(kBufferOffsetAlignment_B);
  return {};
}

}  // namespace

DescriptorSet::DescriptorSet(Ptr<SetMemory> memory)
    : layout_(memory->layout), textures_(memory->textures), variable_count_(memory->variable_count), memory_(std::move(memory)) {
  assert(layout_ && textures_);
}
DescriptorSet::~DescriptorSet() = default;

uint32_t DescriptorSet::count_of(const DescriptorBinding& b) const { return SetMemory::count_of(b, variable_count_); }

SetMemory& DescriptorSet::own_memory() {
  if (memory_.use_count() > 1) {
    memory_ = std::make_shared<SetMemory>(*memory_);
  } else {
#ifdef __SANITIZE_THREAD__
    Ptr<SetMemory>(memory_).reset();  // it sees no fences; taking part in the count has the same order
#endif
    std::atomic_thread_fence(std::memory_order_acquire);  // what others read before they let go of it
    memory_->changes();
  }
  return *memory_;
}

Ptr<const SetMemory> DescriptorSet::memory() const {
  std::lock_guard lock(mutex_);
  return memory_;
}

bool DescriptorSet::is_written(uint32_t binding, uint32_t element) const {
  const DescriptorBinding* b = layout_->find(binding);
  std::lock_guard lock(mutex_);
  return b && element < count_of(*b) && memory_->element(*b, element).written;
}

Status DescriptorSet::write(uint32_t binding, uint32_t element, const Descriptor& d) {
  return without_exceptions([&] { return write_element(binding, element, d); });
}

Status DescriptorSet::write_element(uint32_t binding, uint32_t element, const Descriptor& d) {
  const DescriptorBinding* const of_layout = layout_->find(binding);
  const DescriptorBinding* b = of_layout;
  if (!b) return invalid("binding " + std::to_string(binding) + " is not in the set's layout");
  const uint32_t count = count_of(*b);
  if (element >= count)
    return invalid(name_of(*b) + " has " + std::to_string(count) + " elements; element " + std::to_string(element) + " does not exist");
  DescriptorBinding as;  // of a mutable binding, what the element becomes
  if (b->type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT) {
    if (!descriptor::may_be_written_as(*b, d.type))
      return invalid(name_of(*b) + " can't be written as " + descriptor::name_of(d.type) +
                     ", which its layout does not have among its types");
    as.binding = b->binding, as.type = d.type, as.count = b->count, as.stages = b->stages, as.flags = b->flags;
    b = &as;
  }
  if (const std::string wrong = check(*b, element, d); !wrong.empty()) return invalid(name_of(*b) + " " + wrong);
  if (const std::string wrong = forbidden(*b, d); !wrong.empty())
    if (Status ok = forbid(textures_->tolerate, invalid(name_of(*b) + " " + wrong)); !ok) return ok;
  Element made;
  made.written = true, made.type = b->type;
  if (d.buffer) {
    made.buffer = d.buffer, made.offset_B = d.offset_B;
    made.range_B = std::min(d.range_B, d.buffer->size_B() - d.offset_B);
  }
  const bool attachment = descriptor::kind_of(b->type) == Kind::attachment;
  if (d.view) made.view = attachment ? textures_->attachment(d.view) : textures_->view(view_of(*b, d.view));
  if (d.texels) made.view = textures_->view(d.texels);
  if (d.sampler) {
    auto sampler = textures_->sampler(d.sampler);
    if (!sampler) return Error{sampler.error().code, name_of(*b) + ": " + sampler.error().message};
    made.sampler = *sampler;
  }
  Element old;  // let go of without the lock
  {
    std::lock_guard lock(mutex_);
    SetMemory& memory = own_memory();
    Element& place = memory.element(*of_layout, element);
    if (!b->immutable_samplers.empty()) made.sampler = place.sampler;
    memory.prepare(*of_layout, made);
    old = std::exchange(place, std::move(made));
    memory.put(*of_layout, element);
    version_.fetch_add(1, std::memory_order_acq_rel);
  }
  return Ok{};
}

Status DescriptorSet::write_inline(uint32_t binding, uint32_t offset_B, const void* data, uint32_t size_B) {
  const DescriptorBinding* b = layout_->find(binding);
  if (!b || descriptor::kind_of(b->type) != Kind::inline_block)
    return invalid("binding " + std::to_string(binding) + " is no inline_uniform_block of the set's layout");
  const uint32_t room_B = count_of(*b);
  if (offset_B % 4 || size_B % 4 || offset_B > room_B || size_B > room_B - offset_B)
    return invalid(name_of(*b) + ": bytes " + std::to_string(offset_B) + " to " + std::to_string(uint64_t{offset_B} + size_B) +
                   "; multiples of 4 up to " + std::to_string(room_B) + " are allowed");
  return without_exceptions([&]() -> Status {
    std::lock_guard lock(mutex_);
    SetMemory& memory = own_memory();
    std::memcpy(memory.place<shader::BufferDescriptor>(*b, 0).data + offset_B, data, size_B);
    memory.element(*b, 0).written = true;
    version_.fetch_add(1, std::memory_order_acq_rel);
    return Ok{};
  });
}

namespace {

/// A copy's elements within one binding of each set.
struct CopyRun {
  const DescriptorBinding *from, *to;
  uint32_t from_element, to_element, count;
};

/// Where element `element` of `b` is, in the bindings that follow: null behind the last one, and at an inline block, whose bytes are none.
const DescriptorBinding* reached(const SetMemory& memory, const DescriptorBinding* b, uint32_t& element) {
  const std::vector<DescriptorBinding>& all = memory.layout->bindings();
  while (element >= memory.count_of(*b)) {
    element -= memory.count_of(*b);
    if (++b == all.data() + all.size() || descriptor::kind_of(b->type) == Kind::inline_block) return nullptr;
  }
  return b;
}

/// A mutable binding on either side: what was written must be what the other may have. What nobody wrote is null of any type.
Status check_mutable_run(const SetMemory& from, const CopyRun& run) {
  for (uint32_t i = 0; i < run.count; i++) {
    const Element& e = from.element(*run.from, run.from_element + i);
    const VkDescriptorType type = run.from->type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT ? e.type : run.from->type;
    if (e.written && !descriptor::may_be_written_as(*run.to, type))
      return invalid("copy of " + name_of(*run.from) + " to " + name_of(*run.to) + ": element " + std::to_string(run.from_element + i) +
                     " is " + descriptor::name_of(type) + ", which the other can't be");
  }
  return Ok{};
}

bool is_mutable(const DescriptorBinding& b) { return b.type == VK_DESCRIPTOR_TYPE_MUTABLE_EXT; }

Status check_run(const SetMemory& from, const CopyRun& run) {
  assert(run.count && run.from && run.to);
  if (is_mutable(*run.from) || is_mutable(*run.to)) {
    if (Status ok = check_mutable_run(from, run); !ok) return ok;
  } else if (run.from->type != run.to->type) {
    return invalid("copy of " + name_of(*run.from) + " to " + name_of(*run.to) + ": the types must be the same");
  }
  if (descriptor::kind_of(run.to->type) == Kind::sampler && !run.to->immutable_samplers.empty())
    return invalid("copy to " + name_of(*run.to) + ", which has immutable samplers; they are there already");
  return Ok{};
}

/// Elements that run past their binding go on in the next one. Source: VkCopyDescriptorSet, "all applicable consecutive bindings".
Expected<std::vector<CopyRun>> copy_runs(const SetMemory& from, const DescriptorBinding* a, uint32_t source_element, const SetMemory& to,
                                         const DescriptorBinding* b, uint32_t element, uint32_t count) {
  const DescriptorBinding *first_a = a, *first_b = b;
  const uint32_t all = count, first_source = source_element, first_element = element;
  std::vector<CopyRun> runs;
  while (count) {
    a = reached(from, a, source_element);
    b = a ? reached(to, b, element) : nullptr;
    const uint32_t left_a = a ? from.count_of(*a) - std::min(source_element, from.count_of(*a)) : 0;
    const uint32_t left_b = b ? to.count_of(*b) - std::min(element, to.count_of(*b)) : 0;
    const uint32_t n = std::min({count, left_a, left_b});
    if (n == 0)
      return invalid("copy of " + std::to_string(all) + " elements from element " + std::to_string(first_source) + " of " +
                     name_of(*first_a) + ", which has " + std::to_string(from.count_of(*first_a)) + ", to element " +
                     std::to_string(first_element) + " of " + name_of(*first_b) + ", which has " + std::to_string(to.count_of(*first_b)) +
                     ": they and the bindings behind them have fewer");
    runs.push_back({a, b, source_element, element, n});
    if (Status ok = check_run(from, runs.back()); !ok) return ok.error();
    source_element += n, element += n, count -= n;
  }
  return runs;
}

}  // namespace

Status DescriptorSet::copy(const DescriptorSet& source, uint32_t source_binding, uint32_t source_element, uint32_t binding,
                           uint32_t element, uint32_t count) {
  const Ptr<const SetMemory> from = source.memory();
  const DescriptorBinding *a = source.layout_->find(source_binding), *b = layout_->find(binding);
  if (!a || !b)
    return invalid("copy of binding " + std::to_string(source_binding) + " to binding " + std::to_string(binding) +
                   ": the layouts must have both");
  if (a->type != b->type && !is_mutable(*a) && !is_mutable(*b))
    return invalid("copy of " + name_of(*a) + " to " + name_of(*b) + ": the types must be the same");
  if (from->textures != textures_) return invalid("copy of " + name_of(*a) + ": the sets are of different devices");
  if (descriptor::kind_of(b->type) == Kind::inline_block) {
    if (uint64_t{source_element} + count > from->count_of(*a))
      return invalid("copy of " + std::to_string(count) + " bytes from byte " + std::to_string(source_element) + " of " + name_of(*a) +
                     ", which has " + std::to_string(from->count_of(*a)));
    return write_inline(binding, element, from->inline_bytes(*a).data() + source_element, count);
  }
  return without_exceptions([&]() -> Status {
    auto runs = copy_runs(*from, a, source_element, *memory(), b, element, count);
    if (!runs) return runs.error();
    std::vector<Element> elements;  // to be written; then the old ones, let go of without the lock
    std::lock_guard lock(mutex_);
    SetMemory& memory = own_memory();
    for (const CopyRun& run : *runs)
      for (uint32_t i = 0; i < run.count; i++) {
        Element& made = elements.emplace_back(from->element(*run.from, run.from_element + i));
        if (made.written && !is_mutable(*run.from)) made.type = run.from->type;
        if (!run.to->immutable_samplers.empty()) made.sampler = memory.element(*run.to, run.to_element + i).sampler;
        memory.prepare(*run.to, made);
      }
    auto made = elements.begin();
    for (const CopyRun& run : *runs)
      for (uint32_t i = 0; i < run.count; i++) {
        std::swap(memory.element(*run.to, run.to_element + i), *made++);
        memory.put(*run.to, run.to_element + i);
      }
    version_.fetch_add(1, std::memory_order_acq_rel);
    return Ok{};
  });
}

}  // namespace tilegpu
