// shader/module/glsl_size.cpp -- see glsl_size.hpp.
//
// A macro's size is a linear function of its arguments' sizes, made of those of the macros in its body, and found once; so that the work is
// in proportion to the text whatever it expands to.
#include "shader/module/glsl_size.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "shader/module/glsl_elements.hpp"

namespace tilegpu::shader {
namespace {

constexpr uint64_t kMost = kMostOfGlsl;
constexpr size_t kMaxNesting = 200;  // of macros in each other, and of arguments: beyond it each token is itself
// Macros that are defined anew again and again are measured as often; what takes a second of that is as good as endless.
constexpr uint64_t kMostVisited = 1u << 26;
// Of files that are included. A text that includes more is not known.
constexpr size_t kMostIncluded = 1000, kMostIncluded_B = 4u << 20;

uint64_t sum(uint64_t a, uint64_t b) { return sum_of_glsl(a, b); }
uint64_t product(uint64_t a, uint64_t b) { return product_of_glsl(a, b); }

/// Tokens and how many of them are `case`.
struct Size {
  uint64_t tokens = 0, cases = 0;
  void add(const Size& other, uint64_t times = 1) {
    tokens = sum(tokens, product(other.tokens, times)), cases = sum(cases, product(other.cases, times));
  }
};

using Token = std::string_view;
using Tokens = std::vector<Token>;

bool begins_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

struct Macro {
  bool has_arguments = false;
  bool perhaps = false;  // defined where a condition holds, or undefined there: its name may be itself
  std::vector<Token> parameters;
  Tokens body;
  uint32_t known_in = 0;            // generation; 0: not yet
  bool open = false;                // is being measured
  Size own;                         // without its arguments
  std::vector<uint64_t> arguments;  // how often each is there
  Token last;                       // a macro that takes arguments from behind
};

struct Measure {
  GlslSize out;
  std::unordered_map<std::string_view, Macro> macros;
  std::unordered_set<std::string_view> missed;  // names that were no macros, when sizes were found with them
  uint32_t generation = 1;                      // of definitions that sizes were found with
  struct Switch {
    int depth = 0;  // of braces around its own
    uint64_t cases = 0;
  };
  std::vector<Switch> switches;
  int depth = 0, conditions = 0;
  size_t nesting = 0;
  GlslElements elements;

  const Macro* find(Token name);
  /// Of tokens from `at` to `end`; `uses`: how often each of `parameters` is among them.
  Size size_of(const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters, std::vector<uint64_t>* uses, Token* last);
  size_t call(const Macro& macro, const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters,
              std::vector<uint64_t>* uses, Size& size, Token* last);
  void define(const Tokens& line, bool touches);
  void undefine(Token name);
  void forget(Token name);
  std::optional<Token> alias(Token name);
  void declare(const Tokens& tokens);
  void take(const Tokens& tokens);
  void condition(const Tokens& line);
};

/// Its size is known, or it is null: no macro, or one that is within itself.
const Macro* Measure::find(Token name) {
  const auto found = macros.find(name);
  if (found == macros.end()) {
    if (nesting) missed.insert(name);
    return nullptr;
  }
  Macro& macro = found->second;
  if (nesting > kMaxNesting || out.visited > kMostVisited) out.known = false;
  if (macro.open || nesting > kMaxNesting || out.visited > kMostVisited) return nullptr;
  if (macro.known_in != generation) {
    macro.open = true, macro.own = {};
    macro.arguments.assign(macro.parameters.size(), 0);
    ++nesting;
    Token last;
    macro.own = size_of(macro.body, 0, macro.body.size(), &macro.parameters, &macro.arguments, &last);
    --nesting;
    macro.last = last, macro.known_in = generation, macro.open = false;
  }
  return &macro;
}

/// Behind the macro's name: past its arguments.
size_t Measure::call(const Macro& macro, const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters,
                     std::vector<uint64_t>* uses, Size& size, Token* last) {
  assert(at < end && tokens[at] == "(");
  size.add(macro.own);
  size_t argument = 0, begin = at + 1, open = 0;
  ++nesting;
  for (; at < end; ++at) {
    const Token t = tokens[at];
    if (t == "(") ++open;
    if (t == ")") --open;
    const bool ends = open == 0;
    if (!ends && !(t == "," && open == 1)) continue;
    uint64_t times = argument < macro.arguments.size() ? macro.arguments[argument] : 1;
    if (macro.perhaps && !times) times = 1, out.exact = false;
    std::vector<uint64_t> within(uses ? uses->size() : 0, 0);
    if (nesting > kMaxNesting) out.known = false;
    if (nesting <= kMaxNesting) size.add(size_of(tokens, begin, at, parameters, uses ? &within : nullptr, nullptr), times);
    for (size_t k = 0; k < within.size(); ++k) (*uses)[k] = sum((*uses)[k], product(within[k], times));
    begin = at + 1, ++argument;
    if (ends) break;
  }
  --nesting;
  *last = macro.last;
  return std::min(at + 1, end);
}

Size Measure::size_of(const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters, std::vector<uint64_t>* uses,
                      Token* last) {
  Size size;
  assert(end <= tokens.size() && (!uses || uses->size() == parameters->size()));
  Token waits;  // a macro that takes arguments, and none stood behind it
  while (at < end) {
    const Token t = tokens[at++];
    out.visited++;
    // It is expanded where a macro's argument, or the rest of the text, brings the brackets; how often nobody knows.
    if (!waits.empty()) out.known = false;
    waits = {};
    if (parameters && uses) {
      const auto parameter = std::find(parameters->begin(), parameters->end(), t);
      if (parameter != parameters->end()) {
        uint64_t& count = (*uses)[static_cast<size_t>(parameter - parameters->begin())];
        count = sum(count, 1);
        continue;
      }
    }
    const Macro* macro = begins_name(t[0]) ? find(t) : nullptr;
    if (macro && macro->has_arguments) {
      waits = t;
      if (!(at < end && tokens[at] == "(")) size.add({1, 0});
    } else if (macro) {
      size.add(macro->own);
      waits = macro->last;
    } else {
      size.add({1, t == "case"});
    }
    // The last token of what a macro stands for may be one that takes what stands in brackets behind it.
    while (!waits.empty() && at < end && tokens[at] == "(") {
      macro = find(waits);
      if (!macro) break;  // it is within itself
      at = call(*macro, tokens, at, end, parameters, uses, size, &waits);
    }
  }
  if (last)
    *last = waits;
  else if (!waits.empty())
    out.known = false;
  return size;
}

/// `touches`: no space between the name and what follows.
void Measure::define(const Tokens& line, bool touches) {
  assert(line.size() > 2);
  Macro macro;
  size_t at = 3;
  if (touches && at < line.size() && line[at] == "(") {
    macro.has_arguments = true;
    for (++at; at < line.size() && line[at] != ")"; ++at)
      if (line[at] != ",") macro.parameters.push_back(line[at]);
    ++at;
  }
  if (at < line.size()) macro.body.assign(line.begin() + static_cast<std::ptrdiff_t>(at), line.end());
  for (const Token t : macro.body)
    if (t == "#" || t == "struct" || t == "[") out.known = false;  // names that ## makes; what nobody saw declared
  macro.perhaps = conditions > 0;
  const auto known = macros.find(line[2]);
  if (macro.perhaps && known != macros.end()) {  // either one: both are more than that
    const Macro& other = known->second;
    if (other.has_arguments != macro.has_arguments || other.parameters.size() != macro.parameters.size()) out.known = false;
    for (Token t : other.body) {
      const auto parameter = std::find(other.parameters.begin(), other.parameters.end(), t);
      const auto number = static_cast<size_t>(parameter - other.parameters.begin());
      if (number < std::min(other.parameters.size(), macro.parameters.size())) t = macro.parameters[number];
      macro.body.push_back(t);
    }
    out.exact = false;
  }
  forget(line[2]);
  macros.insert_or_assign(line[2], std::move(macro));
}

void Measure::undefine(Token name) {
  const auto known = macros.find(name);
  if (conditions > 0 && known != macros.end())
    known->second.perhaps = true;
  else
    forget(name);
}

/// What others were found to be with the name may be another thing now; each is looked at again where it is used.
void Measure::forget(Token name) {
  if (macros.erase(name) || missed.count(name)) ++generation, missed.clear();
}

/// #if and #elif: their macros are expanded too, but for what `defined` asks for.
void Measure::condition(const Tokens& line) {
  Tokens asked;
  for (size_t at = 2; at < line.size(); ++at) {
    if (line[at] == "defined")
      at += at + 1 < line.size() && line[at + 1] == "(" ? 3 : 1;
    else
      asked.push_back(line[at]);
  }
  out.tokens = sum(out.tokens, size_of(asked, 0, asked.size(), nullptr, nullptr, nullptr).tokens);
}

/// What a name stands for, if that is one token at most; nothing: it is not known.
std::optional<Token> Measure::alias(Token name) {
  for (size_t k = 0; k <= kMaxNesting; ++k) {
    const auto found = macros.find(name);
    if (found == macros.end()) return name;
    const Macro& macro = found->second;
    if (macro.has_arguments || macro.perhaps || macro.body.size() > 1) return {};
    if (macro.body.empty()) return Token();
    name = macro.body[0];
  }
  return {};
}

/// Declarations, as far as macros do not make them: a name that stands for several tokens is nobody's length.
void Measure::declare(const Tokens& tokens) {
  for (const Token t : tokens) {
    const std::optional<Token> known = begins_name(t[0]) ? alias(t) : t;
    if (!known || !known->empty()) elements.take(known ? *known : kNoGlslToken);
  }
}

/// Code between directives.
void Measure::take(const Tokens& tokens) {
  declare(tokens);
  size_t at = 0;
  const auto flush = [&](size_t end) {
    const Size size = size_of(tokens, at, end, nullptr, nullptr, nullptr);
    out.tokens = sum(out.tokens, size.tokens);
    if (!switches.empty()) {
      switches.back().cases = sum(switches.back().cases, size.cases);
      out.cases = std::max(out.cases, switches.back().cases);
    }
    at = end;
  };
  for (size_t k = 0; k < tokens.size(); ++k) {
    const Token t = tokens[k];
    if (t != "switch" && t != "{" && t != "}") continue;
    flush(k);
    if (t == "switch") switches.push_back({depth, 0});
    if (t == "{") ++depth;
    if (t == "}") {
      --depth;
      assert(at == k);
      while (!switches.empty() && depth <= switches.back().depth) switches.pop_back();
    }
  }
  flush(tokens.size());
}

/// Texts as they include each other, into tokens and directives.
struct Scanner {
  Measure& measure;
  const FindInclude& find;
  std::deque<std::string> texts = {};  // what tokens are of
  size_t included_B = 0;
  Tokens code = {}, directive = {};
  bool touches = false;

  void scan(std::string_view s, const std::string& path, size_t files_deep);
  void end_directive(std::string_view line, const std::string& path, size_t files_deep);
  void include(std::string_view line, const std::string& path, size_t files_deep);
};

void Scanner::include(std::string_view line, const std::string& path, size_t files_deep) {
  const size_t begin = line.find_first_of("\"<");
  const size_t end = begin == std::string_view::npos ? begin : line.find_first_of("\">", begin + 1);
  std::optional<std::string> name;
  std::optional<IncludedGlsl> found;
  if (end != std::string_view::npos) name = std::string(line.substr(begin + 1, end - begin - 1));
  const bool room = texts.size() < kMostIncluded && included_B < kMostIncluded_B;
  if (name && find && room) found = find(*name, line[begin] == '"', path, files_deep + 1);
  if (!found) {
    // A file that is not there is an error of the compiler's, soon.
    if (!name || !room) measure.out.known = false;
    return;
  }
  included_B += found->text.size();
  texts.push_back(std::move(found->text));
  scan(texts.back(), found->path, files_deep + 1);
}

void Scanner::end_directive(std::string_view line, const std::string& path, size_t files_deep) {
  const Token name = directive.size() > 1 ? directive[1] : Token();
  const bool has_more = directive.size() > 2;
  if (has_more && (name == "define" || name == "undef" || name == "if" || name == "elif")) measure.take(code), code.clear();
  if (has_more && name == "define") measure.define(directive, touches);
  if (has_more && name == "undef") measure.undefine(directive[2]);
  if (has_more && (name == "if" || name == "elif")) measure.condition(directive);
  if (name == "if" || name == "ifdef" || name == "ifndef") ++measure.conditions;
  if (name == "endif") --measure.conditions;
  directive.clear();
  if (name == "include") include(line, path, files_deep);
}

void Scanner::scan(std::string_view s, const std::string& path, size_t files_deep) {
  bool in_directive = false, begins_line = true;
  size_t line_at = 0;
  const auto end_line = [&](size_t at) {
    if (in_directive) end_directive(s.substr(line_at, at - line_at), path, files_deep);
    in_directive = false;
  };
  for (size_t at = 0; at < s.size();) {
    const char c = s[at];
    if (c == '\\' && at + 1 < s.size() && (s[at + 1] == '\n' || s[at + 1] == '\r')) {
      at += s[at + 1] == '\r' && at + 2 < s.size() && s[at + 2] == '\n' ? 3 : 2;
    } else if (c == '\n') {
      end_line(at);
      begins_line = true, ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at;
    } else if (s.substr(at, 2) == "//") {
      at = std::min(s.find('\n', at), s.size());
    } else if (s.substr(at, 2) == "/*") {
      const size_t end = s.find("*/", at + 2);
      at = end == std::string_view::npos ? s.size() : end + 2;
    } else {
      if (c == '#' && begins_line) in_directive = true, line_at = at;
      begins_line = false;
      size_t end = at + 1;
      while (is_word(c) && end < s.size() && (is_word(s[end]) || (s[end] == '.' && !begins_name(c)))) ++end;
      (in_directive ? directive : code).push_back(s.substr(at, end - at));
      if (in_directive && directive.size() == 3) touches = end < s.size() && s[end] == '(';
      at = end;
    }
  }
  end_line(s.size());
}

}  // namespace

GlslSize measure_glsl(const std::string& text, const std::map<std::string, std::string>& defines, const FindInclude& find,
                      const std::string& path) {
  std::string first;
  for (const auto& [name, value] : defines) first += "#define " + name + " " + value + "\n";
  Measure measure;
  Scanner scanner{measure, find};
  scanner.scan(first, path, 0);
  scanner.scan(text, path, 0);
  measure.take(scanner.code);
  GlslSize& out = measure.out;
  out.elements = measure.elements.most();
  out.known = out.known && measure.elements.known();
  if (out.visited > kMostVisited) out.tokens = kMost;
  return out;
}

}  // namespace tilegpu::shader
