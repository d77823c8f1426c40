// A number that names one thing of one sort: ids of different sorts do not mix, and an id is no number to count with.
// A constant becomes an id by itself (`CallId parent = 0`). A number at run time becomes one by `of` alone.
#pragma once
#include <compare>
#include <cstddef>
#include <functional>
#include <type_traits>

namespace fade {

template <class Tag, class Rep>
class Id {
 public:
  constexpr Id() = default;
  consteval Id(Rep constant) : value_(constant) {}  // NOLINT(google-explicit-constructor)
  static constexpr Id of(Rep value) {
    Id id;
    id.value_ = value;
    return id;
  }

  constexpr Rep value() const { return value_; }
  constexpr explicit operator bool() const { return value_ != 0; }  // 0 names nothing
  constexpr Id& operator++() {
    ++value_;
    return *this;
  }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  Rep value_ = 0;
};

static_assert(std::is_trivially_copyable_v<Id<void, int>> && sizeof(Id<void, int>) == sizeof(int));

}  // namespace fade

template <class Tag, class Rep>
struct std::hash<fade::Id<Tag, Rep>> {
  std::size_t operator()(fade::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
