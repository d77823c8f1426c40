#include "ptrace/turns.hpp"

namespace fade {
namespace {

constexpr int kMostByName = 1024;  // some 10 ms. Then children that are not known by name are asked for, too

}  // namespace

Stop Turns::next() {
  if (by_name_ < kMostByName)
    if (const Stop stop = next_by_name(); stop.kind != Stop::Kind::None) return stop;
  by_name_ = 0;
  const Stop stop = tracer_.next();
  if (stop.tid != 0) order_.stopped(stop.tid);
  return stop;
}

Stop Turns::next_by_name() {
  Stop stop;
  order_.choose([&](Tid tid) {
    stop = tracer_.next_if_stopped(tid);
    return stop.kind != Stop::Kind::None;
  });
  by_name_ += stop.kind != Stop::Kind::None;
  return stop;
}

}  // namespace fade
