#include "cli/serve/worker.hpp"

#include "base/deaf_thread.hpp"
#include "cli/serve/pipe.hpp"

namespace fade::serve {

Result<void> Worker::start() {
  auto started = start_deaf_thread([this] { work(); }, "answers requests");
  if (!started) return tl::unexpected(started.error());
  thread_ = std::move(*started);
  return {};
}

void Worker::add(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void Worker::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    waiting_.clear();
    if (current_) current_->cancelled = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Job> Worker::next() {
  std::unique_lock lock(mutex_);
  current_.reset();
  changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
  if (ends_) return nullptr;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  return current_;
}

void Worker::work() {
  while (const auto job = next()) {
    if (job->cancelled) continue;
    Answer answer = job->route->make(job->request, job->cancelled);
    const WriteParts write = std::move(answer.parts);
    const auto pipe = write ? std::make_shared<Pipe>() : nullptr;
    answer.pipe = pipe;
    if (!job->cancelled) job->done(std::move(answer));
    if (write)
      pipe->finish(write([&](std::string part) { return pipe->put(std::move(part), job->cancelled); }, job->cancelled));
  }
}

}  // namespace fade::serve
