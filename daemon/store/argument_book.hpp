// Arguments of calls, packed in blocks of one function each (probes/call_block.hpp). The first calls of each function
// have their arguments as text instead (arg_). Writer thread only.
#pragma once
#include <cstddef>
#include <unordered_map>

#include "probes/call_block.hpp"
#include "store/call_view.hpp"
#include "store/directory.hpp"
#include "store/write.hpp"

namespace fade::store {

class ArgumentBook {
 public:
  static constexpr std::size_t kMostWords = 512 << 10;  // that wait in memory, 8 bytes each

  ArgumentBook(sqlite::Db& db, Failure& failure);

  void add(FunctionRow function, CallRow call, const CallView& view);
  void flush();  // writes the waiting rows: a block for each function

 private:
  struct Function {
    probes::CallPacker calls;
    bool has_signature = false;  // in the file
  };
  void write(FunctionRow row, Function& function);

  std::unordered_map<FunctionRow, Function> functions_;
  std::size_t words_ = 0;
  Write block_, signature_;
};

}  // namespace fade::store
