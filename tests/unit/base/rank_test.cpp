#include "base/rank.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(Rank, IsReadFromEveryLauncher) {
  for (const std::string_view name : kRankVariables)
    EXPECT_EQ(rank_of({{"HOME", "/"}, {std::string(name), "3"}}), "3") << name;
}

TEST(Rank, IsThatOfTheNearestLauncher) {
  EXPECT_EQ(rank_of({{"SLURM_PROCID", "0"}, {"RANK", "5"}}), "5");
  EXPECT_EQ(rank_of({{"SLURM_PROCID", "2"}, {"OMPI_COMM_WORLD_RANK", "7"}}), "7");
}

TEST(Rank, IsANumber) {
  for (const char* value : {"", "-1", "x", "1x", " 1", "4294967296000"})
    EXPECT_EQ(rank_of({{"RANK", value}}), "") << value;
  EXPECT_EQ(rank_of({{"RANK", "none"}, {"PMI_RANK", "1"}}), "1");
  EXPECT_EQ(rank_of({{"RANK", "007"}}), "7");
  EXPECT_EQ(rank_of({{"RANK", "00"}}), "0");
  EXPECT_EQ(rank_of({}), "");
}

TEST(Rank, VariablesAreKept) {
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_LOCALID", "OMPI_COMM_WORLD_SIZE", "GROUP_RANK"})
    EXPECT_TRUE(is_rank_variable(name)) << name;
  for (const char* name : {"", "RANKS", "SLURM_JOB_USER"}) EXPECT_FALSE(is_rank_variable(name)) << name;
}

}  // namespace
}  // namespace fade
