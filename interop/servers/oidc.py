"""An OpenID Connect provider as small as one can be: the authorization code flow of a public client (OpenID Connect Core
1.0, 3.1), with PKCE if the client sends a challenge (RFC 7636). It checks what a provider must check, and writes a line
to its log for each request. Usage: oidc.py PORT LOG"""

import base64
import hashlib
import html
import json
import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

LOG = open(sys.argv[2], "a")
ASKED, CODES, TOKENS = {}, {}, {}


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status, body=b"", **headers):
        LOG.write(f"{self.command} {urlsplit(self.path).path} {status}\n")
        LOG.flush()
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/authorize" and query.get("response_type") == "code" and {"client_id", "redirect_uri", "state"} <= set(query):
            session, key = secrets.token_urlsafe(), secrets.token_urlsafe()
            ASKED[key] = query | {"session": session}
            action = html.escape(f"/login?key={key}&execution=1")
            page = f'<html><body><form method="post" action="{action}"><input name="username"></form></body></html>'
            return self.reply(200, page.encode(), Content_Type="text/html", Set_Cookie=f"session={session}; Path=/; HttpOnly")
        if url.path == "/userinfo":
            user = TOKENS.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
            body = json.dumps({"sub": user} if user else {"error": "invalid_token"}).encode()
            return self.reply(200 if user else 401, body, Content_Type="application/json")
        self.reply(404)

    def do_POST(self):
        url = urlsplit(self.path)
        form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = {name: values[0] for name, values in parse_qs(form).items()}
        if url.path == "/login":
            return self.login(parse_qs(url.query).get("key", [""])[0], form)
        if url.path == "/token":
            return self.token(form)
        self.reply(404)

    def login(self, key, form):
        asked = ASKED.get(key)
        # A form of another session is what CSRF is.
        if not asked or f"session={asked['session']}" not in self.headers.get("Cookie", ""):
            return self.reply(400)
        if form.get("password") != "secret-" + form.get("username", ""):
            return self.reply(401)
        code = secrets.token_urlsafe()
        CODES[code] = ASKED.pop(key) | {"user": form["username"]}
        to = asked["redirect_uri"] + "?" + urlencode({"state": asked["state"], "code": code, "session_state": "x"})
        self.reply(302, Location=to)

    def token(self, form):
        # A code is good once.
        code = CODES.pop(form.get("code"), None)
        good = (code and form.get("grant_type") == "authorization_code" and form.get("client_id") == code["client_id"]
                and form.get("redirect_uri") == code["redirect_uri"])
        if good and "code_challenge" in code:
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            good = code.get("code_challenge_method") == "S256" and challenge == code["code_challenge"]
        if not good:
            return self.reply(400, b'{"error": "invalid_grant"}', Content_Type="application/json")
        token = secrets.token_urlsafe()
        TOKENS[token] = code["user"]
        body = json.dumps({"access_token": token, "token_type": "Bearer", "expires_in": 300}).encode()
        self.reply(200, body, Content_Type="application/json")

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
