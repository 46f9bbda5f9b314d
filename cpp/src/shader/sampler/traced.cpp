// shader/sampler/traced.cpp -- see traced.hpp.
#include "shader/sampler/traced.hpp"

#include <cassert>
#include <cstddef>
#include <tuple>

#include "shader/ir/sampler_types.hpp"
#include "shader/jit/jit.hpp"

namespace tilegpu::shader {

const std::array<TracedOperation, 6> kTracedOperations = {{
    {kUseGradient, &TextureDescriptor::sample_gradient, gradient_arg::mask},
    {kUseLod, &TextureDescriptor::sample_lod, lod_arg::mask},
    {kUseFetch, &TextureDescriptor::fetch, fetch_arg::mask},
    {kUseGather, &TextureDescriptor::gather, gather_arg::mask},
    {kUseImplicit, &TextureDescriptor::sample_implicit, implicit_arg::mask},
    {kUseMinLod, &TextureDescriptor::sample_min_lod, gradient_arg::mask},
}};

namespace {

static_assert(static_cast<uint32_t>(min_lod_arg::count) <= kMostSamplerArguments);
static_assert(std::is_standard_layout_v<TracedSlot> && offsetof(TracedSlot, slot) == 0);

Type type_of(const Ir& ir, const TracedOperation& operation) {
  constexpr Type (*kTypes[])(const Ir&) = {sample_gradient_type, sample_lod_type,      fetch_type,
                                           gather_type,          sample_implicit_type, sample_min_lod_type};
  static_assert(std::size(kTypes) == std::tuple_size_v<TracedSamplers>);
  return kTypes[&operation - kTracedOperations.data()](ir);
}

size_t place_B(const CodeSlot* TextureDescriptor::* slot) {
  static const TextureDescriptor any{};
  return static_cast<size_t>(reinterpret_cast<const char*>(&(any.*slot)) - reinterpret_cast<const char*>(&any));
}

void build(const Ir& ir, Value fn, const TracedOperation& operation) {
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
  Value slot = ir.load(ir.ptr, ir.offset(arguments[0], place_B(operation.slot)), 8);
  Type note_parameters[2] = {ir.ptr, ir.ptr};
  Value note_arguments[2] = {slot, call};
  LLVMBuildCall2(ir.builder, LLVMFunctionType(ir.void_type, note_parameters, 2, 0), ir.field(ir.ptr, slot, offsetof(TracedSlot, note), 8),
                 note_arguments, 2, "");
  Value original = ir.field(ir.ptr, slot, offsetof(TracedSlot, original), 8);
  Value callee = ir.field(ir.ptr, original, offsetof(CodeSlot, address), 8);
  LLVMBuildRet(ir.builder, LLVMBuildCall2(ir.builder, type_of(ir, operation), callee, arguments.data(), count, ""));
}

}  // namespace

Expected<TracedSamplers> compile_traced_samplers(Jit& jit) {
  TracedSamplers functions{};
  for (size_t i = 0; i < std::size(kTracedOperations); i++) {
    const TracedOperation& operation = kTracedOperations[i];
    CodeKey key("traced sampler");
    key.add(static_cast<uint32_t>(operation.use));
    auto code = jit.function(key, [lanes = jit.lanes(), &operation](LLVMModuleRef module, const char* name) -> Status {
      Ir ir(module, lanes);
      Value fn = ir.function(name, type_of(ir, operation));
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
