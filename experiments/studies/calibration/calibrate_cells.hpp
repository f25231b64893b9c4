// Private to calibrate*.cpp: which figures of the data are fitted or tested, and how well each is
// known.
#pragma once

#include "experiments/studies/calibration/calibrate.hpp"

namespace linerate::experiments {

/// Whether a name matches a pattern with * and ?, as file names do.
bool matches(const std::string& pattern, const std::string& name);

/// The figures of the data that take part; `notes` receives what was left out and why.
std::vector<CalibrationCell> all_cells(const std::vector<CalibrationData>& data,
                                       const CalibrationOptions& options,
                                       std::vector<std::string>& notes);

/// The same for a fit. Throws StudyError if none is to be fitted, or if an option names none.
std::vector<CalibrationCell> calibration_cells(const std::vector<CalibrationData>& data,
                                               const CalibrationOptions& options,
                                               std::vector<std::string>& notes);

/// The test of the experiment that a result's test, "fwd" or "fwd[64B]", comes from; nullptr if
/// none.
const Test* definition_of(const Experiment& experiment, const std::string& name);

/// Standard error of a figure's median by its own samples, in its unit; 0 for a single sample.
double sampling_error(const Figure& figure);

/// (prediction - reference) / error, in logarithms where the cell is so fitted. A prediction that
/// does not exist (NaN) or has no logarithm counts as wrong by a factor of a thousand.
double residual(const CalibrationCell& cell, double predicted);

}  // namespace linerate::experiments
