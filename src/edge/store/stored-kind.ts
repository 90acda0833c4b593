import { assert } from '../../base/errors.ts';
import { isObject, type Shape } from './shape.ts';

/** Member of a stored object that contains its version. */
const VERSION = '$version';

/** Converts a value from one version to the next. If it throws, the value is unreadable. */
export type Upgrade = (older: Readonly<Record<string, unknown>>) => unknown;

/** Thrown for a stored value that matches neither the shape of its version nor the current shape. */
class UnreadableValue extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnreadableValue';
  }
}

interface Options<T> {
  /** Table and column, or another name of the storage location. */
  readonly name: string;
  /** Version of the values that this program writes, starting at 1. */
  readonly version: number;
  readonly shape: Shape<T>;
}

/**
 * A kind of stored JSON: its version, its shape, and the upgrades of older versions. Any change of the shape needs a new
 * version and an upgrade; `stored-kinds.test.ts` compares each version with its recorded shape.
 */
export abstract class StoredKind<T> {
  readonly name: string;
  readonly version: number;
  readonly shape: Shape<T>;

  constructor({ name, version, shape }: Options<T>) {
    this.name = name;
    this.version = version;
    this.shape = shape;
  }

  /** Returns JSON text that includes the version. */
  abstract write(value: T): string;

  /** Parses a stored value. Throws `UnreadableValue`. */
  read(text: string): T {
    return this.take(parse(text, this.name));
  }

  /** Like `read`, for a value that is already parsed. */
  take(parsed: unknown): T {
    const { version, value } = this.versionOf(parsed);
    const current = this.#upgraded(version, value);
    const problem = this.shape.problem(current, this.name);
    if (problem !== undefined) throw new UnreadableValue(`${problem} (version ${version})`);
    return current as T;
  }

  protected abstract versionOf(parsed: unknown): {
    readonly version: number;
    readonly value: unknown;
  };
  protected abstract upgradeFrom(version: number, value: unknown): unknown;

  /** Returns a value of a newer version unchanged: it is readable if it still has the shape. */
  #upgraded(version: number, value: unknown): unknown {
    let current = value;
    for (let from = version; from < this.version; from += 1) {
      try {
        current = this.upgradeFrom(from, current);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new UnreadableValue(`${this.name} of version ${from}: ${reason}`);
      }
    }
    return current;
  }
}

/**
 * Stored objects, each with its version as a member. Objects without the member (version 0) were written before versions
 * existed.
 */
export class StoredObject<T extends object> extends StoredKind<T> {
  readonly #upgrades: readonly Upgrade[];

  /** `upgrades`: conversions from version 0 to 1, from 1 to 2 and so on. */
  constructor(options: Options<T> & { readonly upgrades: readonly Upgrade[] }) {
    super(options);
    this.#upgrades = options.upgrades;
    assert(this.#upgrades.length === options.version, `${options.name} lacks an upgrade`);
  }

  write(value: T): string {
    return JSON.stringify(this.put(value));
  }

  /** Like `write`, for an object inside other JSON. */
  put(value: T): object {
    return { [VERSION]: this.version, ...value };
  }

  protected override versionOf(parsed: unknown) {
    if (!isObject(parsed)) throw new UnreadableValue(`${this.name} is not an object`);
    const { [VERSION]: version = 0, ...value } = parsed;
    return { version: checked(version, this.name), value };
  }

  protected override upgradeFrom(version: number, value: unknown): unknown {
    return this.#upgrades[version]?.(value as Readonly<Record<string, unknown>>);
  }
}

/**
 * Stored lists, and objects whose member names come from customers. Version 1 is the bare value; later versions are
 * `{"$version": 2, "value": …}`.
 */
export class StoredList<T> extends StoredKind<T> {
  readonly #upgrades: readonly ((older: unknown) => unknown)[];

  /** `upgrades`: conversions from version 1 to 2, from 2 to 3 and so on. */
  constructor(
    options: Options<T> & { readonly upgrades?: readonly ((older: unknown) => unknown)[] },
  ) {
    super(options);
    this.#upgrades = options.upgrades ?? [];
    assert(this.#upgrades.length === options.version - 1, `${options.name} lacks an upgrade`);
  }

  write(value: T): string {
    return JSON.stringify(this.version === 1 ? value : { [VERSION]: this.version, value });
  }

  protected override versionOf(parsed: unknown) {
    if (!isObject(parsed) || parsed[VERSION] === undefined) return { version: 1, value: parsed };
    return { version: checked(parsed[VERSION], this.name), value: parsed['value'] };
  }

  protected override upgradeFrom(version: number, value: unknown): unknown {
    return this.#upgrades[version - 1]?.(value);
  }
}

/** Converts a column's value to text and back. */
export interface Codec<T> {
  /** Kind whose shape the test records. */
  readonly kind: StoredKind<unknown>;
  write(value: T): string;
  /** Parses a stored value. Throws `UnreadableValue`. */
  read(text: string): T;
}

/** A list of objects, each with its version. */
export const eachOf = <T extends object>(kind: StoredObject<T>): Codec<readonly T[]> => ({
  kind: kind as unknown as StoredKind<unknown>,
  write: (values) => JSON.stringify(values.map((value) => kind.put(value))),
  read: (text) => {
    const parsed = parse(text, kind.name);
    if (!Array.isArray(parsed)) throw new UnreadableValue(`${kind.name}: this is not a list`);
    return parsed.map((one) => kind.take(one));
  },
});

/** Upgrade for versions whose values already have the shape of the next version. */
export const unchanged: Upgrade = (older) => older;

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableValue(`${name} is not JSON`);
  }
}

function checked(version: unknown, name: string): number {
  if (!Number.isSafeInteger(version) || (version as number) < 0)
    throw new UnreadableValue(`${name} has a version that is not a number`);
  return version as number;
}
