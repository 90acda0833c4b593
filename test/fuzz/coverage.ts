/** Which blocks of src ran, from V8's precise coverage. */
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Report {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly Range[] }[];
  }[];
}

type Span = readonly [start: number, end: number];

export class Coverage {
  readonly #session = new Session();
  /** Parts of each function that never ran, by file and position. Functions that never ran are missing. */
  readonly #missing = new Map<string, readonly Span[]>();
  /** Number of functions and blocks that ran for the first time. */
  found = 0;

  constructor() {
    this.#session.connect();
    this.#post('Profiler.enable', {});
    this.#post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  }

  /** Returns whether code ran since the last call that had never run before. */
  grew(): boolean {
    const before = this.found;
    const { result } = this.#post('Profiler.takePreciseCoverage', {}) as Report;
    for (const { url, functions } of result) {
      if (!url.startsWith('file://') || !fileURLToPath(url).startsWith(SRC)) continue;
      for (const { ranges } of functions) this.#add(url, ranges);
    }
    return this.found > before;
  }

  /** The first range is the function; others are blocks in it that ran, or did not. */
  #add(url: string, ranges: readonly Range[]): void {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) return;
    const name = `${url}:${whole.startOffset}-${whole.endOffset}`;
    const skipped = ranges
      .filter(({ count }) => count === 0)
      .map(({ startOffset, endOffset }): Span => [startOffset, endOffset]);
    const known = this.#missing.get(name);
    const left = known === undefined ? skipped : common(known, skipped);
    if (known === undefined || sizeOf(left) < sizeOf(known)) this.found += 1;
    this.#missing.set(name, left);
  }

  close(): void {
    this.#session.disconnect();
  }

  #post(method: string, parameters: object): unknown {
    let answer: unknown;
    // Calls back synchronously, because the session belongs to this thread.
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}

const sizeOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, [start, end]) => sum + end - start, 0);

/** Parts that are in a span of both lists. */
function common(first: readonly Span[], second: readonly Span[]): readonly Span[] {
  const found: Span[] = [];
  for (const [a, b] of first)
    for (const [c, d] of second)
      if (Math.max(a, c) < Math.min(b, d)) found.push([Math.max(a, c), Math.min(b, d)]);
  return found;
}
