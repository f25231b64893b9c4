#include "tests/tcp/two_hosts.hpp"

#include <algorithm>

namespace linerate::tests {

using models::tcp::Endpoint;
using models::tcp::EndpointConfig;
using models::tcp::Segment;
using models::tcp::Signals;

namespace {
enum Kind { kArrival, kTimer, kProgram };
}

TwoHosts::TwoHosts(const EndpointConfig& sender, const EndpointConfig& receiver,
                   const PathSetup& path, const Job& job)
    : path_(path), job_(job), header_bytes_(sender.ip == 6 ? 60 : 40) {
  hosts_.emplace_back(sender);
  hosts_.emplace_back(receiver);
}

void TwoHosts::schedule(Event event) {
  event.order = order_++;
  events_.push(event);
}

// Moves what a host emitted into the path.
void TwoHosts::flush(int host) {
  Endpoint& endpoint = hosts_[static_cast<std::size_t>(host)];
  for (const Segment& segment : endpoint.output()) {
    const Bytes packet(header_bytes_ + segment.option_bytes + segment.length);
    const Bytes wire(std::max<std::int64_t>(packet.count() + 14 + 24, 84));
    Sighting sighting{now_, host, segment, false};
    if (host == 0 && segment.length > 0 && segment.sequence >= highest_) {
      ++ordinal_;
      highest_ = segment.sequence + segment.length;
      sighting.dropped = path_.lost_data.contains(ordinal_) ||
                         (path_.lose_every > 0 && ordinal_ % path_.lose_every == 0);
    }
    Time& busy = busy_until_[host];
    const Time backlog = busy > now_ ? busy - now_ : Time{};
    const double queued =
        backlog.seconds() * static_cast<double>(path_.rate.bits_per_second()) / 8.0;
    const bool overflow =
        queued + static_cast<double>(wire.count()) > static_cast<double>(path_.queue.count());
    const bool black = now_ >= path_.black_from && now_ < path_.black_to;
    if (!overflow && !black) busy = std::max(busy, now_) + serialization_time(wire, path_.rate);
    sighting.dropped |= overflow || black || packet > path_.mtu;
    if (host == 0) peak_ = std::max(peak_, queued);
    if (path_.mark_above && segment.ecn != models::tcp::Ecn::not_ect &&
        queued > static_cast<double>(path_.mark_above->count())) {
      sighting.segment.ecn = models::tcp::Ecn::ce;
      ++marks_;
    }
    drops_ += sighting.dropped ? 1 : 0;
    log_.push_back(sighting);
    if (!sighting.dropped) schedule({busy + path_.delay, 0, kArrival, 1 - host, log_.size() - 1});
  }
  std::int64_t left = 0;
  for (const Segment& segment : endpoint.output())
    left += header_bytes_ + segment.option_bytes + segment.length;
  endpoint.output().clear();
  if (left > 0) {
    endpoint.on_transmitted(now_, Bytes(left));
    if (!endpoint.output().empty()) flush(host);
  }
  if (watch) watch(now_);
}

void TwoHosts::write_more() {
  Endpoint& sender = hosts_[0];
  if (!connected_ || closed_) return;
  if (job_.period) {
    const Time due = job_.first_write + *job_.period * writes_done_;
    if (writes_done_ < job_.writes && now_ >= due) {
      pending_ += job_.write;
      ++writes_done_;
      schedule({due + *job_.period, 0, kProgram, 0, 0});
    }
  }
  while (!refused_) {
    if (pending_.count() == 0) {
      if (job_.period || now_ >= job_.stop_writing) break;
      if (job_.total && written_ >= *job_.total) break;
      pending_ = job_.total ? std::min(job_.write, *job_.total - written_) : job_.write;
    }
    const Bytes taken = sender.write(now_, pending_);
    pending_ -= taken;
    written_ += taken;
    refused_ = pending_.count() > 0;
    flush(0);
  }
  const bool over =
      pending_.count() == 0 &&
      (job_.period ? writes_done_ == job_.writes
                   : now_ >= job_.stop_writing || (job_.total && written_ >= *job_.total));
  if (over && job_.close) {
    closed_ = true;
    sender.shutdown(now_);
    flush(0);
  }
}

void TwoHosts::program(int host) {
  Endpoint& endpoint = hosts_[static_cast<std::size_t>(host)];
  const Signals signals = endpoint.take_signals();
  if (host == 0) {
    if (signals.connected) {
      connected_ = true;
      schedule({std::max(now_, job_.first_write), 0, kProgram, 0, 0});
    }
    if (signals.writable) refused_ = false;
    if (connected_ && now_ >= job_.first_write) write_more();
    const models::tcp::Info info = endpoint.info();
    const bool over = job_.period
                          ? writes_done_ == job_.writes
                          : (job_.total ? written_ >= *job_.total : now_ >= job_.stop_writing);
    if (completion_ == Time::never() && connected_ && over && pending_.count() == 0 &&
        info.bytes_acked == written_.count())
      completion_ = now_;
    return;
  }
  const bool asleep = now_ >= job_.pause_from && now_ < job_.pause_to;
  if (asleep) {
    schedule({job_.pause_to, 0, kProgram, 1, 0});
    return;
  }
  while (endpoint.readable().count() > 0) {
    read_ += endpoint.read(now_, Bytes(65536));
    flush(1);
  }
}

void TwoHosts::run(Time end) {
  if (log_.empty()) {
    hosts_[1].listen();
    hosts_[0].connect(now_);
    flush(0);
  }
  for (;;) {
    for (int host = 0; host < 2; ++host) {
      const Time due = hosts_[static_cast<std::size_t>(host)].next_timer();
      if (due < timer_at_[host]) {
        timer_at_[host] = due;
        schedule({due, 0, kTimer, host, 0});
      }
    }
    if (events_.empty() || events_.top().at > end) break;
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    Endpoint& endpoint = hosts_[static_cast<std::size_t>(event.host)];
    if (event.kind == kArrival) {
      const Segment segment = log_[event.index].segment;
      endpoint.on_packet(now_, segment);
    } else if (event.kind == kTimer) {
      if (event.at != timer_at_[event.host]) continue;  // the timer has moved since
      timer_at_[event.host] = Time::never();
      endpoint.on_timer(now_);
    }
    flush(event.host);
    program(event.host);
  }
}

std::vector<Sighting> TwoHosts::filter(int direction, bool with_data) const {
  std::vector<Sighting> result;
  for (const Sighting& s : log_)
    if (s.direction == direction && !s.segment.has(models::tcp::kSyn) &&
        (!with_data || s.segment.length > 0))
      result.push_back(s);
  return result;
}

}  // namespace linerate::tests
