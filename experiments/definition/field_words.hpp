// What the tables of fields.hpp are made of: rules of a field, and the words that stand for values.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "experiments/definition/quantity.hpp"
#include "experiments/definition/spec.hpp"

namespace linerate::experiments {

/// What a table says about a field beyond its type. Limits are in the unit of the kind.
struct FieldRule {
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  bool required = false;
  std::optional<Kind> kind{};  ///< where the C++ type does not tell (double, string)
};

constexpr FieldRule kRequired{.required = true};
constexpr FieldRule kRequiredName{.required = true, .kind = Kind::name};
constexpr FieldRule kAtLeastOne{.low = 1};
constexpr FieldRule kProbability{.high = 1, .kind = Kind::fraction};
constexpr FieldRule kMtu{.low = 68, .high = 65535};  // RFC 791: every link carries 68 B
constexpr FieldRule kMoney{.kind = Kind::money};
constexpr FieldRule kPerSecond{.kind = Kind::per_second};

inline constexpr Word kNagleWords[] = {{"off", int(Nagle::off)},
                                       {"rfc896", int(Nagle::rfc896)},
                                       {"half-segment", int(Nagle::half_segment)},
                                       {"minshall", int(Nagle::minshall)}};
inline constexpr Word kWriterWakeWords[] = {{"any-space", int(WriterWake::any_space)},
                                            {"third-free", int(WriterWake::third_free)},
                                            {"low-water", int(WriterWake::low_water)}};
inline constexpr Word kAccountingWords[] = {{"truesize", int(BufferAccounting::truesize)},
                                            {"payload", int(BufferAccounting::payload)}};
inline constexpr Word kWindowRuleWords[] = {{"bsd-space", int(WindowRule::bsd_space)},
                                            {"half-space", int(WindowRule::half_space)},
                                            {"adv-win-scale", int(WindowRule::adv_win_scale)},
                                            {"scaling-ratio", int(WindowRule::scaling_ratio)}};
inline constexpr Word kAckRuleWords[] = {{"linux-receive", int(AckRule::linux_receive)},
                                         {"linux-2-2", int(AckRule::linux_2_2)},
                                         {"every-second", int(AckRule::every_second)},
                                         {"window-update", int(AckRule::window_update)}};
inline constexpr Word kAckClockWords[] = {{"per-connection", int(DelayedAckClock::per_connection)},
                                          {"shared-grid", int(DelayedAckClock::shared_grid)}};
inline constexpr Word kRecoveryWords[] = {{"reno", int(Recovery::reno)},
                                          {"newreno", int(Recovery::newreno)},
                                          {"sack", int(Recovery::sack)},
                                          {"rack", int(Recovery::rack)}};
inline constexpr Word kEcnWords[] = {
    {"off", int(EcnUse::off)}, {"accept", int(EcnUse::accept)}, {"on", int(EcnUse::on)}};
inline constexpr Word kHyStartWords[] = {
    {"off", int(HyStart::off)}, {"on", int(HyStart::on)}, {"plus-plus", int(HyStart::plus_plus)}};
inline constexpr Word kPathMtuWords[] = {{"on", int(PathMtuDiscovery::on)},
                                         {"off", int(PathMtuDiscovery::off)},
                                         {"blackhole", int(PathMtuDiscovery::blackhole)}};
inline constexpr Word kBusWords[] = {{"none", int(BusType::none)},
                                     {"pci", int(BusType::pci)},
                                     {"pcie", int(BusType::pcie)},
                                     {"usb", int(BusType::usb)}};
inline constexpr Word kForwardInterruptWords[] = {{"polling", int(ForwardInterrupts::polling)},
                                                  {"per-frame", int(ForwardInterrupts::per_frame)}};
inline constexpr Word kInterruptWords[] = {{"polling", int(Interrupts::polling)},
                                           {"per-frame", int(Interrupts::per_frame)}};
inline constexpr Word kCpuAccountingWords[] = {{"exact", int(CpuAccounting::exact)},
                                               {"tick", int(CpuAccounting::tick)}};
inline constexpr Word kForwardingWords[] = {{"none", int(Forwarding::none)},
                                            {"kernel", int(Forwarding::kernel)},
                                            {"poll-mode", int(Forwarding::poll_mode)}};
inline constexpr Word kSwitchForwardingWords[] = {
    {"store-and-forward", int(SwitchForwarding::store_and_forward)},
    {"cut-through", int(SwitchForwarding::cut_through)}};
inline constexpr Word kBufferPolicyWords[] = {{"per-port", int(BufferPolicy::per_port)},
                                              {"shared", int(BufferPolicy::shared)}};
inline constexpr Word kDuplexWords[] = {{"full", int(Duplex::full)}, {"half", int(Duplex::half)}};
inline constexpr Word kAutonegotiationWords[] = {{"off", int(Autonegotiation::off)},
                                                 {"on", int(Autonegotiation::on)}};
inline constexpr Word kRepeaterClassWords[] = {{"none", int(RepeaterClass::none)},
                                               {"I", int(RepeaterClass::one)},
                                               {"II", int(RepeaterClass::two)}};
inline constexpr Word kTestTypeWords[] = {
    {"tcp-stream", int(TestType::tcp_stream)},
    {"udp-stream", int(TestType::udp_stream)},
    {"raw-frames", int(TestType::raw_frames)},
    {"request-response", int(TestType::request_response)},
    {"file-transfer", int(TestType::file_transfer)},
    {"rfc2544-throughput", int(TestType::rfc2544_throughput)},
    {"rfc2544-latency", int(TestType::rfc2544_latency)},
    {"rfc2544-frame-loss", int(TestType::rfc2544_frame_loss)},
    {"rfc2544-back-to-back", int(TestType::rfc2544_back_to_back)}};
inline constexpr Word kEspCipherWords[] = {{"gcm", int(EspCipher::gcm)},
                                           {"cbc-sha1", int(EspCipher::cbc_sha1)},
                                           {"cbc-sha256", int(EspCipher::cbc_sha256)}};
inline constexpr Word kEspModeWords[] = {{"tunnel", int(EspMode::tunnel)},
                                         {"transport", int(EspMode::transport)}};
inline constexpr Word kDirectionWords[] = {{"forward", int(Direction::forward)},
                                           {"reverse", int(Direction::reverse)},
                                           {"both", int(Direction::both)}};
inline constexpr Word kCipherWords[] = {{"none", int(Cipher::none)},
                                        {"aes-gcm", int(Cipher::aes_gcm)},
                                        {"aes-cbc", int(Cipher::aes_cbc)},
                                        {"chacha20", int(Cipher::chacha20)}};
inline constexpr Word kClockWords[] = {{"default", int(Clock::standard)},
                                       {"netperf", int(Clock::netperf)},
                                       {"nttcp", int(Clock::nttcp)},
                                       {"lftp", int(Clock::lftp)}};
inline constexpr Word kClosingWords[] = {{"at-once", int(Closing::at_once)},
                                         {"drained", int(Closing::drained)}};
inline constexpr Word kFlowHashWords[] = {{"layer3+4", int(FlowHash::flow)},
                                          {"layer2+3", int(FlowHash::hosts)}};
inline constexpr Word kLinkActionWords[] = {{"down", int(LinkAction::down)},
                                            {"up", int(LinkAction::up)},
                                            {"loss", int(LinkAction::loss)},
                                            {"rate", int(LinkAction::rate)},
                                            {"delay", int(LinkAction::delay)}};
inline constexpr Word kTopologyWords[] = {{"star", int(TopologyType::star)},
                                          {"dumbbell", int(TopologyType::dumbbell)},
                                          {"leaf-spine", int(TopologyType::leaf_spine)},
                                          {"fat-tree", int(TopologyType::fat_tree)}};
inline constexpr Word kDisciplineWords[] = {{"fifo", int(Discipline::fifo)},
                                            {"red", int(Discipline::red)},
                                            {"codel", int(Discipline::codel)},
                                            {"fq-codel", int(Discipline::fq_codel)},
                                            {"pie", int(Discipline::pie)}};
inline constexpr Word kSchedulerWords[] = {{"none", int(Scheduler::none)},
                                           {"strict", int(Scheduler::strict)},
                                           {"drr", int(Scheduler::drr)}};
inline constexpr Word kDelayEstimatorWords[] = {
    {"timestamps", int(DelayEstimator::timestamps)},
    {"departure-rate", int(DelayEstimator::departure_rate)}};
inline constexpr Word kLabWords[] = {{"netns", int(LabType::netns)},
                                     {"loopback", int(LabType::loopback)},
                                     {"hosts", int(LabType::hosts)}};
inline constexpr Word kLabSwitchWords[] = {{"external", int(LabSwitchKind::external)}};
inline constexpr Word kLabConfigureWords[] = {
    {"check", int(LabConfigure::check)},
    {"apply-and-restore", int(LabConfigure::apply_and_restore)}};

inline std::span<const Word> words_of(Nagle) { return kNagleWords; }
inline std::span<const Word> words_of(WriterWake) { return kWriterWakeWords; }
inline std::span<const Word> words_of(BufferAccounting) { return kAccountingWords; }
inline std::span<const Word> words_of(WindowRule) { return kWindowRuleWords; }
inline std::span<const Word> words_of(AckRule) { return kAckRuleWords; }
inline std::span<const Word> words_of(DelayedAckClock) { return kAckClockWords; }
inline std::span<const Word> words_of(Recovery) { return kRecoveryWords; }
inline std::span<const Word> words_of(EcnUse) { return kEcnWords; }
inline std::span<const Word> words_of(HyStart) { return kHyStartWords; }
inline std::span<const Word> words_of(PathMtuDiscovery) { return kPathMtuWords; }
inline std::span<const Word> words_of(BusType) { return kBusWords; }
inline std::span<const Word> words_of(Interrupts) { return kInterruptWords; }
inline std::span<const Word> words_of(CpuAccounting) { return kCpuAccountingWords; }
inline std::span<const Word> words_of(Forwarding) { return kForwardingWords; }
inline std::span<const Word> words_of(ForwardInterrupts) { return kForwardInterruptWords; }
inline std::span<const Word> words_of(SwitchForwarding) { return kSwitchForwardingWords; }
inline std::span<const Word> words_of(BufferPolicy) { return kBufferPolicyWords; }
inline std::span<const Word> words_of(Duplex) { return kDuplexWords; }
inline std::span<const Word> words_of(Autonegotiation) { return kAutonegotiationWords; }
inline std::span<const Word> words_of(RepeaterClass) { return kRepeaterClassWords; }
inline std::span<const Word> words_of(TestType) { return kTestTypeWords; }
inline std::span<const Word> words_of(EspCipher) { return kEspCipherWords; }
inline std::span<const Word> words_of(EspMode) { return kEspModeWords; }
inline std::span<const Word> words_of(Direction) { return kDirectionWords; }
inline std::span<const Word> words_of(Clock) { return kClockWords; }
inline std::span<const Word> words_of(Cipher) { return kCipherWords; }
inline std::span<const Word> words_of(Closing) { return kClosingWords; }
inline std::span<const Word> words_of(FlowHash) { return kFlowHashWords; }
inline std::span<const Word> words_of(LinkAction) { return kLinkActionWords; }
inline std::span<const Word> words_of(TopologyType) { return kTopologyWords; }
inline std::span<const Word> words_of(Discipline) { return kDisciplineWords; }
inline std::span<const Word> words_of(Scheduler) { return kSchedulerWords; }
inline std::span<const Word> words_of(DelayEstimator) { return kDelayEstimatorWords; }
inline std::span<const Word> words_of(LabType) { return kLabWords; }
inline std::span<const Word> words_of(LabSwitchKind) { return kLabSwitchWords; }
inline std::span<const Word> words_of(LabConfigure) { return kLabConfigureWords; }

}  // namespace linerate::experiments
