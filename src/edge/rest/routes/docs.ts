import { ok } from '../../../base/result.ts';
import { docsPage } from '../docs-page.ts';
import { anyoneRoute, operatorRoute, type Route } from '../http/route.ts';
import { PAGE_POLICY } from '../http/security-headers.ts';
import { openApiDocument } from '../openapi.ts';

const common = { method: 'GET', tag: 'Documentation', errors: 'plain' } as const;

const OPERATORS: ReadonlySet<Route['audience']> = new Set(['admin', 'operator', 'scraper']);

/** Pages about `routes` and themselves: the customer's part for everybody, the whole for the operator. Made once each. */
export function docsRoutes(routes: readonly Route[]): readonly Route[] {
  const pages = new Map<string, string>();
  const once = (key: string, make: () => string): string => {
    const made = pages.get(key) ?? make();
    pages.set(key, made);
    return made;
  };
  const seen = (isOperator: boolean): readonly Route[] =>
    [...routes, ...own].filter(({ audience }) => isOperator || !OPERATORS.has(audience));
  const page = (isOperator: boolean) => ({
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': PAGE_POLICY },
    body: once(`page ${isOperator}`, () => docsPage(seen(isOperator))),
  });
  const document = (isOperator: boolean, publicUrl: string) => ({
    contentType: 'application/json; charset=utf-8',
    body: once(`document ${isOperator} ${publicUrl}`, () =>
      JSON.stringify(openApiDocument(seen(isOperator), publicUrl)),
    ),
  });
  const html = { ...common, produces: 'text/html' };
  const json = { ...common, produces: 'application/json' };
  const own: readonly Route[] = [
    anyoneRoute({
      ...html,
      path: '/docs',
      summary: 'This API as a page',
      run: (_needs, { isOperator }) => ok(page(isOperator)),
    }),
    anyoneRoute({
      ...json,
      path: '/openapi.json',
      summary: 'This API as an OpenAPI 3.1 document',
      run: ({ settings }, { isOperator }) => ok(document(isOperator, settings.publicUrl)),
    }),
    operatorRoute({
      ...html,
      path: '/admin/docs',
      summary: "This API as a page, the operator's part included",
      run: () => ok(page(true)),
    }),
    operatorRoute({
      ...json,
      path: '/admin/openapi.json',
      summary: "This API as an OpenAPI 3.1 document, the operator's part included",
      run: ({ settings }) => ok(document(true, settings.publicUrl)),
    }),
  ];
  return own;
}
