// Queues and traffic classes: which keys go together, and what a queue leaves open.
#include <fmt/format.h>

#include <set>

#include "experiments/definition/build.hpp"

namespace linerate::experiments {

namespace {

constexpr unsigned kFifo = 1u << unsigned(Discipline::fifo);
constexpr unsigned kRed = 1u << unsigned(Discipline::red);
constexpr unsigned kCodel = 1u << unsigned(Discipline::codel);
constexpr unsigned kFqCodel = 1u << unsigned(Discipline::fq_codel);
constexpr unsigned kPie = 1u << unsigned(Discipline::pie);

/// A key, whether it is given, and the disciplines in which it means something.
struct Key {
  const char* name;
  bool given;
  unsigned disciplines;
};

std::string names_of(unsigned disciplines) {
  std::string text;
  for (const Word& word : kDisciplineWords)
    if ((disciplines >> unsigned(word.value) & 1u) != 0)
      text += (text.empty() ? "" : ", ") + std::string(word.text);
  return text;
}

void check_keys(BuildContext& context, const std::string& path, const QueueSpec& s) {
  const bool adaptive = s.discipline == Discipline::red && s.adaptive.value_or(false);
  const Key keys[] = {
      {"ecn", s.ecn, kRed | kCodel | kFqCodel | kPie},
      {"ecn_threshold", s.ecn_threshold.has_value(), kFifo},
      {"ecn_threshold_frames", s.ecn_threshold_frames.has_value(), kFifo},
      {"min", s.min.has_value(), kRed},
      {"max", s.max.has_value(), kRed},
      {"min_frames", s.min_frames.has_value(), kRed},
      {"max_frames", s.max_frames.has_value(), kRed},
      {"max_probability", s.max_probability.has_value(), kRed},
      {"weight", s.weight.has_value(), kRed},
      {"mean_frame", s.mean_frame.has_value(), kRed},
      {"gentle", s.gentle.has_value(), kRed},
      {"adaptive", s.adaptive.has_value(), kRed},
      {"target", s.target && !adaptive, kCodel | kFqCodel | kPie},
      {"interval", s.interval.has_value(), kCodel | kFqCodel | kPie},
      {"flows", s.flows.has_value(), kFqCodel},
      {"quantum", s.quantum.has_value(), kFqCodel},
      {"alpha", s.alpha.has_value(), kPie},
      {"beta", s.beta.has_value(), kPie},
      {"burst", s.burst.has_value(), kPie},
      {"mark_below", s.mark_below.has_value(), kPie},
      {"delay_estimator", s.delay_estimator.has_value(), kPie},
      {"derandomised", s.derandomised.has_value(), kPie},
  };
  const unsigned own = 1u << unsigned(s.discipline);
  for (const Key& key : keys) {
    if (!key.given || (key.disciplines & own) != 0) continue;
    context.error(
        path + "." + key.name, fmt::format("`{}` means nothing to {}", key.name, names_of(own)),
        s.discipline == Discipline::fifo && std::string_view(key.name) == "ecn"
            ? "write `ecn_threshold: 100kB`, above which a fifo marks"
            : fmt::format("remove it, or choose a discipline of: {}", names_of(key.disciplines)));
  }
}

void check_red(BuildContext& context, const std::string& path, const QueueSpec& s) {
  if ((s.min || s.max) && (s.min_frames || s.max_frames)) {
    context.error(path, "thresholds in bytes and in frames", "give both in one of them");
    return;
  }
  const QueueSpec full = with_defaults(s, std::nullopt);
  if (full.min && full.max && *full.min >= *full.max)
    context.error(path + ".min", "not below max", "a third of max is usual");
  if (full.min_frames && full.max_frames && *full.min_frames >= *full.max_frames)
    context.error(path + ".min_frames", "not below max_frames", "a third of it is usual");
  if (full.limit && full.min && *full.limit < *full.min)
    context.error(path + ".limit", "below min: RED would never act", "several times max is usual");
  if (s.max_probability && *s.max_probability <= 0)
    context.error(path + ".max_probability", "RED would never drop", "10% is usual");
}

void check_classes(BuildContext& context, const std::string& path, const SwitchSpec& spec) {
  std::set<std::string> names;
  std::set<std::int64_t> taken;
  int rest = 0;
  for (std::size_t i = 0; i < spec.classes.size(); ++i) {
    const TrafficClass& c = spec.classes[i];
    const std::string place = fmt::format("{}.classes[{}]", path, i);
    if (!names.insert(c.name).second)
      context.error(place + ".name", fmt::format("two classes are called `{}`", c.name),
                    "rename one of them");
    rest += c.priorities.empty();
    for (const std::int64_t priority : c.priorities)
      if (!taken.insert(priority).second)
        context.error(place + ".priorities", fmt::format("priority {} stands twice", priority),
                      "each priority belongs to one class");
    if (c.weight != 1 && spec.scheduler != Scheduler::drr)
      context.error(place + ".weight", "only drr heeds weights", "write `scheduler: drr`");
  }
  if (rest > 1)
    context.error(path + ".classes", "two classes without priorities",
                  "only one can take those no other class has");
  if (!spec.classes.empty() && rest == 0 && taken.size() < kPriorities)
    for (std::int64_t priority = 0; priority < kPriorities; ++priority)
      if (!taken.contains(priority))
        return context.error(path + ".classes", fmt::format("priority {} is in no class", priority),
                             "leave out `priorities` in one class: it takes the rest");
}

}  // namespace

void build_queue(BuildContext& context, const std::string& path, QueueSpec& queue) {
  if (context.read.diagnostics.touched(path)) return;
  check_keys(context, path, queue);
  if (queue.discipline == Discipline::red) check_red(context, path, queue);
  if (queue.ecn_threshold && queue.ecn_threshold_frames)
    context.error(path + ".ecn_threshold_frames", "a threshold in bytes is given too",
                  "remove one of them");
  if (!context.read.diagnostics.touched(path)) queue = with_defaults(queue, std::nullopt);
}

std::optional<EgressSpec> build_egress(BuildContext& context, SwitchSpec& spec) {
  const std::string path = "switches." + spec.value.name;
  const Scheduler scheduler = spec.scheduler.value_or(Scheduler::none);
  if (!spec.queue && spec.classes.empty() && scheduler == Scheduler::none) return std::nullopt;
  if (scheduler == Scheduler::none && !spec.classes.empty())
    context.error(path + ".classes", "nothing says in which order they are served",
                  "add `scheduler: strict` or `scheduler: drr`");
  if (spec.queue && !spec.classes.empty())
    context.error(path + ".queue", "each class has its own queue", "write it in the classes");
  // Where the switch has frame memory, that is the limit unless the queue has a tighter one.
  const auto build = [&](const std::string& place, QueueSpec& queue) {
    if (!queue.limit && !queue.limit_frames && spec.value.buffer.total > Bytes(0))
      queue.limit = spec.value.buffer.total;
    build_queue(context, place, queue);
  };
  if (spec.classes.empty()) {
    if (!spec.queue) spec.queue.emplace();
    build(path + ".queue", *spec.queue);
  }
  for (std::size_t i = 0; i < spec.classes.size(); ++i)
    build(fmt::format("{}.classes[{}].queue", path, i), spec.classes[i].queue);
  check_classes(context, path, spec);
  return EgressSpec{spec.queue.value_or(QueueSpec{}), scheduler, spec.classes};
}

}  // namespace linerate::experiments
