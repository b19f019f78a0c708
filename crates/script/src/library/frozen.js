// Freezes a value of JSON, with all that is in it.
(function () {
  "use strict";

  const frozen = (value) => {
    if (typeof value === "object" && value !== null) {
      Object.values(value).forEach(frozen);
      Object.freeze(value);
    }
    return value;
  };
  return { frozen };
});
