// Text in aligned columns. Only the tables of results/ use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace linerate::experiments {

enum class Paint { none, bold, good, bad, doubtful };

/// The text between the escape sequences of a terminal; unchanged without `colour`.
std::string painted(const std::string& text, Paint paint, bool colour);

/// The text on lines of at most `width` columns, broken at spaces, every line after `indent`.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = 100);

struct Cell {
  std::string text;
  Paint paint = Paint::none;
};

/// Rows of cells. Columns are two spaces apart and as wide as their widest cell; a column that the
/// heading marks with a leading '>' is aligned to the right; a column without any text is left out.
class Grid {
 public:
  explicit Grid(std::vector<std::string> headings);
  /// Missing cells at the end are empty.
  void add(std::vector<Cell> cells);
  /// A line of its own among the rows, which no column has to hold.
  void add_title(const std::string& text, Paint paint);
  bool empty() const { return rows_.empty(); }
  /// Columns of the terminal that a line takes.
  std::size_t width() const;
  /// A heading and a line a row, each after `indent` spaces.
  std::string text(std::size_t indent, bool colour) const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<Cell> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<Cell>> rows_;  ///< a title is a row of one cell
};

}  // namespace linerate::experiments
