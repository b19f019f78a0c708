(function (host) {
  "use strict";

  return {
    b64encode(input, encoding = "std") {
      return host.encode(input, encoding);
    },
    b64decode(input, encoding = "std", format = "") {
      const bytes = host.decode(input, encoding);
      return format === "s" ? host.text(bytes) : bytes;
    },
  };
});
