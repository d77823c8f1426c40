// fade-query: answers from a recording.
#include <clocale>

#include "cli/query/program.hpp"
#include "store/sqlite_memory.hpp"

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // what the terminal can show; numbers stay as they are
  fade::sqlite::use_own_memory();
  fade::sqlite::keep_freed_memory();
  return fade::query::main_program(argc, argv);
}
