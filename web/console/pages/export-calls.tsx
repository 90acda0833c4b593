import { useState } from 'preact/hooks';
import { messageOf, Refused, type Row, send, text } from '../api.ts';
import { readCsv, writeCsv } from '../csv.ts';
import { t } from '../text.ts';
import { saveAs } from '../ui/form.tsx';
import { toast } from '../ui/toast.tsx';

interface Props {
  /** Path of the export with the filters; undefined if only running calls are exported. */
  readonly path: string | undefined;
  /** Running calls that match the filters. They are the first rows. */
  readonly running: readonly Row[];
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
export function ExportCalls({ path, running }: Props) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    if (path === undefined || running.length > 0) {
      const reply = path === undefined ? undefined : await answer(path);
      const ended = reply === undefined ? '' : await reply.text();
      const [columns = Object.keys(NAMES)] = readCsv(ended.split('\n', 1)[0] ?? '');
      const rows = running.map((row) =>
        columns.map((name) => defused(text(row[NAMES[name] ?? '']))),
      );
      const rest = ended.slice(ended.indexOf('\n') + 1);
      saveAs(new Blob([writeCsv([columns, ...rows]), rest], { type: 'text/csv' }), 'calls.csv');
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

async function answer(path: string): Promise<Response> {
  const reply = await send(path);
  if (!reply.ok)
    throw new Refused(reply.status, t('Download failed ({status}).', { status: reply.status }));
  return reply;
}

/** Spreadsheets execute cells that begin like a formula. Numbers stay unchanged, as in the export of the service. */
const defused = (cell: string): string =>
  /^[=+\-@\t\r]/.test(cell) && !/^\+\d+$/.test(cell) ? `'${cell}` : cell;
