// Reports over a server: their heads, the statement for the user's wishes, and the rows of the answer. No server.
#include "cli/query/fleet_reports.hpp"

#include <gmock/gmock.h>

namespace fade::query {
namespace {

using table::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(FleetReports, AllHeadsAreUnderstoodAndAllPartsAreThere) {
  EXPECT_EQ(fleet_reports().size(), 12u);
  for (const Report& report : fleet_reports()) {
    EXPECT_FALSE(report.none.empty()) << report.name;
    EXPECT_THAT(report.sql, Not(testing::AnyOf(HasSubstr("{"), HasSubstr("--")))) << report.name;
    EXPECT_EQ(find_fleet_report(report.name), &report);
  }
  EXPECT_EQ(find_fleet_report("waits"), nullptr);
}

TEST(FleetReports, AStatementHasTheUsersColumnsOrderAndLimit) {
  Settings settings;
  settings.columns = {"name", "calls"};
  settings.sort = "-calls";
  const auto query = fleet_query(*find_fleet_report("top"), settings, 5);
  ASSERT_TRUE(query) << query.error().text();
  EXPECT_EQ(query->columns.size(), 2u);
  EXPECT_TRUE(query->sql.starts_with("SELECT \"name\", \"calls\"\nFROM (")) << query->sql;
  EXPECT_TRUE(query->sql.ends_with("\nORDER BY \"calls\" DESC\nLIMIT 6")) << query->sql;
}

TEST(FleetReports, AWrongColumnIsRefusedWithASimilarOne) {
  Settings settings;
  settings.sort = "cals";
  const auto query = fleet_query(*find_fleet_report("top"), settings, 5);
  ASSERT_FALSE(query);
  EXPECT_THAT(query.error().text(), HasSubstr("did you mean 'calls'"));
}

TEST(FleetReports, ARowHasNumbersTextsAndNothing) {
  const std::vector<table::Column> columns{
      {"a", Kind::Count}, {"b", Kind::Text}, {"c", Kind::Count}, {"d", Kind::Percent}, {"e", Kind::Text}};
  EXPECT_THAT(fleet_row("12\ta\\tb\\\\\\n\\'c\\'\t\\N\t1.5\t17", columns),
              ElementsAre(table::Value(std::int64_t{12}), table::Value(std::string("a\tb\\\n'c'")), table::Value(),
                          table::Value(1.5), table::Value(std::string("17"))));
}

}  // namespace
}  // namespace fade::query
