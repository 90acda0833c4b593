import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino';
import { isBug } from '../../base/errors.ts';
import type { LogFields, Logger } from '../../base/logger.ts';
import { maskSecrets } from '../../base/mask.ts';

/** Fields that are never written, wherever they stand. They should not be logged in the first place; this catches mistakes. */
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

/** `destination`: standard output unless a test reads along. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const paths = SECRET_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Message, stack and cause of an Error are not enumerable: without this they would be lost.
    serializers: { error: stdSerializers.err },
    // The whole line: URLs stand in messages, stacks and causes of errors as well as in fields.
    hooks: { streamWrite: maskSecrets },
    redact: { paths, censor: '[redacted]' },
  };
  return wrap(destination === undefined ? pino(options) : pino(options, destination));
}

function wrap(target: PinoLogger): Logger {
  return {
    debug: (fields: LogFields, message: string) => target.debug(fields, message),
    info: (fields: LogFields, message: string) => target.info(fields, message),
    warn: (fields: LogFields, message: string) => target.warn(fields, message),
    error: (fields: LogFields, message: string) =>
      target.error(isBug(fields['error']) ? { ...fields, bug: true } : fields, message),
    child: (fields: LogFields) => wrap(target.child(fields)),
  };
}
