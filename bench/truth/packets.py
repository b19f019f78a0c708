"""What a client at one end of the wire must have seen of each request, from the packets that passed there."""

from bisect import bisect_left
from dataclasses import dataclass

SYN, SPACE = 0x02, 1 << 32


@dataclass(frozen=True)
class Seen:
    """Of one request, in ns: how long the handshake of its connection took, when the request's first byte left for the
    first time, and when the response's first and last byte were there, with all that belongs before them."""

    connect: int
    sent: int
    first: int
    end: int


def seen(packets, rows):
    """By connection and number of the request. Requests and responses follow each other on a connection, so that their
    lengths, which the server knows, say where each begins."""
    by_port, found = {}, {}
    for packet in packets:
        by_port.setdefault(packet["port"], []).append(packet)
    conns = {}
    for row in rows:
        conns.setdefault((row["conn"], row["port"]), []).append(row)
    for (conn, port), own in conns.items():
        stream = Stream(by_port.get(port, []))
        request = response = 0
        for row in sorted(own, key=lambda row: row["number"]):
            sent, first = stream.sent(request), stream.arrived(response + 1)
            request, response = request + row["bytes_in"], response + row["bytes_out"]
            end = stream.arrived(response)
            if None not in (stream.connect, sent, first, end):
                found[conn, row["number"]] = Seen(stream.connect, sent, first, end)
    return found


class Stream:
    """A connection at the client's end."""

    def __init__(self, packets):
        opened = [packet for packet in packets if packet["flags"] & SYN]
        asked = [packet for packet in opened if packet["toward"] == "server"]
        answered = [packet for packet in opened if packet["toward"] == "client" and not packet["lost"]]
        self.connect, self.steps, self.first_sent = None, [], {}
        if not asked or not answered:
            return
        self.connect = answered[0]["at"] - asked[0]["at"]
        self.note_sent([p for p in packets if p["toward"] == "server" and p["bytes"]], asked[0]["seq"] + 1)
        self.note_arrived([p for p in packets if p["toward"] == "client" and p["bytes"] and not p["lost"]],
                          answered[0]["seq"] + 1)

    def note_sent(self, packets, origin):
        """When each place in the stream at which a packet begins was sent first, lost or not."""
        for packet in packets:
            self.first_sent.setdefault((packet["seq"] - origin) % SPACE, packet["at"])

    def note_arrived(self, packets, origin):
        """How far the stream had come without a gap, and since when."""
        have, ahead = 0, {}
        for packet in packets:
            begin = (packet["seq"] - origin) % SPACE
            ahead[begin] = max(ahead.get(begin, 0), begin + packet["bytes"])
            before = have
            for begin in sorted(ahead):
                if begin <= have:
                    have = max(have, ahead.pop(begin))
            if have > before:
                self.steps.append((have, packet["at"]))

    def sent(self, place):
        """When the byte at a place was sent first; requests begin with a packet."""
        return self.first_sent.get(place)

    def arrived(self, length):
        """When the first `length` bytes were there."""
        at = bisect_left(self.steps, (length, 0))
        return self.steps[at][1] if at < len(self.steps) else None
