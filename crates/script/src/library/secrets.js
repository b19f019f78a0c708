(function (host) {
  "use strict";

  const of = (source) => ({
    async get(name) {
      return host.secret(source, name);
    },
  });
  return { ...of("default"), source: (name) => of(String(name)) };
});
