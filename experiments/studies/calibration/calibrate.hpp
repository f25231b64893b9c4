// Calibration: parameters of an experiment found from results that were measured or published, by
// bounded least squares over a runner, and what is known of them afterwards. Any parameter that
// --set reaches can be fitted, because the runner is a black box.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/studies/calibration/fit_parameter.hpp"
#include "experiments/studies/calibration/variation.hpp"

namespace linerate::experiments {

/// One file of results and the experiment that they are results of.
struct CalibrationData {
  std::string source;  ///< the file's name
  Result result;
  Experiment experiment;
};

/// "receiver.cpu=0.02s", "*.goodput=1%": the known error of figures, over what the data say.
struct KnownError {
  std::string pattern;  ///< of "test.figure" or of the figure alone; * and ? as in file names
  double value = 0;     ///< a share, or in the figure's base unit
  bool relative = false;
  bool quantum = false;  ///< the step of a clock, whose error is step / sqrt(12)
};

struct CalibrationOptions {
  std::vector<FitParameter> parameters;
  /// Figures to fit, by pattern; none: of each test the one that says how long it took, and CPU
  /// seconds.
  std::vector<std::string> figures;
  /// Tests or "test.figure" that are only tested, beside those whose note says `use: test`.
  std::vector<std::string> hold_out;
  std::string block;  ///< the note by whose values cells are left out together; empty: none
  std::vector<KnownError> errors;
  int starts = 3;  ///< searches begun from different points
  unsigned threads = 1;
  /// Called after every simulation, from any thread but never twice at once.
  std::function<void(const std::string& stage, std::int64_t runs)> progress{};
};

enum class CellUse { fit, test };

/// One figure of one test in the data, beside what the fitted model says of it.
struct CalibrationCell {
  std::size_t data = 0;  ///< index of the file
  std::string test, figure, unit, block;
  CellUse use = CellUse::fit;
  double reference = 0;
  /// How far the farthest repeat lies from the median, as a share of it; absent without repeats.
  std::optional<double> noise{};
  double error = 0;         ///< standard error of the reference; a share where `logarithmic`
  bool assumed = false;     ///< nothing says the error: 1 % of the value was taken
  bool logarithmic = true;  ///< fitted by the logarithm of the ratio, else by the difference
  double predicted = 0;
  std::optional<std::pair<double, double>> model95{};  ///< from the parameters' uncertainty
  /// Predicted / reference - 1: by the fit, by a fit without this cell, by one without its block,
  /// and by the null models. Absent where a model says nothing of the cell.
  std::optional<double> deviation{}, left_out{}, block_left_out{};
  std::optional<double> wire{}, linear{}, mean{};

  std::string path() const { return test + "." + figure; }
  /// value / reference - 1, if that is a number.
  std::optional<double> error_of(double value) const {
    const double error_share = value / reference - 1;
    return std::isfinite(error_share) ? std::optional(error_share) : std::nullopt;
  }
};

/// What the data say of a parameter: a value; only an upper or a lower limit; nothing.
enum class Knowledge { determined, at_most, at_least, undetermined };

struct CalibratedParameter {
  FitParameter parameter;
  Knowledge knowledge = Knowledge::undetermined;
  double value = 0;          ///< at the best fit; means nothing if undetermined
  double low = 0, high = 0;  ///< 95 % by profile likelihood; a bound where it is open
  std::string note;
  /// Shares of the way between the bounds, for the covariance.
  double share = 0;
};

/// Parameters of which the data determine only a combination.
struct Combination {
  std::vector<std::string> paths;
  std::string words;
};

/// Signed errors of a model over the cells of one use.
struct ErrorSummary {
  CellUse use = CellUse::fit;
  std::string model;  ///< "fit", "one left out", "block left out", "wire ceiling", …
  int cells = 0;
  double median = 0, mean = 0, p90 = 0, worst = 0;  ///< of the absolute errors
  double bias = 0;                                  ///< geometric mean of predicted / reference, -1
};

/// How often the reference lay inside the model's 95 % interval, and how wide that was.
struct Coverage {
  CellUse use = CellUse::fit;
  int cells = 0;
  int inside = 0;             ///< of the interval from the parameters alone
  int inside_with_error = 0;  ///< of it together with the datum's own error
  double median_width = 0;    ///< of the first, as a share of the prediction
};

struct Calibration {
  bool complete = true;
  std::vector<std::string> sources;
  std::vector<CalibratedParameter> parameters;
  std::vector<Combination> combinations;
  std::vector<CalibrationCell> cells;
  std::vector<ErrorSummary> summaries;
  std::vector<Coverage> coverage;
  double chi_squared = 0;  ///< of the fit cells, by their known errors
  int degrees_of_freedom = 0;
  /// Factor by which intervals were widened because cells scatter more than their errors say:
  /// sqrt(chi squared / degrees of freedom), at least 1.
  double scatter = 1;
  double condition = 1;
  std::int64_t runs = 0;
  std::vector<std::string> notes;

  bool all_determined() const;
};

/// Fits and examines. Throws StudyError if the data leave nothing to fit, DefinitionError if a path
/// or a bound is none of the experiment's.
Calibration calibrate(const std::vector<CalibrationData>& data, const CalibrationOptions& options,
                      const Runner& runner);

}  // namespace linerate::experiments
