/** The size of tests with many cases that each start programs: `npm test` runs some cases, `npm run test:all` and `npm test -- name` all. */

export const isThorough = process.env['THOROUGH'] === '1';

/** Returns all cases with `npm run test:all`, otherwise `count` of them: the first, the last and evenly between them. */
export function someOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (isThorough || count >= cases.length) return cases;
  if (count === 1) return cases.slice(-1);
  const step = (cases.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, i) => cases[Math.round(i * step)] as T);
}
