/** The arguments of `npm run crash`. */

const KINDS = ['billing', 'campaigns', 'power', 'disk', 'bitflip'] as const;
type Kind = (typeof KINDS)[number];

interface CrashArguments {
  readonly points: number;
  readonly seed: number;
  /** The only kind of faults; all if undefined. */
  readonly only: Kind | undefined;
}

const POINTS = 1000;
const POINTS_MAX = 1_000_000;

export const USAGE = `usage: npm run crash -- [points from 1 to ${POINTS_MAX}] [seed] [${KINDS.join('|')}]`;

/** Returns undefined for arguments that USAGE does not describe. */
export function readArguments(given: readonly string[]): CrashArguments | undefined {
  const points = Number(given[0] ?? POINTS);
  const seed = Number(given[1] ?? 1);
  const only = KINDS.find((kind) => kind === given[2]);
  const isValid =
    given.length <= 3 &&
    Number.isSafeInteger(points) &&
    points >= 1 &&
    points <= POINTS_MAX &&
    Number.isSafeInteger(seed) &&
    (given[2] === undefined || only !== undefined);
  return isValid ? { points, seed, only } : undefined;
}
