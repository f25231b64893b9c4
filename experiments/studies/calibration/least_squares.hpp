// Least squares over a few unknowns: linear with unknowns that cannot be negative, and non-linear
// within bounds. Knows nothing of what is fitted: residuals come from a function, many points at
// once, so that its owner may compute them in parallel.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace linerate::experiments {

/// The x >= 0 that minimises |a x - b|, by the active-set method of Lawson and Hanson (Solving
/// Least Squares Problems, 1974, ch. 23).
Eigen::VectorXd non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// Weighted residuals (prediction - datum) / error at each of the points.
using ResidualsAt =
    std::function<std::vector<Eigen::VectorXd>(const std::vector<Eigen::VectorXd>&)>;

struct Box {
  Eigen::VectorXd low, high;
  Eigen::VectorXd clamped(const Eigen::VectorXd& point) const {
    return point.cwiseMax(low).cwiseMin(high);
  }
};

struct LeastSquaresOptions {
  Eigen::VectorXd step;  ///< of the differences that stand for derivatives, a parameter
  int most_iterations = 60;
  double tolerance = 1e-8;   ///< ends when the sum of squares falls by less than this share
  double negligible = 0;     ///< or by less than this
  std::vector<bool> held{};  ///< parameters that stay where they start; empty: none
};

struct LeastSquaresFit {
  Eigen::VectorXd point, residuals;
  Eigen::MatrixXd jacobian;  ///< at the point, or at the last one before it
  int iterations = 0;
  bool converged = false;
  double cost() const { return residuals.squaredNorm(); }
};

/// Derivatives of the residuals by central differences, one-sided at a bound.
Eigen::MatrixXd jacobian_at(const ResidualsAt& residuals, const Box& box,
                            const Eigen::VectorXd& point, const Eigen::VectorXd& step);

/// Levenberg-Marquardt (Marquardt's scaling, Nielsen's damping) on the parameters that no bound
/// stops; steps end at the bounds.
LeastSquaresFit fit_least_squares(const ResidualsAt& residuals, const Box& box,
                                  const Eigen::VectorXd& start, const LeastSquaresOptions& options);

/// The shortest x among those that minimise |a x - b|, when directions whose effect is below
/// `least` times that of the strongest count as without any.
Eigen::VectorXd minimum_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                                      double least);

/// The inverse of a symmetric positive definite matrix.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& positive);

/// What a Jacobian says of its parameters, for residuals of unit variance.
struct Spread {
  Eigen::MatrixXd covariance;  ///< (J'J)^-1, directions without effect left out
  double condition = 1;        ///< of the Jacobian with its columns scaled to unit length
  /// Directions in which the columns, so scaled, cancel (condition above `flat`), a column each, in
  /// units of the parameters.
  Eigen::MatrixXd flat;
};

/// `most_condition`: directions whose effect is smaller by this factor than the strongest are flat.
Spread spread_of(const Eigen::MatrixXd& jacobian, double most_condition);

}  // namespace linerate::experiments
