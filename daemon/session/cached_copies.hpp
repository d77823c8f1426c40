// Copies of device properties that the program has made before --set could change the answers: finds them, and changes
// them if the user asks (--set-cached). The program runs during the search. Afterwards all of its threads stand still
// for a moment: each copy is looked at again, and is written only if it is still there, byte by byte. On detach fade's
// values are taken back where they still stand. Tracing thread only.
//
// If fade is killed, changed copies keep fade's values.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "elf/maps.hpp"
#include "probes/overrides/overrides.hpp"
#include "session/cached_copy.hpp"
#include "session/copy_owners.hpp"
#include "session/copy_search.hpp"
#include "session/rendezvous.hpp"
#include "session/roster.hpp"

namespace fade {

class CachedCopies {
 public:
  struct Parts {
    EventSink& sink;
    const SessionClock& clock;
    const Roster& roster;
    Rendezvous& rendezvous;
    const probes::Overrides& overrides;
  };
  struct Totals {
    std::uint64_t copies = 0;              // in all processes
    std::uint64_t differ = 0;              // of them, those that are not what the rules say
    std::uint64_t changed = 0;             // by fade
    std::uint64_t put_back = 0, left = 0;  // of the changed ones, on detach
    std::uint64_t searched = 0;            // bytes
    std::string limit;                     // that ended a search
  };
  CachedCopies(const Parts& parts, CachedWish wish) : p_(parts), wish_(wish) {}

  // `goes_on` is called between blocks; it lets other work be done. False ends the search.
  void look(Pid pid, const std::function<bool()>& goes_on);
  // Processes whose calls have told more since the last search.
  std::vector<Pid> to_be_searched_again() const;
  // All processes; afterwards no copy is changed any more.
  void put_back_all();
  // A forked child that is left alone; its only thread stands still.
  void put_back(Inferior& inferior, Tid stopped);

  const Totals& totals() const { return totals_; }
  std::vector<std::string> notes() const;

 private:
  struct Draft;  // a copy before its rows are sent
  struct Search;

  void learn(Search& search, Inferior& inferior) const;
  int device_of(const Draft& draft, const Inferior& inferior) const;
  void apply_rules(Draft& draft, const Inferior& inferior, std::span<const std::string> libraries) const;
  void look_again(Search& search, Inferior& inferior, Tid stopped);
  bool change(const Draft& draft, const ProcessMemory& memory, Tid stopped) const;
  void send(Search& search, Inferior& inferior);
  void keep(Draft& draft, Inferior& inferior);
  void put_back(KeptCopy& copy, const Inferior& inferior, Tid stopped);
  void done(const KeptCopy& copy, CachedChange::What what, std::string problem = {});
  CachedId own_row(KeptCopy& copy, const Inferior& inferior);

  const Parts p_;
  const CachedWish wish_;
  Totals totals_;
  CachedId last_ = 0;
};

}  // namespace fade
