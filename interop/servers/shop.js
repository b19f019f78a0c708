// A small shop for test_counts.py, in Node without modules: it answers, fails, resets and keeps silent as its paths say,
// and writes a line to its log for each request, when it has decided what becomes of it.
// Usage: node shop.js PORT LOG
const { openSync, writeSync } = require("fs");
const [, , port, path] = process.argv;
const log = openSync(path, "a");

require("http").createServer((request, response) => {
  const url = new URL(request.url, "http://shop");
  const say = (status, headers = {}) => {
    writeSync(log, `${request.method} ${url.pathname} ${status}\n`);
    if (status === "reset") return request.socket.resetAndDestroy();
    if (status === "never") return;
    response.writeHead(status, headers);
    response.end("<p>shop</p>");
  };
  request.resume().on("end", () => {
    switch (url.pathname) {
      case "/login":
        return url.searchParams.get("password") === "right" ? say(200, { "Set-Cookie": "sid=1; Path=/" }) : say(401);
      case "/home": return say(request.headers.cookie?.includes("sid=1") ? 200 : 403);
      case "/moved": return say(302, { Location: "/page" });
      case "/broken": return say(500);
      case "/missing": return say(404);
      case "/reset": return say("reset");
      case "/never": return say("never");
      default: return say(200);
    }
  });
}).listen(Number(port), "127.0.0.1");
