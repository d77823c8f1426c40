// graph_memory MODE: memory that graphs allocate and free when they are launched.
#include "tracee.h"

enum { auto_free = 1, node_alloc = 10, node_free = 11 };

static hipMemAllocNodeParams on_device(int device, size_t bytes) {
  return (hipMemAllocNodeParams){.poolProps = {.allocType = 1, .location_type = 1, .location_id = device},
                                 .bytesize = bytes};
}

static hipGraph_t new_graph(void) {
  hipGraph_t graph;
  HIP_OK(hipGraphCreate(&graph, 0));
  return graph;
}

static hipGraphExec_t instantiate(hipGraph_t graph, unsigned long long flags) {
  hipGraphExec_t exec;
  HIP_OK(hipGraphInstantiateWithFlags(&exec, graph, flags));
  HIP_OK(hipGraphDestroy(graph));
  return exec;
}

static void* add_allocation(hipGraph_t graph, size_t bytes) {
  hipMemAllocNodeParams params = on_device(0, bytes);
  hipGraphNode_t node;
  HIP_OK(hipGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
  return params.dptr;
}

static void add_free(hipGraph_t graph, void* memory) {
  hipGraphNode_t node;
  HIP_OK(hipGraphAddMemFreeNode(&node, graph, NULL, 0, memory));
}

// One is freed by the graph itself, one by the program, one by another graph.
static void nodes(void) {
  hipGraph_t graph = new_graph(), other = new_graph();
  hipGraphNode_t node;
  void* inside = add_allocation(graph, 1 << 20);
  void* outside = add_allocation(graph, 2 << 20);
  void* elsewhere = add_allocation(graph, 3 << 20);
  add_free(graph, inside);
  add_allocation(graph, 4096);
  HIP_OK(hipDrvGraphAddMemFreeNode(&node, other, NULL, 0, elsewhere));
  hipGraphExec_t exec = instantiate(graph, auto_free), frees = instantiate(other, 0);
  for (int i = 0; i < 3; ++i) {
    HIP_OK(hipGraphLaunch(exec, NULL));
    HIP_OK(hipGraphLaunch(frees, NULL));
    if (i < 2) HIP_OK(hipFree(outside));
  }
  HIP_OK(hipDeviceSynchronize());
  HIP_OK(hipGraphExecDestroy(frees));
  HIP_OK(hipGraphExecDestroy(exec));  // what it allocated stays
}

// hipGraphAddNode says the same in its own words; for another device than the current one.
static void any_nodes(void) {
  int devices;
  HIP_OK(hipGetDeviceCount(&devices));
  hipGraph_t graph = new_graph();
  hipGraphNode_t node;
  hipGraphNodeParams params = {.type = node_alloc};
  params.alloc = on_device(devices - 1, 70000);
  HIP_OK(hipGraphAddNode(&node, graph, NULL, 0, &params));
  hipGraphNodeParams freed = {.type = node_free};
  freed.free.dptr = params.alloc.dptr;
  HIP_OK(hipGraphAddNode(&node, graph, NULL, 0, &freed));
  params.alloc.bytesize = 80000;
  HIP_OK(hipGraphAddNode(&node, graph, NULL, 0, &params));
  hipGraphExec_t exec = instantiate(graph, 0);
  HIP_OK(hipGraphLaunch(exec, NULL));
  printf("again: %d\n", hipGraphLaunch(exec, NULL));  // not before what it left is freed
  HIP_OK(hipFreeAsync(params.alloc.dptr, NULL));
  HIP_OK(hipGraphLaunch(exec, NULL));
}

static void* captured_from(hipMemPool_t pool, hipStream_t stream, size_t bytes) {
  void* memory;
  if (pool) HIP_OK(hipMallocFromPoolAsync(&memory, bytes, pool, stream));
  else HIP_OK(hipMallocAsync(&memory, bytes, stream));
  return memory;
}

// As PyTorch and others capture: what is allocated meanwhile is the graph's.
static void captured(int launches) {
  hipStream_t stream;
  hipMemPool_t pool;
  hipGraph_t graph;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipDeviceGetDefaultMemPool(&pool, 0));
  void* before = captured_from(NULL, stream, 111);
  HIP_OK(hipStreamBeginCapture(stream, 0));
  void* a = captured_from(NULL, stream, 3000);
  void* b = captured_from(pool, stream, 5000);
  HIP_OK(hipFreeAsync(a, stream));
  HIP_OK(hipStreamEndCapture(stream, &graph));
  HIP_OK(hipFreeAsync(before, stream));
  hipGraphExec_t exec = instantiate(graph, 0);
  for (int i = 0; i < launches; ++i) {
    HIP_OK(hipGraphLaunch(exec, stream));
    if (i + 1 < launches) HIP_OK(hipFreeAsync(b, stream));
  }
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipStreamDestroy(stream));
}

// A graph that is launched into a captured stream is part of the new graph.
static void nested(void) {
  hipStream_t stream;
  hipGraph_t inner = new_graph(), outer;
  HIP_OK(hipStreamCreate(&stream));
  add_free(inner, add_allocation(inner, 6000));
  add_allocation(inner, 7000);
  hipGraphExec_t first = instantiate(inner, 0);
  HIP_OK(hipStreamBeginCapture(stream, 0));
  HIP_OK(hipGraphLaunch(first, stream));
  HIP_OK(hipStreamEndCapture(stream, &outer));
  hipGraphExec_t second = instantiate(outer, 0);
  HIP_OK(hipGraphLaunch(second, NULL));
}

static void out_of_memory(void) {
  size_t left, total;
  HIP_OK(hipMemGetInfo(&left, &total));
  hipGraph_t graph = new_graph();
  add_free(graph, add_allocation(graph, 4096));
  add_allocation(graph, total / 2);
  add_allocation(graph, total);
  printf("%d\n", hipGraphLaunch(instantiate(graph, 0), NULL));
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "nodes";
  if (!strcmp(mode, "nodes")) nodes();
  else if (!strcmp(mode, "any_nodes")) any_nodes();
  else if (!strcmp(mode, "captured")) captured(number(argc, argv, 2, 3));
  else if (!strcmp(mode, "nested")) nested();
  else if (!strcmp(mode, "out_of_memory")) out_of_memory();
  else return 2;
  printf("%s\n", mode);
}
