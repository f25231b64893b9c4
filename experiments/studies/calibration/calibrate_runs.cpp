#include "experiments/studies/calibration/calibrate_runs.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "experiments/studies/calibration/calibrate_cells.hpp"

namespace linerate::experiments {

namespace {

/// What is kept of a simulation: figures, and what the null models look at.
Result digest(Result&& result) {
  for (TestResult& test : result.tests) {
    test.hosts.clear();
    test.ports.clear();
    test.intervals.clear();
  }
  result.provenance = {};
  return std::move(result);
}

std::string base_name(const std::string& test) { return test.substr(0, test.find('[')); }

}  // namespace

CalibrationRuns::CalibrationRuns(const std::vector<CalibrationData>& data,
                                 const CalibrationOptions& options,
                                 const std::vector<CalibrationCell>& cells, const Runner& runner)
    : data_(data), options_(options), cells_(cells), runner_(runner) {}

Box CalibrationRuns::box() const {
  const auto n = static_cast<Eigen::Index>(options_.parameters.size());
  return {Eigen::VectorXd::Zero(n), Eigen::VectorXd::Ones(n)};
}

std::vector<std::string> CalibrationRuns::settings(const Eigen::VectorXd& point) const {
  std::vector<std::string> set;
  for (std::size_t i = 0; i < options_.parameters.size(); ++i) {
    const FitParameter& parameter = options_.parameters[i];
    set.push_back(parameter.setting(parameter.value_at(point[static_cast<Eigen::Index>(i)])));
  }
  return set;
}

bool CalibrationRuns::takes_part(std::size_t data, bool fit_only) const {
  for (const CalibrationCell& cell : cells_)
    if (cell.data == data && (!fit_only || cell.use == CellUse::fit)) return true;
  return false;
}

CalibrationRuns::Key CalibrationRuns::key_of(const Eigen::VectorXd& point, std::size_t data,
                                             bool fit_only) const {
  // Where nothing is held out both are one.
  const bool partial = std::any_of(cells_.begin(), cells_.end(), [&](const CalibrationCell& cell) {
    return cell.data == data && cell.use == CellUse::test;
  });
  return {settings(point), data, fit_only && partial};
}

void CalibrationRuns::run(const std::vector<Key>& keys) {
  std::vector<Result> fresh(keys.size());
  in_parallel(keys.size(), options_.threads, [&](std::size_t i) {
    const Key& key = keys[i];
    std::vector<std::string> names;
    for (const CalibrationCell& cell : cells_)
      if (cell.data == key.data && (!key.fit_only || cell.use == CellUse::fit))
        names.push_back(base_name(cell.test));
    const Experiment experiment = varied(data_[key.data].experiment, key.settings);
    fresh[i] = digest(runner_(only_tests(experiment, names)));
    const std::lock_guard lock(mutex_);
    ++runs_;
    if (options_.progress) options_.progress(stage_, runs_);
  });
  for (std::size_t i = 0; i < keys.size(); ++i) results_.emplace(keys[i], std::move(fresh[i]));
}

const Figure* CalibrationRuns::find(const Eigen::VectorXd& point, std::size_t cell,
                                    bool fit_only) const {
  const CalibrationCell& wanted = cells_[cell];
  for (const TestResult& test : results_.at(key_of(point, wanted.data, fit_only)).tests) {
    if (test.name != wanted.test) continue;
    const auto figure = test.figures.find(wanted.figure);
    if (figure != test.figures.end()) return &figure->second;
  }
  return nullptr;
}

std::vector<Eigen::VectorXd> CalibrationRuns::predictions(
    const std::vector<Eigen::VectorXd>& points, bool fit_only) {
  std::set<Key> missing;
  for (const Eigen::VectorXd& point : points)
    for (std::size_t data = 0; data < data_.size(); ++data) {
      const Key key = key_of(point, data, fit_only);
      if (takes_part(data, fit_only) && !results_.contains(key)) missing.insert(key);
    }
  run({missing.begin(), missing.end()});

  std::vector<Eigen::VectorXd> all;
  for (const Eigen::VectorXd& point : points) {
    Eigen::VectorXd one(static_cast<Eigen::Index>(cells_.size()));
    one.setConstant(std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (fit_only && cells_[i].use == CellUse::test) continue;
      if (const Figure* figure = find(point, i, fit_only))
        one[static_cast<Eigen::Index>(i)] = figure->median();
    }
    all.push_back(std::move(one));
  }
  return all;
}

Eigen::VectorXd CalibrationRuns::sampling_errors(const Eigen::VectorXd& point) {
  predictions({point}, false);
  Eigen::VectorXd errors = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(cells_.size()));
  for (std::size_t i = 0; i < cells_.size(); ++i)
    if (const Figure* figure = find(point, i, false))
      errors[static_cast<Eigen::Index>(i)] = sampling_error(*figure);
  return errors;
}

std::vector<Eigen::VectorXd> CalibrationRuns::residuals(
    const std::vector<Eigen::VectorXd>& points) {
  std::vector<Eigen::VectorXd> all;
  for (const Eigen::VectorXd& predicted : predictions(points, true)) {
    std::vector<double> values;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      if (cells_[i].use == CellUse::fit)
        values.push_back(residual(cells_[i], predicted[static_cast<Eigen::Index>(i)]));
    all.emplace_back(
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  }
  return all;
}

const Result& CalibrationRuns::result(const Eigen::VectorXd& point, std::size_t data) {
  predictions({point}, false);
  return results_.at(key_of(point, data, false));
}

}  // namespace linerate::experiments
