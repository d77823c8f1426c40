// ROCm SMI for programs that want one to start: the simulated card, without sensors. ROCm SMI itself reads sysfs, where
// the card is not.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { success = 0, not_supported = 2 };

int rsmi_init(uint64_t flags) {
  (void)flags;
  return success;
}

int rsmi_num_monitor_devices(uint32_t* count) {
  *count = 1;
  return success;
}

int rsmi_dev_pci_id_get(uint32_t device, uint64_t* id) {  // as topology.py wrote
  (void)device;
  char name[512], key[64];
  const char* card = getenv("HSA_MODEL_TOPOLOGY");
  snprintf(name, sizeof name, "%s/nodes/1/properties", card ? card : "");
  FILE* file = fopen(name, "r");
  unsigned long long value = 0;
  while (file && fscanf(file, "%63s %llu", key, &value) == 2)
    if (strcmp(key, "location_id") == 0) *id = value;
  if (file) fclose(file);
  return success;
}

int rsmi_dev_gpu_clk_freq_get(uint32_t device, int type, void* frequencies) {
  (void)device, (void)type, (void)frequencies;
  return not_supported;
}

int rsmi_dev_gpu_metrics_info_get(uint32_t device, void* metrics) {
  (void)device, (void)metrics;
  return not_supported;
}

int rsmi_dev_metrics_xcd_counter_get(uint32_t device, uint16_t* count) {
  (void)device;
  *count = 1;
  return success;
}
