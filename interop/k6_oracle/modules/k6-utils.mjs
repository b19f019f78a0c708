import { check as plain } from "./k6.mjs";

export const randomIntBetween = (min, max) => Math.floor(Math.random() * (max - min + 1)) + min;
export const randomItem = (list) => list[Math.floor(Math.random() * list.length)];
export const randomString = (length, set = "abcdefghijklmnopqrstuvwxyz") => Array.from({ length }, () => randomItem([...set])).join("");
export const uuidv4 = () => globalThis.crypto.randomUUID();
export function findBetween(text, left, right, all = false) {
  const found = text.split(left).slice(1).filter((part) => part.includes(right)).map((part) => part.slice(0, part.indexOf(right)));
  return all ? found : (found[0] ?? "");
}
export const parseDuration = (text) => [...text.matchAll(/([\d.]+)(ms|d|h|m|s)/g)].reduce((sum, [, value, unit]) => sum + value * { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 }[unit], 0);
export async function check(value, sets, tags) {
  const results = {};
  for (const [name, own] of Object.entries(sets)) results[name] = await (typeof own === "function" ? own(await value) : own);
  return plain(value, results, tags);
}
export default { randomIntBetween, randomItem, randomString, uuidv4, findBetween, parseDuration, check };
