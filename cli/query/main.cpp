// fade-query: answers from a recording.
#include <clocale>

#include "cli/query/program.hpp"

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");  // what the terminal can show; numbers stay as they are
  return fade::query::main_program(argc, argv);
}
