#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace linerate::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kWipe = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(const OutputOptions& options)
    : animated_(options.progress == ProgressMode::automatic && !options.quiet &&
                ::isatty(STDERR_FILENO) == 1),
      json_(options.progress == ProgressMode::json && !options.quiet) {}

ProgressLine::~ProgressLine() {
  if (drawn_) write_standard_error(kWipe);
}

void ProgressLine::show(const models::Progress& progress) {
  if (!animated_ && !json_) return;
  const auto now = std::chrono::steady_clock::now();
  if (test_ != progress.test) {
    test_ = progress.test;
    started_ = now;
  }
  const double wall = std::chrono::duration<double>(now - started_).count();
  const double done = progress.simulated.seconds();
  const double speed = wall > 0 ? done / wall : 0;
  // A test over a number of bytes has no end that is known before.
  const double total = progress.total.seconds();
  const double left = speed > 0 && total > done ? (total - done) / speed : 0;
  if (json_) {
    ordered_json line{{"kind", "progress"},
                      {"test", progress.test},
                      {"simulated", done},
                      {"events", progress.events}};
    if (total > 0) line["total"] = total;
    if (speed > 0) line["simulated_per_second"] = speed;
    if (left > 0) line["seconds_left"] = left;
    write_standard_error(line.dump() + "\n");
    return;
  }
  std::string line = fmt::format("{}: {:.2f} s", progress.test, done);
  if (total > 0) line += fmt::format(" of {:.2f} s", total);
  line += fmt::format(" simulated, {:.2g} simulated s/s", speed);
  if (left > 0) line += fmt::format(", {:.0f} s left", left);
  rewrite(line);
}

void ProgressLine::show(const realnet::Progress& progress) {
  if (json_)
    write_standard_error(ordered_json{{"kind", "progress"},
                                      {"test", progress.test},
                                      {"repeat", progress.repeat},
                                      {"repeats", progress.repeats}}
                             .dump() +
                         "\n");
  else if (animated_)
    rewrite(fmt::format("{}: run {} of {}", progress.test, progress.repeat, progress.repeats));
}

void ProgressLine::show(const StudyProgress& progress) {
  if (json_)
    write_standard_error(
        ordered_json{{"kind", "progress"}, {"stage", progress.stage}, {"runs", progress.runs}}
            .dump() +
        "\n");
  else if (animated_)
    rewrite(fmt::format("{}: {} simulations", progress.stage, progress.runs));
}

void ProgressLine::rewrite(const std::string& line) {
  write_standard_error(kWipe + line);
  drawn_ = true;
}

}  // namespace linerate::cli
