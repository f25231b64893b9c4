// Hostile experiment files: whatever the bytes, the parser answers with an experiment or an error.
// With clang this is a libFuzzer target; with gcc the main below mutates the shipped files with a
// fixed seed. LINERATE_FUZZ_SECONDS bounds the time.
#include <cstddef>
#include <cstdint>
#include <string>

#include "experiments/definition/parse.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linerate::experiments;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Experiment experiment = parse_experiment(text, "fuzz.yaml");
    // What is resolved must be legal and mean the same.
    if (parse_experiment(experiment.resolved, "resolved").resolved != experiment.resolved) {
      __builtin_trap();
    }
  } catch (const DefinitionError& error) {
    if (error.diagnostics().empty()) __builtin_trap();
  }
  return 0;
}

#ifndef LINERATE_LIBFUZZER

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "experiments/catalog/embedded.hpp"

namespace {

using linerate::experiments::embedded_files;

/// Pieces that mean something to YAML or to the parser, worth more than random bytes.
using namespace std::string_view_literals;
constexpr std::string_view kPieces[] = {"{",
                                        "}",
                                        "[",
                                        "]",
                                        ": ",
                                        ", ",
                                        "\n",
                                        "  ",
                                        "- ",
                                        "&a ",
                                        "*a",
                                        "<<: *a",
                                        "\"",
                                        "'",
                                        "#",
                                        "|",
                                        "!",
                                        "\t",
                                        "~",
                                        "null",
                                        "like: a",
                                        "h[1-9]",
                                        "h[1-99999999]",
                                        "{i}",
                                        "{i*999}",
                                        "1e999",
                                        "-1",
                                        "99999999999999999999",
                                        "0",
                                        "10Gbit/s",
                                        "64KiB",
                                        "5%",
                                        "1ps",
                                        "nan",
                                        "on",
                                        "a:eth0",
                                        "s1:1",
                                        "*",
                                        "profile: ideal",
                                        "stack: linux-6",
                                        "value: 1us",
                                        "within: [1us, 2us]",
                                        "\xff",
                                        "\xc3\xa4",
                                        "\0"sv};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {
    for (const auto& [path, text] : embedded_files()) texts_.emplace_back(text);
  }

  std::string next() {
    std::string text = texts_[below(texts_.size())];
    for (std::size_t n = below(8) + 1; n > 0; --n) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void mutate(std::string& text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, below(40));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random_() & 0xff);
        break;
      case 3:  // a piece of the text again, elsewhere
        text.insert(at, text.substr(below(text.size() + 1), below(200)));
        break;
      case 4: {  // two files crossed
        const std::string& other = texts_[below(texts_.size())];
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
      default: {  // a word replaced
        const std::size_t end = text.find_first_of(" ,:}]\n", at);
        text.replace(std::min(at, text.size()), end == std::string::npos ? 0 : end - at,
                     kPieces[below(std::size(kPieces))]);
      }
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> texts_;
};

}  // namespace

int main(int argc, char** argv) {
  const long runs = argc > 1 ? std::atol(argv[1]) : 5'000;
  const char* limit = std::getenv("LINERATE_FUZZ_SECONDS");
  const std::chrono::seconds most(limit ? std::atol(limit) : 60);
  const auto start = std::chrono::steady_clock::now();
  Mutator mutator(1);
  long run = 0;
  for (; run < runs && std::chrono::steady_clock::now() - start < most; ++run) {
    const std::string text = mutator.next();
    // A crash leaves the text that caused it.
    if (argc > 2) {
      if (std::FILE* file = std::fopen(argv[2], "wb")) {
        std::fwrite(text.data(), 1, text.size(), file);
        std::fclose(file);
      }
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%ld mutated files parsed\n", run);
  return 0;
}

#endif
