// The SQL that was embedded is the SQL of the source tree.
#include <gmock/gmock.h>

#include "schema/schema.hpp"

namespace fade::schema {
namespace {

using testing::HasSubstr;

TEST(Embedding, HoldsTablesViewsAndDocs) {
  EXPECT_THAT(std::string(tables()), HasSubstr("CREATE TABLE call_ "));
  EXPECT_THAT(std::string(views()), HasSubstr("CREATE VIEW calls AS"));
  EXPECT_THAT(std::string(docs()), HasSubstr("INSERT INTO doc_"));
}

TEST(Embedding, TablesCarryTheIdentityThatTheCodeChecks) {
  EXPECT_THAT(std::string(tables()), HasSubstr("application_id = 0x46414445"));
  EXPECT_EQ(kApplicationId, 0x46414445u);
  EXPECT_THAT(std::string(tables()), HasSubstr("user_version   = " + std::to_string(kVersion)));
}

TEST(Embedding, HoldsTheFindingsBehindTheViewsAndTheReferenceTable) {
  EXPECT_THAT(std::string(views()), HasSubstr("CREATE VIEW findings "));
  for (const char* finding : {"'answers-differ'", "'wgp-count'"}) EXPECT_THAT(std::string(views()), HasSubstr(finding));
  EXPECT_THAT(std::string(gpus()), HasSubstr("Radeon RX 6800 XT\t73bf:c1\t"));
}

TEST(Embedding, TellsTheViewsApart) {
  const auto views = each_view();
  ASSERT_GE(views.size(), 30u);
  for (const View& view : views)
    EXPECT_TRUE(view.sql.starts_with("CREATE VIEW " + std::string(view.name)) && !view.sql.ends_with(';')) << view.name;
  EXPECT_EQ(views.front().name, "sessions");
  EXPECT_EQ(views.back().name, "checks");
}

TEST(Embedding, FindsReportsByName) {
  EXPECT_EQ(find_report("no such report"), nullptr);
  EXPECT_EQ(find_report(""), nullptr);
  for (const Report& report : reports()) {
    EXPECT_FALSE(report.sql.empty()) << report.name;
    EXPECT_EQ(find_report(report.name), &report);
  }
}

}  // namespace
}  // namespace fade::schema
