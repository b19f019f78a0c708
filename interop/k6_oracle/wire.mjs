// One request, while everything waits: a worker sends it, and this thread sleeps until the answer is there.
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";

const LONGEST = 120_000;
const done = new Int32Array(new SharedArrayBuffer(4));
const { port1: port, port2 } = new MessageChannel();
const worker = new Worker(new URL("./wire.cjs", import.meta.url), { workerData: { port: port2, done }, transferList: [port2] });
// Once this thread sleeps, it helps nobody to begin.
await new Promise((begun) => worker.once("online", begun));
worker.unref();
port.unref();

// Returns the answer: status, text, raw (names and values of headers in turn), body; or an error.
export function send(request) {
  Atomics.store(done, 0, 0);
  port.postMessage(request);
  Atomics.wait(done, 0, 0, LONGEST);
  return receiveMessageOnPort(port)?.message ?? { error: "request timeout" };
}
