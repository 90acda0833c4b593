/** Serves the console's page, its live updates, and the validation of documents while they are edited. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { token } from '../../../base/ids.ts';
import { err, ok } from '../../../base/result.ts';
import type { Account } from '../../../domain/account/types.ts';
import { parseAnswerXml } from '../../../protocol/answer-xml/answer-xml.ts';
import { failure, invalidField, NOT_FOUND } from '../http/failure.ts';
import { publicRoute, type Route, userRoute } from '../http/route.ts';
import { accountIdText, flag, nullableInteger, nullableText, oneOf, Type } from '../http/schema.ts';
import { consolePolicy } from '../http/security-headers.ts';

const BUILT = join(import.meta.dirname, '../../../../build/web/console');
const common = { tag: 'Console', errors: 'resource' } as const;
const XML_MAX = 100_000;

const FILES = [
  ['/console', 'index.html', 'text/html'],
  ['/console/console.js', 'console.js', 'text/javascript'],
  ['/console/console.css', 'console.css', 'text/css'],
] as const;
/** Scripts that the page loads on demand. Their names contain a hash of their content. */
const PART = /^part-[A-Z0-9]{8}\.js$/;

/** Reads the file on first use; it changes only with the next setup. */
function fileRoute([path, file, contentType]: (typeof FILES)[number]): Route {
  let text: string | undefined;
  return publicRoute({
    ...common,
    method: 'GET',
    path,
    produces: contentType,
    summary: 'The console for operator and customers',
    run: ({ random }) => {
      text ??= readFileSync(join(BUILT, file), 'utf8');
      // Recording players add inline styles, which need a nonce.
      const nonce = token(random, 128);
      return ok({
        contentType: `${contentType}; charset=utf-8`,
        headers: { 'cache-control': 'no-cache', 'content-security-policy': consolePolicy(nonce) },
        body: file === 'index.html' ? text.replace('{{nonce}}', nonce) : text,
      });
    },
  });
}

const parts = new Map<string, string>();

const partRoute = publicRoute({
  ...common,
  method: 'GET',
  path: '/console/{part}',
  produces: 'text/javascript',
  summary: 'A part of the console that is loaded on demand',
  params: Type.Object({ part: Type.String({ maxLength: 64 }) }),
  alsoRefuses: [404],
  run: (_needs, { params: { part } }) => {
    const file = join(BUILT, part);
    if (!PART.test(part) || !(parts.has(part) || existsSync(file))) return err(NOT_FOUND);
    const body = parts.get(part) ?? readFileSync(file, 'utf8');
    parts.set(part, body);
    return ok({
      contentType: 'text/javascript; charset=utf-8',
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
      body,
    });
  },
});

const NOT_ACTIVE = failure(403, 'account is not active');

/** Returns the main account and sub-account whose calls a customer sees. */
const scopeOf = ({ authId, parentAuthId }: Account) => ({
  accountId: parentAuthId ?? authId,
  subAccount: parentAuthId === undefined ? undefined : authId,
});

const EVENTS = { method: 'GET', tag: 'Calls', isCredential: false } as const;

const events = userRoute({
  ...common,
  tag: EVENTS.tag,
  method: EVENTS.method,
  path: '/console/api/events',
  summary:
    'Stream running calls as server-sent events: the whole list after each change, at most once a second',
  produces: 'text/event-stream',
  longRunning: true,
  async run({ liveFeed, accounts, users }, { user }) {
    const account = user.accountId === undefined ? undefined : await accounts.get(user.accountId);
    if (user.accountId !== undefined && account?.status !== 'active') return err(NOT_ACTIVE);
    const scope = account && scopeOf(account);
    const stream = liveFeed.listen({
      userId: user.userId,
      account: scope,
      isAllowed: async () => {
        if (!(await users.stillMay(user.session, EVENTS))) return false;
        if (account === undefined) return true;
        return (await accounts.get(account.authId))?.status === 'active';
      },
    });
    if (stream === undefined) {
      return err(failure(429, 'too many open pages', { headers: { 'retry-after': '10' } }));
    }
    return ok({ contentType: 'text/event-stream; charset=utf-8', body: stream });
  },
});

const PAGE_MAX = 1000;

const liveCalls = userRoute({
  ...common,
  tag: 'Calls',
  method: 'GET',
  path: '/console/api/live-calls',
  summary:
    'List running and queued calls by page, latest first, with the requests that have queued calls',
  query: Type.Object({
    account_id: Type.Optional(
      accountIdText({ description: 'for operator staff; absent: all accounts' }),
    ),
    search: Type.Optional(
      Type.String({ maxLength: 200, description: 'part of a number, UUID or caller name' }),
    ),
    direction: Type.Optional(oneOf(['inbound', 'outbound'])),
    bot: Type.Optional(flag()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: 50 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
  }),
  reply: Type.Object({
    total: Type.Integer({ description: 'running and queued calls' }),
    running: Type.Integer(),
    calls: Type.Array(Type.Unsafe<object>({ type: 'object', additionalProperties: true })),
    requests: Type.Array(Type.Object({ request_uuid: Type.String(), queued: Type.Integer() })),
  }),
  async run({ liveFeed, accounts, control }, { user, query }) {
    const asked = user.accountId ?? query.account_id;
    const account = asked === undefined ? undefined : await accounts.get(asked);
    if (user.accountId !== undefined && account?.status !== 'active') return err(NOT_ACTIVE);
    if (asked !== undefined && account === undefined)
      return err(invalidField('account_id', 'is not an account'));
    const { search = '', direction, bot, limit = 50, offset = 0 } = query;
    const scope = account && scopeOf(account);
    // Queues belong to accounts, so that the list of all accounts has only running calls.
    const queued = scope === undefined ? [] : await control.liveCalls(scope.accountId, 'queued');
    const filter = {
      account: scope,
      queued,
      search: search.trim().toLowerCase(),
      direction,
      hasBot: bot,
    };
    const page = await liveFeed.page(filter, { limit, offset });
    return ok({
      total: page.total,
      running: page.running,
      calls: [...page.calls],
      requests: page.requests.map(({ requestUuid, queued }) => ({
        request_uuid: requestUuid,
        queued,
      })),
    });
  },
});

const checkXml = userRoute({
  ...common,
  method: 'POST',
  path: '/console/api/xml/check',
  changesNothing: true,
  summary: 'Validate a document with the parser that calls use',
  body: Type.Object({ xml: Type.String({ maxLength: XML_MAX }) }),
  reply: Type.Object({
    ok: Type.Boolean(),
    line: nullableInteger(),
    column: nullableInteger(),
    message: nullableText(),
    expected: nullableText(),
    instructions: Type.Array(Type.String()),
  }),
  run(_needs, { body }) {
    const read = parseAnswerXml(body.xml, { allowInsecureStreams: true });
    const fine = { line: null, column: null, message: null, expected: null };
    if (read.ok) {
      return ok({ ok: true, ...fine, instructions: read.value.map(({ kind }) => kind) });
    }
    const { line, column, message, expected } = read.error;
    return ok({ ok: false, line, column, message, expected, instructions: [] });
  },
});

export const consoleRoutes: readonly Route[] = [
  ...FILES.map(fileRoute),
  partRoute,
  events,
  liveCalls,
  checkXml,
];
