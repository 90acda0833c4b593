/** Checks the log of the nodes: while components fail, errors are expected, but bugs are not. */
import { isBug } from '../../../src/base/errors.ts';
import type { LogFields, Logger } from '../../../src/base/logger.ts';

export class BugListener {
  readonly bugs: string[] = [];
  readonly #tell: (line: string) => void;

  constructor(tell: (line: string) => void) {
    this.#tell = tell;
  }

  logger(node: string): Logger {
    const heard = ({ error, node: about = '' }: LogFields, message: string): void => {
      if (error instanceof Error && isBug(error))
        this.bugs.push(`${node}: ${message}: ${error.stack ?? error.message}`);
      this.#tell(`${node}: ${message} ${String(about)}`.trimEnd());
    };
    const quiet = (): void => undefined;
    return { debug: quiet, info: quiet, warn: heard, error: heard, child: () => this.logger(node) };
  }
}
