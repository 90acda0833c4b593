import { useState } from 'preact/hooks';
import { call, get, type Row, rows, text } from '../api.ts';
import { words } from '../format.ts';
import { useAction, useFields, useLoad } from '../hooks.ts';
import { may } from '../may.ts';
import { t } from '../text.ts';
import { Input, Select } from '../ui/form.tsx';
import { Actions, confirmed, FormDrawer } from '../ui/overlay.tsx';
import { Badge, Empty, Head, LoadProblem, Problem } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';

const PATH = '/admin/v1/media-policies';
const EMPTY = { subject: 'account', name: '', srtp: '', codecs: '' };
const SUBJECTS = [
  ['account', t('Account')],
  ['endpoint', t('Endpoint')],
  ['trunk', t('Trunk')],
  ['carrier', t('Carrier')],
] as const;

const SRTP = [
  ['', t('As in the settings')],
  ['off', t('Off')],
  ['optional', t('Optional')],
  ['required', t('Required')],
] as const;

const codecsOf = (row: Row): string => [row['codecs'] ?? []].flat().map(text).join(', ');

const pathOf = ({ subject, name }: Readonly<Record<string, unknown>>): string =>
  `${PATH}/${text(subject)}/${encodeURIComponent(text(name))}`;

/** Form of a policy, and requests that save and delete policies. `again` loads the list again. */
function usePolicies(again: () => void) {
  const { fields, setFields, set } = useFields(EMPTY);
  const [isOpen, setOpen] = useState(false);
  const { problem, fields: problems, isBusy, run } = useAction();
  const edit = (next: typeof EMPTY) => {
    setFields(next);
    setOpen(true);
  };
  const close = () => setOpen(false);
  const save = () =>
    run(async () => {
      const codecs = fields.codecs
        .toUpperCase()
        .split(/[\s,]+/)
        .filter((one) => one !== '');
      await call('PUT', pathOf(fields), {
        ...(fields.srtp !== '' && { srtp: fields.srtp }),
        ...(codecs.length > 0 && { codecs }),
      });
      close();
      toast(t('The policy applies from the next call.'));
      again();
    });
  const remove = async (row: Row) => {
    const isSure = await confirmed({
      title: t('Delete the policy of {name}?', { name: text(row['name']) }),
      detail: t('The settings of the service apply again, from the next call.'),
      action: t('Delete policy'),
    });
    if (!isSure) return;
    await run(() => call('DELETE', pathOf(row)));
    again();
  };
  return { fields, set, isOpen, problem, problems, isBusy, edit, close, save, remove };
}

type Policies = ReturnType<typeof usePolicies>;

/** Codecs and SRTP of accounts, endpoints, trunks and carriers that override the settings. */
export function MediaPolicies() {
  const found = useLoad('media policies', () => get(PATH));
  const policies = usePolicies(found.again);
  const create = may('change') && (
    <button type="button" class="btn primary" onClick={() => policies.edit(EMPTY)}>
      {t('Add media policy')}
    </button>
  );
  const list = found.value && rows(found.value['policies']);
  return (
    <>
      <Head
        title={t('Media policies')}
        about={t(
          'Codecs and encryption of an account, endpoint, trunk or carrier. They override the settings of the service.',
        )}
      >
        {list !== undefined && list.length > 0 && create}
      </Head>
      <LoadProblem of={found} />
      {!policies.isOpen && <Problem text={policies.problem} />}
      <Table
        name={t('Media policies')}
        rows={list}
        problem={found.problem}
        keyOf={(row) => `${text(row['subject'])} ${text(row['name'])}`}
        empty={
          <Empty title={t('No media policies.')}>
            <p>{t('All calls use the codecs and SRTP of the settings.')}</p>
            {create}
          </Empty>
        }
        columns={columnsOf(policies)}
      />
      <PolicyForm of={policies} />
    </>
  );
}

const columnsOf = ({ edit, remove }: Policies): readonly Column[] => [
  {
    title: t('Applies to'),
    value: (row) => words(row['subject']),
    sort: (row) => text(row['subject']),
  },
  {
    title: t('Name'),
    value: (row) => <code>{text(row['name'])}</code>,
    sort: (row) => text(row['name']),
  },
  { title: t('Codecs'), value: (row) => codecsOf(row) || t('As in the settings') },
  {
    title: t('SRTP'),
    value: (row) =>
      row['srtp'] === undefined ? t('As in the settings') : <Badge>{words(row['srtp'])}</Badge>,
  },
  {
    title: t('Actions'),
    isActions: true,
    need: 'change',
    value: (row) => (
      <Actions
        name={text(row['name'])}
        of={[
          {
            label: t('Edit policy'),
            act: () =>
              edit({
                subject: text(row['subject']),
                name: text(row['name']),
                srtp: text(row['srtp']),
                codecs: codecsOf(row),
              }),
          },
          { label: t('Delete policy'), act: () => remove(row), isDanger: true },
        ]}
      />
    ),
  },
];

function PolicyForm({ of: policies }: { readonly of: Policies }) {
  const { fields, set, problems } = policies;
  return (
    <FormDrawer
      title={t('Media policy')}
      isOpen={policies.isOpen}
      close={policies.close}
      submit={t('Save policy')}
      problem={policies.problem}
      isBusy={policies.isBusy}
      act={() => void policies.save()}
    >
      <Select
        label={t('Applies to')}
        value={fields.subject}
        set={set('subject')}
        options={SUBJECTS}
      />
      <Input
        label={t('Name')}
        hint={t('Auth ID, user, trunk ID or carrier name')}
        value={fields.name}
        set={set('name')}
        problem={problems['name']}
        required
      />
      <Input
        label={t('Codecs in order of preference')}
        hint={t('For example: OPUS, G722, PCMU. Empty: as in the settings')}
        value={fields.codecs}
        set={set('codecs')}
        problem={problems['codecs']}
      />
      <Select label={t('SRTP')} value={fields.srtp} set={set('srtp')} options={SRTP} />
    </FormDrawer>
  );
}
