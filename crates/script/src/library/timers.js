(function (host) {
  "use strict";

  const exports = {
    setTimeout: (callback, delay, ...values) => host.setTimer(callback, delay, false, ...values),
    setInterval: (callback, delay, ...values) => host.setTimer(callback, delay, true, ...values),
    clearTimeout: (number) => host.clearTimer(number),
    clearInterval: (number) => host.clearTimer(number),
  };
  Object.assign(globalThis, exports);
  return exports;
});
