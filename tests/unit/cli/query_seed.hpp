// A recording to ask questions of: the schema and data/seed.sql in a file of its own, gone with the object.
#pragma once
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "schema/schema.hpp"

namespace fade::query {

inline std::filesystem::path data_directory() { return std::filesystem::path(FADE_TEST_FOLDER) / "data"; }

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "fade-query-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline void execute(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* why = nullptr;
  EXPECT_EQ(sqlite3_exec(db, ("PRAGMA synchronous = OFF; " + sql).c_str(), nullptr, nullptr, &why), SQLITE_OK)
      << (why ? why : "");
  sqlite3_free(why);
  sqlite3_close(db);
}

// Tables, views and rows are written once for each program; each recording is a copy.
inline std::string make_recording(const TemporaryDirectory& directory, const std::string& name, bool seeded = true) {
  static const TemporaryDirectory kept;
  const std::string path = directory.file(name), first = kept.file(seeded ? "seeded.db" : "empty.db");
  if (!std::filesystem::exists(first))
    execute(first, "BEGIN;" + std::string(schema::tables()) + std::string(schema::views()) +
                       (seeded ? slurp(data_directory() / "seed.sql") : "") + "COMMIT;");
  std::filesystem::copy_file(first, path);
  return path;
}

}  // namespace fade::query
