/** Checks all log lines: they must contain no secrets and no bugs. */
import type { LogFields, Logger } from '../../src/base/logger.ts';

interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: LogFields;
}

export class LogListener {
  readonly #secrets: string[] = [];
  readonly #lines: Line[] = [];
  readonly #expected = new Set<string>();
  #checked = 0;

  /** Allows errors with this message, because the environment of the scenario fails. */
  expect(message: string): void {
    this.#expected.add(message);
  }

  /** Forbids `text` in later log lines. */
  guard(text: string): void {
    this.#secrets.push(text);
  }

  logger(context: LogFields = {}): Logger {
    const at =
      (level: Line['level']) =>
      (fields: LogFields, message: string): void => {
        this.#lines.push({ level, message, fields: { ...context, ...fields } });
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => this.logger({ ...context, ...fields }),
    };
  }

  /** Violations in the lines since the last call: secrets and bugs. */
  faults(): string[] {
    const fresh = this.#lines.slice(this.#checked);
    this.#checked = this.#lines.length;
    return fresh.flatMap((line) => {
      const found: string[] = [];
      if (this.shows(line)) found.push(`a secret is in the log: ${line.message}`);
      const isExpected = this.#expected.has(line.message) && line.fields['bug'] !== true;
      if (line.fields['bug'] === true || (line.level === 'error' && !isExpected)) {
        found.push(`logged as ${line.level}: ${describe(line)}`);
      }
      return found;
    });
  }

  /** Returns whether `thing` contains any of the secrets. */
  shows(thing: unknown): boolean {
    const text = describe(thing);
    return this.#secrets.some((secret) => text.includes(secret));
  }
}

/** Text as a logger would write it, errors with their stack. */
const describe = (thing: unknown): string =>
  JSON.stringify(thing, (_key, value) =>
    value instanceof Error ? { name: value.name, stack: value.stack, cause: value.cause } : value,
  ) ?? '';
