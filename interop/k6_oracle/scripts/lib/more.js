let calls = 0
export const double = (own) => own * 2
export function count() {
  return ++calls
}
export default double
