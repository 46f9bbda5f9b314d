// shader/sampler/traced.cpp -- see traced.hpp.
#include "shader/sampler/traced.hpp"

#include <cassert>
#include <cstddef>

#include "shader/ir/sampler_types.hpp"
#include "shader/jit/jit.hpp"

namespace tilegpu::shader {
namespace {

static_assert(static_cast<uint32_t>(gradient_arg::count) <= kMostSamplerArguments);
static_assert(std::is_standard_layout_v<TracedSlot> && offsetof(TracedSlot, slot) == 0);

struct Operation {
  TextureUse use;
  Type (*type)(const Ir&);
  size_t slot_B;
};
constexpr Operation kOperations[] = {{kUseGradient, sample_gradient_type, offsetof(TextureDescriptor, sample_gradient)},
                                     {kUseLod, sample_lod_type, offsetof(TextureDescriptor, sample_lod)},
                                     {kUseFetch, fetch_type, offsetof(TextureDescriptor, fetch)},
                                     {kUseGather, gather_type, offsetof(TextureDescriptor, gather)},
                                     {kUseImplicit, sample_implicit_type, offsetof(TextureDescriptor, sample_implicit)}};
static_assert(std::size(kOperations) == std::size(kTracedUses));

void build(const Ir& ir, Value fn, const Operation& operation) {
  const uint32_t count = LLVMCountParams(fn);
  std::vector<Value> arguments(count);
  LLVMGetParams(fn, arguments.data());
  Value call = LLVMBuildAlloca(ir.builder, LLVMArrayType2(ir.i8, sizeof(TexelCall)), "call");
  LLVMSetAlignment(call, alignof(TexelCall));
  for (uint32_t k = 1; k < count; ++k) {
    const bool vector = Ir::lanes_of(arguments[k]) > 1;
    const size_t at_B = vector ? offsetof(TexelCall, lanes) + k * sizeof(TexelCall::lanes[0])
                               : offsetof(TexelCall, scalar) + k * sizeof(TexelCall::scalar[0]);
    ir.store(arguments[k], ir.offset(call, at_B), vector ? 16 : 4);
  }
  ir.store(ir.c32(ir.lanes), ir.offset(call, offsetof(TexelCall, lane_count)), 4);
  Value slot = ir.load(ir.ptr, ir.offset(arguments[0], operation.slot_B), 8);
  Type note_parameters[2] = {ir.ptr, ir.ptr};
  Value note_arguments[2] = {slot, call};
  LLVMBuildCall2(ir.builder, LLVMFunctionType(ir.void_type, note_parameters, 2, 0), ir.field(ir.ptr, slot, offsetof(TracedSlot, note), 8),
                 note_arguments, 2, "");
  Value original = ir.field(ir.ptr, slot, offsetof(TracedSlot, original), 8);
  Value callee = ir.field(ir.ptr, original, offsetof(CodeSlot, address), 8);
  LLVMBuildRet(ir.builder, LLVMBuildCall2(ir.builder, operation.type(ir), callee, arguments.data(), count, ""));
}

}  // namespace

Expected<TracedSamplers> compile_traced_samplers(Jit& jit) {
  TracedSamplers functions{};
  for (size_t i = 0; i < std::size(kOperations); i++) {
    const Operation& operation = kOperations[i];
    assert(operation.use == kTracedUses[i]);
    CodeKey key("traced sampler");
    key.add(static_cast<uint32_t>(operation.use));
    auto code = jit.function(key, [lanes = jit.lanes(), operation](LLVMModuleRef module, const char* name) -> Status {
      Ir ir(module, lanes);
      Value fn = ir.function(name, operation.type(ir));
      ir.at(ir.block(fn, "entry"));
      build(ir, fn, operation);
      return Ok{};
    });
    if (!code) return code.error();
    functions[i] = *code;
  }
  return functions;
}

}  // namespace tilegpu::shader
