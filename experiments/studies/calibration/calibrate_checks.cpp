#include "experiments/studies/calibration/calibrate_checks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "experiments/studies/calibration/calibrate_cells.hpp"

namespace linerate::experiments {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

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
    cell.deviation = cell.error_of(value);
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
    cell.left_out = cell.error_of(predicted[row][at]);
    // One block is all there is: nothing is left to fit.
    if (cell.block.empty() || blocks.at(cell.block).size() == rows.size()) continue;
    const auto index = std::distance(blocks.begin(), blocks.find(cell.block));
    cell.block_left_out =
        cell.error_of(predicted[rows.size() + static_cast<std::size_t>(index)][at]);
  }
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
