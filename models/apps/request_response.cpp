#include "models/apps/request_response.hpp"

#include <algorithm>
#include <limits>

namespace linerate::models {

Requester::Requester(const experiments::Test& test, LatencyRecorder& latencies,
                     std::unique_ptr<RequestLoad> load)
    : request_(test.request.count()),
      response_(test.response.count()),
      writer_(test.write.count()),
      limit_(test.transactions.value_or(0)),
      outstanding_(
          test.outstanding.value_or(test.arrivals ? std::numeric_limits<std::int64_t>::max() : 1)),
      omit_(test.omit),
      duration_(test.duration),
      latencies_(&latencies),
      load_(std::move(load)) {}

void Requester::start(Time connected) {
  started_ = connected;
  if (!load_) return;
  if (load_->arrivals) load_->arrivals->start(connected);
  if (load_->barrier) completes_barrier_ = load_->barrier->arrive();
}

// Whether another request comes, now or later.
bool Requester::more(Time now) const {
  if (load_ && load_->barrier) return !load_->barrier->over();
  if (limit_ > 0) return requests_ < limit_;
  const Time next = load_ && load_->arrivals ? load_->arrivals->due() : now;
  return next < started_ + duration_;
}

Time Requester::deadline() const {
  // Before the connection stands nothing comes.
  if (finished_ || started_ == Time::never() || !load_ || !load_->arrivals || !more(started_))
    return Time::never();
  return load_->arrivals->due();
}

void Requester::add(Time at) {
  ++requests_;
  const bool drawn = load_ && load_->responses;
  asked_.push_back({at, drawn ? load_->responses->next().count() : response_});
}

// Takes in the requests that have come by themselves.
void Requester::admit(Time now) {
  if (!load_ || !load_->arrivals) return;
  for (ArrivalProcess& arrivals = *load_->arrivals; arrivals.due() <= now && more(now);
       arrivals.step()) {
    add(arrivals.due());
    ++unsent_;
  }
}

bool MessageWriter::write(Time now, tcp::Endpoint& endpoint) {
  while (left_ > 0) {
    if (of_call_ == 0) {
      of_call_ = std::min(left_, piece_);
      ++calls_;
    }
    const std::int64_t taken = endpoint.write(now, Bytes(of_call_)).count();
    left_ -= taken;
    of_call_ -= taken;
    written_ += taken;
    if (of_call_ > 0) return false;
  }
  return true;
}

// Whether a request is to be written now; `unsent_` no longer counts it.
bool Requester::begin(Time now) {
  if (static_cast<std::int64_t>(asked_.size()) - unsent_ >= outstanding_) return false;
  if (load_ && load_->arrivals) {
    if (unsent_ == 0) return false;
    --unsent_;
    return true;
  }
  const bool waits = load_ && load_->barrier && requests_ >= load_->barrier->round();
  if (waits || !more(now)) return false;
  add(now);
  return true;
}

void Requester::ask(Time now, tcp::Endpoint& endpoint) {
  for (;;) {
    if (writer_.done()) {
      if (!begin(now)) return;
      writer_.begin(request_);
    }
    if (!writer_.write(now, endpoint)) return;
  }
}

bool Requester::listen(Time now, tcp::Endpoint& endpoint) {
  bool any = false;
  while (!asked_.empty() && endpoint.readable() > Bytes(0)) {
    Asked& front = asked_.front();
    ++calls_;
    front.unread -= endpoint.read(now, Bytes(front.unread)).count();
    if (front.unread > 0) continue;
    complete(now);
    any = true;
  }
  return any;
}

void Requester::complete(Time now) {
  const Time asked = asked_.take_front().at;
  ++transactions_;
  last_response_ = now;
  if (load_ && load_->barrier)
    completes_barrier_ = load_->barrier->arrive();
  else if (now >= started_ + omit_)
    latencies_->record(now - asked);
}

void Requester::run(Time now, tcp::Endpoint& endpoint) {
  if (finished_ || started_ == Time::never()) return;
  admit(now);
  // A response lets the next request go, and what is written may be answered at once.
  do {
    ask(now, endpoint);
  } while (listen(now, endpoint));
  finished_ = asked_.empty() && !more(now);
}

void Responder::run(Time now, tcp::Endpoint& endpoint) {
  for (;;) {
    if (!writer_.write(now, endpoint)) return;
    if (endpoint.readable() == Bytes(0)) return;
    ++calls_;
    received_ += endpoint.read(now, Bytes(request_ - received_)).count();
    if (received_ < request_) continue;
    received_ = 0;
    writer_.begin(responses_ ? responses_->next().count() : response_);
  }
}

}  // namespace linerate::models
