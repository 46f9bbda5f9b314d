// shader/module/glsl_size.cpp -- see glsl_size.hpp.
//
// A macro's size is a linear function of its arguments' sizes, made of those of the macros in its body, and found once; so that the work is
// in proportion to the text whatever it expands to.
#include "shader/module/glsl_size.hpp"

#include <algorithm>
#include <cassert>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tilegpu::shader {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 40;
constexpr size_t kMaxNesting = 200;  // of macros in each other, and of arguments: beyond it each token is itself
// Macros that are defined anew again and again are measured as often; what takes a second of that is as good as endless.
constexpr uint64_t kMostVisited = 1u << 26;

uint64_t sum(uint64_t a, uint64_t b) { return std::min(kMost, a + b); }
uint64_t product(uint64_t a, uint64_t b) { return a && b > kMost / a ? kMost : a * b; }

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
  int depth = 0;
  size_t nesting = 0;

  const Macro* find(Token name);
  /// Of tokens from `at` to `end`; `uses`: how often each of `parameters` is among them.
  Size size_of(const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters, std::vector<uint64_t>* uses, Token* last);
  size_t call(const Macro& macro, const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters,
              std::vector<uint64_t>* uses, Size& size, Token* last);
  void define(const Tokens& line, bool touches);
  void forget(Token name);
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
    const uint64_t times = argument < macro.arguments.size() ? macro.arguments[argument] : 1;
    std::vector<uint64_t> within(uses ? uses->size() : 0, 0);
    if (nesting <= kMaxNesting) size.add(size_of(tokens, begin, at, parameters, uses ? &within : nullptr, nullptr), times);
    for (size_t k = 0; k < within.size(); ++k) (*uses)[k] = sum((*uses)[k], product(within[k], times));
    begin = at + 1, ++argument;
    if (ends) break;
  }
  --nesting;
  if (last) *last = macro.last;
  return std::min(at + 1, end);
}

Size Measure::size_of(const Tokens& tokens, size_t at, size_t end, const std::vector<Token>* parameters, std::vector<uint64_t>* uses,
                      Token* last) {
  Size size;
  assert(end <= tokens.size() && (!uses || uses->size() == parameters->size()));
  while (at < end) {
    const Token t = tokens[at++];
    out.visited++;
    if (last) *last = {};
    if (parameters && uses) {
      const auto parameter = std::find(parameters->begin(), parameters->end(), t);
      if (parameter != parameters->end()) {
        uint64_t& count = (*uses)[static_cast<size_t>(parameter - parameters->begin())];
        count = sum(count, 1);
        continue;
      }
    }
    const Macro* macro = begins_name(t[0]) ? find(t) : nullptr;
    if (macro && !macro->has_arguments) {
      size.add(macro->own);
      // Its last token may be a macro that takes what stands in brackets behind it.
      const Token behind = macro->last;
      macro = behind.empty() ? nullptr : find(behind);
      if (macro && !(at < end && tokens[at] == "(") && last) *last = behind;
      if (!macro || !(at < end && tokens[at] == "(")) continue;
      at = call(*macro, tokens, at, end, parameters, uses, size, last);
      continue;
    }
    if (macro && at < end && tokens[at] == "(") {
      at = call(*macro, tokens, at, end, parameters, uses, size, last);
      continue;
    }
    if (macro && last) *last = t;
    size.add({1, t == "case"});
  }
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
  forget(line[2]);
  macros.insert_or_assign(line[2], std::move(macro));
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

/// Code between directives.
void Measure::take(const Tokens& tokens) {
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

}  // namespace

GlslSize measure_glsl(const std::string& text, const std::map<std::string, std::string>& defines) {
  std::string whole;
  for (const auto& [name, value] : defines) whole += "#define " + name + " " + value + "\n";
  whole += text;
  Measure measure;
  Tokens code, directive;
  bool in_directive = false, begins_line = true, touches = false;
  const auto end_directive = [&] {
    if (directive.size() > 2 && directive[1] == "define") {
      measure.take(code), code.clear();
      measure.define(directive, touches);
    }
    if (directive.size() > 2 && directive[1] == "undef") {
      measure.take(code), code.clear();
      measure.forget(directive[2]);
    }
    if (directive.size() > 2 && (directive[1] == "if" || directive[1] == "elif")) {
      measure.take(code), code.clear();
      measure.condition(directive);
    }
    directive.clear(), in_directive = false;
  };
  const std::string_view s(whole);
  for (size_t at = 0; at < s.size();) {
    const char c = s[at];
    if (c == '\\' && at + 1 < s.size() && (s[at + 1] == '\n' || s[at + 1] == '\r')) {
      at += s[at + 1] == '\r' && at + 2 < s.size() && s[at + 2] == '\n' ? 3 : 2;
    } else if (c == '\n') {
      if (in_directive) end_directive();
      begins_line = true, ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at;
    } else if (s.substr(at, 2) == "//") {
      at = std::min(s.find('\n', at), s.size());
    } else if (s.substr(at, 2) == "/*") {
      const size_t end = s.find("*/", at + 2);
      at = end == std::string_view::npos ? s.size() : end + 2;
    } else {
      if (c == '#' && begins_line) in_directive = true;
      begins_line = false;
      size_t end = at + 1;
      while (is_word(c) && end < s.size() && (is_word(s[end]) || (s[end] == '.' && !begins_name(c)))) ++end;
      (in_directive ? directive : code).push_back(s.substr(at, end - at));
      if (in_directive && directive.size() == 3) touches = end < s.size() && s[end] == '(';
      at = end;
    }
  }
  if (in_directive) end_directive();
  measure.take(code);
  if (measure.out.visited > kMostVisited) measure.out.tokens = kMost;
  return measure.out;
}

}  // namespace tilegpu::shader
