#include "experiments/results/csv.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace linerate::experiments {
namespace {

/// One pass over the text, a character at a time.
class RecordReader {
 public:
  RecordReader(std::string_view text, const std::string& source) : text_(text), source_(source) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (text_.starts_with(byte_order_mark)) position_ = byte_order_mark.size();
  }

  /// False at the end of the text.
  bool next(CsvRow& row) {
    skip_empty_lines();
    if (at_end()) return false;
    row = {line_, {}};
    do {
      row.cells.push_back(peek() == '"' ? quoted_cell(row) : plain_cell(row));
    } while (take(','));
    end_of_record(row);
    return true;
  }

 private:
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool at_line_end() const {
    return at_end() || peek() == '\n' || text_.substr(position_, 2) == "\r\n";
  }

  bool take(char wanted) {
    if (at_end() || peek() != wanted) return false;
    ++position_;
    return true;
  }

  void skip_empty_lines() {
    while (!at_end() && at_line_end()) end_of_line();
  }

  void end_of_line() {
    take('\r');
    if (take('\n')) ++line_;
  }

  std::string plain_cell(const CsvRow& row) {
    const std::size_t start = position_;
    while (!at_line_end() && peek() != ',') {
      if (peek() == '"') fail(row, "a quote inside an unquoted cell");
      ++position_;
    }
    const std::string_view cell = text_.substr(start, position_ - start);
    const std::size_t first = cell.find_first_not_of(" \t");
    if (first == std::string_view::npos) return "";
    return std::string(cell.substr(first, cell.find_last_not_of(" \t") - first + 1));
  }

  std::string quoted_cell(const CsvRow& row) {
    std::string cell;
    take('"');
    while (true) {
      if (at_end()) fail(row, "a quote is not closed");
      const char c = text_[position_++];
      if (c == '\n') ++line_;
      if (c != '"')
        cell += c;
      else if (take('"'))
        cell += '"';
      else
        return cell;
    }
  }

  void end_of_record(const CsvRow& row) {
    if (!at_line_end()) fail(row, "text after a closing quote");
    end_of_line();
  }

  [[noreturn]] void fail(const CsvRow& row, const std::string& problem) const {
    throw CsvError(source_ + ":" + std::to_string(row.line) + ": column " +
                   std::to_string(row.cells.size() + 1) + ": " + problem);
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t position_ = 0;
  int line_ = 1;
};

void check_header(const CsvRow& header, const std::string& source) {
  std::set<std::string> names;
  const std::string place = source + ":" + std::to_string(header.line) + ": ";
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    if (header.cells[i].empty())
      throw CsvError(place + "column " + std::to_string(i + 1) + " has no name");
    if (!names.insert(header.cells[i]).second)
      throw CsvError(place + "two columns are named " + header.cells[i]);
  }
}

}  // namespace

CsvTable read_csv(const std::string& text, const std::string& source) {
  RecordReader reader(text, source);
  CsvRow row;
  if (!reader.next(row)) throw CsvError(source + ": holds no table");
  check_header(row, source);
  CsvTable table{row.cells, {}};
  while (reader.next(row)) {
    if (row.cells.size() != table.header.size())
      throw CsvError(source + ":" + std::to_string(row.line) + ": has " +
                     std::to_string(row.cells.size()) + " cells, the header " +
                     std::to_string(table.header.size()));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace linerate::experiments
