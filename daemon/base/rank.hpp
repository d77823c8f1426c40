// The rank of a process in a distributed job, from the environment that launchers (torchrun, mpirun, srun) set. The
// view process_ranks (schema/views/ranks.sql) reads the same variables in the same order; a test compares the two.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fade {

// The first variable that is set to a number counts. The launcher nearest to the program comes first, so that
// torchrun's workers below srun have their own rank and not srun's.
inline constexpr std::array<std::string_view, 6> kRankVariables{"RANK",     "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                                "PMI_RANK", "MV2_COMM_WORLD_RANK",  "SLURM_PROCID"};
inline constexpr std::array<std::string_view, 5> kLocalRankVariables{
    "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
inline constexpr std::array<std::string_view, 5> kWorldSizeVariables{"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                                                     "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"};
inline constexpr std::array<std::string_view, 2> kGroupRankVariables{"GROUP_RANK", "SLURM_NODEID"};

using Environment = std::vector<std::pair<std::string, std::string>>;

// The digits of the rank, without leading zeros; empty if the program is not part of such a job.
std::string rank_of(const Environment& environment);

// True for the names above: a recording keeps them.
bool is_rank_variable(std::string_view name);

}  // namespace fade
