// shader/jit/deep_frame.cpp -- see deep_frame.hpp.
#include "shader/jit/deep_frame.hpp"

#include <time.h>

#include <cassert>
#include <cstring>
#include <vector>

#include "base/large_stack.hpp"

namespace tilegpu::shader {
namespace {

/// Of what stands between: this room's calls, and the core's that generated code calls.
constexpr uint64_t kBeside_B = 256u << 10;
/// What stands in an object until it is known how much its code needs.
constexpr uint64_t kMark = 0x5447'6465'6570'4652;

LLVMValueRef field(LLVMBuilderRef builder, LLVMTypeRef fields, LLVMValueRef of, unsigned k) {
  return LLVMBuildStructGEP2(builder, fields, of, k, "");
}

void add_attributes(LLVMValueRef from, LLVMValueRef to) {
  constexpr auto kOfFunction = static_cast<LLVMAttributeIndex>(LLVMAttributeFunctionIndex);
  std::vector<LLVMAttributeRef> all(LLVMGetAttributeCountAtIndex(from, kOfFunction));
  LLVMGetAttributesAtIndex(from, kOfFunction, all.data());
  for (LLVMAttributeRef one : all) LLVMAddAttributeAtIndex(to, kOfFunction, one);
}

}  // namespace

void run_deep(void (*call)(void*), void* arguments, uint64_t frame_B) {
  assert(call && frame_B <= kMaxDeepFrame_B + kBeside_B);
  const uint64_t needed_B = frame_B + kBeside_B;
  if (stack_left_B() >= needed_B) return call(arguments);
  // Where the system refuses a thread it may have one soon: others of the device end theirs. Code has no way to say that it can't go on.
  constexpr timespec kBetween{0, 1'000'000};
  for (int tries = 0; tries < 10'000; tries++) {
    if (on_stack_of(needed_B + kBeside_B, [&] { call(arguments); })) return;
    nanosleep(&kBetween, nullptr);
  }
  call(arguments);
}

void put_behind_deep_entry(LLVMModuleRef module, LLVMValueRef function) {
  assert(module && function && !LLVMIsDeclaration(function));
  LLVMContextRef context = LLVMGetModuleContext(module);
  size_t length = 0;
  const std::string name(LLVMGetValueName2(function, &length));
  LLVMTypeRef type = LLVMGlobalGetValueType(function), result = LLVMGetReturnType(type), none = LLVMVoidTypeInContext(context);
  LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0), word = LLVMInt64TypeInContext(context);
  const unsigned count = LLVMCountParamTypes(type);
  std::vector<LLVMTypeRef> members(count);
  LLVMGetParamTypes(type, members.data());
  const bool returns = result != none;
  members.push_back(returns ? result : word);
  LLVMTypeRef fields = LLVMStructTypeInContext(context, members.data(), count + 1, 0);

  LLVMSetValueName2(function, "body", 4);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMValueRef inner = LLVMAddFunction(module, "call", LLVMFunctionType(none, &pointer, 1, 0));
  LLVMSetLinkage(inner, LLVMInternalLinkage);
  add_attributes(function, inner);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, inner, "entry"));
  std::vector<LLVMValueRef> arguments;
  for (unsigned k = 0; k < count; ++k)
    arguments.push_back(LLVMBuildLoad2(builder, members[k], field(builder, fields, LLVMGetParam(inner, 0), k), ""));
  LLVMValueRef made = LLVMBuildCall2(builder, type, function, arguments.data(), count, "");
  if (returns) LLVMBuildStore(builder, made, field(builder, fields, LLVMGetParam(inner, 0), count));
  LLVMBuildRetVoid(builder);

  LLVMValueRef depth = LLVMAddGlobal(module, word, "depth");
  LLVMSetInitializer(depth, LLVMConstInt(word, kMark, 0));
  LLVMSetGlobalConstant(depth, 1);
  LLVMSetLinkage(depth, LLVMPrivateLinkage);
  LLVMValueRef outer = LLVMAddFunction(module, name.c_str(), type);
  add_attributes(function, outer);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, outer, "entry"));
  LLVMValueRef place = LLVMBuildAlloca(builder, fields, "");
  for (unsigned k = 0; k < count; ++k) LLVMBuildStore(builder, LLVMGetParam(outer, k), field(builder, fields, place, k));
  LLVMTypeRef taken[] = {pointer, pointer, word};
  LLVMTypeRef run_type = LLVMFunctionType(none, taken, 3, 0);
  LLVMValueRef needed = LLVMBuildLoad2(builder, word, depth, "");
  LLVMSetVolatile(needed, 1);  // it is written into the object
  LLVMValueRef given[] = {inner, place, needed};
  LLVMBuildCall2(builder, run_type, LLVMAddFunction(module, kRunDeep, run_type), given, 3, "");
  if (returns)
    LLVMBuildRet(builder, LLVMBuildLoad2(builder, result, field(builder, fields, place, count), ""));
  else
    LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
}

bool set_deep_frame(std::string& object, uint64_t frame_B) {
  assert(frame_B <= kMaxDeepFrame_B);
  const std::string_view mark(reinterpret_cast<const char*>(&kMark), sizeof kMark);
  const size_t at = object.find(mark);
  if (at == std::string::npos || object.find(mark, at + 1) != std::string::npos) return false;
  std::memcpy(object.data() + at, &frame_B, sizeof frame_B);
  return true;
}

}  // namespace tilegpu::shader
