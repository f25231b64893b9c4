#include "experiments/results/import_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

namespace linerate::experiments {
namespace {

/// A unit as a column's suffix, as one writes it in a mapping, and what it is in base units.
struct ColumnUnit {
  const char* suffix;
  const char* spelling;
  const char* base;
  double factor;
};

// A longer suffix stands before a shorter one that it ends with.
constexpr std::array<ColumnUnit, 24> units{{{"mbit_s", "Mbit/s", "bit/s", 1e6},
                                            {"gbit_s", "Gbit/s", "bit/s", 1e9},
                                            {"kbit_s", "kbit/s", "bit/s", 1e3},
                                            {"bit_s", "bit/s", "bit/s", 1},
                                            {"m_per_s", "MB/s", "bit/s", 8e6},
                                            {"", "1000KiB/s", "bit/s", 8.192e6},
                                            {"", "MiB/s", "bit/s", 8.0 * 1048576},
                                            {"", "kB/s", "bit/s", 8e3},
                                            {"", "KiB/s", "bit/s", 8192},
                                            {"per_s", "1/s", "1/s", 1},
                                            {"mpps", "Mpps", "1/s", 1e6},
                                            {"kpps", "kpps", "1/s", 1e3},
                                            {"pps", "pps", "1/s", 1},
                                            {"percent", "%", "fraction", 0.01},
                                            {"fraction", "fraction", "fraction", 1},
                                            {"bytes", "B", "B", 1},
                                            {"kib", "KiB", "B", 1024},
                                            {"mib", "MiB", "B", 1048576},
                                            {"ms", "ms", "s", 1e-3},
                                            {"us", "us", "s", 1e-6},
                                            {"ns", "ns", "s", 1e-9},
                                            {"s", "s", "s", 1},
                                            {"", "count", "count", 1},
                                            {"", "EUR", "EUR", 1}}};

/// The layer 2 rate goes to the byte ledger, not to the figures.
constexpr const char* layer2_rate = "l2";

/// What is done with one column.
struct Column {
  std::string name;
  std::string figure;  ///< empty: a note
  std::string unit;    ///< in base units; empty: text
  double factor = 1;
};

/// A cell as a number in base units, and how finely it was printed.
struct Number {
  double value = 0;
  int digits = 0;         ///< significant
  double last_digit = 0;  ///< the worth of the last one, in base units
};

std::optional<ColumnUnit> unit_spelled(const std::string& name) {
  for (const ColumnUnit& unit : units)
    if (name == unit.spelling || (*unit.suffix != '\0' && name == unit.suffix)) return unit;
  return std::nullopt;
}

/// Splits "receiver_mbit_s" into "receiver" and Mbit/s; "bytes" alone has an empty stem.
std::optional<ColumnUnit> split_unit(const std::string& column, std::string& stem) {
  for (const ColumnUnit& unit : units) {
    const std::string_view suffix = unit.suffix;
    if (suffix.empty()) continue;
    if (column == suffix) {
      stem.clear();
      return unit;
    }
    if (!column.ends_with("_" + std::string(suffix))) continue;
    stem = column.substr(0, column.size() - suffix.size() - 1);
    return unit;
  }
  return std::nullopt;
}

/// "sender_cpu" -> "sender.cpu", "latency_p50" -> "latency.p50".
std::string dotted(const std::string& stem) {
  for (const char* prefix : {"sender_", "receiver_", "latency_"})
    if (stem.starts_with(prefix)) {
      std::string figure = stem;
      figure[std::string_view(prefix).size() - 1] = '.';
      return figure;
    }
  return stem;
}

std::string figure_for(const std::string& stem, const std::string& unit, bool has_frame_size) {
  const bool end = stem == "sender" || stem == "receiver";
  if (stem.empty() || unit == "B") return "";
  if (unit == "bit/s") {
    if (stem == "throughput" || stem == "receiver") return "goodput";
    if (stem == "sender") return "sender.goodput";
    if (stem == "wire_rate") return "throughput";
    if (stem == "rate") return has_frame_size ? layer2_rate : "goodput";
  }
  if (unit == "s" && end) return stem + ".elapsed";
  if (unit == "1/s" && (stem == "frames" || stem == "rate")) return "frame_rate";
  if (unit == "1/s" && stem == "transactions") return "transaction_rate";
  return dotted(stem);
}

/// The rules of the header for one column.
Column column_by_name(const std::string& name, bool has_frame_size) {
  if (name.ends_with("_calls") || name == "retransmits") return {name, dotted(name), "count", 1};
  std::string stem;
  const auto unit = split_unit(name, stem);
  if (!unit) return {name, "", "", 1};
  return {name, figure_for(stem, unit->base, has_frame_size), unit->base, unit->factor};
}

void apply_mapping(const ColumnMapping& mapping, std::vector<Column>& columns,
                   const std::string& source) {
  const auto column = std::find_if(columns.begin(), columns.end(), [&](const Column& candidate) {
    return candidate.name == mapping.column;
  });
  if (column == columns.end())
    throw CsvError(source + ": there is no column " + mapping.column + " to map");
  column->figure = mapping.figure;
  if (mapping.figure.empty()) column->unit.clear();
  if (!mapping.unit.empty()) {
    const auto unit = unit_spelled(mapping.unit);
    if (!unit)
      throw CsvError(source + ": " + mapping.unit + " is no unit for column " + mapping.column);
    column->unit = unit->base;
    column->factor = unit->factor;
  }
  if (!mapping.figure.empty() && column->unit.empty()) column->unit = "count";
}

std::vector<Column> choose_columns(const CsvTable& table, const std::string& source,
                                   const CsvOptions& options) {
  const auto has = [&](const std::string& name) {
    return std::find(table.header.begin(), table.header.end(), name) != table.header.end();
  };
  for (const std::string& id : options.id)
    if (!has(id))
      throw CsvError(fmt::format("{}: there is no column {} to name the tests; there are {}",
                                 source, id, fmt::join(table.header, ", ")));
  std::vector<Column> columns;
  for (const std::string& name : table.header)
    columns.push_back(column_by_name(name, has("frame_bytes")));
  for (const ColumnMapping& mapping : options.map) apply_mapping(mapping, columns, source);
  return columns;
}

Number read_number(const std::string& cell, const Column& column, const std::string& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
    throw CsvError(place + "\"" + cell + "\" is no number");
  if (value < 0)
    throw CsvError(place + cell + " is negative; a byte count that overflowed 32 bits?");
  const std::string mantissa = cell.substr(0, cell.find_first_of("eE"));
  Number number{value * column.factor, 0, column.factor};
  // Far beyond any measurement, and what is derived from such numbers stays finite.
  constexpr double kLargest = 1e18;
  if (number.value > kLargest || (number.value > 0 && number.value < 1 / kLargest))
    throw CsvError(place + cell + " is no size or rate that can be measured");
  bool leading = true;
  for (const char c : mantissa) {
    if (c >= '1' && c <= '9') leading = false;
    if (c >= '0' && c <= '9' && !leading) ++number.digits;
  }
  const std::size_t point = mantissa.find('.');
  if (point != std::string::npos)
    number.last_digit *= std::pow(10.0, -static_cast<double>(mantissa.size() - point - 1));
  return number;
}

/// What one row says.
struct Row {
  std::map<std::string, Number> figures;
  std::map<std::string, std::string> units;  ///< of the figures
  std::map<std::string, Number> columns;     ///< every number, by column
  std::map<std::string, std::string> texts;  ///< every cell, by column
  std::vector<std::string> notes;
};

Row read_row(const CsvRow& cells, const std::vector<Column>& columns, const std::string& source,
             const CsvOptions& options) {
  Row row;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const std::string& cell = cells.cells[i];
    if (cell.empty()) continue;
    row.texts[column.name] = cell;
    const bool names =
        std::find(options.id.begin(), options.id.end(), column.name) != options.id.end();
    if (!column.unit.empty()) {
      const auto place =
          fmt::format("{}:{}: column {} ({}): ", source, cells.line, i + 1, column.name);
      row.columns[column.name] = read_number(cell, column, place);
    }
    if (column.figure.empty()) {
      if (!names && column.name != "type") row.notes.push_back(column.name + ": " + cell);
      continue;
    }
    const Number& number = row.columns[column.name];
    const auto kept = row.figures.find(column.figure);
    if (kept != row.figures.end() && kept->second.digits >= number.digits) continue;
    row.figures[column.figure] = number;
    row.units[column.figure] = column.unit;
  }
  return row;
}

/// One end's elapsed time from the bytes and the rate it printed.
void derive_elapsed(Row& row, const std::vector<Column>& columns, const std::string& end,
                    const std::string& figure) {
  const auto bytes = row.columns.find("bytes");
  const auto rate = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
    return column.unit == "bit/s" && column.name.starts_with(end + "_") &&
           row.columns.contains(column.name) && row.columns[column.name].value > 0;
  });
  if (bytes == row.columns.end() || rate == columns.end()) return;
  Number derived = row.columns[rate->name];
  derived.value = 8 * bytes->second.value / derived.value;
  const auto printed = row.figures.find(figure);
  if (printed != row.figures.end() &&
      std::abs(derived.value - printed->second.value) > printed->second.last_digit * (1 + 1e-9)) {
    row.notes.push_back(fmt::format("{} is printed as {:g} s, but bytes / {} gives {:.5g} s",
                                    figure, printed->second.value, rate->name, derived.value));
    return;
  }
  row.figures[figure] = derived;
  row.units[figure] = "s";
}

/// The rates at layer 2 and on the wire beside the frame's bytes; the wire adds 7 + 1 bytes of
/// preamble and 12 of gap (IEEE 802.3, 4.2.3.2.1 and 4.4.2).
std::vector<LayerRate> layers_of(const Row& row) {
  const auto frame = row.columns.find("frame_bytes");
  if (frame == row.columns.end()) return {};
  const std::int64_t frame_size = std::llround(frame->second.value);
  std::vector<LayerRate> layers;
  const auto add = [&](const char* name, const char* figure, std::int64_t size) {
    const auto rate = row.figures.find(figure);
    if (rate != row.figures.end()) layers.push_back({name, rate->second.value, size});
  };
  add("l2", layer2_rate, frame_size);
  add("wire", "throughput", frame_size + 20);
  return layers;
}

std::string type_of(const Row& row, const CsvOptions& options) {
  if (!options.type.empty()) return options.type;
  const auto text = [&](const char* column) {
    const auto cell = row.texts.find(column);
    return cell == row.texts.end() ? std::string() : cell->second;
  };
  if (!text("type").empty()) return text("type");
  if (text("operation") == "put" || text("operation") == "get") return "file-transfer";
  if (row.figures.contains("transaction_rate")) return "request-response";
  const bool frames = row.figures.contains("frame_rate") || row.figures.contains("throughput");
  return frames && !row.figures.contains("goodput") ? "rfc2544-throughput" : "tcp-stream";
}

/// What a reader must know about how the columns were understood.
std::vector<std::string> notes_on_columns(const std::vector<Column>& columns,
                                          const std::string& source, const CsvOptions& options) {
  std::vector<std::string> notes{"imported from " + source};
  bool rates = false, bytes = false;
  for (const Column& column : columns) {
    if (column.name == "bytes") bytes = true;
    if (column.unit == "bit/s") rates = true;
    if (column.figure == "goodput")
      notes.push_back(column.name + " is goodput: these tools count payload");
    if (column.figure == layer2_rate)
      notes.push_back(column.name + " is the rate at layer 2, frames with their FCS");
    if (column.name.ends_with("_m_per_s") && column.factor == 8e6)
      notes.push_back(fmt::format(
          "{0}: \"M\"/s is read as 10^6 B/s; were it 1000 KiB/s, every figure would be 2.4 % "
          "higher (map {0}={1}:1000KiB/s)",
          column.name, column.figure));
  }
  if (options.derive && bytes && rates)
    notes.push_back("elapsed times are 8 x bytes / rate, finer than the seconds printed");
  return notes;
}

std::string test_name(const CsvRow& cells, const std::vector<Column>& columns,
                      const std::string& source, const CsvOptions& options) {
  std::string name;
  for (const std::string& id : options.id)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name != id) continue;
      if (cells.cells[i].empty())
        throw CsvError(fmt::format("{}:{}: column {} ({}): is empty, so the test has no name",
                                   source, cells.line, i + 1, id));
      name += (name.empty() ? "" : "-") + cells.cells[i];
    }
  return name;
}

/// Adds a row to its test; a second row of the same name is a repeat.
void add_row(TestResult& test, const Row& row) {
  for (const auto& [name, number] : row.figures) {
    if (name == layer2_rate) continue;
    const std::string& unit = row.units.at(name);
    std::vector<double> samples;
    if (const auto known = test.figures.find(name); known != test.figures.end())
      samples = known->second.samples;
    samples.push_back(number.value);
    test.figures[name] = make_figure(unit, usual_direction(name), std::move(samples));
  }
  for (const std::string& note : row.notes)
    if (std::find(test.notes.begin(), test.notes.end(), note) == test.notes.end())
      test.notes.push_back(note);
}

}  // namespace

ColumnMapping parse_mapping(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw CsvError("\"" + text + "\" is no mapping; write column=figure or column=figure:unit");
  const std::string right = text.substr(equals + 1);
  const std::size_t colon = right.find(':');
  if (colon == std::string::npos) return {text.substr(0, equals), right, ""};
  return {text.substr(0, equals), right.substr(0, colon), right.substr(colon + 1)};
}

Result import_csv(const std::string& text, const std::string& source, const CsvOptions& options) {
  const CsvTable table = read_csv(text, source);
  const std::vector<Column> columns = choose_columns(table, source, options);
  Result result;
  result.backend = Backend::published;
  result.notes = notes_on_columns(columns, source, options);
  std::map<std::string, std::size_t> index;
  for (const CsvRow& cells : table.rows) {
    Row row = read_row(cells, columns, source, options);
    if (options.derive) {
      derive_elapsed(row, columns, "sender", "sender.elapsed");
      derive_elapsed(row, columns, "receiver", "receiver.elapsed");
      derive_elapsed(row, columns, "throughput", "elapsed");
    }
    const std::string name = test_name(cells, columns, source, options);
    const auto [place, is_new] = index.emplace(name, result.tests.size());
    if (is_new) {
      TestResult test;
      test.name = name;
      test.type = type_of(row, options);
      test.layers = layers_of(row);
      result.tests.push_back(std::move(test));
    }
    add_row(result.tests[place->second], row);
  }
  return result;
}

}  // namespace linerate::experiments
