// Trees of /proc/PID/fd and fdinfo as Linux' DRM drivers show them.
#include "sensors/drm_clients.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "sensors/sensor_watch.hpp"

namespace fade {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
constexpr char kPci[] = "0000:0a:00.0";

// What amdgpu of Linux 6.12 writes, shortened.
constexpr char kFile[] =
    "pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t733\ndrm-driver:\tamdgpu\ndrm-client-id:\t21\ndrm-pdev:\t0000:0a:00."
    "0\n"
    "pasid:\t32770\ndrm-total-vram:\t3 MiB\ndrm-shared-vram:\t0\ndrm-resident-vram:\t2048 KiB\ndrm-total-gtt:\t16 KiB\n"
    "drm-resident-gtt:\t8 KiB\ndrm-memory-vram:\t1 KiB\ndrm-engine-gfx:\t700 ns\ndrm-engine-compute:\t50 ns\n"
    "drm-engine-dma:\t9 ns\ndrm-engine-dec:\t4 ns\ndrm-engine-enc_1:\t3 ns\ndrm-engine-capacity-gfx:\t2\n";

TEST(DrmClientFile, HasMemoryAndEngines) {
  const auto file = read_drm_client(kFile);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->pci, kPci);
  EXPECT_EQ(file->client, 21);
  EXPECT_EQ(file->vram, 2048 * 1024) << "what is resident comes before what is only allocated";
  EXPECT_EQ(file->host, 8 * 1024);
  EXPECT_THAT(file->engine_ns, ElementsAre(700, 50, 9, 7));
}

TEST(DrmClientFile, OlderKernelsNameMemoryDifferently) {
  const auto file = read_drm_client(
      "drm-driver:\tamdgpu\ndrm-client-id:\t2\ndrm-pdev:\t0000:0a:00.0\ndrm-memory-vram:\t12 "
      "KiB\ndrm-memory-gtt:\t7\n");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->vram, 12 * 1024);
  EXPECT_EQ(file->host, 7) << "bytes have no unit";
}

TEST(DrmClientFile, NonsenseIsNone) {
  for (const char* text :
       {"", "drm-driver:\tamdgpu\n", "drm-driver:\ti915\ndrm-client-id:\t2\ndrm-pdev:\t0000:0a:00.0\n",
        "drm-driver:\tamdgpu\ndrm-client-id:\tx\ndrm-pdev:\t0000:0a:00.0\n", "pos:\t0\n"})
    EXPECT_FALSE(read_drm_client(text)) << text;
  const auto huge = read_drm_client(
      "drm-driver:\tamdgpu\ndrm-client-id:\t2\ndrm-pdev:\t0000:0a:00.0\ndrm-memory-vram:\t9223372036854775807 MiB\n"
      "drm-engine-gfx:\t-5 ns\ndrm-engine-\ndrm-engine-x:\t\n");
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->vram, 0);
  EXPECT_THAT(huge->engine_ns, ElementsAre(0, 0, 0, 0));
}

class DrmTree : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::filesystem::path folder(int pid, const char* name) const {
    const auto out = root_ / std::to_string(pid) / name;
    std::filesystem::create_directories(out);
    return out;
  }
  void open(int pid, int fd, const std::string& target) const {
    const auto link = folder(pid, "fd") / std::to_string(fd);
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
  }
  void tell(int pid, int fd, const std::string& text) const {
    std::ofstream(folder(pid, "fdinfo") / std::to_string(fd)) << text;
  }
  void client(int pid, int fd, int id, int kib, int gfx_ns, const char* pci = kPci) const {
    open(pid, fd, "/dev/dri/renderD128");
    tell(pid, fd,
         "drm-driver:\tamdgpu\ndrm-client-id:\t" + std::to_string(id) + "\ndrm-pdev:\t" + pci + "\ndrm-memory-vram:\t" +
             std::to_string(kib) + " KiB\ndrm-engine-gfx:\t" + std::to_string(gfx_ns) + " ns\n");
  }
  static GpuClient held(int pid, std::int64_t kib, std::int64_t gfx_ns = 0) {
    return {.pid = pid, .is_there = true, .vram = kib * 1024, .engine_ns = {gfx_ns}};
  }

  const std::filesystem::path root_ = [] {
    std::string name = testing::TempDir() + "fade-drm-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
  DrmClients clients_{ProcFiles(root_.string())};
};

TEST_F(DrmTree, AClientCountsOnceWhateverItsNumbers) {
  client(100, 3, 1, 10, 0);
  client(100, 4, 1, 10, 0);  // dup()
  client(100, 5, 2, 7, 0);
  client(200, 3, 1, 10, 0);  // inherited from 100
  client(200, 9, 1, 5, 0, "0000:0b:00.0");
  clients_.look_for(std::array{Pid::of(100), Pid::of(200)});
  EXPECT_THAT(clients_.read(kPci), ElementsAre(held(100, 17)));
  EXPECT_THAT(clients_.read("0000:0b:00.0"), ElementsAre(held(200, 5)));
}

TEST_F(DrmTree, TimesOfEnginesAreSinceTheLookBefore) {
  client(100, 3, 1, 10, 5000);
  clients_.look_for(std::array{Pid::of(100)});
  EXPECT_THAT(clients_.read(kPci), ElementsAre(held(100, 10, 0))) << "of the time before nothing is known";
  client(100, 3, 1, 10, 5700);
  EXPECT_THAT(clients_.read(kPci), ElementsAre(held(100, 10, 700)));
}

TEST_F(DrmTree, ANumberOfAnotherFileIsForgotten) {
  client(100, 3, 1, 10, 0);
  clients_.look_for(std::array{Pid::of(100)});
  EXPECT_THAT(clients_.read(kPci), ElementsAre(held(100, 10)));
  tell(100, 3, "pos:\t0\n");
  EXPECT_THAT(clients_.read(kPci), IsEmpty());
  client(100, 3, 1, 10, 0);
  EXPECT_THAT(clients_.read(kPci), IsEmpty()) << "it was not looked for since";
}

TEST_F(DrmTree, NewFilesAreLookedForSeldom) {
  open(100, 3, "/tmp/x");
  std::vector<int> found;
  for (int call = 0; call < 40; ++call) {
    client(100, 4, 1, 10, 0);
    clients_.look_for(std::array{Pid::of(100)});
    if (!clients_.read(kPci).empty()) found.push_back(call);
    tell(100, 4, "pos:\t0\n");
    clients_.read(kPci);  // forgets it
  }
  EXPECT_THAT(found, ElementsAre(0, 1, 3, 7, 15, 31));
}

TEST_F(DrmTree, AProcessThatHasEndedIsForgotten) {
  client(100, 3, 1, 10, 0);
  clients_.look_for(std::array{Pid::of(100)});
  clients_.look_for(std::array<Pid, 0>{});
  EXPECT_THAT(clients_.read(kPci), IsEmpty());
  clients_.look_for(std::array{Pid::of(4711)});
  EXPECT_THAT(clients_.read(kPci), IsEmpty()) << "there is no such process";
}

TEST_F(DrmTree, OnlyFilesOfTheDriverAreRead) {
  client(100, 3, 1, 10, 0);
  open(100, 3, "/dev/null");
  clients_.look_for(std::array{Pid::of(100)});
  EXPECT_THAT(clients_.read(kPci), IsEmpty());
}

TEST_F(DrmTree, ASampleHasTheClientsOfItsGpu) {
  client(100, 3, 1, 10, 0);
  SensorWatch watch({GpuSensors(root_.string(), kPci, 0, 1)}, SessionClock{}, ProcFiles(root_.string()));
  watch.watch({Pid::of(100)});
  ASSERT_TRUE(watch.start());
  std::vector<GpuSample> samples;
  while ((samples = watch.take()).empty()) std::this_thread::yield();
  EXPECT_THAT(samples.front().clients, ElementsAre(held(100, 10)));
}

}  // namespace
}  // namespace fade
