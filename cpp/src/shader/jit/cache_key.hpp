// shader/jit/cache_key.hpp -- the secret that entries of the disk cache are authenticated with, and the code that does it.
//
// In: the user's folders. Out: 32 random bytes from a file that only the user can read, made at the first use; a code of 32 bytes over
// bytes. The file lies beside no cache: a folder that somebody else filled brings no key along that would make its entries true.
// Source: BLAKE3, "keyed hash" (the C code of its authors, which LLVM carries); XDG Base Directory Specification (state); decision 180.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tilegpu/types.hpp"

namespace tilegpu::shader {

using SecretKey = std::array<uint8_t, 32>;
using Authenticator = std::array<uint8_t, 32>;

/// $TILEGPU_CACHE_KEY, or tilegpu/cache.key in $XDG_STATE_HOME or ~/.local/state. An error says why there is none.
Expected<SecretKey> user_cache_key();
/// Of the parts one after the other. Where a part ends is not in it: lengths are to be among the parts.
Authenticator authenticate(const SecretKey& key, std::initializer_list<std::string_view> parts);
/// In a time that does not depend on where they differ.
bool same(const Authenticator& a, const Authenticator& b);

/// The path of a folder of the user's by the XDG specification: `named` (what secure_getenv says of "XDG_CACHE_HOME"), or `below_home`
/// (".cache") in the home directory. "" where there is no home.
std::string user_directory(const char* named, const char* below_home);
/// Makes it and what is above it, where missing. Empty: a folder of the user's that nobody else can write; else what is wrong with it.
std::string make_private_directory(const std::string& path);
/// 32 hexadecimal digits that nobody else has.
std::string random_name();

}  // namespace tilegpu::shader
