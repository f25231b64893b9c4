// Published tables (CSV) as results, so that a prediction can be held against them.
#pragma once

#include <string>
#include <vector>

#include "experiments/results/csv.hpp"
#include "experiments/results/result.hpp"

namespace linerate::experiments {

/// "column=figure[:unit]": the cells of `column` are samples of `figure`. Without a unit the
/// column's suffix says it; an empty figure keeps the column as a note.
struct ColumnMapping {
  std::string column, figure, unit;
  bool operator==(const ColumnMapping&) const = default;
};

/// Reads "column=figure[:unit]". Throws CsvError.
ColumnMapping parse_mapping(const std::string& text);

struct CsvOptions {
  std::vector<ColumnMapping> map;        ///< overrides the rules below
  std::vector<std::string> id = {"id"};  ///< columns that name a test, joined by "-"
  std::string type;                      ///< of every test; empty: by the figures a row has
  bool derive = true;                    ///< elapsed times from bytes and rate, see below
};

/// A result with backend `published`, one test a row; rows of one name are repeats of one test.
///
/// A column is named `<what>_<unit>`, in units s, ms, us, ns, bit_s, kbit_s, mbit_s, gbit_s,
/// m_per_s, pps, kpps, mpps, per_s, percent, fraction, bytes, kib, mib. What it holds becomes:
/// - `throughput_*`, and `receiver_*` as a rate: `goodput`, since the tools that print such tables
///   count payload and stop at the receiver; `sender_*` as a rate: `sender.goodput`;
/// - `wire_rate_*`: `throughput`, our word for what is on the wire; `rate_*`: frame_rate in packets
///   a second, the rate at layer 2 beside `frame_bytes`, else goodput; `frames_per_s`: frame_rate;
/// - `sender_s`, `receiver_s`: `sender.elapsed`, `receiver.elapsed`; `*_calls`, `retransmits`:
///   counts; `latency_p50_us`: `latency.p50`; `sender_x_*` in general `sender.x`.
/// Byte sizes describe the setup, as do columns without a known unit: both become notes of the
/// test, "use: fit", unless mapped. An empty cell is absent. If two columns give one figure, the
/// cell with more digits is kept. `m_per_s` ("M"/s) is read as 10^6 B/s and a note says so.
///
/// With `derive`, 8 x `bytes` / rate replaces a printed time of the same end (`throughput_*` for
/// `elapsed_s`), being finer than a clock printed to 10 ms; if the two differ by more than the last
/// digit of the printed time, that time stays and a note says so.
///
/// Throws CsvError with line and column: no id, a cell that is no number or negative where a
/// number belongs, a mapping of a column that is not there or to an unknown unit.
Result import_csv(const std::string& text, const std::string& source,
                  const CsvOptions& options = {});

}  // namespace linerate::experiments
