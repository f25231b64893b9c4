#include "script.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "models/tcp/receiver.hpp"

namespace linerate::tests {
namespace {

using namespace models::tcp;

Time time_of(Moment moment) { return Time::microseconds(moment.count()); }

std::string blocks_text(const std::vector<SackBlock>& blocks) {
  std::string text;
  for (const SackBlock& block : blocks)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", block.left, block.right);
  return text.empty() ? "none" : text;
}

std::vector<SackBlock> blocks_of(const Segment& segment) {
  return {segment.sack.begin(), segment.sack.begin() + segment.sack_count};
}

// A long transcript's beginning rarely explains its end.
std::string last_lines(const std::string& text, int count) {
  std::size_t from = text.size();
  for (int i = 0; i <= count && from != std::string::npos && from > 0; ++i)
    from = text.rfind('\n', from - 1);
  return from == std::string::npos || from == 0 ? text : text.substr(from + 1);
}

class EndpointDevice final : public Device {
 public:
  explicit EndpointDevice(const EndpointConfig& config)
      : endpoint_(config), headers_(config.ip == 6 ? 60 : 40) {}
  void listen() override { endpoint_.listen(); }
  void connect(Time now) override { endpoint_.connect(now); }
  void packet(Time now, const Segment& segment) override { endpoint_.on_packet(now, segment); }
  void timer(Time now) override { endpoint_.on_timer(now); }
  Time next_timer() const override { return endpoint_.next_timer(); }
  Bytes write(Time now, Bytes size) override { return endpoint_.write(now, size); }
  Bytes read(Time now, Bytes size) override { return endpoint_.read(now, size); }
  void shutdown(Time now) override { endpoint_.shutdown(now); }
  // The device below is infinitely fast, so nothing stays queued.
  std::vector<Segment> take_output(Time now) override {
    std::vector<Segment> all;
    while (!endpoint_.output().empty()) {
      std::vector<Segment> batch = endpoint_.output();
      endpoint_.output().clear();
      for (const Segment& segment : batch)
        endpoint_.on_transmitted(now, Bytes(headers_ + segment.option_bytes + segment.length));
      all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
  }

 private:
  Endpoint endpoint_;
  std::int64_t headers_;
};

class ReceiverDevice final : public Device {
 public:
  ReceiverDevice(const EndpointConfig& config, Time rtt) : receiver_(config) {
    path_.smoothed_rtt = rtt;
    path_.timeout = rtt + Time::milliseconds(200);
  }
  void listen() override {}
  void connect(Time now) override { emit(now, kSyn); }
  void packet(Time now, const Segment& segment) override {
    if (segment.has(kSyn)) {
      passive_ = !segment.has(kAck);
      receiver_.on_syn(segment, passive_);
      if (!passive_) establish(now);
      emit(now, passive_ ? kSyn : kAck);
      return;
    }
    establish(now);
    const std::int64_t clock = now.whole_microseconds() / 1000;
    path_.echo_age =
        segment.timestamp_echo == 0 ? Time{} : Time::milliseconds(clock - segment.timestamp_echo);
    receiver_.on_segment(now, segment, path_);
    if (receiver_.ack_due(now)) emit(now, kAck);
  }
  void timer(Time now) override {
    if (receiver_.on_timer(now)) emit(now, kAck);
  }
  Time next_timer() const override { return receiver_.deadline(); }
  Bytes write(Time, Bytes) override { return {}; }
  Bytes read(Time now, Bytes size) override {
    const Reading reading = receiver_.read(size);
    if (reading.ack_due) emit(now, kAck);
    return reading.taken;
  }
  void shutdown(Time) override {}
  std::vector<Segment> take_output(Time) override { return std::exchange(output_, {}); }

 private:
  void establish(Time now) {
    if (!established_) receiver_.on_established(now);
    established_ = true;
  }
  void emit(Time now, Flag flag) {
    Segment segment;
    segment.flags = flag;
    segment.option_bytes = receiver_.timestamps_agreed() ? 12 : 0;
    if (flag == kSyn)
      segment.syn.window_scale = receiver_.offered_window_scale();
    else
      segment.sequence = 1;
    receiver_.fill(now, segment);
    output_.push_back(segment);
  }

  Receiver receiver_;
  PathView path_;
  bool passive_ = false, established_ = false;
  std::vector<Segment> output_;
};

}  // namespace

Packet syn() {
  Segment segment;
  segment.flags = kSyn;
  segment.window = 64240;
  segment.syn = {.max_segment = 1460,
                 .window_scale = 10,
                 .window_scaling = true,
                 .sack_permitted = true,
                 .timestamps = true};
  return Packet(segment);
}

Packet syn_ack() {
  Packet packet = syn();
  Segment segment = packet.segment();
  segment.flags |= kAck;
  segment.acknowledgment = 1;
  return Packet(segment);
}

Packet data(Sequence sequence, std::uint32_t length) {
  Segment segment;
  segment.flags = kAck;
  segment.sequence = sequence;
  segment.length = length;
  segment.acknowledgment = 1;
  segment.window = 64512;
  segment.option_bytes = 12;
  return Packet(segment);
}

Packet empty(Sequence sequence) { return data(sequence, 0); }

Want ack(Sequence upto) {
  Want want;
  return want.acknowledges(upto).length(0).flag(kAck);
}

Want sent(Sequence sequence, std::uint32_t length) {
  Want want;
  return want.sequence(sequence).length(length);
}

std::string describe(const Segment& segment) {
  std::string flags;
  for (const auto& [flag, letter] :
       {std::pair{kSyn, 'S'}, {kFin, 'F'}, {kRst, 'R'}, {kPush, 'P'}, {kAck, 'A'}})
    if (segment.has(flag)) flags += letter;
  std::string text = fmt::format("{:<3} seq {} len {} ack {} win {}", flags, segment.sequence,
                                 segment.length, segment.acknowledgment, segment.window);
  if (segment.timestamp != 0 || segment.timestamp_echo != 0)
    text += fmt::format(" ts {}/{}", segment.timestamp, segment.timestamp_echo);
  if (segment.sack_count > 0) text += " sack " + blocks_text(blocks_of(segment));
  return text;
}

std::string Want::difference(const Segment& segment) const {
  const auto differs = [](const char* name, const auto& want, auto have) {
    return want && *want != have ? fmt::format("{} {} wanted, not {}", name, *want, have) : "";
  };
  for (const std::string& text :
       {differs("sequence", sequence_, segment.sequence),
        differs("length", length_, segment.length),
        differs("acknowledgment", acknowledgment_, segment.acknowledgment),
        differs("window", window_, segment.window),
        differs("timestamp echo", echo_, segment.timestamp_echo),
        differs("window scale", scale_, segment.syn.window_scale)})
    if (!text.empty()) return text;
  if ((segment.flags & flags_) != flags_) return fmt::format("flags {:#x} wanted", flags_);
  if ((segment.flags & absent_) != 0) return fmt::format("flags {:#x} not wanted", absent_);
  if (ecn_ && *ecn_ != segment.ecn)
    return fmt::format("ECN field {} wanted", static_cast<int>(*ecn_));
  if (sack_ && *sack_ != blocks_of(segment))
    return "SACK blocks " + blocks_text(*sack_) + " wanted";
  return {};
}

void Script::note(const std::string& line) {
  transcript_ += fmt::format("{:>12.3f} ms  {}\n", now_.seconds() * 1e3, line);
}

void Script::fail(const std::string& reason) {
  FAIL(reason << "\ntranscript, last lines:\n" << last_lines(transcript_, 40));
  std::abort();  // FAIL throws
}

void Script::collect() {
  for (const Segment& segment : device_->take_output(now_)) {
    note("    < " + describe(segment));
    pending_.push_back({now_, segment});
  }
}

Script& Script::at(Moment moment) {
  const Time target = time_of(moment);
  if (target < now_) fail("the script goes back in time");
  while (device_->next_timer() <= target) {
    now_ = std::max(now_, device_->next_timer());
    note("timer");
    device_->timer(now_);
    collect();
  }
  now_ = target;
  return *this;
}

Script& Script::listen() {
  device_->listen();
  return *this;
}

Script& Script::connect() {
  note("connect");
  device_->connect(now_);
  collect();
  return *this;
}

Script& Script::inject(const Packet& packet) {
  note("  > " + describe(packet.segment()));
  device_->packet(now_, packet.segment());
  collect();
  return *this;
}

Script& Script::accept(const Packet& first) {
  listen().inject(first);
  expect(Want().flag(kSyn));
  return inject(empty(1));
}

Script& Script::write(std::int64_t size) {
  taken_ = device_->write(now_, Bytes(size)).count();
  note(fmt::format("write {} took {}", size, taken_));
  collect();
  return *this;
}

Script& Script::read(std::int64_t size) {
  taken_ = device_->read(now_, Bytes(size)).count();
  note(fmt::format("read took {}", taken_));
  collect();
  return *this;
}

Script& Script::shutdown() {
  note("shutdown");
  device_->shutdown(now_);
  collect();
  return *this;
}

Script& Script::expect(const Want& want) {
  if (next_ == pending_.size()) fail("a segment was expected, none came");
  const std::string difference = want.difference(pending_[next_].segment);
  if (!difference.empty()) fail(difference + ": " + describe(pending_[next_].segment));
  ++next_;
  return *this;
}

Script& Script::expect_at(Moment moment, const Want& want) {
  at(moment);
  if (next_ < pending_.size() && pending_[next_].at != now_)
    fail(fmt::format("a segment came at {:.3f} ms, wanted at {:.3f} ms",
                     pending_[next_].at.seconds() * 1e3, now_.seconds() * 1e3));
  return expect(want);
}

Script& Script::expect_none() {
  if (next_ < pending_.size()) fail("unexpected " + describe(pending_[next_].segment));
  return *this;
}

Script& Script::expect_none_until(Moment moment) { return at(moment).expect_none(); }

std::size_t Script::drain() {
  const std::size_t count = pending_.size() - next_;
  next_ = pending_.size();
  return count;
}

Script endpoint_script(const EndpointConfig& config) {
  return Script(std::make_unique<EndpointDevice>(config));
}

Script receiver_script(const EndpointConfig& config, Moment rtt) {
  return Script(std::make_unique<ReceiverDevice>(config, time_of(rtt)));
}

}  // namespace linerate::tests
