/* What the server and the wire share: how they end on an error, the time, and chance. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of `uniform`; not 0. */
static uint64_t random_state;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* xorshift64* (Vigna 2016), as a number from 0 up to 1. */
static double uniform(void) {
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)((random_state * 2685821657736338717ull) >> 11) / 9007199254740992.0;
}
