/**
 * Returns a typed number for a request. The service refuses a text that is not a number; as JSON, NaN would be null, which
 * removes a limit or means 0.
 */
export const typedNumber = (typed: string): number | string =>
  typed.trim() !== '' && Number.isFinite(Number(typed)) ? Number(typed) : typed;
