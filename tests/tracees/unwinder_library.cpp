// Throws through a function of the program that loads this library, and catches.
namespace {

void thrower(void*) { throw 7; }

}  // namespace

extern "C" __attribute__((visibility("default"))) int catches(void (*call)(void (*)(void*)), int rounds) {
  int caught = 0;
  for (int i = 0; i < rounds; ++i) try {
      call(thrower);
    } catch (int) {
      ++caught;
    }
  return caught;
}
