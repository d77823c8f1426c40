// Built as a library named libamdhip64.so that has nothing of HIP in it, not even one symbol that matters.
int decoy_answer(void) { return 42; }
