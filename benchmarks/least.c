/* The least work that a vector env of PerceptualDecisionMaking must do, for a bound: three periods of
   fixed lengths, payoffs from a table, noise on two of three units; results are written in place. It
   has no log, no windows, no infos, and no Python. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_noise.h"

enum { TYPES = 12, PERIODS = 3, ACTIONS = 3, UNITS = 3, ROWS = 64 };

typedef struct {
    int32_t period, left;
    uint32_t clock, type;
    uint64_t serial;
} Env;

static void add_noise(const float *table, int n, const uint64_t *serial, const uint32_t *clock, float **rows)
{
    float z[2 * NOISE_LANES];
    noise_rows(table, 7, (size_t)n, serial, clock, 1, 3, z);
    for (int i = 0; i < n; ++i) {
        rows[i][1] += 0.1f * z[2 * i];
        rows[i][2] += 0.1f * z[2 * i + 1];
    }
}

/* Write the noise of n rows. */
void rows(const float *table, uint64_t key, size_t n, const uint64_t *serial, const uint32_t *step, int first, int stop,
          float *out)
{
    noise_rows(table, key, n, serial, step, first, stop, out);
}

/* Play `steps` steps of n envs; return a sum over the results, so that none is optimised away. */
double play_least(const float *table, int n, long steps)
{
    static const int duration[PERIODS] = {3, 20, 3};
    float shown[TYPES][PERIODS][UNITS], pay[TYPES][PERIODS][ACTIONS];
    Env *envs = calloc((size_t)n, sizeof *envs);
    float *seen = malloc((size_t)n * UNITS * sizeof *seen), *reward = malloc((size_t)n * sizeof *reward);
    uint8_t *actions = malloc((size_t)n * ROWS), *done = malloc((size_t)n);
    uint64_t serial[NOISE_LANES], next = (uint64_t)n;
    uint32_t clock[NOISE_LANES];
    float *rows[NOISE_LANES];
    double sum = 0;
    memset(shown, 0, sizeof shown);
    memset(pay, 0, sizeof pay);
    for (int t = 0; t < TYPES; ++t) {
        shown[t][0][0] = shown[t][1][0] = pay[t][2][1] = 1;
        shown[t][1][1] = 0.5f + 0.01f * (float)t;
        shown[t][1][2] = 0.5f - 0.01f * (float)t;
    }
    for (int i = 0; i < n * ROWS; ++i)
        actions[i] = (uint8_t)((uint32_t)i * 2654435761u >> 16) % ACTIONS;
    for (int i = 0; i < n; ++i)
        envs[i] = (Env){0, duration[0], 0, (uint32_t)i % TYPES, (uint64_t)i};
    for (long step = 0; step < steps; ++step) {
        const uint8_t *chosen = actions + step % ROWS * n;
        int waiting = 0;
        for (int i = 0; i < n; ++i) {
            Env *env = &envs[i];
            int over = env->period == 2 && chosen[i];
            reward[i] = pay[env->type][env->period][chosen[i]] - (env->period < 2 && chosen[i]) * 0.1f;
            ++env->clock;
            if (--env->left == 0) {
                if (++env->period == PERIODS)
                    over = 1;
                else
                    env->left = duration[env->period];
            }
            if (over) {
                *env = (Env){0, duration[0], 0, 0, next++};
                env->type = (uint32_t)(env->serial * 2654435761u >> 16) % TYPES;
            }
            done[i] = (uint8_t)over;
            memcpy(seen + UNITS * i, shown[env->type][env->period], UNITS * sizeof(float));
            if (env->period == 1) {
                serial[waiting] = env->serial;
                clock[waiting] = env->clock;
                rows[waiting++] = seen + UNITS * i;
                if (waiting == NOISE_LANES) {
                    add_noise(table, waiting, serial, clock, rows);
                    waiting = 0;
                }
            }
        }
        if (waiting)
            add_noise(table, waiting, serial, clock, rows);
        sum += seen[0] + reward[n - 1] + done[0];
    }
    free(envs);
    free(seen);
    free(reward);
    free(actions);
    free(done);
    return sum;
}
