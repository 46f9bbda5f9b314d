// bindings/float_block.hpp -- a block of named floats, vectors and matrices: a dictionary of the user's to the block's bytes.
//
// In: a dictionary of NumPy arrays and tuples of numbers. Out: the block's bytes. Anything unusual (another type, a wrong shape or
// name, a number that float32 does not hold) is left to the general way, tilegpu.structs, which converts it or says what is wrong.
#pragma once

#include "bindings.hpp"

namespace tilegpu::bindings {

class FloatBlock {
 public:
  using Member = std::tuple<std::string, uint32_t, std::vector<py::ssize_t>, std::vector<py::ssize_t>>;
  /// `most_B`: a longer block is a py::value_error.
  FloatBlock(uint32_t size_B, const std::vector<Member>& members, uint32_t most_B = kMaxPushConstants_B);

  /// Of the push constants that the stages have in common; null: they are not the same block, not all floats, or there are none.
  static std::unique_ptr<FloatBlock> of(const std::vector<const Reflection*>& stages);

  /// `block`: size_B() bytes, zero. False: the general way is to be gone.
  bool pack(PyObject* fields, uint8_t* block) const;
  /// The same of an array that is the one member.
  bool pack_only(PyObject* array, uint8_t* block) const { return members_.size() == 1 && put_member(array, members_[0], block); }
  uint32_t size_B() const { return size_B_; }

 private:
  struct Floats {
    py::str name;
    uint32_t offset_B;
    std::vector<py::ssize_t> shape, strides_B;  // at most two dimensions
  };
  static bool put_array(const py::array& array, const Floats& m, uint8_t* block);
  static bool put_member(PyObject* value, const Floats& m, uint8_t* block);

  uint32_t size_B_;
  std::vector<Floats> members_;
};

}  // namespace tilegpu::bindings
