/** Which table or index of SQLite each page of its file belongs to, through all transactions of a log. */
// https://www.sqlite.org/fileformat2.html#b_tree_pages
const INTERIOR_INDEX = 2;
const INTERIOR_TABLE = 5;
const LEAF_INDEX = 10;
const LEAF_TABLE = 13;
const CELL_COUNT_AT = 3;
const LAST_CHILD_AT = 8;
const LEAF_HEADER_BYTES = 8;
const INTERIOR_HEADER_BYTES = 12;
const POINTER_BYTES = 4;
/** Size of the file header on the first page, before its b-tree. */
const FILE_HEADER_BYTES = 100;
const FIRST_FREE_AT = 32;

const HEADER = 'header';
const FREE = 'list of free pages';

/** Number in 7 bits a byte, most significant first: its value and the offset behind it. */
function varint(page: Buffer, at: number): readonly [value: number, next: number] {
  let value = 0;
  for (let length = 1; length <= 9; length += 1) {
    const byte = page[at + length - 1] ?? 0;
    if (length === 9) return [value * 256 + byte, at + length];
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + length];
  }
  return [value, at];
}

/** Number of payload bytes in the cell; the rest is on overflow pages. */
function localBytes(payload: number, usable: number, isTable: boolean): number {
  const most = isTable ? usable - 35 : Math.floor(((usable - 12) * 64) / 255) - 23;
  if (payload <= most) return payload;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const retained = least + ((payload - least) % (usable - 4));
  return retained <= most ? retained : least;
}

interface Below {
  readonly children: readonly number[];
  readonly overflows: readonly number[];
}

/** The pages that one of a b-tree leads to. */
function below(page: Buffer, first: boolean): Below {
  const begin = first ? FILE_HEADER_BYTES : 0;
  const type = page[begin];
  const isInterior = type === INTERIOR_INDEX || type === INTERIOR_TABLE;
  const children = isInterior ? [page.readUInt32BE(begin + LAST_CHILD_AT)] : [];
  const overflows: number[] = [];
  const cells = begin + (isInterior ? INTERIOR_HEADER_BYTES : LEAF_HEADER_BYTES);
  for (let index = 0; index < page.readUInt16BE(begin + CELL_COUNT_AT); index += 1) {
    let at = page.readUInt16BE(cells + 2 * index);
    if (isInterior) children.push(page.readUInt32BE(at));
    if (type === INTERIOR_TABLE) continue;
    const [payload, next] = varint(page, isInterior ? at + POINTER_BYTES : at);
    at = type === LEAF_TABLE ? varint(page, next)[1] : next;
    const local = localBytes(payload, page.length, type === LEAF_TABLE);
    if (local < payload) overflows.push(page.readUInt32BE(at + local));
  }
  return { children, overflows };
}

/** Returns false for a former b-tree page that is now an overflow or free page: its first byte, part of a page number, is 0. */
const isTree = (page: number, content: Buffer): boolean =>
  [INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE].includes(
    content[page === 1 ? FILE_HEADER_BYTES : 0] ?? 0,
  );

export class PageOwners {
  readonly #names: Map<number, string>;

  /** `names`: of all pages, before the first transaction. */
  constructor(names: ReadonlyMap<number, string>) {
    this.#names = new Map(names);
  }

  nameOf(page: number): string {
    return page === 1 ? HEADER : (this.#names.get(page) ?? FREE);
  }

  /** The pages that a transaction has written: one that a b-tree did not have before hangs on another of them. */
  wrote(pages: ReadonlyMap<number, Buffer>): void {
    const head = pages.get(1);
    if (head !== undefined) this.#chain(head.readUInt32BE(FIRST_FREE_AT), FREE, pages);
    const waiting = [...pages.keys()];
    const done = new Map<number, string>();
    for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
      const content = pages.get(page);
      const name = this.#names.get(page);
      if (content === undefined || name === undefined || !isTree(page, content)) continue;
      if (done.get(page) === name) continue;
      done.set(page, name);
      const { children, overflows } = below(content, page === 1);
      for (const child of children.filter((one) => pages.has(one))) {
        this.#names.set(child, name);
        waiting.push(child);
      }
      for (const one of overflows) this.#chain(one, `${name}, overflow`, pages);
    }
  }

  /** Pages that name the next in their first bytes. */
  #chain(first: number, name: string, pages: ReadonlyMap<number, Buffer>): void {
    for (let page = first; pages.has(page); page = pages.get(page)?.readUInt32BE(0) ?? 0)
      this.#names.set(page, name);
  }
}
