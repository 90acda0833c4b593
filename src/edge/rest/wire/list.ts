import type { Page, Slice } from '../../../base/page.ts';
import { LIST_LIMIT_DEFAULT, nullableText, Type } from '../http/schema.ts';

/** Plivo-style list (dialect §3.0): `{api_id, meta, objects}`. */
export const MetaSchema = Type.Object({
  limit: Type.Integer(),
  offset: Type.Integer(),
  total_count: Type.Integer(),
  next: nullableText(),
  previous: nullableText(),
});

interface ListQuery {
  readonly limit?: number;
  readonly offset?: number;
}

export const sliceOf = (query: ListQuery): Slice => ({
  limit: query.limit ?? LIST_LIMIT_DEFAULT,
  offset: query.offset ?? 0,
});

/** Builds `meta` of a page; its links keep the filters of the request. `resource` is the short path of the list. */
export function metaOf(
  page: Page<unknown>,
  slice: Slice,
  resource: string,
  query: Readonly<Record<string, unknown>>,
) {
  const link = (offset: number): string => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (name !== 'limit' && name !== 'offset' && value !== undefined) {
        parameters.set(name, String(value));
      }
    }
    parameters.set('limit', String(slice.limit));
    parameters.set('offset', String(offset));
    return `${resource}?${parameters}`;
  };
  const next = slice.offset + slice.limit;
  return {
    limit: slice.limit,
    offset: slice.offset,
    total_count: page.total,
    next: next < page.total ? link(next) : null,
    previous: slice.offset > 0 ? link(Math.max(0, slice.offset - slice.limit)) : null,
  };
}

/** Trunk family (dialect §3.0): `{meta: {limit, offset, total}, objects}`. */
export const TrunkMetaSchema = Type.Object({
  limit: Type.Integer(),
  offset: Type.Integer(),
  total: Type.Integer(),
});
export const trunkMetaOf = (page: Page<unknown>, slice: Slice) => ({
  limit: slice.limit,
  offset: slice.offset,
  total: page.total,
});

/** `page` and `per_page`, 1-indexed. */
export const pageQuery = (defaultSize: number, maxSize: number) => ({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000_000, default: 1 })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSize, default: defaultSize })),
});

export function pageSlice(
  query: { readonly page?: number; readonly per_page?: number },
  defaultSize: number,
): Slice & { readonly page: number } {
  const limit = query.per_page ?? defaultSize;
  const page = query.page ?? 1;
  return { limit, offset: (page - 1) * limit, page };
}

type Defined<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Removes undefined members, so that an absent field of a request does not reach the domain as a value. */
export const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
