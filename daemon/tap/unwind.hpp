// Unwind information for the code of taps, in the form of the section .eh_frame (LSB, Exception Frames). An unwinder
// that knows it passes exceptions and cancellation through the frame of a tap. Pure.
#pragma once
#include <cstdint>
#include <vector>

#include "base/remote.hpp"

namespace fade::tap {

// The bytes, with their end mark, for any place. They describe every address in `code` as inside a tap's
// frame: call frame address %rbp + 16, %rbp and the return address below it. To be given to __register_frame.
std::vector<std::uint8_t> unwind_information(RemoteRange code);

// Code for a thread at a question in front of its call: it gives the information at `information` to the function whose
// address is in %r11, and goes on at %r10 with all registers that a function's entry has. It needs no tracer.
std::vector<std::uint8_t> registration_code(RemoteAddr at, RemoteAddr information);

}  // namespace fade::tap
