#include "experiments/studies/calibration/calibrate_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "experiments/results/compare.hpp"
#include "experiments/studies/calibration/calibrate_cells.hpp"

namespace linerate::experiments {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

std::optional<double> deviation_from(const CalibrationCell& cell, double value) {
  const double deviation = value / cell.reference - 1;
  return std::isfinite(deviation) ? std::optional(deviation) : std::nullopt;
}

/// One Gauss-Newton step from a point by the fit cells outside `out` (indices of rows), with the
/// slopes of the fit.
VectorXd step_without(const FittedModel& model, const Box& box, const VectorXd& point,
                      const VectorXd& at_point, const std::set<Index>& out) {
  const Index rows = model.jacobian.rows();
  MatrixXd jacobian(rows - static_cast<Index>(out.size()), model.jacobian.cols());
  VectorXd residuals(jacobian.rows());
  for (Index row = 0, next = 0; row < rows; ++row) {
    if (out.contains(row)) continue;
    jacobian.row(next) = model.jacobian.row(row);
    residuals[next++] = at_point[row];
  }
  if (jacobian.rows() == 0) return point;
  // What the rest does not determine stays where it is.
  return box.clamped(point - minimum_norm_solution(jacobian, residuals, 1e-3));
}

/// The parameters by the fit cells outside each of the sets.
std::vector<VectorXd> points_without(CalibrationRuns& runs, const FittedModel& model,
                                     const std::vector<std::set<Index>>& sets) {
  std::vector<VectorXd> points(sets.size(), model.point);
  std::vector<VectorXd> residuals(sets.size(), model.residuals);
  // The slopes stay those of the fit, which for all but gross outliers is right at once.
  constexpr int kSteps = 3;
  for (int step = 0; step < kSteps; ++step) {
    if (step > 0) residuals = runs.residuals(points);
    for (std::size_t i = 0; i < sets.size(); ++i)
      points[i] = step_without(model, runs.box(), points[i], residuals[i], sets[i]);
  }
  return points;
}

std::vector<std::size_t> fit_cells(const std::vector<CalibrationCell>& cells) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (cells[i].use == CellUse::fit) indices.push_back(i);
  return indices;
}

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

double frame_bytes(const CalibrationCell& cell, const Test& test) {
  const std::size_t open = cell.test.find('[');
  if (open != std::string::npos) return std::stod("0" + cell.test.substr(open + 1));
  return test.frame_sizes.empty() ? 0 : static_cast<double>(test.frame_sizes.front().count());
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
  if (cell.figure.ends_with("frame_rate")) return Operation{frame_bytes(cell, test), true, 1};
  if (cell.unit != "bit/s") return std::nullopt;
  const double write = static_cast<double>(
      test.type == TestType::tcp_stream ? test.write.count() : test.datagram.count());
  return Operation{write, true, 8 * write};
}

/// Base and slope, neither negative, that fit the times of the cells best by relative error.
Eigen::Vector2d line_through(const std::vector<std::pair<Operation, double>>& points) {
  MatrixXd a(static_cast<Index>(points.size()), 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [operation, value] = points[i];
    const double time = operation.time(value);
    a.row(static_cast<Index>(i)) << 1 / time, operation.bytes / time;
  }
  return non_negative_least_squares(a, VectorXd::Ones(a.rows()));
}

double figure_of(const Result& result, const std::string& test, const std::string& figure) {
  for (const TestResult& entry : result.tests) {
    if (entry.name != test) continue;
    const auto found = entry.figures.find(figure);
    if (found != entry.figures.end()) return found->second.median();
  }
  return 0;
}

/// Payload of a transfer, in bits, by what the simulation says of it.
double payload_bits(const Result& result, const CalibrationCell& cell, const Test& test) {
  if (test.bytes) return 8 * static_cast<double>(test.bytes->count()) * test.flows;
  const double seconds = figure_of(result, cell.test, "elapsed");
  return figure_of(result, cell.test, "goodput") *
         (seconds > 0 ? seconds : test.duration.seconds());
}

void add_wire(const Result& result, const CalibrationCell& source, const Test& test,
              CalibrationCell& cell) {
  for (const TestResult& entry : result.tests) {
    if (entry.name != source.test) continue;
    const auto ceiling = payload_ceiling(entry);
    if (!ceiling) return;
    if (cell.figure.ends_with("goodput")) cell.wire = deviation_from(cell, *ceiling);
    if (cell.figure.ends_with("elapsed") && test.bytes)
      cell.wire = deviation_from(cell, payload_bits(result, source, test) / *ceiling);
  }
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

void predict_cells(CalibrationRuns& runs, const FittedModel& model,
                   std::vector<CalibrationCell>& cells) {
  const VectorXd predicted = runs.predictions({model.point}, false).front();
  // The bounds count as a weak prior, so that a direction of which the data say nothing has their
  // width and not an infinite one.
  constexpr double kPriorDeviation = 0.5;
  const Index n = model.point.size();
  const MatrixXd information =
      model.jacobian.transpose() * model.jacobian / (model.scatter * model.scatter) +
      MatrixXd::Identity(n, n) / (kPriorDeviation * kPriorDeviation);
  const MatrixXd covariance = inverse_of(information);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CalibrationCell& cell = cells[i];
    const double value = predicted[static_cast<Index>(i)];
    if (!std::isfinite(value)) continue;
    cell.predicted = value;
    cell.deviation = deviation_from(cell, value);
    const VectorXd slope = model.all_jacobian.row(static_cast<Index>(i));
    const double half = model.quantile * std::sqrt(std::max(0.0, slope.dot(covariance * slope)));
    if (!std::isfinite(half)) continue;
    cell.model95 = cell.logarithmic ? std::pair{value * std::exp(-half), value * std::exp(half)}
                                    : std::pair{value - half, value + half};
  }
}

void leave_out(CalibrationRuns& runs, const FittedModel& model,
               std::vector<CalibrationCell>& cells) {
  const std::vector<std::size_t> rows = fit_cells(cells);
  std::map<std::string, std::set<Index>> blocks;
  std::vector<std::set<Index>> sets;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    sets.push_back({static_cast<Index>(row)});
    if (const std::string& block = cells[rows[row]].block; !block.empty())
      blocks[block].insert(static_cast<Index>(row));
  }
  for (const auto& [name, members] : blocks) sets.push_back(members);
  const std::vector<VectorXd> predicted = runs.predictions(points_without(runs, model, sets), true);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    CalibrationCell& cell = cells[rows[row]];
    const auto at = static_cast<Index>(rows[row]);
    cell.left_out = deviation_from(cell, predicted[row][at]);
    // One block is all there is: nothing is left to fit.
    if (cell.block.empty() || blocks.at(cell.block).size() == rows.size()) continue;
    const auto index = std::distance(blocks.begin(), blocks.find(cell.block));
    cell.block_left_out =
        deviation_from(cell, predicted[rows.size() + static_cast<std::size_t>(index)][at]);
  }
}

void add_null_models(CalibrationRuns& runs, const FittedModel& model,
                     const std::vector<CalibrationData>& data,
                     std::vector<CalibrationCell>& cells) {
  std::map<std::string, std::vector<std::pair<Operation, double>>> lines;
  std::map<std::string, std::vector<std::pair<const CalibrationCell*, double>>> values;
  std::vector<std::optional<Operation>> operations;
  for (CalibrationCell& cell : cells) {
    const Result& result = runs.result(model.point, cell.data);
    const Test* test = definition_of(data[cell.data].experiment, cell.test);
    add_wire(result, cell, *test, cell);
    operations.push_back(operation_of(cell, *test, payload_bits(result, cell, *test)));
    if (cell.use == CellUse::test) continue;
    values[cell.figure].emplace_back(&cell, cell.reference);
    if (operations.back() && cell.reference > 0)
      lines[cell.figure].emplace_back(*operations.back(), cell.reference);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    CalibrationCell& cell = cells[i];
    double sum = 0, count = 0;
    for (const auto& [other, value] : values[cell.figure]) {
      if (other == &cell) continue;
      sum += value;
      ++count;
    }
    if (count > 0) cell.mean = deviation_from(cell, sum / count);
    const auto& line = lines[cell.figure];
    if (!operations[i] || line.size() < 2) continue;
    const Eigen::Vector2d fit = line_through(line);
    const double time = fit[0] + fit[1] * operations[i]->bytes;
    if (time > 0) cell.linear = deviation_from(cell, operations[i]->value(time));
  }
}

std::vector<ErrorSummary> summarise(const std::vector<CalibrationCell>& cells) {
  using Member = std::optional<double> CalibrationCell::*;
  static constexpr std::pair<const char*, Member> kModels[] = {
      {"this fit", &CalibrationCell::deviation},
      {"fit without the cell", &CalibrationCell::left_out},
      {"fit without its block", &CalibrationCell::block_left_out},
      {"null: wire ceiling", &CalibrationCell::wire},
      {"null: linear in bytes", &CalibrationCell::linear},
      {"null: mean of the others", &CalibrationCell::mean},
  };
  std::vector<ErrorSummary> summaries;
  for (const CellUse use : {CellUse::fit, CellUse::test})
    for (const auto& [name, member] : kModels) {
      std::vector<double> errors;
      for (const CalibrationCell& cell : cells)
        if (cell.use == use && cell.*member) errors.push_back(*(cell.*member));
      if (!errors.empty()) summaries.push_back(summary(use, name, std::move(errors)));
    }
  return summaries;
}

std::vector<Coverage> coverage_of(const std::vector<CalibrationCell>& cells, double quantile) {
  std::vector<Coverage> all;
  for (const CellUse use : {CellUse::fit, CellUse::test}) {
    Coverage coverage;
    coverage.use = use;
    std::vector<double> widths;
    for (const CalibrationCell& cell : cells) {
      if (cell.use != use || !cell.model95) continue;
      const auto [low, high] = *cell.model95;
      ++coverage.cells;
      coverage.inside += cell.reference >= low && cell.reference <= high;
      const double off = std::abs(residual(cell, cell.predicted)) * cell.error;
      const double half = cell.logarithmic ? std::log(high / low) / 2 : (high - low) / 2;
      coverage.inside_with_error += off <= std::hypot(half, quantile * cell.error);
      if (cell.predicted != 0) widths.push_back((high - low) / std::abs(cell.predicted));
    }
    if (coverage.cells == 0) continue;
    std::sort(widths.begin(), widths.end());
    if (!widths.empty()) coverage.median_width = widths[widths.size() / 2];
    all.push_back(coverage);
  }
  return all;
}

}  // namespace linerate::experiments
