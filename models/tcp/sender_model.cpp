// Sender: BBR in the place of a window that grows and shrinks by itself. Losses are found and
// repaired as ever, but what they do to the window, BBR says.
#include "models/tcp/sender.hpp"

namespace linerate::models::tcp {

void Sender::start_model(Time now, std::optional<Time> rtt) {
  if (window_.algorithm() != CongestionAlgorithm::bbr) return;
  BbrSetup setup;
  setup.initial_window = window_.size();
  setup.segment_bytes = segment_size_;
  if (stack_.timer_tick > Time{}) setup.tick = stack_.timer_tick;
  setup.seed = random_seed_;
  setup.rate_limit = pacing_limit_;
  bbr_ = std::make_unique<Bbr>(setup);
  bbr_->start(now, rtt);
  adaptive_pacing_ = true;
}

void Sender::control_by_model(Time now, const AckFacts& facts) {
  Bbr::Ack ack;
  ack.now = now;
  ack.arrived = facts.delivered;
  ack.lost = facts.newly_lost;
  ack.in_flight = flight();
  ack.prior_in_flight = facts.previous_in_flight;
  ack.rtt = facts.latest_rtt;
  ack.maybe_delayed = facts.maybe_delayed;
  ack.minimum_rtt = rtt_.minimum();
  ack.smoothed_rtt = rtt_.smoothed();
  ack.pacing_next = pacing_next_;
  ack.state = state_;
  const bool starting = bbr_->mode() == Bbr::Mode::startup;
  window_.set_size(bbr_->on_ack(window_.size(), ack));
  bbr_->rate().release(scoreboard_.first());
  // Linux keeps where draining ends as the threshold, for those who look.
  if (starting && bbr_->mode() != Bbr::Mode::startup) window_.set_threshold(bbr_->drained_window());
  update_pacing_rate();
}

// The application has nothing ready although more could be sent: what is delivered now shows its
// speed, not the path's.
void Sender::note_starvation() {
  const bool fresh = writer_left_ == 0;  // not the rest of a write that was refused
  const bool starved = fresh && buffer_.end() < nxt_ + static_cast<Sequence>(segment_size_);
  if (starved && below_ == 0 && flight() < window_.size() &&
      scoreboard_.lost() <= scoreboard_.in_flight_again())
    bbr_->rate().limited_by_application(flight());
}

}  // namespace linerate::models::tcp
