// Private to calibrate*.cpp: what a fit is worth. Errors on cells it has not seen, and how often
// its intervals hold.
#pragma once

#include "experiments/studies/calibration/calibrate_runs.hpp"

namespace linerate::experiments {

/// A fit as the checks see it.
struct FittedModel {
  Eigen::VectorXd point;
  Eigen::VectorXd residuals;     ///< of the fit cells
  Eigen::MatrixXd jacobian;      ///< of the residuals of the fit cells
  Eigen::MatrixXd all_jacobian;  ///< of the predictions of all cells (of their logarithms where
                                 ///< a cell is fitted by them)
  double scatter = 1;
  double quantile = 1.96;  ///< of the fit's degrees of freedom, 95 %
};

/// Fills `predicted`, `deviation` and `model95` of the cells.
void predict_cells(CalibrationRuns& runs, const FittedModel& model,
                   std::vector<CalibrationCell>& cells);

/// Fills `left_out` and `block_left_out` of the fit cells: the parameters without them, by
/// Gauss-Newton steps from the fit, simulated anew.
void leave_out(CalibrationRuns& runs, const FittedModel& model,
               std::vector<CalibrationCell>& cells);

std::vector<Coverage> coverage_of(const std::vector<CalibrationCell>& cells, double quantile);

}  // namespace linerate::experiments
