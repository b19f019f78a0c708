import { gzipSync, deflateSync, brotliCompressSync, gunzipSync, inflateSync, brotliDecompressSync } from "node:zlib";
import { state } from "../state.mjs";
import { CookieJar as Jar } from "../cookies.mjs";
import { select } from "../select.mjs";
import { send } from "../wire.mjs";

const pack = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const unpack = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

class NamedUrl {
  constructor(url, name) {
    this.url = url;
    this.name = name;
  }
  toString() {
    return this.url;
  }
}
class FileData {}

export class CookieJar extends Jar {}
Object.setPrototypeOf(state.jar, CookieJar.prototype);

export const url = (strings, ...values) =>
  new NamedUrl(String.raw({ raw: strings }, ...values), strings.join("${}"));

export const file = (data, filename = "", content_type = "application/octet-stream") =>
  Object.assign(new FileData(), { data, filename, content_type });

export function expectedStatuses(...statuses) {
  return (status) => statuses.some((own) => (typeof own === "number" ? own === status : own.min <= status && status <= own.max));
}
state.expected = expectedStatuses({ min: 200, max: 399 });
export const setResponseCallback = (callback) => (state.expected = callback);
export const cookieJar = () => state.jar;

const bytes = (data) => (typeof data === "string" ? Buffer.from(data) : Buffer.from(data.buffer ?? data, data.byteOffset, data.byteLength));

// A body, and the type that it has if no header says one.
function encode(body) {
  if (body === undefined || body === null) return [undefined];
  if (typeof body === "string") return [Buffer.from(body)];
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return [bytes(body)];
  if (typeof body !== "object") return [Buffer.from(String(body))];
  if (!Object.values(body).some((own) => own instanceof FileData)) {
    const form = Object.entries(body).flatMap(([name, own]) => (Array.isArray(own) ? own : [own]).map((one) => [name, String(one)]));
    return [Buffer.from(new URLSearchParams(form).toString()), "application/x-www-form-urlencoded"];
  }
  const mark = "oracle-boundary";
  const parts = Object.entries(body).flatMap(([name, own]) => [
    own instanceof FileData
      ? `--${mark}\r\nContent-Disposition: form-data; name="${name}"; filename="${own.filename}"\r\nContent-Type: ${own.content_type}\r\n\r\n`
      : `--${mark}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`,
    own instanceof FileData ? bytes(own.data) : String(own),
    "\r\n",
  ]);
  return [Buffer.concat([...parts, `--${mark}--\r\n`].map((part) => (typeof part === "string" ? Buffer.from(part) : part))), `multipart/form-data; boundary=${mark}`];
}

const canonical = (name) => name.replace(/(^|-)([a-z])|([A-Z])/g, (_, dash, first, upper) => (first ? dash + first.toUpperCase() : upper.toLowerCase())).replace(/(^|-)([a-z])/g, (_, dash, first) => dash + first.toUpperCase());

class Response {
  constructor(facts) {
    Object.assign(this, facts);
  }
  json(selector) {
    const value = JSON.parse(typeof this.body === "string" ? this.body : Buffer.from(this.body).toString());
    return selector ? select(value, selector) : value;
  }
}

// What a request asks for, with the defaults of k6.
function plan(method, target, body, params) {
  const named = target instanceof NamedUrl;
  const given = new URL(String(target));
  const [data, type] = encode(method === "GET" || method === "HEAD" ? (body ?? undefined) : body);
  const headers = {};
  for (const [name, value] of Object.entries(params.headers ?? {})) headers[name.toLowerCase()] = String(value);
  if (type !== undefined) headers["content-type"] ??= type;
  if (params.auth !== "digest" && given.username !== "") {
    headers.authorization = `Basic ${Buffer.from(`${decodeURIComponent(given.username)}:${decodeURIComponent(given.password)}`).toString("base64")}`;
  }
  headers["user-agent"] ??= state.options.userAgent ?? "oracle";
  const packed = (params.compression ?? "").split(",").map((own) => own.trim()).filter(Boolean);
  const sent = packed.reduce((all, own) => pack[own](all), data);
  if (packed.length > 0) headers["content-encoding"] = packed.join(", ");
  return { given, data: sent, headers, name: params.tags?.name ?? (named ? target.name : undefined) };
}

function cookieHeader(jar, params, url, own) {
  const all = {};
  for (const cookie of jar.for(url)) all[cookie.name] = cookie.value;
  const forced = [];
  for (const [name, value] of Object.entries(params.cookies ?? {})) {
    const text = typeof value === "object" ? value.value : value;
    if (typeof value === "object" && value.replace) delete all[name];
    if (!(name in all)) forced.push(`${name}=${text}`);
  }
  return [own, ...Object.entries(all).map(([name, value]) => `${name}=${value}`), ...forced].filter(Boolean).join("; ");
}

export function request(method, target, body, params) {
  method = String(method).toUpperCase();
  params = params ?? {};
  const expected = "responseCallback" in params ? params.responseCallback : state.expected;
  const judge = (status) => expected && state.count("http_req_failed", {}, Number(!expected(status)));
  if (!URL.canParse(String(target))) {
    // What has no scheme is sent all the same: it fails, and counts.
    if (!/^[^/?#]*:/.test(String(target))) {
      state.count("http_reqs", { method, name: params.tags?.name ?? String(target), status: 0 }, 1);
      judge(0);
    }
    if (params.throw ?? state.options.throw) throw new Error("invalid URL");
    return new Response({ status: 0, body: null, error: "invalid URL", error_code: 1020, headers: {}, cookies: {}, url: String(target), timings: timings() });
  }
  const { given, data, headers, name } = plan(method, target, body, params);
  const jar = params.jar ?? state.jar;
  let left = params.redirects ?? state.options.maxRedirects ?? 10;
  let [at, how, what] = [new URL(given), method, data];
  at.username = at.password = "";
  for (;;) {
    const cookie = cookieHeader(jar, params, at.href, headers.cookie);
    const sent = { ...headers, ...(cookie && { cookie }), ...(what && { "content-length": String(what.length) }) };
    const answer = send({ method: how, url: at.href, headers: sent, body: what, timeout: typeof params.timeout === "number" ? params.timeout : 60_000 });
    const status = answer.status ?? 0;
    const shown = name ?? (at.href === new URL(String(target)).href ? String(target) : at.href);
    state.count("http_reqs", { method: how, name: shown, status }, 1);
    judge(status);
    if (answer.error !== undefined) {
      if (params.throw ?? state.options.throw) throw new Error(answer.error);
      return new Response({ status: 0, body: null, error: answer.error, error_code: 1000, headers: {}, cookies: {}, url: at.href, timings: timings(), request: { method: how, url: at.href } });
    }
    const all = {};
    const set = [];
    for (let i = 0; i < answer.raw.length; i += 2) {
      const key = canonical(answer.raw[i]);
      all[key] = key in all ? `${all[key]}, ${answer.raw[i + 1]}` : answer.raw[i + 1];
      if (key === "Set-Cookie") set.push(answer.raw[i + 1]);
    }
    const cookies = jar.take(at.href, set);
    if (left-- > 0 && [301, 302, 303, 307, 308].includes(status) && "Location" in all) {
      at = new URL(all.Location, at);
      if (status < 307) [how, what] = [how === "HEAD" ? "HEAD" : "GET", undefined];
      if (status < 307) delete headers["content-type"];
      continue;
    }
    return response({ answer, all, cookies, at, first: { method, url: given.href, data }, sent, params });
  }
}

const timings = () => ({ blocked: 0, connecting: 0, tls_handshaking: 0, sending: 0, waiting: 0, receiving: 0, duration: 0 });

// `request` is what was asked for, also behind redirects.
function response({ answer, all, cookies, at, first, sent, params }) {
  let raw = Buffer.from(answer.body);
  for (const own of (all["Content-Encoding"] ?? "").split(",").map((each) => each.trim()).filter((each) => each in unpack).reverse()) {
    if (raw.length > 0) raw = unpack[own](raw);
  }
  const type = params.responseType ?? (state.options.discardResponseBodies ? "none" : "text");
  const body = type === "none" ? null : type === "binary" ? raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length) : raw.toString();
  const byName = {};
  for (const own of cookies) (byName[own.name] ??= []).push(own);
  return new Response({
    status: answer.status, status_text: `${answer.status} ${answer.text}`, body, headers: all, cookies: byName, url: at.href, proto: "HTTP/1.1",
    error: "", error_code: answer.status >= 400 ? 1000 + answer.status : 0, timings: timings(), remote_ip: answer.ip, remote_port: answer.port,
    request: { method: first.method, url: first.url, body: first.data?.toString() ?? "", headers: Object.fromEntries(Object.entries(sent).map(([name, value]) => [canonical(name), [value]])), cookies: {} },
  });
}

const one = (own) => {
  if (typeof own === "string" || own instanceof NamedUrl) return request("GET", own);
  if (Array.isArray(own)) return request(...own);
  return request(own.method ?? "GET", own.url, own.body, own.params);
};
export function batch(requests) {
  if (Array.isArray(requests)) return requests.map(one);
  return Object.fromEntries(Object.entries(requests).map(([key, own]) => [key, one(own)]));
}

export const asyncRequest = async (...given) => request(...given);
export const get = (target, params) => request("GET", target, undefined, params);
export const head = (target, params) => request("HEAD", target, undefined, params);
export const post = (target, body, params) => request("POST", target, body, params);
export const put = (target, body, params) => request("PUT", target, body, params);
export const patch = (target, body, params) => request("PATCH", target, body, params);
export const del = (target, body, params) => request("DELETE", target, body, params);
export const options = (target, body, params) => request("OPTIONS", target, body, params);
export default { request, get, head, post, put, patch, del, options, batch, asyncRequest, url, file, expectedStatuses, setResponseCallback, cookieJar, CookieJar };
