// fuzz/fuzz_cache.cpp -- fuzzer: files of the disk cache, as they lie there and as what is behind their authentication.
//
// In: a byte that says which reader, then what it reads: a file as it lies in the folder; an object of machine code behind a good
// authenticator (looked at and placed, never called); what is kept of a module, and its words; an entry from another machine. Wrong is:
// anything but "not there", an error or a value, and an entry of the fuzzer's own that is not what was stored.
#include <sys/stat.h>

#include <cstdlib>

#include "common/bench.hpp"
#include "shader/jit/code_memory.hpp"
#include "shader/jit/object_cache.hpp"
#include "shader/jit/object_file.hpp"
#include "shader/module/module_record.hpp"

using namespace tilegpu;
using namespace tilegpu::shader;

namespace {

const ObjectCache& cache() {
  static const auto* const made = [] {
    setenv("TILEGPU_CACHE_KEY", (fuzz::scratch_folder() + "/key").c_str(), 1);
    const auto* const c = new ObjectCache(fuzz::scratch_folder() + "/cache");
    if (c->directory().empty()) fuzz::finding("no cache: " + c->why_off());
    return c;
  }();
  return *made;
}
const CacheKey& own_key() {
  static const auto* const key = new CacheKey("fuzzed");
  return *key;
}

/// As anybody who may write there leaves it: nothing of it is to come out.
void read_file(std::string_view bytes) {
  const std::string path = cache().directory() + "/" + own_key().hash.hex();
  fuzz::write_bytes(path, bytes);
  chmod(path.c_str(), 0600);
  std::string object;
  if (cache().load(own_key(), object)) fuzz::finding("a forged entry was taken for a good one");
  if (!cache().export_entry(own_key().hash.hex()).empty()) fuzz::finding("a forged entry was exported");
}

void read_object(std::string_view bytes) {
  if (bytes.empty()) return;
  cache().store(own_key(), std::string(bytes));
  std::string object;
  if (!cache().load(own_key(), object) || object != bytes) fuzz::finding("what was stored is not what is loaded");
  Expected<std::string> foreign = foreign_symbol(object);
  if (!foreign || !foreign->empty()) return;
  CodeMemory memory;
  (void)memory.place(object, "tg_fuzzed");
  add_to_perf_map(object, 0, "tg_fuzzed", "kind");
}

/// Length of the record, the record, words.
void read_record_and_words(fuzz::Choices choices) {
  const size_t wanted_B = choices.half(), record_B = std::min(wanted_B, choices.left_B());
  const std::string record(choices.rest().substr(0, record_B));
  const std::string_view rest = choices.rest().substr(record_B);
  std::vector<uint32_t> words(rest.size() / 4);
  if (!words.empty()) std::memcpy(words.data(), rest.data(), words.size() * 4);
  const Ptr<ShaderModule> module = ShaderModule::from_record(std::move(words), "fuzzed", record);
  if (!module) return;
  // What is written of it again is read again.
  Reflection reflection;
  ModuleFacts facts;
  if (!read_record(write_record(module->reflection(), module->facts()), reflection, facts) || reflection != module->reflection())
    fuzz::finding("a record that is not read as it was written");
  if (module->parse()) (void)module->place_of(1);
}

void read_entry(std::string_view bytes) {
  if (!cache().import_entry(own_key().hash.hex(), std::string(bytes))) return;
  const std::string back = cache().export_entry(own_key().hash.hex());
  if (back != bytes) fuzz::finding("an entry that is exported otherwise than it was imported");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_B) {
  fuzz::Choices choices(data, size_B);
  switch (choices.byte() % 4) {
    case 0:
      read_file(choices.rest());
      break;
    case 1:
      read_object(choices.rest());
      break;
    case 2:
      read_record_and_words(choices);
      break;
    default:
      read_entry(choices.rest());
      break;
  }
  return 0;
}
