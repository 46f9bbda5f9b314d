// tests/test_child_process.cpp -- a program that is asked: answers, crashes, hangs, forks, ends of either side. The child is this program
// itself, which does what its argument says.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/message.hpp"
#include "check.hpp"
#include "shader/jit/background_crew.hpp"

using namespace tilegpu;
using Outcome = ChildProcess::Outcome;

namespace {

constexpr int kFaults = 200;

/// The other side.
int child(const std::string& does) {
  ParentSocket parent(kChildSocket);
  std::string message;
  if (does == "leave at once") return 7;
  const auto send_bytes = [](auto... values) { (((void)!write(kChildSocket, &values, sizeof values)), ...); };
  while (parent.read(message)) {
    const uint64_t number = parent.number();
    if (message == "crash") std::abort();
    if (message == "exit") _exit(9);
    if (message == "spin")
      for (std::atomic<int> k{0};; k++) {
      }
    if (message == "sleep") pause();
    if (message == "half") {
      send_bytes(uint64_t{100}, number);
      _exit(0);
    }
    if (message == "huge") {
      send_bytes(~uint64_t{0}, number);
      pause();
    }
    if (message == "empty") {
      send_bytes(uint64_t{0}, number);
      pause();
    }
    if (message == "another's") {
      send_bytes(uint64_t{1}, number - 1, 'x');
      pause();
    }
    if (message == "dribble") {
      send_bytes(uint64_t{200} << 20, number);
      for (;;) send_bytes('x');
    }
    if (message == "twice" && !parent.write("first")) return 1;
    if (message == "descriptors") {
      message.clear();
      for (int fd = 0; fd < 256; ++fd)
        if (lseek(fd, 0, SEEK_CUR) != -1 || errno != EBADF) message += std::to_string(fd) + " ";
    }
    if (message == "group") message = getpgrp() == getppid() ? "own" : "shared";
    if (message == "numbers") message = std::to_string(getpid()) + " " + std::to_string(getppid());
    if (!parent.write(message)) return 1;
  }
  return 0;
}

std::unique_ptr<ChildProcess> start(const char* does = "serve") {
  auto made = ChildProcess::start("/proc/self/exe", {does});
  if (!CHECK(made)) std::exit(1);
  return std::move(*made);
}

bool always() { return true; }

Outcome ask(ChildProcess& process, const std::string& request, double limit_s = 60) {
  std::string answer;
  const Outcome outcome = process.call(request, answer, limit_s, always);
  if (outcome == Outcome::answered) CHECK(!answer.empty());
  return outcome;
}

void test_answers() {
  auto process = start();
  for (size_t size_B : {size_t{1}, size_t{1000}, size_t{1} << 16, size_t{20} << 20}) {
    const std::string request(size_B, 'q');
    std::string answer;
    CHECK(process->call(request, answer, 60, nullptr) == Outcome::answered && answer == request);
  }
  std::string answer;
  CHECK(process->call("descriptors", answer, 60, nullptr) == Outcome::answered && answer == "0 1 2 3 ");
  CHECK(process->call("group", answer, 60, nullptr) == Outcome::answered && answer == "own");
  CHECK(!ChildProcess::start("/no/such/program", {"x"}));
}

void test_ends() {
  for (const char* how : {"crash", "exit", "half"}) {
    auto process = start();
    CHECK(ask(*process, "hello") == Outcome::answered);
    CHECK(ask(*process, how) == Outcome::ended);
    const ChildProcess::Ending end = process->ended();
    if (!std::strcmp(how, "crash")) CHECK(end.text == "signal 6 (Aborted)" && end.code == -1 && end.signal == SIGABRT);
    if (!std::strcmp(how, "exit")) CHECK(end.text == "exit code 9" && end.code == 9 && end.signal == -1);
  }
  auto process = start("leave at once");
  CHECK(ask(*process, std::string(1 << 20, 'x')) == Outcome::ended);
  CHECK(process->ended().text == "exit code 7");
}

/// What is no answer to this very request is none, and is not waited for.
void test_no_answers() {
  for (const char* how : {"huge", "empty", "another's"}) {
    auto process = start();
    CHECK(ask(*process, "hello") == Outcome::answered);
    CHECK(ask(*process, how) == Outcome::garbled);
  }
  auto process = start();
  std::string answer;
  CHECK(process->call("twice", answer, 60, nullptr) == Outcome::answered && answer == "first");
  CHECK(process->call("hello", answer, 60, nullptr) == Outcome::garbled);  // the second answer to "twice"
}

void test_limits() {
  auto process = start();
  // On a machine that has much else to do the clock may come first.
  const Outcome spun = ask(*process, "spin", 0.2);
  CHECK(spun == Outcome::too_long || spun == Outcome::too_long_by_clock);
  process = start();
  CHECK(ask(*process, "sleep", 0.1) == Outcome::too_long_by_clock);
  // Bytes that come all the time are no reason to wait longer, nor not to ask who waits.
  process = start();
  const Outcome dribbled = ask(*process, "dribble", 0.1);
  CHECK(dribbled == Outcome::too_long || dribbled == Outcome::too_long_by_clock);
  static int asked;
  std::string answer;
  for (const char* how : {"spin", "dribble"}) {
    process = start();
    asked = 0;
    CHECK(process->call(how, answer, 60, [] { return ++asked < 3; }) == Outcome::stopped && asked == 3);
  }
}

bool has_no_child() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

/// Of the worker, and of its keeper.
std::pair<int, int> numbers_of(ChildProcess& process) {
  std::string answer;
  std::pair<int, int> numbers{0, 0};
  CHECK(process.call("numbers", answer, 60, nullptr) == Outcome::answered);
  CHECK(std::sscanf(answer.c_str(), "%d %d", &numbers.first, &numbers.second) == 2);
  return numbers;
}

/// Programs that wait for any child, or for none, or want news of them: it is nobody's child.
void test_other_waiters() {
  static std::atomic<int> told = 0;
  for (void (*const handler)(int) : {SIG_IGN, SIG_DFL, static_cast<void (*)(int)>([](int) { told++; })}) {
    signal(SIGCHLD, handler);
    auto process = start();
    CHECK(ask(*process, "hello") == Outcome::answered);
    CHECK(waitpid(-1, nullptr, 0) == -1 && errno == ECHILD);  // at once, while it runs
    CHECK(ask(*process, "exit") == Outcome::ended && process->ended().text == "exit code 9");
    CHECK(ask(*process, "hello") == Outcome::answered && has_no_child());
    CHECK(ask(*process, "crash") == Outcome::ended && process->ended().text == "signal 6 (Aborted)");
    process.reset();
    CHECK(has_no_child() && told == 0);
  }
  signal(SIGCHLD, SIG_DFL);
}

/// A container's first program, for example: the keeper comes back to it, its workers do not, and nobody waits for others.
void test_who_adopts_orphans() {
  const pid_t forked = fork();
  if (forked == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t other = fork();
    if (other == 0) _exit(3);
    for (int k = 0; k < 20; ++k) {
      auto process = start();
      CHECK(ask(*process, "exit") == Outcome::ended && process->ended().code == 9);
    }
    int status = -1;
    CHECK(waitpid(other, &status, 0) == other && WEXITSTATUS(status) == 3);
    CHECK(waitpid(-1, nullptr, WNOHANG) == 0);  // the keeper, which lives
    _exit(test::finish("adopter"));
  }
  int status = -1;
  CHECK(waitpid(forked, &status, 0) == forked && status == 0);
}

/// Whether the process is gone, after a while.
bool gone(pid_t pid) {
  for (int k = 0; k < 500; ++k) {
    if (kill(pid, 0) != 0) return true;
    // An orphan is waited for by whoever adopted it; where that is nobody it stays as a zombie.
    if (FILE* file = std::fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r")) {
      char text[256] = {};
      (void)!std::fread(text, 1, sizeof text - 1, file);
      std::fclose(file);
      const char* after = std::strrchr(text, ')');
      if (after && after[2] == 'Z') return true;
    }
    poll(nullptr, 0, 10);
  }
  return false;
}

/// The program is killed; worker and keeper end by themselves, while the one reads and while it is busy.
void test_ends_of_the_program() {
  for (const char* does : {"hello", "spin"}) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t program = fork();
    if (program == 0) {
      auto process = start();
      const std::pair<int, int> numbers = numbers_of(*process);
      (void)!write(ends[1], &numbers, sizeof numbers);
      std::string answer;
      process->call(does, answer, 60, [] { return raise(SIGKILL) == 0; });
      raise(SIGKILL);
    }
    std::pair<int, int> numbers{0, 0};
    close(ends[1]);
    CHECK(read(ends[0], &numbers, sizeof numbers) == sizeof numbers);
    close(ends[0]);
    CHECK(waitpid(program, nullptr, 0) == program);
    CHECK(numbers.first > 0 && gone(numbers.first) && gone(numbers.second));
  }
}

/// Somebody kills or stops either.
void test_ends_from_outside() {
  auto process = start();
  const auto [worker, keeper] = numbers_of(*process);
  kill(worker, SIGKILL);
  CHECK(ask(*process, "hello") == Outcome::ended && process->ended().text == "signal 9 (Killed)" && process->serves());
  const auto [second, same] = numbers_of(*process);
  CHECK(second != worker && same == keeper);
  kill(keeper, SIGKILL);
  CHECK(gone(second));
  CHECK(ask(*process, "hello") == Outcome::ended && process->ended().text == "an end that nobody has seen" && !process->serves());
  process = start();
  const auto [third, stopped] = numbers_of(*process);
  kill(stopped, SIGSTOP), kill(third, SIGSTOP);
  CHECK(ask(*process, "hello", 0.01) == Outcome::too_long_by_clock && !process->serves());
  kill(stopped, SIGCONT), kill(third, SIGCONT);
  process.reset();
  CHECK(gone(third) && gone(stopped));
}

/// A worker's successor gets nothing of what was its own: neither the rest of a request nor of an answer.
void test_successors() {
  auto process = start();
  const std::string large(4 << 20, 'q');
  for (int k = 0; k < 20; ++k) {
    CHECK(ask(*process, k % 2 ? "half" : "crash") == Outcome::ended);
    std::string answer;
    CHECK(process->call(large, answer, 60, nullptr) == Outcome::answered && answer == large);
    static int asked;
    asked = 0;
    CHECK(process->call(k % 2 ? "dribble" : "sleep", answer, 60, [] { return ++asked < 2; }) == Outcome::stopped);
    CHECK(process->call("sleep" + large, answer, 60, [] { return false; }) != Outcome::ended);
    CHECK(ask(*process, "hello") == Outcome::answered);
    process->renew();
  }
}

/// A fork's child neither talks to the parent's process nor keeps it alive, and starts its own.
void test_forks() {
  for (int k = 0; k < 20; ++k) {
    auto process = start();
    CHECK(ask(*process, "before") == Outcome::answered);
    const pid_t forked = fork();
    if (forked == 0) {
      if (process->serves()) _exit(1);
      process.reset();  // ends nothing of the parent's
      auto own = ChildProcess::start("/proc/self/exe", {"serve"});
      std::string answer;
      _exit(own && (*own)->call("x", answer, 60, nullptr) == Outcome::answered ? 0 : 2);
    }
    int status = -1;
    CHECK(waitpid(forked, &status, 0) == forked && status == 0);
    CHECK(process->serves() && ask(*process, "after") == Outcome::answered);
  }
}

/// Forks wait for tasks of background crews, and tasks start processes.
void test_forks_while_tasks_start_processes() {
  alarm(60);  // a deadlock ends the test
  std::atomic<bool> stop{false};
  {
    tilegpu::shader::BackgroundCrew crew(2, std::chrono::milliseconds(0));
    const std::function<void()> task = [&] {
      auto process = start();
      CHECK(ask(*process, "hello") == Outcome::answered);
      if (!stop) crew.add(task);
    };
    crew.add(task), crew.add(task);
    for (int k = 0; k < 50; ++k) {
      const pid_t forked = fork();
      if (forked == 0) _exit(0);
      int status = -1;
      CHECK(waitpid(forked, &status, 0) == forked && status == 0);
    }
    stop = true;
    crew.wait();
  }
  alarm(0);
}

/// No descriptor, or no process, is left: errors that say what to do.
void test_starts_that_fail() {
  const pid_t forked = fork();
  if (forked == 0) {
    const rlimit none{3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    const auto process = ChildProcess::start("/proc/self/exe", {"serve"});
    const bool right = !process && process.error().code == VK_ERROR_TOO_MANY_OBJECTS &&
                       process.error().message.find("can't be started: Too many open files; close files") != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(forked, &status, 0) == forked && status == 0);
}

/// A program that ends before it has a worker, at once or later, as one whose libraries are missing: said at once.
void test_programs_that_are_not_loaded() {
  for (const char* program : {"#!/bin/sh\nexit 127\n", "#!/bin/sh\nsleep 0.2\nexit 127\n"}) {
    const std::string path = (std::filesystem::temp_directory_path() / ("tilegpu-not-loaded-" + std::to_string(getpid()))).string();
    {
      std::ofstream file(path);
      file << program;
    }
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    const auto began = std::chrono::steady_clock::now();
    auto process = ChildProcess::start(path, {"x"});
    if (process) {
      CHECK(ask(**process, "hello") == Outcome::ended && (*process)->ended().never_ready && !(*process)->serves());
    } else {
      CHECK(process.error().message.find("can't be loaded; run it by hand") != std::string::npos);
    }
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
    std::filesystem::remove(path);
  }
}

/// Two hundred ends in any state, from several threads; none is taken for an answer, nothing stays open.
void test_many() {
  const auto count_descriptors = [] {
    int n = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) n += !entry.path().empty();
    return n;
  };
  const int before = count_descriptors();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const char* kinds[] = {"crash", "exit", "half", "spin", "huge"};
      for (int k = 0; k < kFaults / 4; ++k) {
        auto process = start();
        CHECK(ask(*process, "hello") == Outcome::answered);
        const Outcome outcome = ask(*process, kinds[(k + t) % 5], 0.01);
        CHECK(outcome != Outcome::answered && outcome != Outcome::stopped);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count_descriptors() == before);
  CHECK(has_no_child());
}

void test_messages() {
  MessageWriter out;
  out.number(uint32_t{7}).text("abc").number(int64_t{-1}).text("");
  MessageReader in(out.bytes);
  CHECK(in.number<uint32_t>() == 7 && in.text() == "abc" && in.number<int64_t>() == -1 && in.text().empty() && in.at_end());
  CHECK(in.number<uint8_t>() == 0 && !in.good() && !in.at_end());
  for (size_t size_B = 0; size_B < out.bytes.size(); ++size_B) {
    MessageReader cut(std::string_view(out.bytes).substr(0, size_B));
    cut.number<uint32_t>(), cut.text(), cut.number<int64_t>(), cut.text();
    CHECK(!cut.good());
  }
  MessageWriter wild;
  wild.number(~uint64_t{0});
  MessageReader reader(wild.bytes);
  CHECK(reader.text().empty() && !reader.good());
}

}  // namespace

int main(int count, char**) {
  if (count == 2) keep_workers([](const std::vector<std::string>& does) { return child(does.at(0)); });
  test_forks_while_tasks_start_processes();  // first: the crew's handlers are there before anything starts a process
  test_messages();
  test_answers();
  test_ends();
  test_no_answers();
  test_limits();
  test_other_waiters();
  test_who_adopts_orphans();
  test_ends_of_the_program();
  test_ends_from_outside();
  test_successors();
  test_starts_that_fail();
  test_programs_that_are_not_loaded();
  test_forks();
  test_many();
  return test::finish("test_child_process");
}
