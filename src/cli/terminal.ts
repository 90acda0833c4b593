import type { Client } from '../../packages/client/src/client.ts';
import { type ConnectionOptions, operatorClient } from './connection.ts';
import { type Column, card, type Json, progressBar, table } from './output.ts';

/** Where a command writes to; replaced in tests. */
export interface Terminal {
  print(line: string): void;
  /** Progress, beside the output. */
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

/** What every command is given: the service, and ways to show what it said. */
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

  /** The rows under `key` of a reply; the whole reply with --json. */
  list(reply: Json, key: string, columns: readonly Column<Json>[]): void {
    const rows = (reply[key] ?? []) as readonly Json[];
    this.#show(reply, table(rows, columns));
  }

  one(reply: Json, shown: Json = reply): void {
    this.#show(reply, card(shown));
  }

  done(sentence: string, reply: Json = {}): void {
    this.#show(reply, [sentence]);
  }

  /** Lines for people, the reply with --json. */
  report(reply: Json, lines: readonly string[]): void {
    this.#show(reply, lines);
  }

  /** Shows that long work goes on: the seconds it has taken, and a bar where `shareOf` knows how much is done (0 to 1). */
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
      // Only the work itself may fail: when the progress cannot be read, it is not shown.
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
