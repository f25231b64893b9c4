#include "experiments/studies/calibration/calibrate_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/results/grid.hpp"
#include "experiments/results/json_writer.hpp"
#include "experiments/results/quantity.hpp"

namespace linerate::experiments {

namespace {

const char* name_of(CellUse use) { return use == CellUse::fit ? "fit" : "test"; }

const char* name_of(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::determined:
      return "determined";
    case Knowledge::at_most:
      return "at-most";
    case Knowledge::at_least:
      return "at-least";
    case Knowledge::undetermined:
      return "undetermined";
  }
  return "";
}

/// Half the interval: what the digits of a value are cut to.
double half_width(const CalibratedParameter& found) { return (found.high - found.low) / 2; }

std::string value_text(const CalibratedParameter& found, double value) {
  return found.parameter.rounded_text(value, half_width(found));
}

std::string interval_text(const CalibratedParameter& found) {
  return fmt::format("{} .. {}", value_text(found, found.low), value_text(found, found.high));
}

std::string parameters_table(const Calibration& calibration, bool colour) {
  Grid grid({"parameter", ">value", ">95 % interval", "known", "bounds"});
  for (const CalibratedParameter& found : calibration.parameters) {
    const FitParameter& parameter = found.parameter;
    const std::string bounds =
        fmt::format("{} .. {}", parameter.text(parameter.low), parameter.text(parameter.high));
    Cell value, interval, known{name_of(found.knowledge), Paint::doubtful};
    switch (found.knowledge) {
      case Knowledge::determined:
        value = {value_text(found, found.value), Paint::bold};
        interval = {interval_text(found)};
        known.paint = Paint::good;
        break;
      case Knowledge::at_most:
        interval = {"<= " + value_text(found, found.high)};
        break;
      case Knowledge::at_least:
        interval = {">= " + value_text(found, found.low)};
        break;
      case Knowledge::undetermined:
        value = {"?", Paint::bad};
        known.paint = Paint::bad;
        break;
    }
    grid.add({{parameter.path}, value, interval, known, {bounds}});
  }
  std::string text = grid.text(0, colour);
  for (const CalibratedParameter& found : calibration.parameters)
    if (!found.note.empty()) text += wrapped(found.parameter.path + " " + found.note, 2);
  for (const Combination& combination : calibration.combinations)
    text +=
        wrapped(fmt::format("{}: {}", fmt::join(combination.paths, ", "), combination.words), 2);
  return text;
}

std::string error_text(const std::optional<double>& error) {
  return error ? format_error(*error) : "";
}

/// `own` is what predicted. Columns that no cell has are left out.
std::string cells_table(const std::vector<CalibrationCell>& cells, CellUse use,
                        const std::string& own, const std::string& title, bool colour) {
  Grid grid({"figure", ">data", ">noise", ">" + own, ">error", ">left out", ">block out", ">wire",
             ">bytes", ">mean", ">model 95 %"});
  for (const CalibrationCell& cell : cells) {
    if (cell.use != use) continue;
    std::string width;
    if (cell.model95 && cell.predicted != 0)
      width = fmt::format("+-{:.1f} %", 50 * (cell.model95->second - cell.model95->first) /
                                            std::abs(cell.predicted));
    const bool off = cell.deviation && std::abs(*cell.deviation) > 0.15;
    grid.add({{cell.path()},
              {format_quantity(cell.reference, cell.unit)},
              {cell.noise ? fmt::format("{:.1f} %", 100 * *cell.noise) : ""},
              {cell.deviation ? format_quantity(cell.predicted, cell.unit) : ""},
              {error_text(cell.deviation), off ? Paint::bad : Paint::bold},
              {error_text(cell.left_out)},
              {error_text(cell.block_left_out)},
              {error_text(cell.wire)},
              {error_text(cell.linear)},
              {error_text(cell.mean)},
              {width}});
  }
  return grid.empty() ? "" : title + grid.text(0, colour);
}

std::string summary_table(const std::vector<ErrorSummary>& summaries, bool colour) {
  Grid grid(
      {"cells", "model", ">number", ">median", ">mean", ">9 of 10 within", ">worst", ">bias"});
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  for (const ErrorSummary& summary : summaries)
    grid.add({{name_of(summary.use)},
              {summary.model},
              {std::to_string(summary.cells)},
              {percent(summary.median)},
              {percent(summary.mean)},
              {percent(summary.p90)},
              {percent(summary.worst)},
              {format_error(summary.bias)}});
  return grid.empty() ? "" : "\nabsolute errors\n" + grid.text(0, colour);
}

std::string last_lines(const Calibration& calibration) {
  std::string text = "\n";
  for (const Coverage& coverage : calibration.coverage)
    text += wrapped(
        fmt::format(
            "of {} {} cells {} lie inside the model's 95 % interval, {} when their own error "
            "is added; median width {:.2f} %",
            coverage.cells, name_of(coverage.use), coverage.inside, coverage.inside_with_error,
            100 * coverage.median_width),
        0);
  std::string line = fmt::format("chi squared {:.3g} for {} degrees of freedom",
                                 calibration.chi_squared, calibration.degrees_of_freedom);
  if (calibration.scatter > 1)
    line +=
        fmt::format("; intervals widened by {:.2f}, because cells scatter more than their errors",
                    calibration.scatter);
  if (std::isfinite(calibration.condition))
    line += fmt::format("; condition {:.3g}", calibration.condition);
  text += wrapped(line + fmt::format("; {} simulations", calibration.runs), 0);
  for (const std::string& note : calibration.notes) text += wrapped("note: " + note, 0);
  return text;
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = number(*value);
}

Json write(const CalibratedParameter& found) {
  const FitParameter& parameter = found.parameter;
  Json json;
  json["path"] = parameter.path;
  json["bounds"] = Json::array({parameter.text(parameter.low), parameter.text(parameter.high)});
  json["scale"] = parameter.logarithmic() ? "logarithmic" : "linear";
  json["known"] = name_of(found.knowledge);
  // A number whose digits would mean nothing is not given.
  if (found.knowledge == Knowledge::determined) json["value"] = value_text(found, found.value);
  if (found.knowledge != Knowledge::undetermined)
    json["within"] = Json::array({value_text(found, found.low), value_text(found, found.high)});
  if (!found.note.empty()) json["note"] = found.note;
  return json;
}

Json write(const CalibrationCell& cell, const std::vector<std::string>& sources) {
  Json json;
  json["data"] = sources[cell.data];
  json["test"] = cell.test;
  json["figure"] = cell.figure;
  json["unit"] = cell.unit;
  json["use"] = name_of(cell.use);
  if (!cell.block.empty()) json["block"] = cell.block;
  json["reference"] = number(cell.reference);
  put(json, "noise", cell.noise);
  json["reference_error"] = number(cell.error);
  json["scale"] = cell.logarithmic ? "logarithmic" : "linear";
  if (cell.assumed) json["error_assumed"] = true;
  if (cell.deviation) json["predicted"] = number(cell.predicted);
  put(json, "error", cell.deviation);
  if (cell.model95) json["model95"] = pair_of_numbers(*cell.model95);
  put(json, "error_left_out", cell.left_out);
  put(json, "error_block_left_out", cell.block_left_out);
  put(json, "error_wire", cell.wire);
  put(json, "error_linear", cell.linear);
  put(json, "error_mean", cell.mean);
  return json;
}

Json write(const ErrorSummary& summary) {
  return {{"use", name_of(summary.use)},    {"model", summary.model},
          {"cells", summary.cells},         {"median", number(summary.median)},
          {"mean", number(summary.mean)},   {"p90", number(summary.p90)},
          {"worst", number(summary.worst)}, {"bias", number(summary.bias)}};
}

Json write(const Coverage& coverage) {
  return {{"use", name_of(coverage.use)},
          {"cells", coverage.cells},
          {"inside", coverage.inside},
          {"inside_with_error", coverage.inside_with_error},
          {"median_width", number(coverage.median_width)}};
}

/// One level of the profile's tree: fitted values by path.
struct Tree {
  std::string text;  ///< of a leaf
  std::vector<std::pair<std::string, Tree>> children;

  Tree& at(const std::string& key) {
    for (auto& [name, child] : children)
      if (name == key) return child;
    return children.emplace_back(key, Tree{}).second;
  }
  void print(std::string& out, std::size_t indent) const {
    for (const auto& [name, child] : children) {
      out += std::string(indent, ' ') + name + ":";
      out += child.children.empty() ? " " + child.text + "\n" : "\n";
      child.print(out, indent + 2);
    }
  }
};

/// A text in double quotes, as YAML reads it back.
std::string quoted(const std::string& text) { return Json(text).dump(); }

/// The profile that the entry had, "" if none or if several differ.
std::string base_profile(const Experiment& experiment, const ProfilePlace& place) {
  const Json root = Json::parse(experiment.resolved);
  std::string base;
  if (!root.contains(place.kind)) return base;
  for (const auto& [name, entry] : root[place.kind].items()) {
    if (place.entry != "*" && place.entry != name) continue;
    const std::string profile = entry.value("profile", "");
    if (!base.empty() && base != profile) return {};
    base = profile;
  }
  return base;
}

}  // namespace

std::string format_table(const Calibration& calibration, bool colour) {
  return parameters_table(calibration, colour) +
         cells_table(calibration.cells, CellUse::fit, "fit", "\nfit cells\n", colour) +
         cells_table(calibration.cells, CellUse::test, "fit",
                     "\ntest cells, which the fit has not seen\n", colour) +
         summary_table(calibration.summaries, colour) + last_lines(calibration);
}

std::string format_table(const NullModelStudy& study, bool colour) {
  std::string text =
      cells_table(study.cells, CellUse::fit, "predicted", "rows for fitting\n", colour);
  text += cells_table(study.cells, CellUse::test, "predicted",
                      (text.empty() ? "" : "\n") + std::string("rows for testing\n"), colour);
  text += summary_table(study.summaries, colour);
  for (const std::string& note : study.notes) text += wrapped("note: " + note, 0);
  return text;
}

std::string to_json(const NullModelStudy& study) {
  Json json;
  json["schema_version"] = 1;
  json["kind"] = "study";
  json["study"] = "null-models";
  json["data"] = study.sources;
  json["cells"] = list_to_json(
      study.cells, [&](const CalibrationCell& cell) { return write(cell, study.sources); });
  json["summaries"] =
      list_to_json(study.summaries, [](const ErrorSummary& summary) { return write(summary); });
  json["notes"] = study.notes;
  return to_text(json);
}

std::string to_json(const Calibration& calibration) {
  Json json;
  json["schema_version"] = 1;
  json["kind"] = "study";
  json["study"] = "calibration";
  json["complete"] = calibration.complete;
  json["data"] = calibration.sources;
  json["parameters"] =
      list_to_json(calibration.parameters, [](const auto& found) { return write(found); });
  json["combinations"] = list_to_json(calibration.combinations, [](const Combination& combination) {
    return Json{{"paths", combination.paths}, {"words", combination.words}};
  });
  json["fit"] = {{"chi_squared", number(calibration.chi_squared)},
                 {"degrees_of_freedom", calibration.degrees_of_freedom},
                 {"scatter", number(calibration.scatter)},
                 {"runs", calibration.runs}};
  if (std::isfinite(calibration.condition)) json["fit"]["condition"] = calibration.condition;
  json["cells"] = list_to_json(calibration.cells, [&](const CalibrationCell& cell) {
    return write(cell, calibration.sources);
  });
  json["summaries"] =
      list_to_json(calibration.summaries, [](const auto& summary) { return write(summary); });
  json["coverage"] =
      list_to_json(calibration.coverage, [](const auto& coverage) { return write(coverage); });
  json["notes"] = calibration.notes;
  return to_text(json);
}

ProfilePlace profile_place(const std::vector<FitParameter>& parameters) {
  ProfilePlace place;
  for (const FitParameter& parameter : parameters) {
    const std::size_t first = parameter.path.find('.');
    const std::size_t second = parameter.path.find('.', first + 1);
    const std::string kind = parameter.path.substr(0, first);
    if (second == std::string::npos || (kind != "hosts" && kind != "switches"))
      throw StudyError(
          fmt::format("{} is no part of a host's or a switch's profile, which -o writes",
                      parameter.path),
          "leave -o out: the table and --json have the value, for --set");
    const std::string entry = parameter.path.substr(first + 1, second - first - 1);
    if (!place.kind.empty() && (place.kind != kind || place.entry != entry))
      throw StudyError(fmt::format("-o writes one profile, and {}.{} is not {}.{}", kind, entry,
                                   place.kind, place.entry),
                       "fit hosts of one kind together by hosts.*, or one after the other");
    place = {kind, entry};
  }
  return place;
}

std::string profile_yaml(const Calibration& calibration, const Experiment& experiment,
                         const std::string& date) {
  std::vector<FitParameter> parameters;
  for (const CalibratedParameter& found : calibration.parameters)
    parameters.push_back(found.parameter);
  const ProfilePlace place = profile_place(parameters);
  const std::size_t prefix = place.kind.size() + place.entry.size() + 2;

  std::string out = fmt::format("about: {}\n", quoted("fitted by linerate calibrate"));
  out += "source:\n  data: [";
  for (std::size_t i = 0; i < calibration.sources.size(); ++i)
    out += (i > 0 ? ", " : "") + quoted(calibration.sources[i]);
  out += "]\n";
  const auto fit_cells = std::count_if(calibration.cells.begin(), calibration.cells.end(),
                                       [](const auto& cell) { return cell.use == CellUse::fit; });
  out += fmt::format("  method: {}\n",
                     quoted(fmt::format("bounded least squares over {} figures; within: 95 % by "
                                        "profile likelihood, widened by {:.2f} for scatter",
                                        fit_cells, calibration.scatter)));
  if (!date.empty()) out += fmt::format("  date: {}\n", quoted(date));
  for (const ErrorSummary& summary : calibration.summaries)
    if (summary.model == "this fit")
      out += fmt::format(
          "  {}_error: {}\n", name_of(summary.use),
          quoted(fmt::format("median {:.2f} %, worst {:.2f} % of {} figures", 100 * summary.median,
                             100 * summary.worst, summary.cells)));
  if (const std::string base = base_profile(experiment, place); !base.empty())
    out += fmt::format("profile: {}\n", base);

  Tree tree;
  for (const CalibratedParameter& found : calibration.parameters) {
    std::string rest = found.parameter.path.substr(prefix);
    if (found.knowledge == Knowledge::undetermined) {
      out += fmt::format("# {}: not determined by these data\n", rest);
      continue;
    }
    Tree* node = &tree;
    for (std::size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
      node = &node->at(rest.substr(0, dot));
      rest = rest.substr(dot + 1);
    }
    node->at(rest).text = fmt::format(
        "{{value: {}, within: [{}, {}], source: {}}}", value_text(found, found.value),
        value_text(found, found.low), value_text(found, found.high),
        quoted(found.knowledge == Knowledge::determined ? "calibrated"
               : found.knowledge == Knowledge::at_most  ? "calibrated, an upper limit only"
                                                        : "calibrated, a lower limit only"));
  }
  for (const Combination& combination : calibration.combinations)
    out += "# " + combination.words + "\n";
  tree.print(out, 0);
  return out;
}

}  // namespace linerate::experiments
