#include "cli/serve/connection.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>

#include "cli/serve/peer.hpp"
#include "web/head.hpp"

namespace fade::serve {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLargestHead = 32 << 10;  // bytes; a statement of the SQL box is in the address
constexpr auto kReadTime = 30s, kWriteTime = 120s;
constexpr auto kStrangersTime = 2s;  // another user must not hold many connections

// Anyone may bind other addresses of 127/8, with a port that the user also has.
bool is_own(const tcp::socket& socket) {
  Failure failure;
  const auto theirs = socket.remote_endpoint(failure);
  const auto ours = failure ? tcp::endpoint() : socket.local_endpoint(failure);
  return !failure && theirs.address() == asio::ip::address_v4::loopback() &&
         is_from_own_user({theirs.port(), ours.port()});
}

template <class Fields>
std::vector<std::string_view> all_of(const Fields& fields, http::field name) {
  std::vector<std::string_view> out;
  const auto [first, last] = fields.equal_range(name);
  for (auto at = first; at != last; ++at) out.push_back(web::view(at->value()));
  return out;
}

Answer refusal(const Refusal& why) {
  Answer out;
  out.status = why.status;
  out.type = "text/plain; charset=utf-8";
  out.body = web::view(http::obsolete_reason(static_cast<http::status>(why.status)));
  out.body += '\n';
  out.location = why.location;
  return out;
}

template <class Body>
void set_headers(http::response<Body>& response, const Answer& answer) {
  response.set(http::field::content_type, answer.type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  response.set("Content-Security-Policy", answer.policy);
  if (answer.status == 405) response.set(http::field::allow, "GET");
  if (!answer.file.empty())
    response.set(http::field::content_disposition, "attachment; filename=\"" + answer.file + "\"");
  if (!answer.location.empty()) response.set(http::field::location, answer.location);
}

}  // namespace

Connection::Connection(tcp::socket socket, const Site& site)
    : exchange_(std::move(socket), kLargestHead), site_(site), peer_is_user_(is_own(exchange_.stream().socket())) {}

void Connection::start() { read(); }

void Connection::close() {
  if (job_) job_->cancelled = true;
  job_.reset();
  if (pipe_) pipe_->close();
  exchange_.close();
}

void Connection::read() {
  exchange_.read_head(peer_is_user_ ? kReadTime : kStrangersTime, [self = shared_from_this()](const Failure& failure) {
    if (!failure) return self->handle();
    self->keeps_open_ = false;
    if (web::is_malformed(failure)) return self->write(refusal({web::status_of(failure), {}}));
    self->close();
  });
}

// A request with a body is answered without reading it, and the connection ends.
void Connection::handle() {
  const auto& head = exchange_.head();
  const std::string_view method = web::view(head.method_string()), target = web::view(head.target());
  keeps_open_ = head.keep_alive() && !exchange_.has_body();
  auto request = site_.guard.check(
      {method, target, all_of(head, http::field::host), all_of(head, http::field::origin), peer_is_user_});
  if (!request) {
    keeps_open_ = false;
    return write(refusal(request.error()));
  }
  const auto route = std::ranges::find(site_.routes, std::string_view(request->name), &Route::name);
  if (route == site_.routes.end()) return write(refusal({404, {}}));
  submit(*route, std::move(*request));
}

void Connection::submit(const Route& route, Request request) {
  exchange_.stream().expires_never();
  job_ = std::make_shared<Job>();
  job_->route = &route;
  job_->request = std::move(request);
  job_->done = [self = shared_from_this(), job = job_.get()](Answer answer) {
    asio::post(self->exchange_.stream().get_executor(), [self, job, answer = std::move(answer)]() mutable {
      if (self->job_.get() != job) return;                // the browser is gone
      self->exchange_.stream().socket().cancel();         // ends watch()
      if (answer.pipe) return self->write_parts(answer);  // the job goes on
      self->job_.reset();
      self->write(std::move(answer));
    });
  };
  watch();
  site_.lanes[route.lane]->add(job_);
}

void Connection::watch() {
  exchange_.stream().socket().async_wait(
      tcp::socket::wait_read, [self = shared_from_this(), job = job_](const Failure& failure) {
        if (failure || self->job_ != job) return;
        char byte = 0;
        const auto n = ::recv(self->exchange_.stream().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n <= 0) self->close();  // else: the next request came early
      });
}

void Connection::write(Answer answer) {
  response_.emplace(static_cast<http::status>(answer.status), 11);
  set_headers(*response_, answer);
  response_->body() = std::move(answer.body);
  response_->keep_alive(keeps_open_);
  response_->prepare_payload();
  exchange_.write(*response_, kWriteTime,
                  [self = shared_from_this()](const Failure& failure) { self->wrote(failure); });
}

// In chunks, because its length is not known (RFC 9112, 7.1).
void Connection::write_parts(const Answer& answer) {
  pipe_ = answer.pipe;
  head_.emplace(static_cast<http::status>(answer.status), 11);
  set_headers(*head_, answer);
  head_->keep_alive(keeps_open_);
  head_->chunked(true);
  serializer_.emplace(*head_);
  exchange_.stream().expires_after(kWriteTime);
  http::async_write_header(exchange_.stream(), *serializer_,
                           [self = shared_from_this()](const Failure& failure, std::size_t) {
                             if (failure) return self->close();
                             self->write_next();
                           });
}

// An answer that is not whole ends without the last chunk, so the browser knows.
void Connection::write_next() {
  auto taken = pipe_->take([self = shared_from_this()] {
    asio::post(self->exchange_.stream().get_executor(), [self] {
      if (self->pipe_) self->write_next();
    });
  });
  if (!taken.part && !taken.ended) return exchange_.stream().expires_never();
  if (taken.ended && !taken.whole) return close();
  part_ = taken.part ? std::move(*taken.part) : std::string();
  exchange_.stream().expires_after(kWriteTime);
  const auto next = [self = shared_from_this(), ended = taken.ended](const Failure& failure, std::size_t) {
    if (failure) return self->close();
    if (!ended) return self->write_next();
    self->pipe_.reset();
    self->job_.reset();
    self->wrote(failure);
  };
  if (taken.ended) asio::async_write(exchange_.stream(), http::make_chunk_last(), next);
  else asio::async_write(exchange_.stream(), http::make_chunk(asio::buffer(part_)), next);
}

void Connection::wrote(const Failure& failure) {
  response_.reset();
  serializer_.reset();
  head_.reset();
  if (failure || !keeps_open_) return close();
  read();
}

}  // namespace fade::serve
