// Link events: names, and the one value each action needs.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/definition/build.hpp"
#include "experiments/definition/nearest.hpp"
#include "experiments/definition/shared_medium.hpp"

namespace linerate::experiments {

namespace {

class EventBuilder {
 public:
  EventBuilder(BuildContext& context, const LinkEventSpec& spec, std::size_t index)
      : context_(context), spec_(spec), path_(fmt::format("events[{}]", index)) {}

  void build() {
    if (context_.read.diagnostics.touched(path_)) return;
    LinkEvent event;
    event.at = spec_.at;
    event.action = spec_.action;
    event.lasts = spec_.lasts;
    event.link = find_link();
    value("loss", LinkAction::loss, spec_.loss, event.loss, "5%");
    value("rate", LinkAction::rate, spec_.rate, event.rate, "10Mbit/s");
    value("delay", LinkAction::delay, spec_.delay, event.delay, "20ms");
    if (spec_.reroute) event.reroute = *spec_.reroute;
    if (spec_.reroute && spec_.action != LinkAction::down && spec_.action != LinkAction::up)
      error("reroute", fmt::format("action {} moves no flows", word_of(spec_.action)),
            "remove it, or write `action: down`");
    if (spec_.action == LinkAction::up && spec_.lasts)
      error("for", "a link that goes up stays so", "write the time it is down: action down");
    if (event.link >= 0 &&
        is_shared(context_.experiment.links[static_cast<std::size_t>(event.link)]))
      error("link", fmt::format("`{}` shares its medium, which does not change", spec_.link),
            "choose a full-duplex link");
    if (event.link >= 0) context_.experiment.events.push_back(event);
  }

 private:
  void error(const char* key, std::string message, std::string remedy) {
    context_.error(path_ + "." + key, std::move(message), std::move(remedy));
  }

  int find_link() {
    const std::vector<Link>& links = context_.experiment.links;
    const auto found = std::find_if(links.begin(), links.end(),
                                    [&](const Link& link) { return link.name == spec_.link; });
    if (found != links.end()) return static_cast<int>(found - links.begin());
    std::vector<std::string> names;
    for (const Link& link : links) names.push_back(link.name);
    error("link", fmt::format("there is no link `{}`", spec_.link), suggest(spec_.link, names));
    return -1;
  }

  template <class T>
  void value(const char* key, LinkAction action, const std::optional<T>& given, T& field,
             const char* example) {
    if (given && spec_.action != action) {
      error(key, fmt::format("action {} takes no `{}`", word_of(spec_.action), key),
            fmt::format("write `action: {}`, or remove it", key));
    } else if (given) {
      field = *given;
    } else if (spec_.action == action) {
      error("action", fmt::format("action {0} needs the key `{0}`", key),
            fmt::format("add `{}: {}`", key, example));
    }
  }

  static std::string word_of(LinkAction action) {
    for (const Word& word : words_of(action))
      if (word.value == static_cast<int>(action)) return word.text;
    return "";
  }

  BuildContext& context_;
  const LinkEventSpec& spec_;
  std::string path_;
};

}  // namespace

void build_events(BuildContext& context) {
  for (std::size_t i = 0; i < context.spec.events.size(); ++i)
    EventBuilder(context, context.spec.events[i], i).build();
}

}  // namespace linerate::experiments
