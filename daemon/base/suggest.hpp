// "Did you mean ...": the nearest of some known words to one that is not among them. Knows nothing about options,
// groups or fields; callers put the sentence around it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fade {

// Letters to insert, delete, replace or swap with their neighbour to get from one word to the other. Case counts half.
std::size_t edit_distance_x2(std::string_view from, std::string_view to);

// The candidate nearest to `word`, empty where none is near enough to be what was meant. Words over 128 letters have none.
// " (did you mean 'query'?)" for the end of a message; empty where no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace fade
