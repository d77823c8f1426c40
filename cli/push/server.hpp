// A ClickHouse server with fade's tables. Each request is one attempt: the caller decides about another one.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/push/address.hpp"
#include "cli/push/http.hpp"
#include "cli/push/native_block.hpp"
#include "cli/push/packed_block.hpp"
#include "cli/push/tables.hpp"

namespace fade::push {

class Server {
 public:
  // `stop`: see Http.
  static Result<Server> make(Address address, const Access& access, const std::atomic<bool>& stop);

  const Address& address() const { return address_; }
  // That it is a ClickHouse server, lets us in, and has the tables of this fade.
  Result<void> check();
  // Makes what is missing: database, tables, columns of a newer version. `cluster` empty: for one server.
  Result<void> init(const std::string& cluster);

  // Rows as lines, columns separated by tabs; texts are escaped as in TSV.
  Result<std::vector<std::string>> select(const std::string& sql);
  Result<std::vector<std::int64_t>> select_numbers(const std::string& sql);  // of one column of Int64
  // A block appears whole or not at all: it goes into one partition, and is smaller than the server's least insert.
  // `id` names the request. The server runs only one of that name.
  Result<void> insert(const std::string& table, const NativeBlock& block, const std::string& id);
  // True while a request of that name runs. Its rows may appear until then.
  Result<bool> is_running(const std::string& id);

  std::int64_t sent_bytes() const { return sent_bytes_; }  // of blocks, compressed

 private:
  Server(Address address, Http http) : address_(std::move(address)), http_(std::move(http)) {}
  Result<std::string> ask(const std::string& parameters, std::string_view body, const std::string& database);
  Result<void> run(const std::string& sql, const std::string& database);
  Result<std::string> version_of_server();
  Result<bool> is_replicated();
  Result<void> check_cluster(const std::string& cluster);
  Result<void> make(const Made& one);
  Result<void> drop_rowless(const std::string& name);
  Result<void> add_columns(const Made& made);

  Address address_;
  Http http_;
  std::unique_ptr<Packer> packer_ = std::make_unique<Packer>();
  std::int64_t sent_bytes_ = 0;
  bool takes_async_ = false;  // its inserts may be asynchronous unless told not to be
};

}  // namespace fade::push
