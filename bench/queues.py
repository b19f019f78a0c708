"""Queueing theory: response times of M/M/c."""

import math


def theory(servers, load, service):
    """Response times of M/M/c in ms: their mean and a function from a share to the quantile."""
    mu, offered = 1 / service, load * servers
    term, total = 1.0, 0.0
    for n in range(servers):
        total += term
        term *= offered / (n + 1)
    waits = term / (1 - load) / (total + term / (1 - load))
    drain = servers * mu * (1 - load)

    def longer(t):
        """P(response > t): service alone, or a wait that is exponential and then service."""
        if abs(drain - mu) < 1e-12:
            return math.exp(-mu * t) * (1 + waits * mu * t)
        both = (drain * math.exp(-mu * t) - mu * math.exp(-drain * t)) / (drain - mu)
        return (1 - waits) * math.exp(-mu * t) + waits * both

    def quantile(share):
        low, high = 0.0, 1e6
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if longer(middle) > 1 - share else (low, middle)
        return low

    return service + waits / drain, quantile


def quantile_at(servers, load, service, share):
    """A quantile of the response time, in the unit of the service time."""
    return theory(servers, load, service)[1](share) if load > 0 else 0.0
