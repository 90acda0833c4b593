/** Filters with five forms: `name`, `name__gt`, `name__gte`, `name__lt` and `name__lte`. All given forms apply. */
import { err, ok, type Result } from '../../../base/result.ts';
import { parseWindowBound } from '../../../domain/ledger/ledger.ts';
import { type Failure, invalidField } from './failure.ts';
import { type TSchema, Type } from './schema.ts';

const TESTS = ['', '__gt', '__gte', '__lt', '__lte'] as const;
type Test = (typeof TESTS)[number];
type RangeName<N extends string> = `${N}${Test}`;

/** Bounds, both inclusive. undefined: open. */
export interface Range {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

const members = <N extends string, S extends TSchema>(name: N, schema: () => S) =>
  Object.fromEntries(TESTS.map((test) => [`${name}${test}`, Type.Optional(schema())])) as {
    [K in RangeName<N>]: ReturnType<typeof Type.Optional<S>>;
  };

export const timeRangeQuery = <N extends string>(name: N) =>
  members(name, () =>
    Type.String({ description: 'YYYY-MM-DD or YYYY-MM-DD HH:MM[:SS[.ffffff]], UTC' }),
  );
export const countRangeQuery = <N extends string>(name: N) =>
  members(name, () => Type.Integer({ minimum: 0, maximum: 1_000_000_000 }));

/**
 * Parses time bounds to microseconds UTC. A date or a second without a suffix matches all of it. In `__lte` it means its last
 * moment, otherwise its first.
 */
export function timeRangeOf<N extends string>(
  query: Readonly<Partial<Record<RangeName<N>, string>>>,
  name: N,
): Result<Range, Failure> {
  const ranges: Range[] = [];
  for (const test of TESTS) {
    const text = (query as Readonly<Record<string, string | undefined>>)[name + test];
    if (text === undefined) continue;
    const start = parseWindowBound(text, 'from');
    const end = parseWindowBound(text, 'to');
    if (start === undefined || end === undefined) {
      const problem = 'must be YYYY-MM-DD, YYYY-MM-DD HH:MM[:SS] or an ISO 8601 timestamp';
      return err(invalidField(name + test, problem));
    }
    ranges.push(tested(test, start, end));
  }
  return ok(both(ranges));
}

export function countRangeOf<N extends string>(
  query: Readonly<Partial<Record<RangeName<N>, number>>>,
  name: N,
): Range {
  const ranges: Range[] = [];
  for (const test of TESTS) {
    const count = (query as Readonly<Record<string, number | undefined>>)[name + test];
    if (count !== undefined) ranges.push(tested(test, count, count));
  }
  return both(ranges);
}

/** Returns the whole numbers that pass one test against a value that spans `start` to `end`. */
function tested(test: Test, start: number, end: number): Range {
  switch (test) {
    case '':
      return { from: start, to: end };
    case '__gt':
      return { from: start + 1, to: undefined };
    case '__gte':
      return { from: start, to: undefined };
    case '__lt':
      return { from: undefined, to: start - 1 };
    case '__lte':
      return { from: undefined, to: end };
  }
}

/** Returns the intersection of all ranges. */
export function both(ranges: readonly Range[]): Range {
  const from = ranges.flatMap((range) => range.from ?? []);
  const to = ranges.flatMap((range) => range.to ?? []);
  return {
    from: from.length === 0 ? undefined : Math.max(...from),
    to: to.length === 0 ? undefined : Math.min(...to),
  };
}
