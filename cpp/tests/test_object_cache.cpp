// tests/test_object_cache.cpp -- the disk cache as a target: entries that are damaged, forged or somebody else's, processes that are killed
// as they write, disks that are full, folders that are not the user's. What a cache gives is what was stored, or nothing.
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"
#include "shader/jit/cache_key.hpp"
#include "shader/jit/object_cache.hpp"

using namespace tilegpu::shader;
namespace fs = std::filesystem;

namespace {

constexpr int kKills = 200;

/// A folder with a home and two caches in it; gone at the end.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/tilegpu_test_cache_XXXXXX";
    path = mkdtemp(name);
    setenv("HOME", path.c_str(), 1);
    unsetenv("XDG_STATE_HOME"), unsetenv("XDG_CACHE_HOME"), unsetenv("TILEGPU_CACHE_KEY");
  }
  ~Folder() {
    std::error_code none;
    fs::remove_all(path, none);
  }
  std::string cache() const { return path + "/cache"; }
  std::string objects() const { return cache() + "/objects"; }
  std::string key_file() const { return path + "/.local/state/tilegpu/cache.key"; }
};

CacheKey key_of(int n) { return CacheKey("key " + std::to_string(n) + std::string(static_cast<size_t>(n % 7) * 100, 'k')); }
std::string object_of(int n) {
  return std::string(static_cast<size_t>(20000 + 977 * (n % 20)), static_cast<char>('a' + n % 26)) + std::to_string(n);
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void spill(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}
std::string file_of(const Folder& folder, int n) { return folder.objects() + "/" + key_of(n).hash.hex(); }

/// 1: what was stored; 0: nothing; -1: anything else.
int loads(const ObjectCache& cache, int n) {
  std::string object;
  if (!cache.load(key_of(n), object)) return 0;
  return object == object_of(n) ? 1 : -1;
}

std::vector<std::string> temporaries(const std::string& directory) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().string().ends_with(".tmp")) found.push_back(entry.path());
  return found;
}

void test_keeps() {
  Folder folder;
  const ObjectCache cache(folder.cache());
  CHECK(cache.directory() == folder.objects() && cache.why_off().empty());
  CHECK(loads(cache, 1) == 0);
  cache.store(key_of(1), object_of(1));
  CHECK(loads(cache, 1) == 1 && loads(ObjectCache(folder.cache()), 1) == 1);
  CHECK(cache.used() == std::vector<std::string>{key_of(1).hash.hex()});
  struct stat s;
  CHECK(stat(folder.key_file().c_str(), &s) == 0 && s.st_size == 32 && (s.st_mode & 0777) == 0600);
  CHECK(stat(folder.objects().c_str(), &s) == 0 && (s.st_mode & 0777) == 0700);
  CHECK(stat(file_of(folder, 1).c_str(), &s) == 0 && (s.st_mode & 0777) == 0600);
  const ObjectCache off("off");
  CHECK(off.directory().empty() && off.why_off().empty() && loads(off, 1) == 0);
}

/// Any byte that is another, any length, another entry's content: not there, and stored again.
void test_damage() {
  Folder folder;
  const ObjectCache cache(folder.cache());
  cache.store(key_of(3), object_of(3));
  const std::string file = file_of(folder, 3), good = slurp(file);
  std::mt19937 random(1);
  for (size_t at = 0; at < good.size(); at += at < 500 ? 1 : 997) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (random() % 8)));
    spill(file, bad);
    if (!CHECK(loads(cache, 3) == 0)) return;
  }
  for (size_t size_B : {size_t{0}, size_t{1}, size_t{23}, size_t{55}, size_t{56}, size_t{300}, good.size() - 1}) {
    spill(file, good.substr(0, size_B));
    CHECK(loads(cache, 3) == 0);
  }
  spill(file, good + "x");
  CHECK(loads(cache, 3) == 0);
  cache.store(key_of(4), object_of(4));
  spill(file, slurp(file_of(folder, 4)));
  CHECK(loads(cache, 3) == 0 && loads(cache, 4) == 1);
  // Sizes that add up to the file's in another way, and beyond 2^64.
  for (uint64_t shift : {uint64_t{1}, uint64_t{100}, ~uint64_t{0}, uint64_t{1} << 63}) {
    std::string bad = good;
    uint64_t key_B, object_B;
    std::memcpy(&key_B, &bad[8], 8), std::memcpy(&object_B, &bad[16], 8);
    key_B += shift, object_B -= shift;
    std::memcpy(&bad[8], &key_B, 8), std::memcpy(&bad[16], &object_B, 8);
    spill(file, bad);
    CHECK(loads(cache, 3) == 0);
  }
  cache.store(key_of(3), object_of(3));
  CHECK(loads(cache, 3) == 1);
}

/// Who knows the form and not the user's key, and who fills a whole folder and its key's.
void test_forgery() {
  Folder folder;
  const ObjectCache cache(folder.cache());
  cache.store(key_of(5), object_of(5));
  const std::string file = file_of(folder, 5), good = slurp(file);
  const CacheKey key = key_of(5);
  const std::string evil(1000, 'e');
  for (int of = 0; of < 3; ++of) {
    SecretKey guess{};
    if (of == 1) guess.fill(0xff);
    if (of == 2) std::memcpy(guess.data(), "tilegpu tilegpu tilegpu tilegpu ", 32);
    std::string forged = good.substr(0, 16);
    const uint64_t object_B = evil.size();
    forged.append(reinterpret_cast<const char*>(&object_B), 8);
    const Authenticator code = authenticate(guess, {forged, key.bytes, evil});
    forged.append(reinterpret_cast<const char*>(code.data()), code.size());
    spill(file, forged + key.bytes + evil);
    CHECK(loads(cache, 5) == 0);
  }
  // Another user's cache, copied with all that lay beside it.
  setenv("XDG_STATE_HOME", (folder.path + "/other_state").c_str(), 1);
  const ObjectCache other(folder.path + "/other");
  CHECK(loads(other, 5) == 0);
  other.store(key, evil);
  std::string object;
  CHECK(other.load(key, object) && object == evil);
  unsetenv("XDG_STATE_HOME");
  fs::copy(folder.path + "/other", folder.path + "/copied", fs::copy_options::recursive);
  fs::copy_file(folder.path + "/other_state/tilegpu/cache.key", folder.path + "/copied/cache.key");
  fs::copy_file(folder.path + "/other_state/tilegpu/cache.key", folder.path + "/copied/objects/cache.key");
  const ObjectCache copied(folder.path + "/copied");
  CHECK(!copied.directory().empty() && !copied.load(key, object));
  // From machine to machine by its own way: authentic again.
  const std::string exported = other.export_entry(key.hash.hex());
  CHECK(!exported.empty() && other.export_entry("../" + key.hash.hex()).empty() && cache.export_entry(key.hash.hex()).empty());
  CHECK(!cache.import_entry(key_of(6).hash.hex(), exported) && !cache.import_entry("x", exported));
  CHECK(!cache.import_entry(key.hash.hex(), exported.substr(0, 7)) && !cache.import_entry(key.hash.hex(), std::string(64, '\xff')));
  CHECK(cache.import_entry(key.hash.hex(), exported) && cache.load(key, object) && object == evil);
}

/// Links, pipes, folders, files of others in an entry's place; none is followed, waited for or read.
void test_no_plain_files() {
  Folder folder;
  const ObjectCache cache(folder.cache());
  cache.store(key_of(8), object_of(8));
  const std::string file = file_of(folder, 8), elsewhere = folder.path + "/elsewhere";
  fs::rename(file, elsewhere);
  const auto in_place = [&](auto make) {
    make();
    CHECK(loads(cache, 8) == 0);
    cache.store(key_of(8), object_of(8));
    const bool stored = loads(cache, 8) == 1;
    std::error_code none;
    fs::remove_all(file, none);
    return stored;
  };
  CHECK(in_place([&] { fs::create_symlink(elsewhere, file); }));
  CHECK(loads(cache, 8) == 0 && slurp(elsewhere).ends_with(object_of(8)));
  CHECK(in_place([&] { fs::create_symlink("/dev/zero", file); }));
  CHECK(in_place([&] { mkfifo(file.c_str(), 0600); }));
  CHECK(!in_place([&] { fs::create_directory(file); }));  // nothing is stored there, and nothing breaks
  CHECK(in_place([&] { fs::copy_file(elsewhere, file), chmod(file.c_str(), 0666); }));
  if (geteuid() == 0) CHECK(in_place([&] { fs::copy_file(elsewhere, file), CHECK(chown(file.c_str(), 12345, 12345) == 0); }));
  fs::copy_file(elsewhere, file);
  chmod(file.c_str(), 0600);
  CHECK(loads(cache, 8) == 1);  // what was left out above is the one thing that was wrong each time
  CHECK(temporaries(folder.objects()).empty());
}

void test_folders() {
  {
    Folder folder;
    ObjectCache(folder.cache()).store(key_of(1), object_of(1));
    for (mode_t mode : {0770, 0720, 0707, 0777, 01777}) {
      CHECK(chmod(folder.objects().c_str(), mode) == 0);
      const ObjectCache cache(folder.cache());
      CHECK(cache.directory().empty() && cache.why_off().find("written by others") != std::string::npos && loads(cache, 1) == 0);
    }
    CHECK(chmod(folder.objects().c_str(), 0755) == 0);
    CHECK(loads(ObjectCache(folder.cache()), 1) == 1);
    fs::rename(folder.objects(), folder.path + "/real");
    fs::create_directory_symlink(folder.path + "/real", folder.objects());
    CHECK(ObjectCache(folder.cache()).why_off().find("is no folder") != std::string::npos);
    fs::remove(folder.objects());
    fs::rename(folder.path + "/real", folder.objects());
    if (geteuid() == 0) {
      CHECK(chown(folder.objects().c_str(), 12345, 12345) == 0);
      CHECK(ObjectCache(folder.cache()).why_off().find("another user") != std::string::npos);
    }
  }
  Folder folder;
  spill(folder.path + "/file", "x");
  CHECK(ObjectCache(folder.path + "/file").why_off().find("can't be") != std::string::npos);
  CHECK(!ObjectCache("/proc/tilegpu").why_off().empty());
}

/// The key: damaged ones are made anew, those of others are not touched, and without one there is no cache.
void test_keys() {
  Folder folder;
  ObjectCache(folder.cache()).store(key_of(1), object_of(1));
  const std::string secret = slurp(folder.key_file());
  const auto loads_now = [&] { return loads(ObjectCache(folder.cache()), 1); };
  CHECK(secret.size() == 32 && loads_now() == 1);
  CHECK(chmod(folder.key_file().c_str(), 0644) == 0);  // others may have read it
  CHECK(loads_now() == 0 && slurp(folder.key_file()) != secret);
  for (const std::string& bad : {std::string(), secret.substr(0, 31), secret + "x"}) {
    spill(folder.key_file(), bad);
    CHECK(loads_now() == 0 && slurp(folder.key_file()).size() == 32);
  }
  const std::string now = slurp(folder.key_file()), state = fs::path(folder.key_file()).parent_path();
  fs::create_hard_link(folder.key_file(), state + "/second");
  CHECK(loads_now() == 0 && slurp(folder.key_file()) != now);
  fs::remove(folder.key_file());
  fs::create_symlink(state + "/second", folder.key_file());
  CHECK(!ObjectCache(folder.cache()).why_off().empty() && fs::is_symlink(folder.key_file()));
  fs::remove(folder.key_file());
  mkfifo(folder.key_file().c_str(), 0600);
  CHECK(!ObjectCache(folder.cache()).why_off().empty());
  fs::remove(folder.key_file());
  CHECK(chmod(state.c_str(), 0770) == 0);
  CHECK(ObjectCache(folder.cache()).why_off().find("written by others") != std::string::npos);
  CHECK(chmod(state.c_str(), 0700) == 0);
  CHECK(chmod(folder.path.c_str(), 0777) == 0);  // who may write there may put another folder in the cache's place
  CHECK(ObjectCache(folder.cache()).why_off().find("which anybody may write to; chmod o-w it") != std::string::npos);
  CHECK(chmod(folder.path.c_str(), 01777) == 0 && ObjectCache(folder.cache()).why_off().empty());  // as /tmp is
  CHECK(chmod(folder.path.c_str(), 0700) == 0);
  setenv("TILEGPU_CACHE_KEY", (folder.path + "/my.key").c_str(), 1);
  const ObjectCache named(folder.cache());
  CHECK(!named.directory().empty() && slurp(folder.path + "/my.key").size() == 32);
  setenv("TILEGPU_CACHE_KEY", "/proc/no/such.key", 1);
  CHECK(ObjectCache(folder.cache()).why_off().find("TILEGPU_CACHE_KEY") == std::string::npos &&
        !ObjectCache(folder.cache()).why_off().empty());
  unsetenv("TILEGPU_CACHE_KEY");
}

/// Runs in a child by fork, whose limits and filters are its own; true: it said so.
template <class Does>
bool elsewhere(Does does) {
  const pid_t child = fork();
  if (child == 0) _exit(does() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

/// What may be otherwise in a minute neither loses the key nor tells the user to remove it.
void test_keys_that_can_not_be_read_now() {
  Folder folder;
  ObjectCache(folder.cache()).store(key_of(1), object_of(1));
  const std::string secret = slurp(folder.key_file());
  CHECK(elsewhere([&] {
    const rlimit none{3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    const std::string why = ObjectCache(folder.cache()).why_off();
    return why.find("cache.key can't be read: Too many open files") != std::string::npos && why.find("remove") == std::string::npos;
  }));
  CHECK(slurp(folder.key_file()) == secret && loads(ObjectCache(folder.cache()), 1) == 1);
  fs::remove(folder.key_file());
  fs::create_symlink(folder.path + "/elsewhere", folder.key_file());
  CHECK(ObjectCache(folder.cache()).why_off().find("is no file of the user's own; remove it") != std::string::npos);
}

/// Kernels, filters and file systems without RENAME_NOREPLACE.
void test_no_renameat2() {
  for (const uint32_t because : {ENOSYS, EPERM, EINVAL, EOPNOTSUPP}) {
    Folder folder;
    CHECK(elsewhere([&] {
      const sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | because), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      const sock_fprog program{std::size(filter), const_cast<sock_filter*>(filter)};
      if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        std::printf("no filter of system calls can be had here: %s\n", std::strerror(errno));
        return true;
      }
      const ObjectCache cache(folder.cache());
      cache.store(key_of(1), object_of(1));
      const std::string secret = slurp(folder.key_file());
      return cache.why_off().empty() && loads(ObjectCache(folder.cache()), 1) == 1 && slurp(folder.key_file()) == secret;
    }));
  }
}

/// Of the key, as of entries (test_killed): when it is made, and by the stores that look.
void test_temporaries_of_the_key() {
  Folder folder;
  const std::string state = fs::path(folder.key_file()).parent_path();
  const std::string old = folder.key_file() + ".0123.tmp", young = folder.key_file() + ".4567.tmp", other = state + "/other.tmp";
  const auto leave = [&] {
    fs::create_directories(state), fs::permissions(state, fs::perms::owner_all);
    const timespec then[2] = {{std::time(nullptr) - 3600, 0}, {std::time(nullptr) - 3600, 0}};
    for (const std::string& path : {old, young, other}) spill(path, "x");
    for (const std::string& path : {old, other}) CHECK(utimensat(AT_FDCWD, path.c_str(), then, 0) == 0);
  };
  leave();
  const ObjectCache cache(folder.cache());
  CHECK(cache.why_off().empty() && !fs::exists(old) && fs::exists(young) && fs::exists(other));
  leave();
  for (int n = 0; n < 4000 && fs::exists(old); ++n) cache.store(CacheKey("p" + std::to_string(n)), "o");
  CHECK(!fs::exists(old) && fs::exists(young) && fs::exists(other) && fs::exists(folder.key_file()));
}

/// Entries go by when they were used last, not by when they were written: reading one that is old makes it young.
void test_used_entries_stay() {
  Folder folder;
  const ObjectCache cache(folder.cache());
  cache.store(key_of(1), object_of(1)), cache.store(key_of(2), object_of(2));
  const std::string used = file_of(folder, 1), other = file_of(folder, 2);
  const timespec then[2] = {{std::time(nullptr) - 7200, 0}, {std::time(nullptr) - 7200, 0}};
  for (const std::string& path : {used, other}) CHECK(utimensat(AT_FDCWD, path.c_str(), then, 0) == 0);
  CHECK(loads(cache, 1) == 1);
  CHECK(fs::last_write_time(used) > fs::last_write_time(other));
  cache.remove(key_of(2));
  CHECK(!fs::exists(other) && loads(cache, 2) == 0 && cache.used().size() == 1);
}

/// A child that makes its own cache and stores until it is killed.
pid_t start_writer(const Folder& folder, int seed) {
  const pid_t child = fork();
  if (child) return child;
  const ObjectCache cache(folder.cache());
  std::mt19937 random(static_cast<uint32_t>(seed));
  for (int n = seed;; n = static_cast<int>(random() % 12)) {
    cache.store(key_of(n % 12), object_of(n % 12));
    const int m = static_cast<int>(random() % 12);
    if (loads(cache, m) < 0) _exit(3);
  }
}

void test_killed() {
  Folder folder;
  std::mt19937 random(7);
  int wrong = 0, kept = 0;
  for (int k = 0; k < kKills; ++k) {
    if (k % 4 == 0) fs::remove_all(folder.path + "/.local");  // also while the key is made
    const pid_t child = start_writer(folder, k);
    usleep(static_cast<useconds_t>(random() % 6000));
    kill(child, SIGKILL);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    wrong += !WIFSIGNALED(status);
    const ObjectCache cache(folder.cache());
    if (!CHECK(cache.why_off().empty())) return;
    for (int n = 0; n < 12; ++n) {
      const int got = loads(cache, n);
      wrong += got < 0, kept += got > 0;
    }
  }
  CHECK(wrong == 0 && kept > 0);
  // What they left is removed when it is old, by the stores that look.
  std::vector<std::string> left = temporaries(folder.objects());
  spill(folder.objects() + "/old.tmp", "x"), spill(folder.objects() + "/young.tmp", "x");
  const timespec then[2] = {{std::time(nullptr) - 3600, 0}, {std::time(nullptr) - 3600, 0}};
  CHECK(utimensat(AT_FDCWD, (folder.objects() + "/old.tmp").c_str(), then, 0) == 0);
  const ObjectCache cache(folder.cache());
  for (int n = 0; n < 4000 && fs::exists(folder.objects() + "/old.tmp"); ++n) cache.store(CacheKey("p" + std::to_string(n)), "o");
  CHECK(!fs::exists(folder.objects() + "/old.tmp") && fs::exists(folder.objects() + "/young.tmp"));
}

void test_many_processes() {
  Folder folder;
  std::vector<pid_t> children;
  for (int k = 0; k < 12; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      const ObjectCache cache(folder.cache());
      std::mt19937 random(static_cast<uint32_t>(k));
      int kept = 0;
      for (int round = 0; round < 40; ++round) {
        const int n = static_cast<int>(random() % 10);
        cache.store(key_of(n), object_of(n));
        const int got = loads(cache, n);
        if (got < 0) _exit(2);
        kept += got;
      }
      _exit(kept == 40 ? 0 : 1);  // one key for all, whoever made it
    }
    children.push_back(child);
  }
  int wrong = 0;
  for (pid_t child : children) {
    int status = 0;
    wrong += waitpid(child, &status, 0) != child || status != 0;
  }
  CHECK(wrong == 0);
  CHECK(temporaries(folder.objects()).empty() && temporaries(fs::path(folder.key_file()).parent_path()).empty());
}

/// Stores what fits, loads it, leaves nothing behind of what does not.
int fill(const std::string& where) {
  const ObjectCache cache(where);
  int kept = 0;
  for (int n = 0; n < 40; ++n) {
    cache.store(key_of(n), object_of(n));
    const int got = loads(cache, n);
    if (got < 0) return -1;
    kept += got;
  }
  return temporaries(where + "/objects").empty() ? kept : -2;
}

void test_full_disk() {
  Folder folder;
  CHECK(fill(folder.cache()) == 40);
  // A limit on the size of files, whose signal ends programs that do not expect it.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{30000, 30000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int kept = fill(folder.path + "/limited");
    _exit(kept > 0 && kept < 40 ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  const std::string small = folder.path + "/small";
  fs::create_directory(small);
  if (mount("tilegpu", small.c_str(), "tmpfs", 0, "size=200k,mode=0700") == 0) {
    const int kept = fill(small);
    CHECK(kept > 0 && kept < 40);
    const int again = fill(small);
    CHECK(again > 0);
    // Read-only: what is there is used, nothing is stored.
    CHECK(mount("tilegpu", small.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=200k,mode=0700") == 0);
    CHECK(fill(small) == again);
    CHECK(umount(small.c_str()) == 0);
    // No place for the key either.
    CHECK(mount("tilegpu", small.c_str(), "tmpfs", MS_RDONLY, "size=200k,mode=0700") == 0);
    setenv("XDG_STATE_HOME", small.c_str(), 1);
    const ObjectCache none(folder.cache());
    CHECK(none.directory().empty() && !none.why_off().empty());
    unsetenv("XDG_STATE_HOME");
    CHECK(umount(small.c_str()) == 0);
  } else {
    std::printf("no tmpfs can be mounted here: %s\n", std::strerror(errno));
  }
}

/// BLAKE3's own test vectors (keyed_hash of 0, 1 and 1025 bytes 0, 1, ... 250, 0, ...), so that the code is the one that is published.
void test_authenticator() {
  SecretKey key;
  std::memcpy(key.data(), "whats the Elvish word for friend", 32);
  const auto hex = [](const Authenticator& code) {
    std::string text;
    for (uint8_t byte : code) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", byte);
      text += two;
    }
    return text;
  };
  std::string input;
  for (int k = 0; k < 1025; ++k) input += static_cast<char>(k % 251);
  CHECK(hex(authenticate(key, {})) == "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26");
  CHECK(hex(authenticate(key, {input.substr(0, 1)})) == "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b");
  const Authenticator whole = authenticate(key, {input});
  CHECK(same(whole, authenticate(key, {input.substr(0, 100), input.substr(100)})));
  key[31] ^= 1;
  CHECK(!same(whole, authenticate(key, {input})));
}

}  // namespace

int main() {
  test_authenticator();
  test_keeps();
  test_damage();
  test_forgery();
  test_no_plain_files();
  test_folders();
  test_keys();
  test_keys_that_can_not_be_read_now();
  test_no_renameat2();
  test_temporaries_of_the_key();
  test_used_entries_stay();
  test_killed();
  test_many_processes();
  test_full_disk();
  return tilegpu::test::finish("test_object_cache");
}
