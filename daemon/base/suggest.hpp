// "Did you mean ...": the known word that is nearest to an unknown word. Knows nothing about options, groups or fields;
// callers put the sentence around it.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fade {

// The number of letters to insert, delete, replace or swap with their neighbour between the two words. Case counts
// half.
std::size_t edit_distance_x2(std::string_view from, std::string_view to);

// nearest: the candidate nearest to `word`; empty if none is near enough. Words over 128 letters have none.
// did_you_mean: the text " (did you mean 'query'?)" for the end of a message; empty if no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace fade
