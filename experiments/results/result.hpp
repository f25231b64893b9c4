// results/: what a prediction, a measurement and a published table have in common, and what is done
// with it: statistics, JSON, comparison, judgement, tables. Must not know which back end made it.
//
// Figures are a map from name to samples, so that compare, assertions and tolerances treat every
// figure alike.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace linerate::experiments {

enum class Better { higher, lower, neither };

/// One figure of a test. Values are in base units, spelled "bit/s", "s", "B", "1/s", "count",
/// "fraction" (0..1) or "EUR".
struct Figure {
  std::string unit;
  Better better = Better::higher;
  std::vector<double> samples;                       ///< sorted
  std::optional<std::pair<double, double>> ci95;     ///< of the median, order statistics
  std::optional<std::pair<double, double>> model95;  ///< from the intervals of parameters

  /// Middle sample, or the mean of the two middle ones. Needs at least one sample.
  double median() const;
  bool operator==(const Figure&) const = default;
};

/// The rate of one test at one layer and where the bytes of a full frame go.
struct LayerRate {
  std::string name;  ///< payload | l4 | l3 | an encapsulation's name | l2 | wire
  double rate = 0;   ///< bit/s
  std::int64_t bytes_per_frame = 0;
  bool operator==(const LayerRate&) const = default;
};

/// Every byte of one full frame, or of all frames of a datagram in fragments.
struct ByteLedger {
  struct Part {
    std::string name;  ///< "payload", "TCP header", …, "inter-frame gap"
    std::int64_t bytes = 0;
    bool operator==(const Part&) const = default;
  };
  std::int64_t mtu = 0;                     ///< largest IP packet inside the encapsulations
  std::optional<std::int64_t> max_segment;  ///< TCP's MSS, options not counted (RFC 6691)
  std::vector<Part> parts;  ///< payload, then what is around it, the innermost first
  bool operator==(const ByteLedger&) const = default;
};

struct HostUse {
  std::map<std::string, double> figures;  ///< "sender.calls", "segments_sent", "acks_sent", …
  bool operator==(const HostUse&) const = default;
};

/// What one queue let through.
struct QueueUse {
  std::int64_t frames_sent = 0;
  std::int64_t wire_bytes_sent = 0;
  std::map<std::string, std::int64_t> drops;  ///< by cause
  std::int64_t peak_queue = 0;                ///< bytes
  std::map<std::string, double> figures;      ///< what else it counted: "collisions",
                                              ///< "marked", "queue_delay.mean" (s), …
  bool operator==(const QueueUse&) const = default;
};

/// What a port sent, in all and by traffic class if it has classes.
struct PortCounters : QueueUse {
  std::map<std::string, QueueUse> classes;
  bool operator==(const PortCounters&) const = default;
};

struct Interval {
  double from = 0, to = 0;                ///< s
  std::map<std::string, double> figures;  ///< "goodput", "cwnd", "srtt", "retransmits", …
  bool operator==(const Interval&) const = default;
};

/// How far one resource is used, or how long a cause kept the sender waiting.
struct Limit {
  std::string resource;    ///< "link a-s1", "receive window", "nagle", …
  double utilisation = 0;  ///< fraction of capacity, or of the time, 0..1
  bool binds = false;
  std::string formula;    ///< with its figures
  std::string parameter;  ///< path of the parameter to change
  std::string origin;     ///< "file:line"
  /// Of a line: the rate on the wire, bit/s, at which the whole test would fill it. That is the
  /// line's own where every frame of the test crosses it, and more where only a share does.
  std::optional<double> capacity{};
  bool operator==(const Limit&) const = default;
};

struct TestResult {
  std::string name;  ///< "fwd" or "fwd[64B]"
  std::string type;
  std::map<std::string, Figure> figures;
  std::vector<LayerRate> layers;
  std::optional<ByteLedger> ledger;  ///< of the same frame
  std::map<std::string, HostUse> hosts;
  std::map<std::string, PortCounters> ports;  ///< "a:eth0"
  std::vector<Interval> intervals;
  std::vector<Limit> limits;  ///< ranked, the binding one first
  std::vector<std::string> notes;
  bool operator==(const TestResult&) const = default;
};

/// How faithfully a lab realised one element of the experiment.
struct Realisation {
  std::string element;  ///< "links.a-b.rate"
  std::string how;      ///< realised | approximated | ignored
  std::string why;
  bool operator==(const Realisation&) const = default;
};

struct Provenance {
  std::string experiment;  ///< resolved experiment, JSON text
  std::vector<std::string> set;
  std::uint64_t seed = 0;
  std::string version;
  bool operator==(const Provenance&) const = default;
};

enum class Backend { simulated, measured, published };

struct Result {
  Backend backend = Backend::simulated;
  bool complete = true;
  Provenance provenance;
  std::vector<TestResult> tests;
  std::vector<Realisation> realisation;            ///< measured results only
  std::map<std::string, std::string> environment;  ///< measured results only: kernel, CPU, …
  std::vector<std::string> notes;
  bool operator==(const Result&) const = default;
};

/// A figure from its samples: sorts them and adds the 95 % interval of the median by order
/// statistics (absent below six samples, where no pair of ranks covers 95 %).
Figure make_figure(std::string unit, Better better, std::vector<double> samples);

/// Jain's index of fairness: (sum x)^2 / (n sum x^2), 1 when all are equal, 1/n when one has
/// everything (Jain, Chiu, Hawe, 1984). Absent where nobody has anything.
std::optional<double> jains_index(const std::vector<double>& shares);

/// The usual direction of a figure by its name: rates and fairness are better higher; times, CPU,
/// loss, retransmits and cost lower; anything else neither.
Better usual_direction(const std::string& figure);

}  // namespace linerate::experiments
