// bindings/plain_binds.hpp -- bind= of draws whose values were bound before, or are contents of blocks that are all floats.
//
// In: a dictionary of the user's. Out: descriptor sets. What was bound before was looked at by the general way (tilegpu.binding), and is
// known by its objects for as long as all of them live; whether images are still defined is asked once a pass. Contents are copied now.
#pragma once

#include <unordered_map>

#include "argument_arena.hpp"
#include "float_block.hpp"

namespace tilegpu::bindings {

/// Of one pipeline.
class PlainBinds {
 public:
  static constexpr uint32_t kMostBlock_B = 1024;
  /// A binding whose contents may be given: uniform, or a storage block that is only read.
  struct Block {
    py::str name;
    uint32_t set = 0, binding = 0;
    py::object owner;  // keeps the next
    const FloatBlock* floats = nullptr;
    bool one_member = false;  // an array is that member
  };
  /// A value that was bound, and what must be as it was: of textures and slices, which users may change.
  struct Value {
    py::str name;
    PyObject *id = nullptr, *second = nullptr;  // of a pair, an image and a sampler, both
    py::object weak, weak_second;
    uint32_t set = 0, binding = 0;
    std::vector<std::pair<PyObject*, py::object>> attributes;  // names, values
  };
  /// Of a slot: what it was given, weak; of a view its image, which lives longer, and what the image keeps of the view (KeptView).
  struct Use {
    py::object slot, weak, view;
  };
  /// Values that were bound together, and the sets that the general way made of them. What else is in the sets is not theirs.
  struct Known {
    std::vector<Value> values;
    std::vector<std::pair<uint32_t, Ptr<DescriptorSet>>> sets;
    std::vector<Ptr<ImageView>> views;                       // that shaders may read
    std::vector<std::pair<py::object, py::object>> buffers;  // weak; what was known of their numbers
    std::vector<Use> uses;
    uint64_t pass = 0;  // that looked at it last
  };
  /// What a draw binds.
  struct Bound {
    Known* known = nullptr;
    struct Contents {
      const Block* block = nullptr;
      uint32_t size_B = 0;
      const void* bytes = nullptr;  // null: packed
      alignas(16) uint8_t packed[kMostBlock_B];
    };
    static constexpr size_t kMost = 4;
    size_t count = 0;
    std::array<Contents, kMost> contents;
  };
  using Sets = std::array<Ptr<DescriptorSet>, kMaxDescriptorSets>;

  /// `needed`: bindings that the shaders use, and that have to be given.
  void begin(uint32_t needed, std::vector<Block> blocks, std::vector<Ptr<DescriptorSetLayout>> layouts);
  void keep(Known known);
  /// False: the general way.
  bool take(PyObject* bind, uint64_t pass, Bound& out);
  /// Once a pass, the uses of what is bound, as the general way notes them.
  static void note(Known& known, uint64_t pass, py::list notes);
  /// Binds what is not bound yet.
  void record(const Bound& bound, CommandBuffer& recorder, Device& device, ArgumentArena* arena, Sets& now) const;
  bool needs_any() const { return needed_ != 0; }

 private:
  bool take_contents(PyObject* name, PyObject* value, Bound& out) const;
  Known* find(PyObject* bind, size_t stable);
  static bool is_as_it_was(const Known& known);

  uint32_t needed_ = 0;
  std::vector<Block> blocks_;
  std::vector<Ptr<DescriptorSetLayout>> layouts_;
  std::unordered_map<size_t, std::unique_ptr<Known>> known_;  // by their names and objects
};

}  // namespace tilegpu::bindings
