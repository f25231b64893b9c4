#include "experiments/definition/generate.hpp"

#include <fmt/format.h>

#include <utility>

#include "experiments/definition/field_reader.hpp"
#include "experiments/definition/media.hpp"

namespace linerate::experiments {

namespace {

// Entries are written as patterns ("h[1-32]"), so that `{i}` in a template works as it does
// everywhere, and one budget bounds them all.
class Generator {
 public:
  Generator(const TopologySpec& spec, Place place, Node& root)
      : spec_(spec), place_(place), root_(root) {}

  void generate() {
    switch (spec_.type) {
      case TopologyType::star:
        return star();
      case TopologyType::dumbbell:
        return dumbbell();
      case TopologyType::leaf_spine:
        return leaf_spine();
      case TopologyType::fat_tree:
        return fat_tree();
    }
  }
  /// Puts what was generated in front of what the file says itself.
  void finish() {
    put("hosts", std::move(hosts_));
    put("switches", std::move(switches_));
    Node* links = root_.find("links");
    if (links && links->is_sequence())
      for (Node& link : links->items) links_.items.push_back(std::move(link));
    root_.at_or_add("links", place_) = std::move(links_);
  }

 private:
  void star() {
    add_hosts("h", spec_.hosts);
    add_switch("switch", {{spec_.hosts, &spec_.link}}, spec_.switch_);
    add_link(fmt::format("h[1-{}]", spec_.hosts), "switch:{i}", spec_.link);
  }

  void dumbbell() {
    add_hosts("l", spec_.left);
    add_hosts("r", spec_.right);
    add_switch("left", {{spec_.left, &spec_.link}, {1, &spec_.bottleneck}}, spec_.switch_);
    add_switch("right", {{spec_.right, &spec_.link}, {1, &spec_.bottleneck}}, spec_.switch_);
    add_link(fmt::format("l[1-{}]", spec_.left), "left:{i}", spec_.link);
    add_link(fmt::format("r[1-{}]", spec_.right), "right:{i}", spec_.link);
    add_link(fmt::format("left:{}", spec_.left + 1), fmt::format("right:{}", spec_.right + 1),
             spec_.bottleneck);
  }

  void leaf_spine() {
    const int per_leaf = spec_.hosts_per_leaf, leaves = spec_.leaves, spines = spec_.spines;
    add_hosts("h", std::int64_t{per_leaf} * leaves);
    add_switch(fmt::format("leaf[1-{}]", leaves), {{per_leaf, &spec_.link}, {spines, &uplink()}},
               spec_.switch_);
    add_switch(fmt::format("spine[1-{}]", spines), {{leaves, &uplink()}}, upper_switch());
    add_link(fmt::format("h[1-{}]", std::int64_t{per_leaf} * leaves),
             fmt::format("leaf{{(i-1)/{0}+1}}:{{(i-1)%{0}+1}}", per_leaf), spec_.link);
    for (int spine = 1; spine <= spines; ++spine)
      add_link(fmt::format("leaf[1-{}]:{}", leaves, per_leaf + spine),
               fmt::format("spine{}:{{i}}", spine), uplink());
  }

  // k pods of k/2 edge and k/2 aggregation switches and (k/2)^2 core switches, all with k ports
  // (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008).
  void fat_tree() {
    const int half = spec_.k / 2, edges = spec_.k * half;
    const std::int64_t hosts = std::int64_t{edges} * half;
    add_hosts("h", hosts);
    add_switch(fmt::format("edge[1-{}]", edges), {{half, &spec_.link}, {half, &uplink()}},
               spec_.switch_);
    add_switch(fmt::format("agg[1-{}]", edges), {{spec_.k, &uplink()}}, upper_switch());
    add_switch(fmt::format("core[1-{}]", half * half), {{spec_.k, &uplink()}}, upper_switch());
    add_link(fmt::format("h[1-{}]", hosts),
             fmt::format("edge{{(i-1)/{0}+1}}:{{(i-1)%{0}+1}}", half), spec_.link);
    for (int i = 1; i <= half; ++i) {
      add_link(fmt::format("edge[1-{}]:{}", edges, half + i),
               fmt::format("agg{{(i-1)/{0}*{0}+{1}}}:{{(i-1)%{0}+1}}", half, i), uplink());
      add_link(fmt::format("agg[1-{}]:{}", edges, half + i),
               fmt::format("core{{(i-1)%{0}*{0}+{1}}}:{{(i-1)/{0}+1}}", half, i), uplink());
    }
  }

  const Node& uplink() const {
    return spec_.uplink.node.is_mapping() ? spec_.uplink.node : spec_.link.node;
  }
  const Template& upper_switch() const {
    return spec_.upper_switch.node.is_mapping() ? spec_.upper_switch : spec_.switch_;
  }

  void add_hosts(const char* name, std::int64_t count) {
    hosts_.add({fmt::format("{}[1-{}]", name, count), place_}, entry(spec_.host));
  }

  struct PortGroup {
    PortGroup(int n, const Template* t) : count(n), link(&t->node) {}
    PortGroup(int n, const Node* l) : count(n), link(l) {}
    int count;
    const Node* link;
  };

  /// A switch whose ports are as fast as the links that go there, unless its template says.
  void add_switch(std::string name, std::initializer_list<PortGroup> groups, const Template& body) {
    Node device = entry(body);
    if (!device.find("ports")) {
      Node ports = mapping_node(place_);
      int first = 1;
      for (const PortGroup& group : groups) {
        const std::string rate = rate_of(*group.link);
        const int last = first + group.count - 1;
        if (!rate.empty() && group.count > 0)
          ports.add({fmt::format("{}-{}", first, last), place_}, scalar_node(rate, place_));
        first = last + 1;
      }
      device.add({"ports", place_}, std::move(ports));
    }
    switches_.add({std::move(name), place_}, std::move(device));
  }

  /// The rate a link's template says, or its medium's.
  static std::string rate_of(const Node& link) {
    if (const Node* rate = link.find("rate"); rate && rate->is_scalar()) return rate->text;
    const Node* name = link.find("medium");
    const Medium* medium = name && name->is_scalar() ? find_medium(name->text) : nullptr;
    return medium ? format_value({.kind = Kind::rate}, to_value(medium->rate)) : "";
  }

  void add_link(const std::string& from, const std::string& to, const Template& body) {
    add_link(from, to, body.node);
  }
  void add_link(const std::string& from, const std::string& to, const Node& body) {
    Node link = body;
    Node ends{Node::Kind::sequence, false, place_, {}, {}, {}};
    ends.items = {scalar_node(from, place_), scalar_node(to, place_)};
    link.add({"endpoints", place_}, std::move(ends));
    links_.items.push_back(std::move(link));
  }

  Node entry(const Template& body) const {
    return body.node.is_mapping() ? body.node : mapping_node(place_);
  }

  void put(const char* section, Node&& generated) {
    Node& own = root_.at_or_add(section, place_);
    if (own.is_mapping())
      for (std::size_t i = 0; i < own.keys.size(); ++i)
        generated.add(own.keys[i], std::move(own.items[i]));
    own = std::move(generated);
  }

  const TopologySpec& spec_;
  Place place_;
  Node& root_;
  Node hosts_ = mapping_node(place_), switches_ = mapping_node(place_);
  Node links_{Node::Kind::sequence, false, place_, {}, {}, {}};
};

/// What a type needs and what it does not know.
struct Need {
  const char* key;
  unsigned types;
  bool given;
};

bool check(const TopologySpec& spec, Place place, Diagnostics& diagnostics) {
  const auto of = [](std::initializer_list<TopologyType> types) {
    unsigned bits = 0;
    for (const TopologyType type : types) bits |= 1u << unsigned(type);
    return bits;
  };
  using T = TopologyType;
  const unsigned tiers = of({T::leaf_spine, T::fat_tree});
  const Need needs[] = {
      {"hosts", of({T::star}), spec.hosts > 0},
      {"left", of({T::dumbbell}), spec.left > 0},
      {"right", of({T::dumbbell}), spec.right > 0},
      {"bottleneck", of({T::dumbbell}), spec.bottleneck.node.is_mapping()},
      {"leaves", of({T::leaf_spine}), spec.leaves > 0},
      {"spines", of({T::leaf_spine}), spec.spines > 0},
      {"hosts_per_leaf", of({T::leaf_spine}), spec.hosts_per_leaf > 0},
      {"k", of({T::fat_tree}), spec.k > 0},
  };
  const char* type = nullptr;
  for (const Word& word : words_of(spec.type))
    if (word.value == int(spec.type)) type = word.text;
  bool good = true;
  const auto error = [&](const char* key, std::string message, std::string remedy) {
    diagnostics.error(place, fmt::format("topology.{}", key), std::move(message),
                      std::move(remedy));
    good = false;
  };
  for (const Need& need : needs) {
    const bool wanted = (need.types >> unsigned(spec.type) & 1u) != 0;
    if (wanted && !need.given)
      error(need.key, fmt::format("a {} needs the key `{}`", type, need.key), "add it");
    if (!wanted && need.given)
      error(need.key, fmt::format("a {} has no `{}`", type, need.key), "remove it");
  }
  if ((tiers >> unsigned(spec.type) & 1u) == 0) {
    if (spec.uplink.node.is_mapping())
      error("uplink", fmt::format("a {} has none", type), "remove it");
    if (spec.upper_switch.node.is_mapping())
      error("upper_switch", fmt::format("a {} has none", type), "remove it");
  }
  if (spec.k % 2 != 0)
    error("k", fmt::format("{} is odd", spec.k), "half the ports go up: write an even number");
  return good;
}

}  // namespace

void generate_topology(Node& root, Presets& presets, Diagnostics& diagnostics) {
  const Node* found = root.find("topology");
  if (!found) return;
  const Node topology = *found;
  root.remove("topology");
  if (topology.is_null()) return;
  ReadContext context{diagnostics, presets};
  TopologySpec spec;
  read_struct(context, topology, "topology", spec);
  if (diagnostics.touched("topology") || !check(spec, topology.place, diagnostics)) return;
  Generator generator(spec, topology.place, root);
  generator.generate();
  generator.finish();
}

}  // namespace linerate::experiments
