// Real files at both ends of a transfer, and processes that may use a share of a core.
#include <catch2/catch.hpp>
#include <filesystem>

#include "realnet/measure.hpp"
#include "realnet/traffic/transfer_file.hpp"
#include "tests/realnet/fixture.hpp"

namespace linerate::realnet {
namespace {

TEST_CASE("a file to send has the bytes it should have, and no more") {
  TransferFile file = TransferFile::to_read(Bytes(3'000'000));
  CHECK(file.seconds() == 0);  // writing it does not count
  std::vector<char> data(3'000'000);
  file.read(data.data(), data.size());
  CHECK(file.seconds() > 0);
  CHECK_THROWS_AS(file.read(data.data(), 1), std::system_error);
}

TEST_CASE("loopback: a put and a get as lftp times them") {
  auto test = stream("t", Time::seconds(1), Time{});
  test.type = experiments::TestType::file_transfer;
  test.bytes = Bytes(8'000'000);
  test.read = test.write = Bytes(32'768);
  test.clock = experiments::Clock::lftp;
  for (const auto direction : {experiments::Direction::forward, experiments::Direction::reverse}) {
    test.direction = direction;
    const auto result = measure(over_loopback(test));
    REQUIRE(result.complete);
    CHECK(result.tests[0].type == "file-transfer");
    // All of the file, over the time the client's program took.
    CHECK(figure(result, "goodput") * figure(result, "elapsed") == Approx(8 * 8e6));
    // What an end spends on its file is part of its time.
    CHECK(figure(result, "sender.file_time") > 0);
    CHECK(figure(result, "sender.file_time") <= figure(result, "sender.elapsed"));
    CHECK(figure(result, "receiver.file_time") <= figure(result, "receiver.elapsed") + 0.001);
  }
}

TEST_CASE("a process with a fifth of a core uses no more") {
  namespace files = std::filesystem;
  if (!is_root() || !files::exists("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")) {
    WARN("no root or no cpu controller of version 1: no group to limit a process in");
    return;
  }
  auto test = stream("t", Time::milliseconds(800), Time{});
  test.cpu_quota = 0.2;
  const auto result = measure(over_loopback(test));
  // 20 ms in every one of the periods of 100 ms that 800 ms can touch, and the tick that notices.
  CHECK(figure(result, "sender.cpu") <= 9 * 0.02 + 0.02);
  for (const auto& entry : files::directory_iterator("/sys/fs/cgroup/cpu")) {
    CHECK(entry.path().filename().string().find("linerate-quota-") == std::string::npos);
  }
}

}  // namespace
}  // namespace linerate::realnet
