// Tells the unwinders of a program about the frames of taps. An exception through a frame that its unwinder does not
// know would end the program. A thread at a question of a tap does the telling on its way. Tracing thread only.
#pragma once
#include "base/clock.hpp"
#include "base/result.hpp"
#include "session/roster.hpp"

namespace fade {

class TapUnwinders {
 public:
  TapUnwinders(const SessionClock& clock, const Roster& roster) : clock_(clock), roster_(roster) {}

  // The loader has added libraries, of which some may bring an unwinder. It is told at the next call.
  void loaded(Inferior& inferior, Tid stopped) const;
  // The loader is about to unmap libraries. False: a thread is in one of them, telling.
  bool may_unload(Inferior& inferior) const;

  enum class Answer : std::uint8_t {
    Known,    // all unwinders that are loaded know the frames
    Telling,  // the thread goes to tell one, and asks again
    NotNow,   // this call must go without a tap
  };
  // For a thread at a question in front of its call; `sp`: at the entry of the function. Returns an Error if the
  // program may not be made to call an unwinder at all.
  Result<Answer> ask(const Thread& thread, TapArea& area, const Registers& registers, RemoteAddr sp) const;

 private:
  bool is_being_told(const TapArea::Unwinders& unwinders) const {
    return unwinders.teller != 0 && roster_.thread(unwinders.teller);
  }
  bool may_tell(const Thread& thread, const TapArea::Unwinders& unwinders, RemoteAddr sp) const;

  const SessionClock& clock_;
  const Roster& roster_;
};

}  // namespace fade
