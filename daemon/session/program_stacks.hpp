// The known facts of one program for taking stacks of its threads: its code and its Python interpreter. Made when the
// first stack is taken; gone with the Program.
#pragma once
#include <optional>
#include <string>

#include "base/event.hpp"
#include "stack/code_map.hpp"
#include "stack/python_stacks.hpp"

namespace fade {

struct Program;

class ProgramStacks {
 public:
  ProgramStacks(CodeFiles& files, const Program& program, std::uint32_t number);

  CodeMap& code() { return code_; }
  const CodeMap& code() const { return code_; }
  std::uint32_t number() const { return number_; }  // of the session's programs that had a stack taken
  // The interpreter among the loaded modules; nullptr: none. `problem` gets, once, the reason if a present one is not
  // read.
  PythonStacks* python(const Program& program, std::string& problem);
  // A second reader of the same interpreter, for threads that run while they are looked at. Its memory of them may be
  // wrong, and must not reach the stacks of stopped threads. Returns nullptr if python() has found no interpreter.
  PythonStacks* running_python(const Program& program);

 private:
  CodeMap code_;
  std::uint32_t number_;
  ModuleId last_module_ = 0;  // all up to it have been looked at
  std::optional<PythonStacks> python_, running_python_;
  RemoteAddr python_at_;  // where its module begins
};

}  // namespace fade
