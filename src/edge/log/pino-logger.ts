import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers } from 'pino';
import { isBug } from '../../base/errors.ts';
import type { LogFields, Logger } from '../../base/logger.ts';
import { maskSecrets } from '../../base/mask.ts';
import { LogRing } from './log-ring.ts';
import { standardOutput } from './output.ts';
import { prettyLines } from './pretty.ts';

/** Fields that are never logged at any level of nesting. Callers should not log them; this is a safeguard. */
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

/** Minimum severity that is written, shared by a logger and all its children. */
interface Gate {
  level: number;
}

/** A logger whose level can change at runtime, including the level of its children. Keeps its latest lines. */
export type LeveledLogger = Logger & { setLevel(level: string): void; readonly recent: LogRing };

const levelOf = (name: string): number => pino.levels.values[name] ?? Number.POSITIVE_INFINITY;
const { debug: DEBUG = 0, info: INFO = 0, warn: WARN = 0, error: ERROR = 0 } = pino.levels.values;

/** Creates the logger of the process, which writes to standard output. */
export function createOutputLogger(
  level: string,
  format: 'auto' | 'json' | 'pretty',
): LeveledLogger {
  const output = standardOutput();
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY);
  const logger = createLogger(level, isPretty ? prettyLines((text) => output.write(text)) : output);
  output.onLost = (lines, reason) =>
    logger.warn({ lines, reason }, 'log lines were lost: standard output did not take them');
  return logger;
}

/** Creates a logger. */
export function createLogger(level: string, destination: DestinationStream): LeveledLogger {
  const recent = new LogRing();
  const paths = SECRET_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]);
  const options = {
    level: 'debug',
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Message, stack and cause of an Error are not enumerable, so JSON would omit them.
    serializers: { error: stdSerializers.err },
    // Masks the whole line, because URLs also occur in messages, stacks and causes of errors.
    hooks: {
      streamWrite(line: string) {
        const masked = maskSecrets(line);
        recent.add(masked);
        return masked;
      },
    },
    redact: { paths, censor: '[redacted]' },
  };
  const gate: Gate = { level: levelOf(level) };
  return {
    ...wrap(pino(options, destination), gate),
    recent,
    setLevel(name) {
      gate.level = levelOf(name);
    },
  };
}

/** pino children keep their initial level, so a shared gate filters before them. */
function wrap(target: PinoLogger, gate: Gate): Logger {
  return {
    debug(fields: LogFields, message: string) {
      if (gate.level <= DEBUG) target.debug(fields, message);
    },
    info(fields: LogFields, message: string) {
      if (gate.level <= INFO) target.info(fields, message);
    },
    warn(fields: LogFields, message: string) {
      if (gate.level <= WARN) target.warn(fields, message);
    },
    error(fields: LogFields, message: string) {
      if (gate.level > ERROR) return;
      target.error(isBug(fields['error']) ? { ...fields, bug: true } : fields, message);
    },
    child: (fields: LogFields) => wrap(target.child(fields), gate),
  };
}
