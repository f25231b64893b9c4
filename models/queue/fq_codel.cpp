#include "models/queue/fq_codel.hpp"

namespace linerate::models {

namespace {

// From the fattest flow leaves half of what it holds, but no more frames than that at once, so that
// the search for it is paid once for many (RFC 8290 4.1, as Linux does it).
constexpr int kLargestEviction = 64;

}  // namespace

FqCodel::FqCodel(const experiments::QueueSpec& spec, sim::RandomStream random)
    : rule_(spec),
      limit_(limit_of(spec)),
      quantum_(spec.quantum->count()),
      perturbation_(random.bits()),
      flows_(static_cast<std::size_t>(*spec.flows)) {}

// Flows that meet in one queue share its turn, as in the real thing; the perturbation decides who.
std::uint32_t FqCodel::queue_of(std::uint32_t flow) const {
  std::uint64_t mix = perturbation_ ^ flow;
  return static_cast<std::uint32_t>(sim::splitmix64(mix) % flows_.size());
}

void FqCodel::append(List& list, std::uint32_t flow) {
  flows_[flow].next = kNone;
  if (list.head == kNone)
    list.head = flow;
  else
    flows_[list.tail].next = flow;
  list.tail = flow;
}

void FqCodel::remove(const Place& place) {
  const std::uint32_t next = flows_[place.flow].next;
  if (place.previous == kNone)
    place.list->head = next;
  else
    flows_[place.previous].next = next;
  if (place.list->tail == place.flow) place.list->tail = place.previous;
}

bool FqCodel::over_limit() const {
  return (limit_.frames > 0 && frames_ > limit_.frames) ||
         (limit_.bytes > 0 && bytes_ > limit_.bytes);
}

void FqCodel::evict(std::vector<QueuedFrame>& dropped) {
  Flow* fattest = &flows_[0];
  for (Flow& flow : flows_)
    if (flow.row.bytes() > fattest->row.bytes()) fattest = &flow;
  const std::int64_t enough = fattest->row.bytes() / 2;
  for (int i = 0; i < kLargestEviction && fattest->row.bytes() > enough; ++i) {
    QueuedFrame frame = fattest->row.take();
    frame.cause = Drop::queue;
    bytes_ -= frame.bytes;
    --frames_;
    ++counters_.full_drops;
    dropped.push_back(frame);
  }
}

Drop FqCodel::enqueue(Time, QueuedFrame frame, std::vector<QueuedFrame>& dropped) {
  const std::uint32_t index = queue_of(frame.flow);
  Flow& flow = flows_[index];
  if (frame.bytes > rule_.largest) rule_.largest = frame.bytes;
  flow.row.push(frame);
  bytes_ += frame.bytes;
  ++frames_;
  if (!flow.active) {
    flow.active = true;
    flow.deficit = quantum_;
    append(new_, index);
  }
  if (over_limit()) evict(dropped);
  return Drop::none;
}

// The flow whose turn it is: new ones first. A flow whose head is paused is passed over where it
// stands; its turn is not used up.
FqCodel::Place FqCodel::first_ready(std::uint8_t paused) {
  for (List* list : {&new_, &old_}) {
    std::uint32_t previous = kNone;
    for (std::uint32_t flow = list->head; flow != kNone; flow = flows_[flow].next) {
      const FrameRow& row = flows_[flow].row;
      if (row.empty() || row.next_bytes(paused) > 0) return {list, previous, flow};
      previous = flow;
    }
  }
  return {};
}

bool FqCodel::dequeue(Time now, std::uint8_t paused, QueuedFrame& frame,
                      std::vector<QueuedFrame>& dropped) {
  for (;;) {
    const Place place = first_ready(paused);
    if (place.flow == kNone) return false;
    Flow& flow = flows_[place.flow];
    if (flow.deficit <= 0) {
      flow.deficit += quantum_;
      remove(place);
      append(old_, place.flow);
      continue;
    }
    const std::int64_t bytes = flow.row.bytes(), frames = flow.row.frames();
    const bool sent = flow.codel.dequeue(rule_, now, paused, flow.row, frame, dropped, counters_);
    bytes_ -= bytes - flow.row.bytes();
    frames_ -= frames - flow.row.frames();
    if (sent) {
      flow.deficit -= frame.bytes;
      return true;
    }
    if (!flow.row.empty()) continue;  // what CoDel left at the head is paused
    // An emptied new flow goes through the old list once, or it could pass the others again and
    // again by coming back at once (RFC 8290 4.2).
    remove(place);
    if (place.list == &new_)
      append(old_, place.flow);
    else
      flow.active = false;
  }
}

std::uint32_t FqCodel::next_bytes(std::uint8_t paused) const {
  for (const List* list : {&new_, &old_})
    for (std::uint32_t flow = list->head; flow != kNone; flow = flows_[flow].next)
      if (const std::uint32_t bytes = flows_[flow].row.next_bytes(paused); bytes > 0) return bytes;
  return 0;
}

}  // namespace linerate::models
