#include "experiments/studies/calibration/calibrate.hpp"

#include <fmt/format.h>

// As in interval.cpp: doubles do, and valgrind has no long ones.
#define BOOST_MATH_NO_LONG_DOUBLE_MATH_FUNCTIONS
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>

#include "experiments/studies/calibration/calibrate_cells.hpp"
#include "experiments/studies/calibration/calibrate_checks.hpp"
#include "experiments/studies/calibration/null_models.hpp"
#include "experiments/studies/trial.hpp"

namespace linerate::experiments {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Columns of the Jacobian that cancel to less than this share act as one.
constexpr double kMostCondition = 30;

/// Points that fill the unit cube evenly, the same ones every time (I. M. Sobol, 1967).
std::vector<VectorXd> spread_points(Index dimensions, int count) {
  boost::random::sobol sequence(static_cast<std::size_t>(dimensions));
  const double width = static_cast<double>(boost::random::sobol::max()) + 1;
  std::vector<VectorXd> points;
  for (int i = 0; i < count; ++i) {
    VectorXd point(dimensions);
    for (Index k = 0; k < dimensions; ++k) point[k] = static_cast<double>(sequence()) / width;
    points.push_back(point);
  }
  return points;
}

/// The 97.5 % quantile: Student's where the scatter of the cells stands for their error.
double quantile975(bool scatter_known, int degrees) {
  if (scatter_known || degrees < 1) return 1.96;
  return boost::math::quantile(boost::math::students_t(degrees), 0.975);
}

class Calibrator {
 public:
  Calibrator(const std::vector<CalibrationData>& data, const CalibrationOptions& options,
             const Runner& runner)
      : data_(data), options_(options) {
    for (const CalibrationData& set : data) result_.sources.push_back(set.source);
    for (const FitParameter& parameter : options.parameters)
      result_.parameters.push_back({.parameter = parameter, .note = {}});
    result_.cells = calibration_cells(data, options, result_.notes);
    check_bounds();
    runs_.emplace(data_, options_, result_.cells, runner);
    count_ = static_cast<Index>(options.parameters.size());
  }

  Calibration run() {
    try {
      search();
      learn_noise();
      examine();
      for (int again = 0; again < 2 && !profiles(); ++again) examine();
      combinations();
      check();
    } catch (const Interrupted&) {
      result_.complete = false;
      result_.notes.push_back("interrupted: what follows the last stage reached is missing");
    }
    result_.runs = runs_->runs();
    return std::move(result_);
  }

 private:
  const FitParameter& parameter(Index i) const {
    return options_.parameters[static_cast<std::size_t>(i)];
  }

  ResidualsAt residuals() {
    return [this](const std::vector<VectorXd>& points) { return runs_->residuals(points); };
  }

  /// Both ends of every parameter must make an experiment, whatever the other files say.
  void check_bounds() const {
    for (const CalibrationData& set : data_)
      for (const FitParameter& parameter : options_.parameters)
        for (const double bound : {parameter.low, parameter.high})
          varied(set.experiment, {parameter.setting(bound)});
  }

  std::vector<VectorXd> starts() const {
    std::vector<VectorXd> points{VectorXd::Constant(count_, 0.5)};
    VectorXd nominal = points.front();
    for (Index i = 0; i < count_; ++i) {
      const FitParameter& fitted = parameter(i);
      const auto value = fitted.nominal(data_.front().experiment);
      if (value && *value >= fitted.low && *value <= fitted.high)
        nominal[i] = fitted.share_of(*value);
    }
    points.push_back(nominal);
    for (VectorXd& point : spread_points(count_, 4 * static_cast<int>(count_)))
      points.push_back(std::move(point));
    return points;
  }

  /// Differences so wide that the figures feel them: simulators answer in whole packets, and below
  /// that a derivative is noise.
  void choose_steps(const VectorXd& point) {
    steps_ = VectorXd(count_);
    for (Index i = 0; i < count_; ++i) {
      const FitParameter& fitted = parameter(i);
      const double slope = fitted.slope_at(point[i]);
      const double share = fitted.logarithmic() ? 0.02 / std::log(fitted.high / fitted.low) : 0.01;
      steps_[i] = std::min(0.25, std::max(share, 4 * fitted.quantum() / slope));
    }
    const VectorXd here = runs_->residuals({point}).front();
    std::vector<bool> done(static_cast<std::size_t>(count_), false);
    for (int round = 0; round < 4; ++round) {
      std::vector<VectorXd> points;
      for (Index i = 0; i < count_; ++i) {
        points.push_back(point);
        points.back()[i] += point[i] + steps_[i] <= 1 ? steps_[i] : -steps_[i];
      }
      const std::vector<VectorXd> values = runs_->residuals(points);
      for (Index i = 0; i < count_; ++i) {
        const auto at = static_cast<std::size_t>(i);
        constexpr double kFelt = 0.05;  // of a standard error, over all cells
        if ((values[at] - here).norm() >= kFelt || steps_[i] >= 0.25) done[at] = true;
        if (!done[at]) steps_[i] = std::min(0.25, 3 * steps_[i]);
      }
      if (std::all_of(done.begin(), done.end(), [](bool felt) { return felt; })) return;
    }
  }

  LeastSquaresFit descend(const VectorXd& start) {
    LeastSquaresOptions options;
    options.step = steps_;
    options.most_iterations = 25;
    options.tolerance = 1e-4;
    options.negligible = 1e-3;  // of a squared standard error
    return fit_least_squares(residuals(), runs_->box(), start, options);
  }

  void keep(LeastSquaresFit&& fit) {
    if (fit_.residuals.size() > 0 && fit_.cost() <= fit.cost()) return;
    fit_ = std::move(fit);
    for (Index i = 0; i < count_; ++i) {
      CalibratedParameter& found = result_.parameters[static_cast<std::size_t>(i)];
      found.share = fit_.point[i];
      found.value = found.parameter.value_at(found.share);
    }
  }

  /// Where costs add up the best values follow from one linear problem with bounds below.
  VectorXd linear_start(const LeastSquaresFit& fit) const {
    MatrixXd slopes = fit.jacobian;
    VectorXd above(count_);
    for (Index i = 0; i < count_; ++i) {
      const FitParameter& fitted = parameter(i);
      slopes.col(i) /= fitted.slope_at(fit.point[i]);
      above[i] = fitted.value_at(fit.point[i]) - fitted.low;
    }
    const VectorXd best = non_negative_least_squares(slopes, slopes * above - fit.residuals);
    VectorXd point(count_);
    for (Index i = 0; i < count_; ++i) {
      const FitParameter& fitted = parameter(i);
      point[i] = fitted.share_of(fitted.low + best[i]);
    }
    return point;
  }

  void search() {
    runs_->stage("search");
    std::vector<VectorXd> points = starts();
    const std::vector<VectorXd> values = runs_->residuals(points);
    std::vector<std::size_t> order(points.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return values[a].squaredNorm() < values[b].squaredNorm();
    });
    choose_steps(points[order.front()]);
    LeastSquaresFit first;
    first.point = points[order.front()];
    first.residuals = values[order.front()];
    first.jacobian = jacobian_at(residuals(), runs_->box(), first.point, steps_);
    const VectorXd linear = linear_start(first);
    keep(descend(linear));
    const std::size_t starts =
        std::min(points.size(), static_cast<std::size_t>(std::max(options_.starts, 1)));
    for (std::size_t i = 0; i < starts; ++i) keep(descend(points[order[i]]));
  }

  /// A prediction of something random is known no better than its repeats.
  void learn_noise() {
    const VectorXd errors = runs_->sampling_errors(fit_.point);
    if (errors.isZero(0)) return;
    const VectorXd predicted = runs_->predictions({fit_.point}, true).front();
    for (std::size_t i = 0; i < result_.cells.size(); ++i) {
      CalibrationCell& cell = result_.cells[i];
      double error = errors[static_cast<Index>(i)];
      if (cell.logarithmic) error /= predicted[static_cast<Index>(i)];
      if (std::isfinite(error)) cell.error = std::hypot(cell.error, error);
    }
    choose_steps(fit_.point);
    const VectorXd point = fit_.point;
    fit_ = {};
    keep(descend(point));
  }

  /// The Jacobian over differences of about a standard error, and what follows from it.
  void examine() {
    runs_->stage("intervals");
    choose_steps(fit_.point);
    fit_.jacobian = jacobian_at(residuals(), runs_->box(), fit_.point, steps_);
    const auto cells = static_cast<int>(fit_.residuals.size());
    result_.degrees_of_freedom = std::max(0, cells - static_cast<int>(count_));
    result_.chi_squared = fit_.cost();
    result_.scatter = 1;
    if (result_.degrees_of_freedom > 0)
      result_.scatter = std::max(1.0, std::sqrt(fit_.cost() / result_.degrees_of_freedom));
    quantile_ = quantile975(result_.scatter <= 1, result_.degrees_of_freedom);
    spread_ = spread_of(fit_.jacobian, kMostCondition);
    result_.condition = spread_.condition;
  }

  /// How the other parameters follow when one is moved, to first order: in shares of the bounds, or
  /// in values, which is exact where costs add up.
  VectorXd following(Index moved, double distance, bool in_values) const {
    VectorXd slopes = VectorXd::Ones(count_);
    if (in_values)
      for (Index i = 0; i < count_; ++i) slopes[i] = parameter(i).slope_at(fit_.point[i]);
    MatrixXd others = fit_.jacobian * slopes.cwiseInverse().asDiagonal();
    const VectorXd column = others.col(moved);
    others.col(moved).setZero();
    VectorXd scale = others.colwise().norm();
    for (Index i = 0; i < count_; ++i) scale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
    const VectorXd direction =
        -(scale.asDiagonal() * minimum_norm_solution(others * scale.asDiagonal(), column, 1e-3));
    VectorXd point = fit_.point;
    point[moved] = std::clamp(point[moved] + distance, 0.0, 1.0);
    const double step = in_values ? parameter(moved).value_at(point[moved]) -
                                        parameter(moved).value_at(fit_.point[moved])
                                  : distance;
    for (Index i = 0; i < count_; ++i) {
      if (i == moved) continue;
      point[i] =
          in_values
              ? parameter(i).share_of(parameter(i).value_at(fit_.point[i]) + direction[i] * step)
              : std::clamp(point[i] + direction[i] * step, 0.0, 1.0);
    }
    return point;
  }

  /// The least sum of squares with one parameter held at `distance` from the fit.
  LeastSquaresFit held_at(Index moved, double distance) {
    const std::vector<VectorXd> points{following(moved, distance, true),
                                       following(moved, distance, false)};
    const std::vector<VectorXd> values = runs_->residuals(points);
    const std::size_t nearer = values[0].squaredNorm() <= values[1].squaredNorm() ? 0 : 1;
    LeastSquaresFit best;
    best.point = points[nearer];
    best.residuals = values[nearer];
    // Nothing to win for the others.
    if (count_ == 1 || best.cost() <= fit_.cost()) return best;
    LeastSquaresOptions options;
    options.step = steps_;
    options.most_iterations = 3;
    options.tolerance = 5e-2;
    options.negligible = 2e-2;
    options.held.assign(static_cast<std::size_t>(count_), false);
    options.held[static_cast<std::size_t>(moved)] = true;
    return fit_least_squares(residuals(), runs_->box(), best.point, options);
  }

  /// Where the profile likelihood of a parameter crosses 95 % on one side of the fit, and whether
  /// it does. `better` receives a lower minimum met on the way.
  struct Side {
    double share = 0;
    bool open = false;
  };
  Side side_of(Index moved, double sign, LeastSquaresFit& better) {
    const double room = sign > 0 ? 1 - fit_.point[moved] : fit_.point[moved];
    const double threshold = quantile_ * result_.scatter;
    if (room <= 1e-9) return {fit_.point[moved], true};
    const auto height = [&](double distance) {  // 1 where the interval ends
      LeastSquaresFit fit = held_at(moved, sign * distance);
      const double above = fit.cost() - fit_.cost();
      if (above < threshold * threshold) {
        VectorXd& valley = valleys_[static_cast<std::size_t>(moved)];
        const bool wider =
            valley.size() == 0 || std::abs(valley[moved] - fit_.point[moved]) < distance;
        if (wider) valley = fit.point;
      }
      if (fit.cost() < (better.residuals.size() > 0 ? better.cost() : fit_.cost()))
        better = std::move(fit);
      return std::sqrt(std::max(0.0, above)) / threshold;
    };
    const double expected = threshold * std::sqrt(std::max(0.0, spread_.covariance(moved, moved)));
    double inside = 0, inside_height = 0, outside = 0, outside_height = 0;
    double distance = std::min(room, expected > 0 ? std::max(expected, 1e-4) : room);
    for (int tries = 0; tries < 8; ++tries) {
      const double found = height(distance);
      // The height is a straight line where the model is one, so near its end one look is enough.
      if (tries == 0 && found > 0.7 && found < 1.4 && distance / found <= room)
        return {fit_.point[moved] + sign * distance / found, false};
      if (found >= 1) {
        outside = distance;
        outside_height = found;
      } else {
        inside = distance;
        inside_height = found;
        if (distance >= room) return {fit_.point[moved] + sign * room, true};
      }
      if (outside == 0)
        distance = std::min(room, inside * std::clamp(1.2 / std::max(found, 0.01), 1.3, 6.0));
      else if (outside - inside <= 0.2 * outside)
        break;
      else
        distance = inside +
                   (outside - inside) *
                       std::clamp((1 - inside_height) / (outside_height - inside_height), 0.1, 0.9);
    }
    if (outside == 0) return {fit_.point[moved] + sign * room, true};
    const double crossing =
        inside + (outside - inside) *
                     std::clamp((1 - inside_height) / (outside_height - inside_height), 0.0, 1.0);
    return {fit_.point[moved] + sign * crossing, false};
  }

  /// Intervals and what is known of each parameter. False if a better fit was met on the way, which
  /// then takes the place of the old one.
  bool profiles() {
    LeastSquaresFit better;
    valleys_.assign(static_cast<std::size_t>(count_), VectorXd());
    for (Index i = 0; i < count_; ++i) {
      CalibratedParameter& found = result_.parameters[static_cast<std::size_t>(i)];
      const Side below = side_of(i, -1, better), above = side_of(i, 1, better);
      found.low = found.parameter.value_at(std::clamp(below.share, 0.0, 1.0));
      found.high = found.parameter.value_at(std::clamp(above.share, 0.0, 1.0));
      found.knowledge = below.open ? (above.open ? Knowledge::undetermined : Knowledge::at_most)
                                   : (above.open ? Knowledge::at_least : Knowledge::determined);
      found.note = note_on(found, fit_.jacobian.col(i).isZero(0));
    }
    const double enough = 0.1 * result_.scatter * result_.scatter;
    if (better.residuals.size() == 0 || better.cost() > fit_.cost() - enough) return true;
    keep(descend(better.point));
    return false;
  }

  static std::string note_on(const CalibratedParameter& found, bool without_effect) {
    if (without_effect) return "has no effect on the fitted figures";
    switch (found.knowledge) {
      case Knowledge::undetermined:
        return "any value within its bounds fits the data as well";
      case Knowledge::at_most:
        return "only an upper limit: down to its lower bound it fits as well";
      case Knowledge::at_least:
        return "only a lower limit: up to its upper bound it fits as well";
      case Knowledge::determined:
        return {};
    }
    return {};
  }

  /// Where a parameter can be moved far and the figures stay, because others move with it, only
  /// they all together are determined. Of two the sum that stays the same is told.
  void combinations() {
    constexpr double kFar = 0.03;  // share of the way between the bounds
    for (Index i = 0; i < count_; ++i) {
      const VectorXd& valley = valleys_[static_cast<std::size_t>(i)];
      if (result_.parameters[static_cast<std::size_t>(i)].knowledge == Knowledge::determined ||
          valley.size() == 0)
        continue;
      Combination combination;
      std::vector<Index> others;
      for (Index k = 0; k < count_; ++k) {
        if (k != i && std::abs(valley[k] - fit_.point[k]) < kFar) continue;
        combination.paths.push_back(parameter(k).path);
        if (k != i) others.push_back(k);
      }
      const bool known =
          std::any_of(result_.combinations.begin(), result_.combinations.end(),
                      [&](const Combination& other) { return other.paths == combination.paths; });
      if (others.empty() || known) continue;
      combination.words = others.size() == 1
                              ? words_of_pair(i, others.front(), valley)
                              : "only together are they determined: hold all but one by --set";
      result_.combinations.push_back(std::move(combination));
    }
  }

  std::string words_of_pair(Index moved, Index other, const VectorXd& valley) const {
    const FitParameter& first = parameter(moved);
    const FitParameter& second = parameter(other);
    const double step = second.value_at(valley[other]) - second.value_at(fit_.point[other]);
    const double factor =
        -step / (first.value_at(valley[moved]) - first.value_at(fit_.point[moved]));
    if (first.kind != second.kind || !(factor > 0) || !std::isfinite(factor))
      return "only one combination of the two is determined: hold one by --set and fit the other";
    const double sum =
        second.value_at(fit_.point[other]) + factor * first.value_at(fit_.point[moved]);
    // The sum is known as well as the one is where the other is given.
    const double slope = fit_.jacobian.col(other).norm() / second.slope_at(fit_.point[other]);
    const double half = slope > 0 ? quantile_ * result_.scatter / slope : 0;
    return fmt::format("determined is the sum {} + {:.3g} x {} = {} +- {}", second.path, factor,
                       first.path, second.rounded_text(sum, half), second.rounded_text(half, half));
  }

  /// Slopes of the predictions of all cells, in logarithms where they are fitted so.
  MatrixXd slopes_of_all() {
    const ResidualsAt predictions = [&](const std::vector<VectorXd>& points) {
      std::vector<VectorXd> all = runs_->predictions(points, false);
      for (VectorXd& one : all)
        for (std::size_t i = 0; i < result_.cells.size(); ++i)
          if (result_.cells[i].logarithmic)
            one[static_cast<Index>(i)] = std::log(one[static_cast<Index>(i)]);
      return all;
    };
    return jacobian_at(predictions, runs_->box(), fit_.point, steps_);
  }

  void check() {
    runs_->stage("checks");
    FittedModel model{fit_.point,      fit_.residuals,  fit_.jacobian,
                      slopes_of_all(), result_.scatter, quantile_};
    predict_cells(*runs_, model, result_.cells);
    leave_out(*runs_, model, result_.cells);
    std::vector<const Result*> simulated;
    for (std::size_t i = 0; i < data_.size(); ++i)
      simulated.push_back(&runs_->result(fit_.point, i));
    add_null_models(simulated, data_, result_.cells);
    result_.summaries = summarise(result_.cells, "this fit");
    result_.coverage = coverage_of(result_.cells, 1.96);
    const auto assumed = std::count_if(result_.cells.begin(), result_.cells.end(),
                                       [](const CalibrationCell& cell) { return cell.assumed; });
    if (assumed > 0)
      result_.notes.push_back(fmt::format(
          "nothing says how well {} of {} figures are known: 1 % was taken; --error says better",
          assumed, result_.cells.size()));
    if (result_.degrees_of_freedom == 0)
      result_.notes.push_back(
          "as many parameters as figures: the fit cannot be judged by its residuals");
  }

  const std::vector<CalibrationData>& data_;
  const CalibrationOptions& options_;
  Calibration result_;
  std::optional<CalibrationRuns> runs_;
  Index count_ = 0;
  VectorXd steps_;
  LeastSquaresFit fit_;
  Spread spread_;
  std::vector<VectorXd> valleys_;  ///< by parameter, how far it was moved inside the interval
  double quantile_ = 1.96;
};

}  // namespace

bool Calibration::all_determined() const {
  return std::all_of(parameters.begin(), parameters.end(), [](const CalibratedParameter& found) {
    return found.knowledge == Knowledge::determined;
  });
}

Calibration calibrate(const std::vector<CalibrationData>& data, const CalibrationOptions& options,
                      const Runner& runner) {
  if (options.parameters.empty())
    throw StudyError("there is nothing to fit", "name parameters by --fit PATH=[LOWEST,HIGHEST]");
  for (std::size_t i = 0; i < options.parameters.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (options.parameters[i].path == options.parameters[k].path)
        throw StudyError(fmt::format("--fit names {} twice", options.parameters[i].path),
                         "remove one of the two");
  return Calibrator(data, options, runner).run();
}

}  // namespace linerate::experiments
