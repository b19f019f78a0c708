// `Math.random`: each user draws its own numbers, which follow from the seed of the test.
(function (host) {
  "use strict";

  Math.random = function random() {
    return host.random();
  };
  return {};
});
