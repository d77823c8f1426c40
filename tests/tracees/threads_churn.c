// Threads are born and die while others are inside calls. threads_churn [GENERATIONS]
#include <pthread.h>

#include "tracee.h"

static void* brief(void* arg) {
  some_calls(1 + (int)(intptr_t)arg % 3);
  return NULL;
}

static void* generations(void* arg) {
  for (int i = 0; i < (int)(intptr_t)arg; ++i) {
    pthread_t child;
    MUST(!pthread_create(&child, NULL, brief, (void*)(intptr_t)i));
    if (i % 2) pthread_join(child, NULL);
    else pthread_detach(child);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t parents[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&parents[i], NULL, generations, (void*)(intptr_t)number(argc, argv, 1, 40));
  for (int i = 0; i < 4; ++i) pthread_join(parents[i], NULL);
  printf("churned\n");
  pthread_exit(NULL);  // detached ones may still be calling
}
