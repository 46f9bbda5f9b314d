// fuzz/over_files.cpp -- the main of a fuzzer where libFuzzer is not: runs it over the files of folders, each once, in order of their
// names. In: paths. Out: 0, or what the fuzzer ends the process with.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B);
/// For custom mutators, which nobody calls here.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size_B, size_t) { return size_B; }

int main(int count, char** arguments) {
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
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);  // the last line is the one that ends the process
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    (void)LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu cases\n", paths.size());
  return paths.empty() ? 1 : 0;
}
