export const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
export default { setTimeout, clearTimeout, setInterval, clearInterval };
