import type { SqlValue } from '../row.ts';
import { manyRows } from './many-rows.ts';

/** Numbers of rows per statement. A small set keeps the number of prepared statements small. */
const SIZES = [128, 32, 8, 1] as const;

interface Later {
  readonly many: (count: number) => string;
  readonly rows: Array<readonly SqlValue[]>;
  readonly mustChange: boolean;
}

export interface ManyRows {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
  /** Required number of changed rows, or undefined if the number does not matter. */
  readonly mustChange: number | undefined;
}

/** Collects statements about single rows so that similar ones can be combined. */
export class DeferredInserts {
  readonly #later = new Map<string, Later>();
  readonly #about = new Set<string>();
  readonly #shapes = new Map<string, Later['many'] | undefined>();

  /**
   * Adds a statement. Returns `taken`; `before` if a waiting statement about the same row must be sent first; `alone` if it
   * cannot be combined.
   */
  add(
    sql: string,
    values: readonly SqlValue[],
    of: { readonly row: string; readonly mustChange: boolean },
  ): 'taken' | 'before' | 'alone' {
    if (this.#about.has(of.row)) return 'before';
    const kind = of.mustChange ? `1 ${sql}` : sql;
    const known = this.#later.get(kind);
    const many = known?.many ?? this.#shapeOf(sql);
    if (many === undefined) return 'alone';
    if (known === undefined)
      this.#later.set(kind, { many, rows: [values], mustChange: of.mustChange });
    else known.rows.push(values);
    this.#about.add(of.row);
    return 'taken';
  }

  get isEmpty(): boolean {
    return this.#about.size === 0;
  }

  /** Returns the collected statements combined into a few, and clears the collection. */
  take(): readonly ManyRows[] {
    const all = [...this.#later.values()].flatMap(statementsOf);
    this.clear();
    return all;
  }

  clear(): void {
    this.#later.clear();
    this.#about.clear();
  }

  #shapeOf(sql: string): Later['many'] | undefined {
    if (!this.#shapes.has(sql)) this.#shapes.set(sql, manyRows(sql));
    return this.#shapes.get(sql);
  }
}

function statementsOf({ many, rows, mustChange }: Later): readonly ManyRows[] {
  const statements: ManyRows[] = [];
  let at = 0;
  for (const size of SIZES) {
    for (; rows.length - at >= size; at += size)
      statements.push({
        sql: many(size),
        parameters: rows.slice(at, at + size).flat(),
        mustChange: mustChange ? size : undefined,
      });
  }
  return statements;
}
