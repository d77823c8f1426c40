// Graphs: kernels, allocations and frees in the order in which they were added or captured. A launch of a graph runs
// its kernels, that is, counts them, and allocates and frees; what it leaves allocated must be freed before the next
// launch, or by it if it was asked to.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum {
  most_nodes = 256,
  most_devices = 16,
  graph_magic = 0x47524150,
  exec_magic = 0x45584543,
  capture_invalidated = 901,
  node_alloc = 10,
  node_free = 11
};
struct piece {
  struct standin_launch launch;
  void* address;
  int frees;
};  // a kernel, or where there is an address: its memory
struct hipGraphNode {
  struct hipGraph* graph;
  struct piece piece;
};
struct hipGraph {
  int magic, count;
  struct hipGraphNode* nodes[most_nodes];
};
struct hipGraphExec {
  int magic, count, frees_first;
  struct {
    hipGraphNode_t node;
    struct piece piece;
    int enabled;
  } pieces[most_nodes];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_graph(hipGraph_t g) { return g && g->magic == graph_magic; }
static int is_exec(hipGraphExec_t e) { return e && e->magic == exec_magic; }

static hipGraphNode_t append_piece(hipGraph_t graph, const struct piece* piece) {
  hipGraphNode_t node = calloc(1, sizeof *node);
  *node = (struct hipGraphNode){graph, *piece};
  if (!piece->address) node->piece.launch.name = strdup(piece->launch.name);
  pthread_mutex_lock(&lock);
  if (graph->count < most_nodes) graph->nodes[graph->count++] = node;
  pthread_mutex_unlock(&lock);
  return node;
}

static hipGraphNode_t append(hipGraph_t graph, const struct standin_launch* launch) {
  const struct piece piece = {*launch, NULL, 0};
  return append_piece(graph, &piece);
}

static hipGraphNode_t append_memory(hipGraph_t graph, void* address, int frees) {
  const struct piece piece = {.address = address, .frees = frees};
  return append_piece(graph, &piece);
}

static hipGraph_t new_graph(void) {
  hipGraph_t graph = calloc(1, sizeof *graph);
  graph->magic = graph_magic;
  return graph;
}

static void append_all(hipGraph_t to, hipGraph_t from) {
  for (int i = 0, n = from->count; i < n; ++i) append_piece(to, &from->nodes[i]->piece);
}

static int launch_of(const hipKernelNodeParams* p, struct standin_launch* out) {
  const char* name = p ? standin_kernel_name(p->func) : NULL;
  if (name) *out = (struct standin_launch){name, p->gridDim, p->blockDim};
  return name != NULL;
}

int standin_captured(hipStream_t stream, const struct standin_launch* launch) {
  const hipGraph_t graph = standin_capture(stream);
  if (graph) append(graph, launch);
  return graph != NULL;
}

int standin_captured_memory(hipStream_t stream, void* address, int frees) {
  const hipGraph_t graph = standin_capture(stream);
  if (graph) append_memory(graph, address, frees);
  return graph != NULL;
}

HIP(hipError_t, hipGraphCreate)(hipGraph_t* out, unsigned flags) {
  ENTER(hipGraphCreate);
  if (!out || flags) return standin_fail(hipErrorInvalidValue);
  *out = new_graph();
  return hipSuccess;
}

HIP(hipError_t, hipGraphDestroy)(hipGraph_t graph) {
  ENTER(hipGraphDestroy);
  if (!is_graph(graph)) return standin_fail(hipErrorInvalidValue);
  for (int i = 0; i < graph->count; ++i) free(graph->nodes[i]);
  graph->magic = 0;
  free(graph);
  return hipSuccess;
}

HIP(hipError_t, hipGraphClone)(hipGraph_t* out, hipGraph_t graph) {
  ENTER(hipGraphClone);
  if (!out || !is_graph(graph)) return standin_fail(hipErrorInvalidValue);
  *out = new_graph();
  append_all(*out, graph);
  return hipSuccess;
}

static hipError_t add(hipGraphNode_t* out, hipGraph_t graph, const hipKernelNodeParams* params) {
  struct standin_launch launch;
  if (!out || !is_graph(graph) || !launch_of(params, &launch)) return standin_fail(hipErrorInvalidValue);
  *out = append(graph, &launch);
  return hipSuccess;
}

HIP(hipError_t, hipGraphAddKernelNode)
(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* needs, size_t n, const hipKernelNodeParams* params) {
  ENTER(hipGraphAddKernelNode);
  (void)needs, (void)n;
  return add(out, graph, params);
}

static hipError_t add_allocation(hipGraphNode_t* out, hipGraph_t graph, hipMemAllocNodeParams* params) {
  if (!out || !is_graph(graph) || !params || params->poolProps.location_id < 0 ||
      params->poolProps.location_id >= standin_devices())
    return standin_fail(hipErrorInvalidValue);
  const hipError_t reserved = standin_reserve(&params->dptr, params->bytesize, params->poolProps.location_id);
  if (reserved == hipSuccess) *out = append_memory(graph, params->dptr, 0);
  return reserved;
}

static hipError_t add_free(hipGraphNode_t* out, hipGraph_t graph, void* address) {
  if (!out || !is_graph(graph) || !standin_find(address)) return standin_fail(hipErrorInvalidValue);
  *out = append_memory(graph, address, 1);
  return hipSuccess;
}

HIP(hipError_t, hipGraphAddMemAllocNode)
(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* needs, size_t n, hipMemAllocNodeParams* params) {
  ENTER(hipGraphAddMemAllocNode);
  (void)needs, (void)n;
  return add_allocation(out, graph, params);
}

HIP(hipError_t, hipGraphAddMemFreeNode)
(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* needs, size_t n, void* address) {
  ENTER(hipGraphAddMemFreeNode);
  (void)needs, (void)n;
  return add_free(out, graph, address);
}

HIP(hipError_t, hipDrvGraphAddMemFreeNode)
(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* needs, size_t n, hipDeviceptr_t address) {
  ENTER(hipDrvGraphAddMemFreeNode);
  (void)needs, (void)n;
  return add_free(out, graph, address);
}

HIP(hipError_t, hipGraphAddNode)
(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* needs, size_t n, hipGraphNodeParams* params) {
  ENTER(hipGraphAddNode);
  (void)needs, (void)n;
  if (params && params->type == node_alloc) return add_allocation(out, graph, &params->alloc);
  if (params && params->type == node_free) return add_free(out, graph, params->free.dptr);
  if (params && params->type != 0) return hipSuccess;  // copies and the like
  return add(out, graph, params ? &params->kernel : NULL);
}

HIP(hipError_t, hipGraphAddChildGraphNode)
(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* needs, size_t n, hipGraph_t child) {
  ENTER(hipGraphAddChildGraphNode);
  (void)needs, (void)n;
  if (!out || !is_graph(graph) || !is_graph(child)) return standin_fail(hipErrorInvalidValue);
  append_all(graph, child);
  *out = NULL;
  return hipSuccess;
}

HIP(hipError_t, hipGraphKernelNodeSetParams)(hipGraphNode_t node, const hipKernelNodeParams* params) {
  ENTER(hipGraphKernelNodeSetParams);
  if (!node || !launch_of(params, &node->piece.launch)) return standin_fail(hipErrorInvalidValue);
  node->piece.launch.name = strdup(node->piece.launch.name);
  return hipSuccess;
}

HIP(hipError_t, hipGraphDestroyNode)(hipGraphNode_t node) {
  ENTER(hipGraphDestroyNode);
  if (!node) return standin_fail(hipErrorInvalidValue);
  int i = 0;
  while (i < node->graph->count && node->graph->nodes[i] != node) ++i;
  for (--node->graph->count; i < node->graph->count; ++i) node->graph->nodes[i] = node->graph->nodes[i + 1];
  free(node);
  return hipSuccess;
}

static void fill(hipGraphExec_t exec, hipGraph_t graph) {
  exec->count = graph->count;
  for (int i = 0; i < graph->count; ++i) {
    exec->pieces[i].node = graph->nodes[i];
    exec->pieces[i].piece = graph->nodes[i]->piece;
    exec->pieces[i].enabled = 1;
  }
}

static hipError_t instantiate(hipGraphExec_t* out, hipGraph_t graph, unsigned long long flags) {
  if (!out || !is_graph(graph)) return standin_fail(hipErrorInvalidValue);
  hipGraphExec_t exec = calloc(1, sizeof *exec);
  exec->magic = exec_magic;
  exec->frees_first = flags & 1;  // hipGraphInstantiateFlagAutoFreeOnLaunch
  fill(exec, graph);
  *out = exec;
  return hipSuccess;
}

HIP(hipError_t, hipGraphInstantiate)
(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t* error, char* log, size_t size) {
  ENTER(hipGraphInstantiate);
  (void)error, (void)log, (void)size;
  return instantiate(out, graph, 0);
}

HIP(hipError_t, hipGraphInstantiateWithFlags)(hipGraphExec_t* out, hipGraph_t graph, unsigned long long flags) {
  ENTER(hipGraphInstantiateWithFlags);
  return instantiate(out, graph, flags);
}

HIP(hipError_t, hipGraphInstantiateWithParams)(hipGraphExec_t* out, hipGraph_t graph, void* params) {
  ENTER(hipGraphInstantiateWithParams);
  return params ? instantiate(out, graph, ((unsigned long long*)params)[1]) : standin_fail(hipErrorInvalidValue);
}

static int index_of(hipGraphExec_t exec, hipGraphNode_t node) {
  for (int i = 0; is_exec(exec) && i < exec->count; ++i)
    if (exec->pieces[i].node == node) return i;
  return -1;
}

HIP(hipError_t, hipGraphExecKernelNodeSetParams)
(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params) {
  ENTER(hipGraphExecKernelNodeSetParams);
  const int i = index_of(exec, node);
  if (i < 0 || !launch_of(params, &exec->pieces[i].piece.launch)) return standin_fail(hipErrorInvalidValue);
  exec->pieces[i].piece.launch.name = strdup(exec->pieces[i].piece.launch.name);
  return hipSuccess;
}

HIP(hipError_t, hipGraphNodeSetEnabled)(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  ENTER(hipGraphNodeSetEnabled);
  const int i = index_of(exec, node);
  if (i < 0) return standin_fail(hipErrorInvalidValue);
  exec->pieces[i].enabled = enabled != 0;
  return hipSuccess;
}

HIP(hipError_t, hipGraphExecUpdate)(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error, int* result) {
  ENTER(hipGraphExecUpdate);
  (void)error;
  if (!is_exec(exec) || !is_graph(graph)) return standin_fail(hipErrorInvalidValue);
  fill(exec, graph);
  if (result) *result = 0;
  return hipSuccess;
}

HIP(hipError_t, hipGraphExecDestroy)(hipGraphExec_t exec) {
  ENTER(hipGraphExecDestroy);
  if (!is_exec(exec)) return standin_fail(hipErrorInvalidValue);
  exec->magic = 0;
  free(exec);
  return hipSuccess;
}

// A launch either runs or not: whether its memory is there is asked before anything runs.
static int fits(hipGraphExec_t exec) {
  size_t wanted[most_devices] = {0};
  for (int i = 0; i < exec->count; ++i) {
    const struct piece* piece = &exec->pieces[i].piece;
    const struct standin_block* b = standin_find(piece->address);
    if (!b || !b->of_graph || (piece->frees && !wanted[b->device])) continue;
    wanted[b->device] += piece->frees ? -b->bytes : b->bytes;
    if (!standin_fits(b->device, wanted[b->device])) return 0;
  }
  return 1;
}

// What an earlier launch left allocated.
static hipError_t before_launch(hipGraphExec_t exec) {
  for (int i = 0; i < exec->count; ++i) {
    const struct piece* piece = &exec->pieces[i].piece;
    struct standin_block* b = piece->address && !piece->frees ? standin_find(piece->address) : NULL;
    if (!b || !b->backed) continue;
    if (!exec->frees_first) return standin_fail(hipErrorInvalidValue);
    standin_unback(b);
  }
  return fits(exec) ? hipSuccess : standin_out_of_memory();
}

static hipError_t run(const struct piece* piece, hipStream_t stream) {
  if (!piece->address) {
    if (standin_captured(stream, &piece->launch)) return hipSuccess;
    standin_ran(&piece->launch);
    standin_ran_on(piece->launch.name, stream);
    return hipSuccess;
  }
  if (standin_captured_memory(stream, piece->address, piece->frees)) return hipSuccess;
  struct standin_block* b = standin_find(piece->address);
  if (!piece->frees) return standin_back(b);
  return b && b->of_graph ? standin_unback(b) : standin_release(piece->address);
}

static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
  if (!is_exec(exec)) return standin_fail(hipErrorInvalidValue);
  if (!standin_is_stream(stream)) return standin_fail(hipErrorInvalidHandle);
  hipError_t result = standin_capture(stream) ? hipSuccess : before_launch(exec);
  standin_new_call();
  for (int i = 0; i < exec->count && result == hipSuccess; ++i)
    if (exec->pieces[i].enabled) result = run(&exec->pieces[i].piece, stream);
  standin_enqueue(stream);
  return result;
}

HIP(hipError_t, hipGraphLaunch)(hipGraphExec_t exec, hipStream_t stream) {
  ENTER(hipGraphLaunch);
  return launch(exec, stream);
}

HIP(hipError_t, hipGraphLaunch_spt)(hipGraphExec_t exec, hipStream_t stream) {
  ENTER(hipGraphLaunch_spt);
  return launch(exec, stream);
}

static hipError_t begin(hipStream_t stream, hipGraph_t graph) {
  if (!stream || !standin_is_stream(stream) || standin_capture(stream) || !graph)
    return standin_fail(hipErrorInvalidValue);
  standin_set_capture(stream, graph);
  return hipSuccess;
}

static hipError_t end(hipStream_t stream, hipGraph_t* out) {
  const hipGraph_t graph = out && standin_is_stream(stream) ? standin_capture(stream) : NULL;
  if (!graph) return standin_fail((hipError_t)capture_invalidated);
  standin_end_capture(graph);
  *out = graph;
  return hipSuccess;
}

HIP(hipError_t, hipStreamBeginCapture)(hipStream_t stream, int mode) {
  ENTER(hipStreamBeginCapture);
  (void)mode;
  return begin(stream, new_graph());
}

HIP(hipError_t, hipStreamBeginCapture_spt)(hipStream_t stream, int mode) {
  ENTER(hipStreamBeginCapture_spt);
  (void)mode;
  return begin(stream, new_graph());
}

HIP(hipError_t, hipStreamIsCapturing)(hipStream_t stream, int* status) {
  ENTER(hipStreamIsCapturing);
  if (!standin_is_stream(stream) || !status) return standin_fail(hipErrorInvalidValue);
  *status = standin_capture(stream) != NULL;
  return hipSuccess;
}

HIP(hipError_t, hipStreamBeginCaptureToGraph)
(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* needs, const void* edges, size_t n, int mode) {
  ENTER(hipStreamBeginCaptureToGraph);
  (void)needs, (void)edges, (void)n, (void)mode;
  return is_graph(graph) ? begin(stream, graph) : standin_fail(hipErrorInvalidValue);
}

HIP(hipError_t, hipStreamEndCapture)(hipStream_t stream, hipGraph_t* out) {
  ENTER(hipStreamEndCapture);
  return end(stream, out);
}

HIP(hipError_t, hipStreamEndCapture_spt)(hipStream_t stream, hipGraph_t* out) {
  ENTER(hipStreamEndCapture_spt);
  return end(stream, out);
}
