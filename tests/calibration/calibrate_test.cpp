// Calibration over a model whose answers are known by formula: what is planted is found, with an
// honest interval, and what cannot be found is said to be so.
#include "experiments/studies/calibration/calibrate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

// The library's headers do not compile under the project's warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

#include "experiments/definition/parse.hpp"
#include "experiments/studies/calibration/calibrate_document.hpp"
#include "experiments/studies/calibration/uncertainty.hpp"

using namespace linerate;
using namespace linerate::experiments;
using Catch::Contains;

namespace {

constexpr int kTests = 8;

/// Tests t1, t2, … with writes of 1, 2, … KiB over one switch.
Experiment experiment() {
  std::string text =
      "schema_version: 1\nname: planted\n"
      "hosts: {a: {profile: ideal, nics: {eth0: {profile: generic-1g}}}, b: {like: a}}\n"
      "switches: {s1: {ports: 2, rate: 1Gbit/s, latency: 10us}}\n"
      "links:\n"
      "  - {name: left, endpoints: [\"a:eth0\", \"s1:1\"], medium: 1000BASE-T, delay: 10us}\n"
      "  - {endpoints: [\"b:eth0\", \"s1:2\"], medium: 1000BASE-T}\n"
      "tests:\n";
  for (int i = 1; i <= kTests; ++i)
    text += "  - {name: t" + std::to_string(i) +
            ", type: tcp-stream, from: a, to: b, write: " + std::to_string(i) +
            "KiB, duration: 1s}\n";
  return parse_experiment(text, "planted.yaml");
}

/// Seconds that a test takes: the delay once and the latency once for every KiB; with `together`,
/// both once, so that nobody can tell them apart.
double seconds_of(const Experiment& experiment, const Test& test, bool together) {
  const double delay = experiment.links.front().delay.seconds();
  const double latency = experiment.switches.front().latency.seconds();
  const double size = static_cast<double>(test.write.count()) / 1024;
  return 1e-3 + (together ? delay + latency : delay + latency * size);
}

Runner runner(bool together) {
  return [together](const Experiment& experiment) {
    Result result;
    for (const Test& test : experiment.tests) {
      TestResult one;
      one.name = test.name;
      one.type = "tcp-stream";
      one.figures["elapsed"] =
          make_figure("s", Better::lower, {seconds_of(experiment, test, together)});
      result.tests.push_back(one);
    }
    return result;
  };
}

/// What the planted values give, with errors of `noise` and a sign that changes from test to test.
CalibrationData data_of(const std::vector<std::string>& planted, bool together, double noise) {
  CalibrationData data{"data.json", runner(together)(varied(experiment(), planted)), experiment()};
  data.result.backend = Backend::published;
  double sign = 1;
  for (TestResult& test : data.result.tests) {
    Figure& figure = test.figures["elapsed"];
    figure = make_figure("s", Better::lower, {figure.median() * (1 + sign * noise)});
    sign = -sign;
  }
  return data;
}

CalibrationOptions options_for(const std::vector<std::string>& parameters, double error) {
  CalibrationOptions options;
  for (const std::string& text : parameters)
    options.parameters.push_back(parse_fit_parameter(text));
  options.figures = {"elapsed"};
  options.errors = {{"elapsed", error, true, false}};
  return options;
}

const std::vector<std::string> kPlanted{"links.left.delay=200us", "switches.s1.latency=30us"};
const std::vector<std::string> kFit{"links.left.delay=[1us,10ms]",
                                    "switches.s1.latency=[1us,10ms]"};

bool inside(const CalibratedParameter& found, double value) {
  return found.low <= value && value <= found.high;
}

}  // namespace

TEST_CASE("planted parameters are found inside their intervals") {
  const auto found =
      calibrate({data_of(kPlanted, false, 0.002)}, options_for(kFit, 0.002), runner(false));
  REQUIRE(found.complete);
  CHECK(found.all_determined());
  CHECK(found.combinations.empty());
  CHECK(inside(found.parameters[0], 200e6));  // ps
  CHECK(inside(found.parameters[1], 30e6));
  CHECK(found.parameters[0].value == Approx(200e6).epsilon(0.03));
  CHECK(found.parameters[1].value == Approx(30e6).epsilon(0.03));
  // Signs that alternate are what errors of that size look like.
  CHECK(found.chi_squared < 2 * found.degrees_of_freedom);
}

TEST_CASE("intervals are those of linear regression where the model is linear") {
  // One parameter that adds once to every time: its standard error is the weighted mean's.
  const double error = 1e-3;
  const auto found =
      calibrate({data_of(kPlanted, false, 0)}, options_for({"links.left.delay=[0us,1ms]"}, error),
                [](const Experiment& one) {
                  return runner(false)(varied(one, {"switches.s1.latency=30us"}));
                });
  double information = 0;
  for (int i = 1; i <= kTests; ++i) {
    const double seconds = 1e-3 + 200e-6 + 30e-6 * i;
    information += 1 / std::pow(seconds * std::hypot(error, 2e-4), 2);
  }
  const double half = 1.96 / std::sqrt(information) * 1e12;
  CHECK(found.parameters[0].value == Approx(200e6).epsilon(1e-3));
  CHECK(found.parameters[0].high - found.parameters[0].value == Approx(half).epsilon(0.05));
  CHECK(found.parameters[0].value - found.parameters[0].low == Approx(half).epsilon(0.05));
}

TEST_CASE("parameters that only act together get no value, and their sum does") {
  const auto found =
      calibrate({data_of(kPlanted, true, 0.002)}, options_for(kFit, 0.002), runner(true));
  CHECK_FALSE(found.all_determined());
  for (const CalibratedParameter& parameter : found.parameters)
    CHECK(parameter.knowledge != Knowledge::determined);
  REQUIRE(found.combinations.size() == 1);
  CHECK(found.combinations[0].paths.size() == 2);
  // Each counts once in every time, so it is their plain sum.
  CHECK_THAT(found.combinations[0].words, Contains("+ 1 x ") && Contains("= 230us"));
  // Neither can be larger than the sum.
  CHECK(found.parameters[0].high == Approx(230e6).epsilon(0.1));
  const auto json = nlohmann::json::parse(to_json(found));
  CHECK_FALSE(json["parameters"][0].contains("value"));
  CHECK_THAT(profile_yaml(calibrate({data_of(kPlanted, true, 0)},
                                    options_for({"switches.s1.ports=[2,48]"}, 0.002), runner(true)),
                          experiment(), ""),
             Contains("# ports: not determined"));
}

TEST_CASE("a parameter without effect is undetermined, and does not disturb the others") {
  auto fit = kFit;
  fit.push_back("hosts.a.cpu.cores=[1,64]");
  const auto found =
      calibrate({data_of(kPlanted, false, 0.002)}, options_for(fit, 0.002), runner(false));
  CHECK(inside(found.parameters[0], 200e6));
  CHECK(inside(found.parameters[1], 30e6));
  CHECK(found.parameters[2].knowledge == Knowledge::undetermined);
  CHECK_THAT(found.parameters[2].note, Contains("no effect"));
}

TEST_CASE("what is held out does not pull, and is predicted") {
  auto data = data_of(kPlanted, false, 0);
  // One datum is wrong by a half; only the fit that sees it follows.
  Figure& wrong = data.result.tests.back().figures["elapsed"];
  wrong = make_figure("s", Better::lower, {wrong.median() * 1.5});
  auto options = options_for(kFit, 0.002);
  options.hold_out = {"t8"};
  const auto blind = calibrate({data}, options, runner(false));
  CHECK(blind.parameters[0].value == Approx(200e6).epsilon(0.01));
  CHECK(*blind.cells.back().deviation == Approx(1 / 1.5 - 1).epsilon(0.01));
  CHECK(blind.cells.back().use == CellUse::test);
  CHECK(blind.scatter == 1);
  CHECK(blind.coverage.back().inside == 0);

  options.hold_out = {};
  const auto seeing = calibrate({data}, options, runner(false));
  CHECK(seeing.scatter > 10);  // the errors were not what was said
  // Left out, the wrong datum is seen to be wrong, if not quite by how much: the others' answer is
  // sought with the slopes of the fit that it has spoiled.
  CHECK(*seeing.cells.back().left_out < -0.2);
  CHECK(*seeing.cells.back().left_out < *seeing.cells.back().deviation);
}

TEST_CASE("a note of the data says what is held out and which cells form a block") {
  auto data = data_of(kPlanted, false, 0);
  for (std::size_t i = 0; i < data.result.tests.size(); ++i)
    data.result.tests[i].notes = {i < 4 ? "series: small" : "series: large",
                                  i == 7 ? "use: test" : "use: fit"};
  auto options = options_for(kFit, 0.002);
  options.block = "series";
  const auto found = calibrate({data}, options, runner(false));
  CHECK(found.cells[7].use == CellUse::test);
  REQUIRE(found.cells[0].block_left_out);
  CHECK(std::abs(*found.cells[0].block_left_out) < 1e-3);
}

TEST_CASE("the number of threads changes nothing") {
  auto options = options_for(kFit, 0.002);
  const auto one = to_json(calibrate({data_of(kPlanted, false, 0.01)}, options, runner(false)));
  options.threads = 4;
  CHECK(to_json(calibrate({data_of(kPlanted, false, 0.01)}, options, runner(false))) == one);
}

TEST_CASE("the null model linear in bytes is exact where times are") {
  // With the delay at nothing, time is 1 ms and 30 us a KiB.
  const auto found = calibrate(
      {data_of({"links.left.delay=0us", kPlanted[1]}, false, 0)}, options_for({kFit[1]}, 0.01),
      [](const Experiment& one) { return runner(false)(varied(one, {"links.left.delay=0us"})); });
  // Its writes differ, but a test of one second moves as many bytes as it likes: no bytes, no line.
  for (const CalibrationCell& cell : found.cells) {
    CHECK_FALSE(cell.wire);
    CHECK(cell.mean);
  }
}

TEST_CASE("bad requests say what to do") {
  const auto data = data_of(kPlanted, false, 0);
  CHECK_THROWS_AS(parse_fit_parameter("links.left.delay"), StudyError);
  CHECK_THROWS_AS(parse_fit_parameter("links.left.delay=[2us,1us]"), StudyError);
  CHECK_THROWS_AS(parse_fit_parameter("links.left.delay=[1us,1MiB]"), StudyError);
  CHECK_THROWS_AS(
      calibrate({data}, options_for({"links.wrong.delay=[1us,2us]"}, 0.01), runner(false)),
      DefinitionError);
  auto options = options_for(kFit, 0.01);
  options.hold_out = {"t*"};
  CHECK_THROWS_AS(calibrate({data}, options, runner(false)), StudyError);
  options.hold_out = {"nothing"};
  CHECK_THROWS_WITH(calibrate({data}, options, runner(false)), Contains("matches no figure"));
  options = options_for({kFit[0], kFit[0]}, 0.01);
  CHECK_THROWS_WITH(calibrate({data}, options, runner(false)), Contains("twice"));
}

TEST_CASE("a profile holds what is known and no digit more") {
  const auto found =
      calibrate({data_of(kPlanted, false, 0.002)}, options_for({kFit[1]}, 0.002),
                [](const Experiment& one) { return runner(false)(varied(one, {kPlanted[0]})); });
  const std::string profile = profile_yaml(found, experiment(), "2026-01-31");
  CHECK_THAT(profile, Contains("latency: {value: ") && Contains("within: [") &&
                          Contains("date: \"2026-01-31\"") && Contains("data.json"));
  const FitParameter parameter = parse_fit_parameter("x=[1us,1s]");
  CHECK(parameter.rounded_text(1234567, 4567) == "1.2346us");
  CHECK(parameter.rounded_text(1234567, 456700) == "1.23us");
  CHECK_THROWS_WITH(profile_place({parse_fit_parameter(kFit[0])}), Contains("no part of"));
}

TEST_CASE("uncertain parameters that share a line of a profile vary together") {
  const Experiment shared = parse_experiment(
      "schema_version: 1\nname: shared\n"
      "hosts: {a: {profile: ideal, nics: {eth0: {profile: generic-1g}}}, b: {like: a}}\n"
      "switches:\n  s1: {ports: 2, rate: 1Gbit/s, latency: {value: 10us, within: [5us, 40us]}}\n"
      "  s2: {like: s1, latency: 1us}\n"
      "  s3: {like: s1}\n"
      "links:\n"
      "  - {name: left, endpoints: [\"a:eth0\", \"s1:1\"], medium: 1000BASE-T,\n"
      "     delay: {value: 1us, within: [0us, 3us]}}\n"
      "  - {endpoints: [\"b:eth0\", \"s1:2\"], medium: 1000BASE-T}\n"
      "tests: [{name: t1, type: tcp-stream, from: a, to: b, write: 1KiB, duration: 1s}]\n",
      "shared.yaml");
  const auto parameters = uncertain_parameters(shared);
  REQUIRE(parameters.size() == 2);
  CHECK(parameters[0].paths ==
        std::vector<std::string>{"switches.s1.latency", "switches.s3.latency"});
  CHECK(parameters[0].quantile(0.5) == Approx(10e6));
  CHECK(parameters[0].quantile(0.025) == Approx(5e6));
  CHECK(parameters[0].quantile(0.975) == Approx(40e6));
  CHECK(parameters[1].quantile(0.001) == 0);  // nothing beyond the bounds

  CHECK(states_intervals(shared));

  // One parameter: the figure's interval is what its two bounds give.
  Result result = runner(false)(shared);
  const Experiment one = varied(shared, {"links.left.delay=1us"});
  add_model_intervals(one, result, runner(false), kModelRuns, 3);
  const auto [low, high] = result.tests[0].figures["elapsed"].model95.value();
  // 39 points come within 3 % of either end.
  CHECK(low - 1e-3 - 1e-6 == Approx(5e-6).epsilon(0.1));
  CHECK(high - 1e-3 - 1e-6 == Approx(40e-6).epsilon(0.1));
}

TEST_CASE("the study schema accepts a calibration and refuses another") {
  std::ifstream file(LINERATE_SOURCE_DIR "/experiments/studies/study.schema.json");
  REQUIRE(file);
  const nlohmann::json text = nlohmann::json::parse(file);
  const valijson::adapters::NlohmannJsonAdapter adapter(text);
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  valijson::Schema schema;
  parser.populateSchema(adapter, schema);
  const auto accepts = [&](const nlohmann::json& document) {
    valijson::Validator validator;
    return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
  };
  auto study = nlohmann::json::parse(to_json(
      calibrate({data_of(kPlanted, false, 0.002)}, options_for(kFit, 0.002), runner(false))));
  CHECK(accepts(study));
  study["parameters"][0]["known"] = "guessed";
  CHECK_FALSE(accepts(study));
  study = nlohmann::json::parse(
      to_json(calibrate({data_of(kPlanted, true, 0.002)}, options_for(kFit, 0.002), runner(true))));
  CHECK(accepts(study));
  study["surprise"] = 1;
  CHECK_FALSE(accepts(study));
  const auto data = data_of(kPlanted, false, 0.002);
  study = nlohmann::json::parse(to_json(beside_null_models(data, data.result, {"elapsed"})));
  CHECK(accepts(study));
  study["study"] = "calibration";  // which would need its parameters
  CHECK_FALSE(accepts(study));
}
