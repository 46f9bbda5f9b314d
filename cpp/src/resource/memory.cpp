// resource/memory.cpp -- device memory (anonymous mappings, committed by the kernel when touched; files in memory, where it is shared; the
// host's own) and buffers.
//
// In: sizes, descriptors. Out: page-aligned zeroed memory; buffers bound to a range of it. Source: Vulkan specification, "Memory
// Allocation", "External Memory".
#include <sys/mman.h>
#include <unistd.h>

#include "base/field_error.hpp"
#include "base/memory_budget.hpp"
#include "base/red_zone.hpp"
#include "base/sealed_file.hpp"
#include "resource/address_space.hpp"
#include "resource/host_pages.hpp"
#include "resource/memory_contents.hpp"

namespace tilegpu {
namespace {

// Generated code reads whole words at a texel of one byte: the bytes after the last one must be readable.
constexpr uint64_t kSlack_B = 64;
constexpr uint64_t kHugePage_B = 2ull << 20;
// From here on huge pages pay: a 1080p frame then takes 4 page faults instead of 2000.
constexpr uint64_t kHugeFrom_B = 4ull << 20;
constexpr uint64_t kBindAlignment_B = 64;
constexpr uint64_t kMaxSize_B = 1ull << 40;  // of a buffer

uint64_t page_size_B() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

constexpr const char* kName = "device memory";

uint64_t file_size_B(uint64_t size_B) { return (size_B + page_size_B() - 1) / page_size_B() * page_size_B(); }

// Whole pages; where they are huge, the last one too: the system gives none to a mapping that ends within it.
uint64_t mapped_size_B(uint64_t size_B) {
  const uint64_t page_B = size_B >= kHugeFrom_B ? kHugePage_B : page_size_B();
  return (size_B + kSlack_B + page_B - 1) / page_B * page_B;
}

Status check_size(uint64_t size_B) {
  if (size_B) return Ok{};
  return field_error(kName, "size_B", "0", "1 or more", "allocate what the buffer or image requires");
}

/// Of what all images and buffers of the process may have; given back where the memory can't be had, or else with it.
class Taken {
 public:
  explicit Taken(uint64_t size_B) : size_B_(size_B), taken_(take_memory(size_B)) {}
  ~Taken() {
    if (taken_) give_memory_back(size_B_);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  Status status() const {
    if (taken_) return Ok{};
    return field_error(kName, "size_B", std::to_string(size_B_), "at most the " + left_text(memory_left_B()),
                       "let go of images, or use smaller ones, fewer samples or fewer layers", VK_ERROR_OUT_OF_DEVICE_MEMORY);
  }
  /// The memory gives it back from here on.
  void keep() { taken_ = false; }

 private:
  const uint64_t size_B_;
  bool taken_;
};

/// What is mapped behind the bytes and the few that may be read there.
void forbid_rest(uint8_t* data, uint64_t size_B) { forbid(data + size_B + kSlack_B, mapped_size_B(size_B) - size_B - kSlack_B); }

Error refused(uint64_t size_B) {
  return {VK_ERROR_OUT_OF_DEVICE_MEMORY,
          "device memory: the system refused " + std::to_string(size_B) + " bytes; close other programs or use smaller images"};
}

}  // namespace

Expected<Ptr<DeviceMemory>> DeviceMemory::allocate(uint64_t size_B) {
  if (Status ok = check_size(size_B); !ok) return ok.error();
  Taken taken(size_B);
  if (Status ok = taken.status(); !ok) return ok.error();
  const uint64_t mapped_B = mapped_size_B(size_B);
  const bool huge = size_B >= kHugeFrom_B;
  // Huge pages want alignment: map more, give the ends back.
  const uint64_t request_B = huge ? mapped_B + kHugePage_B : mapped_B;
  void* address = mmap(nullptr, request_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    return refused(size_B);
  }
  auto* data = static_cast<uint8_t*>(address);
  if (huge) {
    const auto start = reinterpret_cast<uintptr_t>(data);
    const uintptr_t aligned = (start + kHugePage_B - 1) / kHugePage_B * kHugePage_B;
    const uint64_t front_B = aligned - start, back_B = kHugePage_B - front_B;
    if (front_B) munmap(data, front_B);
    data += front_B;
    if (back_B) munmap(data + mapped_B, back_B);
    madvise(data, mapped_B, MADV_HUGEPAGE);  // a wish; without it everything still works
  }
  forbid_rest(data, size_B);
  auto memory = Ptr<DeviceMemory>(new DeviceMemory());
  memory->data_ = data;
  memory->size_B_ = size_B;
  taken.keep();
  memory->contents_ = std::make_shared<resource::MemoryContents>();
  return memory;
}

// The bytes after the last one are readable here too: of the file's last page, or of one that is nobody's.
Expected<Ptr<DeviceMemory>> DeviceMemory::map_shared(std::shared_ptr<SealedFile> file, uint64_t size_B) {
  assert(file && size_B && file_size_B(size_B) <= file->size_B());
  Taken taken(size_B);
  if (Status ok = taken.status(); !ok) return ok.error();
  const uint64_t mapped_B = mapped_size_B(size_B);
  void* address = mmap(nullptr, mapped_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return refused(size_B);
  auto memory = Ptr<DeviceMemory>(new DeviceMemory());
  memory->data_ = static_cast<uint8_t*>(address);
  memory->size_B_ = size_B;
  taken.keep();
  memory->contents_ = std::make_shared<resource::MemoryContents>();
  memory->contents_->share();
  memory->file_ = std::move(file);
  if (mmap(address, file_size_B(size_B), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->file_->fd(), 0) == MAP_FAILED)
    return refused(size_B);
  forbid_rest(memory->data_, size_B);
  return memory;
}

Expected<Ptr<DeviceMemory>> DeviceMemory::allocate_shared(uint64_t size_B) {
  if (Status ok = check_size(size_B); !ok) return ok.error();
  auto file = SealedFile::create(kName, file_size_B(size_B));
  if (!file) return file.error();
  return map_shared(std::move(*file), size_B);
}

Expected<Ptr<DeviceMemory>> DeviceMemory::import_fd(int fd, uint64_t size_B) {
  if (Status ok = check_size(size_B); !ok) return ok.error();
  auto file = SealedFile::import_fd(kName, fd);
  if (!file) return file.error();
  if (!*file) {
    return field_error(kName, "fd", std::to_string(fd), "a descriptor that tilegpu exported", "export it from shared memory",
                       VK_ERROR_INVALID_EXTERNAL_HANDLE);
  }
  if ((*file)->size_B() < file_size_B(size_B)) {
    return field_error(kName, "size_B", std::to_string(size_B),
                       "at most the " + std::to_string((*file)->size_B()) + " bytes of the memory that is imported",
                       "give the exported memory's size", VK_ERROR_INVALID_EXTERNAL_HANDLE);
  }
  return map_shared(std::move(*file), size_B);
}

Expected<Ptr<DeviceMemory>> DeviceMemory::import_host(void* data, uint64_t size_B) {
  if (Status ok = check_size(size_B); !ok) return ok.error();
  constexpr VkResult kCode = VK_ERROR_INVALID_EXTERNAL_HANDLE;
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const std::string page = std::to_string(page_size_B());
  if (begin == 0 || begin % page_size_B())
    return field_error(kName, "the host's pointer", std::to_string(begin), "a multiple of " + page + ", and not null",
                       "import whole pages (aligned_alloc, mmap)", kCode);
  const uintptr_t last = UINTPTR_MAX - page_size_B();  // one page more must have an address
  if (size_B % page_size_B() || begin > last || size_B > last - begin)
    return field_error(kName, "size_B", std::to_string(size_B), "a multiple of " + page + " that ends before the last page",
                       "import whole pages (aligned_alloc, mmap)", kCode);
  const resource::HostPages pages = resource::find_pages(begin, begin + size_B);
  if (!pages.writable)
    return field_error(kName, "the host's memory", std::to_string(size_B) + " bytes from " + std::to_string(begin) + " on",
                       "memory of this process that can be read and written, all of it", "map it before it is imported", kCode);
  auto memory = Ptr<DeviceMemory>(new DeviceMemory());
  memory->data_ = static_cast<uint8_t*>(data);
  memory->size_B_ = size_B;
  memory->of_host_ = true;
  memory->contents_ = std::make_shared<resource::MemoryContents>();
  memory->contents_->share();
  if (pages.behind == resource::HostPages::Behind::nothing) {
    void* const wanted = memory->data_ + size_B;
    void* const got = mmap(wanted, page_size_B(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    memory->page_behind_ = got == wanted;
    if (got != wanted && got != MAP_FAILED) munmap(got, page_size_B());  // a kernel before 4.17 takes the address for a wish
  }
  if (!memory->page_behind_ && pages.behind != resource::HostPages::Behind::readable)
    return field_error(kName, "the page behind the host's memory", "one that can't be read",
                       "a readable page, or none at all: code reads up to " + std::to_string(kSlack_B) + " bytes more than it uses",
                       "leave a page of the mapping behind what is imported", kCode);
  return memory;
}

uint64_t DeviceMemory::host_alignment_B() { return page_size_B(); }

Expected<int> DeviceMemory::export_fd() const {
  if (!file_) {
    return Error{VK_ERROR_VALIDATION_FAILED_EXT,
                 "device memory: it isn't shared, so that it has no descriptor; allocate it as shared memory"};
  }
  return file_->export_fd();
}

Expected<uint8_t*> DeviceMemory::map(uint64_t offset_B, uint64_t size_B) {
  if (offset_B >= size_B_) {
    return field_error(kName, "offset_B of map", std::to_string(offset_B), "0 to " + std::to_string(size_B_ - 1),
                       "map bytes that were allocated", VK_ERROR_MEMORY_MAP_FAILED);
  }
  if (size_B == VK_WHOLE_SIZE) size_B = size_B_ - offset_B;
  if (size_B == 0 || size_B > size_B_ - offset_B) {
    return field_error(kName, "size_B of map", std::to_string(size_B), "1 to " + std::to_string(size_B_ - offset_B),
                       "map bytes that were allocated", VK_ERROR_MEMORY_MAP_FAILED);
  }
  contents_->map({offset_B, offset_B + size_B});
  return data_ + offset_B;
}

Status DeviceMemory::flush(uint64_t offset_B, uint64_t size_B) {
  if (offset_B < size_B_ && size_B == VK_WHOLE_SIZE) size_B = size_B_ - offset_B;
  if (offset_B >= size_B_ || size_B == 0 || size_B > size_B_ - offset_B) {
    return field_error(kName, "range of flush", std::to_string(size_B) + " bytes from byte " + std::to_string(offset_B),
                       "within its " + std::to_string(size_B_) + " bytes", "flush bytes that were allocated");
  }
  contents_->write({offset_B, offset_B + size_B}, resource::kAllFields, resource::Writer::host);
  return Ok{};
}

void DeviceMemory::unmap() { contents_->unmap(); }

DeviceMemory::~DeviceMemory() {
  if (page_behind_) munmap(data_ + size_B_, page_size_B());
  if (!data_ || of_host_) return;
  allow(data_, mapped_size_B(size_B_));
  munmap(data_, mapped_size_B(size_B_));
  give_memory_back(size_B_);
}

Expected<Ptr<Buffer>> Buffer::create(const BufferCreateInfo& info) {
  const std::string name = object_name("buffer", info.label);
  if (info.size_B == 0 || info.size_B > kMaxSize_B) {
    return field_error(name, "size_B", std::to_string(info.size_B), "1 to 2^40", "give the buffer the size of its data");
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->info_ = info;
  return buffer;
}

// As far as it goes: copies touch what their regions name, and nothing beside.
Ptr<Buffer> resource::buffer_over_host(void* memory) {
  assert(memory);
  auto buffer = std::make_shared<Buffer>();
  buffer->info_.label = "memory of the host";
  buffer->info_.size_B = kMaxSize_B;
  buffer->memory_ = Ptr<DeviceMemory>(new DeviceMemory());  // without bytes of its own
  buffer->memory_->contents_ = std::make_shared<resource::MemoryContents>();
  buffer->data_ = static_cast<uint8_t*>(memory);
  return buffer;
}

Status Buffer::bind(Ptr<DeviceMemory> memory, uint64_t offset_B) {
  const std::string name = object_name("buffer", info_.label);
  if (data_) return Error{VK_ERROR_VALIDATION_FAILED_EXT, name + ": memory is bound already; create another buffer to alias memory"};
  if (!memory) return field_error(name, "memory", "null", "device memory", "allocate size_B bytes and bind them");
  if (offset_B % kBindAlignment_B) {
    return field_error(name, "offset_B", std::to_string(offset_B), "a multiple of 64", "round the offset up");
  }
  if (offset_B > memory->size_B() || info_.size_B > memory->size_B() - offset_B) {
    return field_error(name, "offset_B + size_B", std::to_string(offset_B) + " + " + std::to_string(info_.size_B),
                       "at most the memory's " + std::to_string(memory->size_B()), "allocate more memory");
  }
  data_ = memory->data_ + offset_B;
  memory_offset_B_ = offset_B;
  memory_ = std::move(memory);
  if (const resource::AddressLease* lease = lease_.load(std::memory_order_acquire))
    lease->space->bound(lease->window, memory_, data_, memory_offset_B_);
  return Ok{};
}

uint64_t Buffer::device_address() const {
  const resource::AddressLease* lease = lease_.load(std::memory_order_acquire);
  return lease ? lease->address() : 0;
}

}  // namespace tilegpu
