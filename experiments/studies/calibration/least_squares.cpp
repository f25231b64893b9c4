#include "experiments/studies/calibration/least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/check.hpp"

namespace linerate::experiments {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using Members = std::vector<Eigen::Index>;

MatrixXd columns_of(const MatrixXd& matrix, const Members& members) {
  MatrixXd part(matrix.rows(), static_cast<Eigen::Index>(members.size()));
  for (std::size_t i = 0; i < members.size(); ++i)
    part.col(static_cast<Eigen::Index>(i)) = matrix.col(members[i]);
  return part;
}

/// The unconstrained solution over the columns in the passive set, 0 elsewhere.
VectorXd passive_solution(const MatrixXd& a, const VectorXd& b, const std::vector<bool>& passive) {
  Members members;
  for (Eigen::Index i = 0; i < a.cols(); ++i)
    if (passive[static_cast<std::size_t>(i)]) members.push_back(i);
  VectorXd whole = VectorXd::Zero(a.cols());
  if (members.empty()) return whole;
  const VectorXd part = columns_of(a, members).colPivHouseholderQr().solve(b);
  for (std::size_t i = 0; i < members.size(); ++i)
    whole[members[i]] = part[static_cast<Eigen::Index>(i)];
  return whole;
}

/// Parameters free to move: not held, and not at a bound that the gradient pushes against.
Members free_parameters(const Box& box, const VectorXd& point, const VectorXd& gradient,
                        const std::vector<bool>& held) {
  Members members;
  for (Eigen::Index i = 0; i < point.size(); ++i) {
    if (!held.empty() && held[static_cast<std::size_t>(i)]) continue;
    if (point[i] <= box.low[i] && gradient[i] >= 0) continue;
    if (point[i] >= box.high[i] && gradient[i] <= 0) continue;
    members.push_back(i);
  }
  return members;
}

/// The damped step of the free parameters, 0 for the others.
VectorXd damped_step(const MatrixXd& jacobian, const VectorXd& gradient, const Members& members,
                     double damping) {
  const MatrixXd part = columns_of(jacobian, members);
  MatrixXd normal = part.transpose() * part;
  // Marquardt's scaling; a parameter without effect must not make the matrix singular.
  const double least = std::max(normal.diagonal().maxCoeff() * 1e-12, 1e-300);
  for (Eigen::Index i = 0; i < normal.rows(); ++i)
    normal(i, i) += damping * std::max(normal(i, i), least);
  VectorXd right(normal.rows());
  for (std::size_t i = 0; i < members.size(); ++i)
    right[static_cast<Eigen::Index>(i)] = -gradient[members[i]];
  const VectorXd solved = normal.ldlt().solve(right);
  VectorXd step = VectorXd::Zero(gradient.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    step[members[i]] = solved[static_cast<Eigen::Index>(i)];
  return step;
}

}  // namespace

VectorXd non_negative_least_squares(const MatrixXd& a, const VectorXd& b) {
  LINERATE_CHECK(a.rows() == b.size(), "a row of the matrix for every datum");
  const Eigen::Index n = a.cols();
  std::vector<bool> passive(static_cast<std::size_t>(n), false);
  VectorXd x = VectorXd::Zero(n);
  const double enough = 1e-10 * std::max(1e-300, (a.transpose() * b).cwiseAbs().maxCoeff());
  for (Eigen::Index round = 0; round < 3 * n + 3; ++round) {
    const VectorXd gain = a.transpose() * (b - a * x);
    Eigen::Index best = -1;
    for (Eigen::Index i = 0; i < n; ++i)
      if (!passive[static_cast<std::size_t>(i)] && gain[i] > enough &&
          (best < 0 || gain[i] > gain[best]))
        best = i;
    if (best < 0) break;
    passive[static_cast<std::size_t>(best)] = true;
    // Every pass frees at least one column of the passive set, so this ends.
    for (;;) {
      const VectorXd trial = passive_solution(a, b, passive);
      double share = 1;
      for (Eigen::Index i = 0; i < n; ++i)
        if (passive[static_cast<std::size_t>(i)] && trial[i] <= 0)
          share = std::min(share, x[i] / std::max(x[i] - trial[i], 1e-300));
      x += share * (trial - x);
      if (share >= 1) break;
      for (Eigen::Index i = 0; i < n; ++i) {
        if (!passive[static_cast<std::size_t>(i)] || (trial[i] > 0 && x[i] > 0)) continue;
        if (x[i] > 1e-15 * std::abs(trial[i])) continue;
        x[i] = 0;
        passive[static_cast<std::size_t>(i)] = false;
      }
    }
  }
  return x.cwiseMax(0);
}

MatrixXd jacobian_at(const ResidualsAt& residuals, const Box& box, const VectorXd& point,
                     const VectorXd& step) {
  std::vector<VectorXd> points;
  for (Eigen::Index i = 0; i < point.size(); ++i) {
    VectorXd up = point, down = point;
    up[i] = std::min(point[i] + step[i], box.high[i]);
    down[i] = std::max(point[i] - step[i], box.low[i]);
    points.push_back(up);
    points.push_back(down);
  }
  const std::vector<VectorXd> values = residuals(points);
  MatrixXd jacobian(values.front().size(), point.size());
  for (Eigen::Index i = 0; i < point.size(); ++i) {
    const std::size_t pair = static_cast<std::size_t>(2 * i);
    const double width = points[pair][i] - points[pair + 1][i];
    if (width > 0)
      jacobian.col(i) = (values[pair] - values[pair + 1]) / width;
    else
      jacobian.col(i).setZero();
  }
  return jacobian;
}

LeastSquaresFit fit_least_squares(const ResidualsAt& residuals, const Box& box,
                                  const VectorXd& start, const LeastSquaresOptions& options) {
  LINERATE_CHECK(options.step.size() == start.size(), "a step for every parameter");
  LeastSquaresFit fit;
  fit.point = box.clamped(start);
  fit.residuals = residuals({fit.point}).front();
  double damping = 1e-3, growth = 2;
  bool moved = true;
  while (fit.iterations < options.most_iterations && !fit.converged) {
    ++fit.iterations;
    if (moved) fit.jacobian = jacobian_at(residuals, box, fit.point, options.step);
    const VectorXd gradient = fit.jacobian.transpose() * fit.residuals;
    const Members members = free_parameters(box, fit.point, gradient, options.held);
    if (members.empty() || gradient.isZero(0)) {
      fit.converged = true;
      break;
    }
    const VectorXd wanted = damped_step(fit.jacobian, gradient, members, damping);
    const VectorXd next = box.clamped(fit.point + wanted);
    const VectorXd step = next - fit.point;
    const double expected = -2 * gradient.dot(step) - (fit.jacobian * step).squaredNorm();
    const VectorXd values = residuals({next}).front();
    const double won = fit.cost() - values.squaredNorm();
    moved = std::isfinite(won) && won > 0;
    if (moved) {
      const double quality = expected > 0 ? won / expected : 0.5;
      damping *= std::max(1.0 / 3, 1 - std::pow(2 * std::min(quality, 1.0) - 1, 3));
      growth = 2;
      fit.converged = won <= std::max(options.tolerance * fit.cost(), options.negligible);
      fit.point = next;
      fit.residuals = values;
    } else {
      damping *= growth;
      growth *= 2;
      // What a step could still win is nothing, or it is finer than the differences can see.
      fit.converged = expected <= std::max(options.tolerance * fit.cost(), options.negligible) ||
                      damping > 1e12;
    }
  }
  return fit;
}

VectorXd minimum_norm_solution(const MatrixXd& a, const VectorXd& b, double least) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(a.transpose() * a);
  const VectorXd right = a.transpose() * b;
  const double floor = solver.eigenvalues().maxCoeff() * least * least;
  VectorXd x = VectorXd::Zero(a.cols());
  for (Eigen::Index k = 0; k < a.cols(); ++k) {
    const double value = solver.eigenvalues()[k];
    const VectorXd direction = solver.eigenvectors().col(k);
    if (value > floor && value > 0) x += direction * (direction.dot(right) / value);
  }
  return x;
}

MatrixXd inverse_of(const MatrixXd& positive) {
  return positive.ldlt().solve(MatrixXd::Identity(positive.rows(), positive.cols()));
}

Spread spread_of(const MatrixXd& jacobian, double most_condition) {
  const Eigen::Index n = jacobian.cols();
  VectorXd scale(n);
  MatrixXd scaled = jacobian;
  for (Eigen::Index i = 0; i < n; ++i) {
    scale[i] = jacobian.col(i).norm();
    if (scale[i] > 0) scaled.col(i) /= scale[i];
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(scaled.transpose() * scaled);
  const VectorXd squares = solver.eigenvalues().cwiseMax(0);
  const double largest = squares.maxCoeff(), smallest = squares.minCoeff();
  // Sums of squares are exact to a part in 10^15, so what is smaller is nothing.
  const double nothing = 1e-15 * largest;
  Spread spread;
  spread.condition =
      smallest > nothing ? std::sqrt(largest / smallest) : std::numeric_limits<double>::infinity();
  spread.covariance = MatrixXd::Zero(n, n);
  Members flat;
  for (Eigen::Index k = 0; k < n; ++k) {
    const VectorXd direction = solver.eigenvectors().col(k);
    if (squares[k] * most_condition * most_condition <= largest) flat.push_back(k);
    if (squares[k] > nothing) spread.covariance += direction * direction.transpose() / squares[k];
  }
  const VectorXd inverse =
      scale.unaryExpr([](double length) { return length > 0 ? 1 / length : 0; });
  spread.covariance = inverse.asDiagonal() * spread.covariance * inverse.asDiagonal();
  spread.flat = columns_of(solver.eigenvectors(), flat);
  for (Eigen::Index i = 0; i < n; ++i) spread.flat.row(i) *= scale[i] > 0 ? 1 / scale[i] : 1;
  return spread;
}

}  // namespace linerate::experiments
