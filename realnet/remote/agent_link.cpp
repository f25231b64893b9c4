#include "realnet/remote/agent_link.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>

#include "realnet/measure.hpp"
#include "realnet/remote/agent.hpp"

namespace linerate::realnet {
namespace {

/// A login may ask a directory, run scripts and wait for a slow host.
constexpr Time kGreetingPatience = Time::seconds(30);
constexpr Time kAnswerPatience = Time::seconds(5);
/// An agent gives a sign of life every half second.
constexpr Time kSilence = Time::seconds(10);
/// News about one end that nobody has taken.
constexpr std::size_t kMostNews = 10'000;
/// News about one end in all: a report of some 400 kB, and a line twice a second for days.
constexpr std::size_t kMostNewsBytes = 64 << 20;
constexpr std::size_t kMostFacts = 64;
/// Clocks count from the start of a program, so they differ by less; a Time ends at 106 days.
constexpr Time kFarthestClock = Time::seconds(50 * 24 * 3600);

std::vector<std::string> command_for(const experiments::LabHost& host) {
  const std::vector<std::string> agent{"linerate", "agent", "--stdio"};
  if (!host.ssh.empty()) return over_ssh(host.ssh, agent);
  std::vector<std::string> command = host.command;
  command.insert(command.end(), agent.begin(), agent.end());
  return command;
}

}  // namespace

AgentLink::AgentLink(const experiments::LabHost& host) : host_(host.name) {
  program_.emplace(command_for(host));
  reader_.emplace(program_->output().number());
  last_heard_ = monotonic_now();
  const Time give_up = last_heard_ + kGreetingPatience;
  while (!answer_) await_line(give_up);
  const Json greeting = *std::exchange(answer_, std::nullopt);
  const auto mine = agent_greeting();
  for (const char* key : {"agent", "protocol", "version", "layout"}) {
    if (!greeting.contains(key)) fail("what answers is no linerate agent");
    if (greeting.at(key) != mine.at(key)) {
      fail(fmt::format("its {} is {}, and this linerate's is {}: install the same version on both",
                       key, greeting.at(key).dump(), mine.at(key).dump()));
    }
  }
  understand(greeting, [&](const Json& said) {
    if (!said.contains("machine")) return;
    for (const auto& [fact, value] : said.at("machine").items()) {
      if (machine_.size() < kMostFacts) machine_[shown(fact)] = shown(value.get<std::string>());
    }
  });
}

void AgentLink::fail(const std::string& what) const {
  throw EnvironmentError(fmt::format("agent on host {}: {}", host_, shown(what)));
}

void AgentLink::tell(const Json& order) {
  try {
    write_message(program_->input(), order, kAnswerPatience);
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
}

Json AgentLink::ask(Json order, Time patience) {
  answer_.reset();
  order["answer"] = true;
  tell(order);
  const Time give_up = monotonic_now() + patience;
  while (!answer_) await_line(give_up);
  Json answer = *std::exchange(answer_, std::nullopt);
  understand(answer, [&](const Json& said) {
    if (said.contains("error")) fail(said.at("error").get<std::string>());
  });
  return answer;
}

void AgentLink::hear() {
  LineReader::State state = LineReader::State::open;
  try {
    state = reader_->read();
  } catch (const std::runtime_error& error) {
    fail(error.what());
  }
  while (const auto line = reader_->next()) take(*line);
  if (state == LineReader::State::ended) {
    const std::string ending = program_->ending(Time::seconds(1));
    fail(fmt::format("it ended ({})", ending.empty() ? "it closed its output" : ending));
  }
  if (monotonic_now() - last_heard_ > kSilence)
    fail(fmt::format("it has said nothing for {} s", kSilence.seconds()));
}

void AgentLink::await_line(Time deadline) {
  const Time left = deadline - monotonic_now();
  if (left <= Time{}) fail("it does not answer in time");
  pollfd readable{descriptor(), POLLIN, 0};
  ::poll(&readable, 1,
         static_cast<int>(std::min(left, Time::milliseconds(100)).whole_microseconds() / 1'000));
  // Waiting for a greeting is bounded by its own deadline.
  last_heard_ = std::max(last_heard_, monotonic_now() - kSilence / 2);
  hear();
}

void AgentLink::take(const std::string& line) {
  auto message = message_in(line);
  if (!message) fail(fmt::format("it says what is no message: `{}`", line.substr(0, 80)));
  last_heard_ = monotonic_now();
  if (!message->contains("end")) {
    if (!message->contains("alive")) answer_ = std::move(*message);
    return;
  }
  const auto end = understand(*message, [](const Json& said) { return said.at("end").get<int>(); });
  const auto wanted = news_.find(end);
  if (wanted == news_.end()) return;  // of an end that has been forgotten meanwhile
  News& news = wanted->second;
  news.bytes += line.size();
  if (news.messages.size() > kMostNews || news.bytes > kMostNewsBytes)
    fail("it sends more news than anybody asked for");
  news.messages.push_back(std::move(*message));
}

int AgentLink::new_number() {
  news_[next_number_];
  return next_number_++;
}

std::optional<Json> AgentLink::news_of(int number) {
  auto& queue = news_.at(number).messages;
  if (queue.empty()) return std::nullopt;
  Json oldest = std::move(queue.front());
  queue.pop_front();
  return oldest;
}

void AgentLink::forget(int number) {
  news_.erase(number);
  try {
    tell({{"do", "forget"}, {"end", number}});
  } catch (const EnvironmentError&) {
    // It has died; the end has died with it.
  }
}

Time AgentLink::synchronise() {
  Time shortest = Time::never(), offset;
  for (int i = 0; i < 8; ++i) {
    const Time sent = monotonic_now();
    const Json answer = ask({{"do", "clock"}}, kAnswerPatience);
    const Time round = monotonic_now() - sent;
    if (round >= shortest) continue;
    shortest = round;
    // The answer is read off its clock half a round trip after the question.
    const auto clock = understand(
        answer, [](const Json& said) { return said.at("clock_ps").get<std::int64_t>(); });
    if (std::abs(clock) > kFarthestClock.picoseconds()) fail("its clock is out of all bounds");
    offset = sent + round / 2 - Time::picoseconds(clock);
  }
  ask({{"do", "set-clock"}, {"offset_ps", offset.picoseconds()}}, kAnswerPatience);
  return shortest / 2;
}

}  // namespace linerate::realnet
