/** Loaded into every thread of a service (`--import`): counts SQL statements and messages to other threads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MessagePort, threadId } from 'node:worker_threads';
import Database from 'better-sqlite3';

export interface ThreadCounts {
  readonly messages: number;
  /** Number of executions by SQL text. */
  readonly statements: Readonly<Record<string, number>>;
}

const TELL_MS = 200;
const METHODS = ['run', 'get', 'all', 'iterate'] as const;

let messages = 0;
const statements = new Map<string, number>();

type Method = (this: { readonly source: string }, ...given: unknown[]) => unknown;

function countStatements(): void {
  const db = new Database(':memory:');
  const prototype: unknown = Object.getPrototypeOf(db.prepare('SELECT 1'));
  db.close();
  for (const name of METHODS) {
    const original = Reflect.get(prototype as object, name) as Method;
    const counting: Method = function (...given) {
      statements.set(this.source, (statements.get(this.source) ?? 0) + 1);
      return original.apply(this, given);
    };
    Reflect.set(prototype as object, name, counting);
  }
}

function countMessages(): void {
  const original = MessagePort.prototype.postMessage as (...given: unknown[]) => void;
  const counting = function (this: MessagePort, ...given: unknown[]): void {
    messages += 1;
    original.apply(this, given);
  };
  Reflect.set(MessagePort.prototype, 'postMessage', counting);
}

countStatements();
countMessages();
const file = join(process.env['BENCH_COUNTS'] ?? '.', `${threadId}.json`);
setInterval(() => {
  const reported: ThreadCounts = { messages, statements: Object.fromEntries(statements) };
  writeFileSync(file, JSON.stringify(reported));
}, TELL_MS).unref();
