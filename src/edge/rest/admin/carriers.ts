import { type Changes, changed } from '../../../base/changes.ts';
import { err, ok } from '../../../base/result.ts';
import { type NewCarrier, patternOf } from '../../../domain/provisioning/provisioning.ts';
import type { Carrier, CarrierPatch, CarrierPolicy } from '../../../domain/provisioning/types.ts';
import { invalidField } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { nullableInteger, type Static, Type } from '../http/schema.ts';
import { isAddressOrRange } from '../http/values.ts';
import { answered, refused } from '../refusal.ts';
import { defined } from '../wire/list.ts';
import { CarrierBody, CarrierPatchBody } from './carrier-fields.ts';
import { namedInPeer, PeerSchema, policyChoice, showPeer, wrongHeaders } from './peer-policy.ts';

const ROOT = '/admin/v1/carriers';
const common = { tag: 'Operator: carriers', errors: 'admin' } as const;

/** Returns the changes of the policy in the body. */
const policyChanges = (body: Static<typeof CarrierPatchBody>): Changes<CarrierPolicy> =>
  defined({
    firstResponseMs: body.first_response_ms,
    answerMs: body.answer_ms,
    failoverOn: body.failover_on,
    maxRedirects: body.max_redirects,
    probe: body.probe,
    weight: body.weight,
    windows: body.windows,
    costs: body.costs,
    rewrite: body.rewrite,
    stir: body.stir,
    sign: body.sign,
    ...namedInPeer(body),
  });

const patchOf = (body: Static<typeof CarrierPatchBody>): CarrierPatch => ({
  ...defined({
    host: body.host,
    transport: body.transport,
    sourceAddresses: body.source_addresses,
    prefixes: body.prefixes,
    strip: body.strip,
    prepend: body.prepend,
    cpsLimit: body.cps_limit,
    concurrentCallsLimit: body.concurrent_calls_limit,
    secure: body.secure,
    priority: body.priority,
    enabled: body.enabled,
  }),
  ...(body.port !== undefined && { port: body.port ?? undefined }),
  ...(body.auth !== undefined && {
    auth: body.auth === null ? undefined : { ...body.auth, register: body.auth.register ?? false },
  }),
});

const CarrierSchema = Type.Object({
  name: Type.String(),
  host: Type.String(),
  port: nullableInteger(),
  transport: Type.String(),
  auth: Type.Optional(
    Type.Object({
      username: Type.String(),
      password: Type.String({ description: 'never shown' }),
      register: Type.Boolean(),
    }),
  ),
  source_addresses: Type.Array(Type.String()),
  prefixes: Type.Array(Type.String()),
  strip: Type.Integer(),
  prepend: Type.String(),
  cps_limit: Type.Integer(),
  concurrent_calls_limit: Type.Integer(),
  secure: Type.Boolean(),
  priority: Type.Integer(),
  enabled: Type.Boolean(),
  first_response_ms: nullableInteger(),
  answer_ms: nullableInteger(),
  failover_on: Type.Unsafe<string[] | null>({
    ...Type.Array(Type.String()),
    type: ['array', 'null'],
  }),
  max_redirects: nullableInteger(),
  probe: Type.Boolean(),
  weight: nullableInteger(),
  windows: Type.Array(Type.String()),
  costs: Type.Record(Type.String(), Type.Number()),
  rewrite: Type.Array(Type.Object({ match: Type.String(), replace: Type.String() })),
  stir: policyChoice('off', 'verify', 'refuse', 'require'),
  sign: Type.Boolean(),
  ...PeerSchema,
});

const showCarrier = (carrier: Carrier): Static<typeof CarrierSchema> => ({
  name: carrier.name,
  host: carrier.host,
  port: carrier.port ?? null,
  transport: carrier.transport,
  ...(carrier.auth && {
    auth: {
      username: carrier.auth.username,
      password: '<redacted>',
      register: carrier.auth.register,
    },
  }),
  source_addresses: [...carrier.sourceAddresses],
  prefixes: [...carrier.prefixes],
  strip: carrier.strip,
  prepend: carrier.prepend,
  cps_limit: carrier.cpsLimit,
  concurrent_calls_limit: carrier.concurrentCallsLimit,
  secure: carrier.secure,
  priority: carrier.priority,
  enabled: carrier.enabled,
  ...showPolicy(carrier.policy),
});

/** The carrier's configuration with its current state. */
const SeenCarrierSchema = Type.Object({
  ...CarrierSchema.properties,
  up: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description: 'whether it answers OPTIONS; null: not probed yet, or probing is off',
  }),
  registered: Type.Unsafe<boolean | null>({
    type: ['boolean', 'null'],
    description: 'whether this service is registered with it; null: no registration',
  }),
});

const showPolicy = (policy: CarrierPolicy) => ({
  first_response_ms: policy.firstResponseMs ?? null,
  answer_ms: policy.answerMs ?? null,
  failover_on: policy.failoverOn === undefined ? null : [...policy.failoverOn],
  max_redirects: policy.maxRedirects ?? null,
  probe: policy.probe ?? true,
  weight: policy.weight ?? null,
  windows: [...(policy.windows ?? [])],
  costs: { ...policy.costs },
  rewrite: [...(policy.rewrite ?? [])],
  stir: policy.stir ?? null,
  sign: policy.sign ?? true,
  ...showPeer(policy),
});

const params = Type.Object({ name: Type.String() });

export const carrierOf = (body: Static<typeof CarrierBody>): NewCarrier => ({
  ...patchOf(body),
  policy: changed<CarrierPolicy>({}, policyChanges(body)),
  name: body.name,
  host: body.host,
});

/** Rejects an invalid range or rule now; it would match no call of the carrier. */
export function wrongCarrier(body: Static<typeof CarrierPatchBody>) {
  const headers = wrongHeaders(body);
  if (headers !== undefined) return headers;
  const wrong = body.source_addresses?.find((address) => !isAddressOrRange(address));
  if (wrong !== undefined) {
    return err(
      invalidField('source_addresses', `has ${wrong}, which is not an IP address or CIDR range`),
    );
  }
  const rule = body.rewrite?.find(({ match }) => patternOf(match) === undefined);
  if (rule === undefined) return undefined;
  return err(invalidField('rewrite', `has ${rule.match}, which is not a regular expression`));
}

const createCarrier = adminRoute({
  ...common,
  method: 'POST',
  path: ROOT,
  summary: 'Add a SIP gateway',
  status: 201,
  body: CarrierBody,
  reply: CarrierSchema,
  run: async ({ provisioning }, { body }) =>
    wrongCarrier(body) ??
    answered(await provisioning.carriers.create(carrierOf(body)), showCarrier),
});

const { name: _name, ...unnamed } = CarrierBody.properties;

const createNamedCarrier = adminRoute({
  ...common,
  method: 'POST',
  path: `${ROOT}/{name}`,
  summary: 'Add a SIP gateway, with its name in the path',
  status: 201,
  params: Type.Object({ name: CarrierBody.properties.name }),
  body: Type.Object(unnamed),
  reply: CarrierSchema,
  run: async ({ provisioning }, { params: { name }, body }) =>
    wrongCarrier(body) ??
    answered(await provisioning.carriers.create(carrierOf({ ...body, name })), showCarrier),
});

const getCarrier = adminRoute({
  ...common,
  method: 'GET',
  path: `${ROOT}/{name}`,
  summary: 'Get a SIP gateway',
  params,
  reply: CarrierSchema,
  run({ provisioning }, { params: { name } }) {
    const carrier = provisioning.carriers.get(name);
    return carrier === undefined ? refused({ kind: 'unknownCarrier' }) : ok(showCarrier(carrier));
  },
});

const listCarriers = adminRoute({
  ...common,
  method: 'GET',
  path: ROOT,
  summary: 'List SIP gateways',
  reply: Type.Object({ carriers: Type.Array(SeenCarrierSchema) }),
  run({ provisioning, operations }) {
    const states = new Map(operations.carriers().map((state) => [state.name, state]));
    const carriers = provisioning.carriers.list().map((carrier) => {
      const { reachable = null, registered = null } = states.get(carrier.name) ?? {};
      return { ...showCarrier(carrier), up: reachable, registered };
    });
    return ok({ carriers });
  },
});

const patchCarrier = adminRoute({
  ...common,
  method: 'PATCH',
  path: `${ROOT}/{name}`,
  summary: 'Update a SIP gateway',
  params,
  body: CarrierPatchBody,
  reply: CarrierSchema,
  run: async ({ provisioning }, { params: { name }, body }) =>
    wrongCarrier(body) ??
    answered(
      await provisioning.carriers.patch(name, patchOf(body), policyChanges(body)),
      showCarrier,
    ),
});

const deleteCarrier = adminRoute({
  ...common,
  method: 'DELETE',
  path: `${ROOT}/{name}`,
  summary: 'Remove a SIP gateway',
  status: 204,
  params,
  run: async ({ provisioning }, { params: { name } }) =>
    answered(await provisioning.carriers.remove(name), () => undefined),
});

export const adminCarrierRoutes: readonly Route[] = [
  createCarrier,
  createNamedCarrier,
  getCarrier,
  listCarriers,
  patchCarrier,
  deleteCarrier,
];
