// shader/jit/object_answer.hpp -- the other end of object_request.hpp: a compiler in a process of its own, which needs to know nothing of
// LLVM.
//
// In: a request. Out: the object of machine code that emit_object makes of its IR.
#pragma once

#include <string>

#include "base/message.hpp"
#include "tilegpu/types.hpp"

namespace tilegpu::shader {

/// Behind the request's kind (compile_request.hpp).
Expected<std::string> answer_object_request(MessageReader& request);

}  // namespace tilegpu::shader
