(function (host) {
  "use strict";

  return {
    async get(name) {
      return host.secret(name);
    },
    source(name) {
      throw new TypeError(`secrets.source("${name}"): squall has one source of secrets: use secrets.get(name)`);
    },
  };
});
