// A calibration as a table, as JSON and as a profile; a prediction beside null models as the first
// two.
#pragma once

#include <string>

#include "experiments/studies/calibration/null_models.hpp"

namespace linerate::experiments {

/// Parameters with intervals, cells with signed errors beside the null models, fit and test apart.
std::string format_table(const Calibration& calibration, bool colour = false);

/// `kind: study`, `study: calibration` (study.schema.json).
std::string to_json(const Calibration& calibration);

/// Cells with signed errors beside those of the null models, fit and test apart, and a summary.
std::string format_table(const NullModelStudy& study, bool colour = false);

/// `kind: study`, `study: null-models` (study.schema.json).
std::string to_json(const NullModelStudy& study);

/// Where fitted parameters belong in a profile: all below one host or one switch (or `hosts.*`).
struct ProfilePlace {
  std::string kind;   ///< hosts | switches
  std::string entry;  ///< its name or *
};

/// Throws StudyError if the parameters do not belong to one profile.
ProfilePlace profile_place(const std::vector<FitParameter>& parameters);

/// The determined values, and upper or lower limits, as a file for ./profiles, over the profile the
/// entry has in `experiment`. `date` may be empty: then the same data give the same bytes.
std::string profile_yaml(const Calibration& calibration, const Experiment& experiment,
                         const std::string& date);

}  // namespace linerate::experiments
