#include "cli/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "experiments/results/table.hpp"

namespace linerate::cli {
namespace {

using experiments::Limit;
using experiments::TestResult;

/// What helps against a resource whose name starts so.
struct Advice {
  std::string_view resource, words;
};

constexpr std::array kAdvice{
    Advice{"link", "a faster medium or rate, or larger packets: less of the line for headers"},
    Advice{"switch", "a switch with a faster fabric, or fewer ports in use at once"},
    Advice{"bus", "a wider or faster slot, or a larger max_payload"},
    Advice{"nic", "a faster NIC"},
    Advice{"cpu", "a faster core, larger writes, or more offloads"},
    Advice{"receive window", "a larger receive buffer, or a shorter round trip"},
    Advice{"congestion window",
           "fewer losses, a shorter round trip, or another congestion control"},
    Advice{"send buffer", "a larger send buffer, or a shorter round trip"},
    Advice{"nagle", "no_delay: on, or writes of at least a segment"},
    Advice{"pacing", "a higher pacing rate"},
    Advice{"device", "a faster NIC or link: data waits below TCP"},
    Advice{"application", "larger or more frequent writes, or a reader that does not pause"},
    Advice{"rate", "a higher `rate` of the test: it sends no more than it was told to"},
};

std::string place_of(const Limit& limit) {
  if (limit.parameter.empty()) return limit.origin;
  return limit.origin.empty() ? limit.parameter
                              : fmt::format("{} ({})", limit.parameter, limit.origin);
}

const Limit* binding(const TestResult& test) {
  const auto found = std::find_if(test.limits.begin(), test.limits.end(),
                                  [](const Limit& limit) { return limit.binds; });
  return found == test.limits.end() ? nullptr : &*found;
}

std::string figure_line(const TestResult& test, const char* name) {
  const auto found = test.figures.find(name);
  if (found == test.figures.end() || found->second.samples.empty()) return {};
  return fmt::format("{} {}\n", name,
                     experiments::format_quantity(found->second.median(), found->second.unit));
}

std::string ledger(const TestResult& test) {
  if (test.layers.empty()) return {};
  std::string text =
      fmt::format("\n  {:<10} {:>16} {:>20}\n", "layer", "rate", "bytes of full frame");
  for (const auto& layer : test.layers)
    text += fmt::format("  {:<10} {:>16} {:>20}\n", layer.name,
                        experiments::format_quantity(layer.rate, "bit/s"), layer.bytes_per_frame);
  return text;
}

}  // namespace

std::string byte_ledger(const TestResult& test) {
  if (!test.ledger) return {};
  std::int64_t total = 0;
  std::string text = "\nbytes of a full frame\n";
  for (const auto& part : test.ledger->parts) {
    text += fmt::format("  {:<24} {:>6}\n", part.name, part.bytes);
    total += part.bytes;
  }
  text += fmt::format("  {:<24} {:>6}\n", "on the wire", total);
  text += fmt::format("\nIP packets of up to {} B inside", test.ledger->mtu);
  if (test.ledger->max_segment) text += fmt::format(", MSS {} B", *test.ledger->max_segment);
  return text + "\n";
}

std::string advice_for(const Limit& limit) {
  const auto known = std::find_if(kAdvice.begin(), kAdvice.end(), [&](const Advice& advice) {
    return std::string_view(limit.resource).starts_with(advice.resource);
  });
  return known == kAdvice.end() ? std::string() : std::string(known->words);
}

std::string explain(const TestResult& test) {
  std::string text = fmt::format("test {} ({})\n", test.name, test.type);
  text += "  " + figure_line(test, "goodput");
  if (test.limits.empty()) return text + "  nothing was reported about its limits\n";
  const Limit* binds = binding(test);
  text += binds != nullptr ? fmt::format("  limited by: {}\n", binds->resource)
                           : std::string("  no single resource limits it\n");
  text += fmt::format("\n  {:>4} {:<28} {:>6}\n", "rank", "resource", "used");
  int rank = 0;
  std::string idle;
  for (const Limit& limit : test.limits) {
    // What shows as 0.0 % needs no formula.
    if (!limit.binds && limit.utilisation < 0.0005) {
      idle += (idle.empty() ? "" : ", ") + limit.resource;
      continue;
    }
    text += fmt::format("  {:>4} {:<28} {:>5.1f}%{}\n", ++rank, limit.resource,
                        100 * limit.utilisation, limit.binds ? "  binds" : "");
    if (!limit.formula.empty()) text += fmt::format("       {}\n", limit.formula);
    const std::string place = place_of(limit);
    if (!place.empty()) text += fmt::format("       set by {}\n", place);
  }
  if (!idle.empty()) text += fmt::format("  no part in it: {}\n", idle);
  const std::string advice = binds != nullptr ? advice_for(*binds) : "";
  if (!advice.empty()) text += fmt::format("\n  what helps: {}\n", advice);
  for (const std::string& note : test.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

std::string summary_of(const TestResult& test) {
  std::string text = figure_line(test, "goodput");
  text += ledger(test);
  const Limit* binds = binding(test);
  if (binds != nullptr) {
    text +=
        fmt::format("\nlimited by {}, {:.1f} % used", binds->resource, 100 * binds->utilisation);
    if (!binds->formula.empty()) text += ": " + binds->formula;
    text += "\n";
  }
  for (const std::string& note : test.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace linerate::cli
