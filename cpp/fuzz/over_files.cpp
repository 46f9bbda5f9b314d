// fuzz/over_files.cpp -- the main of a fuzzer where libFuzzer is not: runs it over the files of folders, each once, in order of their
// names; or over COUNT cases of random bytes (--random COUNT SEED MOST_B). In: paths. Out: 0, 1 where a file can't be
// read, or what the fuzzer ends the process with.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B);
/// For custom mutators, which nobody calls here.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size_B, size_t) { return size_B; }

namespace {

void run(const std::string& name, const std::string& bytes) {
  std::printf("%s\n", name.c_str());
  std::fflush(stdout);  // the last line is the one that ends the process
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

/// Cases of random bytes: without coverage to go by, and several times as quick as with sanitizers. Case k is the same whatever the count.
int run_random(uint64_t count, uint64_t seed, uint64_t most_B) {
  for (uint64_t k = 0; k < count; ++k) {
    std::mt19937_64 random(seed << 32 | k);
    std::string bytes(1 + random() % most_B, 0);
    for (char& byte : bytes) byte = static_cast<char>(random());
    run("random " + std::to_string(seed) + ' ' + std::to_string(k), bytes);
  }
  std::printf("%llu cases\n", static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5 && std::string(arguments[1]) == "--random") {
    const uint64_t most_B = std::strtoull(arguments[4], nullptr, 10);
    return most_B ? run_random(std::strtoull(arguments[2], nullptr, 10), std::strtoull(arguments[3], nullptr, 10), most_B) : 1;
  }
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (int k = 1; k < count; ++k) {
    if (!fs::is_directory(arguments[k])) {
      paths.emplace_back(arguments[k]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(arguments[k]))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {  // else a list of names that are wrong finds nothing, and says that all is well
      std::fprintf(stderr, "can't read %s\n", path.c_str());
      return 1;
    }
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    run(path, bytes);
  }
  std::printf("%zu cases\n", paths.size());
  return paths.empty() ? 1 : 0;
}
