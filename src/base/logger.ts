export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Structured log. Values are fields; the message is a short constant phrase. Secrets must not appear in either. A
 * thrown value is the field `error`.
 */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
