/** Checks the log of the nodes: while components fail, errors are expected, but bugs are not. */
import { isBug } from '../../../src/base/errors.ts';
import type { LogFields, Logger } from '../../../src/base/logger.ts';

export class BugListener {
  readonly bugs: string[] = [];
  readonly #notify: (line: string) => void;

  constructor(notify: (line: string) => void) {
    this.#notify = notify;
  }

  logger(node: string): Logger {
    const received = ({ error, node: about = '' }: LogFields, message: string): void => {
      if (error instanceof Error && isBug(error))
        this.bugs.push(`${node}: ${message}: ${error.stack ?? error.message}`);
      this.#notify(`${node}: ${message} ${String(about)}`.trimEnd());
    };
    const quiet = (): void => undefined;
    return {
      debug: quiet,
      info: quiet,
      warn: received,
      error: received,
      child: () => this.logger(node),
    };
  }
}
