#include "experiments/results/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "experiments/results/json_reader.hpp"
#include "experiments/results/json_writer.hpp"
#include "sim/check.hpp"

namespace linerate::experiments {
namespace {

constexpr int schema_version = 1;

constexpr Names<Backend, 3> backend_names{{{Backend::simulated, "simulated"},
                                           {Backend::measured, "measured"},
                                           {Backend::published, "published"}}};
constexpr Names<Better, 3> better_names{
    {{Better::higher, "higher"}, {Better::lower, "lower"}, {Better::neither, "neither"}}};
constexpr Names<Verdict, 4> verdict_names{{{Verdict::within, "within"},
                                           {Verdict::outside, "outside"},
                                           {Verdict::inconclusive, "inconclusive"},
                                           {Verdict::not_judged, "not-judged"}}};

// ---- Writing: one function a type, keys in the order of the documentation.

Json write(const Figure& figure) {
  Json json;
  json["unit"] = figure.unit;
  json["better"] = name_of(better_names, figure.better);
  json["median"] = number(figure.median());
  if (figure.ci95) json["ci95"] = pair_of_numbers(*figure.ci95);
  if (figure.model95) json["model95"] = pair_of_numbers(*figure.model95);
  Json samples = Json::array();
  for (const double sample : figure.samples) samples.push_back(number(sample));
  json["samples"] = std::move(samples);
  return json;
}

Json write_layers(const TestResult& test) {
  return map_to_json(test.layers, [](const LayerRate& layer) {
    Json json{{"rate", number(layer.rate)}, {"bytes_per_frame", layer.bytes_per_frame}};
    return std::pair{layer.name, std::move(json)};
  });
}

Json write(const ByteLedger& ledger) {
  Json json;
  json["mtu"] = ledger.mtu;
  if (ledger.max_segment) json["max_segment"] = *ledger.max_segment;
  json["parts"] = list_to_json(ledger.parts, [](const ByteLedger::Part& part) {
    return Json{{"name", part.name}, {"bytes", part.bytes}};
  });
  return json;
}

Json write(const HostUse& use) { return numbers_to_json(use.figures); }

Json write(const QueueUse& use) {
  Json json;
  json["frames_sent"] = use.frames_sent;
  json["wire_bytes_sent"] = use.wire_bytes_sent;
  json["drops"] = numbers_to_json(use.drops);
  json["peak_queue"] = use.peak_queue;
  if (!use.figures.empty()) json["figures"] = numbers_to_json(use.figures);
  return json;
}

Json write(const PortCounters& port) {
  Json json = write(static_cast<const QueueUse&>(port));
  for (const auto& [name, use] : port.classes) json["classes"][name] = write(use);
  return json;
}

Json write(const Interval& interval) {
  Json json;
  json["from"] = number(interval.from);
  json["to"] = number(interval.to);
  json["figures"] = numbers_to_json(interval.figures);
  return json;
}

Json write(const Limit& limit) {
  Json json;
  json["resource"] = limit.resource;
  json["utilisation"] = number(limit.utilisation);
  json["binds"] = limit.binds;
  if (!limit.formula.empty()) json["formula"] = limit.formula;
  if (!limit.parameter.empty()) json["parameter"] = limit.parameter;
  if (!limit.origin.empty()) json["origin"] = limit.origin;
  if (limit.capacity) json["capacity"] = number(*limit.capacity);
  return json;
}

Json write(const TestResult& test) {
  const auto named = [](const auto& entry) { return std::pair{entry.first, write(entry.second)}; };
  const auto element = [](const auto& entry) { return write(entry); };
  Json json;
  json["name"] = test.name;
  json["type"] = test.type;
  json["figures"] = map_to_json(test.figures, named);
  json["layers"] = write_layers(test);
  if (test.ledger) json["ledger"] = write(*test.ledger);
  json["hosts"] = map_to_json(test.hosts, named);
  json["ports"] = map_to_json(test.ports, named);
  json["intervals"] = list_to_json(test.intervals, element);
  json["limits"] = list_to_json(test.limits, element);
  json["notes"] = test.notes;
  return json;
}

Json write(const Provenance& provenance) {
  Json json;
  if (provenance.experiment.empty()) {
    json["experiment"] = Json::object();
  } else {
    json["experiment"] = Json::parse(provenance.experiment, nullptr, false);
    LINERATE_CHECK(json["experiment"].is_object(), "the resolved experiment is a JSON object");
  }
  json["set"] = provenance.set;
  json["seed"] = provenance.seed;
  json["version"] = provenance.version;
  return json;
}

Json write(const Realisation& realisation) {
  Json json;
  json["element"] = realisation.element;
  json["how"] = realisation.how;
  if (!realisation.why.empty()) json["why"] = realisation.why;
  return json;
}

Json write(const FigureComparison& figure) {
  Json json;
  json["test"] = figure.test;
  json["figure"] = figure.figure;
  json["unit"] = figure.unit;
  json["better"] = name_of(better_names, figure.better);
  json["predicted"] = number(figure.predicted);
  json["reference"] = number(figure.reference);
  if (figure.error) json["error"] = number(*figure.error);
  if (figure.error90) json["error90"] = pair_of_numbers(*figure.error90);
  if (figure.model95) json["model95"] = pair_of_numbers(*figure.model95);
  if (figure.tolerance) json["tolerance"] = number(*figure.tolerance);
  if (figure.null_error) json["null_error"] = number(*figure.null_error);
  json["verdict"] = name_of(verdict_names, figure.verdict);
  if (!figure.note.empty()) json["note"] = figure.note;
  return json;
}

// ---- Reading: every function takes an object whose keys must all be known to it.

Figure read_figure(const JsonValue& value) {
  JsonObject object(value);
  Figure figure;
  figure.unit = object.required("unit").text();
  figure.better = object.required("better").one_of(better_names);
  const JsonValue median = object.required("median");
  if (const auto bounds = object.optional("ci95")) figure.ci95 = bounds->interval();
  if (const auto bounds = object.optional("model95")) figure.model95 = bounds->interval();
  const JsonValue samples = object.required("samples");
  figure.samples = samples.list([](const JsonValue& sample) { return sample.number(); });
  object.finish();
  if (figure.samples.empty()) samples.fail("a figure has at least one sample");
  std::sort(figure.samples.begin(), figure.samples.end());
  // Stated for readers of the file, computed by us: a file in which they differ was edited.
  const double computed = figure.median();
  if (std::abs(median.number() - computed) > 1e-9 * std::abs(computed))
    median.fail("is not the median of the samples");
  return figure;
}

std::map<std::string, double> read_numbers(const JsonValue& value) {
  return value.map<double>([](const JsonValue& number) { return number.number(); });
}

LayerRate read_layer(const std::string& name, const JsonValue& value) {
  JsonObject object(value);
  LayerRate layer{name, object.required("rate").number(),
                  object.required("bytes_per_frame").integer()};
  object.finish();
  return layer;
}

void read_queue_use(JsonObject& object, QueueUse& use) {
  use.frames_sent = object.required("frames_sent").integer();
  use.wire_bytes_sent = object.required("wire_bytes_sent").integer();
  use.drops = object.required("drops").map<std::int64_t>(
      [](const JsonValue& count) { return count.integer(); });
  use.peak_queue = object.required("peak_queue").integer();
  if (const auto figures = object.optional("figures")) use.figures = read_numbers(*figures);
}

QueueUse read_class(const JsonValue& value) {
  JsonObject object(value);
  QueueUse use;
  read_queue_use(object, use);
  object.finish();
  return use;
}

PortCounters read_port(const JsonValue& value) {
  JsonObject object(value);
  PortCounters port;
  read_queue_use(object, port);
  if (const auto classes = object.optional("classes"))
    port.classes = classes->map<QueueUse>(read_class);
  object.finish();
  return port;
}

Interval read_interval(const JsonValue& value) {
  JsonObject object(value);
  Interval interval;
  interval.from = object.required("from").number();
  interval.to = object.required("to").number();
  interval.figures = read_numbers(object.required("figures"));
  object.finish();
  return interval;
}

Limit read_limit(const JsonValue& value) {
  JsonObject object(value);
  Limit limit;
  limit.resource = object.required("resource").text();
  limit.utilisation = object.required("utilisation").number();
  limit.binds = object.required("binds").boolean();
  limit.formula = object.text_or_empty("formula");
  limit.parameter = object.text_or_empty("parameter");
  limit.origin = object.text_or_empty("origin");
  if (const auto capacity = object.optional("capacity")) limit.capacity = capacity->number();
  object.finish();
  return limit;
}

ByteLedger::Part read_part(const JsonValue& value) {
  JsonObject object(value);
  ByteLedger::Part part;
  part.name = object.required("name").text();
  part.bytes = object.required("bytes").integer();
  object.finish();
  return part;
}

ByteLedger read_ledger(const JsonValue& value) {
  JsonObject object(value);
  ByteLedger ledger;
  ledger.mtu = object.required("mtu").integer();
  if (const auto segment = object.optional("max_segment")) ledger.max_segment = segment->integer();
  ledger.parts = object.required("parts").list(read_part);
  object.finish();
  return ledger;
}

TestResult read_test(const JsonValue& value) {
  JsonObject object(value);
  TestResult test;
  test.name = object.required("name").text();
  test.type = object.required("type").text();
  test.figures = object.required("figures").map<Figure>(read_figure);
  for (const auto& [name, layer] : object.required("layers").members())
    test.layers.push_back(read_layer(name, layer));
  if (const auto ledger = object.optional("ledger")) test.ledger = read_ledger(*ledger);
  test.hosts = object.required("hosts").map<HostUse>(
      [](const JsonValue& use) { return HostUse{read_numbers(use)}; });
  test.ports = object.required("ports").map<PortCounters>(read_port);
  test.intervals = object.required("intervals").list(read_interval);
  test.limits = object.required("limits").list(read_limit);
  test.notes = object.required("notes").texts();
  object.finish();
  return test;
}

Provenance read_provenance(const JsonValue& value) {
  JsonObject object(value);
  Provenance provenance;
  provenance.experiment = object.required("experiment").raw_object();
  provenance.set = object.required("set").texts();
  provenance.seed = object.required("seed").unsigned_integer();
  provenance.version = object.required("version").text();
  object.finish();
  return provenance;
}

Realisation read_realisation(const JsonValue& value) {
  JsonObject object(value);
  Realisation realisation;
  realisation.element = object.required("element").text();
  const JsonValue how = object.required("how");
  realisation.how = how.text();
  if (realisation.how != "realised" && realisation.how != "approximated" &&
      realisation.how != "ignored")
    how.fail("is realised, approximated or ignored");
  realisation.why = object.text_or_empty("why");
  object.finish();
  return realisation;
}

FigureComparison read_figure_comparison(const JsonValue& value) {
  const auto number_or_absent = [](const std::optional<JsonValue>& member) {
    return member ? std::optional(member->number()) : std::nullopt;
  };
  JsonObject object(value);
  FigureComparison figure;
  figure.test = object.required("test").text();
  figure.figure = object.required("figure").text();
  figure.unit = object.required("unit").text();
  figure.better = object.required("better").one_of(better_names);
  figure.predicted = object.required("predicted").number();
  figure.reference = object.required("reference").number();
  figure.error = number_or_absent(object.optional("error"));
  if (const auto bounds = object.optional("error90")) figure.error90 = bounds->interval();
  if (const auto bounds = object.optional("model95")) figure.model95 = bounds->interval();
  figure.tolerance = number_or_absent(object.optional("tolerance"));
  figure.null_error = number_or_absent(object.optional("null_error"));
  figure.verdict = object.required("verdict").one_of(verdict_names);
  figure.note = object.text_or_empty("note");
  object.finish();
  return figure;
}

/// What every file of ours begins with.
void read_header(JsonObject& object, const char* kind) {
  const JsonValue version = object.required("schema_version");
  if (version.integer() != schema_version)
    version.fail("is not 1, the only version this program reads");
  const JsonValue stated = object.required("kind");
  if (stated.text() != kind) stated.fail("is \"" + stated.text() + "\", not \"" + kind + "\"");
}

std::pair<std::string, Backend> read_side(const JsonValue& value) {
  JsonObject object(value);
  std::pair side{object.required("source").text(),
                 object.required("backend").one_of(backend_names)};
  object.finish();
  return side;
}

}  // namespace

std::string to_json(const Result& result) {
  Json json;
  json["schema_version"] = schema_version;
  json["kind"] = "result";
  json["backend"] = name_of(backend_names, result.backend);
  json["complete"] = result.complete;
  json["provenance"] = write(result.provenance);
  if (result.backend == Backend::measured) {
    json["environment"] = result.environment;
    json["realisation"] =
        list_to_json(result.realisation, [](const Realisation& entry) { return write(entry); });
  } else {
    LINERATE_CHECK(result.environment.empty() && result.realisation.empty(),
                   "only a measured result has a machine and a lab");
  }
  json["tests"] = list_to_json(result.tests, [](const TestResult& test) { return write(test); });
  json["notes"] = result.notes;
  return to_text(json);
}

std::string to_json(const ResultComparison& comparison) {
  const auto side = [](const std::string& source, Backend backend) {
    Json json;
    json["source"] = source;
    json["backend"] = name_of(backend_names, backend);
    return json;
  };
  Json json;
  json["schema_version"] = schema_version;
  json["kind"] = "comparison";
  json["verdict"] = name_of(verdict_names, overall(comparison));
  json["predicted"] = side(comparison.predicted_source, comparison.predicted_backend);
  json["reference"] = side(comparison.reference_source, comparison.reference_backend);
  json["figures"] = list_to_json(comparison.figures,
                                 [](const FigureComparison& figure) { return write(figure); });
  json["only_in_predicted"] = comparison.only_in_predicted;
  json["only_in_reference"] = comparison.only_in_reference;
  json["notes"] = comparison.notes;
  return to_text(json);
}

Result result_from_json(const std::string& text, const std::string& source) {
  const Json json = parse_bounded(text, source);
  const JsonValue root(json, source);
  JsonObject object(root);
  read_header(object, "result");
  Result result;
  result.backend = object.required("backend").one_of(backend_names);
  result.complete = object.required("complete").boolean();
  result.provenance = read_provenance(object.required("provenance"));
  if (result.backend == Backend::measured) {
    result.environment = object.required("environment").map<std::string>([](const JsonValue& fact) {
      return fact.text();
    });
    result.realisation = object.required("realisation").list(read_realisation);
  }
  const JsonValue tests = object.required("tests");
  result.tests = tests.list(read_test);
  result.notes = object.required("notes").texts();
  object.finish();
  std::set<std::string> names;
  for (const TestResult& test : result.tests)
    if (!names.insert(test.name).second) tests.fail("two tests are named \"" + test.name + "\"");
  return result;
}

ResultComparison comparison_from_json(const std::string& text, const std::string& source) {
  const Json json = parse_bounded(text, source);
  const JsonValue root(json, source);
  JsonObject object(root);
  read_header(object, "comparison");
  ResultComparison comparison;
  const JsonValue verdict = object.required("verdict");
  std::tie(comparison.predicted_source, comparison.predicted_backend) =
      read_side(object.required("predicted"));
  std::tie(comparison.reference_source, comparison.reference_backend) =
      read_side(object.required("reference"));
  comparison.figures = object.required("figures").list(read_figure_comparison);
  comparison.only_in_predicted = object.required("only_in_predicted").texts();
  comparison.only_in_reference = object.required("only_in_reference").texts();
  comparison.notes = object.required("notes").texts();
  object.finish();
  if (verdict.one_of(verdict_names) != overall(comparison))
    verdict.fail("is not the verdict of the figures");
  return comparison;
}

}  // namespace linerate::experiments
