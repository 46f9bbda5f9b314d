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
/// What processes left that were killed as they wrote it.
void remove_old_keys();
/// Of the parts one after the other. Where a part ends is not in it: lengths are to be among the parts.
Authenticator authenticate(const SecretKey& key, std::initializer_list<std::string_view> parts);
/// In a time that does not depend on where they differ.
bool same(const Authenticator& a, const Authenticator& b);

}  // namespace tilegpu::shader
