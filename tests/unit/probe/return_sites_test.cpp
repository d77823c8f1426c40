#include "probe/return_sites.hpp"

#include <gmock/gmock.h>

namespace fade {
namespace {
namespace return_places {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kReturn = 1, kEntry = 2;  // uses

bool serves_returns_alone(const Site& site) { return site.use == kReturn; }

std::vector<std::uint64_t> addresses(const std::vector<Site*>& sites) {
  std::vector<std::uint64_t> out;
  for (const Site* const site : sites) out.push_back(site->address.value);
  return out;
}

TEST(ReturnSites, ThePlacesThatWereArmedFirstAreGivenBackFirst) {
  SiteTable sites;
  for (const std::uint64_t at : {3, 1, 4, 2})
    sites.keep({.address = {at}, .armed_at = static_cast<std::int64_t>(at), .use = kReturn});
  EXPECT_THAT(addresses(longest_armed(sites, serves_returns_alone, {}, 2)), ElementsAre(1, 2));
  EXPECT_THAT(addresses(longest_armed(sites, serves_returns_alone, {}, 9)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(longest_armed(sites, serves_returns_alone, {}, 0), IsEmpty());
}

TEST(ReturnSites, EntriesOpenCallsAndLiftedPlacesStay) {
  SiteTable sites;
  sites.keep({.address = {1}, .use = kEntry});
  sites.keep({.address = {2}, .use = kReturn});
  sites.keep({.address = {3}, .is_lifted = true, .use = kReturn});
  sites.keep({.address = {4}, .use = kReturn});
  EXPECT_THAT(addresses(longest_armed(sites, serves_returns_alone, {{2}}, 9)), ElementsAre(4));
}

}  // namespace return_places
}  // namespace
}  // namespace fade
