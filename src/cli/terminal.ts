import type { Client } from '../../packages/client/src/client.ts';
import { quantity } from '../base/text.ts';
import { type ConnectionOptions, operatorClient } from './connection.ts';
import { type Column, card, type Json, progressBar, table } from './output.ts';
import { totalOf } from './pages.ts';

/** Output and environment of a command; replaced in tests. */
export interface Terminal {
  print(line: string): void;
  /** Prints progress to standard error. */
  note(text: string): void;
  readonly interactive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  fail(): void;
}

export interface GlobalOptions extends ConnectionOptions {
  readonly json?: boolean;
}

const PROGRESS_EVERY_MS = 500;
const FRAMES = ['|', '/', '-', '\\'];

/** Client of the service and output functions for a command. */
export class Session {
  readonly #terminal: Terminal;
  readonly #options: GlobalOptions;

  constructor(terminal: Terminal, options: GlobalOptions) {
    this.#terminal = terminal;
    this.#options = options;
  }

  get client(): Client {
    return operatorClient(this.#options, this.#terminal.env);
  }

  get terminal(): Terminal {
    return this.#terminal;
  }

  get wantsJson(): boolean {
    return this.#options.json === true;
  }

  /**
   * Prints the rows under `key` of a reply as a table, or the whole reply with --json. Standard error names the number of
   * all rows if the table has only a part of them.
   */
  list(reply: Json, key: string, columns: readonly Column<Json>[]): void {
    const rows = (reply[key] ?? []) as readonly Json[];
    this.#show(reply, table(rows, columns));
    const total = totalOf(reply);
    if (!this.wantsJson && total !== undefined && rows.length < total)
      this.#terminal.note(
        `${rows.length} of ${quantity(total, 'row')}; --help lists the options\n`,
      );
  }

  one(reply: Json, shown: Json = reply): void {
    this.#show(reply, card(shown));
  }

  done(sentence: string, reply: Json = {}): void {
    this.#show(reply, [sentence]);
  }

  /** Prints `lines`, or the reply with --json. */
  report(reply: Json, lines: readonly string[]): void {
    this.#show(reply, lines);
  }

  /** Shows the elapsed seconds of long work, and a progress bar where `shareOf` returns a fraction (0 to 1). */
  async working<T>(
    what: string,
    work: Promise<T>,
    shareOf: () => Promise<number | undefined> = async () => undefined,
  ): Promise<T> {
    if (!this.#terminal.interactive) return work;
    const start = performance.now();
    let turn = 0;
    let over = false;
    const draw = async (): Promise<void> => {
      // A failed progress query does not fail the work; the progress is just not shown.
      const share = await shareOf().catch(() => undefined);
      if (over) return;
      const seconds = Math.round((performance.now() - start) / 1000);
      const sign =
        share === undefined ? (FRAMES[turn++ % FRAMES.length] ?? '') : progressBar(share);
      this.#terminal.note(`\r${sign} ${what} ${seconds} s\u001b[K`);
    };
    const timer = setInterval(() => void draw(), PROGRESS_EVERY_MS);
    try {
      return await work;
    } finally {
      over = true;
      clearInterval(timer);
      this.#terminal.note('\r\u001b[K');
    }
  }

  #show(reply: Json, lines: readonly string[]): void {
    const json = this.#options.json === true;
    const shown = json ? [JSON.stringify(reply, undefined, 2)] : lines;
    for (const line of shown) this.#terminal.print(line);
  }
}
