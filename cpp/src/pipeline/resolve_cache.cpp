// pipeline/resolve_cache.cpp -- see resolve.hpp: which states a device knows already.
#include "base/long_work.hpp"
#include "pipeline/resolve.hpp"

namespace tilegpu::pipeline {

Expected<Ptr<const Resolved>> ResolveCache::find(shader::Jit& jit, const Ptr<const Program>& program, const GraphicsState& state,
                                                 uint32_t threads) {
  assert(program);
  std::shared_ptr<Entry> entry;
  {
    std::string key = resolve_key(*program, state);
    std::lock_guard lock(mutex_);
    const auto [at, fresh] = entries_.try_emplace(std::move(key));
    Place& place = at->second;
    if (fresh) {
      misses_++;
      place.entry = std::make_shared<Entry>();
      by_use_.push_front(&at->first);
      place.used = by_use_.begin();
    } else {
      by_use_.splice(by_use_.begin(), by_use_, place.used);
    }
    if (!place.entry->known && place.entry->made_in_fork != fork_number()) place.entry = std::make_shared<Entry>();
    entry = place.entry;
    while (entries_.size() > most_) {  // recordings keep what they use
      const auto oldest = entries_.find(*by_use_.back());
      assert(oldest != entries_.end());
      by_use_.pop_back();
      entries_.erase(oldest);
    }
    assert(by_use_.size() == entries_.size());
  }
  LongWork long_work;  // where somebody compiles
  std::unique_lock lock(entry->compiling, std::try_to_lock);
  if (!lock || !entry->resolved) {
    if (lock) lock.unlock();
    long_work.begin();
    lock.lock();
  }
  if (!entry->resolved) {
    auto resolved = resolve(jit, program, state, threads);
    if (!resolved) return resolved.error();  // the next who asks tries again, and hears the same
    entry->resolved = std::move(*resolved);
    entry->known = true;
  }
  return entry->resolved;
}

uint64_t ResolveCache::misses() const {
  std::lock_guard lock(mutex_);
  return misses_;
}

size_t ResolveCache::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace tilegpu::pipeline
