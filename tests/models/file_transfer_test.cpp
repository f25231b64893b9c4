// File transfers: the page cache alone, and a program that is as fast as its slowest part.
#include "models/apps/file_transfer.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/parse.hpp"
#include "models/simulate.hpp"

using namespace linerate;
using namespace linerate::models;

namespace {

double goodput(const std::string& disk, const std::string& programs, const std::string& direction,
               const std::string& more = "bytes: 200MB") {
  const auto result = simulate(
      experiments::parse_experiment(R"(schema_version: 1
name: transfer
hosts:
  client: {profile: ideal, nics: {eth0: {profile: ideal}}, disk: )" +
                                        disk + R"(}
  server: {like: client}
links:
  - {endpoints: ["client:eth0", "server:eth0"], medium: 1000BASE-T}
tests:
  - {name: t, type: file-transfer, from: client, to: server, clock: lftp, direction: )" +
                                        direction + ", programs: " + programs + ", " + more + "}\n",
                                    "test.yaml"));
  return result.tests.front().figures.at("goodput").median();
}

// 1448 of 1538 wire bytes.
constexpr double kWire = 1e9 * 1448 / 1538;

}  // namespace

TEST_CASE("a page cache lets a burst pass and then as much as the disk") {
  PageCache cache(Bytes(1000), BitRate::bits_per_second(8'000'000));  // 1 byte a microsecond
  CHECK(cache.pass(Time{}, Bytes(1000)) == Time{});
  CHECK(cache.pass(Time{}, Bytes(100)) == Time::microseconds(100));
  // At 100 us the disk has caught up; the next one waits for its own time.
  CHECK(cache.pass(Time::microseconds(100), Bytes(50)) == Time::microseconds(150));
  // After a long rest all of it is free again, and not more.
  CHECK(cache.pass(Time::seconds(1), Bytes(1000)) == Time::seconds(1));
  CHECK(cache.pass(Time::seconds(1), Bytes(1)) > Time::seconds(1));
  PageCache memory(Bytes(1), std::nullopt);
  CHECK(memory.pass(Time{}, Bytes(1'000'000)) == Time{});
}

TEST_CASE("a transfer is as fast as the slowest of wire, program and disk") {
  // A put's clock leaves out what is still in the send buffer.
  CHECK(goodput("{}", "{}", "forward") == Approx(kWire).epsilon(0.01));
  CHECK(goodput("{read: 40MB/s}", "{}", "forward") == Approx(320e6).epsilon(0.01));
  // 64 MiB may be dirty before the disk counts.
  const double dirty = goodput("{write: 40MB/s, dirty_limit: 1MB}", "{}", "reverse");
  CHECK(dirty == Approx(320e6).epsilon(0.02));
  CHECK(goodput("{write: 40MB/s, dirty_limit: 1GB}", "{}", "reverse") ==
        Approx(kWire).epsilon(0.005));
  // A serial loop adds its parts.
  CHECK(goodput("{}", "{client: {rate: 50MB/s}}", "reverse") == Approx(400e6).epsilon(0.01));
  CHECK(goodput("{}", "{server: {rate: 50MB/s}}", "reverse") == Approx(400e6).epsilon(0.01));
}

TEST_CASE("a put ends when its last byte is in the socket buffer, a get when it is in the cache") {
  // Into a slow reader: the put's clock stops up to a send buffer early (docs/models.md).
  const std::string programs = "{server: {rate: 10MB/s}}";
  const double put = goodput("{}", programs, "forward", "bytes: 20MB, socket_buffer: 256KiB");
  CHECK(put > 80e6);
  CHECK(put < 80e6 * 1.06);
  const double get =
      goodput("{}", "{client: {rate: 10MB/s}}", "reverse", "bytes: 20MB, socket_buffer: 256KiB");
  CHECK(get == Approx(80e6).epsilon(0.005));
}
