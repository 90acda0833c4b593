import { useState } from 'preact/hooks';
import { call, number, type Row, rows as rowsOf, text } from '../api.ts';
import { readCsv, textOf, writeCsv } from '../csv.ts';
import { count } from '../format.ts';
import { useAction } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { useQuery } from '../place.ts';
import { t } from '../text.ts';
import { type Cells, Corrections, CsvDrop, withCell } from '../ui/csv-rows.tsx';
import { saveAs } from '../ui/form.tsx';
import { Badge, Card, Head, Problem, Tabs, Tiles } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';

/** Rows of one request, the limit of the service. */
const ROWS_PER_REQUEST = 1000;
const ROWS_MAX = 20_000;
const BYTES_MAX = 20 * 1024 * 1024;
const PREVIEW_ROWS = 10;
/** Invalid rows shown at the same time for correction. */
const CORRECTED_MAX = 200;

const KINDS = [
  ['rates', t('Rates')],
  ['numbers', t('Numbers')],
  ['accounts', t('Accounts')],
] as const;

const COLUMNS: Readonly<Record<string, string>> = {
  rates: 'direction, prefix, per_minute, pulse_seconds, currency, account_id',
  numbers: 'e164, country, region, setup_fee, monthly_fee, currency, carrier, account_id',
  accounts:
    'name, currency, country, timezone, concurrent_calls_limit, cps_limit, credit_limit, is_postpaid, email, opening_credit',
};

interface List {
  readonly name: string;
  /** Header and rows. */
  readonly rows: readonly Cells[];
}

/** Import of rates, numbers or accounts: the service checks all rows before anything is written. */
export function Import(_: PageProps) {
  const { fields, setAll } = useQuery({ kind: 'rates' });
  return (
    <>
      <Head
        title={t('Import')}
        about={t(
          'Add rates, numbers or accounts from a CSV file. The service first checks all rows.',
        )}
      />
      <Tabs
        tabs={KINDS.filter(([kind]) => kind !== 'accounts' || may('credentials'))}
        chosen={fields.kind}
        choose={(kind) => setAll({ kind })}
      />
      <ImportOf key={fields.kind} kind={fields.kind} />
    </>
  );
}

/** Reads a CSV file. Throws an error with its message for the user if the file is too large or has no rows. */
async function readList(file: File): Promise<List> {
  if (file.size > BYTES_MAX) throw new Error(t('The file has more than 20 MB.'));
  const rows = readCsv(await textOf(file));
  if (rows.length < 2) throw new Error(t('The file needs a header and at least one row.'));
  if (rows.length > ROWS_MAX + 1)
    throw new Error(t('The file has more than {n} rows.', { n: count(ROWS_MAX) }));
  return { name: file.name, rows };
}

const isValid = (outcome: Row | undefined): boolean => outcome?.['ok'] === true;

/** Returns whether the row must not be sent again: an account may exist although its credit was not set. */
const isMade = (outcome: Row | undefined): boolean =>
  isValid(outcome) || outcome?.['auth_token'] !== undefined;

/** State of an import: the list, and the outcome of its rows after a check or an import. */
function useImport(kind: string) {
  const [list, setList] = useState<List>();
  /** Outcome of each row, in order. */
  const [report, setReport] = useState<readonly Row[]>();
  const [isDone, setDone] = useState(false);
  const { problem, isBusy, run } = useAction();
  const checkRows = async (next: List) => {
    setList(next);
    setDone(false);
    setReport((await sent(kind, next.rows, true)).outcome);
  };
  const check = (next: List) => run(() => checkRows(next));
  const choose = (file: File) =>
    run(async () => {
      setReport(undefined);
      await checkRows(await readList(file));
    });
  const finish = () =>
    run(async () => {
      if (list === undefined) return;
      const { outcome, error } = await sent(kind, list.rows, false);
      const [header = [], ...all] = list.rows;
      // The imported rows leave the list, so that only the invalid ones can be sent again.
      const left = all.filter((_, at) => !isMade(outcome[at]));
      toast(t('Imported {n} rows.', { n: count(outcome.filter(isValid).length) }));
      saveTokens(outcome);
      setDone(true);
      setReport(outcome.filter((one) => !isMade(one)).map((one, at) => ({ ...one, line: at + 1 })));
      setList(left.length === 0 ? undefined : { ...list, rows: [header, ...left] });
      if (error !== undefined) throw error;
    });
  return { list, setList, report, isDone, problem, isBusy, check, choose, finish };
}

function ImportOf({ kind }: { readonly kind: string }) {
  const state = useImport(kind);
  const { list, report } = state;
  return (
    <Card title={t('CSV file')}>
      <Problem text={state.problem} />
      <CsvDrop name={list?.name} choose={(file) => void state.choose(file)}>
        {t('Columns: {names}. Empty cells are left out.', { names: COLUMNS[kind] ?? '' })}
      </CsvDrop>
      {list !== undefined && report !== undefined && (
        <CheckedRows of={state} list={list} report={report} />
      )}
      {state.isDone && list === undefined && (
        <div class="callout good" role="status">
          {t('All rows are imported.')}
        </div>
      )}
    </Card>
  );
}

interface CheckedProps {
  readonly of: ReturnType<typeof useImport>;
  readonly list: List;
  readonly report: readonly Row[];
}

/** Outcome of the rows: counts, first valid rows, corrections, and the buttons for the next step. */
function CheckedRows({
  of: { setList, isDone, isBusy, check, finish },
  list,
  report,
}: CheckedProps) {
  const valid = report.filter(isValid).length;
  const invalid = new Map(
    report
      .filter((one) => !isValid(one))
      .slice(0, CORRECTED_MAX)
      .map((one) => [number(one['line']), text(one['result'])] as const),
  );
  return (
    <>
      <Tiles
        of={[
          { name: t('Rows'), value: count(report.length) },
          { name: t('Valid rows'), value: count(valid) },
          { name: t('Invalid rows'), value: count(report.length - valid) },
        ]}
      />
      {!isDone && <Preview list={list} report={report} />}
      {invalid.size > 0 && (
        <Corrections
          rows={list.rows}
          invalid={invalid}
          correct={(row, column, value) =>
            setList({ ...list, rows: withCell(list.rows, row, column, value) })
          }
        >
          {t('Correct the cells and check the rows again. Invalid rows are not imported.')}
        </Corrections>
      )}
      <div class="row">
        {invalid.size > 0 && (
          <button type="button" class="btn" aria-busy={isBusy} onClick={() => void check(list)}>
            {t('Check again')}
          </button>
        )}
        {!isDone && valid > 0 && (
          <button
            type="button"
            class="btn primary"
            aria-busy={isBusy}
            onClick={() => void finish()}
          >
            {t('Import {n} valid rows', { n: count(valid) })}
          </button>
        )}
      </div>
    </>
  );
}

/**
 * Sends the rows in parts of the service's limit, and returns the outcome of each row. A failed part ends an import: the
 * outcome of earlier parts is kept, because it has the tokens of new accounts.
 */
async function sent(
  kind: string,
  [header = [], ...all]: readonly Cells[],
  isDryRun: boolean,
): Promise<{ readonly outcome: readonly Row[]; readonly error?: unknown }> {
  const names = header.map((name) => name.trim());
  const rows = all.map((cells, at) => ({
    line: at + 1,
    cells: Object.fromEntries(
      names.flatMap((name, column) => {
        const cell = cells[column]?.trim() ?? '';
        return name === '' || cell === '' ? [] : [[name, cell]];
      }),
    ),
  }));
  const outcome: Row[] = [];
  for (let from = 0; from < rows.length; from += ROWS_PER_REQUEST) {
    const part = rows.slice(from, from + ROWS_PER_REQUEST);
    try {
      const body = { dry_run: isDryRun, rows: part };
      const reply = await call('POST', `/admin/v1/import/${kind}`, body);
      outcome.push(...rowsOf(reply['rows']));
    } catch (error) {
      if (isDryRun) throw error;
      const unknown = { ok: false, result: t('No answer: check whether this row is imported.') };
      const unsent = { ok: false, result: t('Not sent.') };
      const failed = rows.slice(from).map((_, at) => (at < part.length ? unknown : unsent));
      return { outcome: [...outcome, ...failed], error };
    }
  }
  return { outcome };
}

/** Saves the tokens of new accounts as a file, because the service shows them only once. */
function saveTokens(done: readonly Row[]): void {
  const made = done.filter((one) => one['auth_token'] !== undefined);
  if (made.length === 0) return;
  // An account without its credit has a sentence, which begins with its ID.
  for (const one of made) if (!isValid(one)) toast(text(one['result']), 'bad');
  const lines = made.map((one) => [
    text(one['result']).split(' ')[0] ?? '',
    text(one['auth_token']),
  ]);
  saveAs(new Blob([writeCsv([['auth_id', 'auth_token'], ...lines])]), 'tokens.csv');
  toast(t('The tokens of the new accounts are in tokens.csv. They are not shown again.'));
}

const RESULTS: Readonly<Record<string, string>> = {
  new: t('New'),
  changed: t('Changed'),
  unchanged: t('Unchanged'),
};

function Preview({ list, report }: { readonly list: List; readonly report: readonly Row[] }) {
  const [header = [], ...all] = list.rows;
  const shown = report.filter(isValid).slice(0, PREVIEW_ROWS);
  if (shown.length === 0) return null;
  return (
    <section class="stack tight">
      <h3>{t('First valid rows')}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
      <section class="table-wrap" tabIndex={0} aria-label={t('First valid rows')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('Result')}</th>
              {header.map((name, at) => (
                <th key={at} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={text(one['line'])}>
                <td>
                  <Badge tone="good">{RESULTS[text(one['result'])] ?? text(one['result'])}</Badge>
                </td>
                {header.map((_, at) => (
                  <td key={at}>{all[number(one['line']) - 1]?.[at]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
