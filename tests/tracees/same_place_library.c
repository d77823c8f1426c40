// Two libraries are made of this, alike but for their names: one is loaded where the other was.
static volatile int after;

const char* name = "/" NAME;

void through(void (*next)(void)) {
  next();
  ++after;
}
