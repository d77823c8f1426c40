#include "blas/request.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace fade::blas {
namespace {

using nlohmann::json;

// JSON has no NaN and no infinity.
std::string number_text(double value) { return fmt::format("{:.17g}", value); }
double number_from(const json& text) { return std::stod(text.get<std::string>()); }

json part_json(const Request::Part& part) { return json::array({part.offset, part.size}); }
Request::Part part_from(const json& from) { return {from.at(0).get<std::uint64_t>(), from.at(1).get<std::uint64_t>()}; }

json difference_json(const Difference& d) {
  return json::array({d.row, d.column, d.matrix, number_text(d.got.real()), number_text(d.got.imag()),
                      number_text(d.wanted.real()), number_text(d.wanted.imag())});
}
Difference difference_from(const json& from) {
  return {from.at(0).get<std::uint64_t>(),
          from.at(1).get<std::uint64_t>(),
          from.at(2).get<std::uint64_t>(),
          {number_from(from.at(3)), number_from(from.at(4))},
          {number_from(from.at(5)), number_from(from.at(6))}};
}

std::string dumped(const json& message) { return message.dump(-1, ' ', false, json::error_handler_t::replace); }

// `read` throws what nlohmann::json and std::stod throw.
template <class T, class Read>
Result<T> parsed(const std::string& text, Read&& read) {
  try {
    return read(json::parse(text));
  } catch (const std::exception& e) {
    return fail("the message cannot be read", e.what());
  }
}

}  // namespace

std::string to_text(const Request& r) {
  return dumped({{"id", r.id},
                 {"product", to_json(r.product)},
                 {"atol", number_text(r.tolerance.absolute)},
                 {"rtol", number_text(r.tolerance.relative)},
                 {"a", part_json(r.a)},
                 {"b", part_json(r.b)},
                 {"c", part_json(r.c)},
                 {"d", part_json(r.d)},
                 {"dump", r.dump},
                 {"function", r.function},
                 {"call", r.call},
                 {"pid", r.pid},
                 {"tid", r.tid}});
}

Result<Request> request_from(const std::string& text) {
  return parsed<Request>(text, [](const json& from) -> Result<Request> {
    auto product = product_from(from.at("product"));
    if (!product) return tl::unexpected(std::move(product.error()));
    return Request{.id = from.at("id").get<std::uint64_t>(),
                   .product = *product,
                   .tolerance = {number_from(from.at("atol")), number_from(from.at("rtol"))},
                   .a = part_from(from.at("a")),
                   .b = part_from(from.at("b")),
                   .c = part_from(from.at("c")),
                   .d = part_from(from.at("d")),
                   .dump = from.at("dump").get<std::string>(),
                   .function = from.at("function").get<std::string>(),
                   .call = from.at("call").get<std::uint64_t>(),
                   .pid = from.at("pid").get<std::int64_t>(),
                   .tid = from.at("tid").get<std::int64_t>()};
  });
}

std::string to_text(const Answer& a) {
  return dumped({{"id", a.id},
                 {"problem", a.problem},
                 {"elements", a.elements},
                 {"differing", a.differing},
                 {"first", difference_json(a.first)},
                 {"worst", difference_json(a.worst)},
                 {"worst_limit", number_text(a.worst_limit)},
                 {"shown", a.shown},
                 {"folder", a.folder},
                 {"dump_problem", a.dump_problem},
                 {"blas", a.blas}});
}

Result<Answer> answer_from(const std::string& text) {
  return parsed<Answer>(text, [](const json& from) -> Result<Answer> {
    return Answer{.id = from.at("id").get<std::uint64_t>(),
                  .problem = from.at("problem").get<std::string>(),
                  .elements = from.at("elements").get<std::uint64_t>(),
                  .differing = from.at("differing").get<std::uint64_t>(),
                  .first = difference_from(from.at("first")),
                  .worst = difference_from(from.at("worst")),
                  .worst_limit = number_from(from.at("worst_limit")),
                  .shown = from.at("shown").get<std::string>(),
                  .folder = from.at("folder").get<std::string>(),
                  .dump_problem = from.at("dump_problem").get<std::string>(),
                  .blas = from.at("blas").get<std::string>()};
  });
}

bool send_message(int socket, const std::string& text, int with) {
  iovec data{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{.msg_name = nullptr,
                 .msg_namelen = 0,
                 .msg_iov = &data,
                 .msg_iovlen = 1,
                 .msg_control = nullptr,
                 .msg_controllen = 0,
                 .msg_flags = 0};
  if (with >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    *header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    std::memcpy(CMSG_DATA(header), &with, sizeof with);
  }
  ssize_t done;
  do done = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (done < 0 && errno == EINTR);
  return done == static_cast<ssize_t>(text.size());
}

std::optional<Message> receive_message(int socket, bool blocks, bool* is_closed) {
  Message out{std::string(kMostMessage, '\0'), Fd()};
  iovec data{out.text.data(), out.text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{.msg_name = nullptr,
                 .msg_namelen = 0,
                 .msg_iov = &data,
                 .msg_iovlen = 1,
                 .msg_control = control,
                 .msg_controllen = sizeof control,
                 .msg_flags = 0};
  ssize_t got;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (blocks ? 0 : MSG_DONTWAIT));
  while (got < 0 && errno == EINTR);
  if (is_closed) *is_closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  if (got <= 0) return std::nullopt;
  out.text.resize(static_cast<std::size_t>(got));
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    out.with = Fd(fd);
  }
  return out;
}

}  // namespace fade::blas
