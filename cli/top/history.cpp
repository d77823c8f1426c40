#include "cli/top/history.hpp"

namespace fade::cli::top {

void History::add(Sums sums, bool exact) {
  if (all_.size() == 1 && !first_is_exact_) all_.clear();
  if (all_.empty()) first_is_exact_ = exact;
  if (all_.size() > 2 && now().at_ns - all_[all_.size() - 2].at_ns < least_ns_ / kPoints) all_.pop_back();
  all_.push_back(std::move(sums));
  while (all_.size() > 2 && now().at_ns - all_[1].at_ns >= least_ns_) all_.pop_front();
}

History History::ends() const {
  History out(*this);
  while (out.all_.size() > 2) out.all_.erase(out.all_.begin() + 1);
  return out;
}

}  // namespace fade::cli::top
