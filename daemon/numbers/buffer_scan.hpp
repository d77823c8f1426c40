// Looks through one buffer that comes in pieces. The type of its elements is told by the user, or guessed. Of a guessed
// type nothing is claimed where the bytes do not look like floats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "numbers/scan.hpp"
#include "numbers/watch_rule.hpp"

namespace fade::numbers {

struct Seen {
  Dtype type = Dtype::Unknown;
  bool is_guess = false;
  Found found;
  std::optional<std::uint64_t> checksum;
};

class BufferScan {
 public:
  explicit BufferScan(const WatchRule& rule) : rule_(rule), type_(rule.dtype) {}

  // `at`: the place of the piece in the buffer, in bytes; a multiple of 64, as are the sizes of all pieces but the
  // last.
  void add(std::span<const std::byte> piece, std::uint64_t at);
  Seen result() const;

 private:
  void look(std::span<const std::byte> piece, std::uint64_t at);
  bool is_guess() const { return rule_.dtype == Dtype::Unknown; }

  const WatchRule& rule_;
  Dtype type_;
  bool has_evidence_ = false;
  Found found_;
  Checksum checksum_;
};

// The pieces of a buffer that are looked at: all of it in order, or as many bytes as are allowed, spread evenly.
struct Piece {
  std::uint64_t at = 0, size = 0;
};
std::vector<Piece> pieces_of(std::uint64_t bytes, std::uint64_t most);

}  // namespace fade::numbers
