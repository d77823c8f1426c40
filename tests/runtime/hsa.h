// The part of HSA that the stand-in runtime uses: queues with AQL packets, signals, kernel objects, and the times of
// work. Laid out as AMD's runtime does.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hsa_signal {
  int64_t kind;
  int64_t value;
  uint64_t mailbox;
  uint32_t event_id, unused;
  uint64_t started, ended;
};
struct hsa_queue {
  uint32_t type, features;
  void* base;
  uint64_t doorbell;
  uint32_t size, unused;
  uint64_t id;
  uint32_t reserved[4];
  uint64_t write_index;
  uint64_t apertures[8];
  uint64_t read_index;
};
struct hsa_packet {
  uint16_t header, setup;
  uint16_t block[3], unused;
  uint32_t grid[3], scratch, shared;
  uint64_t object, arguments, reserved, signal;
};
_Static_assert(sizeof(struct hsa_packet) == 64 && offsetof(struct hsa_packet, object) == 32, "as HSA says");
_Static_assert(offsetof(struct hsa_packet, signal) == 56, "as HSA says");
_Static_assert(offsetof(struct hsa_queue, write_index) == 56, "as AMD's runtime has it");
_Static_assert(offsetof(struct hsa_queue, read_index) == 128, "as AMD's runtime has it");
enum { hsa_invalid = 1, hsa_kernel_dispatch = 2, hsa_barrier_and = 3, hsa_kernel_object = 22, hsa_frequency = 3 };

int hsa_system_get_info(int attribute, uint64_t* value);
int hsa_queue_create(uint64_t agent, uint32_t size, struct hsa_queue** out);
int hsa_queue_destroy(struct hsa_queue* queue);
uint64_t hsa_queue_add_write_index_screlease(struct hsa_queue* queue, uint64_t value);
void hsa_signal_store_screlease(uint64_t signal, int64_t value);
int hsa_amd_memory_async_copy(void* to, uint64_t to_agent, const void* from, uint64_t from_agent, size_t bytes,
                              uint32_t n, const uint64_t* needs, uint64_t signal);
int hsa_amd_memory_async_copy_on_engine(void* to, uint64_t to_agent, const void* from, uint64_t from_agent,
                                        size_t bytes, uint32_t n, const uint64_t* needs, uint64_t signal, int engine,
                                        bool by_sdma);
int hsa_amd_profiling_set_profiler_enabled(struct hsa_queue* queue, int enable);
int hsa_amd_profiling_async_copy_enable(int enable);
int hsa_amd_profiling_get_dispatch_time(uint64_t agent, uint64_t signal, uint64_t* times);
int hsa_amd_profiling_get_async_copy_time(uint64_t signal, uint64_t* times);
int hsa_executable_get_symbol_by_name(uint64_t executable, const char* name, const uint64_t* agent, uint64_t* symbol);
int hsa_executable_symbol_get_info(uint64_t symbol, int attribute, uint64_t* value);
