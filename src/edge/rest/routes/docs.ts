import { ok } from '../../../base/result.ts';
import { apiPage, apiPageFileRoute } from '../api-page.ts';
import { anyoneRoute, operatorRoute, publicRoute, type Route } from '../http/route.ts';
import { openApiDocument } from '../openapi.ts';

const common = { method: 'GET', tag: 'Documentation', errors: 'plain' } as const;

const OPERATORS: ReadonlySet<Route['audience']> = new Set(['admin', 'operator', 'scraper']);

/**
 * Serves the API page and the OpenAPI documents of `routes`: the customer's part is public, the operator's part is restricted.
 */
export function docsRoutes(routes: readonly Route[]): readonly Route[] {
  const pages = new Map<string, string>();
  const once = (key: string, make: () => string): string => {
    const made = pages.get(key) ?? make();
    pages.set(key, made);
    return made;
  };
  const seen = (isOperator: boolean): readonly Route[] =>
    [...routes, ...own].filter(({ audience }) => isOperator || !OPERATORS.has(audience));
  const document = (isOperator: boolean, publicUrl: string) => ({
    contentType: 'application/json; charset=utf-8',
    body: once(`document ${isOperator} ${publicUrl}`, () =>
      JSON.stringify(openApiDocument(seen(isOperator), publicUrl)),
    ),
  });
  const html = { ...common, produces: 'text/html' };
  const json = { ...common, produces: 'application/json' };
  const own: readonly Route[] = [
    apiPageFileRoute,
    publicRoute({
      ...html,
      path: '/docs',
      summary: 'Show the REST API page',
      run: () => ok(apiPage('/openapi.json')),
    }),
    anyoneRoute({
      ...json,
      path: '/openapi.json',
      summary: 'Get the REST API as an OpenAPI 3.1 document',
      run: ({ settings }, { isOperator }) => ok(document(isOperator, settings.publicUrl)),
    }),
    operatorRoute({
      ...html,
      path: '/admin/docs',
      summary: "Show the REST API page, including the operator's part",
      run: () => ok(apiPage('/admin/openapi.json')),
    }),
    operatorRoute({
      ...json,
      path: '/admin/openapi.json',
      summary: "Get the REST API with the operator's part as an OpenAPI 3.1 document",
      run: ({ settings }) => ok(document(true, settings.publicUrl)),
    }),
  ];
  return own;
}
