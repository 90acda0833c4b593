/**
 * Number routes for Plivo clients. Only under `/v1`: under `/api/v1` the spec answers `/Number/` with a bare 401 (Errors:
 * Number attach).
 */
import type { AccountId } from '../../../../base/ids.ts';
import { err, ok, type Result } from '../../../../base/result.ts';
import type { NumberRefusal } from '../../../../domain/provisioning/provisioning.ts';
import type { PhoneNumber } from '../../../../domain/provisioning/types.ts';
import type { RouteNeeds } from '../../deps.ts';
import { type Failure, invalidField, notFound } from '../../http/failure.ts';
import { type AccountInput, accountRoute, type Route } from '../../http/route.ts';
import {
  accountIdText,
  apiId,
  appIdField,
  hinted,
  messageReply,
  oneOf,
  type Static,
  sliceQuery,
  Type,
} from '../../http/schema.ts';
import { e164Digits, searchedNumber } from '../../http/values.ts';
import { answered, failureOf, refused } from '../../refusal.ts';
import { MetaSchema, metaOf, sliceOf } from '../../wire/list.ts';
import {
  PlivoNumberSchema,
  PlivoOfferSchema,
  showPlivoNumber,
  showPlivoOffer,
} from '../../wire/plivo-number.ts';
import { subAccountFor } from './scope.ts';

const OWN = '/v1/Account/{auth_id}/Number/';
const OFFERED = '/v1/Account/{auth_id}/PhoneNumber/';
const common = { tag: 'Numbers', errors: 'resource', mainAccountOnly: true } as const;
const accountParams = Type.Object({ auth_id: accountIdText() });
const params = Type.Object({ auth_id: accountIdText(), number: Type.String() });

/** An application ID as number or text; empty removes the application. */
const applicationField = () => Type.Optional(Type.Union([appIdField(), Type.Literal('')]));

const rateOf = (needs: RouteNeeds, { access }: AccountInput, number: PhoneNumber) =>
  needs.ledger.rateBook.quote('inbound', number.e164, access.owner.authId, access.owner.currency)
    ?.perMinute;

const list = accountRoute({
  ...common,
  method: 'GET',
  path: OWN,
  summary: 'List the numbers of the account (Plivo form)',
  params: accountParams,
  query: Type.Object(sliceQuery),
  reply: Type.Object({
    api_id: apiId(),
    meta: MetaSchema,
    objects: Type.Array(PlivoNumberSchema),
  }),
  async run(needs, input) {
    const { accountId, query, apiId: id } = input;
    const slice = sliceOf(query);
    const page = await needs.provisioning.numbers.list({ accountId }, slice);
    return ok({
      api_id: id,
      meta: metaOf(page, slice, `/v1/Account/${accountId}/Number/`, query),
      objects: page.items.map((number) => showPlivoNumber(number, rateOf(needs, input, number))),
    });
  },
});

const get = accountRoute({
  ...common,
  method: 'GET',
  path: `${OWN}{number}/`,
  summary: 'Get a number of the account (Plivo form)',
  params,
  reply: Type.Object({ api_id: apiId(), ...PlivoNumberSchema.properties }),
  async run(needs, input) {
    const found = await ownNumber(needs, input.params.number, input.accountId);
    return answered(found, (number) => ({
      api_id: input.apiId,
      ...showPlivoNumber(number, rateOf(needs, input, number)),
    }));
  },
});

async function ownNumber(
  { provisioning }: RouteNeeds,
  text: string,
  accountId: AccountId,
): Promise<Result<PhoneNumber, NumberRefusal>> {
  const e164 = e164Digits(text);
  return e164 === undefined
    ? err({ kind: 'unknownNumber' })
    : provisioning.numbers.get(e164, accountId);
}

const UpdateBody = Type.Object({
  app_id: applicationField(),
  subaccount: Type.Optional(
    accountIdText({ description: 'auth ID of the sub-account; empty unassigns the number' }),
  ),
  alias: Type.Optional(
    Type.Union([Type.String({ maxLength: 128 }), Type.Null()], {
      description: 'a name for the number; empty or null clears it',
    }),
  ),
});

const update = accountRoute({
  ...common,
  method: 'POST',
  path: `${OWN}{number}/`,
  summary: 'Set the application, sub-account or alias of a number (Plivo form)',
  status: 202,
  params,
  body: UpdateBody,
  reply: messageReply,
  async run(needs, input) {
    const found = await ownNumber(needs, input.params.number, input.accountId);
    if (!found.ok) return refused(found.error);
    const wrong = await change(needs, input, found.value.e164, input.body);
    return wrong === undefined ? ok({ api_id: input.apiId, message: 'changed' }) : err(wrong);
  },
});

/** Applies all changes, or none if one names an unknown object. Returns undefined on success, otherwise the failure. */
async function change(
  needs: RouteNeeds,
  input: AccountInput,
  e164: string,
  { app_id: appId, subaccount, alias }: Static<typeof UpdateBody>,
): Promise<Failure | undefined> {
  const owner =
    subaccount === undefined ? undefined : await subAccountFor(needs, input, subaccount);
  if (owner?.ok === false) return owner.error;
  const changed = await needs.provisioning.numbers.change(input.accountId, e164, {
    ...(owner?.ok && { subAccount: owner.value }),
    ...(alias !== undefined && { alias: alias || undefined }),
    ...(appId !== undefined && { applicationId: appId === '' ? undefined : appId }),
  });
  return changed.ok ? undefined : failureOf(changed.error, UNKNOWN_APPLICATION);
}

const UNKNOWN_APPLICATION = {
  unknownApplication: invalidField('app_id', 'is not an application of this account'),
};

const unrent = accountRoute({
  ...common,
  method: 'DELETE',
  path: `${OWN}{number}/`,
  alsoRefuses: [409],
  summary: 'Release a number (Plivo form)',
  status: 204,
  params,
  async run(needs, { params: { number }, accountId }) {
    const e164 = e164Digits(number);
    if (e164 === undefined) return refused({ kind: 'unknownNumber' });
    return answered(await needs.provisioning.numbers.release(e164, accountId), () => undefined);
  },
});

const search = accountRoute({
  ...common,
  method: 'GET',
  path: OFFERED,
  summary: 'List the numbers that can be bought (Plivo form)',
  params: accountParams,
  query: Type.Object({
    ...sliceQuery,
    country_iso: hinted(
      Type.String({ pattern: '^[A-Za-z]{2}$' }),
      'must be a two-letter country code',
    ),
    pattern: Type.Optional(Type.String({ description: 'digits that the number contains' })),
    // Every number here is a local voice number.
    type: Type.Optional(oneOf(['any', 'fixed', 'local'])),
    services: Type.Optional(oneOf(['voice'])),
  }),
  reply: Type.Object({
    api_id: apiId(),
    meta: MetaSchema,
    objects: Type.Array(PlivoOfferSchema),
  }),
  async run(needs, input) {
    const { accountId, query, apiId: id } = input;
    const slice = sliceOf(query);
    const filter = {
      status: 'available' as const,
      country: query.country_iso.toUpperCase(),
      search: searchedNumber(query.pattern),
    };
    const page = await needs.provisioning.numbers.list(filter, slice);
    return ok({
      api_id: id,
      meta: metaOf(page, slice, `/v1/Account/${accountId}/PhoneNumber/`, query),
      objects: page.items.map((number) =>
        showPlivoOffer(number, accountId, rateOf(needs, input, number)),
      ),
    });
  },
});

const buy = accountRoute({
  ...common,
  method: 'POST',
  path: `${OFFERED}{number}/`,
  alsoRefuses: [402, 409],
  summary: 'Buy a number (Plivo form). 402 if the available balance is too low',
  status: 201,
  params,
  body: Type.Object({ app_id: applicationField() }),
  reply: Type.Object({
    api_id: apiId(),
    message: Type.String(),
    status: Type.String(),
    numbers: Type.Array(Type.Object({ number: Type.String(), status: Type.String() })),
  }),
  async run(needs, { params: path, body, accountId, access, apiId: id }) {
    const { numbers } = needs.provisioning;
    const e164 = e164Digits(path.number);
    if (e164 === undefined) return err(notFound('number'));
    const appId = body.app_id === '' ? undefined : body.app_id;
    const bought = await numbers.purchase(e164, accountId, access.owner.currency, appId);
    return answered(
      bought,
      () => ({
        api_id: id,
        message: 'created',
        status: 'fulfilled',
        numbers: [{ number: e164, status: 'Success' }],
      }),
      UNKNOWN_APPLICATION,
    );
  },
});

export const plivoNumberRoutes: readonly Route[] = [list, get, update, unrent, search, buy];
