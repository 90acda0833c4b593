/** Types of an attack scenario. Each file in `scenarios/` exports one as `scenario`. */
import type { Environment, Service } from '../e2e/service.ts';

/** A measured value. The run fails if the value violates a bound. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Scenario {
  /** Description of the attack in one line. */
  readonly about: string;
  /** Additional settings of the service. */
  readonly environment?: Environment;
  /** Prepares the service before legitimate phones start. */
  prepare?(service: Service): Promise<void>;
  /** Attacks for `field.seconds` and returns its own figures. Legitimate phones register and call during the attack. */
  attack(field: Field): Promise<readonly Figure[]>;
  /** Bounds that replace those of common figures, by figure name; false disables the bound. */
  readonly bounds?: Readonly<Record<string, Bound | false>>;
}

interface Bound {
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Field {
  readonly service: Service;
  /** Endpoint that legitimate phones register as. */
  readonly username: string;
  readonly seconds: number;
  readonly quick: boolean;
  /** Aborts when the attack must end. */
  readonly over: AbortSignal;
}

/** Returns the violated bound of a figure, or undefined if the figure has no violated bound. */
export function faultOf({ name, value, unit, atLeast, atMost }: Figure): string | undefined {
  // This form of the comparison also reports NaN, the value of a missing measurement.
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
