// A run of fade, and its row in the recording.
#pragma once
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/coverage.hpp"
#include "base/detail_levels.hpp"
#include "base/kfd.hpp"
#include "base/recording.hpp"
#include "base/result.hpp"
#include "store/write.hpp"

namespace fade::store {

struct SessionInfo {
  std::string kind = "run";  // run or attach
  std::string cwd;
  std::vector<std::string> command;
  std::string fade_version = FADE_VERSION;
  std::string options;  // as the user wrote them
  Coverage coverage;
  SessionClock clock;
  KfdTopology kfd;  // not stored if its root is empty
};

// Inserts the session's row, with the host and its boot, in a transaction of its own; returns its id.
Result<SessionRow> write_session(sqlite::Db& db, const SessionInfo& session, const DetailLevels& detail);

}  // namespace fade::store
