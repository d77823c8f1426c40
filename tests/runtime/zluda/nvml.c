// NVML as ZLUDA has it: how many boards there are and the version of a driver; to everything else it says "not
// supported". ZLUDA asks ROCm SMI; here there are two boards. FADE_STANDIN_NVML lists PCI buses, hexadecimal, in NVML's
// order: then there are these, and their name, memory, UUID and address are told as well.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  most_boards = 16,
  first_bus = 3
};
struct board {
  int bus;
};
static struct board boards[most_boards];
static unsigned board_count;
static int tells_all;

#define NVML(name)    \
  STANDIN_NAME(name); \
  HIP_VISIBILITY int name
#define ENTER_NVML(name)                                                               \
  do {                                                                                 \
    const int injected_ = standin_enter(&name_of_##name, __builtin_return_address(0)); \
    if (injected_) return injected_;                                                   \
  } while (0)
#define UNSUPPORTED(name)            \
  NVML(name)(void) {                 \
    ENTER_NVML(name);                \
    return NVML_ERROR_NOT_SUPPORTED; \
  }

__attribute__((constructor)) static void start(void) {
  const char* list = getenv("FADE_STANDIN_NVML");
  tells_all = list != NULL;
  for (char* at = (char*)list; at && *at && board_count < most_boards; at += *at == ',')
    boards[board_count++].bus = (int)strtol(at, &at, 16);
  if (!tells_all)
    for (board_count = 0; board_count < 2; ++board_count) boards[board_count].bus = first_bus + (int)board_count;
}

static int is_board(const struct board* b) { return b >= boards && b < boards + board_count; }
#define TELLS(board, out)                                               \
  do {                                                                  \
    if (!tells_all) return NVML_ERROR_NOT_SUPPORTED;                    \
    if (!is_board(board) || !(out)) return NVML_ERROR_INVALID_ARGUMENT; \
  } while (0)

NVML(nvmlInit)(void) {
  ENTER_NVML(nvmlInit);
  return NVML_SUCCESS;
}
NVML(nvmlInit_v2)(void) {
  ENTER_NVML(nvmlInit_v2);
  return NVML_SUCCESS;
}
NVML(nvmlInitWithFlags)(unsigned flags) {
  ENTER_NVML(nvmlInitWithFlags);
  (void)flags;
  return NVML_SUCCESS;
}
NVML(nvmlShutdown)(void) {
  ENTER_NVML(nvmlShutdown);
  return NVML_SUCCESS;
}

NVML(nvmlSystemGetDriverVersion)(char* version, unsigned length) {
  ENTER_NVML(nvmlSystemGetDriverVersion);
  if (!version || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
  snprintf(version, length, "550.77");
  return NVML_SUCCESS;
}

NVML(nvmlDeviceGetCount_v2)(unsigned* count) {
  ENTER_NVML(nvmlDeviceGetCount_v2);
  if (!count) return NVML_ERROR_INVALID_ARGUMENT;
  *count = board_count;
  return NVML_SUCCESS;
}

NVML(nvmlDeviceGetHandleByIndex_v2)(unsigned index, struct board** board) {
  ENTER_NVML(nvmlDeviceGetHandleByIndex_v2);
  if (!board || index >= board_count) return NVML_ERROR_INVALID_ARGUMENT;
  *board = &boards[index];
  return NVML_SUCCESS;
}

NVML(nvmlDeviceGetName)(struct board* board, char* name, unsigned length) {
  ENTER_NVML(nvmlDeviceGetName);
  TELLS(board, name);
  snprintf(name, length, "Stand-in board %02x", board->bus);
  return NVML_SUCCESS;
}

NVML(nvmlDeviceGetUUID)(struct board* board, char* uuid, unsigned length) {
  ENTER_NVML(nvmlDeviceGetUUID);
  TELLS(board, uuid);
  snprintf(uuid, length, "GPU-00000000-0000-0000-0000-0000000000%02x", board->bus);
  return NVML_SUCCESS;
}

struct memory {
  unsigned long long total, free, used;
};
NVML(nvmlDeviceGetMemoryInfo)(struct board* board, struct memory* memory) {
  ENTER_NVML(nvmlDeviceGetMemoryInfo);
  TELLS(board, memory);
  *memory = (struct memory){16ull << 30, 12ull << 30, 4ull << 30};
  return NVML_SUCCESS;
}

struct pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char text[32];
};
NVML(nvmlDeviceGetPciInfo_v3)(struct board* board, struct pci* pci) {
  ENTER_NVML(nvmlDeviceGetPciInfo_v3);
  TELLS(board, pci);
  *pci = (struct pci){.bus = (unsigned)board->bus, .id = 0x73bf1002};
  snprintf(pci->legacy, sizeof pci->legacy, "0000:%02X:00.0", board->bus);
  snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", board->bus);
  return NVML_SUCCESS;
}

NVML(nvmlDeviceGetCudaComputeCapability)(struct board* board, int* major, int* minor) {
  ENTER_NVML(nvmlDeviceGetCudaComputeCapability);
  TELLS(board, major && minor);
  *major = 8, *minor = 5;
  return NVML_SUCCESS;
}

STANDIN_NAME(nvmlErrorString);
HIP_VISIBILITY const char* nvmlErrorString(int error) {
  standin_enter(&name_of_nvmlErrorString, __builtin_return_address(0));
  (void)error;
  return "";
}

UNSUPPORTED(nvmlSystemGetCudaDriverVersion_v2)
UNSUPPORTED(nvmlDeviceGetTemperature)
UNSUPPORTED(nvmlDeviceGetUtilizationRates)
UNSUPPORTED(nvmlDeviceGetComputeRunningProcesses_v3)
