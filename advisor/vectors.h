/* Marks a loop over vectors: where the compiler can, it is built for wide vector units too and chosen at start. */
#ifndef SW_VECTORS_H
#define SW_VECTORS_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__) &&                           \
    !defined(__SANITIZE_ADDRESS__)
#define VECTORS_WIDE __attribute__((target_clones("default", "avx2", "arch=x86-64-v4"), optimize("O3")))
#else
#define VECTORS_WIDE
#endif

#endif
