// exec/plan_cache.hpp -- plans of passes that were executed lately, for their next execution.
//
// In: a recorded pass, which stays as it is. Out: its plan, if an execution before made one. A pass is known by its number, which no other
// ever has, and is not kept: plans of passes that are gone are dropped by the executions that follow, two looks each.
#pragma once

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exec/pass_plan.hpp"

namespace tilegpu::exec {

/// Of one executor, which runs one pass at a time.
class PlanCache {
 public:
  explicit PlanCache(size_t most = 4096) : most_(most) { assert(most > 0); }
  /// Null where there is none.
  std::shared_ptr<const PassPlan> find(const command::Pass& pass);
  /// Where there are too many, one that was not asked for lately goes.
  void keep(const Ptr<const command::Pass>& pass, std::shared_ptr<const PassPlan> plan);
  /// Whether the pass runs again: a frame that is recorded anew for each picture runs once, and keeping its plan would cost more than
  /// making it. Of passes that are thousands apart the latest one counts.
  bool runs_again(const command::Pass& pass) { return std::exchange(ran_[pass.id % ran_.size()], pass.id) == pass.id; }
  size_t size() const { return entries_.size(); }
  /// Takes no memory.
  void clear();

 private:
  struct Entry {
    uint64_t id = 0;
    std::weak_ptr<const command::Pass> pass;
    std::shared_ptr<const PassPlan> plan;
    bool asked = true;  // since the hand went over it
  };
  void sweep();
  void remove(size_t at);

  const size_t most_;
  std::vector<Entry> entries_;
  std::unordered_map<uint64_t, size_t> places_;  // in entries_, by the pass's number
  size_t hand_ = 0;                              // goes round
  std::array<uint64_t, 4096> ran_{};             // numbers of passes that ran
};

}  // namespace tilegpu::exec
