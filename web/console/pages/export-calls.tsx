import { useState } from 'preact/hooks';
import { get, messageOf, number, Refused, type Row, rows, send, text } from '../api.ts';
import { readCsv, writeCsv } from '../csv.ts';
import { t } from '../text.ts';
import { saveAs } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';

interface Props {
  /** Path of the export with the filters; undefined if only running calls are exported. */
  readonly path: string | undefined;
  /** Query of the running calls that match the filters, which are the first rows; undefined without any. */
  readonly live: string | undefined;
}

/** Columns of the service's CSV, by the names that running calls use. */
const NAMES: Readonly<Record<string, string>> = {
  uuid: 'call_uuid',
  call_direction: 'direction',
  caller_id_number: 'from',
  destination_number: 'to',
  start_time: 'start_time',
  mos: 'mos',
  hangup_cause_name: 'call_status',
};

/** Button that downloads the calls of the list, running ones included, as CSV. */
export function ExportCalls({ path, live }: Props) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    if (path === undefined || live !== undefined) {
      const running = live === undefined ? [] : await runningOf(live);
      const reply = path === undefined ? undefined : await answer(path);
      const ended = reply === undefined ? '' : await reply.text();
      const [columns = Object.keys(NAMES)] = readCsv(ended.split('\n', 1)[0] ?? '');
      const lines = running.map((row) =>
        columns.map((name) => defused(text(row[NAMES[name] ?? '']))),
      );
      const rest = ended.slice(ended.indexOf('\n') + 1);
      saveAs(new Blob([writeCsv([columns, ...lines]), rest], { type: 'text/csv' }), 'calls.csv');
    } else saveAs(await (await answer(path)).blob(), 'calls.csv');
  };
  const begin = () => {
    setBusy(true);
    save()
      .catch((error: unknown) => toast(messageOf(error), 'bad'))
      .finally(() => setBusy(false));
  };
  return (
    <button type="button" class="btn" aria-busy={isBusy} title={t('Download')} onClick={begin}>
      {t('Export CSV')}
    </button>
  );
}

const PAGE = 1000;

/** Returns all running calls of a query, page by page. */
async function runningOf(query: string): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (;;) {
    const path = `/console/api/live-calls?${query}&limit=${PAGE}&offset=${found.length}`;
    const page = await get(path);
    found.push(...rows(page['calls']));
    if (rows(page['calls']).length < PAGE || found.length >= number(page['total'])) return found;
  }
}

async function answer(path: string): Promise<Response> {
  const reply = await send(path);
  if (!reply.ok)
    throw new Refused(reply.status, t('Download failed ({status}).', { status: reply.status }));
  return reply;
}

/** Spreadsheets execute cells that begin like a formula. Numbers stay unchanged, as in the export of the service. */
const defused = (cell: string): string =>
  /^[=+\-@\t\r]/.test(cell) && !/^\+\d+$/.test(cell) ? `'${cell}` : cell;
