#include "models/apps/request_response.hpp"

namespace linerate::models {

Requester::Requester(const experiments::Test& test)
    : request_(test.request.count()),
      response_(test.response.count()),
      limit_(test.transactions.value_or(0)),
      omit_(test.omit),
      duration_(test.duration) {}

bool Requester::begin(Time now) {
  if (limit_ > 0 ? transactions_ >= limit_ : now >= started_ + duration_) return false;
  asked_ = now;
  to_write_ = request_;
  to_read_ = response_;
  return true;
}

void Requester::run(Time now, tcp::Endpoint& endpoint) {
  if (finished_ || started_ == Time::never()) return;
  for (;;) {
    if (to_write_ == 0 && to_read_ == 0 && !begin(now)) {
      finished_ = true;
      return;
    }
    if (to_write_ > 0) {
      ++calls_;
      to_write_ -= endpoint.write(now, Bytes(to_write_)).count();
      if (to_write_ > 0) return;
    }
    if (endpoint.readable() == Bytes(0)) return;
    ++calls_;
    to_read_ -= endpoint.read(now, Bytes(to_read_)).count();
    if (to_read_ > 0) continue;
    ++transactions_;
    last_response_ = now;
    if (now >= started_ + omit_) latencies_.push_back((now - asked_).seconds());
  }
}

void Responder::run(Time now, tcp::Endpoint& endpoint) {
  for (;;) {
    if (to_write_ > 0) {
      ++calls_;
      to_write_ -= endpoint.write(now, Bytes(to_write_)).count();
      if (to_write_ > 0) return;
    }
    if (endpoint.readable() == Bytes(0)) return;
    ++calls_;
    received_ += endpoint.read(now, Bytes(request_ - received_)).count();
    if (received_ < request_) continue;
    received_ = 0;
    to_write_ = response_;
  }
}

}  // namespace linerate::models
