// A client that writes a request, waits for the whole response and writes the next; and its server.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/definition/experiment.hpp"
#include "models/tcp/endpoint.hpp"
#include "sim/units.hpp"

namespace linerate::models {

class Requester {
 public:
  explicit Requester(const experiments::Test& test);

  void start(Time connected) { started_ = connected; }
  void run(Time now, tcp::Endpoint& endpoint);

  Time started() const { return started_; }
  Time last_response() const { return last_response_; }
  bool finished() const { return finished_; }
  std::int64_t transactions() const { return transactions_; }
  std::int64_t calls() const { return calls_; }
  /// One latency a transaction: from the write of the request to the last byte of the response;
  /// those that ended before `omit` are left out.
  const std::vector<double>& latencies() const { return latencies_; }

 private:
  bool begin(Time now);

  std::int64_t request_, response_;
  std::int64_t limit_;  // transactions; 0: by time
  Time omit_, duration_;
  Time started_ = Time::never();
  Time asked_{}, last_response_{};
  std::int64_t to_write_ = 0, to_read_ = 0;
  std::int64_t transactions_ = 0, calls_ = 0;
  std::vector<double> latencies_;
  bool finished_ = false;
};

class Responder {
 public:
  explicit Responder(const experiments::Test& test)
      : request_(test.request.count()), response_(test.response.count()) {}

  void run(Time now, tcp::Endpoint& endpoint);
  std::int64_t calls() const { return calls_; }

 private:
  std::int64_t request_, response_;
  std::int64_t received_ = 0, to_write_ = 0;
  std::int64_t calls_ = 0;
};

}  // namespace linerate::models
