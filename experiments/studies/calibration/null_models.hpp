// Null models: what somebody would say who knows nothing of hosts and TCP. A prediction is worth
// its trouble where it is nearer to the truth than they are. `calibrate` and `compare
// --null-models` show the same three beside it.
#pragma once

#include <string>
#include <vector>

#include "experiments/studies/calibration/calibrate.hpp"

namespace linerate::experiments {

/// Fills `wire`, `linear` and `mean` of the cells: the rate of a full wire; a time linear in bytes,
/// with a base, fitted by relative error; and the mean of the other cells. The last two know the
/// fit cells of the same figure, or where there are fewer than two, all its other cells, which
/// favours them. `simulated` has a result for each file of `data`: what its lines can carry and how
/// much a transfer moved.
void add_null_models(const std::vector<const Result*>& simulated,
                     const std::vector<CalibrationData>& data, std::vector<CalibrationCell>& cells);

/// Absolute errors of every model over the fit and over the test cells; `own` names the model whose
/// errors are the cells' `deviation`.
std::vector<ErrorSummary> summarise(const std::vector<CalibrationCell>& cells, const char* own);

/// A prediction beside the null models, without anything being fitted to it.
struct NullModelStudy {
  std::vector<std::string> sources;    ///< files of the references
  std::vector<CalibrationCell> cells;  ///< rows marked `use: test` are test cells, the others fit
  std::vector<ErrorSummary> summaries;
  std::vector<std::string> notes;
};

/// `data.experiment` is what `predicted` was made from. `figures` are patterns as of `calibrate`;
/// none: of each test the figure that says how long its work took, and CPU seconds. Throws
/// StudyError if they leave no common figure.
NullModelStudy beside_null_models(const CalibrationData& data, const Result& predicted,
                                  const std::vector<std::string>& figures);

}  // namespace linerate::experiments
