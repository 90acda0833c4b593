/** Carrier fields of the operator's API. A separate module because the command line also uses it. */
import { WINDOW_PATTERN } from '../../../domain/provisioning/provisioning.ts';
import { described, flag, headerText, hinted, oneOf, type Static, Type } from '../http/schema.ts';
import { peerFields, policyChoice } from './peer-policy.ts';

const LIMIT_MAX = 1_000_000;
const LIST_MAX = 1000;

const AuthSchema = Type.Object({
  username: headerText({ minLength: 1, maxLength: 128 }),
  password: headerText({ minLength: 1, maxLength: 128 }),
  register: Type.Optional(flag(false)),
});
const host = () =>
  hinted(Type.String({ pattern: '^[A-Za-z0-9.:\\[\\]-]{1,253}$' }), 'must be a host or address');

/** null: the value from the settings. */
const policyNumber = (minimum: number, maximum: number) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum, maximum });

const orNull = <T>(schema: object, type: 'array' | 'object') =>
  Type.Unsafe<T | null>({ ...schema, type: [type, 'null'] });

const fields = {
  ...peerFields,
  stir: Type.Optional(
    described(
      policyChoice('off', 'verify', 'refuse', 'require'),
      'how to treat signatures of callers; null: the setting stir.policy',
    ),
  ),
  sign: Type.Optional(described(flag(), 'sign calls to it if stir.keyFile is set; default true')),
  port: Type.Optional(
    described(
      hinted(
        Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 65_535 }),
        'must be a port, or null for an SRV lookup',
      ),
      'null: NAPTR and SRV lookup of the host (RFC 3263)',
    ),
  ),
  transport: Type.Optional(described(oneOf(['udp', 'tcp', 'tls']), 'default udp')),
  auth: Type.Optional(
    described(
      Type.Unsafe<Static<typeof AuthSchema> | null>({ ...AuthSchema, type: ['object', 'null'] }),
      'credentials for the carrier: {"username":"u","password":"p","register":true}; null: none',
    ),
  ),
  source_addresses: Type.Optional(
    described(
      Type.Array(Type.String(), { maxItems: LIST_MAX }),
      'source addresses and CIDR ranges of its inbound calls; without any, it cannot send calls',
    ),
  ),
  prefixes: Type.Optional(
    described(
      Type.Array(hinted(Type.String({ pattern: '^[0-9]{0,15}$' }), 'must be up to 15 digits'), {
        minItems: 1,
        maxItems: LIST_MAX,
      }),
      'prefixes of the numbers that it serves; the longest match wins; default: all',
    ),
  ),
  strip: Type.Optional(
    described(
      Type.Integer({ minimum: 0, maximum: 15 }),
      'number of leading digits to remove; default 0',
    ),
  ),
  prepend: Type.Optional(
    described(
      hinted(Type.String({ pattern: '^[+0-9#*]{0,20}$' }), 'must be up to 20 digits'),
      'prefix to add after removing digits',
    ),
  ),
  cps_limit: Type.Optional(
    described(
      Type.Integer({ minimum: 1, maximum: LIMIT_MAX }),
      'maximum new calls per second, inbound and outbound together',
    ),
  ),
  concurrent_calls_limit: Type.Optional(
    described(
      Type.Integer({ minimum: 1, maximum: LIMIT_MAX }),
      'maximum concurrent calls, inbound and outbound together',
    ),
  ),
  secure: Type.Optional(described(flag(), 'require SRTP; default false')),
  priority: Type.Optional(
    described(
      Type.Integer({ minimum: 0, maximum: 1000 }),
      'carriers with the lowest value are tried first; default 1',
    ),
  ),
  enabled: Type.Optional(described(flag(), 'default true')),
  first_response_ms: Type.Optional(
    described(
      policyNumber(500, 32_000),
      'time without any response to an INVITE before the next carrier is tried, ms; null: sip.firstResponseMs',
    ),
  ),
  answer_ms: Type.Optional(
    described(
      policyNumber(1000, 600_000),
      'ringing time without an answer before the next carrier is tried, ms; null: unlimited',
    ),
  ),
  failover_on: Type.Optional(
    described(
      Type.Unsafe<string[] | null>({
        ...Type.Array(Type.String({ pattern: '^([45][0-9]{2}|[45]xx)$' }), { maxItems: 100 }),
        type: ['array', 'null'],
      }),
      'final statuses after which the next carrier is tried: 503, 5xx …; null: 401, 403, 407, 408, 5xx',
    ),
  ),
  max_redirects: Type.Optional(
    described(policyNumber(0, 10), 'maximum number of redirects (3xx) to follow; null: 3'),
  ),
  probe: Type.Optional(described(flag(), 'probe its availability with OPTIONS; default true')),
  weight: Type.Optional(
    described(
      policyNumber(0, 1000),
      'relative share of calls among carriers with the same priority and cost',
    ),
  ),
  windows: Type.Optional(
    described(
      orNull<string[]>(
        Type.Array(
          hinted(
            Type.String({ pattern: WINDOW_PATTERN }),
            'must have the form mon-fri 08:00-18:00 (UTC)',
          ),
          { maxItems: 100 },
        ),
        'array',
      ),
      'times when it is used, UTC: mon-fri 08:00-18:00; none: always',
    ),
  ),
  costs: Type.Optional(
    described(
      orNull<Record<string, number>>(
        Type.Record(Type.String({ pattern: '^[0-9]{0,15}$' }), Type.Number({ minimum: 0 }), {
          maxProperties: 50_000,
        }),
        'object',
      ),
      'price per minute by prefix, {"49":0.01}; within a priority, the cheapest is tried first',
    ),
  ),
  rewrite: Type.Optional(
    described(
      orNull<{ match: string; replace: string }[]>(
        Type.Array(
          Type.Object({
            match: Type.String({ minLength: 1, maxLength: 200 }),
            replace: hinted(
              Type.String({ pattern: '^[+0-9#*$]{0,40}$' }),
              'must be digits, +, *, # and $1 …',
            ),
          }),
          { maxItems: 100 },
        ),
        'array',
      ),
      'rewrite rules for the number, [{"match":"^0","replace":"49"}]; the first match applies',
    ),
  ),
};

export const CarrierPatchBody = Type.Object({ host: Type.Optional(host()), ...fields });

export const CarrierBody = Type.Object({
  name: hinted(
    Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', maxLength: 64 }),
    'must be letters, digits, . _ or -',
  ),
  host: host(),
  ...fields,
});
