// base/keeper.hpp -- the program at the other end of every ChildProcess: it has workers, and tells of their ends.
//
// In: places for workers, each with two sockets (requests, orders) and arguments, on a socket from the program that started this one;
// orders, that a worker is to be started or killed. Out: worker processes by fork(2), each with the socket of its requests; what became of
// each. The keeper is nobody's child (orphan.hpp), so that nobody else could say how a worker ended, and there is one for a program, as
// an orphan whom nobody waits for stays in the table of processes. It ends after its workers, and these with the program, whatever
// any of them does just then; where somebody kills it, they end as well. Source: fork(2), wait(2), unix(7), prctl(2) (PR_SET_PDEATHSIG);
// docs/decisions.md, 505.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tilegpu {

/// Where a worker has the socket of its requests, and the keeper that of places.
inline constexpr int kChildSocket = 3;
/// Of a place's arguments, each with a zero after it.
inline constexpr size_t kMaxArguments_B = 4096;

/// What is sent, whole, on the socket of orders.
enum class Order : uint8_t { start = 's', kill = 'k' };
struct Report {
  enum Kind : int32_t { started, not_started, ended } kind = ended;
  int32_t value = 0;  // the worker's number; errno; the status of wait(2)
};

/// Of the program that ChildProcess starts: all that it does. `work` is a worker's, with the arguments of its place, and gives its exit
/// code. Called before there are threads. It comes back where this process was not started by a ChildProcess.
void keep_workers(const std::function<int(const std::vector<std::string>& arguments)>& work);

}  // namespace tilegpu
