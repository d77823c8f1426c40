/* What libhsakmt asks of a GPU model: interface version 0.4, which it looks up as get_hsakmt_model_functions().
 * The order and the types of the members are the contract; all addresses in hsakmt_model_queue_info are relative to
 * the global aperture. Knows nothing of packets. */
#ifndef FADE_TESTS_REAL_MODEL_H
#define FADE_TESTS_REAL_MODEL_H

#include <stdint.h>

typedef struct hsakmt_model hsakmt_model_t;
typedef struct hsakmt_model_queue hsakmt_model_queue_t;
typedef void (*hsakmt_model_set_event_fn)(void* data, unsigned event_id);

struct hsakmt_model_queue_info {
  uint64_t ring_base_address;
  uint64_t write_pointer_address;
  uint64_t read_pointer_address;
  uint64_t* doorbell;
  uint32_t ring_size; /* bytes */
  uint32_t queue_type;
};

struct hsakmt_model_functions {
  uint32_t version_major;
  uint32_t version_minor;
  hsakmt_model_t* (*create)(void);
  void (*destroy)(hsakmt_model_t*);
  void (*set_global_aperture)(hsakmt_model_t*, void* base, uint64_t size);
  void (*alloced_memory)(hsakmt_model_t*, void* base, uint64_t size, uint32_t flags);
  void (*freed_memory)(hsakmt_model_t*, void* base, uint64_t size);
  void (*set_notify_event)(hsakmt_model_t*, void (*callback)(void* data), void* data);
  void (*set_wait_event)(hsakmt_model_t*, void (*callback)(void* data, uint64_t address, uint64_t age), void* data);
  hsakmt_model_queue_t* (*register_queue)(hsakmt_model_t*, struct hsakmt_model_queue_info*);
  void (*set_set_event)(hsakmt_model_t*, hsakmt_model_set_event_fn, void* data);
  void (*destroy_queue)(hsakmt_model_t*, hsakmt_model_queue_t*);
};

__attribute__((visibility("default"))) const struct hsakmt_model_functions* get_hsakmt_model_functions(void);

#endif
