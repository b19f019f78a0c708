// Summaries are made when all is counted; the oracle makes none.
export const textSummary = () => "";
export const jUnit = () => "";
export const humanizeValue = String;
export default { textSummary, jUnit, humanizeValue };
