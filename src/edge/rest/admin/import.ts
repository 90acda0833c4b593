/** Imports spreadsheet rows. Each row is checked like a separate request and reported separately. A dry run writes nothing. */
import { microsFromUnits } from '../../../base/money.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { PRICE_TOO_SMALL, roundsToZero } from '../../../domain/ledger/ledger.ts';
import { mayDo } from '../../../domain/user/user.ts';
import type { RouteNeeds } from '../deps.ts';
import { problemsOf } from '../http/compilers.ts';
import { failure } from '../http/failure.ts';
import { adminRoute, type Route } from '../http/route.ts';
import { type Static, type TSchema, Type } from '../http/schema.ts';
import { wrongTimezone } from '../http/values.ts';
import { failureOf } from '../refusal.ts';
import { AccountCreateBody, balancePatch, newAccountFields } from '../wire/account.ts';
import { checkNumber, NumberBody, newNumberOf } from './numbers.ts';
import { checkRate, RateBody, rateOf } from './rates.ts';

const ROWS_MAX = 1000;
const KINDS = ['rates', 'numbers', 'accounts'] as const;
type Kind = (typeof KINDS)[number];

const ReportSchema = Type.Object({
  dry_run: Type.Boolean(),
  done: Type.Integer({ description: 'rows that were imported, or would be in a dry run' }),
  refused: Type.Integer(),
  rows: Type.Array(
    Type.Object({
      line: Type.Integer(),
      ok: Type.Boolean(),
      result: Type.String({ description: 'result of the row, or its error' }),
      auth_token: Type.Optional(
        Type.String({ description: 'token of a new account, shown only here' }),
      ),
    }),
  ),
});
interface Done {
  readonly result: string;
  readonly auth_token?: string;
}
/** The error is a sentence, with the token of an account that was created in spite of it. */
type Outcome = Result<Done, string | Done>;

interface Importing {
  /** Whether to check the rows without writing. */
  readonly dryRun: boolean;
  readonly line: number;
  /** Line number of the request in which each key was first set. */
  readonly seen: Map<string, number>;
}

/** Imports one row. The resulting sentence states what was done, or the problem. */
type Importer = (needs: RouteNeeds, row: Row, importing: Importing) => Promise<Outcome>;
type Row = Readonly<Record<string, unknown>>;

const IMPORTERS: Readonly<Record<Kind, Importer>> = {
  rates: importRate,
  numbers: importNumber,
  accounts: importAccount,
};

async function importRate(
  needs: RouteNeeds,
  row: Row,
  { dryRun, line, seen }: Importing,
): Promise<Outcome> {
  const body = read(RateBody, row);
  if (!body.ok) return body;
  if (roundsToZero(body.value.per_minute)) return err(`per_minute ${PRICE_TOO_SMALL}`);
  const wrong = await checkRate(needs, body.value);
  if (wrong !== undefined) return err(wrong.detail ?? wrong.message);
  const rate = rateOf(body.value);
  const key = JSON.stringify([rate.direction, rate.prefix, rate.currency, rate.accountId ?? '']);
  const first = seen.get(key);
  if (first !== undefined) return err(`the same rate as line ${first}`);
  seen.set(key, line);
  const known = needs.ledger.listRates().find((listed) => {
    const { perMinute: _price, pulseMs: _pulse, ...key } = listed;
    return Object.entries(key).every(([name, value]) => rate[name as keyof typeof rate] === value);
  });
  if (!dryRun) await needs.ledger.putRate(rate);
  const same = known?.perMinute === rate.perMinute && known.pulseMs === rate.pulseMs;
  return ok({ result: known === undefined ? 'new' : same ? 'unchanged' : 'changed' });
}

async function importNumber(
  needs: RouteNeeds,
  row: Row,
  { dryRun, line, seen }: Importing,
): Promise<Outcome> {
  const body = read(NumberBody, row);
  if (!body.ok) return body;
  const wrong = await checkNumber(needs, body.value);
  if (wrong !== undefined) return err(wrong.detail ?? wrong.message);
  const number = newNumberOf(body.value);
  const first = seen.get(number.e164);
  if (first !== undefined) return err(`the same number as line ${first}`);
  seen.set(number.e164, line);
  if (dryRun) {
    const found = await needs.provisioning.numbers.list(
      { search: number.e164 },
      { limit: 50, offset: 0 },
    );
    const isKnown = found.items.some(({ e164 }) => e164 === number.e164);
    return isKnown ? err(sentence(failureOf({ kind: 'numberExists' }))) : ok({ result: 'new' });
  }
  const added = await needs.provisioning.numbers.add(number);
  return added.ok ? ok({ result: 'new' }) : err(sentence(failureOf(added.error)));
}

async function importAccount(needs: RouteNeeds, row: Row, { dryRun }: Importing): Promise<Outcome> {
  const { opening_credit: given, ...rest } = row;
  const body = read(AccountCreateBody, rest);
  if (!body.ok) return body;
  const credit = given === undefined ? undefined : microsFromUnits(Number(given));
  if (given !== undefined && (credit === undefined || credit <= 0))
    return err('opening_credit must be a number above zero');
  if (body.value.default_endpoint_app || body.value.default_caller_id)
    return err(
      'default_endpoint_app and default_caller_id can be set only after the account is created',
    );
  const wrongZone = wrongTimezone(body.value.timezone);
  if (wrongZone !== undefined) return err(sentence(wrongZone));
  if (dryRun) return ok({ result: 'new' });
  const fields = newAccountFields(body.value);
  const created = await needs.accounts.create(fields, balancePatch(body.value));
  if (!created.ok) return err(sentence(failureOf(created.error)));
  const { account, authToken } = created.value;
  try {
    if (credit !== undefined) {
      await needs.ledger.adjust({
        accountId: account.authId,
        currency: account.currency,
        amount: credit,
        description: 'Opening credit',
        key: `import:${account.authId}`,
      });
    }
  } catch (error) {
    needs.logger.error({ error, accountId: account.authId }, 'import of an account interrupted');
    // The account exists, so a repetition of the row would create a second one.
    const result = `${account.authId} was created; set its opening credit`;
    return err({ result, auth_token: authToken });
  }
  return ok({ result: account.authId, auth_token: authToken });
}

const INTERRUPTED = {
  ok: false,
  result: 'not imported: the service failed at this or an earlier row',
};

const isImported = (row: { readonly ok: boolean; readonly auth_token?: string }): boolean =>
  row.ok || row.auth_token !== undefined;

function shown(outcome: Outcome): Done & { readonly ok: boolean } {
  if (outcome.ok) return { ok: true, ...outcome.value };
  const { error } = outcome;
  return { ok: false, ...(typeof error === 'string' ? { result: error } : error) };
}

const sentence = ({ detail, message }: { detail?: string; message: string }): string =>
  detail ?? message;

/** Converts text cells to the types in the schema. */
function read<S extends TSchema>(schema: S, row: Row): Result<Static<S>, string> {
  const properties = (schema as { readonly properties?: object }).properties ?? {};
  const unknown = Object.keys(row).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) return err(`${unknown} is not a column`);
  const value = { ...row };
  const problems = problemsOf(schema, value);
  if (problems === undefined) return ok(value as Static<S>);
  return err(
    Object.entries(problems)
      .map(([field, what]) => `${field} ${what}`)
      .join('; '),
  );
}

const TAG = 'Operator: import';
/** The reply has the tokens of new accounts. */
const CREATES_ACCOUNTS = { method: 'POST', tag: TAG, isCredential: true } as const;

const importRows = adminRoute({
  tag: TAG,
  errors: 'admin',
  method: 'POST',
  path: '/admin/v1/import/{kind}',
  summary: `Import up to ${ROWS_MAX} rows of rates, numbers or accounts. Rows are validated independently; an invalid row is reported and skipped`,
  params: Type.Object({ kind: Type.Unsafe<Kind>({ type: 'string', enum: [...KINDS] }) }),
  body: Type.Object({
    dry_run: Type.Optional(Type.Boolean({ default: false })),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer({ minimum: 1 }),
        cells: Type.Record(
          Type.String(),
          Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
        ),
      }),
      { minItems: 1, maxItems: ROWS_MAX },
    ),
  }),
  reply: ReportSchema,
  async run(needs, { user, params: { kind }, body }) {
    if (kind === 'accounts' && user !== undefined && !mayDo(user.role, CREATES_ACCOUNTS))
      return err(failure(403, `the role ${user.role} may not create accounts`));
    const dryRun = body.dry_run === true;
    const rows: Static<typeof ReportSchema>['rows'] = [];
    const seen = new Map<string, number>();
    for (const { line, cells } of body.rows) {
      try {
        const outcome = await IMPORTERS[kind](needs, cells, { dryRun, line, seen });
        rows.push({ line, ...shown(outcome) });
      } catch (error) {
        // Without an imported row, the client may repeat the request.
        if (!rows.some(isImported)) throw error;
        needs.logger.error({ error, line }, 'import interrupted');
        rows.push(
          ...body.rows.slice(rows.length).map((row) => ({ line: row.line, ...INTERRUPTED })),
        );
        break;
      }
    }
    const done = rows.filter((row) => row.ok).length;
    return ok({ dry_run: dryRun, done, refused: rows.length - done, rows });
  },
});

export const adminImportRoutes: readonly Route[] = [importRows];
