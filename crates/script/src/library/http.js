(function (host) {
  "use strict";
  return {};
});
