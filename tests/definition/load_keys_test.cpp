// Keys that say when and how much a test sends, and what they refuse.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/definition/lint.hpp"
#include "tests/definition/parse_fixture.hpp"

using namespace linerate;
using namespace linerate::experiments;

namespace {

Sections with(const std::string& keys) {
  return {.tests = "\n  - {name: t, from: a, to: b, " + keys + "}"};
}

std::string error(const std::string& keys) {
  const Lines lines = errors_of(with(keys));
  return lines.empty() ? "" : lines.front();
}

bool says(const std::string& keys, const std::string& what) {
  const std::string line = error(keys);
  INFO(keys << " gives " << line);
  return line.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("arrivals, sizes, outstanding requests and barriers are read") {
  const Test flows = parse(with("type: tcp-stream, sizes: web-search, arrivals: {poisson: 100/s}, "
                                "start_spread: 1s, priority: 5"))
                         .tests.front();
  CHECK(flows.arrivals->poisson == 100);
  CHECK(flows.sizes->preset == "web-search");
  CHECK(flows.sizes->distribution.back() == SizePoint{Bytes(30'000'000), 1});
  CHECK(flows.start_spread == Time::seconds(1));
  CHECK(flows.priority == 5);

  const Test own = parse(with("type: request-response, outstanding: 8, "
                              "sizes: {distribution: [[1KiB, 0.1], [1MiB, 1.0]]}"))
                       .tests.front();
  CHECK(own.outstanding == 8);
  CHECK(own.sizes->distribution == std::vector<SizePoint>{{Bytes(1024), 0.1}, {Bytes(1048576), 1}});

  const Test mix = parse(with("type: udp-stream, frame_size: imix")).tests.front();
  CHECK(mix.imix);
  CHECK(parse(with("type: udp-stream, frame_size: 512B")).tests.front().datagram == Bytes(466));
}

TEST_CASE("what is read is written, and read again the same") {
  for (const char* keys :
       {"type: tcp-stream, sizes: data-mining, arrivals: {periodic: 10/s}",
        "type: raw-frames, frame_size: imix", "type: udp-stream, sizes: {exponential: 500B}",
        "type: request-response, arrivals: {poisson: 10/s}, outstanding: 3",
        "type: request-response, barrier: on, transactions: 3"}) {
    const Experiment once = parse(with(keys));
    const Experiment again = parse_experiment(once.resolved, "resolved");
    CHECK(again.resolved == once.resolved);
    CHECK(again.tests == once.tests);
  }
}

TEST_CASE("loads that do not fit say why, and what to write") {
  CHECK(error("type: tcp-stream, bytes: 1MB, arrivals: {}") ==
        "sample.yaml:9:71: tests.t.arrivals: how they arrive is one of `poisson` and `periodic`; "
        "write {poisson: 1000/s}");
  CHECK(says("type: tcp-stream, arrivals: {poisson: 10/s}", "flows that arrive must end too"));
  CHECK(says("type: tcp-stream, bytes: 1kB, arrivals: {poisson: 1000000/s}", "use a lower rate"));
  CHECK(says("type: raw-frames, frame_size: 64B, frame_rate: 5/s, arrivals: {poisson: 5/s}",
             "exclude each other"));
  CHECK(says("type: tcp-stream, bytes: 1MB, sizes: web-search", "exclude each other"));
  CHECK(says("type: tcp-stream, sizes: websearch", "did you mean `web-search`?"));
  CHECK(says("type: tcp-stream, sizes: {distribution: [[1MiB, 0.5], [1KiB, 1]]}", "must not fall"));
  CHECK(says("type: tcp-stream, sizes: {distribution: [[1MiB, 0.5]]}", "the last share is 0.5"));
  CHECK(says("type: tcp-stream, sizes: {distribution: [[1MiB]]}", "a size and a share"));
  CHECK(says("type: tcp-stream, sizes: {distribution: [[1MiB, 1]], exponential: 1kB}", "either"));
  CHECK(says("type: udp-stream, sizes: {distribution: [[9000B, 1]]}", "do not fit"));
  CHECK(says("type: raw-frames, sizes: {distribution: [[60B, 1]]}", "begin the distribution at"));
  CHECK(says("type: request-response, barrier: on, outstanding: 2", "exclude each other"));
  CHECK(says("type: tcp-stream, barrier: on", "it is for request-response"));
  CHECK(says("type: udp-stream, ip: 6, frame_size: imix", "has no room"));
  CHECK(says("type: raw-frames, frame_size: imixx", "is not a size"));
  CHECK(says("type: tcp-stream, priority: 8", "7"));
}

TEST_CASE("open arrivals beyond the line are a warning") {
  // 80 flows a second of 1.7 MB are 1.1 Gbit/s of payload, 60 are 0.82.
  const auto warnings = [](const char* rate) {
    return lint(parse(with(std::string("type: tcp-stream, sizes: web-search, ") +
                           "arrivals: {poisson: " + rate + "}")));
  };
  REQUIRE(warnings("80/s").size() == 1);
  CHECK(format(warnings("80/s").front()).find("piles up without end") != std::string::npos);
  CHECK(warnings("60/s").empty());
}

TEST_CASE("a distribution of one's own is a file of ./profiles") {
  // The file's directory has no profiles: the message says where it looked.
  CHECK(says("type: tcp-stream, sizes: my-own", "neither the catalog's sizes nor ./profiles"));
}
