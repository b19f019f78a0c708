/* A ground-truth HTTP/1.1 server: it does what the query of each request says, and logs the kernel's stamps of
 * it. It shares no code with squall, and nothing with its built-in target. Linux only; one thread, epoll.
 *
 * Usage: server PORT LOG SEED [GZIP]      (GZIP is a compressed file; prints "ready", and on SIGTERM "accepted N")
 *
 * Keys of the query:
 *   id=TEXT                      name of the request in the log, up to 31 bytes
 *   delay=US exp=MEAN_US lognormal=MEDIAN_US,SIGMA bimodal=US,US,SHARE_OF_THE_SECOND
 *                                the response leaves so long after the request's stamp; several add up
 *   pause=EVERY_MS,LENGTH_MS     nothing leaves for LENGTH of each EVERY ms (counted from the first request)
 *   fail=never|reset|close|cut|hangup
 *                                no response; RST or FIN in its place; half of it, then FIN; all of it, then FIN
 *   slow=US                      a request that fails is left waiting for so much longer
 *   share=P, every=N             only this share of the requests fails, or each N-th of a connection
 *   body=BYTES pieces=N,GAP_US   length of the body, and that it leaves in N pieces
 *   gzip=1                       the body is the file GZIP, with a Content-Encoding
 *
 * The log is CSV, a line a request; times are ns of CLOCK_REALTIME, 0 where there is none:
 *   rx      the kernel's stamp of the packet with the request's first byte (SO_TIMESTAMPING)
 *   read    when this program read it
 *   due     when the program (in the query) wants the response to leave
 *   sent    when its last part was given to send()
 *   tx0, tx the kernel's stamps of its first part and its last part leaving (software stamps of the transmit path)
 *   gone    when the client was seen to be gone before the response
 *   port    the client's
 *   rtt_us  of the handshake, by TCP_INFO, seen from here: from SYN-ACK to ACK */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
/* These need struct timespec. */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#include "common.h"

enum { HEAD_SIZE = 8192, BLOCK = 64 << 10, ID = 32, SPIN_NS = 30000 };
enum fail { ANSWER, NEVER, RESET, CLOSE, CUT, HANGUP };
static const char *OUTCOMES[] = {"answered", "never", "reset", "closed", "cut", "hangup"};

struct request {
    char id[ID];
    enum fail fail;
    uint64_t rx, read, due, sent, tx0, tx, gone;
    uint64_t bytes_in, bytes_out;
    uint64_t delay_ns, gap_ns, pieces;
    uint64_t first_key, last_key; /* places in the stream of the last bytes of the first and the last send */
};

struct conn {
    int fd;
    uint64_t number, accepted, requests;
    uint32_t rtt_us, port;
    uint64_t timer;  /* the timer that counts; others of this connection are stale */
    int busy;        /* a request has arrived and is not answered */
    int readable;    /* something came meanwhile */
    int open_record; /* `r` is answered, and waits for its stamp */
    char in[HEAD_SIZE];
    size_t held;
    uint64_t skip; /* bytes of the request's body that have yet to come */
    char head[128];
    size_t head_length, head_sent;
    const char *body;                   /* what is left of the body, if it is not any bytes */
    uint64_t body_left, piece, allowed; /* `allowed`: bytes of the body that may leave by now */
    uint64_t written;                   /* bytes on this connection so far */
    struct request r;
    struct conn *next_free;
};

struct timer {
    uint64_t due, id;
    struct conn *conn;
};

static struct timer *heap;
static size_t timers, room;
static uint64_t timer_ids, accepted, first_rx;
static int poller, clock_fd;
static struct conn *unused, **all;
static size_t conns;
static FILE *out;
static char block[BLOCK], *packed;
static size_t packed_length;

static double normal(void) {
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* ---- timers: a binary heap, and one timerfd for its first ---- */

static void swap(size_t a, size_t b) {
    struct timer t = heap[a];
    heap[a] = heap[b];
    heap[b] = t;
}

static void set_timer(struct conn *c, uint64_t due) {
    if (timers == room && !(heap = realloc(heap, (room = room * 2 + 64) * sizeof *heap))) die("realloc");
    size_t at = timers++;
    heap[at] = (struct timer){due, c->timer = ++timer_ids, c};
    for (; at && heap[(at - 1) / 2].due > heap[at].due; at = (at - 1) / 2) swap(at, (at - 1) / 2);
}

static struct timer take_first(void) {
    struct timer first = heap[0];
    heap[0] = heap[--timers];
    for (size_t at = 0, child; (child = 2 * at + 1) < timers; at = child) {
        if (child + 1 < timers && heap[child + 1].due < heap[child].due) child++;
        if (heap[at].due <= heap[child].due) break;
        swap(at, child);
    }
    return first;
}

/* ---- the log ---- */

static void write_record(struct conn *c, const char *outcome) {
    struct request *r = &c->r;
    fprintf(out, "%lu,%u,%lu,%s,%s,%lu,%u,", c->number, c->port, c->requests, r->id, outcome, c->accepted, c->rtt_us);
    fprintf(out, "%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu,%lu\n", r->rx, r->read, r->delay_ns / 1000, r->due, r->sent,
            r->tx0, r->tx, r->bytes_in, r->bytes_out, r->gone);
}

/* Takes the stamps of what has left from the socket's error queue. */
static void take_stamps(struct conn *c) {
    for (;;) {
        char control[256];
        struct msghdr m = {.msg_control = control, .msg_controllen = sizeof control};
        if (recvmsg(c->fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) break;
        uint64_t stamp = 0, key = ~0ull;
        for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
            if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPING) {
                struct scm_timestamping t;
                memcpy(&t, CMSG_DATA(h), sizeof t);
                stamp = t.ts[0].tv_sec * 1000000000ull + t.ts[0].tv_nsec;
            } else if (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_RECVERR) {
                struct sock_extended_err e;
                memcpy(&e, CMSG_DATA(h), sizeof e);
                if (e.ee_origin == SO_EE_ORIGIN_TIMESTAMPING) key = e.ee_data;
            }
        }
        if (key == (uint32_t)c->r.first_key && !c->r.tx0) c->r.tx0 = stamp;
        if (key == (uint32_t)c->r.last_key && !c->r.tx) c->r.tx = stamp;
    }
}

/* Writes the answered request if its stamp is there, or will not come any more. */
static void close_record(struct conn *c, int final) {
    if (!c->open_record || (!c->r.tx && !final)) return;
    c->open_record = 0;
    write_record(c, OUTCOMES[c->r.fail]);
}

/* ---- connections ---- */

static void drop(struct conn *c, int reset) {
    take_stamps(c);
    close_record(c, 1);
    struct linger now = {1, 0};
    if (reset) setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(c->fd);
    c->fd = -1;
    c->timer = 0;
    c->next_free = unused;
    unused = c;
}

/* The client went away. */
static void gone(struct conn *c) {
    if (c->busy) {
        c->r.gone = now_ns();
        write_record(c, c->r.fail == NEVER ? "never" : "gone");
    }
    drop(c, 0);
}

static void accept_all(int listener) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    for (int fd; (fd = accept4(listener, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct conn *c = unused;
        if (c) unused = c->next_free;
        else {
            if (!(c = malloc(sizeof *c)) || !(all = realloc(all, (conns + 1) * sizeof *all))) die("malloc");
            all[conns++] = c;
        }
        memset(c, 0, sizeof *c);
        c->fd = fd;
        c->number = ++accepted;
        c->port = ntohs(from.sin_port);
        c->accepted = now_ns();
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE |
                    SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
        if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags)) die("SO_TIMESTAMPING");
        struct tcp_info info;
        socklen_t length = sizeof info;
        if (!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length)) c->rtt_us = info.tcpi_rtt;
        struct epoll_event e = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.ptr = c}};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e)) die("epoll_ctl");
    }
}

/* ---- responses ---- */

static void take_requests(struct conn *c);

/* The response has left, or as much of it as should. */
static void answered(struct conn *c) {
    c->busy = 0;
    c->open_record = 1;
    take_stamps(c);
    close_record(c, 0);
    if (c->r.fail != ANSWER) drop(c, 0);
    else if (c->readable) take_requests(c);
}

/* Sends what may be sent now. */
static void send_on(struct conn *c) {
    while (c->busy && (c->head_sent < c->head_length || c->body_left)) {
        uint64_t body = c->allowed < c->body_left ? c->allowed : c->body_left;
        if (body > BLOCK) body = BLOCK;
        /* A large response begins with a packet of its own, whose stamp is that of the first byte. */
        if (!c->head_sent && c->body_left > BLOCK && body > 1024) body = 1024;
        if (c->head_sent == c->head_length && !body) return; /* the next piece has its time */
        struct iovec parts[] = {{c->head + c->head_sent, c->head_length - c->head_sent}, {c->body ? (char *)c->body : block, body}};
        struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
        c->r.sent = now_ns();
        ssize_t sent = sendmsg(c->fd, &m, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno != EAGAIN) gone(c);
            return;
        }
        c->written += sent;
        c->r.last_key = c->written - 1;
        if (!c->r.bytes_out) c->r.first_key = c->r.last_key;
        c->r.bytes_out += sent;
        c->r.tx = 0; /* the stamp of the last part is the one that counts */
        take_stamps(c);
        size_t of_head = (size_t)sent < parts[0].iov_len ? (size_t)sent : parts[0].iov_len;
        c->head_sent += of_head;
        if (c->body) c->body += sent - of_head;
        c->body_left -= sent - of_head;
        c->allowed -= sent - of_head;
    }
    if (c->busy) answered(c);
}

/* A timer of the connection: a response is due, or the next piece of it. */
static void due(struct conn *c, uint64_t at) {
    struct request *r = &c->r;
    if (r->fail == RESET || r->fail == CLOSE) {
        c->busy = 0;
        r->sent = now_ns();
        write_record(c, OUTCOMES[r->fail]);
        drop(c, r->fail == RESET);
        return;
    }
    c->allowed += c->piece;
    if (c->piece && c->allowed < c->body_left) set_timer(c, at + r->gap_ns);
    send_on(c);
}

/* ---- requests ---- */

static void read_program(struct conn *c, char *query, uint64_t *body, uint64_t pause[2]) {
    c->body = 0;
    struct request *r = &c->r;
    double share = 1, every = 0, delay_us = 0, slow_us = 0;
    enum fail fail = ANSWER;
    for (char *next, *key = strtok_r(query, "&", &next); key; key = strtok_r(0, "&", &next)) {
        char *value = strchr(key, '=');
        double a = 0, b = 0, p = 0;
        if (!value) continue;
        *value++ = 0;
        sscanf(value, "%lf,%lf,%lf", &a, &b, &p);
        if (!strcmp(key, "id")) snprintf(r->id, ID, "%s", value);
        else if (!strcmp(key, "delay")) delay_us += a;
        else if (!strcmp(key, "exp")) delay_us -= a * log(1 - uniform());
        else if (!strcmp(key, "lognormal")) delay_us += a * exp(b * normal());
        else if (!strcmp(key, "bimodal")) delay_us += uniform() < p ? b : a;
        else if (!strcmp(key, "pause")) pause[0] = a * 1e6, pause[1] = b * 1e6;
        else if (!strcmp(key, "slow")) slow_us = a;
        else if (!strcmp(key, "share")) share = a;
        else if (!strcmp(key, "every")) every = a;
        else if (!strcmp(key, "body")) *body = a;
        else if (!strcmp(key, "gzip")) c->body = packed, *body = packed_length;
        else if (!strcmp(key, "pieces")) r->pieces = a, r->gap_ns = b * 1000;
        else if (!strcmp(key, "fail"))
            for (fail = NEVER; fail < HANGUP && strncmp(value, OUTCOMES[fail], strlen(value)); fail++) {}
    }
    int hit = every ? c->requests % (uint64_t)every == 0 : share >= 1 || uniform() < share;
    r->fail = fail && hit ? fail : ANSWER;
    r->delay_ns = (delay_us + (r->fail ? slow_us : 0)) * 1000;
}

/* A request's head has come: works out what becomes of it. */
static void begin(struct conn *c, char *query) {
    struct request *r = &c->r;
    uint64_t body = 2, pause[2] = {0, 0};
    read_program(c, query, &body, pause);
    if (!first_rx) first_rx = r->rx;
    r->due = r->rx + r->delay_ns;
    if (pause[0]) {
        uint64_t since = r->due - first_rx, into = since % pause[0];
        if (since >= pause[0] && into < pause[1]) r->due += pause[1] - into;
    }
    c->head_length = snprintf(c->head, sizeof c->head, "HTTP/1.1 200 OK\r\nContent-Length: %lu\r\n%s\r\n", body,
                              c->body ? "Content-Encoding: gzip\r\n" : "");
    c->head_sent = 0;
    c->body_left = r->fail == CUT ? body / 2 : body;
    c->piece = r->pieces > 1 ? (c->body_left + r->pieces - 1) / r->pieces : c->body_left;
    c->allowed = 0;
    c->busy = 1;
}

/* Reads up to `most` bytes; the kernel's stamp of the last packet among them goes to `stamp`. */
static ssize_t receive(struct conn *c, char *into, size_t most, uint64_t *stamp) {
    char control[128];
    struct iovec v = {into, most};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(c->fd, &m, 0);
    for (struct cmsghdr *h = got > 0 ? CMSG_FIRSTHDR(&m) : 0; h; h = CMSG_NXTHDR(&m, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_TIMESTAMPING) {
            struct scm_timestamping t;
            memcpy(&t, CMSG_DATA(h), sizeof t);
            *stamp = t.ts[0].tv_sec * 1000000000ull + t.ts[0].tv_nsec;
        }
    return got;
}

/* Takes a head from what was read, if it is there; 0: it is not complete. */
static int take_head(struct conn *c) {
    c->in[c->held] = 0;
    char *end = strstr(c->in, "\r\n\r\n");
    if (!end) return 0;
    size_t length = end + 4 - c->in;
    char *field = strcasestr(c->in, "\r\nContent-Length:");
    uint64_t body = field && field < end ? strtoull(field + 17, 0, 10) : 0;
    c->r.bytes_in = length + body;
    uint64_t rest = c->held - length, own = rest < body ? rest : body;
    c->skip = body - own;
    char line[HEAD_SIZE];
    size_t first = strcspn(c->in, "\r");
    memcpy(line, c->in, first);
    line[first] = 0;
    memmove(c->in, end + 4 + own, c->held = rest - own);
    char *target = strchr(line, ' '), *query = strchr(line, '?');
    if (target) target[1 + strcspn(target + 1, " ")] = 0;
    begin(c, query ? query + 1 : line + first);
    return 1;
}

/* Reads until there is a whole request, and sets the timer of its response. */
static void take_requests(struct conn *c) {
    c->readable = 0;
    while (!c->busy || c->skip) {
        uint64_t stamp = 0;
        char body[BLOCK];
        int fresh = !c->busy && !c->held;
        size_t most = c->skip ? (c->skip < BLOCK ? c->skip : BLOCK) : HEAD_SIZE - 1 - c->held;
        /* The stamp of a read is that of its last packet: a request's first bytes are read by themselves. */
        ssize_t got = receive(c, c->skip ? body : c->in + c->held, fresh ? 4 : most, &stamp);
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0 || (!c->skip && c->held + got >= HEAD_SIZE - 1)) {
            gone(c);
            return;
        }
        if (fresh) {
            close_record(c, 1);
            memset(&c->r, 0, sizeof c->r);
            c->requests++;
            c->r.read = now_ns();
            c->r.rx = stamp ? stamp : c->r.read;
        }
        if (c->skip) c->skip -= got;
        else {
            c->held += got;
            if (!take_head(c)) continue;
        }
        if (!c->skip && c->r.fail != NEVER) set_timer(c, c->r.due);
    }
}

static void on_event(struct conn *c, uint32_t events) {
    if (c->fd < 0) return; /* dropped by an earlier event of the same batch */
    if (events & EPOLLERR) take_stamps(c);
    close_record(c, 0);
    if (events & EPOLLHUP || (c->busy && !c->skip && events & EPOLLRDHUP)) {
        gone(c);
        return;
    }
    if (events & EPOLLOUT && c->busy && c->head_sent) {
        send_on(c);
        if (c->fd < 0) return;
    }
    if (events & (EPOLLIN | EPOLLRDHUP)) {
        c->readable = 1;
        if (!c->busy || c->skip) take_requests(c);
    }
}

static int listen_at(int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_ANY)};
    /* Connections inherit it, so that what comes before accept() is stamped too. */
    int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags)) die("SO_TIMESTAMPING");
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 8192)) die("listen");
    return fd;
}

/* Answers what is due, and sleeps no longer than to what comes next. Returns epoll's timeout. */
static int run_timers(void) {
    while (timers) {
        uint64_t now = now_ns();
        if (heap[0].due > now) break;
        struct timer t = take_first();
        if (t.conn->timer == t.id) due(t.conn, t.due);
    }
    if (!timers) return -1;
    if (heap[0].due < now_ns() + SPIN_NS) return 0;
    struct itimerspec when = {.it_value = {heap[0].due / 1000000000, heap[0].due % 1000000000}};
    timerfd_settime(clock_fd, TFD_TIMER_ABSTIME, &when, 0);
    return -1;
}

/* Reads the compressed body. */
static void read_packed(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file || fseek(file, 0, SEEK_END)) die(path);
    packed_length = ftell(file);
    rewind(file);
    if (!(packed = malloc(packed_length)) || fread(packed, 1, packed_length, file) != packed_length) die(path);
    fclose(file);
}

int main(int count, char **words) {
    if (count < 4 || count > 5 || !(out = fopen(words[2], "w"))) die("usage: server PORT LOG SEED [GZIP]");
    if (count == 5) read_packed(words[4]);
    setvbuf(out, 0, _IOFBF, 1 << 20);
    fputs("conn,port,number,id,outcome,accept,rtt_us,rx,read,delay_us,due,sent,tx0,tx,bytes_in,bytes_out,gone\n", out);
    random_state = strtoull(words[3], 0, 10) * 2 + 1;
    memset(block, 'x', BLOCK);
    prctl(PR_SET_TIMERSLACK, 1);
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, 0);
    int listener = listen_at(atoi(words[1])), signals = signalfd(-1, &ends, SFD_CLOEXEC);
    clock_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    poller = epoll_create1(EPOLL_CLOEXEC);
    int own[] = {listener, signals, clock_fd};
    for (int i = 0; i < 3; i++) {
        struct epoll_event e = {EPOLLIN, {.ptr = &own[i]}};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, own[i], &e)) die("epoll_ctl");
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        struct epoll_event events[256];
        int n = epoll_wait(poller, events, 256, run_timers());
        for (int i = 0; i < n; i++) {
            void *who = events[i].data.ptr;
            uint64_t fired;
            if (who == &own[0]) accept_all(listener);
            else if (who == &own[2]) (void)!read(clock_fd, &fired, sizeof fired);
            else if (who == &own[1]) {
                for (size_t k = 0; k < conns; k++)
                    if (all[k]->fd >= 0) gone(all[k]);
                fclose(out);
                printf("accepted %lu\n", accepted);
                return 0;
            } else on_event(who, events[i].events);
        }
    }
}
