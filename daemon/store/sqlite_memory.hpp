// The memory of SQLite in fade's commands and in tests. Compiling SQL over views takes and frees thousands of small
// blocks, most of them of a few sizes. SQLite's statistics lock a mutex for each block, and malloc() joins free blocks
// again and again. Here, each thread keeps lists of free small blocks, and only large blocks are counted, so a page is
// made in two thirds of the time (DECISIONS 162).
#pragma once
#include <cstddef>
#include <cstdint>

namespace fade::sqlite {

// To be called once, before the first use of SQLite. SQLite's own statistics and limits are off from then on.
void use_own_memory();
// The kernel clears each page that malloc() takes anew. From then on, the process keeps freed memory, up to 16 MiB.
void keep_freed_memory();

// Memory that SQLite holds or keeps for later: large blocks, and the pieces that small blocks are cut from.
std::int64_t memory_held();
// SQLite runs out of memory where more than `bytes` would be held. 0: no limit.
void limit_memory(std::int64_t bytes);

// The functions that SQLite calls; for tests. A block is aligned to 8 bytes. nullptr: no memory, or too much.
void* take_block(int bytes);
void* resize_block(void* block, int bytes);
void free_block(void* block);
int size_of_block(void* block);

}  // namespace fade::sqlite
