// Programs that read the driver's topology in sysfs get that of the simulated card: RCCL does so without libhsakmt.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST 512

static const char* moved(const char* path, char* text) {
  static const char driver[] = "/sys/class/kfd/kfd/topology";
  const char* card = getenv("HSA_MODEL_TOPOLOGY");
  if (!path || !card || strncmp(path, driver, sizeof driver - 1) != 0) return path;
  snprintf(text, LONGEST, "%s%s", card, path + sizeof driver - 1);
  return text;
}

DIR* opendir(const char* path) {
  char text[LONGEST];
  DIR* (*next)(const char*) = (DIR * (*)(const char*)) dlsym(RTLD_NEXT, "opendir");
  return next(moved(path, text));
}

int stat(const char* path, struct stat* out) {
  char text[LONGEST];
  int (*next)(const char*, struct stat*) = (int (*)(const char*, struct stat*))dlsym(RTLD_NEXT, "stat");
  return next(moved(path, text), out);
}

FILE* fopen(const char* path, const char* mode) {
  char text[LONGEST];
  FILE* (*next)(const char*, const char*) = (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, "fopen");
  return next(moved(path, text), mode);
}

FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }
