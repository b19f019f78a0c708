// Cookies, as far as scripts need them: by host and path.

function parse(text) {
  const [pair, ...rest] = text.split(";").map((part) => part.trim());
  const at = pair.indexOf("=");
  const own = { name: pair.slice(0, at), value: pair.slice(at + 1), domain: "", path: "/", secure: false, http_only: false, max_age: 0, expires: 0 };
  for (const part of rest) {
    const [key, value = ""] = part.split("=");
    if (/^path$/i.test(key)) own.path = value || "/";
    else if (/^domain$/i.test(key)) own.domain = value.replace(/^\./, "");
    else if (/^secure$/i.test(key)) own.secure = true;
    else if (/^httponly$/i.test(key)) own.http_only = true;
    else if (/^max-age$/i.test(key)) own.max_age = Number(value);
    else if (/^expires$/i.test(key)) own.expires = Date.parse(value);
  }
  return own;
}

export class CookieJar {
  all = new Map();

  clearAll() {
    this.all.clear();
  }
  take(url, texts) {
    const cookies = texts.map(parse);
    for (const own of cookies) {
      const { hostname } = new URL(url);
      const key = `${own.domain || hostname} ${own.path} ${own.name}`;
      if (own.max_age < 0 || own.expires && own.expires < Date.now()) this.all.delete(key);
      else this.all.set(key, { ...own, domain: own.domain || hostname, wide: own.domain !== "" });
    }
    return cookies;
  }
  for(url) {
    const { hostname, pathname, protocol } = new URL(url);
    return [...this.all.values()].filter(
      (own) =>
        (own.domain === hostname || (own.wide && hostname.endsWith(`.${own.domain}`))) &&
        (own.path === pathname || pathname.startsWith(own.path.endsWith("/") ? own.path : `${own.path}/`)) &&
        (!own.secure || protocol === "https:"),
    );
  }

  // What scripts call.
  set(url, name, value, options = {}) {
    const { hostname } = new URL(url);
    const own = { name, value: String(value), domain: options.domain ?? hostname, path: options.path ?? "/", secure: options.secure ?? false, wide: options.domain !== undefined };
    this.all.set(`${own.domain} ${own.path} ${name}`, own);
    return true;
  }
  clear(url) {
    for (const own of this.for(url)) this.all.delete(`${own.domain} ${own.path} ${own.name}`);
  }
  delete(url, name) {
    for (const own of this.for(url)) if (own.name === name) this.all.delete(`${own.domain} ${own.path} ${name}`);
  }
  cookiesForURL(url) {
    const found = {};
    for (const own of this.for(url)) (found[own.name] ??= []).push(own.value);
    return found;
  }
}
