/** What a scenario of `npm run attack` is, and what it works with. One file of `scenarios/` exports one as `scenario`. */
import type { Environment, Service } from '../e2e/service.ts';

/** A number that a scenario found; with a bound it is judged. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Scenario {
  /** What is tried, in one line. */
  readonly about: string;
  /** Settings of the service beside those that every scenario has. */
  readonly environment?: Environment;
  /** What is made in the service before honest phones begin. */
  prepare?(service: Service): Promise<void>;
  /** Attacks for `field.seconds`, then stops by itself. Honest phones register and call meanwhile. */
  attack(field: Field): Promise<readonly Figure[]>;
  /** Replaces bounds of the figures that every scenario has, by their names; false: not judged here. */
  readonly bounds?: Readonly<Record<string, Bound | false>>;
}

export interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Field {
  readonly service: Service;
  /** Whom honest phones register as. */
  readonly username: string;
  readonly seconds: number;
  readonly quick: boolean;
  /** Aborts when the attack has to be over. */
  readonly over: AbortSignal;
}

/** What is wrong with a figure; undefined when it keeps its bounds or has none. */
export function faultOf({ name, value, unit, atLeast, atMost }: Figure): string | undefined {
  // Written so that NaN, from something never measured, is a fault as well.
  if (atLeast !== undefined && !(value >= atLeast)) {
    return `${name} is ${shown(value)} ${unit}, at least ${atLeast} is wanted`;
  }
  if (atMost !== undefined && !(value <= atMost)) {
    return `${name} is ${shown(value)} ${unit}, at most ${atMost} is wanted`;
  }
  return undefined;
}

export const shown = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });
