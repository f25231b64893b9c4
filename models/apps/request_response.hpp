// A client that writes requests and waits for their responses, and its server. The client keeps a
// number of requests under way (closed loop), asks when they come to it (open loop), or asks
// together with others (barrier).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "experiments/definition/experiment.hpp"
#include "models/apps/arrivals.hpp"
#include "models/apps/barrier.hpp"
#include "models/apps/latency.hpp"
#include "models/tcp/endpoint.hpp"
#include "sim/ring.hpp"
#include "sim/units.hpp"

namespace linerate::models {

/// What the ends of a conversation have beyond the plain loop. Both ends draw the same sizes.
struct RequestLoad {
  std::optional<ArrivalProcess> arrivals;
  std::optional<SizeSource> responses;
  Barrier* barrier = nullptr;
};

/// Writes messages in calls of at most `piece` bytes, as a program with a buffer of that size does.
class MessageWriter {
 public:
  explicit MessageWriter(std::int64_t piece) : piece_(piece) {}

  void begin(std::int64_t size) { left_ = size; }
  bool done() const { return left_ == 0; }
  /// Goes on with the message; false when the socket takes no more for now.
  bool write(Time now, tcp::Endpoint& endpoint);
  std::int64_t calls() const { return calls_; }
  std::int64_t written() const { return written_; }  ///< bytes

 private:
  std::int64_t piece_;
  std::int64_t left_ = 0, of_call_ = 0;  // of the message, of the call under way
  std::int64_t calls_ = 0, written_ = 0;
};

class Requester {
 public:
  /// One latency a transaction goes to `latencies`: from the moment the request came (it may have
  /// waited to be written) to the last byte of its response. Those that ended before `omit` are
  /// left out. With a barrier nothing does.
  Requester(const experiments::Test& test, LatencyRecorder& latencies,
            std::unique_ptr<RequestLoad> load);

  void start(Time connected);
  void run(Time now, tcp::Endpoint& endpoint);
  /// Whether it acts on this news.
  bool wants(const tcp::Signals& news) const {
    return news.connected || news.readable || news.writable;
  }
  /// When the next request comes by itself.
  Time deadline() const;

  Time started() const { return started_; }
  Time last_response() const { return last_response_; }
  bool finished() const { return finished_; }
  std::int64_t transactions() const { return transactions_; }
  std::int64_t calls() const { return calls_ + writer_.calls(); }
  /// Whether this was the last of its barrier to arrive since the last question.
  bool take_barrier() { return std::exchange(completes_barrier_, false); }

 private:
  struct Asked {
    Time at;
    std::int64_t unread = 0;  // bytes of the response
  };

  bool more(Time now) const;
  void add(Time at);
  void admit(Time now);
  bool begin(Time now);
  void ask(Time now, tcp::Endpoint& endpoint);
  bool listen(Time now, tcp::Endpoint& endpoint);
  void complete(Time now);

  std::int64_t request_, response_;
  MessageWriter writer_;
  std::int64_t limit_;        // transactions; 0: by time
  std::int64_t outstanding_;  // written and not answered, at most
  Time omit_, duration_;
  LatencyRecorder* latencies_;
  std::unique_ptr<RequestLoad> load_;  // null: the plain loop
  Time started_ = Time::never();
  Time last_response_{};
  sim::Ring<Asked> asked_;  // in the order they came; the last `unsent_` wait to be written
  std::int64_t unsent_ = 0;
  std::int64_t requests_ = 0, transactions_ = 0, calls_ = 0;
  bool finished_ = false, completes_barrier_ = false;
};

class Responder {
 public:
  Responder(const experiments::Test& test, std::optional<SizeSource> responses)
      : request_(test.request.count()),
        response_(test.response.count()),
        writer_(test.write.count()),
        responses_(std::move(responses)) {}

  void run(Time now, tcp::Endpoint& endpoint);
  bool wants(const tcp::Signals& news) const { return news.readable || news.writable; }
  std::int64_t calls() const { return calls_ + writer_.calls(); }
  std::int64_t bytes() const { return writer_.written(); }  ///< of responses

 private:
  std::int64_t request_, response_;
  MessageWriter writer_;
  std::optional<SizeSource> responses_;
  std::int64_t received_ = 0, calls_ = 0;
};

}  // namespace linerate::models
