// Call stacks as one text each, as flame graphs want them: "main (train.py:80);step (train.py:42);malloc". Stacks share
// most of their frames, so each place in the tree is looked up once and each frame written once. Reads the public views
// of the file, of which nothing is trusted: a stack has at most kMostFrames frames, and what is kept is bounded.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace fade::query {

// The name of a file without its folders; with the last one where the file is __init__.py or __main__.py, which says
// nothing alone.
std::string_view file_name(std::string_view path);

class StackTexts {
 public:
  static constexpr int kMostFrames = 10000;
  static constexpr std::size_t kMostKept = 4'000'000;  // nodes; more frames than that are refused

  explicit StackTexts(sqlite3* db) : db_(db) {}  // ends before the database does

  // fade_frames(stack, own): outermost frame first, semicolons between them; NULL where there is no such stack. own 1:
  // without frames of the system, where there are others. SQL function with the StackTexts as its user data; errors
  // become those of the statement that asked.
  static void function(sqlite3_context* context, int count, sqlite3_value** args);

 private:
  struct Node {
    std::int64_t parent = 0, frame = 0;  // 0: none
  };
  struct Frame {
    std::string text;
    bool system = false;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

  // SQLITE_OK, or what went wrong. `out` stays empty where there is no such stack.
  int text(std::int64_t stack, bool own, std::string& out);
  int node(std::int64_t stack, Node& out);
  int frame(std::int64_t id, const Frame*& out);
  int write_frame(std::int64_t id, Frame& out);
  int prepare();

  sqlite3* db_;
  Prepared node_, frame_, inlined_;
  std::int64_t last_stack_ =
      0;  // 0: none. Several functions may have been called from one stack: its rows follow each other
  bool last_own_ = false;
  std::string last_text_;
  std::unordered_map<std::int64_t, Node> nodes_;
  std::unordered_map<std::int64_t, Frame> frames_;
};

}  // namespace fade::query
