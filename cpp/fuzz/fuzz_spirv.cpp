// fuzz/fuzz_spirv.cpp -- fuzzer: the words of a module through validation, reflection, the compiler and one tiny draw or dispatch.
//
// In: words. Wrong is: anything but an error or a result, a pipeline that is made at one number of lanes and not at another, and other bits
// at 4 lanes than at 8 or 16, by quick code than by optimised code. Mutations know what an instruction is (common/spirv_mutator.hpp).
#include "common/shader_run.hpp"
#include "common/spirv_mutator.hpp"

using namespace tilegpu;

namespace {

constexpr size_t kMost_B = 24 << 10;  // LLVM's work grows with it
constexpr uint64_t kLoopBudget = 2000;

fuzz::ShaderRun run_at(uint32_t lanes, fuzz::Code code, const std::vector<uint32_t>& words, const fuzz::HowToRun& how) {
  DeviceCreateInfo info;
  info.threads = 1, info.lanes = lanes, info.loop_budget = kLoopBudget;
  return fuzz::run_shader(fuzz::device(info, code), words, how);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  if (size_B > kMost_B || size_B < 20) return -1;
  std::vector<uint32_t> words(size_B / 4);
  std::memcpy(words.data(), data, words.size() * 4);
  const uint64_t hash = fuzz::hash_of(data, size_B);
  const fuzz::HowToRun how{.specialise = (hash & 1) != 0, .alone = (hash & 2) != 0};
  const fuzz::ShaderRun one = run_at(4, fuzz::Code::quick, words, how);
  if (!one.is_module) return 0;
  const bool optimises = (hash >> 2) % 16 == 0;
  const uint32_t lanes = (hash >> 6) % 2 ? 16 : 8;
  const fuzz::ShaderRun other = run_at(lanes, optimises ? fuzz::Code::optimised : fuzz::Code::quick, words, how);
  if (one.is_pipeline != other.is_pipeline)
    fuzz::finding("a pipeline at one number of lanes alone: " + (one.is_pipeline ? other.error : one.error));
  if (!one.ran || !other.ran || !one.has_one_result) return 0;
  if (const std::string text = fuzz::difference(one.result, other.result); !text.empty())
    fuzz::finding("4 lanes of quick code and " + std::to_string(lanes) + " lanes of " + std::string(optimises ? "optimised" : "quick") +
                  " code differ: " + text);
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size_B, size_t most_B);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size_B, size_t most_B, unsigned int seed) {
  std::vector<uint32_t> words(size_B / 4);
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * 4);
  fuzz::Random random(seed);
  if (!fuzz::mutate_spirv(words, random) || words.size() * 4 > most_B) return LLVMFuzzerMutate(data, size_B, most_B);
  std::memcpy(data, words.data(), words.size() * 4);
  return words.size() * 4;
}
