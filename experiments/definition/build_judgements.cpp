// Assertions and tolerances: text into figure paths, relations and numbers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "experiments/definition/build.hpp"
#include "experiments/definition/nearest.hpp"

namespace linerate::experiments {

namespace {

/// The figures of a result and what they measure (docs: the result).
struct KnownFigure {
  const char* name;
  Kind kind;
};
constexpr KnownFigure kFigures[] = {
    {"goodput", Kind::rate},
    {"goodput.min", Kind::rate},
    {"throughput", Kind::rate},
    {"fairness", Kind::fraction},
    {"loss", Kind::fraction},
    {"sender.busiest_core", Kind::fraction},
    {"receiver.busiest_core", Kind::fraction},
    {"elapsed", Kind::time},
    {"sender.elapsed", Kind::time},
    {"receiver.elapsed", Kind::time},
    {"sender.cpu", Kind::time},
    {"receiver.cpu", Kind::time},
    {"latency.mean", Kind::time},
    {"latency.p50", Kind::time},
    {"latency.p99", Kind::time},
    {"latency.p999", Kind::time},
    {"latency.max", Kind::time},
    {"jitter", Kind::time},
    {"reordered", Kind::count},
    {"reordered.share", Kind::fraction},
    {"flow_elapsed.mean", Kind::time},
    {"flow_elapsed.p50", Kind::time},
    {"flow_elapsed.p99", Kind::time},
    {"flow_elapsed.small.mean", Kind::time},
    {"flow_elapsed.small.p50", Kind::time},
    {"flow_elapsed.small.p99", Kind::time},
    {"flow_elapsed.medium.mean", Kind::time},
    {"flow_elapsed.medium.p50", Kind::time},
    {"flow_elapsed.medium.p99", Kind::time},
    {"flow_elapsed.large.mean", Kind::time},
    {"flow_elapsed.large.p50", Kind::time},
    {"flow_elapsed.large.p99", Kind::time},
    {"slowdown.mean", Kind::number},
    {"slowdown.p50", Kind::number},
    {"slowdown.p99", Kind::number},
    {"slowdown.small.mean", Kind::number},
    {"slowdown.small.p50", Kind::number},
    {"slowdown.small.p99", Kind::number},
    {"slowdown.medium.mean", Kind::number},
    {"slowdown.medium.p50", Kind::number},
    {"slowdown.medium.p99", Kind::number},
    {"slowdown.large.mean", Kind::number},
    {"slowdown.large.p50", Kind::number},
    {"slowdown.large.p99", Kind::number},
    {"sender.calls", Kind::count},
    {"receiver.calls", Kind::count},
    {"retransmits", Kind::count},
    {"frame_rate", Kind::per_second},
    {"transaction_rate", Kind::per_second},
    {"pdr.frame_rate", Kind::per_second},
    {"pdr.throughput", Kind::rate},
    {"pdr.loss", Kind::fraction},
    {"latency.min", Kind::time},
    {"latency.mean", Kind::time},
    {"latency.max", Kind::time},
    {"latency.device", Kind::time},
    {"burst", Kind::count},
    {"burst_time", Kind::time},
    {"buffer_time", Kind::time},
    {"trials", Kind::count},
    {"cost", Kind::money},
};

struct Operator {
  const char* text;
  Relation relation;
};
// Two-letter ones first: ">=" begins with ">".
constexpr Operator kOperators[] = {{">=", Relation::greater_equal},
                                   {"<=", Relation::less_equal},
                                   {"==", Relation::equal},
                                   {">", Relation::greater},
                                   {"<", Relation::less}};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<Kind> figure_kind(std::string_view name) {
  for (const KnownFigure& figure : kFigures) {
    if (name == figure.name) return figure.kind;
  }
  if (name.starts_with("loss.")) return Kind::fraction;  // of a loss curve: loss.90%
  return std::nullopt;
}

/// The value in the figure's base unit: bit/s, s, B, 1/s, EUR, a count or a fraction.
double in_base_unit(Kind kind, const Value& value) {
  if (kind == Kind::time) return static_cast<double>(value.integer) / 1e12;
  return holds_real(kind) ? value.real : static_cast<double>(value.integer);
}

class JudgementBuilder {
 public:
  explicit JudgementBuilder(BuildContext& context) : context_(context) {
    for (const auto& [name, index] : context.tests) tests_.push_back(name);
    for (const KnownFigure& figure : kFigures) figures_.emplace_back(figure.name);
  }

  void assertion(std::size_t index) {
    path_ = fmt::format("assert[{}]", index);
    Assertion result;
    result.text = context_.spec.assertions[index];
    const std::string_view text = result.text;
    for (const Operator& candidate : kOperators) {
      const std::size_t at = text.find(candidate.text);
      if (at == std::string_view::npos) continue;
      result.relation = candidate.relation;
      const std::string_view left = trim(text.substr(0, at));
      const std::string_view right =
          trim(text.substr(at + std::string_view(candidate.text).size()));
      if (left.ends_with('=') || right.starts_with('=')) break;  // "=>", "<>="
      if (split_figure(left, result.test, result.figure) && value(right, result)) {
        context_.experiment.assertions.push_back(std::move(result));
      }
      return;
    }
    context_.error(path_, fmt::format("`{}` compares nothing", text.substr(0, 80)),
                   "write \"bulk.goodput >= 930Mbit/s\"");
  }

  void tolerance(const Tolerance& tolerance) {
    path_ = "tolerance." + tolerance.pattern;
    std::string test, figure;
    if (split_figure(tolerance.pattern, test, figure)) {
      context_.experiment.tolerances.push_back(tolerance);
    }
  }

 private:
  /// "bulk.latency.p50" into test and figure. A test over frame sizes has results "fwd[64B]"; a
  /// tolerance may have `*` for either.
  bool split_figure(std::string_view text, std::string& test, std::string& figure) {
    const std::size_t dot =
        text.find('.', std::min(text.find(']'), text.size()) == text.size() ? 0 : text.find(']'));
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) {
      context_.error(path_, fmt::format("`{}` is no figure of a test", text.substr(0, 80)),
                     "write test.figure, such as bulk.goodput");
      return false;
    }
    test = text.substr(0, dot);
    figure = text.substr(dot + 1);
    const std::string name = test.substr(0, test.find('['));
    if (name != "*" && !context_.tests.contains(name)) {
      context_.error(path_, fmt::format("there is no test `{}`", name), suggest(name, tests_));
      return false;
    }
    if (figure.find('*') != std::string::npos || figure_kind(figure)) return true;
    // Back ends may have figures that this list does not; a slip of a known one is a slip.
    const std::string nearest = nearest_name(figure, figures_);
    if (nearest.empty()) return true;
    context_.error(path_, fmt::format("there is no figure `{}`", figure),
                   fmt::format("did you mean `{}`?", nearest));
    return false;
  }

  bool value(std::string_view text, Assertion& result) {
    const std::optional<Kind> kind = figure_kind(result.figure);
    std::vector<Kind> kinds;
    if (kind) kinds.push_back(*kind);
    if (kind == Kind::fraction) kinds.push_back(Kind::number);  // "fairness >= 0.9" is as clear
    if (!kind) {
      kinds = {Kind::rate, Kind::time, Kind::size, Kind::per_second, Kind::fraction, Kind::number};
    }
    Trouble first;
    for (const Kind candidate : kinds) {
      auto parsed = parse_value({.kind = candidate}, text);
      if (const Value* value = std::get_if<Value>(&parsed)) {
        result.value = in_base_unit(candidate, *value);
        return true;
      }
      if (first.message.empty()) first = std::get<Trouble>(parsed);
    }
    context_.error(path_, first.message, first.remedy);
    return false;
  }

  BuildContext& context_;
  std::vector<std::string> tests_, figures_;
  std::string path_;
};

}  // namespace

void build_judgements(BuildContext& context) {
  JudgementBuilder builder(context);
  for (std::size_t i = 0; i < context.spec.assertions.size(); ++i) builder.assertion(i);
  for (const Tolerance& tolerance : context.spec.tolerances) builder.tolerance(tolerance);
}

}  // namespace linerate::experiments
