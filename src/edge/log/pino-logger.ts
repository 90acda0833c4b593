import { type Logger as PinoLogger, pino } from 'pino';
import type { LogFields, Logger } from '../../base/logger.ts';

/** Fields that are never written, wherever they stand. A second line of defence: nobody should log them at all. */
const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'x-auth-token',
  'X-Auth-Token',
  'password',
  'ha1',
  'token',
  'authToken',
  'adminToken',
];

export function createLogger(level: string): Logger {
  const paths = SECRET_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
  return wrap(
    pino({
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[redacted]' },
    }),
  );
}

function wrap(target: PinoLogger): Logger {
  return {
    debug: (fields: LogFields, message: string) => target.debug(fields, message),
    info: (fields: LogFields, message: string) => target.info(fields, message),
    warn: (fields: LogFields, message: string) => target.warn(fields, message),
    error: (fields: LogFields, message: string) => target.error(fields, message),
    child: (fields: LogFields) => wrap(target.child(fields)),
  };
}
