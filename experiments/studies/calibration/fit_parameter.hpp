// A quantity of an experiment that a study moves within bounds.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "experiments/definition/experiment.hpp"
#include "experiments/definition/quantity.hpp"

namespace linerate::experiments {

/// A study that cannot be made from what it was given: what is wrong and what to do.
class StudyError : public std::runtime_error {
 public:
  StudyError(const std::string& message, std::string remedy = {})
      : std::runtime_error(message), remedy_(std::move(remedy)) {}
  const std::string& remedy() const { return remedy_; }

 private:
  std::string remedy_;
};

/// One parameter: its path, as in --set, and where it may lie.
struct FitParameter {
  std::string path;
  Kind kind = Kind::number;
  double low = 0, high = 0;  ///< in the base unit of its kind: ps, B, bit/s, Hz, 1, …
  /// Searched by its logarithm, which suits what is known to an order of magnitude only. Else, with
  /// a lower bound of 0, by its value.
  bool logarithmic() const { return low > 0; }

  /// The value at a share of the way from the lower bound (0) to the upper one (1).
  double value_at(double share) const;
  /// The inverse; clamped to [0, 1].
  double share_of(double value) const;
  /// d value / d share.
  double slope_at(double share) const;
  /// The least difference of values that an experiment can hold: 1 ps, 1 B, …; 0 for a real.
  double quantum() const;
  /// The value as an experiment file spells it, to the last digit it can hold.
  std::string text(double value) const;
  /// The value to so many significant digits as `spread`, its uncertainty, leaves meaning: the
  /// second digit of the spread is the last.
  std::string rounded_text(double value, double spread) const;
  /// What the experiment says, if that is a single quantity of this kind; of several, by `*`, the
  /// first.
  std::optional<double> nominal(const Experiment& experiment) const;
  /// "hosts.b.cpu.costs.segment_received=1.2us"
  std::string setting(double value) const { return path + "=" + text(value); }
};

/// Reads "hosts.b.cpu.costs.segment_received=[0.5us,50us]". Whole numbers without a unit are
/// counts. Throws StudyError.
FitParameter parse_fit_parameter(const std::string& text);

/// The value of "0.5us" or "3" in the base unit of its kind, with the kind. Throws StudyError.
double parse_quantity(const std::string& text, Kind& kind);

}  // namespace linerate::experiments
