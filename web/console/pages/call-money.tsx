import { get, getIfAny, type Row, rows, text } from '../api.ts';
import { clock, money, sourceName } from '../format.ts';
import { useLoad } from '../hooks.ts';
import { t } from '../text.ts';
import { At, Card, CopyText, LoadProblem, RecordLink } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';

/**
 * Fetches ledger entries that refer to the call, and those of its streams, recordings and transcriptions, whose
 * descriptions contain the call ID.
 */
async function chargesOf(account: string, uuid: string): Promise<readonly Row[]> {
  const path = `/api/v1/Account/${account}/transactions?per_page=1000`;
  const found = await Promise.all([
    get(`${path}&reference=${uuid}`),
    get(`${path}&description=${uuid}`),
  ]);
  const entries = found.flatMap((page) => rows(page['transactions']));
  return [...new Map(entries.map((entry) => [text(entry['id']), entry])).values()];
}

interface ChargesProps {
  readonly account: string;
  readonly uuid: string;
  readonly cdr: Row;
}

/** All charges of the call with their ledger entries. */
export function Charges({ account, uuid, cdr }: ChargesProps) {
  const found = useLoad(`${account} ${uuid}`, () => chargesOf(account, uuid));
  const total = found.value?.reduce((sum, one) => sum + Number(one['amount'] ?? 0), 0) ?? 0;
  return (
    <Card title={t('Charges')} flush>
      <LoadProblem of={found} />
      <Table
        name={t('Ledger entries of the call')}
        rows={found.value}
        problem={found.problem}
        empty={t('No charges for this call.')}
        columns={[
          { title: t('Time'), value: (row) => <At value={row['created_at']} /> },
          { title: t('Description'), value: (row) => text(row['description']) },
          { title: t('Type'), value: (row) => sourceName(row['reference_type']), isMinor: true },
          {
            title: t('Entry'),
            value: (row) => (
              <CopyText value={text(row['id'])} short={text(row['id']).slice(0, 8)} />
            ),
            isMinor: true,
          },
          {
            title: t('Amount'),
            value: (row) => money(row['amount'], row['currency']),
            isNumber: true,
          },
        ]}
      />
      {found.value !== undefined && found.value.length > 1 && (
        <p class="pager" style={{ padding: '0 1rem .75rem' }}>
          {t('Total {amount}', { amount: money(total, cdr['currency']) })}
        </p>
      )}
    </Card>
  );
}

/** The other legs: the leg that dialed this one, and those that it was bridged to. */
export function LinkedLegs({ account, cdr }: { readonly account: string; readonly cdr: Row }) {
  const uuid = text(cdr['uuid']);
  const bridge = text(cdr['bridge_uuid']);
  const found = useLoad(`${account} ${uuid}`, async () => {
    const root = `/api/v1/Account/${account}/cdr`;
    const [own, other] = await Promise.all([
      get(`${root}?bridge_uuid=${uuid}&per_page=20`),
      bridge === '' ? Promise.resolve<Row>({}) : getIfAny(`${root}/${bridge}`),
    ]);
    const all = [...rows(own['data']), ...(other?.['data'] ? [other['data'] as Row] : [])];
    return [...new Map(all.map((one) => [text(one['uuid']), one])).values()].filter(
      (one) => one['uuid'] !== uuid,
    );
  });
  if (found.problem === undefined && !found.value?.length) return null;
  return (
    <Card title={t('Linked legs')} flush>
      <LoadProblem of={found} />
      <Table
        name={t('Linked legs')}
        rows={found.value}
        problem={found.problem}
        empty=""
        columns={[
          {
            title: t('Leg'),
            value: (row) => <RecordLink row={row} />,
          },
          { title: t('End'), value: (row) => text(row['hangup_cause_name']) },
          {
            title: t('Answered time'),
            value: (row) => clock(Number(row['billsec'] ?? 0)),
            isNumber: true,
          },
        ]}
      />
    </Card>
  );
}
