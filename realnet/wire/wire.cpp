#include "realnet/wire/wire.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "realnet/wire/ecn.hpp"
#include "realnet/wire/packet_port.hpp"
#include "realnet/wire/segment_script.hpp"

namespace linerate::realnet {
namespace {

/// A timer wakes a process up to 50 us late on a virtual machine (a median of 37 us with a timer
/// slack of 1 ns); this long before a deadline it stays awake.
constexpr Time kSpin = Time::microseconds(50);
/// Longest sleep between looks at frames that need not be seen at once.
constexpr Time kLongestNap = Time::milliseconds(1);
/// Below this latency arrivals are waited for; above, a look every quarter of it is in time.
constexpr Time kShortLatency = Time::microseconds(400);
/// Frames closer together than kSpin leave a wire of much latency in handfuls: with a call and a
/// look at the clock for each frame, 1 Gbit/s takes a processor whole, and the kernel then stops a
/// process of this urgency for 50 ms of every second (sched_rt_runtime_us). At most this much and
/// this share of the latency is added to a frame's time.
constexpr Time kGather = Time::microseconds(50);
constexpr std::int64_t kGatherShare = 50;
/// How long a wire without frames sleeps.
constexpr Time kIdle = Time::milliseconds(50);
/// Memory for frames when the plan bounds them by nothing.
constexpr Bytes kSpareRoom{8 << 20}, kMostRoom{256 << 20};
/// The process's own patience when it starts.
constexpr Time kStartPatience = Time::seconds(5);

Bytes room_for(const LineConfig& line) {
  const double flight =
      static_cast<double>(line.rate.bits_per_second()) / 8 * (line.latency + line.jitter).seconds();
  const Bytes needed = Bytes(static_cast<std::int64_t>(flight)) + line.queue.value_or(Bytes(0));
  return std::min(needed + kSpareRoom, kMostRoom);
}

/// One direction at work.
class LineWorker {
 public:
  LineWorker(const LineConfig& config, PacketPort& in, PacketPort& out, LineReport& report)
      : line_(config),
        script_(config.script),
        marks_(config.discipline.has_value()),
        in_(in),
        out_(out),
        report_(report),
        store_(room_for(config)) {}

  void begin(Time start) {
    line_.begin(start);
    if (start == begun_) return;
    begun_ = start;
    script_.restart();
    held_.clear();
  }

  /// Takes what has arrived; whether there was anything.
  bool receive() {
    const Time begun = monotonic_now();
    // The kernel stamps with the clock of the day, which may be set; deadlines use one that is not.
    const Time to_monotonic = monotonic_now() - real_now();
    int taken = 0;
    for (; taken < kMostAtOnce; ++taken) {
      const PacketPort::Arrival arrival = in_.front();
      if (arrival.bytes.empty()) break;
      take(arrival.stamp + to_monotonic, arrival.bytes);
      in_.release();
    }
    // What came before `begun` has been taken, so nothing can come in between any more.
    if (taken < kMostAtOnce) settle(begun);
    if (taken > 0) publish();
    return taken > 0;
  }

  /// Sends what is due.
  bool send() {
    remove_lost();
    const Time now = monotonic_now();
    std::size_t due = 0;
    while (due < std::min(settled_, PacketPort::kLargestBatch) && !store_[due].lost &&
           store_[due].due <= now)
      ++due;
    if (due == 0) return false;
    const std::size_t sent = out_.send(store_, due);
    for (std::size_t i = 0; i < sent; ++i) report_.late.add(now - store_[i].due);
    remove(sent);
    return sent > 0;
  }

  /// When there is next something to send or to settle.
  Time next() const {
    return std::min(settled_ == 0    ? Time::never()
                    : store_[0].lost ? Time{}
                                     : store_[0].due,
                    line_.next());
  }

  void count_overruns() {
    for (std::int64_t lost = in_.overruns(); lost > 0; --lost) line_.count_drop(LineDrop::overrun);
    publish();
  }

 private:
  static constexpr int kMostAtOnce = 256;

  void take(Time now, std::span<const std::byte> bytes) {
    // The kernel hands frames over in the order of their stamps but for its own races.
    last_ = later(now, last_);
    settle(last_);
    if (!store_.fits(bytes.size())) return line_.count_drop(LineDrop::overrun);
    const Bytes fresh = script_.empty() ? Bytes(0) : script_.fresh_payload(bytes);
    const Line::Fate fate = line_.take(last_, Bytes(static_cast<std::int64_t>(bytes.size())),
                                       marks_ && is_capable(bytes));
    if (fate.drop == LineDrop::queue) return;
    const auto verdict = script_.judge(fresh);
    if (fate.drop != LineDrop::none) return;
    if (verdict == SegmentScript::Verdict::drop) return line_.count_drop(LineDrop::script);
    if (verdict == SegmentScript::Verdict::hold) {
      held_.assign(bytes.begin(), bytes.end());
      behind_ = script_.positions();
      return;
    }
    keep(fate, bytes);
    if (held_.empty() || fresh == Bytes(0) || --behind_ > 0) return;
    if (store_.fits(held_.size())) {
      keep(fate, held_);
    } else {
      line_.count_drop(LineDrop::overrun);
    }
    held_.clear();
  }

  void keep(const Line::Fate& fate, std::span<const std::byte> bytes) {
    store_.add(fate.due, bytes);
    if (fate.mark) mark_congestion(store_.newest().bytes);
    if (fate.due != Time::never()) ++settled_;
  }

  /// Hears what has become of the frames by `now`.
  void settle(Time now) {
    for (;;) {
      const Line::News news = line_.settle(now);
      if (news.kind == Line::News::Kind::none) return;
      if (news.kind == Line::News::Kind::cut) {
        cut(news.fate.due);
      } else if (news.fate.drop == LineDrop::none) {
        if (news.fate.mark) mark_congestion(store_[settled_].bytes);
        store_.settle(settled_++, news.fate.due);
      } else {
        store_.lose(settled_++);
      }
    }
  }

  /// The link has gone down: what has not arrived by `when` will not.
  void cut(Time when) {
    for (std::size_t i = 0; i < store_.count(); ++i) {
      if (store_[i].lost || (i < settled_ && store_[i].due <= when)) continue;
      // Those in the queue have been counted by the line.
      if (i < settled_) line_.count_drop(LineDrop::down);
      store_.lose(i);
    }
    settled_ = store_.count();
  }

  void remove_lost() {
    std::size_t lost = 0;
    while (lost < settled_ && store_[lost].lost) ++lost;
    if (lost > 0) remove(lost);
  }
  void remove(std::size_t count) {
    store_.remove(count);
    settled_ -= count;
    report_.waiting.store(static_cast<std::int64_t>(store_.count()), std::memory_order_relaxed);
  }

  void publish() {
    const auto put = [](std::atomic<std::int64_t>& field, std::int64_t value) {
      field.store(value, std::memory_order_relaxed);
    };
    put(report_.frames, line_.frames());
    put(report_.free_at, line_.free_at().picoseconds());
    put(report_.wire_bytes, line_.wire_bytes());
    put(report_.peak_queue, line_.peak_queue());
    put(report_.marks, line_.marks());
    put(report_.waiting, static_cast<std::int64_t>(store_.count()));
    for (int cause = 0; cause < kLineDrops; ++cause)
      put(report_.drops[cause], line_.drops(static_cast<LineDrop>(cause)));
  }

  Line line_;
  SegmentScript script_;
  bool marks_;  ///< its queue may mark frames
  PacketPort& in_;
  PacketPort& out_;
  LineReport& report_;
  FrameStore store_;
  std::size_t settled_ = 0;  ///< frames at the head of the store whose fate is known
  Time last_, begun_ = Time::never();
  std::vector<std::byte> held_;  ///< a frame that leaves behind later ones
  int behind_ = 0;               ///< so many
};

/// Runs before everything that is not as urgent, where that is allowed.
void run_first() {
  sched_param parameters{};
  parameters.sched_priority = 1;
  static_cast<void>(::sched_setscheduler(0, SCHED_FIFO, &parameters));
}

/// Waits for a frame, or with `nap` not for one, until `deadline` at the latest.
void await_frames(const std::array<PacketPort*, 2>& ports, Time deadline, bool nap) {
  if (nap) return sleep_until(deadline);
  pollfd arrivals[2] = {{ports[0]->descriptor(), POLLIN, 0}, {ports[1]->descriptor(), POLLIN, 0}};
  const std::int64_t patience =
      std::max<std::int64_t>((deadline - monotonic_now()).picoseconds() / 1'000, 0);
  const timespec timeout{patience / 1'000'000'000, patience % 1'000'000'000};
  ::ppoll(arrivals, 2, &timeout, nullptr);
}

}  // namespace

Wire::Wire(const WirePlan& plan, const std::array<std::string, 2>& devices, int place, Time limit)
    : name_(devices[0] + " - " + devices[1]),
      rates_{plan.lines[0].rate, plan.lines[1].rate},
      disciplined_{plan.lines[0].discipline.has_value(), plan.lines[1].discipline.has_value()},
      process_(
          [&](const ParentLine& parent) {
            checked(::setns(place, CLONE_NEWNET), "setns");
            run(plan, devices, *report_, parent);
          },
          report_->failure, limit) {
  pollfd line{process_.line(), POLLIN, 0};
  ::poll(&line, 1, static_cast<int>(kStartPatience.whole_microseconds() / 1'000));
  if (process_.message() <= 0) {
    throw std::runtime_error(
        fmt::format("the user-space wire did not start: {}",
                    report_->failure.front() ? report_->failure.data() : "no answer in time"));
  }
}

void Wire::run(const WirePlan& plan, const std::array<std::string, 2>& devices, Report& report,
               const ParentLine& parent) {
  PacketPort near(devices[0], plan.largest), far(devices[1], plan.largest);
  LineWorker forward(plan.lines[0], near, far, report.lines[0]);
  LineWorker backward(plan.lines[1], far, near, report.lines[1]);
  const Time shortest = std::min(plan.lines[0].latency, plan.lines[1].latency);
  const Time nap = shortest > kShortLatency ? std::min(shortest / 4, kLongestNap) : Time{};
  const Time gather = shortest >= kGather * kGatherShare ? kGather : Time{};
  run_first();
  parent.say('r');
  Time counted, last_frame;
  for (;;) {
    const Time start = Time::picoseconds(report.start.load(std::memory_order_relaxed));
    forward.begin(start);
    backward.begin(start);
    const bool arrived = static_cast<int>(forward.receive()) | static_cast<int>(backward.receive());
    const bool left = static_cast<int>(forward.send()) | static_cast<int>(backward.send());
    const Time now = monotonic_now();
    if (arrived || left) last_frame = now;
    if (now - counted > kIdle) {
      counted = now;
      forward.count_overruns();
      backward.count_overruns();
    }
    const Time next = std::min(forward.next(), backward.next());
    if (next <= now + kSpin) {
      if (left && gather > Time{}) sleep_until(now + gather);
      continue;
    }
    // While there is traffic, a wire with latency need not wake up for every arrival.
    const bool busy = nap > Time{} && now - last_frame < nap * 8;
    const Time awake = std::min(next == Time::never() ? now + kIdle : next - kSpin,
                                busy ? now + nap : now + kIdle);
    await_frames({&near, &far}, awake, busy);
  }
}

void Wire::check() const {
  if (process_.message() >= 0) return;
  throw std::runtime_error(
      fmt::format("the user-space wire between {} ended: {}", name_,
                  report_->failure.front() ? report_->failure.data() : "its process was killed"));
}

experiments::PortCounters Wire::counters(int direction) const {
  const LineReport& report = line(direction);
  experiments::PortCounters counters;
  counters.frames_sent = report.frames;
  // Frames are counted when the line takes them; those whose turn has not come are not yet sent.
  const Time ahead = Time::picoseconds(report.free_at) - monotonic_now();
  const double queued =
      std::max(ahead.seconds(), 0.0) / 8 * static_cast<double>(rates_[direction].bits_per_second());
  counters.wire_bytes_sent =
      std::max<std::int64_t>(report.wire_bytes - static_cast<std::int64_t>(queued), 0);
  counters.peak_queue = report.peak_queue;
  for (int cause = 1; cause < kLineDrops; ++cause) {
    const char* name = name_of(static_cast<LineDrop>(cause));
    counters.drops[name] = report.drops[cause];
  }
  if (disciplined_[direction])
    counters.figures["marked"] = static_cast<double>(report.marks.load());
  counters.figures["late.p50"] = report.late.quantile(0.5).seconds();
  counters.figures["late.p99"] = report.late.quantile(0.99).seconds();
  counters.figures["late.max"] = report.late.largest().seconds();
  return counters;
}

bool Wire::idle() const { return line(0).waiting == 0 && line(1).waiting == 0; }

std::string Wire::lateness() const {
  std::string text;
  for (int i = 0; i < 2; ++i) {
    const Lateness& late = line(i).late;
    text += fmt::format(
        "{}{} frames, late by {:.3f} ms in the median, {:.3f} ms at the 99th "
        "percentile, {:.3f} ms at most",
        i == 0 ? "" : "; back ", late.count(), late.quantile(0.5).seconds() * 1e3,
        late.quantile(0.99).seconds() * 1e3, late.largest().seconds() * 1e3);
  }
  return text;
}

}  // namespace linerate::realnet
