#include "experiments/studies/calibration/null_models.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "experiments/results/compare.hpp"
#include "experiments/studies/calibration/calibrate_cells.hpp"
#include "experiments/studies/calibration/least_squares.hpp"

namespace linerate::experiments {

namespace {

using Eigen::Index;

/// How many bytes one operation of a cell moves, and the time of one by its figure: a rate of
/// payload is that of one write, a rate of frames that of a frame. Nothing for figures that are no
/// rate and no time.
struct Operation {
  double bytes = 0;
  bool rate = false;  ///< the figure is `scale` / time
  double scale = 1;

  double time(double value) const { return rate ? scale / value : value; }
  double value(double time) const { return rate ? scale / time : time; }
};

/// With FCS; 0 where a test has no frames of one size.
double frame_bytes(const CalibrationCell& cell, const Test& test) {
  const std::size_t open = cell.test.find('[');
  if (open != std::string::npos) return std::stod("0" + cell.test.substr(open + 1));
  return test.frame_sizes.size() != 1 ? 0 : static_cast<double>(test.frame_sizes.front().count());
}

std::optional<Operation> operation_of(const CalibrationCell& cell, const Test& test,
                                      double payload_bits) {
  const double request = static_cast<double>(test.request.count() + test.response.count());
  if (cell.unit == "s") {
    if (cell.figure.starts_with("latency")) return Operation{request, false, 1};
    if (payload_bits > 0) return Operation{payload_bits / 8, false, 1};
    return std::nullopt;
  }
  if (cell.figure == "transaction_rate") return Operation{request, true, 1};
  if (cell.figure.ends_with("frame_rate")) {
    const double bytes = frame_bytes(cell, test);
    return bytes > 0 ? std::optional(Operation{bytes, true, 1}) : std::nullopt;
  }
  if (cell.unit != "bit/s") return std::nullopt;
  const bool stream = test.type == TestType::tcp_stream || test.type == TestType::file_transfer;
  const double write = static_cast<double>((stream ? test.write : test.datagram).count());
  return Operation{write, true, 8 * write};
}

using Points = std::vector<std::pair<Operation, double>>;

/// Base and slope, neither negative, that fit the times of the cells best by relative error.
Eigen::Vector2d line_through(const Points& points) {
  Eigen::MatrixXd a(static_cast<Index>(points.size()), 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [operation, value] = points[i];
    const double time = operation.time(value);
    a.row(static_cast<Index>(i)) << 1 / time, operation.bytes / time;
  }
  return non_negative_least_squares(a, Eigen::VectorXd::Ones(a.rows()));
}

const TestResult* find_test(const Result& result, const std::string& name) {
  for (const TestResult& entry : result.tests)
    if (entry.name == name) return &entry;
  return nullptr;
}

double figure_of(const TestResult* test, const std::string& figure) {
  if (test == nullptr) return 0;
  const auto found = test->figures.find(figure);
  return found == test->figures.end() ? 0 : found->second.median();
}

/// Payload of a transfer, in bits, by what the simulation says of it.
double payload_bits(const TestResult* simulated, const Test& test) {
  if (test.bytes) return 8 * static_cast<double>(test.bytes->count()) * test.flows;
  const double seconds = figure_of(simulated, "elapsed");
  return figure_of(simulated, "goodput") * (seconds > 0 ? seconds : test.duration.seconds());
}

/// The slower of the two lines at the ends of a test, bit/s.
double line_rate(const Experiment& experiment, const Test& test) {
  double slowest = INFINITY;
  const Test::Pair& pair = test.pairs.front();
  for (const Link& link : experiment.links)
    for (const PortRef& end : link.ends) {
      if (end.kind != NodeKind::host) continue;
      const bool sends = end.node == pair.from_host && end.port == pair.from_nic;
      const bool receives = end.node == pair.to_host && end.port == pair.to_nic;
      if (sends || receives)
        slowest = std::min(slowest, static_cast<double>(link.rate.bits_per_second()));
    }
  return slowest;
}

/// What a full wire alone would give.
std::optional<double> wire_ceiling(const CalibrationCell& cell, const CalibrationData& data,
                                   const Test& test, const TestResult* simulated) {
  if (cell.figure.ends_with("frame_rate")) {
    constexpr double kOutside = 20;  // preamble and gap, IEEE 802.3
    const double bytes = frame_bytes(cell, test);
    if (bytes == 0 || test.pairs.empty()) return std::nullopt;
    return line_rate(data.experiment, test) / (8 * (bytes + kOutside));
  }
  const auto payload = simulated != nullptr ? payload_ceiling(*simulated) : std::nullopt;
  if (!payload) return std::nullopt;
  if (cell.figure.ends_with("goodput")) return payload;
  if (cell.figure.ends_with("elapsed") && test.bytes)
    return payload_bits(simulated, test) / *payload;
  return std::nullopt;
}

/// Cells that a null model of cell `self` may know.
std::vector<std::size_t> known_to(const std::vector<CalibrationCell>& cells, std::size_t self) {
  std::vector<std::size_t> fit, others;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].figure != cells[self].figure) continue;
    if (cells[i].use == CellUse::fit) fit.push_back(i);
    if (i != self) others.push_back(i);
  }
  return fit.size() < 2 ? others : fit;
}

void add_linear(const std::vector<std::optional<Operation>>& operations, std::size_t self,
                std::vector<CalibrationCell>& cells) {
  if (!operations[self]) return;
  Points points;
  for (const std::size_t i : known_to(cells, self))
    if (operations[i] && cells[i].reference > 0)
      points.emplace_back(*operations[i], cells[i].reference);
  if (points.size() < 2) return;
  const Eigen::Vector2d line = line_through(points);
  const double time = line[0] + line[1] * operations[self]->bytes;
  if (time > 0) cells[self].linear = cells[self].error_of(operations[self]->value(time));
}

void add_mean(std::size_t self, std::vector<CalibrationCell>& cells) {
  double sum = 0;
  int count = 0;
  for (const std::size_t i : known_to(cells, self)) {
    if (i == self) continue;
    sum += cells[i].reference;
    ++count;
  }
  if (count > 0) cells[self].mean = cells[self].error_of(sum / count);
}

ErrorSummary summary(CellUse use, std::string model, std::vector<double> errors) {
  ErrorSummary result;
  result.use = use;
  result.model = std::move(model);
  result.cells = static_cast<int>(errors.size());
  double logarithms = 0;
  for (const double error : errors) logarithms += std::log(std::max(1 + error, 1e-9));
  result.bias = std::expm1(logarithms / static_cast<double>(errors.size()));
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  result.median = (errors[(n - 1) / 2] + errors[n / 2]) / 2;
  result.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(n);
  result.p90 = errors[static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(n))) - 1];
  result.worst = errors.back();
  return result;
}

}  // namespace

void add_null_models(const std::vector<const Result*>& simulated,
                     const std::vector<CalibrationData>& data,
                     std::vector<CalibrationCell>& cells) {
  std::vector<std::optional<Operation>> operations;
  for (CalibrationCell& cell : cells) {
    const TestResult* result = find_test(*simulated[cell.data], cell.test);
    const Test& test = *definition_of(data[cell.data].experiment, cell.test);
    if (const auto ceiling = wire_ceiling(cell, data[cell.data], test, result))
      cell.wire = cell.error_of(*ceiling);
    operations.push_back(operation_of(cell, test, payload_bits(result, test)));
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    add_linear(operations, i, cells);
    add_mean(i, cells);
  }
}

std::vector<ErrorSummary> summarise(const std::vector<CalibrationCell>& cells, const char* own) {
  using Member = std::optional<double> CalibrationCell::*;
  const std::pair<const char*, Member> models[] = {
      {own, &CalibrationCell::deviation},
      {"fit without the cell", &CalibrationCell::left_out},
      {"fit without its block", &CalibrationCell::block_left_out},
      {"null: wire ceiling", &CalibrationCell::wire},
      {"null: linear in bytes", &CalibrationCell::linear},
      {"null: mean of the others", &CalibrationCell::mean},
  };
  std::vector<ErrorSummary> summaries;
  for (const CellUse use : {CellUse::fit, CellUse::test})
    for (const auto& [name, member] : models) {
      std::vector<double> errors;
      for (const CalibrationCell& cell : cells)
        if (cell.use == use && cell.*member) errors.push_back(*(cell.*member));
      if (!errors.empty()) summaries.push_back(summary(use, name, std::move(errors)));
    }
  return summaries;
}

NullModelStudy beside_null_models(const CalibrationData& data, const Result& predicted,
                                  const std::vector<std::string>& figures) {
  CalibrationOptions options;
  options.figures = figures;
  NullModelStudy study;
  study.sources = {data.source};
  study.cells = all_cells({data}, options, study.notes);
  if (study.cells.empty())
    throw StudyError("the two results have no figure in common that a null model could say",
                     "compare a prediction with the table of its own experiment, or name figures");
  for (CalibrationCell& cell : study.cells) {
    const TestResult* test = find_test(predicted, cell.test);
    if (test == nullptr || !test->figures.contains(cell.figure)) continue;
    cell.predicted = figure_of(test, cell.figure);
    cell.deviation = cell.error_of(cell.predicted);
  }
  add_null_models({&predicted}, {data}, study.cells);
  study.summaries = summarise(study.cells, "prediction");
  return study;
}

}  // namespace linerate::experiments
