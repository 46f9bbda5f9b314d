// shader/module/glsl_elements.cpp -- see glsl_elements.hpp.
//
// A statement is looked at once it ends. A declaration in it is a name that follows another one, or one with lengths: `S a[2]`, `S[2] a`.
#include "shader/module/glsl_elements.hpp"

#include <cassert>
#include <cstdlib>
#include <string>

namespace tilegpu::shader {
namespace {

// Nobody writes such a statement; each is looked at with all of its tokens.
constexpr size_t kMostOfStatement = 1u << 16;

using Token = std::string_view;

bool is_one_of(Token t, std::initializer_list<Token> names) { return std::find(names.begin(), names.end(), t) != names.end(); }

bool begins_number(char c) { return c >= '0' && c <= '9'; }

/// Nothing: it has a point or an exponent, or is no number at all.
std::optional<uint64_t> value_of(Token number) {
  const std::string text(number);
  char* end = nullptr;
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  if (*end == 'u' || *end == 'U') ++end;
  if (end == text.c_str() || *end) return {};
  return std::min(value, kMostOfGlsl);
}

}  // namespace

bool GlslElements::is_name(size_t at) const {
  if (at >= statement_.size()) return false;
  const char c = statement_[at][0];
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || statement_[at] == kNoGlslToken;
}

uint64_t GlslElements::elements_of(Token type) const {
  const auto found = structures_.find(type);
  return found == structures_.end() ? 1 : found->second;
}

/// Of an expression that is a length: sums, products and quotients of numbers are at most the product of one more than each.
std::optional<uint64_t> GlslElements::bound(size_t at, size_t end) const {
  assert(at <= end && end <= statement_.size());
  const bool is_sole = at + 1 == end;
  uint64_t product = 1;
  for (; at < end; ++at) {
    const Token t = statement_[at];
    std::optional<uint64_t> value;
    if (begins_number(t[0])) {
      value = value_of(t);
    } else if (is_name(at)) {
      const auto found = constants_.find(t);
      if (found != constants_.end()) value = found->second;
    } else if (is_one_of(t, {"+", "*", "/", "%", "(", ")"})) {
      continue;
    }
    if (!value) return {};
    product = product_of_glsl(product, is_sole ? *value : *value + 1);
  }
  return product;
}

/// Past `[8][N]` at `at`, whose lengths multiply `product`.
size_t GlslElements::lengths(size_t at, uint64_t& product) {
  while (at < statement_.size() && statement_[at] == "[") {
    const size_t begin = at + 1;
    for (size_t open = 1; open && ++at < statement_.size();) open += statement_[at] == "[" ? 1 : statement_[at] == "]" ? -1 : 0;
    const size_t end = std::min(at, statement_.size());
    if (begin < end) {  // else its initializer says it, token by token, or whoever runs it
      const std::optional<uint64_t> length = bound(begin, end);
      known_ = known_ && length;
      product = product_of_glsl(product, std::max<uint64_t>(length.value_or(1), 1));
    }
    at = std::min(at + 1, statement_.size());
  }
  return at;
}

/// Past brackets at `at`, unlooked at.
size_t GlslElements::skip_lengths(size_t at) const {
  while (at < statement_.size() && statement_[at] == "[")
    for (size_t open = 1; ++at <= statement_.size();) {
      if (at == statement_.size()) return at;
      if (statement_[at] == "[") ++open;
      if (statement_[at] == "]" && --open == 0) {
        ++at;
        break;
      }
    }
  return at;
}

/// From the first one's name at `at`: `a[2] = x, b`. Past them.
size_t GlslElements::declarators(size_t at, uint64_t of_each, bool is_constant, bool is_parameter) {
  uint64_t all = 0;
  while (is_name(at)) {
    const Token name = statement_[at];
    uint64_t elements = of_each;
    at = lengths(at + 1, elements);
    all = sum_of_glsl(all, elements);
    if (at < statement_.size() && statement_[at] == "(") break;  // a function, whose parameters follow
    const bool has_value = at < statement_.size() && statement_[at] == "=";
    const size_t value_at = at + 1;
    int open = 0;
    for (; at < statement_.size() && open >= 0; ++at) {
      const Token t = statement_[at];
      if (t == "(" || t == "[") ++open;
      if (t == ")" || t == "]") --open;
      if (open == 0 && t == ",") break;
    }
    if (has_value && is_constant) {
      const std::optional<uint64_t> value = bound(value_at, at);
      const auto [known, is_new] = constants_.try_emplace(name, value);
      if (!is_new) known->second = value && known->second ? std::optional(std::max(*value, *known->second)) : std::nullopt;
    }
    if (is_parameter || at >= statement_.size() || statement_[at] != ",") break;
    ++at;
  }
  most_ = std::max(most_, all);
  if (!scopes_.empty()) scopes_.back().members = sum_of_glsl(scopes_.back().members, all);
  return at;
}

void GlslElements::end_statement() {
  bool is_constant = false;
  int open = 0;
  for (size_t at = 0; at < statement_.size();) {
    const Token t = statement_[at];
    if (t == "(") ++open;
    if (t == ")") --open;
    is_constant = is_constant || t == "const";
    if (!is_name(at) || is_one_of(t, {"return", "else", "case", "do", "struct"})) {
      ++at;
      continue;
    }
    const size_t behind = skip_lengths(at + 1);
    const bool is_constructor = behind > at + 1 && behind < statement_.size() && statement_[behind] == "(";  // float[4](...)
    const bool is_qualifier = is_name(behind) && is_name(skip_lengths(behind + 1));                          // of the type that follows
    uint64_t of_each = elements_of(t);
    if ((is_name(behind) && !is_qualifier) || is_constructor) lengths(at + 1, of_each);
    if (is_constructor) most_ = std::max(most_, of_each);
    const bool is_number = is_one_of(t, {"int", "uint"});
    at = is_name(behind) && !is_qualifier ? declarators(behind, of_each, is_constant && is_number, open > 0) : at + 1;
  }
  statement_.clear();
}

void GlslElements::open() {
  const auto structure = std::find(statement_.begin(), statement_.end(), "struct");
  const bool is_call = std::find(statement_.begin(), statement_.end(), ")") != statement_.end();
  const bool is_block =
      std::any_of(statement_.begin(), statement_.end(), [](Token t) { return is_one_of(t, {"uniform", "buffer", "in", "out", "shared"}); });
  Scope scope;
  if (structure != statement_.end() && structure + 1 != statement_.end()) {
    scope.structure = structure[1];
  } else if (is_block && !statement_.empty() && (!is_call || statement_.back() != ")")) {
    scope.structure = statement_.back();
  } else {
    end_statement();  // a function's parameters
  }
  statement_.clear();
  scopes_.push_back(scope);
}

void GlslElements::close() {
  end_statement();
  if (scopes_.empty()) return;
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  if (scope.structure.empty()) return;
  uint64_t& known = structures_[scope.structure];
  known = std::max({known, scope.members, uint64_t{1}});
  most_ = std::max(most_, known);
  statement_.push_back(scope.structure);  // `} a, b[2];`
}

void GlslElements::take(Token t) {
  assert(!t.empty());
  if (t == "{") return open();
  if (t == "}") return close();
  if (t == ";") return end_statement();
  if (statement_.size() == kMostOfStatement)
    known_ = false;
  else
    statement_.push_back(t);
}

}  // namespace tilegpu::shader
