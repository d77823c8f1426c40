// The bytes of code for one address, with labels. Pure; knows no instruction.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "base/remote.hpp"

namespace fade::tap {

// A label is a place in the code; a jump may lead to a label that is placed later.
class CodeBytes {
 public:
  explicit CodeBytes(RemoteAddr at) : at_(at) {}

  using Label = std::size_t;
  Label label();
  void place(Label label) { places_[label] = here(); }
  RemoteAddr address_of(Label label) const { return places_[label]; }
  RemoteAddr here() const { return at_ + bytes_.size(); }
  // The code, with all distances to labels in place. Every label that was used was placed.
  const std::vector<std::uint8_t>& finish();

  void raw(std::initializer_list<std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes); }

 protected:
  void byte(std::uint64_t value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void word32(std::uint64_t value);
  // The distance of a rel32. `behind`: bytes of the instruction after it.
  void relative(RemoteAddr to, std::size_t behind = 0);
  void relative(Label to);

 private:
  struct Reference {
    std::size_t at;  // of a rel32, in bytes_
    Label to;
  };

  RemoteAddr at_;
  std::vector<std::uint8_t> bytes_;
  std::vector<RemoteAddr> places_;
  std::vector<Reference> references_;
};

}  // namespace fade::tap
