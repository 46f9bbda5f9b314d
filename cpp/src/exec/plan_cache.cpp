// exec/plan_cache.cpp -- see plan_cache.hpp. Source: Corbato, "A Paging Experiment with the Multics System" (the clock).
#include "exec/plan_cache.hpp"

#include <cassert>
#include <utility>

namespace tilegpu::exec {

std::shared_ptr<const PassPlan> PlanCache::find(const command::Pass& pass) {
  sweep();
  const auto found = places_.find(pass.id);
  if (found == places_.end()) return nullptr;
  Entry& entry = entries_[found->second];
  assert(entry.id == pass.id && entry.pass.lock().get() == &pass);
  entry.asked = true;
  return entry.plan;
}

void PlanCache::keep(const Ptr<const command::Pass>& pass, std::shared_ptr<const PassPlan> plan) {
  assert(pass && plan && !places_.contains(pass->id));
  while (entries_.size() >= most_) {
    if (hand_ >= entries_.size()) hand_ = 0;
    if (std::exchange(entries_[hand_].asked, false) && !entries_[hand_].pass.expired())
      hand_++;
    else
      remove(hand_);
  }
  places_.emplace(pass->id, entries_.size());
  entries_.push_back({pass->id, pass, std::move(plan)});
  assert(places_.size() == entries_.size());
}

void PlanCache::clear() {
  entries_ = {}, places_ = {};
  hand_ = 0;
}

// An execution adds one at most: with two looks at each, the hand goes round sooner than as many are added.
void PlanCache::sweep() {
  for (int looks = 0; looks < 2 && !entries_.empty(); looks++) {
    if (hand_ >= entries_.size()) hand_ = 0;
    if (entries_[hand_].pass.expired())
      remove(hand_);
    else
      hand_++;
  }
}

// The last takes its place.
void PlanCache::remove(size_t at) {
  assert(at < entries_.size() && places_.contains(entries_[at].id));
  places_.erase(entries_[at].id);
  if (at + 1 != entries_.size()) {
    entries_[at] = std::move(entries_.back());
    places_[entries_[at].id] = at;
  }
  entries_.pop_back();
}

}  // namespace tilegpu::exec
