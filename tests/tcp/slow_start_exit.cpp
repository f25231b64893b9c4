// HyStart++ (RFC 9406) and Vegas: windows led by the round trip instead of by losses.
#include <catch2/catch.hpp>

#include "models/tcp/congestion.hpp"
#include "models/tcp/hystart_plus_plus.hpp"
#include "models/tcp/vegas.hpp"

namespace linerate::tests {
namespace {

using experiments::HyStart;
using models::tcp::CongestionAlgorithm;
using models::tcp::CongestionWindow;
using models::tcp::HystartPlusPlus;
using models::tcp::Sequence;

Time ms(std::int64_t value) { return Time::milliseconds(value); }

/// Rounds of ten samples of one RTT each.
class Rounds {
 public:
  explicit Rounds(HystartPlusPlus& exit) : exit_(exit) {}
  /// Whether slow start ended in this round.
  bool round(Time rtt) {
    bool over = false;
    for (int i = 0; i < 10; ++i) over = exit_.on_sample(rtt, ++una_, next_) || over;
    next_ += 10;
    return over;
  }

 private:
  HystartPlusPlus& exit_;
  Sequence una_ = 0, next_ = 10;
};

TEST_CASE("RFC 9406 4.2: a steady round trip keeps slow start going", "[hystart]") {
  HystartPlusPlus exit;
  Rounds rounds(exit);
  for (int i = 0; i < 20; ++i) CHECK_FALSE(rounds.round(ms(40)));
  CHECK(exit.growth(8, false) == 8);
}

TEST_CASE("RFC 9406 4.2: L = 8 limits bursts unless the sender paces", "[hystart]") {
  HystartPlusPlus exit;
  CHECK(exit.growth(20, false) == 8);
  CHECK(exit.growth(20, true) == 20);
}

TEST_CASE("RFC 9406 4.2: a round trip above the threshold slows growth to a quarter", "[hystart]") {
  // Threshold: an eighth of the last round's minimum, between 4 and 16 ms.
  struct Case {
    std::int64_t before, after;
    bool slows;
  };
  for (const Case& c : {Case{16, 19, false}, Case{16, 20, true}, Case{80, 89, false},
                        Case{80, 90, true}, Case{400, 415, false}, Case{400, 416, true}}) {
    CAPTURE(c.before, c.after);
    HystartPlusPlus exit;
    Rounds rounds(exit);
    rounds.round(ms(c.before));
    rounds.round(ms(c.before));
    rounds.round(ms(c.after));
    CHECK(exit.growth(8, false) == (c.slows ? 2 : 8));
  }
}

TEST_CASE("RFC 9406 4.2: slow start ends after five rounds of it", "[hystart]") {
  HystartPlusPlus exit;
  Rounds rounds(exit);
  rounds.round(ms(40));
  rounds.round(ms(40));
  for (int i = 0; i < 5; ++i) CHECK_FALSE(rounds.round(ms(60)));
  CHECK(rounds.round(ms(60)));
}

TEST_CASE("RFC 9406 4.2: a delay that goes away resumes slow start", "[hystart]") {
  HystartPlusPlus exit;
  Rounds rounds(exit);
  rounds.round(ms(40));
  rounds.round(ms(40));
  rounds.round(ms(60));
  CHECK(exit.growth(4, false) == 1);
  rounds.round(ms(41));
  CHECK(exit.growth(4, false) == 4);
}

/// One ACK a segment for a round trip, all with the same RTT.
void round_trip(CongestionWindow& window, Time rtt, Sequence& una) {
  const std::int64_t flight = window.size();
  const Sequence next = una + static_cast<Sequence>(flight);
  for (std::int64_t i = 0; i < flight; ++i) {
    ++una;
    window.on_sample(Time{}, {rtt, una, next + static_cast<Sequence>(i), false, 0});
    window.grow(Time{}, 1);
  }
}

TEST_CASE("Vegas keeps two to four segments queued", "[vegas]") {
  // A path of 50 segments of 20 ms: what is above is queued and adds to the round trip.
  CongestionWindow window({CongestionAlgorithm::vegas, HyStart::off, 10, ms(4)});
  constexpr std::int64_t kPath = 50;
  Sequence una = 0;
  for (int i = 0; i < 200; ++i) {
    const std::int64_t flight = std::max(window.size(), kPath);
    round_trip(window, Time::microseconds(20'000 * flight / kPath), una);
  }
  CHECK(window.size() - kPath >= 2);
  CHECK(window.size() - kPath <= 4);
}

}  // namespace
}  // namespace linerate::tests
