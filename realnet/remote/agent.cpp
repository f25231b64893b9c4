#include "realnet/remote/agent.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "experiments/definition/parse.hpp"
#include "realnet/end_process.hpp"
#include "realnet/preflight.hpp"
#include "realnet/remote/host_setup.hpp"
#include "realnet/remote/order_text.hpp"

namespace linerate::realnet {
namespace {

constexpr Time kSignOfLife = Time::milliseconds(500);
constexpr Time kWritePatience = Time::seconds(10);
constexpr std::size_t kMostEnds = 1024;

/// An end at work here.
struct RunningEnd {
  explicit RunningEnd(RemoteOrder given) : order(std::move(given)) {}
  RemoteOrder order;
  Shared<TransferReport> report;
  std::unique_ptr<EndProcess> process;
  std::int64_t received = -1, sent = -1;  ///< as last told
};

template <class Section>
std::string as_text(const Section& section) {
  static_assert(std::is_trivially_copyable_v<Section>);
  return to_base64(std::as_bytes(std::span(&section, 1)));
}

class Agent {
 public:
  Agent(int input, int output) : input_(input), output_(::dup(output)), reader_(input) {}

  void serve() {
    Json greeting = agent_greeting();
    greeting["machine"] = machine();
    say(greeting);
    for (;;) {
      wait();
      const auto state = reader_.read();
      while (const auto line = reader_.next()) obey(*line);
      if (state == LineReader::State::ended) return;  // the controller has gone
      for (auto& [number, end] : ends_) report_on(number, *end);
      const Time now = monotonic_now();
      if (now - last_sign_ > kSignOfLife) {
        last_sign_ = now;
        say({{"alive", true}});
      }
    }
  }

 private:
  static Json machine() {
    Json facts = Json::object();
    for (const auto& [name, value] : machine_facts()) facts[name] = value;
    return facts;
  }

  void say(const Json& message) { write_message(output_, message, kWritePatience); }

  void wait() {
    std::vector<pollfd> lines{{input_, POLLIN, 0}};
    for (const auto& [number, end] : ends_) {
      if (end->process) lines.push_back({end->process->line(), POLLIN, 0});
    }
    ::poll(lines.data(), lines.size(), static_cast<int>(kSignOfLife.whole_microseconds() / 1'000));
  }

  void obey(const std::string& line) {
    const Json order = Json::parse(line, nullptr, false);
    Json answer = Json::object();
    try {
      if (!order.is_object()) throw std::runtime_error("no order: " + line.substr(0, 80));
      answer = carry_out(order);
    } catch (const experiments::DefinitionError& error) {
      answer = {{"error", "it does not understand the experiment: " +
                              experiments::format(error.diagnostics().front())}};
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
      // A failed end is news about it.
      if (order.is_object() && order.contains("end") && !order.contains("answer"))
        return say({{"end", order.at("end")}, {"failed", error.what()}});
    }
    if (answer.contains("error") || order.contains("answer")) say(answer);
  }

  Json carry_out(const Json& order) {
    const std::string what = order.at("do");
    if (what == "clock") return {{"clock_ps", monotonic_now().picoseconds()}};
    if (what == "set-clock") {
      shift_clock(Time::picoseconds(order.at("offset_ps")));
      last_sign_ = monotonic_now();
      return {{"done", true}};
    }
    if (what == "experiment") {
      ends_.clear();
      experiment_ = experiments::parse_experiment(order.at("text"), "the controller's experiment");
      return {{"done", true}};
    }
    if (what == "set-up") return set_up(order);
    if (what == "start") return start(order);
    if (what == "forget") {
      ends_.erase(order.at("end").get<int>());
      return {{"done", true}};
    }
    const auto end = ends_.find(order.at("end").get<int>());
    if (end == ends_.end()) throw std::runtime_error("no such end");
    if (what == "go") {
      end->second->report->start = order.at("start_ps").get<std::int64_t>();
      end->second->process->go();
    } else if (what == "sent") {
      end->second->report->sent = order.at("count").get<std::int64_t>();
    } else if (what == "stop") {
      end->second->report->stop = true;
      end->second->process->stop();
    } else {
      throw std::runtime_error("no such order: " + what);
    }
    return {{"done", true}};
  }

  Json set_up(const Json& order) {
    HostSetup setup = setup_from(order);
    Json notes = Json::array();
    for (const std::string& note : check_setup(setup)) notes.push_back(note);
    if (setup.apply) guardian_ = apply_setup(setup);
    return {{"notes", notes}};
  }

  Json start(const Json& order) {
    if (!experiment_) throw std::runtime_error("no experiment yet");
    if (ends_.size() >= kMostEnds) throw std::runtime_error("too many ends at once");
    auto end = std::make_unique<RunningEnd>(order_from(order.at("order"), *experiment_));
    end->report->port = end->order.port;
    end->report->hardware_address = end->order.hardware_address;
    end->process = start_end({*experiment_, end->order.end, end->order.host, end->order.role,
                              *end->report, end->order.limit});
    ends_[order.at("end").get<int>()] = std::move(end);
    return {{"done", true}};
  }

  void report_on(int number, RunningEnd& end) {
    if (!end.process) return;
    for (int message = end.process->message(); message != 0; message = end.process->message()) {
      if (message < 0) {
        const auto& failure = end.order.role == Role::sender ? end.report->sender_failure
                                                             : end.report->receiver_failure;
        say({{"end", number}, {"failed", failure.front() ? failure.data() : "it was killed"}});
        end.process.reset();
        return;
      }
      tell_sent(number, end);  // before the end's last word, which is where it is set
      Json news{{"end", number}, {"said", std::string(1, static_cast<char>(message))}};
      if (message == kListening && end.order.role == Role::receiver) {
        news["port"] = end.report->port;
        news["hardware_address"] = end.report->hardware_address;
      }
      if (message == kDone) {
        news["report"] = end.order.role == Role::sender ? as_text(end.report->sender)
                                                        : as_text(end.report->receiver);
      }
      say(news);
      if (message == kDone) {
        end.process.reset();
        return;
      }
    }
    const std::int64_t received = end.report->received;
    if (end.order.role == Role::receiver && received != end.received &&
        monotonic_now() - last_sign_ > kSignOfLife) {
      end.received = received;
      say({{"end", number}, {"received", received}});
    }
  }

  /// How many frames the receiver may wait for.
  void tell_sent(int number, RunningEnd& end) {
    const std::int64_t sent = end.report->sent;
    if (end.order.role != Role::sender || sent == end.sent) return;
    end.sent = sent;
    say({{"end", number}, {"sent", sent}});
  }

  int input_;
  FileDescriptor output_;
  LineReader reader_;
  std::optional<experiments::Experiment> experiment_;
  std::unique_ptr<SetupGuardian> guardian_;
  std::map<int, std::unique_ptr<RunningEnd>> ends_;
  Time last_sign_;
};

}  // namespace

Json agent_greeting() {
  return {{"agent", "linerate"},
          {"protocol", kProtocol},
          {"version", LINERATE_VERSION},
          // Reports travel as they lie in memory.
          {"layout", fmt::format("{}+{}/{}", sizeof(SenderReport), sizeof(ReceiverReport),
                                 std::endian::native == std::endian::little ? "little" : "big")}};
}

int run_agent(int input, int output) {
  try {
    Agent(input, output).serve();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "linerate agent: {}\n", error.what());
    return 3;
  }
}

}  // namespace linerate::realnet
