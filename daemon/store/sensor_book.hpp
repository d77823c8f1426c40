// The sensors of GPUs as rows: one for each GPU and second, and one for each change of the memory that a process holds.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "base/gpu_sample.hpp"
#include "store/totals.hpp"
#include "store/write.hpp"

namespace fade::store {

class SensorBook {
 public:
  SensorBook(sqlite::Db& db, Failure& failure, SessionRow session);
  void on(const GpuSample& sample);
  std::vector<GpuNow> now() const;  // the last second of each GPU

 private:
  void hold(const GpuSample& sample);
  void use(const GpuSample& sample);

  const SessionRow session_;
  Write sample_, holder_, client_;
  std::map<int, std::map<std::int64_t, std::int64_t>> held_;  // of each node: bytes of each pid, as stored last
  std::map<int, std::map<std::int64_t, GpuClient>> clients_;  // likewise
  std::map<int, GpuNow> now_;                                 // by node
};

}  // namespace fade::store
