/** A test terminal that keeps its output. */
import { run } from '../../src/cli/program.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

type Environment = Readonly<Record<string, string>>;

export class TestTerminal implements Terminal {
  out: string[] = [];
  notes = '';
  failed = false;
  readonly interactive = false;
  env: Environment = {};

  print(line: string): void {
    this.out.push(line);
  }

  note(text: string): void {
    this.notes += text;
  }

  fail(): void {
    this.failed = true;
  }

  /** Clears the output before another test. */
  clear(): void {
    this.out = [];
    this.notes = '';
    this.failed = false;
  }

  run(args: readonly string[], env: Environment): Promise<void> {
    this.env = env;
    return run(args, this);
  }
}
