// Private to calibrate*.cpp: predictions of the cells at points of the parameter space, each
// simulated once, several at a time.
#pragma once

#include <Eigen/Core>
#include <map>
#include <mutex>

#include "experiments/studies/calibration/calibrate.hpp"
#include "experiments/studies/calibration/least_squares.hpp"

namespace linerate::experiments {

/// A point is a share of the way between the bounds for every parameter, 0 to 1. What is returned
/// does not depend on the number of threads.
class CalibrationRuns {
 public:
  CalibrationRuns(const std::vector<CalibrationData>& data, const CalibrationOptions& options,
                  const std::vector<CalibrationCell>& cells, const Runner& runner);

  /// Predictions of every cell (`fit_only`: of the fit cells, the others NaN), NaN where the
  /// simulation has no such figure.
  std::vector<Eigen::VectorXd> predictions(const std::vector<Eigen::VectorXd>& points,
                                           bool fit_only);
  /// Standard errors of those predictions by their own repeats, 0 without.
  Eigen::VectorXd sampling_errors(const Eigen::VectorXd& point);
  /// Residuals of the fit cells.
  std::vector<Eigen::VectorXd> residuals(const std::vector<Eigen::VectorXd>& points);
  /// What was simulated of one file of the data at this point, for null models.
  const Result& result(const Eigen::VectorXd& point, std::size_t data);

  Box box() const;
  /// The --set arguments of a point.
  std::vector<std::string> settings(const Eigen::VectorXd& point) const;
  std::int64_t runs() const { return runs_; }
  void stage(std::string name) { stage_ = std::move(name); }

 private:
  /// A point, a file of the data, and whether tests without fit cells are run too.
  struct Key {
    std::vector<std::string> settings;
    std::size_t data;
    bool fit_only;
    auto operator<=>(const Key&) const = default;
  };

  Key key_of(const Eigen::VectorXd& point, std::size_t data, bool fit_only) const;
  void run(const std::vector<Key>& keys);
  const Figure* find(const Eigen::VectorXd& point, std::size_t cell, bool fit_only) const;
  bool takes_part(std::size_t data, bool fit_only) const;

  const std::vector<CalibrationData>& data_;
  const CalibrationOptions& options_;
  const std::vector<CalibrationCell>& cells_;
  const Runner& runner_;
  std::map<Key, Result> results_;
  std::mutex mutex_;
  std::int64_t runs_ = 0;
  std::string stage_;
};

}  // namespace linerate::experiments
