// FADE_STANDIN_FAIL=hipMalloc:3:2,hipMemcpy:*:1   the 3rd hipMalloc returns error 2, every hipMemcpy error 1
// FADE_STANDIN_DELAY=hipStreamSynchronize:5ms     every call waits so long (us, ms, s)
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "standin.h"

struct rule {
  char name[96];
  uint64_t call, seen;
  int error;
  long delay_ns;
};
enum { most_rules = 32 };
static struct rule rules[most_rules];
int standin_rules;

static long nanoseconds(const char* text) {
  char* unit;
  const double value = strtod(text, &unit);
  const double scale = !strncmp(unit, "us", 2) ? 1e3 : !strncmp(unit, "ms", 2) ? 1e6 : 1e9;
  return (long)(value * scale);
}

static void parse(const char* variable, int is_delay) {
  const char* text = getenv(variable);
  for (; text && *text && standin_rules < most_rules; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
    const char* colon = strchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof rules[0].name) return;
    struct rule* r = &rules[standin_rules];
    memcpy(r->name, text, (size_t)(colon - text));
    const char* code = is_delay ? NULL : strchr(colon + 1, ':');
    r->call = is_delay || colon[1] == '*' ? 0 : strtoull(colon + 1, NULL, 10);
    r->error = code ? atoi(code + 1) : 0;
    r->delay_ns = is_delay ? nanoseconds(colon + 1) : 0;
    ++standin_rules;
  }
}

__attribute__((constructor)) static void start(void) {
  parse("FADE_STANDIN_FAIL", 0);
  parse("FADE_STANDIN_DELAY", 1);
}

int standin_apply_rules(const char* name) {
  int error = 0;
  for (int i = 0; i < standin_rules; ++i) {
    struct rule* r = &rules[i];
    if (strcmp(r->name, name)) continue;
    const uint64_t call = __atomic_add_fetch(&r->seen, 1, __ATOMIC_RELAXED);
    struct timespec t = {r->delay_ns / 1000000000, r->delay_ns % 1000000000};
    if (r->delay_ns) nanosleep(&t, NULL);
    if (r->error && (!r->call || r->call == call)) error = r->error;
  }
  return error;
}
