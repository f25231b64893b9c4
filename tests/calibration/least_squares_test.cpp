// Least squares against problems whose answers are published or follow from theory.
#include "experiments/studies/calibration/least_squares.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace linerate::experiments;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// One data set of the NIST Statistical Reference Datasets, nonlinear regression
/// (https://www.itl.nist.gov/div898/strd/nls), with its certified values.
struct Reference {
  std::vector<double> x, y;
  std::function<double(const VectorXd&, double)> model;
  std::vector<double> start, certified, deviation;
  double sum_of_squares;
};

VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

LeastSquaresFit fit(const Reference& problem) {
  const ResidualsAt residuals = [&](const std::vector<VectorXd>& points) {
    std::vector<VectorXd> all;
    for (const VectorXd& point : points) {
      VectorXd one(problem.x.size());
      for (std::size_t i = 0; i < problem.x.size(); ++i)
        one[static_cast<Eigen::Index>(i)] = problem.model(point, problem.x[i]) - problem.y[i];
      all.push_back(one);
    }
    return all;
  };
  const VectorXd certified = vector_of(problem.certified);
  const Box box{-1e3 * certified.cwiseAbs(), 1e3 * certified.cwiseAbs()};
  LeastSquaresOptions options;
  options.step = 1e-5 * certified.cwiseAbs();
  options.most_iterations = 500;
  options.tolerance = 1e-14;
  return fit_least_squares(residuals, box, vector_of(problem.start), options);
}

void check_certified(const Reference& problem) {
  const LeastSquaresFit found = fit(problem);
  CHECK(found.cost() == Approx(problem.sum_of_squares).epsilon(1e-6));
  const double variance =
      found.cost() / static_cast<double>(problem.x.size() - problem.certified.size());
  const MatrixXd covariance = spread_of(found.jacobian, 1e8).covariance * variance;
  for (std::size_t i = 0; i < problem.certified.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    CHECK(found.point[at] == Approx(problem.certified[i]).epsilon(1e-4));
    CHECK(std::sqrt(covariance(at, at)) == Approx(problem.deviation[i]).epsilon(1e-2));
  }
}

}  // namespace

TEST_CASE("Misra1a of NIST StRD: certified parameters and deviations from the far start") {
  check_certified({
      {77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1,
       760.0},
      {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47,
       81.78},
      [](const VectorXd& b, double x) { return b[0] * (1 - std::exp(-b[1] * x)); },
      {500, 0.0001},
      {2.3894212918e+02, 5.5015643181e-04},
      {2.7070075241e+00, 7.2668688436e-06},
      1.2455138894e-01,
  });
}

TEST_CASE("Thurber of NIST StRD: seven parameters, of higher difficulty") {
  check_certified({
      {-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481,
       -2.363, -2.322, -1.501, -1.460, -1.274, -1.212, -1.100, -1.046, -0.915, -0.714,
       -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010,  0.119,  0.377,  0.790,
       0.963,  1.006,  1.115,  1.572,  1.841,  2.047,  2.200},
      {80.574,   84.248,   87.264,   87.195,   89.076,   89.608,   89.868,   90.101,
       92.405,   95.854,   100.696,  101.060,  401.672,  390.724,  567.534,  635.316,
       733.054,  759.087,  894.206,  990.785,  1090.109, 1080.914, 1122.643, 1178.351,
       1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384,
       1442.962, 1464.350, 1468.705, 1447.894, 1457.628},
      [](const VectorXd& b, double x) {
        return (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) /
               (1 + x * (b[4] + x * (b[5] + x * b[6])));
      },
      {1000, 1000, 400, 40, 0.7, 0.3, 0.03},
      {1.2881396800e+03, 1.4910792535e+03, 5.8323836877e+02, 7.5416644291e+01, 9.6629502864e-01,
       3.9797285797e-01, 4.9727297349e-02},
      {4.6647963344e+00, 3.9571156086e+01, 2.8698696102e+01, 5.5675370270e+00, 3.1333340687e-02,
       1.4984928198e-02, 6.5842344623e-03},
      5.6427082397e+03,
  });
}

TEST_CASE("a minimum outside the bounds is met at the bound, by the other parameters too") {
  // f = (x - 3, y - 2 x): free, the minimum is (3, 6); with x <= 1 it is (1, 2).
  const ResidualsAt residuals = [](const std::vector<VectorXd>& points) {
    std::vector<VectorXd> all;
    for (const VectorXd& p : points) all.push_back(Eigen::Vector2d(p[0] - 3, p[1] - 2 * p[0]));
    return all;
  };
  LeastSquaresOptions options;
  options.step = Eigen::Vector2d(1e-3, 1e-3);
  const Box box{Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 10)};
  const LeastSquaresFit found = fit_least_squares(residuals, box, Eigen::Vector2d(0.2, 9), options);
  CHECK(found.point[0] == 1);
  CHECK(found.point[1] == Approx(2));
  options.held = {false, true};
  CHECK(fit_least_squares(residuals, box, Eigen::Vector2d(0.2, 9), options).point[1] == 9);
}

TEST_CASE("non-negative least squares satisfies the conditions of Kuhn and Tucker") {
  // Pseudo-random but fixed matrices of several shapes.
  for (int shape = 0; shape < 20; ++shape) {
    const Eigen::Index rows = 4 + shape % 7, columns = 1 + shape % 5;
    MatrixXd a(rows, columns);
    VectorXd b(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
      b[i] = std::sin(1.7 * static_cast<double>(i * i + shape));
      for (Eigen::Index j = 0; j < columns; ++j)
        a(i, j) = std::cos(3.1 * static_cast<double>(i + 1) * static_cast<double>(j + 2) + shape);
    }
    const VectorXd x = non_negative_least_squares(a, b);
    const VectorXd gradient = a.transpose() * (a * x - b);
    for (Eigen::Index j = 0; j < columns; ++j) {
      CHECK(x[j] >= 0);
      // A positive unknown is at the bottom, one at zero would only make it worse.
      if (x[j] > 0)
        CHECK(std::abs(gradient[j]) < 1e-9);
      else
        CHECK(gradient[j] > -1e-9);
    }
  }
}

TEST_CASE("costs planted in a linear law are found, and one that would be negative is zero") {
  MatrixXd a(4, 2);
  a << 1, 100, 1, 200, 1, 400, 1, 800;
  const VectorXd planted = a * Eigen::Vector2d(3, 0.25);
  CHECK((non_negative_least_squares(a, planted) - Eigen::Vector2d(3, 0.25)).norm() < 1e-9);
  const VectorXd negative = a * Eigen::Vector2d(-3, 0.25);
  const VectorXd found = non_negative_least_squares(a, negative);
  CHECK(found[0] == 0);
  // With the base at 0 the slope is that of a line through the origin.
  CHECK(found[1] == Approx(negative.dot(a.col(1)) / a.col(1).squaredNorm()));
}

TEST_CASE("columns that only act together are told, with the direction in which they cancel") {
  MatrixXd jacobian(3, 3);
  jacobian << 1, 2, 0, 2, 4, 1, 3, 6, 5;
  const Spread spread = spread_of(jacobian, 30);
  REQUIRE(spread.flat.cols() == 1);
  CHECK(spread.condition > 1e6);
  CHECK(spread.flat(0, 0) / spread.flat(1, 0) == Approx(-2));
  CHECK(std::abs(spread.flat(2, 0)) < 1e-9);
  CHECK(spread_of(MatrixXd::Identity(3, 3), 30).flat.cols() == 0);
}
