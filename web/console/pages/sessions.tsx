/** Sessions of a console user: browser, address and last use, each with a button that ends it. */
import { call, get, type Row, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { t } from '../text.ts';
import { confirmed } from '../ui/overlay.tsx';
import { Ago, Badge, LoadProblem, Problem } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

type Names = ReadonlyArray<readonly [RegExp, string]>;

/** Names of browser and operating system in a User-Agent header field (RFC 9110 §10.1.5), or the whole field. */
function browserOf(agent: string): string {
  const nameIn = (names: Names) => names.find(([pattern]) => pattern.test(agent))?.[1];
  const found = [nameIn(BROWSERS), nameIn(SYSTEMS)].filter((one) => one !== undefined);
  return found.join(', ') || agent || t('Unknown');
}

const columnsOf = (end: (row: Row) => Promise<void>): readonly Column[] => [
  {
    title: t('Browser'),
    value: (row) => (
      <span class="row" title={text(row['user_agent'])}>
        {browserOf(text(row['user_agent']))}
        {row['current'] === true && <Badge tone="info">{t('This browser')}</Badge>}
      </span>
    ),
    sort: (row) => browserOf(text(row['user_agent'])),
  },
  {
    title: t('Address'),
    value: (row) => text(row['address']),
    sort: (row) => text(row['address']),
  },
  {
    title: t('Last use'),
    value: (row) => <Ago value={row['seen_at']} />,
    sort: (row) => text(row['seen_at']),
  },
  {
    title: t('Signed in'),
    value: (row) => <Ago value={row['created_at']} />,
    sort: (row) => text(row['created_at']),
    isMinor: true,
  },
  {
    title: t('Actions'),
    isActions: true,
    value: (row) =>
      row['current'] !== true && (
        <button type="button" class="btn tiny" onClick={() => void end(row)}>
          {t('End session')}
        </button>
      ),
  },
];

/** Sessions of a list. `path` is the path of the list. */
export function Sessions({ path }: { readonly path: string }) {
  const found = useLoad(path, () => get(path));
  const { problem, run } = useAction();
  const end = async (row: Row) => {
    const isSure = await confirmed({
      title: t('End this session?'),
      detail: t('{browser} at {address} shows the sign-in form.', {
        browser: browserOf(text(row['user_agent'])),
        address: text(row['address']),
      }),
      action: t('End session'),
    });
    if (!isSure) return;
    const isDone = await run(() => call('DELETE', `${path}/${text(row['session_id'])}`));
    if (isDone) toast(t('The session has ended.'));
    found.again();
  };
  return (
    <>
      <Problem text={problem} />
      <LoadProblem of={found} />
      <Table
        name={t('Sessions')}
        rows={found.value && rows(found.value['sessions'])}
        problem={found.problem}
        keyOf={(row) => text(row['session_id'])}
        empty={t('No sessions.')}
        columns={columnsOf(end)}
      />
    </>
  );
}
