/* A wire between two network namespaces: a TUN device in each, and every packet that enters one leaves the other
 * after a fixed time, or is lost. It logs the TCP packets as they pass the client's end: what a client must have
 * seen, by an instrument that shares no code with it. Linux only, with the right to make TUN devices.
 *
 * Usage: wire CLIENT_PID SERVER_PID DELAY_US LOSS_TO_SERVER LOSS_TO_CLIENT SEED LOG
 *        (processes in the two namespaces; LOSS is a share of the packets in a direction; prints "ready" once the
 *        devices are there, which are called "wire", and on SIGTERM "lost N")
 *
 * The log is CSV, a line a packet: at (ns of CLOCK_REALTIME: when it came from the client, or left for it), toward
 * (server or client), port (the client's), seq, ack, flags (of TCP, as a number), bytes (of its payload) and lost
 * (0 or 1) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <linux/if_tun.h>

#include "common.h"

enum { MOST = 2048, ROOM = 1 << 14 };
enum { TO_SERVER, TO_CLIENT };

struct packet {
    uint64_t due;
    uint16_t length;
    unsigned char bytes[MOST];
};

/* What is on the wire in one direction, in order: all of it takes the same time. */
static struct packet *way[2];
static size_t first[2], last[2];
static FILE *out;

/* The end of the wire in the namespace of a process. */
static int end_at(const char *pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET)) die("setns");
    close(space);
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) die("/dev/net/tun");
    struct ifreq device = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strcpy(device.ifr_name, "wire");
    if (ioctl(fd, TUNSETIFF, &device)) die("TUNSETIFF");
    return fd;
}

/* Logs a packet, if it is one of TCP over IPv4. */
static void note(const unsigned char *bytes, size_t length, int to, uint64_t at, int lost) {
    struct ip ip;
    struct tcphdr tcp;
    if (length < sizeof ip) return;
    memcpy(&ip, bytes, sizeof ip);
    size_t head = ip.ip_hl * 4;
    if (ip.ip_v != 4 || ip.ip_p != IPPROTO_TCP || length < head + sizeof tcp) return;
    memcpy(&tcp, bytes + head, sizeof tcp);
    int payload = ntohs(ip.ip_len) - head - tcp.th_off * 4;
    fprintf(out, "%lu,%s,%u,%u,%u,%u,%d,%d\n", at, to == TO_SERVER ? "server" : "client",
            ntohs(to == TO_SERVER ? tcp.th_sport : tcp.th_dport), ntohl(tcp.th_seq), ntohl(tcp.th_ack), tcp.th_flags,
            payload, lost);
}

/* Takes what has come at one end; returns how many packets were lost. */
static size_t take(int fd, int to, uint64_t delay_ns, double loss) {
    size_t lost = 0;
    for (;;) {
        struct packet *p = &way[to][last[to] % ROOM];
        ssize_t got = read(fd, p->bytes, MOST);
        if (got <= 0) return lost;
        uint64_t now = now_ns();
        int is_lost = uniform() < loss || last[to] - first[to] == ROOM - 1;
        if (to == TO_SERVER || is_lost) note(p->bytes, got, to, now, is_lost);
        lost += is_lost;
        if (is_lost) continue;
        p->length = got;
        p->due = now + delay_ns;
        last[to]++;
    }
}

/* Lets out at the other end what has been on the wire for long enough; returns when the next packet has. */
static uint64_t give(int fd, int to) {
    for (; first[to] < last[to]; first[to]++) {
        struct packet *p = &way[to][first[to] % ROOM];
        uint64_t now = now_ns();
        if (p->due > now) return p->due;
        if (to == TO_CLIENT) note(p->bytes, p->length, to, now, 0);
        /* What an end that is not up yet does not take is lost, as on any wire. */
        (void)!write(fd, p->bytes, p->length);
    }
    return ~0ull;
}

int main(int count, char **words) {
    if (count != 8 || !(out = fopen(words[7], "w")))
        die("usage: wire CLIENT SERVER DELAY_US LOSS_TO_SERVER LOSS_TO_CLIENT SEED LOG");
    setvbuf(out, 0, _IOFBF, 1 << 20);
    fputs("at,toward,port,seq,ack,flags,bytes,lost\n", out);
    int server = end_at(words[2]), client = end_at(words[1]);
    uint64_t delay_ns = strtoull(words[3], 0, 10) * 1000;
    double loss[] = {[TO_SERVER] = atof(words[4]), [TO_CLIENT] = atof(words[5])};
    random_state = strtoull(words[6], 0, 10) * 2 + 1;
    for (int to = 0; to < 2; to++)
        if (!(way[to] = malloc(ROOM * sizeof(struct packet)))) die("malloc");
    prctl(PR_SET_TIMERSLACK, 1);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, 0);
    struct pollfd all[] = {{client, POLLIN, 0}, {server, POLLIN, 0}, {signalfd(-1, &ends, SFD_CLOEXEC), POLLIN, 0}};
    puts("ready");
    fflush(stdout);
    size_t lost = 0;
    for (;;) {
        uint64_t a = give(server, TO_SERVER), b = give(client, TO_CLIENT), next = a < b ? a : b, now = now_ns();
        uint64_t wait = next == ~0ull ? 1000000000 : next > now ? next - now : 0;
        struct timespec limit = {wait / 1000000000, wait % 1000000000};
        if (ppoll(all, 3, &limit, 0) < 0) die("ppoll");
        lost += take(client, TO_SERVER, delay_ns, loss[TO_SERVER]);
        lost += take(server, TO_CLIENT, delay_ns, loss[TO_CLIENT]);
        if (all[2].revents) break;
    }
    fclose(out);
    printf("lost %zu\n", lost);
    return 0;
}
