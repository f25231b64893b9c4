#include "experiments/definition/media.hpp"

#include <algorithm>
#include <iterator>

namespace linerate::experiments {
namespace {

constexpr double kSpeedOfLight = 299'792'458;  // m/s, exact by definition of the metre

// Velocity factors. IEEE 802.3 table 13-1 for the coaxial media and 10BASE-T.
constexpr double kThickCoax = 0.77;
constexpr double kThinCoax = 0.65;
constexpr double kVoicePair = 0.59;
// ANSI/TIA-568 and ISO/IEC 11801 allow 534 + 36/sqrt(MHz) ns per 100 m of category 5 to 8 cable:
// 5.376 ns/m at 100 MHz. Good cable is up to a tenth faster.
constexpr double kDataPair = 0.62;
// Group index 1.468 of ITU-T G.652 fibre and 1.482 of graded-index fibre (data sheets).
constexpr double kSingleMode = 1 / 1.468;
constexpr double kMultiMode = 1 / 1.482;
// Twin-axial cable and boards: polyethylene foam to FR-4, an engineering value.
constexpr double kTwinax = 0.70;
constexpr double kBackplane = 0.50;

enum Duplexes { kHalfOnly, kBoth, kFullOnly };

constexpr Medium medium(std::string_view name, std::int64_t megabits, double velocity_factor,
                        double max_length_m, Duplexes duplexes, std::string_view clause) {
  return {name,
          BitRate::bits_per_second(megabits * 1'000'000),
          velocity_factor,
          max_length_m,
          duplexes != kFullOnly,
          duplexes != kHalfOnly,
          clause};
}

// Reaches are those of the clause for the best cable it lists (OM4 for multi-mode since 40G). Half
// duplex ends at 1 Gbit/s (clause 35); from 2.5 Gbit/s on the MAC is full duplex only. An entry
// without a PMD ("100GBASE-R") is for links whose optics do not matter.
// clang-format off
constexpr Medium kMedia[] = {
    medium("10BASE5", 10, kThickCoax, 500, kHalfOnly, "clause 8"),
    medium("10BASE2", 10, kThinCoax, 185, kHalfOnly, "clause 10"),
    medium("10BASE-T", 10, kVoicePair, 100, kBoth, "clause 14"),
    medium("10BASE-FL", 10, kMultiMode, 2'000, kBoth, "clause 18"),
    medium("10BASE-T1L", 10, kDataPair, 1'000, kFullOnly, "clause 146"),
    medium("10BASE-T1S", 10, kDataPair, 25, kBoth, "clause 147"),

    medium("100BASE-T4", 100, kVoicePair, 100, kHalfOnly, "clause 23"),
    medium("100BASE-TX", 100, kDataPair, 100, kBoth, "clause 25"),
    medium("100BASE-FX", 100, kMultiMode, 2'000, kBoth, "clause 26"),
    medium("100BASE-T2", 100, kVoicePair, 100, kBoth, "clause 32"),
    medium("100BASE-LX10", 100, kSingleMode, 10'000, kFullOnly, "clause 58"),
    medium("100BASE-BX10", 100, kSingleMode, 10'000, kFullOnly, "clause 58"),
    medium("100BASE-T1", 100, kDataPair, 15, kFullOnly, "clause 96"),

    medium("1000BASE-SX", 1'000, kMultiMode, 550, kBoth, "clause 38"),
    medium("1000BASE-LX", 1'000, kSingleMode, 5'000, kBoth, "clause 38"),
    medium("1000BASE-CX", 1'000, kTwinax, 25, kBoth, "clause 39"),
    medium("1000BASE-T", 1'000, kDataPair, 100, kBoth, "clause 40"),
    medium("1000BASE-LX10", 1'000, kSingleMode, 10'000, kFullOnly, "clause 59"),
    medium("1000BASE-BX10", 1'000, kSingleMode, 10'000, kFullOnly, "clause 59"),
    medium("1000BASE-KX", 1'000, kBackplane, 1, kFullOnly, "clause 70"),
    medium("1000BASE-T1", 1'000, kDataPair, 15, kFullOnly, "clause 97"),
    medium("1000BASE-ZX", 1'000, kSingleMode, 70'000, kFullOnly, "vendors' agreement"),

    medium("2.5GBASE-T", 2'500, kDataPair, 100, kFullOnly, "clause 126"),
    medium("2.5GBASE-KX", 2'500, kBackplane, 1, kFullOnly, "clause 128"),
    medium("5GBASE-T", 5'000, kDataPair, 100, kFullOnly, "clause 126"),
    medium("5GBASE-KR", 5'000, kBackplane, 1, kFullOnly, "clause 130"),

    medium("10GBASE-R", 10'000, kSingleMode, 40'000, kFullOnly, "clause 49"),
    medium("10GBASE-SR", 10'000, kMultiMode, 400, kFullOnly, "clause 52"),
    medium("10GBASE-LR", 10'000, kSingleMode, 10'000, kFullOnly, "clause 52"),
    medium("10GBASE-ER", 10'000, kSingleMode, 40'000, kFullOnly, "clause 52"),
    medium("10GBASE-LX4", 10'000, kSingleMode, 10'000, kFullOnly, "clause 53"),
    medium("10GBASE-CX4", 10'000, kTwinax, 15, kFullOnly, "clause 54"),
    medium("10GBASE-T", 10'000, kDataPair, 100, kFullOnly, "clause 55"),
    medium("10GBASE-LRM", 10'000, kMultiMode, 220, kFullOnly, "clause 68"),
    medium("10GBASE-KX4", 10'000, kBackplane, 1, kFullOnly, "clause 71"),
    medium("10GBASE-KR", 10'000, kBackplane, 1, kFullOnly, "clause 72"),
    medium("10GBASE-CR", 10'000, kTwinax, 7, kFullOnly, "SFF-8431 annex E (SFP+ direct attach)"),
    medium("10GBASE-ZR", 10'000, kSingleMode, 80'000, kFullOnly, "vendors' agreement"),

    medium("25GBASE-R", 25'000, kSingleMode, 40'000, kFullOnly, "clause 107"),
    medium("25GBASE-CR", 25'000, kTwinax, 5, kFullOnly, "clause 110"),
    medium("25GBASE-CR-S", 25'000, kTwinax, 3, kFullOnly, "clause 110"),
    medium("25GBASE-KR", 25'000, kBackplane, 1, kFullOnly, "clause 111"),
    medium("25GBASE-SR", 25'000, kMultiMode, 100, kFullOnly, "clause 112"),
    medium("25GBASE-T", 25'000, kDataPair, 30, kFullOnly, "clause 113"),
    medium("25GBASE-LR", 25'000, kSingleMode, 10'000, kFullOnly, "clause 114"),
    medium("25GBASE-ER", 25'000, kSingleMode, 40'000, kFullOnly, "clause 114"),

    medium("40GBASE-R", 40'000, kSingleMode, 40'000, kFullOnly, "clause 82"),
    medium("40GBASE-KR4", 40'000, kBackplane, 1, kFullOnly, "clause 84"),
    medium("40GBASE-CR4", 40'000, kTwinax, 7, kFullOnly, "clause 85"),
    medium("40GBASE-SR4", 40'000, kMultiMode, 150, kFullOnly, "clause 86"),
    medium("40GBASE-LR4", 40'000, kSingleMode, 10'000, kFullOnly, "clause 87"),
    medium("40GBASE-ER4", 40'000, kSingleMode, 40'000, kFullOnly, "clause 87"),
    medium("40GBASE-FR", 40'000, kSingleMode, 2'000, kFullOnly, "clause 89"),
    medium("40GBASE-T", 40'000, kDataPair, 30, kFullOnly, "clause 113"),

    medium("50GBASE-R", 50'000, kSingleMode, 40'000, kFullOnly, "clause 133"),
    medium("50GBASE-CR", 50'000, kTwinax, 3, kFullOnly, "clause 136"),
    medium("50GBASE-KR", 50'000, kBackplane, 1, kFullOnly, "clause 137"),
    medium("50GBASE-SR", 50'000, kMultiMode, 100, kFullOnly, "clause 138"),
    medium("50GBASE-FR", 50'000, kSingleMode, 2'000, kFullOnly, "clause 139"),
    medium("50GBASE-LR", 50'000, kSingleMode, 10'000, kFullOnly, "clause 139"),
    medium("50GBASE-ER", 50'000, kSingleMode, 40'000, kFullOnly, "clause 139"),

    medium("100GBASE-R", 100'000, kSingleMode, 40'000, kFullOnly, "clause 82"),
    medium("100GBASE-CR10", 100'000, kTwinax, 7, kFullOnly, "clause 85"),
    medium("100GBASE-SR10", 100'000, kMultiMode, 150, kFullOnly, "clause 86"),
    medium("100GBASE-LR4", 100'000, kSingleMode, 10'000, kFullOnly, "clause 88"),
    medium("100GBASE-ER4", 100'000, kSingleMode, 40'000, kFullOnly, "clause 88"),
    medium("100GBASE-CR4", 100'000, kTwinax, 5, kFullOnly, "clause 92"),
    medium("100GBASE-KR4", 100'000, kBackplane, 1, kFullOnly, "clause 93"),
    medium("100GBASE-KP4", 100'000, kBackplane, 1, kFullOnly, "clause 94"),
    medium("100GBASE-SR4", 100'000, kMultiMode, 100, kFullOnly, "clause 95"),
    medium("100GBASE-CR2", 100'000, kTwinax, 3, kFullOnly, "clause 136"),
    medium("100GBASE-KR2", 100'000, kBackplane, 1, kFullOnly, "clause 137"),
    medium("100GBASE-SR2", 100'000, kMultiMode, 100, kFullOnly, "clause 138"),
    medium("100GBASE-DR", 100'000, kSingleMode, 500, kFullOnly, "clause 140"),
    medium("100GBASE-FR1", 100'000, kSingleMode, 2'000, kFullOnly, "clause 140"),
    medium("100GBASE-LR1", 100'000, kSingleMode, 10'000, kFullOnly, "clause 140"),
    medium("100GBASE-ZR", 100'000, kSingleMode, 80'000, kFullOnly, "clause 154"),
    medium("100GBASE-CR1", 100'000, kTwinax, 2, kFullOnly, "clause 162"),
    medium("100GBASE-KR1", 100'000, kBackplane, 1, kFullOnly, "clause 163"),
    medium("100GBASE-VR1", 100'000, kMultiMode, 50, kFullOnly, "clause 167"),
    medium("100GBASE-SR1", 100'000, kMultiMode, 100, kFullOnly, "clause 167"),

    medium("200GBASE-R", 200'000, kSingleMode, 40'000, kFullOnly, "clause 119"),
    medium("200GBASE-DR4", 200'000, kSingleMode, 500, kFullOnly, "clause 121"),
    medium("200GBASE-FR4", 200'000, kSingleMode, 2'000, kFullOnly, "clause 122"),
    medium("200GBASE-LR4", 200'000, kSingleMode, 10'000, kFullOnly, "clause 122"),
    medium("200GBASE-ER4", 200'000, kSingleMode, 40'000, kFullOnly, "clause 122"),
    medium("200GBASE-CR4", 200'000, kTwinax, 3, kFullOnly, "clause 136"),
    medium("200GBASE-KR4", 200'000, kBackplane, 1, kFullOnly, "clause 137"),
    medium("200GBASE-SR4", 200'000, kMultiMode, 100, kFullOnly, "clause 138"),
    medium("200GBASE-CR2", 200'000, kTwinax, 2, kFullOnly, "clause 162"),
    medium("200GBASE-KR2", 200'000, kBackplane, 1, kFullOnly, "clause 163"),
    medium("200GBASE-VR2", 200'000, kMultiMode, 50, kFullOnly, "clause 167"),
    medium("200GBASE-SR2", 200'000, kMultiMode, 100, kFullOnly, "clause 167"),

    medium("400GBASE-R", 400'000, kSingleMode, 40'000, kFullOnly, "clause 119"),
    medium("400GBASE-FR8", 400'000, kSingleMode, 2'000, kFullOnly, "clause 122"),
    medium("400GBASE-LR8", 400'000, kSingleMode, 10'000, kFullOnly, "clause 122"),
    medium("400GBASE-ER8", 400'000, kSingleMode, 40'000, kFullOnly, "clause 122"),
    medium("400GBASE-SR16", 400'000, kMultiMode, 100, kFullOnly, "clause 123"),
    medium("400GBASE-DR4", 400'000, kSingleMode, 500, kFullOnly, "clause 124"),
    medium("400GBASE-SR8", 400'000, kMultiMode, 100, kFullOnly, "clause 138"),
    medium("400GBASE-SR4.2", 400'000, kMultiMode, 150, kFullOnly, "clause 150"),
    medium("400GBASE-FR4", 400'000, kSingleMode, 2'000, kFullOnly, "clause 151"),
    medium("400GBASE-LR4-6", 400'000, kSingleMode, 6'000, kFullOnly, "clause 151"),
    medium("400GBASE-CR4", 400'000, kTwinax, 2, kFullOnly, "clause 162"),
    medium("400GBASE-KR4", 400'000, kBackplane, 1, kFullOnly, "clause 163"),
    medium("400GBASE-VR4", 400'000, kMultiMode, 50, kFullOnly, "clause 167"),
    medium("400GBASE-SR4", 400'000, kMultiMode, 100, kFullOnly, "clause 167"),

    medium("800GBASE-R", 800'000, kSingleMode, 2'000, kFullOnly, "clause 172"),
    medium("800GBASE-DR8", 800'000, kSingleMode, 500, kFullOnly, "clause 124"),
    medium("800GBASE-DR8-2", 800'000, kSingleMode, 2'000, kFullOnly, "clause 124"),
    medium("800GBASE-CR8", 800'000, kTwinax, 2, kFullOnly, "clause 162"),
    medium("800GBASE-KR8", 800'000, kBackplane, 1, kFullOnly, "clause 163"),
    medium("800GBASE-VR8", 800'000, kMultiMode, 50, kFullOnly, "clause 167"),
    medium("800GBASE-SR8", 800'000, kMultiMode, 100, kFullOnly, "clause 167"),
};
// clang-format on

}  // namespace

const Medium* find_medium(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMedia), std::end(kMedia),
                                   [&](const Medium& candidate) { return candidate.name == name; });
  return found == std::end(kMedia) ? nullptr : found;
}

std::vector<std::string> medium_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kMedia));
  for (const Medium& each : kMedia) names.emplace_back(each.name);
  return names;
}

Time propagation_delay(const Medium& medium, double length_m) {
  return Time::from_seconds(length_m / (medium.velocity_factor * kSpeedOfLight));
}

}  // namespace linerate::experiments
