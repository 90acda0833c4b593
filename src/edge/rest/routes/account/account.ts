import { ServiceError } from '../../../../base/errors.ts';
import type { AccountId } from '../../../../base/ids.ts';
import { unitsFromMicros } from '../../../../base/money.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import { isoOrNull } from '../../../../base/time-format.ts';
import type { RunningCampaign } from '../../../../domain/campaign/types.ts';
import type { CallControl } from '../../../../domain/dispatch/types.ts';
import { type Failure, failure } from '../../http/failure.ts';
import {
  accountRoute,
  callerReadableByToken,
  type Route,
  readableByToken,
} from '../../http/route.ts';
import { accountIdText, apiId, nullableText, nullableTimestamp, Type } from '../../http/schema.ts';
import { answered } from '../../refusal.ts';
import { MeSchema, PlivoAccountSchema, showMe, showPlivoAccount } from '../../wire/me.ts';

const common = { tag: 'Account', errors: 'plain' } as const;
const params = Type.Object({ auth_id: accountIdText() });
const ACCESS_TOKEN_SECONDS_DEFAULT = 1800;
const ACCESS_TOKEN_SECONDS_MAX = 86_400;
const OVERLAP_SECONDS_DEFAULT = 86_400;
const OVERLAP_SECONDS_MAX = 30 * 86_400;

const me = callerReadableByToken({
  ...common,
  method: 'GET',
  path: '/api/v1/auth/me',
  summary: 'Get the account of the credentials',
  reply: MeSchema,
  async run({ ledger }, { principal, apiId: id }) {
    const { account, owner } = principal;
    return ok(showMe(account, await ledger.balances(owner.authId), id));
  },
});

const credentialsUse = accountRoute({
  ...common,
  method: 'GET',
  path: '/api/v1/Account/{auth_id}/credentials-use',
  summary: 'Get the last use of the API credentials',
  params,
  reply: Type.Object({
    last_used_at: nullableTimestamp(),
    last_address: nullableText(),
    last_user_agent: nullableText(),
    requests: Type.Integer(),
  }),
  async run({ credentialUses }, { access }) {
    const use = await credentialUses.lastOf(access.account.authId);
    return ok({
      last_used_at: isoOrNull(use?.atUs),
      last_address: use?.address ?? null,
      last_user_agent: use?.userAgent ?? null,
      requests: use?.requests ?? 0,
    });
  },
});

const getAccount = readableByToken({
  ...common,
  errors: 'resource',
  method: 'GET',
  path: '/api/v1/Account/{auth_id}/',
  summary: 'Get the account details',
  params,
  reply: PlivoAccountSchema,
  async run({ ledger }, { access, apiId: id, accountId }) {
    const balance = await ledger.balance(accountId, access.owner.currency);
    return answered(balance, (found) => ({
      api_id: id,
      ...showPlivoAccount(access.account, unitsFromMicros(found.balance)),
    }));
  },
});

interface Usage {
  readonly used: number;
  readonly percent: number;
}

/** Returns the usage, or 502 if the counter is unavailable (spec Errors, Capacity). */
async function usageOf(
  control: CallControl,
  accountId: AccountId,
  limit: number,
): Promise<Result<Usage, Failure>> {
  try {
    const used = await control.runningCalls(accountId);
    const percent = limit === 0 ? (used === 0 ? 0 : 100) : (used / limit) * 100;
    return ok({ used, percent: Math.round(percent * 100) / 100 });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return err(failure(502, 'concurrency service unavailable'));
  }
}

const showRunning = (campaign: RunningCampaign) => ({
  campaign_id: campaign.campaignId as string,
  name: campaign.name,
  status: campaign.status as string,
  max_concurrent: campaign.maxConcurrent,
  running: campaign.running,
  queued: campaign.queued,
});

const capacity = accountRoute({
  ...common,
  method: 'GET',
  path: '/api/v1/account/{auth_id}/capacity',
  alsoRefuses: [502],
  summary: 'Get the current concurrency of the account',
  params,
  reply: Type.Object({
    concurrent_calls: Type.Integer(),
    max_concurrent: Type.Integer(),
    concurrent_free: Type.Integer(),
    utilization_pct: Type.Number(),
    running_campaigns: Type.Array(
      Type.Object({
        campaign_id: Type.String(),
        name: Type.String(),
        status: Type.String(),
        max_concurrent: Type.Integer(),
        running: Type.Integer(),
        queued: Type.Integer(),
      }),
    ),
  }),
  async run({ control, campaigns }, { access, accountId, subAccount }) {
    const limit = access.owner.concurrentCallsLimit;
    const usage = await usageOf(control, accountId, limit);
    if (!usage.ok) return usage;
    const running = (await campaigns.running(accountId)).filter(
      (campaign) => subAccount === undefined || campaign.subAccount === subAccount,
    );
    return ok({
      concurrent_calls: usage.value.used,
      max_concurrent: limit,
      concurrent_free: Math.max(0, limit - usage.value.used),
      utilization_pct: usage.value.percent,
      running_campaigns: running.map(showRunning),
    });
  },
});

const concurrency = accountRoute({
  ...common,
  method: 'GET',
  path: '/api/v1/Account/{auth_id}/concurrency',
  summary: 'Get the number of running calls and the limit',
  params,
  reply: Type.Object({
    account_id: accountIdText(),
    concurrent_calls: Type.Integer(),
    max_concurrent: Type.Integer(),
    utilization_pct: Type.Number(),
    request_id: Type.String(),
  }),
  async run({ control }, { access, accountId, apiId: id }) {
    const limit = access.owner.concurrentCallsLimit;
    const usage = await usageOf(control, accountId, limit);
    if (!usage.ok) return usage;
    return ok({
      account_id: accountId,
      concurrent_calls: usage.value.used,
      max_concurrent: limit,
      utilization_pct: usage.value.percent,
      request_id: id,
    });
  },
});

const rotateToken = accountRoute({
  ...common,
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/token',
  credential: true,
  summary: 'Create a new auth token. The old one stays valid for the overlap',
  status: 201,
  params,
  body: Type.Object({
    overlap_seconds: Type.Optional(
      Type.Integer({ minimum: 0, maximum: OVERLAP_SECONDS_MAX, default: OVERLAP_SECONDS_DEFAULT }),
    ),
  }),
  reply: Type.Object({
    api_id: apiId(),
    auth_id: accountIdText(),
    auth_token: Type.String(),
    overlap_seconds: Type.Integer(),
  }),
  async run({ accounts }, { access, body, apiId: id }) {
    const overlap = body.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
    const { authId } = access.account;
    return answered(await accounts.rotateToken(authId, overlap * 1000), ({ authToken }) => ({
      api_id: id,
      auth_id: authId,
      auth_token: authToken,
      overlap_seconds: overlap,
    }));
  },
});

const createAccessToken = accountRoute({
  ...common,
  method: 'POST',
  path: '/api/v1/Account/{auth_id}/access-token',
  credential: true,
  summary: 'Create a short-lived read-only access token, to be sent as Bearer',
  status: 201,
  params,
  body: Type.Object({
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: ACCESS_TOKEN_SECONDS_MAX,
        default: ACCESS_TOKEN_SECONDS_DEFAULT,
      }),
    ),
  }),
  reply: Type.Object({
    access_token: Type.String(),
    token_type: Type.String(),
    expires_in: Type.Integer(),
  }),
  async run({ accounts }, { access, body }) {
    const created = await accounts.createAccessToken(
      access.account.authId,
      (body.expires_in ?? ACCESS_TOKEN_SECONDS_DEFAULT) * 1000,
    );
    return ok({
      access_token: created.accessToken,
      token_type: 'bearer',
      expires_in: created.expiresInMs / 1000,
    });
  },
});

export const accountRoutes: readonly Route[] = [
  credentialsUse,
  me,
  getAccount,
  capacity,
  concurrency,
  rotateToken,
  createAccessToken,
];
