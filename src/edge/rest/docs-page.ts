/** The API as one HTML page without script, font or picture from anywhere. */
import type { Audience, Route } from './http/route.ts';
import type { TSchema } from './http/schema.ts';

const AUDIENCES: Readonly<Record<Audience, string>> = {
  account: 'X-Auth-ID and X-Auth-Token, or Basic',
  accountOrAccessToken: 'X-Auth-ID and X-Auth-Token, Basic, or an access token',
  caller: 'X-Auth-ID and X-Auth-Token, or Basic',
  callerOrAccessToken: 'X-Auth-ID and X-Auth-Token, Basic, or an access token',
  link: 'a signed link, or account credentials',
  admin: "the operator's bearer token",
  operator: "the operator's token as bearer or Basic, unless http.operatorPages opens it",
  scraper: "the operator's token or http.metricsToken, unless http.operatorPages opens it",
  anyone: 'everybody; the operator sees more',
  user: 'who is signed in at the console',
  guest: 'everybody; the credentials are in the body',
  public: 'nobody asks who you are',
};

const STYLE = `
body{font:15px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c2330;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem;border-bottom:1px solid #d9dee7}
details{border:1px solid #d9dee7;border-radius:6px;margin:.4rem 0;padding:0 .8rem}
summary{cursor:pointer;padding:.4rem 0}code{font:13px ui-monospace,monospace}
b.m{display:inline-block;width:4.2rem;font:600 12px ui-monospace,monospace}
.GET{color:#0b6bcb}.POST{color:#1a7f37}.PUT,.PATCH{color:#9a6700}.DELETE{color:#cf222e}
.s{color:#596579}table{border-collapse:collapse;width:100%;margin:.3rem 0 1rem}
td,th{text-align:left;vertical-align:top;padding:.15rem .6rem .15rem 0;border-top:1px solid #eef1f5;font-size:13px}
nav a{margin-right:.9rem}
@media(prefers-color-scheme:dark){body{background:#12161d;color:#dbe2ec}details,h2{border-color:#2c3442}td,th{border-color:#232a36}a{color:#6cb2ff}.s{color:#93a0b4}}
`;

const escapeHtml = (value: string): string =>
  value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

interface Shape {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly 'x-hint'?: string;
}

function typeName(shape: Shape): string {
  if (shape.enum !== undefined) return shape.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (shape.anyOf !== undefined) return shape.anyOf.map(typeName).join(' | ');
  if (shape.items !== undefined) return `list of ${typeName(shape.items)}`;
  const { type = 'object' } = shape;
  return typeof type === 'string' ? type : type.join(' or ');
}

const range = (low: number | undefined, high: number | undefined, unit: string): string =>
  low === undefined && high === undefined ? '' : `${low ?? '…'} to ${high ?? '…'}${unit}`;

const notes = (shape: Shape): string =>
  [
    shape.description,
    shape['x-hint'],
    range(shape.minimum, shape.maximum, ''),
    shape['x-hint'] === undefined ? range(shape.minLength, shape.maxLength, ' characters') : '',
    shape.default === undefined ? '' : `default ${JSON.stringify(shape.default)}`,
  ]
    .filter((note) => note !== undefined && note !== '')
    .join('; ');

function rows(shape: Shape, prefix: string): string {
  const { properties = {}, required = [] } = shape;
  return Object.entries(properties)
    .map(([name, inner]) => {
      const nested = inner.properties === undefined ? (inner.items ?? {}) : inner;
      const path = prefix + name;
      const mark = required.includes(name) ? '' : ' <span class="s">optional</span>';
      const line = `<tr><td><code>${escapeHtml(path)}</code>${mark}</td><td>${escapeHtml(typeName(inner))}</td><td class="s">${escapeHtml(notes(inner))}</td></tr>`;
      const step = inner.items === undefined ? '.' : '[].';
      return line + (nested.properties === undefined ? '' : rows(nested, path + step));
    })
    .join('');
}

function table(title: string, schema: TSchema | undefined): string {
  const shape = (schema ?? {}) as Shape;
  if (Object.keys(shape.properties ?? {}).length === 0) return '';
  return `<b>${title}</b><table>${rows(shape, '')}</table>`;
}

function section(route: Route): string {
  const success = route.status ?? 200;
  return `<details><summary><b class="m ${route.method}">${route.method}</b><code>${escapeHtml(route.path)}</code> <span class="s">${escapeHtml(route.summary)}</span></summary>
<p class="s">Who: ${escapeHtml(AUDIENCES[route.audience])}. Success: ${success}${route.produces ? ` (${escapeHtml(route.produces)})` : ''}.</p>
${table('Path', route.params)}${table('Query', route.query)}${table('Body', route.body)}${table('Reply', route.reply)}</details>`;
}

export function docsPage(routes: readonly Route[]): string {
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  const anchor = (tag: string): string => tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  const menu = tags.map((tag) => `<a href="#${anchor(tag)}">${escapeHtml(tag)}</a>`).join('');
  const body = tags
    .map((tag) => {
      const own = routes.filter((route) => route.tag === tag);
      return `<h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>${own.map(section).join('\n')}`;
    })
    .join('\n');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Voice telephony API</title><style>${STYLE}</style></head>
<body><h1>Voice telephony API</h1><p>JSON over HTTP. Paths under <code>/api/v1</code> are also served under <code>/v1</code>, with and without trailing slash; only <code>POST …/Call/</code> needs its slash. The same as a document: <a href="/openapi.json">openapi.json</a>. Guides and references: <a href="/docs/guide">the documentation</a>.</p><nav>${menu}</nav>
${body}</body></html>`;
}
