// The worker of wire.mjs: it sends what it is told to.
const http = require("node:http");
const https = require("node:https");
const { workerData } = require("node:worker_threads");

const { port, done } = workerData;
const kinds = {
  "http:": [http, new http.Agent({ keepAlive: true })],
  "https:": [https, new https.Agent({ keepAlive: true, rejectUnauthorized: false })],
};

port.on("message", ({ method, url, headers, body, timeout }) => {
  const tell = (answer) => {
    port.postMessage(answer);
    Atomics.store(done, 0, 1);
    Atomics.notify(done, 0);
  };
  const [kind, agent] = kinds[new URL(url).protocol];
  const asked = kind.request(url, { method, headers, agent, timeout, setHost: !("host" in headers) }, (answer) => {
    const { remotePort, remoteAddress } = answer.socket;
    const parts = [];
    answer.on("data", (part) => parts.push(part));
    answer.on("error", (error) => tell({ error: error.message }));
    answer.on("end", () =>
      tell({ status: answer.statusCode, text: answer.statusMessage, raw: answer.rawHeaders, body: Buffer.concat(parts), port: remotePort, ip: remoteAddress }),
    );
  });
  asked.on("timeout", () => asked.destroy(new Error("request timeout")));
  asked.on("error", (error) => tell({ error: error.message || error.code }));
  asked.end(body);
});
