/* Gaussian noise as a function of trial and step: neurogym_core/trials/noise.py in C, bit for bit.

   The number of (key of the seed, serial number of the trial, step of the trial, unit) is word
   unit % 4 of the Philox4x32-10 block with counter (step, unit / 4, low and high half of serial),
   looked up in the table of noise.py, which the caller passes: 16385 pairs of float32.

   Compile with -ffp-contract=off: if the compiler fuses a product and a sum, they are rounded once,
   and the numbers differ from those of NumPy. GCC has no pragma for it. */

#ifndef NEUROGYM_NOISE_H
#define NEUROGYM_NOISE_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 16 (GCC on processors with float16 arithmetic) rounds float32 as 0 does: it differs for _Float16
   only. */
#if (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16) || defined(__FAST_MATH__)
#error "float32 arithmetic must round every operation to float32: no x87, no -ffast-math"
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define NOISE_X86 1
#include <immintrin.h>
#define NOISE_TARGET(name) __attribute__((target(name)))
#define NOISE_INLINE static inline __attribute__((always_inline))
#else
#define NOISE_X86 0
#define NOISE_INLINE static inline
#endif

#if defined(_MSC_VER)
#define NOISE_RESTRICT __restrict
#else
#define NOISE_RESTRICT restrict
#endif

enum {
    NOISE_LANES = 64,      /* blocks in a batch, a multiple of NOISE_WIDEST */
    NOISE_WIDEST = 8,      /* blocks per instruction on the widest processor */
    NOISE_FRACTION_BITS = 14
};

#define NOISE_ONE_HALF 0x3F000000u /* the bits of 0.5f */
#define NOISE_SIGN 0x80000000u
#define NOISE_M0 0xD2511F53u
#define NOISE_M1 0xCD9E8D57u
#define NOISE_W0 0x9E3779B9u
#define NOISE_W1 0xBB67AE85u

/* The counters of a batch of blocks, and room for their words. */
typedef struct {
    uint64_t serial[NOISE_LANES];
    uint32_t step[NOISE_LANES];
    uint32_t block[NOISE_LANES];
    uint32_t words[4 * NOISE_LANES + 4]; /* noise_move copies four words, also at the end */
} noise_batch;

/* ---- words: the Philox blocks of the first `lanes` counters, in whole NOISE_WIDEST -------- */

static inline void noise_words_plain(noise_batch *batch, int lanes, uint64_t key)
{
    for (int lane = 0; lane < lanes; ++lane) {
        uint32_t a = batch->step[lane], b = batch->block[lane];
        uint32_t c = (uint32_t)batch->serial[lane], d = (uint32_t)(batch->serial[lane] >> 32);
        uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
        for (int round = 0; round < 10; ++round) {
            uint64_t p = (uint64_t)NOISE_M0 * a, q = (uint64_t)NOISE_M1 * c;
            a = (uint32_t)(q >> 32) ^ b ^ k0;
            c = (uint32_t)(p >> 32) ^ d ^ k1;
            b = (uint32_t)q;
            d = (uint32_t)p;
            k0 += NOISE_W0;
            k1 += NOISE_W1;
        }
        batch->words[4 * lane] = a;
        batch->words[4 * lane + 1] = b;
        batch->words[4 * lane + 2] = c;
        batch->words[4 * lane + 3] = d;
    }
}

#if NOISE_X86

/* Compilers do not find these vector forms. Each 64-bit lane has one word; the multiplication
   ignores the upper half of its operands, so it is not cleared between rounds. */

NOISE_TARGET("avx2")
static inline void noise_words_avx2(noise_batch *batch, int lanes, uint64_t key)
{
    const __m256i m0 = _mm256_set1_epi64x(NOISE_M0), m1 = _mm256_set1_epi64x(NOISE_M1);
    for (int lane = 0; lane < lanes; lane += 4) {
        __m256i c = _mm256_loadu_si256((const __m256i *)(batch->serial + lane));
        __m256i a = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(batch->step + lane)));
        __m256i b = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(batch->block + lane)));
        __m256i d = _mm256_srli_epi64(c, 32);
        uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
        for (int round = 0; round < 10; ++round) {
            __m256i p = _mm256_mul_epu32(a, m0), q = _mm256_mul_epu32(c, m1);
            a = _mm256_xor_si256(_mm256_srli_epi64(q, 32),
                                 _mm256_xor_si256(b, _mm256_set1_epi64x(k0)));
            c = _mm256_xor_si256(_mm256_srli_epi64(p, 32),
                                 _mm256_xor_si256(d, _mm256_set1_epi64x(k1)));
            b = q;
            d = p;
            k0 += NOISE_W0;
            k1 += NOISE_W1;
        }
        __m256i ab = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xAA);
        __m256i cd = _mm256_blend_epi32(c, _mm256_slli_epi64(d, 32), 0xAA);
        __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
        __m256i *out = (__m256i *)(batch->words + 4 * lane);
        _mm256_storeu_si256(out, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
}

NOISE_TARGET("avx512f")
static inline void noise_words_avx512(noise_batch *batch, int lanes, uint64_t key)
{
    const __m512i m0 = _mm512_set1_epi64(NOISE_M0), m1 = _mm512_set1_epi64(NOISE_M1);
    const __m512i first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    for (int lane = 0; lane < lanes; lane += 8) {
        __m512i c = _mm512_loadu_si512(batch->serial + lane);
        __m512i a = _mm512_cvtepu32_epi64(
            _mm256_loadu_si256((const __m256i *)(batch->step + lane)));
        __m512i b = _mm512_cvtepu32_epi64(
            _mm256_loadu_si256((const __m256i *)(batch->block + lane)));
        __m512i d = _mm512_srli_epi64(c, 32);
        uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
        for (int round = 0; round < 10; ++round) {
            __m512i p = _mm512_mul_epu32(a, m0), q = _mm512_mul_epu32(c, m1);
            a = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), b, _mm512_set1_epi64(k0), 0x96);
            c = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), d, _mm512_set1_epi64(k1), 0x96);
            b = q;
            d = p;
            k0 += NOISE_W0;
            k1 += NOISE_W1;
        }
        __m512i ab = _mm512_mask_blend_epi32(0xAAAA, a, _mm512_slli_epi64(b, 32));
        __m512i cd = _mm512_mask_blend_epi32(0xAAAA, c, _mm512_slli_epi64(d, 32));
        uint32_t *out = batch->words + 4 * lane;
        _mm512_storeu_si512(out, _mm512_permutex2var_epi64(ab, first, cd));
        _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi64(ab, second, cd));
    }
}

#endif

static inline void noise_words(noise_batch *batch, int lanes, uint64_t key)
{
#if NOISE_X86
    if (lanes > 2 && __builtin_cpu_supports("avx512f"))
        noise_words_avx512(batch, lanes, key);
    else if (lanes > 2 && __builtin_cpu_supports("avx2"))
        noise_words_avx2(batch, lanes, key);
    else
#endif
        noise_words_plain(batch, lanes, key); /* for one or two blocks vectors take longer */
}

/* ---- numbers: `normal` of noise.py, for at most 4 * NOISE_LANES words --------------------- */

NOISE_INLINE void noise_normal_loops(const float *NOISE_RESTRICT table,
                                     const uint32_t *NOISE_RESTRICT words, int count,
                                     float *NOISE_RESTRICT out)
{
    uint32_t place[4 * NOISE_LANES];
    uint64_t line[4 * NOISE_LANES];
    for (int i = 0; i < count; ++i) {
        float rank = (float)(int32_t)(words[i] & ~NOISE_SIGN) + 0.5f;
        uint32_t bits;
        memcpy(&bits, &rank, 4);
        place[i] = bits - NOISE_ONE_HALF;
    }
    for (int i = 0; i < count; ++i) {
        const float *cell = table + 2 * (size_t)(place[i] >> NOISE_FRACTION_BITS);
        uint32_t begin_bits, rise_bits;
        uint64_t pair;
        memcpy(&begin_bits, cell, 4);
        memcpy(&rise_bits, cell + 1, 4);
        pair = begin_bits | (uint64_t)rise_bits << 32;
#if NOISE_X86
        __asm__("" : "+r"(pair)); /* prevents a vector gather, which is slower than scalar loads */
#endif
        line[i] = pair;
    }
    for (int i = 0; i < count; ++i) {
        uint32_t begin_bits = (uint32_t)line[i], rise_bits = (uint32_t)(line[i] >> 32), bits;
        float part = (float)(int32_t)(place[i] & ((1u << NOISE_FRACTION_BITS) - 1));
        float begin, rise, z;
        memcpy(&begin, &begin_bits, 4);
        memcpy(&rise, &rise_bits, 4);
        z = begin + part * rise;
        memcpy(&bits, &z, 4);
        bits |= words[i] & NOISE_SIGN;
        memcpy(out + i, &bits, 4);
    }
}

static inline void noise_normal_plain(const float *table, const uint32_t *words, int count,
                                      float *out)
{
    noise_normal_loops(table, words, count, out);
}

#if NOISE_X86
NOISE_TARGET("avx2")
static inline void noise_normal_avx2(const float *table, const uint32_t *words, int count,
                                     float *out)
{
    noise_normal_loops(table, words, count, out);
}
NOISE_TARGET("avx512f")
static inline void noise_normal_avx512(const float *table, const uint32_t *words, int count,
                                     float *out)
{
    noise_normal_loops(table, words, count, out);
}
#endif

static inline void noise_normal(const float *table, const uint32_t *words, int count, float *out)
{
#if NOISE_X86
    if (__builtin_cpu_supports("avx512f"))
        noise_normal_avx512(table, words, count, out);
    else if (__builtin_cpu_supports("avx2"))
        noise_normal_avx2(table, words, count, out);
    else
#endif
        noise_normal_plain(table, words, count, out);
}

/* ---- rows: one for each (trial, step) ------------------------------------------------------ */

/* Row i is of trial serial[i * stride] and of step steps[i], or first_step + i where steps is NULL;
   of each, the blocks first_block to first_block + blocks - 1. */
typedef struct {
    const uint64_t *serial;
    const uint32_t *steps;
    size_t n, stride;
    uint32_t first_step;
    int first_block, blocks;
    int before, behind; /* unused words of the first and of the last block */
} noise_request;

NOISE_INLINE uint32_t noise_step(const noise_request *request, size_t row)
{
    return request->steps ? request->steps[row] : request->first_step + (uint32_t)row;
}

/* Set the counters of the next blocks, from *block of *row on; return their number. */
static inline int noise_count(const noise_request *request, size_t *row, int *block,
                              noise_batch *batch)
{
    int lanes = 0;
    if (request->blocks == 1) {
        const size_t left = request->n - *row;
        const int take = left < NOISE_LANES ? (int)left : NOISE_LANES;
        for (; lanes < take; ++lanes) {
            batch->serial[lanes] = request->serial[(*row + (size_t)lanes) * request->stride];
            batch->step[lanes] = noise_step(request, *row + (size_t)lanes);
            batch->block[lanes] = (uint32_t)request->first_block;
        }
        *row += (size_t)take;
    }
    while (lanes < NOISE_LANES && *row < request->n) {
        const uint64_t serial = request->serial[*row * request->stride];
        const uint32_t step = noise_step(request, *row);
        const int whole = lanes + request->blocks - *block;
        const int end = whole < NOISE_LANES ? whole : NOISE_LANES;
        for (; lanes < end; ++lanes, ++*block) {
            batch->serial[lanes] = serial;
            batch->step[lanes] = step;
            batch->block[lanes] = (uint32_t)(request->first_block + *block);
        }
        if (*block == request->blocks) {
            *block = 0;
            ++*row;
        }
    }
    for (int lane = lanes; lane % NOISE_WIDEST; ++lane)
        batch->serial[lane] = batch->step[lane] = batch->block[lane] = 0;
    return lanes;
}

/* Copy four words, even if fewer are needed: the next copy overwrites the rest. */
NOISE_INLINE void noise_move(uint32_t *to, const uint32_t *from)
{
    uint32_t four[4];
    memcpy(four, from, sizeof four);
    memcpy(to, four, sizeof four);
}

/* Move the requested words together; return their number. The first lane is *block of its row. */
static inline int noise_pack(const noise_request *request, int block, int lanes, uint32_t *words)
{
    const int blocks = request->blocks, width = 4 * blocks - request->before - request->behind;
    int count = 0, lane = 0;
    if (!request->before && !request->behind)
        return 4 * lanes;
    if (blocks == 1) {
        for (lane = 0; lane < lanes; ++lane)
            noise_move(words + width * lane, words + 4 * lane + request->before);
        return width * lanes;
    }
    while (lane < lanes) {
        const int left = blocks - block, take = left < lanes - lane ? left : lanes - lane;
        const int skipped = block ? 0 : request->before;
        const int wanted = 4 * take - skipped - (take == left ? request->behind : 0);
        for (int word = 0; word < wanted; word += 4)
            noise_move(words + count + word, words + 4 * lane + skipped + word);
        count += wanted;
        lane += take;
        block = 0;
    }
    return count;
}

static inline void noise_fill(const float *table, uint64_t key, const noise_request *request,
                              float *out)
{
    noise_batch batch;
    size_t row = 0;
    int block = 0;
    while (row < request->n && request->blocks > 0) {
        const int begin = block;
        const int lanes = noise_count(request, &row, &block, &batch);
        int count;
        noise_words(&batch, lanes, key);
        count = noise_pack(request, begin, lanes, batch.words);
        noise_normal(table, batch.words, count, out);
        out += count;
    }
}

NOISE_INLINE noise_request noise_request_of(const uint64_t *serial, const uint32_t *steps, size_t n,
                                            size_t stride, uint32_t first_step, int first, int stop)
{
    noise_request request;
    request.serial = serial;
    request.steps = steps;
    request.n = n;
    request.stride = stride;
    request.first_step = first_step;
    request.first_block = first / 4;
    request.blocks = stop > first ? (stop + 3) / 4 - first / 4 : 0;
    request.before = first % 4;
    request.behind = (4 - stop % 4) % 4;
    return request;
}

/* Write the numbers of n (trial, step), row by row: out is n x (stop - first), for units first to
   stop - 1. */
static inline void noise_rows(const float *table, uint64_t key, size_t n, const uint64_t *serial,
                              const uint32_t *step, int first, int stop, float *out)
{
    const noise_request request = noise_request_of(serial, step, n, 1, 0, first, stop);
    noise_fill(table, key, &request, out);
}

/* Write the numbers of n_steps consecutive steps of one trial: out is n_steps x (stop - first). */
static inline void noise_run(const float *table, uint64_t key, uint64_t serial,
                             uint32_t first_step, size_t n_steps, int first, int stop, float *out)
{
    const noise_request request =
        noise_request_of(&serial, NULL, n_steps, 0, first_step, first, stop);
    noise_fill(table, key, &request, out);
}

#endif
