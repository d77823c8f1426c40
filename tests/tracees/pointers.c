// Functions reached by pointers: taken in the program, from dlsym and from hipGetProcAddress, which may itself be asked
// for itself.
#include <dlfcn.h>

#include "tracee.h"

typedef hipError_t (*synchronize_t)(void);
typedef hipError_t (*resolve_t)(const char*, void**, int, uint64_t, int*);

int main(void) {
  synchronize_t taken = hipDeviceSynchronize, looked_up = (synchronize_t)dlsym(RTLD_DEFAULT, "hipDeviceSynchronize"),
                resolved = NULL;
  resolve_t resolve = NULL;
  void* properties = NULL;
  int worked = 0, status = -1;
  HIP_OK(hipGetProcAddress("hipGetProcAddress", (void**)&resolve, 602, 0, &status));
  HIP_OK(resolve("hipDeviceSynchronize", (void**)&resolved, 602, 0, &status));
  HIP_OK(resolve("hipGetDeviceProperties", &properties, 602, 0, &status));
  MUST(resolve("hipNoSuchFunction", &properties, 602, 0, &status) == hipErrorNotFound);
  for (int i = 0; i < 10; ++i) worked += !taken() + !looked_up() + !resolved();
  printf("worked %d, all the same %d\n", worked, taken == looked_up && looked_up == resolved);
}
