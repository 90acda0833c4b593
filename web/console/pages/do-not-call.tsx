import { useState } from 'preact/hooks';
import { call, text } from '../api.ts';
import { count } from '../format.ts';
import { useAction } from '../hooks.ts';
import { may } from '../may.ts';
import type { PageProps } from '../page-props.ts';
import { t } from '../text.ts';
import { TextArea } from '../ui/form.tsx';
import { FormDrawer } from '../ui/overlay.tsx';
import { At, Head } from '../ui/parts.tsx';
import { Resource } from '../ui/resource.tsx';
import type { Column } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const COLUMNS: readonly Column[] = [
  { title: t('Number'), value: (row) => text(row['number']), sort: (row) => text(row['number']) },
  {
    title: t('Added'),
    value: (row) => <At value={row['added_at']} />,
    sort: (row) => text(row['added_at']),
  },
];

/** Numbers that campaigns never call, of the account or of all accounts. */
export function DoNotCall({ account, isStaff }: PageProps) {
  const [isOpen, setOpen] = useState(false);
  const [scope, setScope] = useState<'account' | 'all'>('account');
  const [tick, setTick] = useState(0);
  const path = scope === 'all' ? '/admin/v1/do-not-call' : `/api/v1/Account/${account}/do-not-call`;
  return (
    <>
      <Head
        title={t('Do-not-call list')}
        about={t('Campaigns never call these numbers, starting with the next call.')}
      >
        {isStaff && (
          <button
            type="button"
            class="btn"
            aria-pressed={scope === 'all'}
            onClick={() => setScope(scope === 'all' ? 'account' : 'all')}
          >
            {t('List of all accounts')}
          </button>
        )}
        {may('change') && (
          <button type="button" class="btn primary" onClick={() => setOpen(true)}>
            {t('Add numbers')}
          </button>
        )}
      </Head>
      <Resource
        key={`${path} ${tick}`}
        title={t('Do-not-call list')}
        noun={t('number')}
        path={path}
        member="objects"
        search="search"
        searchLabel={t('Part of the number')}
        idOf={(row) => text(row['number'])}
        nameOf={(row) => text(row['number'])}
        deleteDetail={t('Campaigns may call the number again.')}
        emptyTitle={t('The list is empty.')}
        emptyDetail={t('Add the numbers of people who do not want to be called.')}
        columns={COLUMNS}
      />
      <NumbersForm
        path={path}
        isOpen={isOpen}
        close={() => setOpen(false)}
        added={() => setTick(tick + 1)}
      />
    </>
  );
}

interface FormProps {
  /** Path of the list. */
  readonly path: string;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly added: () => void;
}

/** Form that adds numbers to the list. */
function NumbersForm({ path, isOpen, close, added }: FormProps) {
  const [entered, setEntered] = useState('');
  const { problem, fields: problems, isBusy, run } = useAction();
  const add = () =>
    run(async () => {
      const numbers = entered.split(/[\s,;]+/).filter((one) => one !== '');
      const done = await call('POST', path, { numbers });
      toast(t('Added {n} numbers.', { n: count(done['added']) }));
      close();
      added();
    });
  return (
    <FormDrawer
      title={t('Add numbers')}
      isOpen={isOpen}
      close={close}
      submit={t('Add numbers')}
      problem={problem}
      isBusy={isBusy}
      act={() => void add()}
    >
      <TextArea
        label={t('Numbers')}
        hint={t('E.164 format, one per line, at most 1,000')}
        value={entered}
        set={setEntered}
        problem={problems['numbers']}
        required
      />
    </FormDrawer>
  );
}
