// The module `k6/http`.
(function (host) {
  "use strict";

  const define = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });

  const refuse = (what) => () => {
    throw new Error(`${what} is not there: squall does not read HTML in scripts; find what you need in response.body`);
  };

  // Responses. What costs something to make is made when it is first read, and kept.
  const parsed = new WeakMap();
  class Response {
    json(selector) {
      let value = parsed.get(this);
      if (value === undefined) {
        value = Reflect.apply(host.fields["#json"], this, []);
        if (value !== null && typeof value === "object") parsed.set(this, value);
      }
      return selector === undefined || selector === "" ? value : host.select(value, String(selector));
    }
    toJSON() {
      const all = {};
      for (const name of names) all[name] = this[name];
      return all;
    }
  }
  define(Response.prototype, "html", refuse("Response.html()"));
  define(Response.prototype, "clickLink", refuse("Response.clickLink()"));
  define(Response.prototype, "submitForm", refuse("Response.submitForm()"));
  const names = Object.keys(host.fields).filter((name) => !name.startsWith("#"));
  for (const name of names) {
    Object.defineProperty(Response.prototype, name, {
      get: host.fields[name],
      set(value) {
        define(this, name, value);
      },
      enumerable: true,
      configurable: true,
    });
  }
  const prototype = Response.prototype;

  const request = (method, url, body, params) => host.request(prototype, method, url, body, params);

  function prepare(own) {
    if (Array.isArray(own)) return host.prepare(...own.slice(0, 4));
    if (typeof own === "string" || own instanceof NamedUrl) return host.prepare("GET", own);
    if (typeof own !== "object" || own === null || own.url === undefined) {
      throw new TypeError("http.batch(): each request is to be a URL, [method, url, body, params], or an object with `url`");
    }
    return host.prepare(own.method ?? "GET", own.url, own.body, own.params);
  }

  function batch(requests) {
    if (typeof requests !== "object" || requests === null) {
      throw new TypeError("http.batch() takes an array of requests, or an object of them");
    }
    if (Array.isArray(requests)) return host.send(prototype, requests.map(prepare), true);
    const keys = Object.keys(requests);
    const responses = host.send(prototype, keys.map((key) => prepare(requests[key])), true);
    const all = {};
    keys.forEach((key, at) => define(all, key, responses[at]));
    return all;
  }

  // Those that a flow makes before it waits for one are sent at the same time.
  function asyncRequest(method, url, body, params) {
    let made;
    let flow;
    try {
      flow = host.flow();
      made = host.prepare(method, url, body, params);
    } catch (error) {
      return Promise.reject(error);
    }
    if (flow.requests === undefined) {
      const requests = (flow.requests = []);
      flow.responses = Promise.resolve().then(() => {
        flow.requests = undefined;
        return host.send(prototype, requests, false);
      });
    }
    const at = flow.requests.push(made) - 1;
    return flow.responses.then((all) => {
      if (typeof all[at] === "string") throw new Error(all[at]);
      return all[at];
    });
  }

  // A URL with a name: what is filled in does not make names differ.
  class NamedUrl {
    toString() {
      return host.urlOf(this);
    }
  }
  function url(strings, ...values) {
    let all = strings[0];
    let name = strings[0];
    values.forEach((value, at) => {
      all += String(value) + strings[at + 1];
      name += "${}" + strings[at + 1];
    });
    return host.namedUrl(NamedUrl.prototype, all, name);
  }

  class FileData {}
  function file(data, filename, contentType) {
    const own = host.file(FileData.prototype);
    define(own, "data", data);
    define(own, "filename", filename ?? String(Date.now()));
    define(own, "content_type", contentType ?? "application/octet-stream");
    return own;
  }

  class ExpectedStatuses {}
  function expectedStatuses(...statuses) {
    if (statuses.length === 0) throw new TypeError("http.expectedStatuses() takes statuses, or objects with `min` and `max`");
    return host.expected(ExpectedStatuses.prototype, statuses);
  }

  function CookieJar() {
    if (new.target === undefined) throw new TypeError("CookieJar is a class: new http.CookieJar()");
    return host.jar(CookieJar.prototype, true);
  }
  define(CookieJar.prototype, "set", host.jarSet);
  define(CookieJar.prototype, "clear", function clear(url) {
    return Reflect.apply(host.jarClear, this, [url]);
  });
  define(CookieJar.prototype, "delete", function (url, name) {
    return Reflect.apply(host.jarClear, this, [url, String(name)]);
  });
  define(CookieJar.prototype, "cookiesForURL", host.jarCookies);

  host.hidden.push(prototype, NamedUrl.prototype, FileData.prototype, ExpectedStatuses.prototype);

  const constants = {
    AUTH_BASIC: "basic",
    AUTH_DIGEST: "digest",
    AUTH_NTLM: "ntlm",
    SSL_3_0: "ssl3.0",
    TLS_1_0: "tls1.0",
    TLS_1_1: "tls1.1",
    TLS_1_2: "tls1.2",
    TLS_1_3: "tls1.3",
    OCSP_STATUS_GOOD: "good",
    OCSP_STATUS_REVOKED: "revoked",
    OCSP_STATUS_SERVER_FAILED: "server_failed",
    OCSP_STATUS_UNKNOWN: "unknown",
    OCSP_REASON_AA_COMPROMISE: "aa_compromise",
    OCSP_REASON_AFFILIATION_CHANGED: "affiliation_changed",
    OCSP_REASON_CA_COMPROMISE: "ca_compromise",
    OCSP_REASON_CERTIFICATE_HOLD: "certificate_hold",
    OCSP_REASON_CESSATION_OF_OPERATION: "cessation_of_operation",
    OCSP_REASON_KEY_COMPROMISE: "key_compromise",
    OCSP_REASON_PRIVILEGE_WITHDRAWN: "privilege_withdrawn",
    OCSP_REASON_REMOVE_FROM_CRL: "remove_from_crl",
    OCSP_REASON_SUPERSEDED: "superseded",
    OCSP_REASON_UNSPECIFIED: "unspecified",
  };

  return {
    get: (url, params) => request("GET", url, undefined, params),
    head: (url, params) => request("HEAD", url, undefined, params),
    post: (url, body, params) => request("POST", url, body, params),
    put: (url, body, params) => request("PUT", url, body, params),
    patch: (url, body, params) => request("PATCH", url, body, params),
    del: (url, body, params) => request("DELETE", url, body, params),
    options: (url, body, params) => request("OPTIONS", url, body, params),
    request,
    batch,
    asyncRequest,
    url,
    file,
    expectedStatuses,
    setResponseCallback: host.setResponseCallback,
    cookieJar: () => host.jar(CookieJar.prototype, false),
    CookieJar,
    ...constants,
  };
});
