/** Upload of contacts: preview of the columns, the invalid rows with their reasons, and their correction in place. */
import { useState } from 'preact/hooks';
import { answerOf, number, type Row, send, text } from '../api.ts';
import { readCsv, textOf, writeCsv } from '../csv.ts';
import { count } from '../format.ts';
import { useAction } from '../hooks.ts';
import { t } from '../text.ts';
import { type Cells, Corrections, CsvDrop, withCell } from '../ui/csv-rows.tsx';
import { Drawer } from '../ui/overlay.tsx';
import { Badge, Problem, Tiles } from '../ui/parts.tsx';
import { toast } from '../ui/toast.tsx';

const PREVIEW_ROWS = 5;
/** Rows shown at the same time for correction in the browser. */
const CORRECTED_MAX = 200;
/** Larger files are uploaded without correction in the browser. */
const EDITED_MAX_BYTES = 20 * 1024 * 1024;

const MEANINGS: Readonly<Record<string, string>> = {
  to: t('Number to call'),
  from: t('Caller ID'),
  answer_url: t('Answer URL'),
  hangup_url: t('Hangup URL'),
};

interface List {
  readonly name: string;
  readonly file: File;
  /** Header and rows; undefined if the file is too large to correct it here. */
  readonly rows: readonly Cells[] | undefined;
}

/** The selected list, the reply to its upload and its invalid rows, with the functions that change them. */
function useUpload(path: string, done: () => void) {
  const [list, setList] = useState<List>();
  const [result, setResult] = useState<Row>();
  const [invalid, setInvalid] = useState<ReadonlyMap<number, string>>(new Map());
  const { problem, isBusy, run } = useAction();
  const choose = async (file: File) => {
    setResult(undefined);
    setInvalid(new Map());
    const isSmall = file.size <= EDITED_MAX_BYTES;
    setList({ name: file.name, file, rows: isSmall ? readCsv(await textOf(file)) : undefined });
  };
  const upload = () =>
    run(async () => {
      if (list === undefined) return;
      const body = list.rows === undefined ? list.file : writeCsv(list.rows);
      const reply = await send(`${path}/upload`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body,
      });
      const told = await answerOf(reply, path);
      setResult(told);
      setInvalid(number(told['invalid_rows']) === 0 ? new Map() : await invalidRows(path));
      toast(t('Uploaded {n} contacts.', { n: count(told['valid_contacts']) }));
      done();
    });
  const correct = (rowNumber: number, column: number, value: string) => {
    if (list?.rows === undefined) return;
    setList({ ...list, rows: withCell(list.rows, rowNumber, column, value) });
  };
  const removeInvalid = () => {
    if (list?.rows === undefined) return;
    setList({ ...list, rows: list.rows.filter((_, at) => !invalid.has(at)) });
    setInvalid(new Map());
    setResult(undefined);
  };
  return { list, result, invalid, problem, isBusy, choose, upload, correct, removeInvalid };
}

type UploadState = ReturnType<typeof useUpload>;

export function Upload({ path, done }: { readonly path: string; readonly done: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const state = useUpload(path, done);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" class="btn" onClick={() => setOpen(true)}>
        {t('Upload contacts')}
      </button>
      <Drawer title={t('Upload contacts')} isOpen={isOpen} close={close} isWide>
        <UploadBody of={state} />
        <UploadButtons of={state} close={close} />
      </Drawer>
    </>
  );
}

const UploadBody = ({
  of: { list, result, invalid, problem, choose, correct },
}: {
  readonly of: UploadState;
}) => (
  <div class="body">
    <Problem text={problem} />
    <CsvDrop name={list?.name} choose={(file) => void choose(file)}>
      {t(
        'Columns: to (required), from, answer_url, hangup_url. Other columns become SIP headers. The list replaces the previous one.',
      )}
    </CsvDrop>
    {list?.rows !== undefined && result === undefined && <Preview rows={list.rows} />}
    {result !== undefined && <Result reply={result} />}
    {invalid.size > 0 && list?.rows !== undefined && (
      <Corrections rows={list.rows} invalid={invalid} correct={correct}>
        {t('Correct the cells and upload the list again, or remove these rows.')}
      </Corrections>
    )}
  </div>
);

interface ButtonsProps {
  readonly of: UploadState;
  readonly close: () => void;
}

function UploadButtons({ of, close }: ButtonsProps) {
  const { list, result, invalid, isBusy, upload, removeInvalid } = of;
  return (
    <footer>
      {invalid.size > 0 && list?.rows !== undefined && (
        <button type="button" class="btn" onClick={removeInvalid}>
          {t('Remove invalid rows')}
        </button>
      )}
      <button type="button" class="btn" onClick={close}>
        {t('Close')}
      </button>
      {list !== undefined && (result === undefined || invalid.size > 0) && (
        <button type="button" class="btn primary" aria-busy={isBusy} onClick={() => void upload()}>
          {result === undefined ? t('Upload list') : t('Upload corrected list')}
        </button>
      )}
    </footer>
  );
}

/** Reads the reasons of all invalid rows, by the number of the row. Row 1 is the first row after the header. */
async function invalidRows(path: string): Promise<ReadonlyMap<number, string>> {
  const reply = await send(`${path}/upload/errors`);
  const read = readCsv(await reply.text()).slice(1, CORRECTED_MAX + 1);
  return new Map(read.map(([row = '', reason = '']) => [Number(row), reason]));
}

function Preview({ rows: all }: { readonly rows: readonly Cells[] }) {
  const [header = [], ...data] = all;
  const names = header.map((name) => name.trim().toLowerCase());
  return (
    <section class="stack tight">
      <h3>{t('Preview')}</h3>
      <p class="small muted">{t('{n} rows', { n: count(data.length) })}</p>
      {!names.includes('to') && (
        <div class="callout bad">
          {t('The column “to” is missing. It has the numbers to call.')}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard */}
      <section class="table-wrap" tabIndex={0} aria-label={t('Preview')}>
        <table>
          <thead>
            <tr>
              {header.map((name, at) => (
                <th key={at} scope="col">
                  {name}
                  <br />
                  <Badge tone={MEANINGS[names[at] ?? ''] === undefined ? 'none' : 'info'}>
                    {MEANINGS[names[at] ?? ''] ?? t('SIP header')}
                  </Badge>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.slice(0, PREVIEW_ROWS).map((cells, row) => (
              <tr key={row}>
                {header.map((_, at) => (
                  <td key={at}>{cells[at]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

const Result = ({ reply }: { readonly reply: Row }) => (
  <Tiles
    of={[
      { name: t('Rows'), value: count(reply['total_rows']) },
      { name: t('Valid contacts'), value: count(reply['valid_contacts']) },
      { name: t('Invalid rows'), value: count(reply['invalid_rows']) },
      {
        name: t('SIP headers'),
        value: String([reply['custom_headers_detected']].flat().length),
        note: [reply['custom_headers_detected']].flat().map(text).join(', '),
      },
    ]}
  />
);
