import { call, get, type Row, rows, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { href } from '../place.ts';
import { t } from '../text.ts';
import { confirmed } from '../ui/overlay.tsx';
import { Ago, Badge, Head, LoadProblem, Problem, type Tone } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const EVERY_MS = 5000;
const STATES: Readonly<Record<string, readonly [tone: Tone, name: string]>> = {
  serving: ['good', t('Serving')],
  draining: ['fair', t('Draining')],
  not_ready: ['bad', t('Not ready')],
  unreachable: ['bad', t('No answer')],
};

/** Drains a node after a confirmation. */
function useDrain(again: () => void) {
  const { problem, run } = useAction();
  const drain = async (node: string) => {
    const isSure = await confirmed({
      title: t('Drain node {node}?', { node }),
      detail: t('It accepts no new calls until the service is restarted. Running calls continue.'),
      action: t('Drain node'),
    });
    if (!isSure) return;
    await run(async () => {
      await call('POST', `/admin/v1/nodes/${encodeURIComponent(node)}/drain`);
      toast(t('Node {node} accepts no new calls.', { node }));
      again();
    });
  };
  return { problem, drain };
}

type Drain = ReturnType<typeof useDrain>['drain'];

/** Live nodes that share the database. */
export function Nodes() {
  const found = useLoad('nodes', () => get('/admin/v1/nodes'), EVERY_MS);
  const { problem, drain } = useDrain(found.again);
  const list = found.value && rows(found.value['nodes']);
  const versions = new Set(list?.map((row) => row['version']).filter((one) => one !== null));
  return (
    <>
      <Head
        title={t('Nodes')}
        about={t(
          'Live nodes that share the database. A node that stops sending heartbeats disappears after six seconds.',
        )}
      />
      <LoadProblem of={found} />
      <Problem text={problem} />
      {versions.size > 1 && (
        <div class="callout fair" role="status">
          {t('The nodes run different versions. Update all nodes to the same version.')}
        </div>
      )}
      <Table
        name={t('Nodes')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => text(row['node'])}
        empty={t('No live nodes.')}
        columns={columnsOf(drain)}
      />
    </>
  );
}

const columnsOf = (drain: Drain): readonly Column[] => [
  {
    title: t('Node'),
    value: (row) => (
      <>
        <code class="strong">{text(row['node'])}</code>{' '}
        {row['self'] === true && <span class="muted small">{t('this node')}</span>}
      </>
    ),
    sort: (row) => text(row['node']),
  },
  {
    title: t('State'),
    value: (row) => <State row={row} />,
    sort: (row) => text(row['state']),
  },
  { title: t('Version'), value: (row) => text(row['version']) || '—', isMinor: true },
  {
    title: t('Running calls'),
    value: (row) => callsOf(row),
    sort: (row) => Number(row['calls_active']),
    isNumber: true,
  },
  {
    title: t('Phones'),
    value: (row) => count(row['registrations']) || '—',
    isNumber: true,
    isMinor: true,
  },
  {
    title: t('Up since'),
    value: (row) => <Ago value={row['started_at']} />,
    sort: (row) => text(row['started_at']),
    isMinor: true,
  },
  { title: t('Actions'), isActions: true, value: (row) => <NodeActions row={row} drain={drain} /> },
];

const NodeActions = ({ row, drain }: { readonly row: Row; readonly drain: Drain }) => (
  <span class="row end">
    <a class="btn tiny" href={href('log', { node: text(row['node']) })}>
      {t('Log')}
    </a>
    {may('change') && (
      <button
        type="button"
        class="btn tiny danger-quiet"
        disabled={row['state'] === 'draining' || row['state'] === 'unreachable'}
        onClick={() => void drain(text(row['node']))}
      >
        {t('Drain')}
      </button>
    )}
  </span>
);

const callsOf = (row: Row): string =>
  row['calls_active'] === null
    ? '—'
    : t('{n} of {limit}', { n: count(row['calls_active']), limit: count(row['calls_limit']) });

function State({ row }: { readonly row: Row }) {
  const [tone, name] = STATES[text(row['state'])] ?? (['none', text(row['state'])] as const);
  return (
    <>
      <Badge tone={tone}>{name}</Badge>
      {text(row['detail']) !== '' && row['state'] !== 'draining' && (
        <>
          <br />
          <span class="muted small">{text(row['detail'])}</span>
        </>
      )}
    </>
  );
}
