/** Exports of recordings: the list with its progress, and the form that requests one. */
import { useEffect, useState } from 'preact/hooks';
import { call, get, rows, text } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Input, Save } from '../ui/form.tsx';
import { FormDrawer } from '../ui/overlay.tsx';
import { At, Badge, Card, LoadProblem } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const EVERY_MS = 3000;

/** Latest exports; loads them again while one is in progress. */
function useExports(account: string, path: string) {
  const found = useLoad(account, () => get(`${path}?limit=5`));
  const list = found.value && rows(found.value['objects']);
  const isWorking = list?.some(({ state }) => state === 'queued' || state === 'running');
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setInterval(found.again, EVERY_MS);
    return () => clearInterval(timer);
  }, [isWorking, found.again]);
  return { found, list };
}

/** Exports of recordings with their progress. */
export function Exports({ account }: { readonly account: string }) {
  const path = `/api/v1/Account/${account}/export/recording/`;
  const { found, list } = useExports(account, path);
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title={t('Exports')}
      flush
      actions={
        may('change') && (
          <button type="button" class="btn" onClick={() => setOpen(true)}>
            {t('Export recordings')}
          </button>
        )
      }
    >
      <LoadProblem of={found} />
      <Table
        name={t('Exports')}
        rows={list}
        problem={found.problem}
        empty={t('No exports yet. An export contains the recordings of the last seven days.')}
        columns={columnsOf(path)}
      />
      <ExportForm path={path} isOpen={isOpen} close={() => setOpen(false)} again={found.again} />
    </Card>
  );
}

const columnsOf = (path: string): readonly Column[] => [
  { title: t('Requested'), value: (row) => <At value={row['created_at']} /> },
  {
    title: t('State'),
    value: (row) => (
      <Badge tone={row['state'] === 'failed' ? 'bad' : row['state'] === 'done' ? 'good' : 'info'}>
        {`${text(row['state'])} ${text(row['progress'])} %`}
      </Badge>
    ),
  },
  { title: t('Recordings'), value: (row) => text(row['recordings']), isNumber: true },
  {
    title: t('File'),
    value: (row) =>
      row['state'] === 'done' && (
        <Save
          path={`${path}${text(row['export_id'])}.zip`}
          name={`recordings-${text(row['export_id'])}.zip`}
        >
          {t('Download')}
        </Save>
      ),
  },
];

interface FormProps {
  readonly path: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly again: () => void;
}

function ExportForm({ path, isOpen, close, again }: FormProps) {
  const [mail, setMail] = useState('');
  const { problem, isBusy, run } = useAction();
  const send = () =>
    run(async () => {
      await call('POST', path, { recipient: { customer_account: [mail] } });
      close();
      toast(t('The export is queued.'));
      again();
    });
  return (
    <FormDrawer
      title={t('Export recordings')}
      isOpen={isOpen}
      close={close}
      submit={t('Export')}
      act={() => void send()}
      problem={problem}
      isBusy={isBusy}
    >
      <p>{t('The export contains the recordings of the last seven days as one ZIP file.')}</p>
      <Input
        label={t('Email the download link to')}
        type="email"
        value={mail}
        set={setMail}
        required
      />
    </FormDrawer>
  );
}
