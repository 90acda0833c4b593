import type { Failure } from './failure.ts';

/**
 * Families of routes with the same error body (spec "Errors"). The shapes are `{error}`, `{error: {code, message}}`, `{error,
 * details}`, `{status, message}` and `{api_id, error, message}`.
 */
export type ErrorFamily =
  /** Ledger: authentication errors as an object, others as a string. */
  | 'ledger'
  /** Balance, trunks, numbers, CDRs and partners: like the ledger. */
  | 'plain'
  /** Applications, calls, recordings, conferences: SDKs read `error` as a string. */
  | 'resource'
  /** Endpoints: `details` by field, `username` on a duplicate. */
  | 'endpoint'
  | 'export'
  | 'admin';

type Shape = (failure: Failure, apiId: string) => Readonly<Record<string, unknown>>;

const coded: Shape = ({ status, message, details, fields }) => ({
  error: { code: status, message, ...(details && { details }) },
  ...fields,
});

const named: Shape = ({ message, details, fields }) => ({
  error: message,
  ...(details && { details }),
  ...fields,
});

/** Returns whether the gate refused the request: credentials, permissions or request rate. */
const isGateRefusal = (status: number): boolean =>
  status === 401 || status === 403 || status === 429;

const gated: Shape = (failure, apiId) =>
  isGateRefusal(failure.status) ? coded(failure, apiId) : named(failure, apiId);

const resource: Shape = (failure, apiId) => ({
  api_id: apiId,
  error: failure.message,
  message: failure.detail ?? failure.message,
  ...(failure.details && { details: failure.details }),
  ...failure.fields,
});

export const ERROR_BODY: Readonly<Record<ErrorFamily, Shape>> = {
  ledger: gated,
  plain: gated,
  resource,
  endpoint: (failure, apiId) =>
    failure.status === 400 || failure.status === 409
      ? named(failure, apiId)
      : resource(failure, apiId),
  export: ({ message, detail, details, fields }, apiId) => ({
    api_id: apiId,
    status: 'failure',
    message: details === undefined ? message : (detail ?? message),
    ...(details && { details }),
    ...fields,
  }),
  admin: coded,
};
