#include "blas/service.hpp"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "blas/dump.hpp"

namespace fade::blas {
namespace {

using ::testing::HasSubstr;

// A product of two numbers, 3 x 4, and what came of it.
struct ServiceTest : ::testing::Test {
  const std::string folder = ::testing::TempDir() + "/fade-service-" + std::to_string(::getpid());
  Request request;

  void SetUp() override {
    std::filesystem::remove_all(folder);
    Product& p = request.product;
    p.m = p.n = p.k = 1;
    p.shape();
    for (Matrix* one : {&p.a, &p.b, &p.c, &p.d}) one->ld = one->stride = 1;
    request.id = 7;
    request.tolerance = default_tolerance(Element::F32);
    request.a = {0, 4};
    request.b = {4, 4};
    request.d = {8, 4};
    request.function = "rocblas_sgemm";
    request.call = 12;
    request.dump = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  static Fd file(float result) {
    Fd out(::memfd_create("test", MFD_CLOEXEC));
    const float values[] = {3, 4, result};
    EXPECT_EQ(::write(out.get(), values, sizeof values), static_cast<ssize_t>(sizeof values));
    return out;
  }
};

TEST_F(ServiceTest, MessagesGoThroughText) {
  request.product.beta = 0.5;
  request.c = {12, 4};
  const auto read = request_from(to_text(request));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(to_text(*read), to_text(request));
  const Answer answer{.id = 1, .problem = "p", .elements = 2, .differing = 1, .first = {1, 2, 3, NAN, 5}, .blas = "b"};
  const auto back = answer_from(to_text(answer));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(to_text(*back), to_text(answer));
  EXPECT_FALSE(request_from("{}"));
  EXPECT_FALSE(answer_from("nonsense"));
}

TEST_F(ServiceTest, ARightResultWritesNothing) {
  const Answer answer = Service(1).answer(request, file(12));
  EXPECT_EQ(answer.problem, "");
  EXPECT_EQ(answer.elements, 1u);
  EXPECT_EQ(answer.differing, 0u);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(ServiceTest, AWrongResultIsDumpedAsOftenAsAllowed) {
  Service service(1);
  const Answer answer = service.answer(request, file(13));
  EXPECT_EQ(answer.differing, 1u);
  EXPECT_EQ(answer.shown, "[0,0] 13 instead of 12");
  EXPECT_EQ(answer.folder, folder);
  const auto dump = read_dump(folder);
  ASSERT_TRUE(dump) << dump.error().text();
  EXPECT_EQ(dump->call, 12u);
  request.dump = folder + "-2";
  EXPECT_EQ(service.answer(request, file(13)).folder, "");
  EXPECT_FALSE(std::filesystem::exists(request.dump));
}

TEST_F(ServiceTest, MissingMatricesAreAProblem) {
  request.d = {8, 400};
  EXPECT_THAT(Service(0).answer(request, file(12)).problem, HasSubstr("missing"));
  EXPECT_THAT(Service(0).answer(request, Fd()).problem, HasSubstr("missing"));
}

TEST_F(ServiceTest, AnswersOverASocketUntilItIsClosed) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  Fd own(ends[0]), other(ends[1]);
  std::thread worker([&] { Service(0).run(other.get()); });
  ASSERT_TRUE(send_message(own.get(), to_text(request), file(13).get()));
  const auto message = receive_message(own.get(), true);
  ASSERT_TRUE(message);
  EXPECT_EQ(answer_from(message->text)->differing, 1u);
  ASSERT_TRUE(send_message(own.get(), "nonsense"));
  EXPECT_THAT(answer_from(receive_message(own.get(), true)->text)->problem, HasSubstr("cannot be read"));
  own.close();
  worker.join();
}

}  // namespace
}  // namespace fade::blas
