/** Test of a bot's WebSocket without a call. */
import { err, ok } from '../../../../base/result.ts';
import { tooManyRequests } from '../../http/failure.ts';
import { accountRoute, type Route } from '../../http/route.ts';
import { accountIdText, hinted, oneOf, Type, URL_AUTHORITY } from '../../http/schema.ts';

const SECONDS_DEFAULT = 10;
const SECONDS_MAX = 30;
const BUSY_MS = 10_000;
const FORMATS = {
  'audio/x-l16;rate=8000': { encoding: 'audio/x-l16', rate: 8000 },
  'audio/x-l16;rate=16000': { encoding: 'audio/x-l16', rate: 16_000 },
  'audio/x-mulaw;rate=8000': { encoding: 'audio/x-mulaw', rate: 8000 },
} as const;

const test = accountRoute({
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/stream-test',
  tag: 'Calls',
  errors: 'resource',
  summary:
    "Connect to a bot's WebSocket as a call would, speak, listen, and report faults. No call is placed",
  longRunning: true,
  params: Type.Object({ auth_id: accountIdText() }),
  body: Type.Object({
    url: hinted(
      Type.String({ pattern: `^wss?://${URL_AUTHORITY}`, maxLength: 2048 }),
      'must be a ws:// or wss:// URL',
    ),
    content_type: Type.Optional(
      oneOf(['audio/x-l16;rate=8000', 'audio/x-l16;rate=16000', 'audio/x-mulaw;rate=8000']),
    ),
    seconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: SECONDS_MAX, default: SECONDS_DEFAULT }),
    ),
  }),
  reply: Type.Object({
    faults: Type.Array(Type.String()),
    observations: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
    log: Type.Array(Type.String({ description: 'progress of the test' })),
  }),
  alsoRefuses: [429],
  async run({ streamTests }, { access, body }) {
    const { url, content_type: format = 'audio/x-l16;rate=8000', seconds } = body;
    const request = { url, seconds: seconds ?? SECONDS_DEFAULT, ...FORMATS[format] };
    const done = await streamTests.run(access.account.authId, request);
    if (!done.ok) return err(tooManyRequests('a test of this account is running', BUSY_MS));
    const { faults, observations, log } = done.value;
    return ok({ faults: [...faults], observations: [...observations], log: [...log] });
  },
});

export const streamTestRoutes: readonly Route[] = [test];
